"""The types of a knowledge graph: what a file says, what it means among the others, and faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reference:
    """A link as it is written in a note, with the line it stands in, counted from 1."""

    written: str
    line: int


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a note: where, what, and what to do about it.

    `file` is the note's path in its folder, `line` counts from 1 (0 where no line is meant).
    """

    file: str
    line: int
    kind: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What one file says by itself, before any link is followed; a dialect's parser makes it.

    `start` and `end` bound the content in the decoded text (characters, without byte order
    mark, line ends as a single newline). `made` names the fields that the file leaves out and
    that were made from its content. `extra` holds what only the dialect knows.
    """

    path: str
    title: str
    summary: str = ""
    key_points: tuple[str, ...] = ()
    parent: Reference | None = None
    children: tuple[Reference, ...] = ()
    related: tuple[Reference, ...] = ()
    start: int = 0
    end: int = 0
    lines: Mapping[str, int] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    order: float | None = None
    made: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A note among the others: every link is the path of a note that exists.

    `path` is the note's id everywhere: relative to the graph's folder, with slashes, in
    Unicode's composed form. The content is not here; `KnowledgeGraph.content` reads it.
    """

    path: str
    title: str
    summary: str
    parent: str | None
    children: tuple[str, ...]
    related: tuple[str, ...]
    key_points: tuple[str, ...]
    start: int
    end: int
    hash: str
    lines: Mapping[str, int] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    made: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        """Title, summary and key points: all that exploration shows of the note itself."""
        return "\n".join(part for part in (self.title, self.summary, *self.key_points) if part)

    @property
    def preview(self) -> str:
        """Summary and key points as text to read: what is known of a note that is not opened."""
        points = "\n".join(f"- {_ended(point)}" for point in self.key_points)
        return "\n\n".join(part for part in (_ended(self.summary), points) if part)


def _ended(text: str) -> str:
    """The text with a full stop, if it has an end of no kind."""
    return text if not text or text[-1] in ".!?…:;。！？" else f"{text}."


@dataclass(frozen=True, slots=True)
class Report:
    """What was found when a graph was opened.

    `links` counts links as written (parent, children, related), `unresolved` those that lead
    to no note. `relative_to_root` and `relative_to_note` count how the paths were meant.
    `islands` are connected groups that cannot be reached. `parsed` is the number of files
    parsed just now; the others came from the index.
    """

    dialect: str
    notes: int
    links: int
    resolved: int
    unresolved: int
    islands: int
    relative_to_root: int
    relative_to_note: int
    entry_rule: str
    parsed: int = 0

    @property
    def sentence(self) -> str:
        """The report in one sentence."""
        return (
            f"{self.notes} notes in the {self.dialect} format with {self.links} links, "
            f"{self.unresolved} of them unresolved, and {self.islands} islands; "
            f"{self.relative_to_root} paths are relative to the folder, "
            f"{self.relative_to_note} to their note; entry points: {self.entry_rule}."
        )


@dataclass(frozen=True, slots=True)
class Linked:
    """A dialect's reading of all drafts together."""

    notes: Mapping[str, Note]
    faults: tuple[Fault, ...]
    links: int
    unresolved: int
    relative_to_root: int
    relative_to_note: int
