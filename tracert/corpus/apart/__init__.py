"""Parsing apart from the app: a process of its own, bounded in time and memory."""

from tracert.corpus.apart.parser import Archive, Member, Parser

__all__ = ["Archive", "Member", "Parser"]
