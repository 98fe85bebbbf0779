"""YAML front matter that names the parent: by title, as Just the Docs does, or by path.

    ---
    title: Breadcrumbs
    parent: Navigation
    grand_parent: Docs
    nav_order: 3
    ---

Where several pages have the title of the parent, the one whose own ancestors include
`grand_parent` or `ancestor` is meant. Links of the text become related notes; Jekyll's
`{% link path %}`, `{{ site.baseurl }}` and permalinks are understood. Lists named `children`
and `related` count too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from tracert.knowledge.dialects.base import Resolved
from tracert.knowledge.dialects.page import page
from tracert.knowledge.dialects.places import Places
from tracert.knowledge.dialects.yaml_head import Head, read_head
from tracert.knowledge.markup import links
from tracert.knowledge.model import Draft, Reference

_LINK_TAG: Final = re.compile(r"\{%-?\s*(?:link|post_url)\s+(?P<path>.+?)\s*-?%\}")
_BASE: Final = re.compile(r"\{\{\s*site\.(?:baseurl|url)\s*\}\}")
_UP: Final = ("parent", "up")


class FrontMatter:
    """The dialect 'frontmatter'."""

    name = "frontmatter"
    lists_children = False

    def likeness(self, sample: Mapping[str, str], paths: Sequence[str]) -> float:  # noqa: ARG002
        """The share of notes whose front matter names a parent."""
        hits = sum(
            any(name in head.fields for name in (*_UP, "grand_parent", "has_children"))
            for head in (read_head(path, text) for path, text in sample.items())
        )
        return hits / max(1, len(sample))

    def parse(self, path: str, text: str) -> Draft:
        """Front matter and the links of the text."""
        head = read_head(path, text)
        parent = next(
            (
                Reference(
                    re.sub(r"\A\[\[(.*)\]\]\Z", r"\1", head.text(name)), head.lines.get(name, 1)
                )
                for name in _UP
                if head.text(name)
            ),
            None,
        )
        listed = [Reference(item, head.lines.get("related", 1)) for item in head.texts("related")]
        found = [Reference(link.target, link.line) for link in links(text, head.end)]
        children = [
            Reference(item, head.lines.get("children", 1)) for item in head.texts("children")
        ]
        return page(
            path,
            text,
            head,
            [*listed, *found],
            parent=parent,
            children=children,
            extra=_extra(head),
        )

    def names(self, drafts: Mapping[str, Draft]) -> FrontMatterNames:
        """Titles, aliases, permalinks and paths."""
        return FrontMatterNames(drafts)


def _extra(head: Head) -> dict[str, str]:
    wanted = ("grand_parent", "ancestor", "permalink")
    return {name: head.text(name) for name in wanted if head.text(name)}


class FrontMatterNames:
    """The links of a tree with front matter."""

    def __init__(self, drafts: Mapping[str, Draft]) -> None:
        self._drafts = drafts
        self._places = Places(drafts)
        self._by_title: dict[str, list[str]] = defaultdict(list)
        self._by_link: dict[str, str] = {}
        for path, draft in drafts.items():
            for title in (draft.title, *draft.aliases):
                self._by_title[title.casefold()].append(path)
            if "permalink" in draft.extra:
                self._by_link[draft.extra["permalink"].strip("/")] = path
        self._known: dict[str, tuple[Reference, Resolved] | None] = {}

    def parent(self, draft: Draft) -> tuple[Reference, Resolved] | None:
        """The parent by title, else by path."""
        if draft.path not in self._known:
            self._known[draft.path] = None  # stands while the ancestors of others are asked for
            self._known[draft.path] = self._parent(draft)
        return self._known[draft.path]

    def resolve(self, draft: Draft, reference: Reference) -> Resolved:
        """A link of the text: by path, permalink or title."""
        tag = _LINK_TAG.search(reference.written)
        written = tag["path"] if tag else _BASE.sub("", reference.written)
        if not tag and "{" in written:
            return Resolved(None, ignored=True)
        place = re.split(r"[?#]", written, maxsplit=1)[0].strip("/")
        if not place or place == ".":
            return Resolved(None, ignored=True)
        if place in self._by_link:
            return Resolved(self._by_link[place])
        found = self._places.find(draft.path, written)
        if found.path is None:
            same = self._by_title.get(written.casefold(), [])
            if len(same) == 1:
                return Resolved(same[0])
        return found

    def _parent(self, draft: Draft) -> tuple[Reference, Resolved] | None:
        if draft.parent is None:
            return None
        same = [
            path
            for path in self._by_title.get(draft.parent.written.casefold(), [])
            if path != draft.path
        ]
        if not same:
            return draft.parent, self._places.find(draft.path, draft.parent.written)
        if len(same) > 1:
            same = self._narrowed(draft, same)
        return draft.parent, Resolved(same[0])

    def _narrowed(self, draft: Draft, same: Sequence[str]) -> list[str]:
        """Those of equal title that fit the named ancestors, else the nearest in the folders."""
        fitting = list(same)
        grand, ancestor = draft.extra.get("grand_parent"), draft.extra.get("ancestor")
        if grand:
            fitting = [path for path in fitting if self._title_above(path) == grand.casefold()]
        if ancestor:
            fitting = [path for path in fitting if ancestor.casefold() in self._titles_above(path)]
        folder = draft.path.split("/")[:-1]
        return sorted(fitting or same, key=lambda path: (-_shared(folder, path), path))

    def _title_above(self, path: str) -> str:
        return next(iter(self._titles_above(path)), "")

    def _titles_above(self, path: str) -> list[str]:
        titles: list[str] = []
        seen: set[str] = set()
        while path not in seen:
            seen.add(path)
            above = self.parent(self._drafts[path])
            if above is None or above[1].path is None:
                break
            path = above[1].path
            titles.append(self._drafts[path].title.casefold())
        return titles


def _shared(folder: Sequence[str], path: str) -> int:
    """How many folders the two have in common from the top."""
    count = 0
    for one, other in zip(folder, path.split("/")[:-1], strict=False):
        if one != other:
            break
        count += 1
    return count
