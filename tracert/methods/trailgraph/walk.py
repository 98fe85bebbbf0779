"""The walk with a scorer: from entry points along children and related notes, scored each.

    beam_1     = one entry point
    beam_{i+1} = the N best-scored notes that the notes of beam_i offer (children, related),
                 not visited, with score >= explore threshold

until a note of the beam scores at least the answer threshold; that note is opened. A walk that
ends without one is followed by a walk from the next entry point, and after the last one the
closest note seen is named ('did you mean that?'). N = 1 with fixed entry points and a single
entry is the plain walk of the source (A. Mazur, 'RAG finds chunks. TrailGraph finds answers',
2026); search for entry points, the next entry point and N > 1 are its roadmap.

Deviations: the score of a fixed entry point does not end the walk (it must begin somewhere;
offline scores of broad notes are low); a note with children that reaches the answer threshold
is opened after its children have been looked at and none of them reaches it (`children_first`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tracert.errors import BudgetError, ModelError
from tracert.knowledge.opened import OpenGraph
from tracert.methods.trailgraph.record import EXPLORATION, FOCUSED, Judged, Recorder, readable
from tracert.methods.trailgraph.scoring.base import Asked, Score, Scorer, Searcher
from tracert.methods.trailgraph.settings import TrailGraphSettings
from tracert.trace import Step, Stop, StopReason

#: The notes beside the opened or the closest one that its step names.
_OTHERS: Final = 20


@dataclass(frozen=True, slots=True)
class Part:
    """How the walk for one question ended.

    `path`: the notes walked through to the last one; `final`: the note opened, or the closest
    one; `best`: all notes that were scored, best first.
    """

    asked: Asked
    path: tuple[str, ...]
    final: str | None
    best: tuple[str, ...]
    stop: Stop


PartWalk = Generator[Step, None, Part]


@dataclass(slots=True)
class _State:
    """What the walk knows: scores, what was visited, and by which note each was offered."""

    scores: dict[str, Score] = field(default_factory=dict)
    visited: dict[str, None] = field(default_factory=dict)
    came_from: dict[str, str | None] = field(default_factory=dict)

    def trail(self, path: str) -> tuple[str, ...]:
        """The notes from the entry point to `path`."""
        found = [path]
        while (before := self.came_from.get(found[-1])) is not None:
            found.append(before)
        return tuple(reversed(found))

    def best(self) -> list[str]:
        """The scored notes, best first; ties in the order in which they were scored."""
        return sorted(self.scores, key=lambda path: -self.scores[path].value)


class BeamWalk:
    """One question walked with one scorer."""

    def __init__(
        self,
        asked: Asked,
        opened: OpenGraph,
        scorer: Scorer,
        searcher: Searcher,
        settings: TrailGraphSettings,
        recorder: Recorder,
    ) -> None:
        self._asked = asked
        self._opened = opened
        self._scorer = scorer
        self._searcher = searcher
        self._settings = settings
        self._recorder = recorder
        self._state = _State()

    def run(self) -> PartWalk:
        """The steps; returns how it ended. A model that gives no scores is a stop, no error."""
        try:
            return (yield from self._run())
        except BudgetError as error:
            part = self._given_up(StopReason.BUDGET, error, "Raise the budget, or score offline.")
        except ModelError as error:
            remedy = "Answer yes to open it, or put the question differently."
            part = self._given_up(StopReason.FALLBACK, error, remedy)
        if part.final is not None:
            yield self._closest_step(part.final)
        return part

    # --- entry points -----------------------------------------------------------------------

    def _run(self) -> PartWalk:
        settings, state = self._settings, self._state
        entries = self._entries()
        ends: list[StopReason] = []
        last = "query"
        for _ in range(settings.entries):
            open_ = [path for path in entries if path not in state.visited]
            found = self._next_entry(open_, first=not ends)
            if found is None:
                break
            action = "turn_back" if ends else "entry"
            yield self._entry_step(action, last, found, entries)
            state.visited[found] = None
            state.came_from.setdefault(found, None)
            opened, reason, last = yield from self._walk(found)
            if opened is not None:
                return self._opened_part(opened)
            ends.append(reason)
        best = state.best()
        if not best:
            return self._end(StopReason.DEAD_END, "The graph has no entry point.", "")
        yield self._fallback_step(last, best)
        return self._end(*_why(ends, settings))

    def _entries(self) -> list[str]:
        """The notes that may be entered by, best first."""
        if self._settings.entry == "search":
            most = max(self._settings.candidates_kept, self._settings.entries)
            entries = self._searcher.rank(self._asked, most)
        else:
            entries = list(self._opened.graph.entry_points)
        self._score(entries)
        return sorted(entries, key=lambda path: -self._state.scores[path].value)

    def _next_entry(self, open_: Sequence[str], *, first: bool) -> str | None:
        """The best entry point left; a found one must reach the explore threshold to be tried."""
        if not open_:
            return None
        best = open_[0]
        searched = self._settings.entry == "search"
        if searched and not first and not self._worth(best):
            return None
        return best

    def _entry_step(self, action: str, source: str, chosen: str, entries: Sequence[str]) -> Step:
        judged = [
            self._judged(path, chosen={chosen}, beaten_by=chosen, visited=self._state.visited)
            for path in entries
        ]
        return self._recorder.step(action, source, chosen, judged, self._values(chosen, 1))

    # --- from one entry point ---------------------------------------------------------------

    def _walk(self, entry: str) -> Generator[Step, None, tuple[str | None, StopReason, str]]:
        """Walk from one entry point: the note opened if any, why it ended, where it stood."""
        settings = self._settings
        beam, depth = [entry], 1
        while True:
            ready = [path for path in beam if self._answers(path) and not self._has_more(path)]
            if not ready and depth >= settings.max_hops:
                ready = [path for path in beam if self._answers(path)]
                if not ready:
                    return None, StopReason.MAX_HOPS, beam[0]
            if ready and (yield from self._open(ready[0], depth)):
                return ready[0], StopReason.ANSWERED, ready[0]
            offered = {path: self._offered(path) for path in beam}
            waiting = self._waiting(beam)
            chosen = self._choose(offered, waiting)
            for path in beam:
                yield self._explore_step(path, offered[path], chosen, depth)
            if waiting and not chosen and (yield from self._open(waiting, depth)):
                return waiting, StopReason.ANSWERED, waiting
            if not chosen:
                dead = not any(offered.values())
                return None, StopReason.DEAD_END if dead else StopReason.FALLBACK, beam[0]
            for path, source in chosen.items():
                self._state.visited[path] = None
                self._state.came_from.setdefault(path, source)
            beam, depth = list(chosen), depth + 1

    def _waiting(self, beam: Sequence[str]) -> str | None:
        """The best note of the beam that would be opened if none of its children is better."""
        return next((path for path in beam if self._answers(path)), None)

    def _offered(self, path: str) -> list[str]:
        """What the local view of the note offers: children, then related notes."""
        note = self._opened.note(path)
        offered = list(dict.fromkeys((*note.children, *note.related)))
        self._score(offered)
        for other in offered:
            if other != path:
                self._state.came_from.setdefault(other, path)
        return offered

    def _choose(self, offered: dict[str, list[str]], waiting: str | None) -> dict[str, str]:
        """The next beam: each chosen note with the note that offers it.

        Where a note waits to be opened, only a child that reaches the answer threshold, too,
        leads on.
        """
        if waiting is not None:
            deeper = [
                child
                for child in self._opened.note(waiting).children
                if child not in self._state.visited and self._answers(child)
            ]
            deeper.sort(key=lambda path: -self._state.scores[path].value)
            return dict.fromkeys(deeper[: self._settings.beam], waiting)
        first: dict[str, str] = {}
        for source, paths in offered.items():
            for path in paths:
                if path not in self._state.visited and self._worth(path):
                    first.setdefault(path, source)
        ranked = sorted(first, key=lambda path: -self._state.scores[path].value)
        return {path: first[path] for path in ranked[: self._settings.beam]}

    def _open(self, path: str, depth: int) -> Generator[Step, None, bool]:
        """Open the note: read its content. False where its file cannot be read any more."""
        error = readable(self._recorder, path)
        if error is not None:
            self._state.scores[path] = Score(0.0, f"0: {error}")
            return False
        others = [other for other in self._state.best() if other != path]
        judged = [self._judged(path, chosen={path}, beaten_by=path, visited={})]
        judged += [
            self._judged(other, chosen=set(), beaten_by=path, visited=self._state.visited)
            for other in others[:_OTHERS]
        ]
        values = {**self._values(path, depth), "view": FOCUSED}
        yield self._recorder.step("focus", path, path, judged, values)
        return True

    def _explore_step(
        self, source: str, offered: Sequence[str], chosen: dict[str, str], depth: int
    ) -> Step:
        own = [path for path, by in chosen.items() if by == source]
        best = next(iter(chosen), None)
        elsewhere = {path: None for path, by in chosen.items() if by != source}
        visited = {**self._state.visited, **elsewhere}
        judged = [
            self._judged(path, chosen=set(own), beaten_by=best, visited=visited)
            for path in offered
            if path != source
        ]
        target = own[0] if own else None
        return self._recorder.step("explore", source, target, judged, self._values(source, depth))

    # --- judging ----------------------------------------------------------------------------

    def _score(self, paths: Sequence[str]) -> None:
        missing = [path for path in paths if path not in self._state.scores]
        if missing:
            scores = self._scorer.score(self._asked, missing)
            self._state.scores.update(zip(missing, scores, strict=True))

    def _answers(self, path: str) -> bool:
        return self._state.scores[path].value >= self._settings.answer_threshold

    def _worth(self, path: str) -> bool:
        return self._state.scores[path].value >= self._settings.explore_threshold

    def _has_more(self, path: str) -> bool:
        """Whether the note must show its children before it is opened."""
        return self._settings.children_first and bool(self._opened.note(path).children)

    def _judged(
        self,
        path: str,
        *,
        chosen: set[str],
        beaten_by: str | None,
        visited: dict[str, None],
    ) -> Judged:
        score = self._state.scores[path]
        if path in chosen:
            return Judged(path, score, "chosen", "the best on offer")
        if path in visited:
            return Judged(path, score, "visited", "already visited")
        if not self._worth(path):
            limit = self._settings.explore_threshold
            return Judged(path, score, "below_threshold", f"scores below {limit:g}")
        better = self._state.scores[beaten_by].value if beaten_by is not None else 100.0
        return Judged(path, score, "lower_score", f"scores {score.value:.1f}, below {better:.1f}")

    def _values(self, path: str, depth: int) -> dict[str, float | str | None]:
        return {
            "hop": float(depth),
            "score": round(self._state.scores[path].value, 2),
            "view": EXPLORATION,
        }

    # --- ends -------------------------------------------------------------------------------

    def _fallback_step(self, source: str, best: Sequence[str]) -> Step:
        closest = best[0]
        judged = [self._judged(closest, chosen={closest}, beaten_by=closest, visited={})]
        judged += [
            self._judged(path, chosen=set(), beaten_by=closest, visited=self._state.visited)
            for path in best[1:_OTHERS]
        ]
        depth = len(self._state.trail(closest))
        return self._recorder.step(
            "fallback", source, closest, judged, self._values(closest, depth)
        )

    def _opened_part(self, path: str) -> Part:
        title, score = self._opened.note(path).title, self._state.scores[path].value
        others = [other for other in self._state.best() if other != path]
        stop = Stop(
            StopReason.ANSWERED, f"'{title}' scores {score:.0f} of 100 and was opened ({path})."
        )
        return Part(self._asked, self._state.trail(path), path, (path, *others), stop)

    def _given_up(self, reason: StopReason, error: ModelError, remedy: str) -> Part:
        """The end where a model gave no scores: the closest note, by search if none is scored."""
        if self._state.best():
            return self._end(reason, str(error), remedy)
        found = self._searcher.rank(self._asked, self._settings.evidence)
        if not found:
            return Part(self._asked, (), None, (), Stop(reason, str(error), remedy))
        title = self._opened.note(found[0]).title
        message = f"{error} The closest was '{title}' (by search, {found[0]}). Did you mean that?"
        return Part(self._asked, (found[0],), found[0], tuple(found), Stop(reason, message, remedy))

    def _closest_step(self, closest: str) -> Step:
        """The step to the closest note after the model gave up."""
        source = next(reversed(self._state.visited), "query")
        if closest in self._state.scores:
            return self._fallback_step(source, self._state.best())
        judged = Judged(closest, None, "chosen", "the closest by search")
        values: dict[str, float | str | None] = {"hop": 0.0, "score": None, "view": EXPLORATION}
        return self._recorder.step("fallback", source, closest, [judged], values)

    def _end(self, reason: StopReason, why: str, remedy: str) -> Part:
        best = self._state.best()
        if not best:
            return Part(self._asked, (), None, (), Stop(reason, why, remedy))
        closest = best[0]
        title, score = self._opened.note(closest).title, self._state.scores[closest].value
        message = (
            f"{why} The closest was '{title}' ({score:.0f} of 100, {closest}). Did you mean that?"
        )
        stop = Stop(reason, message, remedy)
        return Part(self._asked, self._state.trail(closest), closest, tuple(best), stop)


def _why(ends: Sequence[StopReason], settings: TrailGraphSettings) -> tuple[StopReason, str, str]:
    """Why all the walks of a part ended without an opened note: reason, words, remedy."""
    if StopReason.MAX_HOPS in ends:
        return (
            StopReason.MAX_HOPS,
            f"After {settings.max_hops} hops no note scored {settings.answer_threshold:g}.",
            "Allow more hops, or put the question differently.",
        )
    if ends and all(reason is StopReason.DEAD_END for reason in ends):
        return (
            StopReason.DEAD_END,
            "The last note offers neither children nor related notes.",
            "Answer yes to open the closest note, or try more entry points.",
        )
    return (
        StopReason.FALLBACK,
        f"No note scored {settings.answer_threshold:g}, and nothing on offer was worth following.",
        "Answer yes to open it, or put the question differently.",
    )
