"""Bytes to a document: one module a kind of file, one registry."""

from tracert.corpus.loaders.base import Content, Limits, Loader
from tracert.corpus.loaders.registry import LOADERS, load_document, suffixes, supported

__all__ = ["LOADERS", "Content", "Limits", "Loader", "load_document", "suffixes", "supported"]
