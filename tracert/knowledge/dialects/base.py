"""What a dialect is: how one file is read, and how the files hang together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tracert.knowledge.model import Draft, Reference


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a reference leads to: a path, or None; and how it was meant.

    `base` is 'root', 'note' or 'name' (a title, an alias or a dotted name). `ignored` is for
    a reference to something that is no note by design (an image, a page of the web).
    """

    path: str | None
    base: str = "name"
    ignored: bool = False


class Names(Protocol):
    """The links of one graph, ready to be followed."""

    def parent(self, draft: Draft) -> tuple[Reference, Resolved] | None:
        """The parent that the note names or that its place implies, None for a root."""
        ...

    def resolve(self, draft: Draft, reference: Reference) -> Resolved:
        """Where a child or related reference of the note leads."""
        ...


class Dialect(Protocol):
    """One way to write a graph of notes. A further one is one module and one line."""

    @property
    def name(self) -> str:
        """The name in the report, e.g. 'trailgraph'."""
        ...

    @property
    def lists_children(self) -> bool:
        """Whether notes list their children, so that parent and child can disagree."""
        ...

    def likeness(self, sample: Mapping[str, str], paths: Sequence[str]) -> float:
        """How much the tree looks like this dialect, 0 to 1.

        Args:
            sample: some notes by path, their texts cut.
            paths: the paths of all notes.
        """
        ...

    def parse(self, path: str, text: str) -> Draft:
        """What the file says by itself."""
        ...

    def names(self, drafts: Mapping[str, Draft]) -> Names:
        """The links of all drafts together."""
        ...
