"""Steps and nodes of a trace, out of what a walk did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tracert.errors import KnowledgeError
from tracert.knowledge.opened import OpenGraph
from tracert.methods.trailgraph.scoring.base import Asked, Score
from tracert.trace import Candidate, Node, NodeKind, Source, Step

EXPLORATION, FOCUSED = "exploration", "focused"
#: The order of rules in a step: what was taken first, then what was best of the rest.
_ORDER = ("chosen", "lower_score", "visited", "below_threshold", "not_offered")


@dataclass(frozen=True, slots=True)
class Judged:
    """A note considered in a step, with what was decided about it and why."""

    path: str
    score: Score | None
    rule: str
    why: str


@dataclass(slots=True)
class Recorder:
    """Numbers the steps of all parts of a run and remembers the notes that they name."""

    opened: OpenGraph
    kept: int
    index: int = 0
    _named: dict[str, None] = field(default_factory=dict)
    _contents: dict[str, str] = field(default_factory=dict)
    _invented: dict[str, None] = field(default_factory=dict)

    def step(
        self,
        action: str,
        source: str,
        target: str | None,
        judged: Sequence[Judged],
        values: Mapping[str, float | str | None],
    ) -> Step:
        """The next step; the candidates are ordered by rule and score and cut to `kept`."""
        order = {rule: place for place, rule in enumerate(_ORDER)}
        ranked = sorted(
            judged,
            key=lambda item: (order[item.rule], -(item.score.value if item.score else -1.0)),
        )
        candidates = tuple(_candidate(item) for item in ranked[: self.kept])
        for path in (source, target, *(candidate.id for candidate in candidates)):
            if path is not None and path != "query":
                self._name(path)
        step = Step(
            index=self.index,
            action=action,
            source=source,
            target=target,
            values=values,
            counts=dict(Counter(item.rule for item in ranked)),
            candidates=candidates,
        )
        self.index += 1
        return step

    def content(self, path: str) -> str:
        """The content of a note that is opened now; its node will carry it.

        Raises:
            KnowledgeError: the file cannot be read any more.
        """
        if path not in self._contents:
            self._contents[path] = self.opened.graph.content(path)
        self._name(path)
        return self._contents[path]

    def name(self, paths: Sequence[str]) -> None:
        """Make sure that the nodes hold these notes."""
        for path in paths:
            self._name(path)

    def nodes(self, asked: Asked) -> tuple[Node, ...]:
        """The question and every note that was named; an opened one with its content."""
        query = Node("query", NodeKind.QUERY, "Question", asked.text, vector=asked.vector)
        notes = [self._node(path) for path in self._named]
        invented = [
            Node(path, NodeKind.NOTE, path, "There is no such note.") for path in self._invented
        ]
        return (query, *notes, *invented)

    def _name(self, path: str) -> None:
        if path in self.opened.row:
            self._named[path] = None
        else:
            self._invented[path] = None

    def _node(self, path: str) -> Node:
        note = self.opened.note(path)
        vector = self.opened.vector(path)
        content = self._contents.get(path)
        if content is None:
            return Node(path, NodeKind.NOTE, note.title, note.preview, vector=vector)
        above = tuple(parent.title for parent in reversed(self.opened.graph.ancestors_of(path)))
        source = Source(path, None, (*above, note.title), note.start, note.start + len(content))
        return Node(path, NodeKind.NOTE, note.title, content, source, vector)


def readable(recorder: Recorder, path: str) -> KnowledgeError | None:
    """Open the note; the error if its file cannot be read any more."""
    try:
        recorder.content(path)
    except KnowledgeError as error:
        return error
    return None


def _candidate(item: Judged) -> Candidate:
    reason = f"{item.why} ({item.score.reason})" if item.score is not None else item.why
    value = None if item.score is None else round(item.score.value, 2)
    return Candidate(item.path, item.rule == "chosen", item.rule, reason, {"score": value})
