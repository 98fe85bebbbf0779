"""Walks that branch: the query's vector moves, and each query of a hop searches.

A trace branches where it names nodes of the kind HOP. A step is one query's search; its values
say which hop it belongs to and from which query and passage it was made. A trace may come
from a file, so what they say is taken only where it names a node of the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tracert.trace import NodeKind, Step, Trace

Move = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a hop: its step, its hop from 1, its place among the hop's queries from 1.

    `parent` and `passage` are the ids that it was made from: both None for the question, and
    `passage` None where `fused` passages made it together.
    """

    id: str
    step: int
    hop: int
    place: int
    of: int
    parent: str | None
    passage: str | None
    fused: int

    @property
    def name(self) -> str:
        """'q' for the question, then 'q1', 'q2', in the order in which they were made."""
        return f"q{self.step}" if self.step else "q"


def branches(trace: Trace) -> bool:
    """Whether the walk's query moves, so that the walk is a tree."""
    return any(node.kind is NodeKind.HOP for node in trace.nodes)


def root(trace: Trace) -> str | None:
    """The node that the walk starts from: the question's own hop, else the question."""
    kinds = {node.id: node.kind for node in trace.nodes}
    if trace.steps and kinds.get(trace.steps[0].source) is NodeKind.HOP:
        return trace.steps[0].source
    return next((id for id, kind in kinds.items() if kind is NodeKind.QUERY), None)


def hidden(trace: Trace) -> str | None:
    """The question's own node where the question's hop stands for it, so that it is drawn once."""
    start = root(trace)
    query = next((node.id for node in trace.nodes if node.kind is NodeKind.QUERY), None)
    return None if query == start else query


@lru_cache(maxsize=8)
def queries(trace: Trace) -> tuple[Query, ...]:
    """The queries of a branching walk, one a step, in the order of the steps."""
    known = {node.id for node in trace.nodes}
    hops = [_hop(step) for step in trace.steps]
    many = Counter(hops)
    seen: Counter[int] = Counter()
    made = []
    for index, (step, hop) in enumerate(zip(trace.steps, hops, strict=True)):
        seen[hop] += 1
        parent, passage = (_named(step, key, known) for key in ("parent", "passage"))
        fused = step.values.get("fused")
        whole = int(fused) if isinstance(fused, int | float) else 0
        made.append(Query(step.source, index, hop, seen[hop], many[hop], parent, passage, whole))
    return tuple(made)


def kept(step: Step) -> tuple[str, ...]:
    """The passages that this query keeps, best first."""
    return tuple(item.id for item in step.candidates if item.kept)


def grown(trace: Trace, index: int, of: Sequence[Query]) -> tuple[Move, ...]:
    """The edges of the tree before the search of step `index` - 1, each once.

    All queries of a hop are made together, so those of this step's hop are there already.
    """
    moves: dict[Move, None] = {}
    hop = of[index - 1].hop if index else 0
    for query in of:
        if query.hop > hop:
            break
        if query.parent is not None:
            moves.setdefault((query.passage or query.parent, query.id))
        if query.step < index - 1:
            for id in kept(trace.steps[query.step]):
                moves.setdefault((query.id, id))
    return tuple(moves)


def numbered(trace: Trace, index: int) -> dict[str, int]:
    """The passages kept so far with their numbers: their rank in the evidence, else after it."""
    rank = {id: number for number, id in enumerate(trace.result.evidence, start=1)}
    reached = dict.fromkeys(id for step in trace.steps[:index] for id in kept(step))
    for id in reached:
        rank.setdefault(id, len(rank) + 1)
    return {id: rank[id] for id in sorted(reached, key=rank.__getitem__)}


def query_of(trace: Trace, id: str | None) -> Query | None:
    """The query of that id."""
    return next((query for query in queries(trace) if query.id == id), None)


def finder(trace: Trace, id: str, before: int | None = None) -> Query | None:
    """The query that kept a passage first, else the first that found it at all."""
    found = None
    for query in queries(trace)[:before]:
        for item in trace.steps[query.step].candidates:
            if item.id == id and item.kept:
                return query
            if item.id == id and found is None:
                found = query
    return found


def made_by(trace: Trace, parent: str, passage: str) -> Query | None:
    """The query that the gates made of that query and that passage, if they did."""
    return next(
        (one for one in queries(trace) if (one.parent, one.passage) == (parent, passage)), None
    )


def _hop(step: Step) -> int:
    value = step.values.get("hop")
    return max(1, int(value)) if isinstance(value, int | float) else 1


def _named(step: Step, key: str, known: set[str]) -> str | None:
    value = step.values.get(key)
    return value if isinstance(value, str) and value in known else None
