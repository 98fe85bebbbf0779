"""Paths as notes write them: relative to the folder, else to the note that names them."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

from tracert.errors import KnowledgeError
from tracert.knowledge.dialects.base import Resolved
from tracert.knowledge.paths import SUFFIXES, checked_name

_NOT_A_NOTE: Final = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|css|js|mjs|json|ya?ml|toml|rb|rs|txt|pdf|zip|mp4|webm|csv)\Z",
    re.IGNORECASE,
)


class Places:
    """The paths of a graph, looked up letter by letter."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)

    def find(self, note: str, written: str) -> Resolved:
        """The note meant: `written` itself, then relative to `note`; '.md' may be left out."""
        target = re.split(r"[?#]", written.strip(), maxsplit=1)[0].strip().strip("<>")
        for name in dict.fromkeys((target, unquote(target))):
            for base, whole in (("root", name.lstrip("/")), ("note", self._beside(note, name))):
                path = self._exact(whole)
                if path is not None:
                    return Resolved(path, base)
        return Resolved(None, ignored=bool(_NOT_A_NOTE.search(target)))

    def _beside(self, note: str, name: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(note), name))

    def _exact(self, name: str) -> str | None:
        """The path that the name spells, with or without its ending, or None."""
        name = unicodedata.normalize("NFC", name.removeprefix("./"))
        if name in self._paths:
            return name
        stem = re.sub(r"\.html?\Z", "", name).rstrip("/")
        for ending in (*SUFFIXES, *(f"/{page}{SUFFIXES[0]}" for page in ("index", "README"))):
            if stem + ending in self._paths:
                return stem + ending
        return None


def is_unsafe(written: str) -> bool:
    """Whether a path as written could never lie in a folder, as `paths.checked_name` has it."""
    try:
        checked_name(written)
    except KnowledgeError:
        return True
    return False
