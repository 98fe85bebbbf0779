"""One budget of passages for all methods: what each is asked for, and what it is credited with.

A method that has a number of passages among its settings (`k`, `evidence`) is asked for the
budget. A walk that has none (Tracert-RAG) is given as many moves as it needs to take the budget
and still enter its goal, and is cut to the budget in the order of walking. What a method returns
below the budget stays below it; plain top-k of the same first stage fills the places left, as
`evaluate` does, but is kept apart (`Entry.filled`), since the method did not find it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from tracert.comparing.moves import hops
from tracert.trace import Trace, Value

#: The settings that name a number of passages, the first that a method has.
COUNTS: Final = ("k", "evidence")
#: The most passages that a budget may have: `k` of plain top-k.
MOST: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One method's run under a budget.

    `own` are the passages that it found itself, best first (in walking order for a walk), at most
    `budget`; `filled` those with which plain top-k fills the places left; `hops` the hop at which
    each of `own` was found.
    """

    method: str
    trace: Trace
    budget: int
    own: tuple[str, ...]
    filled: tuple[str, ...]
    hops: Mapping[str, int]

    def rank(self, id: str) -> int | None:
        """The place of a passage among its own, from 1; None where it found it not."""
        return self.own.index(id) + 1 if id in self.own else None


def governed(kind: type[Any]) -> frozenset[str]:
    """The settings of a method that the budget sets."""
    names = {field.name for field in fields(kind)}
    count = next((name for name in COUNTS if name in names), None)
    if count is not None:
        return frozenset({count})
    return frozenset({"max_hops", "seed_passages"} & names)


def settings_at(kind: type[Any], values: Mapping[str, Value], budget: int) -> dict[str, Value]:
    """The settings with which a method is asked for `budget` passages.

    A walk that starts from the best passages of plain top-k takes as many of them as its
    settings say, but leaves one move at least to the walk; its first passage is one of them.
    """
    names = {field.name for field in fields(kind)}
    asked = {name: value for name, value in values.items() if name not in governed(kind)}
    count = next((name for name in COUNTS if name in names), None)
    if count is not None:
        return asked | {count: min(budget, _high(kind, count))}
    if "max_hops" not in names:
        return asked
    moves = budget + 1
    if values.get("start") == "best":
        default = next(field.default for field in fields(kind) if field.name == "seed_passages")
        seeds = max(1, min(int(str(values.get("seed_passages", default))), budget - 1))
        asked["seed_passages"] = seeds
        moves = budget - seeds + 1
    return asked | {"max_hops": max(1, min(moves, _high(kind, "max_hops")))}


def most(kind: type[Any]) -> int:
    """The largest budget that makes a difference to a method."""
    names = {field.name for field in fields(kind)}
    count = next((name for name in COUNTS if name in names), None)
    return MOST if count is None else min(MOST, _high(kind, count))


def own(trace: Trace, budget: int) -> tuple[str, ...]:
    """The passages that a run is credited with."""
    return tuple(dict.fromkeys(trace.result.evidence))[:budget]


def entry(trace: Trace, budget: int, ranked: Sequence[str] = ()) -> Entry:
    """A run under a budget; `ranked` is plain top-k's order, for the places left."""
    found = own(trace, budget)
    taken = set(found)
    rest = [id for id in dict.fromkeys(ranked) if id not in taken]
    reached = hops(trace)
    return Entry(
        trace.method,
        trace,
        budget,
        found,
        tuple(rest[: budget - len(found)]),
        {id: reached[id] for id in found if id in reached},
    )


def _high(kind: type[Any], name: str) -> int:
    field = next(field for field in fields(kind) if field.name == name)
    high = field.metadata.get("high")
    return MOST if high is None else int(high)
