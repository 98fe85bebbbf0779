"""What became of one passage in a run: kept, or where it fell, by which rule and numbers.

Everything is read from the trace; a run whose steps do not name the passage is to be made anew
with more candidates (`CANDIDATES`). TreeHop names what its queries look at and no more; there
`ranks` says how far from each query's reach the passage lay, from the vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tracert.comparing.budget import Entry
from tracert.comparing.moves import hops
from tracert.methods.first_stage import DECIDES
from tracert.trace import Candidate, NodeKind, Step, Trace, Value

#: The most candidates that a step of a trace may name.
CANDIDATES: Final = 5000


@dataclass(frozen=True, slots=True)
class Chance:
    """One step in which the passage was weighed and not taken.

    `key` names the number that decided, `value` is the passage's, `limit` what it would have had
    to reach (or, where `low`, stay within); each None where no number decided. `rank` is its
    place among the `of` candidates that were ranked by that number, from 1.
    """

    step: int
    hop: int
    source: str
    rule: str
    reason: str
    key: str
    value: float | None
    limit: float | None
    low: bool
    rank: int | None
    of: int

    @property
    def gap(self) -> float:
        """How far it was from being taken; infinite where no number tells."""
        if self.value is None or self.limit is None:
            return float("inf")
        return abs(self.value - self.limit)


@dataclass(frozen=True, slots=True)
class Reach:
    """How a passage lies to one query that did not look at it: its rank by cosine, from 1."""

    query: str
    hop: int
    cosine: float
    rank: int
    looked_at: int


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a passage.

    `kept` is its rank among what the method found (the rest is then empty but for the hop).
    `cut` is its place in what the run returned where that lies beyond the budget. `filled`: plain
    top-k filled it in. `chances` are the steps that weighed it, the nearest miss first.
    """

    id: str
    method: str
    kept: int | None
    hop: int | None
    cut: int | None
    filled: bool
    chances: tuple[Chance, ...]

    @property
    def closest(self) -> Chance | None:
        """The step in which it came nearest to being taken."""
        return self.chances[0] if self.chances else None


def named(trace: Trace, id: str) -> bool:
    """Whether any step of the trace weighs the passage, or the run returned it."""
    steps = (item.id for step in trace.steps for item in step.candidates)
    return id in trace.result.evidence or any(other == id for other in steps)


def fate(entry: Entry, id: str) -> Fate:
    """What became of the passage in this run."""
    trace = entry.trace
    kept = entry.rank(id)
    place = trace.result.evidence.index(id) + 1 if id in trace.result.evidence else None
    found = () if kept is not None or place is not None else _chances(trace, id)
    return Fate(
        id,
        entry.method,
        kept,
        entry.hops.get(id),
        None if kept is not None else place,
        id in entry.filled,
        found,
    )


def reaches(
    trace: Trace, id: str, ids: Sequence[str], matrix: npt.NDArray[np.float32]
) -> tuple[Reach, ...]:
    """How the passage lies to each query of the run, the best rank first.

    Args:
        trace: a run whose steps have query vectors of their own.
        id: the passage.
        ids: the passages by row.
        matrix: their vectors, shape (n, d), unit rows.
    """
    row = ids.index(id)
    reached = hops(trace)
    found = []
    for step in trace.steps:
        if step.vector is None:
            continue
        cosines = matrix @ step.vector
        # Ties go to the passage that stands first in the text, as in the methods.
        ahead = np.sum(cosines > cosines[row]) + np.sum(cosines[:row] == cosines[row])
        hop = step.values.get("hop")
        found.append(
            Reach(
                step.source,
                int(hop) if isinstance(hop, float) else reached.get(step.source, 0) + 1,
                float(cosines[row]),
                int(ahead) + 1,
                len(step.candidates),
            )
        )
    return tuple(sorted(found, key=lambda reach: reach.rank))


# --- the steps that weighed it ------------------------------------------------------------------

#: How near to being taken a passage is under a rule: the smaller, the nearer.
_NEARNESS: Final[Mapping[str, int]] = {
    "dearer": 0,
    "below_k": 0,
    "lower_score": 0,
    "budget": 0,
    "layer_top_k": 0,
    "low_novelty": 0,
    "redundant": 0,
    "visited": 0,
    "not_spawned": 0,
    "no_edge": 1,
    "below_threshold": 1,
    "outside_radius": 2,
    "other_community": 2,
    "not_offered": 2,
}


