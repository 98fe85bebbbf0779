"""The one tool of the model: `get_knowledge_context(node, view, score, reason)`.

After A. Mazur, 'RAG finds chunks. TrailGraph finds answers' (2026):

- the exploration view shows key points, children and related notes; the focused view the content;
- a score of the answer threshold or more switches to the focused view, whatever was asked;
- a focused view disables the tool;
- a note that was visited before says so;
- a dead end, a score below the explore threshold, too many hops or a path that was not offered
  end the walk: the closest note is named.

What differs: only notes that were shown as entry points, children or related can be visited,
so that neither the model's invention nor a path in a note's text leads anywhere; a note with
children that would be opened shows its children first, with the rule, unless that is switched
off; and where entry points were searched for, a trail that scores too low goes on from the
next of them before it is given up. The tool, not the model, holds the state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tracert.errors import KnowledgeError
from tracert.knowledge.model import Note
from tracert.knowledge.opened import OpenGraph
from tracert.language.base import Tool
from tracert.methods.trailgraph.record import EXPLORATION, FOCUSED, Recorder
from tracert.methods.trailgraph.settings import TrailGraphSettings

NAME: Final = "get_knowledge_context"
_ARGUMENTS: Final = ("node", "view", "score", "reason")
_REASON: Final = 400


class Outcome(StrEnum):
    """What a call came to."""

    EXPLORED = "explored"
    CHILDREN_FIRST = "children_first"
    OPENED = "opened"
    VISITED = "visited"
    NOT_OFFERED = "not_offered"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Visit:
    """A call that the tool understood: its arguments, what it came to, what was on offer then.

    `offered` is what the model could choose from; `turned_to` the entry point that the walk
    was sent back to, if it was.
    """

    node: str
    view: str
    score: float
    reason: str
    outcome: Outcome
    hop: int
    offered: tuple[str, ...]
    turned_to: str | None = None


class GetKnowledgeContext:
    """The tool over one graph, for one question."""

    def __init__(
        self,
        opened: OpenGraph,
        settings: TrailGraphSettings,
        recorder: Recorder,
        entries: Sequence[str],
        searched: Sequence[str] = (),
    ) -> None:
        """Nothing is visited yet.

        Args:
            opened: the graph.
            settings: thresholds, hops and rules.
            recorder: reads the content of a note that is opened.
            entries: where the walk may start.
            searched: the entry points found by search, best first; the walk falls back from
                one to the next of them.
        """
        self._opened = opened
        self._settings = settings
        self._recorder = recorder
        self._offered: dict[str, None] = dict.fromkeys(entries)
        self._on_hand: tuple[str, ...] = tuple(dict.fromkeys(entries))
        self._waiting = list(searched)
        self._tries = 1
        self._shown_children: set[str] = set()
        self._why: str | None = None
        self.visited: dict[str, float] = {}
        self.visits: list[Visit] = []
        self.hops = 0
        self.best: tuple[str, float] | None = None
        self.opened: str | None = None
        self.limit: Outcome | str | None = None

    @property
    def schema(self) -> Tool:
        """The tool as the model sees it."""
        explore, answer = self._settings.explore_threshold, self._settings.answer_threshold
        return Tool(
            NAME,
            "Shows a note of the knowledge base and its place in the graph. Give the note a score "
            "from 0 to 100 for how well it fits the question, and a reason. view='exploration' "
            f"shows key points, children and related notes; view='focused' (score {answer:g} and "
            "more) the full content.",
            {
                "type": "object",
                "properties": {
                    "node": {
                        "type": "string",
                        "description": "Path of a note, exactly as an entry point or the children "
                        "and related notes of an earlier result give it.",
                    },
                    "view": {"type": "string", "enum": [EXPLORATION, FOCUSED]},
                    "score": {
                        "type": "integer",
                        "description": f"0 to 100: below {explore:g} not relevant, up to "
                        f"{answer:g} partly, from there on it answers the question.",
                    },
                    "reason": {"type": "string", "description": "Why this score, in short."},
                },
                "required": ["node", "score", "reason"],
            },
        )

    @property
    def on_offer(self) -> tuple[str, ...]:
        """The notes that the last view offers; at first the entry points."""
        return self._on_hand

    @property
    def offered(self) -> tuple[str, ...]:
        """Every note that was offered so far: all that may be visited."""
        return tuple(self._offered)

    @property
    def disabled(self) -> bool:
        """True once a note was opened."""
        return self.opened is not None

    def stop(self) -> str | None:
        """Why the walk is over, None if it goes on."""
        return self._why

    def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """One call; see the module's text."""
        unknown = [name for name in arguments if name not in _ARGUMENTS]
        node, view = arguments.get("node"), arguments.get("view", EXPLORATION)
        score = _number(arguments.get("score", 0))
        if unknown:
            return _error(f"Unknown arguments: {', '.join(unknown)[:100]}.")
        if not isinstance(node, str) or not node:
            return _error("The argument 'node' is missing: the path of a note.")
        if view not in (EXPLORATION, FOCUSED):
            return _error("The argument 'view' is 'exploration' or 'focused'.")
        if score is None:
            return _error("The argument 'score' is a number from 0 to 100.")
        reason = " ".join(str(arguments.get("reason", "")).split())[:_REASON]
        return self._visit(node, view, score, reason)

    # --- one visit --------------------------------------------------------------------------

    def _visit(self, node: str, view: str, score: float, reason: str) -> Mapping[str, Any]:
        offered = self._on_hand
        if node not in self._offered:
            self._note(node, view, score, reason, Outcome.NOT_OFFERED, offered)
            self._end(
                Outcome.NOT_OFFERED,
                f"The model named a note that was not on offer: {node[:120]!r}.",
            )
            return _error(f"The note {node[:120]!r} was not on offer.")
        if self.best is None or score > self.best[1]:
            self.best = (node, score)
        note = self._opened.note(node)
        wanted = FOCUSED if score >= self._settings.answer_threshold else view
        first = (
            self._settings.children_first
            and wanted == FOCUSED
            and bool(note.children)
            and node not in self._shown_children
        )
        if first:
            wanted = EXPLORATION
        if node in self.visited and wanted != FOCUSED and not first:
            self._note(node, view, score, reason, Outcome.VISITED, offered)
            result: dict[str, Any] = {
                "already_visited": True,
                "node": node,
                "suggestion": "This note was visited before. Explore other candidates.",
            }
            return self._went_on(result, score, dead_end=False)
        self.visited[node] = score
        self.hops += 1
        if wanted == FOCUSED:
            return self._open(note, view, score, reason, offered)
        self._shown_children.add(node)
        outcome = Outcome.CHILDREN_FIRST if first else Outcome.EXPLORED
        self._on_hand = (*note.children, *note.related)
        self._offered |= dict.fromkeys(self._on_hand)
        self._note(node, view, score, reason, outcome, offered)
        result = local_view(self._opened, note)
        if first:
            result["rule"] = (
                "This note has children, so a more specific answer may lie deeper. Look at the "
                "children first. If none of them is better, ask for this note again."
            )
        return self._went_on(result, score, dead_end=not self._on_hand)

    def _open(
        self, note: Note, view: str, score: float, reason: str, offered: tuple[str, ...]
    ) -> Mapping[str, Any]:
        try:
            content = self._recorder.content(note.path)
        except KnowledgeError as error:
            self._note(note.path, view, score, reason, Outcome.UNREADABLE, offered)
            self._end(Outcome.UNREADABLE, str(error))
            return _error(str(error))
        self.opened = note.path
        self._note(note.path, view, score, reason, Outcome.OPENED, offered)
        self._end(Outcome.OPENED, f"The note {note.path} was opened.")
        return {**local_view(self._opened, note, content), "metadata": self._metadata()}

    def _went_on(self, result: dict[str, Any], score: float, *, dead_end: bool) -> dict[str, Any]:
        """The result of a view that opened nothing; it may end the walk or send it back."""
        settings = self._settings
        low = score < settings.explore_threshold
        if low or dead_end:
            back = self._turn_back()
            if back is not None:
                what = "scored too low" if low else "is a dead end"
                result["turn_back"] = f"This trail {what}. Go on from the entry point {back}."
            elif low:
                self._end("below", f"The note scored below {settings.explore_threshold:g}.")
            else:
                self._end("dead_end", "The note has neither children nor related notes.")
        elif self.hops >= settings.max_hops:
            self._end("max_hops", f"After {settings.max_hops} hops no note was opened.")
        result["metadata"] = self._metadata()
        return result

    def _turn_back(self) -> str | None:
        """The next searched entry point, with a fresh count of hops."""
        while self._waiting and self._tries < self._settings.entries:
            entry = self._waiting.pop(0)
            if entry not in self.visited:
                self._tries += 1
                self.hops = 0
                self._on_hand = (entry,)
                self.visits[-1] = _with_turn(self.visits[-1], entry)
                return entry
        return None

    def _metadata(self) -> dict[str, Any]:
        return {"hop_count": self.hops, "visited": list(self.visited)}

    def _end(self, limit: Outcome | str, why: str) -> None:
        self.limit, self._why = limit, why

    def _note(
        self,
        node: str,
        view: str,
        score: float,
        reason: str,
        outcome: Outcome,
        offered: tuple[str, ...],
    ) -> None:
        self.visits.append(Visit(node, view, score, reason, outcome, self.hops, offered))


def local_view(opened: OpenGraph, note: Note, content: str | None = None) -> dict[str, Any]:
    """What a model or a person sees of a note: itself, its parents, children, related notes."""

    def short(other: Note) -> dict[str, str]:
        return {"node": other.path, "title": other.title, "summary": other.summary}

    current: dict[str, Any] = {"node": note.path, "title": note.title, "summary": note.summary}
    if content is None:
        current["key_points"] = list(note.key_points)
    else:
        current["content"] = content
    graph = opened.graph
    return {
        "current_node": current,
        "parents": [short(parent) for parent in graph.ancestors_of(note.path)],
        "children": [short(child) for child in graph.children_of(note.path)],
        "related": [short(other) for other in graph.related_of(note.path)],
    }


def _with_turn(visit: Visit, entry: str) -> Visit:
    return Visit(
        visit.node,
        visit.view,
        visit.score,
        visit.reason,
        visit.outcome,
        visit.hop,
        visit.offered,
        entry,
    )


def _error(text: str) -> dict[str, Any]:
    return {"error": text}


def _number(value: object) -> float | None:
    """A score from 0 to 100, also as text; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number <= 100 else None
