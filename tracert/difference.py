"""Two runs of one method laid over each other: what was asked for, done, found and spent otherwise.

Steps are laid side by side by their place in the walk. Verdicts are compared where both walks
stood on the same node, the first time with the first and so on, since only there were the same
candidates weighed from the same place. Numbers count as equal within a rounding (`_CLOSE`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tracert.errors import TraceError
from tracert.trace import Candidate, Step, Trace, Value

_CLOSE: Final = 1e-6
#: Values of a step that hold a text for the page, not a number of the walk.
_LONG: Final = 400
#: Sentences on how a number in force came about. The number counts, not whether it was given.
_TOLD: Final = frozenset({"radius_note", "delta_note"})


@dataclass(frozen=True, slots=True)
class Changed:
    """A value that differs; None where a run does not have it."""

    name: str
    a: Value
    b: Value


class Pair(StrEnum):
    """How a step of A stands to the step of B at the same place."""

    SAME = "same"
    NUMBERS = "numbers"
    MOVE = "move"
    ONLY_A = "only_a"
    ONLY_B = "only_b"


@dataclass(frozen=True, slots=True, eq=False)
class StepPair:
    """The steps of both walks at one place, and the values that differ where the move is one."""

    index: int
    kind: Pair
    a: Step | None
    b: Step | None
    values: tuple[Changed, ...] = ()


@dataclass(frozen=True, slots=True)
class Turned:
    """A candidate kept by one walk and rejected, or not weighed, by the other at one node."""

    id: str
    source: str
    step_a: int
    step_b: int
    a: Candidate | None
    b: Candidate | None


@dataclass(frozen=True, slots=True)
class Fate:
    """The last verdict of a walk on a passage: at which step; None where it never weighed it."""

    step: int
    verdict: Candidate


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """Two runs, A and B, and all in which they differ.

    `parted` is the place of the first step that moves otherwise, None where the walks are one.
    `both`, `only_a`, `only_b` part the evidence; `fates` tells of each passage that only one
    found what A and what B last said of it. `notes` says where question or corpus differ.
    """

    a: Trace
    b: Trace
    notes: tuple[str, ...]
    settings: tuple[Changed, ...]
    steps: tuple[StepPair, ...]
    parted: int | None
    turned: tuple[Turned, ...]
    both: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    fates: Mapping[str, tuple[Fate | None, Fate | None]]
    stop: Changed | None
    costs: tuple[Changed, ...]

    @property
    def same_walk(self) -> bool:
        """Whether both walks made the same moves and found the same passages."""
        return self.parted is None and not self.only_a and not self.only_b


def difference(a: Trace, b: Trace) -> Difference:
    """Lay two runs of one method over each other.

    Raises:
        TraceError: the runs are of two methods.
    """
    if a.method != b.method:
        raise TraceError(
            f"A is a run of {a.method}, B of {b.method}. Lay over each other two runs of one "
            "method; the page Compare sets methods beside one another."
        )
    steps = tuple(_pairs(a, b))
    both, only_a, only_b = _parted(a.result.evidence, b.result.evidence)
    ours, theirs = _fates(a), _fates(b)
    moved = (Pair.MOVE, Pair.ONLY_A, Pair.ONLY_B)
    return Difference(
        a,
        b,
        notes=tuple(_notes(a, b)),
        settings=_changed(a.settings, b.settings),
        steps=steps,
        parted=next((pair.index for pair in steps if pair.kind in moved), None),
        turned=tuple(_turned(a, b)),
        both=both,
        only_a=only_a,
        only_b=only_b,
        fates={id: (ours.get(id), theirs.get(id)) for id in (*only_a, *only_b)},
        stop=_stop(a, b),
        costs=_changed(_spent(a), _spent(b)),
    )


def _parted(
    a: tuple[str, ...], b: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    ours, theirs = dict.fromkeys(a), dict.fromkeys(b)
    return (
        tuple(id for id in ours if id in theirs),
        tuple(id for id in ours if id not in theirs),
        tuple(id for id in theirs if id not in ours),
    )


def _notes(a: Trace, b: Trace) -> Iterator[str]:
    if a.question != b.question:
        yield "The runs ask different questions."
    if a.corpus.fingerprint != b.corpus.fingerprint:
        if a.corpus.name == b.corpus.name:
            yield f"The corpus “{a.corpus.name}” changed between the runs."
        else:
            yield f"A walks over “{a.corpus.name}”, B over “{b.corpus.name}”."
        if a.corpus.embedder != b.corpus.embedder:
            yield f"A uses the vectors of {a.corpus.embedder}, B those of {b.corpus.embedder}."


def same(a: Value, b: Value) -> bool:
    """Whether two values are one, numbers within a rounding."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return a == b


