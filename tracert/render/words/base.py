"""What a method says about itself: its rules, its columns, its captions and its formula.

The player, the graph, the map, the table and the panels are written once; what differs
between methods is the `Words` that they are given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol

from tracert.render import tree
from tracert.render.frames import Frame
from tracert.render.palette import Look
from tracert.trace import Node, NodeKind, Trace

#: Where a sentence begins inside a passage that was cut in mid-sentence.
_BEGINNING: Final = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])|\n\s*\n\s*")
_MARKS: Final = re.compile(r"(?m)^\s*#{1,6}\s+|[*_`]+(?=\w)|(?<=\w)[*_`]+")
#: Marks that turn the direction of writing, also of the words that the app puts after them.
_TURNING: Final = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: Characters of a title.
TITLE: Final = 56


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that decides about a candidate: its name in the trace and how it is shown.

    `near` tells whether a candidate under this rule is of the walk's neighbourhood; of the
    others the graph shows few.
    """

    name: str
    label: str
    meaning: str
    look: Look
    near: bool = True


@dataclass(frozen=True, slots=True)
class Column:
    """A number of a candidate: its key in `Candidate.values`, heading, meaning, decimals."""

    key: str
    label: str
    meaning: str
    digits: int = 3


@dataclass(frozen=True, slots=True)
class Formula:
    """An equation in LaTeX: the general form, and the same with the numbers of one candidate."""

    general: str
    filled: str
    about: str


class Words(Protocol):
    """How one method is put into words. Captions are plain text and may quote passages."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in the order in which a legend lists them."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """The numbers of a candidate in the order of the table."""
        ...

    @property
    def chapters(self) -> str:
        """What the method does, in a paragraph, for a person who meets it first."""
        ...

    def caption(self, trace: Trace, frame: Frame) -> str:
        """What happens in this frame, in plain words with its numbers."""
        ...

    def formula(self, trace: Trace, frame: Frame, id: str | None) -> Formula | None:
        """The deciding equation with the numbers of that candidate, or of the chosen one."""
        ...


def upright(text: str) -> str:
    """The text without the marks that would turn around the words that stand after it.

    What is shown in the app's own sentences and labels goes through here; the text of a passage,
    which stands by itself, stays as it is.
    """
    return _TURNING.sub("", text)


def title(node: Node, length: int = TITLE) -> str:
    """What a node is called on a label: the question's or goal's own name, a passage's words.

    A passage is mostly cut in mid-sentence: its title begins at its first whole sentence if
    one starts in its first half, else at its first whole word, after an ellipsis; a word that
    begins with a capital is whole.
    """
    if node.kind is NodeKind.QUERY:
        return "The question"
    if node.kind is NodeKind.GOAL:
        return "The goal"
    if node.kind in (NodeKind.NOTE, NodeKind.ENTITY, NodeKind.COMMUNITY):
        return upright(node.label)
    text = upright(node.text)
    if node.source is None or node.source.start > 0:
        begins = _BEGINNING.search(text, 0, max(1, len(text) // 2))
        if begins is not None:
            text = text[begins.end() :]
        elif " " in text[:30].strip() and not text.lstrip()[:1].isupper():
            text = "… " + text.split(maxsplit=1)[1]
    words = " ".join(_MARKS.sub("", text).split())
    if len(words) > length:
        words = words[: length - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"
    return words or upright(node.label)


def place(node: Node) -> str:
    """Where a passage stands: 'book.pdf, page 4, Chapter 2 › The ring'."""
    source = node.source
    if source is None:
        return upright(node.id) if node.kind is NodeKind.NOTE else ""
    parts = (source.document, source.leaf, " › ".join(source.heading_path))
    return upright(", ".join(part for part in parts if part))


def called(trace: Trace, frame: Frame, id: str) -> str:
    """What a caption calls a node: 'the question', 'the goal', 'query q1', 'passage 2'."""
    node = trace.node(id)
    if node.kind is NodeKind.QUERY:
        return "the question"
    if node.kind is NodeKind.GOAL:
        return "the goal"
    if node.kind is NodeKind.HOP:
        query = tree.query_of(trace, id)
        return "the question" if query is None or query.step == 0 else f"query {query.name}"
    if node.kind in (NodeKind.ENTITY, NodeKind.COMMUNITY):
        return f"“{upright(node.label)}”"
    number = frame.order.get(id)
    return f"{unit(trace)} {number}" if number else f"“{title(node)}”"


def unit(trace: Trace) -> str:
    """What the trace walks over is called: 'note' or 'passage'."""
    notes = any(node.kind is NodeKind.NOTE for node in trace.nodes)
    return "note" if notes else "passage"


def quoted(trace: Trace, id: str) -> str:
    """The first words of a passage in quotation marks; '' for the question and the goal."""
    node = trace.node(id)
    return "" if node.kind in (NodeKind.QUERY, NodeKind.GOAL) else f"“{title(node)}”"
