"""Wikilinks: `[[name]]`, with hierarchies in dotted file names (Dendron) or in folders.

A note `a.b.c.md` lies below the nearest of `a.b.md` and `a.md` that exists, and a note of one
part below `root.md`; in folders a note lies below the note of its folder's name. In a link
Dendron puts the words first (`[[words|a.b.c]]`), others the name (`[[name|words]]`): the side
that names a note is the target, the later one if both do. `dendron://vault/name`, `#heading`,
`^block` and the `!` of an embedded note are understood. A name is a dotted name, a path, a
file's name, a title or an alias, in this order.
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
from tracert.knowledge.markup import links, wikilinks
from tracert.knowledge.model import Draft, Reference

_SCHEME: Final = re.compile(r"\Adendron://[^/\s]*/")
_ANCHOR: Final = re.compile(r"[#^].*\Z", re.DOTALL)
_WIKI: Final = "[["


class WikiLinks:
    """The dialect 'wikilinks'."""

    name = "wikilinks"
    lists_children = False

    def likeness(self, sample: Mapping[str, str], paths: Sequence[str]) -> float:
        """The larger share: of notes with a wikilink, or of dotted names (counted 0.9)."""
        linked = sum(bool(wikilinks(text)) for text in sample.values()) / max(1, len(sample))
        stems = [PurePosixPath(path).stem for path in paths]
        dotted = sum("." in stem and " " not in stem for stem in stems) / max(1, len(stems))
        return max(linked, 0.9 * dotted)

    def parse(self, path: str, text: str) -> Draft:
        """Front matter, wikilinks and markdown links."""
        head = read_head(path, text)
        found = [
            (link.start, Reference(_WIKI + link.target, link.line))
            for link in wikilinks(text, head.end)
        ]
        found += [(link.start, Reference(link.target, link.line)) for link in links(text, head.end)]
        related = [reference for _start, reference in sorted(found, key=lambda item: item[0])]
        return page(path, text, head, related)

    def names(self, drafts: Mapping[str, Draft]) -> WikiNames:
        """Dotted names, file names, titles and aliases."""
        return WikiNames(drafts)


class WikiNames:
    """The links of a tree of wikilinks."""

    def __init__(self, drafts: Mapping[str, Draft]) -> None:
        self._places = Places(drafts)
        self._dotted = {_stem(path): path for path in drafts}
        self._loose: dict[str, str] = {}
        for path in drafts:
            self._loose.setdefault(PurePosixPath(path).stem.casefold(), path)
        for path, draft in drafts.items():
            self._loose.setdefault(draft.title.casefold(), path)
            for alias in draft.aliases:
                self._loose.setdefault(alias.casefold(), path)

    def parent(self, draft: Draft) -> tuple[Reference, Resolved] | None:
        """The nearest note above by dotted name, else by folder, else the root."""
        folder, name = posixpath.split(_stem(draft.path))
        parts = name.split(".")
        above = [
            posixpath.join(folder, ".".join(parts[:length]))
            for length in range(len(parts) - 1, 0, -1)
        ]
        while folder:
            own = posixpath.basename(folder)
            above += [posixpath.join(folder, name) for name in ("index", "README", own)]
            above.append(folder)
            folder = posixpath.dirname(folder)
        above.append(posixpath.join(posixpath.dirname(_stem(draft.path)), "root"))
        for stem in above:
            path = self._dotted.get(stem)
            if path is not None and path != draft.path:
                return Reference(stem, 1), Resolved(path)
        return None

    def resolve(self, draft: Draft, reference: Reference) -> Resolved:
        """The note meant; an anchor alone means the note itself and is left out."""
        written = reference.written
        if not written.startswith(_WIKI):
            return self._places.find(draft.path, written)
        sides = [side.strip() for side in written.removeprefix(_WIKI).split("|")]
        named = [_ANCHOR.sub("", _SCHEME.sub("", side)).strip() for side in sides]
        if not any(named):
            return Resolved(None, ignored=True)
        for name in reversed([name for name in named if name]):
            found = self._find(draft.path, name)
            if found.path is not None:
                return found
        last = sides[-1]
        return Resolved(None, ignored=last.startswith(("http:", "https:", "mailto:", "#", "^")))

    def _find(self, note: str, name: str) -> Resolved:
        path = self._dotted.get(name)
        if path is None:
            here = posixpath.join(posixpath.dirname(note), name)
            path = self._dotted.get(here)
        if path is not None:
            return Resolved(path)
        found = self._places.find(note, name)
        if found.path is not None:
            return found
        return Resolved(self._loose.get(name.casefold()))


def _stem(path: str) -> str:
    """The path without its ending."""
    return re.sub(r"\.(?:md|markdown)\Z", "", path, flags=re.IGNORECASE)