def _changed(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Changed, ...]:
    names = dict.fromkeys([*a, *b])
    return tuple(
        Changed(name, a.get(name), b.get(name))
        for name in names
        if not same(a.get(name), b.get(name))
    )


# --- the steps ----------------------------------------------------------------------------


def _pairs(a: Trace, b: Trace) -> Iterator[StepPair]:
    for index in range(max(len(a.steps), len(b.steps))):
        ours = a.steps[index] if index < len(a.steps) else None
        theirs = b.steps[index] if index < len(b.steps) else None
        if ours is None or theirs is None:
            yield StepPair(index, Pair.ONLY_A if theirs is None else Pair.ONLY_B, ours, theirs)
            continue
        if _move(ours) != _move(theirs):
            yield StepPair(index, Pair.MOVE, ours, theirs)
            continue
        values = _changed(_short(ours.values), _short(theirs.values))
        alike = not values and _verdicts(ours) == _verdicts(theirs)
        yield StepPair(index, Pair.SAME if alike else Pair.NUMBERS, ours, theirs, values)


def _move(step: Step) -> tuple[Any, ...]:
    """Where the step stands, where it goes and what it keeps."""
    return step.source, step.target, step.action, tuple(c.id for c in step.candidates if c.kept)


def _short(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in values.items()
        if name not in _TOLD and not (isinstance(value, str) and len(value) > _LONG)
    }


def _verdicts(step: Step) -> dict[str, tuple[bool, str]]:
    return {item.id: (item.kept, item.rule) for item in step.candidates}


def _turned(a: Trace, b: Trace) -> Iterator[Turned]:
    theirs = dict(_standing(b))
    for place, ours in _standing(a):
        other = theirs.get(place)
        if other is None:
            continue
        mine = {item.id: item for item in ours.candidates}
        its = {item.id: item for item in other.candidates}
        for id in dict.fromkeys([*mine, *its]):
            one, two = mine.get(id), its.get(id)
            if bool(one and one.kept) != bool(two and two.kept):
                yield Turned(id, ours.source, ours.index, other.index, one, two)


def _standing(trace: Trace) -> Iterator[tuple[tuple[str, int], Step]]:
    """Every step by the node it stands on and how often the walk has stood there before."""
    seen: Counter[str] = Counter()
    for step in trace.steps:
        yield (step.source, seen[step.source]), step
        seen[step.source] += 1


def _fates(trace: Trace) -> dict[str, Fate]:
    """The last verdict on each candidate; one that kept it stands above all others."""
    found: dict[str, Fate] = {}
    for step in trace.steps:
        for item in step.candidates:
            if item.id not in found or item.kept or not found[item.id].verdict.kept:
                found[item.id] = Fate(step.index, item)
    return found


# --- the end and the cost -------------------------------------------------------------------


def _stop(a: Trace, b: Trace) -> Changed | None:
    ours, theirs = a.result.stop, b.result.stop
    if ours.reason is theirs.reason and ours.message == theirs.message:
        return None
    return Changed(
        "stop",
        f"{ours.reason.value}: {ours.message}",
        f"{theirs.reason.value}: {theirs.message}",
    )


def _spent(trace: Trace) -> dict[str, float]:
    cost = trace.cost
    return {
        "passages": len(trace.result.evidence),
        "steps": len(trace.steps),
        **{f"seconds {stage}": spent for stage, spent in cost.seconds.items()},
        "model calls": cost.model_calls,
        "prompt tokens": cost.prompt_tokens,
        "completion tokens": cost.completion_tokens,
    }
