"""The kinds of file that can be loaded, and the way from bytes to a `Document`."""

from __future__ import annotations

import hashlib
from typing import Final

from tracert.corpus.encoding import is_binary
from tracert.corpus.loaders.base import Content, Limits, Loader, Unlocking
from tracert.corpus.loaders.docx import DocxLoader
from tracert.corpus.loaders.epub import EpubLoader
from tracert.corpus.loaders.html import HtmlLoader
from tracert.corpus.loaders.known import known
from tracert.corpus.loaders.markdown import MarkdownLoader
from tracert.corpus.loaders.passages import CsvLoader, JsonlLoader
from tracert.corpus.loaders.pdf import PdfLoader
from tracert.corpus.loaders.pptx import PptxLoader
from tracert.corpus.loaders.sealed import unsealed
from tracert.corpus.loaders.text import TextLoader
from tracert.corpus.model import Document
from tracert.corpus.zipped import is_zip
from tracert.errors import DocumentError

#: Asked in this order; the first that recognises the content loads it, so plain text is last.
LOADERS: Final[tuple[Loader, ...]] = (
    PdfLoader(),
    DocxLoader(),
    PptxLoader(),
    EpubLoader(),
    HtmlLoader(),
    JsonlLoader(),
    CsvLoader(),
    MarkdownLoader(),
    TextLoader(),
)
#: How many of them, at the end, read what is text.
_TEXTS: Final = 5


def load_document(
    data: bytes, name: str, limits: Limits | None = None, password: str = ""
) -> Document:
    """A file turned into text in this process, its kind decided by the content.

    What comes from outside goes through `tracert.corpus.apart.Parser`, which bounds time and
    memory; this is what runs there.

    Args:
        data: The bytes of the file.
        name: What a person calls it; used in messages and as `Document.name`.
        limits: How much is read; by default `Limits()`.
        password: Opens an encrypted file of a kind that can be opened so.

    Raises:
        PasswordError: the file is encrypted and the password is missing or wrong.
        DocumentError: the file cannot be turned into text; the sentence says what to do.
    """
    limits = limits or Limits()
    check_size(data, name, limits)
    data = unsealed(data, name, password)
    loader = loader_of(data, name)
    if loader is None:
        raise DocumentError(
            f"{name} is a zip archive. Pass a file that is in it. Supported: {supported()}."
        )
    return document(loader, data, name, limits, password)


def check_size(data: bytes, name: str, limits: Limits) -> None:
    """Raise a `DocumentError` where there is nothing to read, or too much."""
    if not data:
        raise DocumentError(f"{name} is empty. Pass a file with something to read in it.")
    if len(data) > limits.max_bytes:
        raise DocumentError(
            f"{name} has {len(data) / 1e6:,.0f} MB, more than the {limits.max_bytes / 1e6:,.0f} MB "
            "that are read. Split it into several files, or raise the limit."
        )


def document(
    loader: Loader, data: bytes, name: str, limits: Limits, password: str = ""
) -> Document:
    """The document that a loader makes of a file of its kind.

    Raises:
        PasswordError: the file is encrypted and the password is missing or wrong.
        DocumentError: the file cannot be turned into text; the sentence says what to do.
    """
    if isinstance(loader, Unlocking):
        content = loader.unlock(data, name, limits, password)
    else:
        content = loader.load(data, name, limits)
    return Document(
        name=name,
        kind=loader.kind,
        text=content.text,
        marks=content.marks,
        fingerprint=fingerprint(loader.kind, content),
        pages=content.pages,
        warnings=content.warnings,
        vectors=content.vectors,
    )


def fingerprint(kind: str, content: Content) -> str:
    """SHA-256 of kind, marks and text, in hexadecimal; the file's name has no part in it."""
    digest = hashlib.sha256(f"tracert.document/1\n{kind}\n".encode())
    for mark in content.marks:
        digest.update(f"{mark.start}\t{mark.page}\t{mark.heading_path!r}\n".encode())
    digest.update(b"\n")
    digest.update(content.text.encode("utf-8"))
    return digest.hexdigest()


def supported() -> str:
    """The kinds that can be loaded, for a sentence: 'PDF, Markdown, plain text'."""
    return ", ".join(loader.title for loader in LOADERS)


def suffixes() -> tuple[str, ...]:
    """The usual endings of files that can be loaded, with their dots."""
    return tuple(suffix for loader in LOADERS for suffix in loader.suffixes)


def loader_of(data: bytes, name: str) -> Loader | None:
    """The loader that knows the content; None for a zip that is no document of a known kind.

    Raises:
        DocumentError: nothing can be read of it; the sentence says what it is.
    """
    for loader in LOADERS[:-_TEXTS]:
        if loader.recognises(data, name):
            return loader
    unread = known(data, name)
    if unread is not None:
        what, advice = unread
        raise DocumentError(f"{name} is {what}. {advice}. Supported: {supported()}.")
    if is_zip(data):
        return None
    for loader in LOADERS[-_TEXTS:]:
        if loader.recognises(data, name):
            return loader
    raise DocumentError(f"{name} is no text that can be read. Supported: {supported()}.")


def is_plain(data: bytes) -> bool:
    """Whether the bytes begin as text in a one-byte encoding does: no office file, no picture."""
    return not is_binary(data)
