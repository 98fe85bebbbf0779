"""Pages in folders, with relative links, and a SUMMARY.md or index pages that give the tree.

A `SUMMARY.md` (mdBook, GitBook) lists the pages as nested items: a page lies below the item
that it is nested in, in that order. Where a page is on no list, the index page of its folder
(`index.md`, `README.md`, or a page of the folder's name) is its parent, and the index page of
a folder lies below that of the folder around it. A link to `page.html` means `page.md`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from tracert.knowledge.dialects.base import Resolved
from tracert.knowledge.dialects.page import page
from tracert.knowledge.dialects.places import Places
from tracert.knowledge.dialects.yaml_head import read_head
from tracert.knowledge.markup import links
from tracert.knowledge.model import Draft, Reference

_SUMMARY: Final = "summary.md"
_INDEXES: Final = ("index", "readme", "_index")


class Folders:
    """The dialect 'folders'; it reads any tree."""

    name = "folders"
    lists_children = False

    def likeness(self, sample: Mapping[str, str], paths: Sequence[str]) -> float:  # noqa: ARG002
        """Certain where there is a SUMMARY.md, else a little, since any tree can be read so."""
        return 0.95 if any(_is_summary(path) for path in paths) else 0.05

    def parse(self, path: str, text: str) -> Draft:
        """The page and its links; in a SUMMARY.md the tree as its `extra`."""
        head = read_head(path, text)
        if _is_summary(path):
            nested = _nested(text)
            extra = {f"{place:06d}": f"{above}\n{target}" for place, (above, target) in nested}
            return page(path, text, head, (), extra=extra)
        related = [Reference(link.target, link.line) for link in links(text, head.end)]
        return page(path, text, head, related)

    def names(self, drafts: Mapping[str, Draft]) -> FolderNames:
        """Relative paths, and the tree of the lists and the folders."""
        return FolderNames(drafts)


class FolderNames:
    """The links of a tree of folders."""

    def __init__(self, drafts: Mapping[str, Draft]) -> None:
        self._places = Places(drafts)
        self._above: dict[str, str] = {}
        self._listed: set[str] = set()
        self._indexes = {
            (posixpath.dirname(path), PurePosixPath(path).stem.casefold()): path
            for path in drafts
            if not _is_summary(path)
        }
        for path, draft in drafts.items():
            if _is_summary(path):
                self._read_list(path, draft)

    def parent(self, draft: Draft) -> tuple[Reference, Resolved] | None:
        """By the list, else by the folder."""
        path = draft.path
        if path in self._listed or _is_summary(path):
            above = self._above.get(path)
        else:
            above = self._by_folder(path)
        return None if above is None else (Reference(above, 1), Resolved(above))

    def resolve(self, draft: Draft, reference: Reference) -> Resolved:
        """The page that the link leads to; what lies outside the tree is no page of it."""
        found = self._places.find(draft.path, reference.written)
        target = re.split(r"[?#]", reference.written, maxsplit=1)[0]
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(draft.path), target))
        if found.path is None and inside.startswith(".."):
            return Resolved(None, ignored=True)
        return found

    def _read_list(self, path: str, draft: Draft) -> None:
        for place in sorted(draft.extra):
            above, _newline, target = draft.extra[place].partition("\n")
            page = self._places.find(path, target).path
            if page is None or page in self._listed:
                continue
            self._listed.add(page)
            parent = self._places.find(path, above).path if above else None
            if parent is not None and parent != page:
                self._above[page] = parent

    def _by_folder(self, path: str) -> str | None:
        folder = posixpath.dirname(path)
        while True:
            for name in (*_INDEXES, posixpath.basename(folder).casefold()):
                found = self._indexes.get((folder, name))
                if found is not None and found != path:
                    return found
            beside = self._indexes.get(
                (posixpath.dirname(folder), posixpath.basename(folder).casefold())
            )
            if folder and beside is not None and beside != path:
                return beside
            if not folder:
                return None
            folder = posixpath.dirname(folder)


def _is_summary(path: str) -> bool:
    return PurePosixPath(path).name.casefold() == _SUMMARY


def _nested(text: str) -> list[tuple[int, tuple[str, str]]]:
    """The items of a SUMMARY.md as (place, (target above or '', target)), in order."""
    stack: list[tuple[int, str]] = []
    found: list[tuple[int, tuple[str, str]]] = []
    for link in links(text):
        line = text[text.rfind("\n", 0, link.start) + 1 : link.start]
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        is_item = bool(re.match(r"\s*[-*+]\s", line))
        stack = [entry for entry in stack if entry[0] < indent] if is_item else []
        found.append((len(found), (stack[-1][1] if stack else "", link.target)))
        if is_item:
            stack.append((indent, link.target))
    return found