def _chances(trace: Trace, id: str) -> tuple[Chance, ...]:
    reached = hops(trace)
    found = [
        _chance(trace, step, item, reached)
        for step in trace.steps
        for item in step.candidates
        if item.id == id and not item.kept
    ]
    return tuple(sorted(found, key=lambda one: (_NEARNESS.get(one.rule, 3), one.gap, one.step)))


def _chance(trace: Trace, step: Step, item: Candidate, reached: Mapping[str, int]) -> Chance:
    key, limit, low = _decided(trace, step, item)
    value = _number(item.values.get(key)) if key else None
    rivals = [other for other in step.candidates if _ranked_with(other, item.rule)]
    places = [other.id for other in rivals if trace.node(other.id).kind is not NodeKind.GOAL]
    return Chance(
        step.index,
        reached.get(_alias(trace, step.source), 0) + 1,
        step.source,
        item.rule,
        item.reason,
        key,
        value,
        limit,
        low,
        places.index(item.id) + 1 if item.id in places else None,
        sum(step.counts.get(rule, 0) for rule in _pool(item.rule)) or len(places),
    )


def _alias(trace: Trace, source: str) -> str:
    """The question for the hop that searches with it."""
    first = trace.steps[0]
    query = next((node.id for node in trace.nodes if node.kind is NodeKind.QUERY), source)
    return query if source == first.source else source


def _pool(rule: str) -> tuple[str, ...]:
    """The rules of the candidates that were ranked against one another with this one."""
    for pool in (
        ("chosen", "dearer"),
        ("kept", "below_k", "found_before"),
        ("kept", "not_spawned", "budget", "layer_top_k", "low_novelty", "redundant"),
        ("chosen", "lower_score", "below_threshold"),
    ):
        if rule in pool:
            return pool
    return (rule,)


def _ranked_with(other: Candidate, rule: str) -> bool:
    return other.rule in _pool(rule)


def _decided(trace: Trace, step: Step, item: Candidate) -> tuple[str, float | None, bool]:
    """The name of the number that decided, its limit, and whether smaller is better."""
    if item.rule == "dearer":
        return "cost", _best(step, "cost", least=True), True
    if item.rule == "no_edge":
        return "distance", _number(step.values.get("delta")), True
    if item.rule == "outside_radius":
        return "distance_to_query", _number(step.values.get("radius")), True
    if item.rule == "low_novelty":
        return "novelty", _setting(trace, "min_novelty"), False
    if item.rule in ("budget", "layer_top_k"):
        return "score", _least_of_hop(trace, step), False
    if item.rule == "below_k":
        stage = str(trace.settings.get("first_stage") or "dense")
        key = "score" if "score" in item.values else DECIDES[stage][0]
        return key, _worst(step, key), False
    if item.rule == "below_threshold":
        return "score", _setting(trace, "explore_threshold"), False
    if item.rule == "lower_score":
        return "score", _best(step, "score", least=False), False
    if item.rule == "other_community":
        return "similarity", None, False
    return "", None, False


def _kept_numbers(step: Step, key: str) -> list[float]:
    numbers = (_number(item.values.get(key)) for item in step.candidates if item.kept)
    return [number for number in numbers if number is not None]


def _best(step: Step, key: str, *, least: bool) -> float | None:
    numbers = _kept_numbers(step, key)
    return (min if least else max)(numbers, default=None)


def _worst(step: Step, key: str) -> float | None:
    return min(_kept_numbers(step, key), default=None)


def _least_of_hop(trace: Trace, step: Step) -> float | None:
    """The score of the last passage that the hop kept, over all its queries."""
    hop = step.values.get("hop")
    numbers = [
        number
        for other in trace.steps
        if other.values.get("hop") == hop
        for number in _kept_numbers(other, "score")
    ]
    return min(numbers, default=None)


def _setting(trace: Trace, name: str) -> float | None:
    value: Any = trace.settings.get(name)
    return _number(value)


def _number(value: Value) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
