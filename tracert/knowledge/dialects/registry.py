"""The dialects by name, and which one a tree is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tracert.errors import KnowledgeError
from tracert.knowledge.dialects.base import Dialect
from tracert.knowledge.dialects.folders import Folders
from tracert.knowledge.dialects.frontmatter import FrontMatter
from tracert.knowledge.dialects.trailgraph import TrailGraph
from tracert.knowledge.dialects.wikilinks import WikiLinks

#: In order of strictness: among equals the first is taken; `Folders` reads any tree.
DIALECTS: Final[tuple[Dialect, ...]] = (TrailGraph(), FrontMatter(), WikiLinks(), Folders())


def names() -> tuple[str, ...]:
    """The names that `dialect` knows."""
    return tuple(dialect.name for dialect in DIALECTS)


def dialect(name: str) -> Dialect:
    """The dialect of that name.

    Raises:
        KnowledgeError: there is none.
    """
    for known in DIALECTS:
        if known.name == name:
            return known
    raise KnowledgeError(f"There is no dialect {name!r}. Supported: {', '.join(names())}.")


def detect(sample: Mapping[str, str], paths: Sequence[str]) -> Dialect:
    """The dialect that the tree looks most like.

    Args:
        sample: some notes by path, their texts cut.
        paths: the paths of all notes.
    """
    scores = [known.likeness(sample, paths) for known in DIALECTS]
    return DIALECTS[scores.index(max(scores))]
