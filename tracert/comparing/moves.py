"""The moves of any method as one tree from the question, so that their hops can be compared.

The hop of a node is the number of moves from the question to it. For plain top-k it is 1 for all;
for Tracert-RAG the place in the walk; for TreeHop and rewriting the number of the search that
brought it; for graph RAG 2 over an entity of the question (or a community), 3 over a neighbour;
for TrailGraph how many notes deep the walk stood.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from tracert.trace import NodeKind, Step, Trace

#: Nodes that lead to passages without being passages; they count where a passage hangs on them.
_BETWEEN = (NodeKind.ENTITY, NodeKind.COMMUNITY)


@dataclass(frozen=True, slots=True)
class Move:
    """One move: from where to where, and how many moves its end is away from the question."""

    source: str
    target: str
    hop: int


def moves(trace: Trace) -> tuple[Move, ...]:
    """The moves of a run, nearest to the question first, none twice."""
    pairs = list(dict.fromkeys(_pairs(trace)))
    depth = _depths(trace, pairs)
    made = [Move(source, target, depth[source] + 1) for source, target in pairs if source in depth]
    return tuple(sorted(made, key=lambda move: move.hop))


def hops(trace: Trace) -> dict[str, int]:
    """The hop at which each node was reached first; the question is at 0.

    A note that was seen from a note on the way, but not walked to, counts as one hop further.
    """
    depth = _depths(trace, list(_pairs(trace)))
    for step in trace.steps:
        source = _root_or(trace, step.source)
        for item in step.candidates:
            if item.id in trace.result.evidence and item.id not in depth and source in depth:
                depth[item.id] = depth[source] + 1
    return depth


def _depths(trace: Trace, pairs: list[tuple[str, str]]) -> dict[str, int]:
    following: dict[str, list[str]] = {}
    for source, target in pairs:
        following.setdefault(source, []).append(target)
    root = _root(trace)
    depth = {root: 0}
    queue = deque([root])
    while queue:
        here = queue.popleft()
        for there in following.get(here, ()):
            if there not in depth:
                depth[there] = depth[here] + 1
                queue.append(there)
    return depth


def _root(trace: Trace) -> str:
    return next((node.id for node in trace.nodes if node.kind is NodeKind.QUERY), "query")


def _root_or(trace: Trace, id: str) -> str:
    """The question, where the node is the hop that searches with the question itself."""
    first = trace.steps[0] if trace.steps else None
    if first is not None and id == first.source and first.values.get("parent") is None:
        return _root(trace)
    return id


def _pairs(trace: Trace) -> Iterator[tuple[str, str]]:
    kinds = {node.id: node.kind for node in trace.nodes}
    before: dict[str, str] = {}
    for step in trace.steps:
        source = _root_or(trace, step.source)
        parent = step.values.get("parent")
        if isinstance(parent, str):
            yield _root_or(trace, parent), source
        for item in _kept(step):
            held = item[1]
            place = source if held is None else _root_or(trace, held)
            if kinds.get(item[0]) in _BETWEEN:
                before.setdefault(item[0], place)
            elif place != item[0]:
                yield from _chain(place, before)
                yield place, item[0]


def _kept(step: Step) -> Iterator[tuple[str, str | None]]:
    """What a step kept, each with the node that it was reached from, where that is another."""
    for item in step.candidates:
        if item.kept:
            parent = item.values.get("parent")
            yield item.id, parent if isinstance(parent, str) else None


def _chain(id: str, before: dict[str, str]) -> Iterator[tuple[str, str]]:
    while id in before:
        yield before[id], id
        id = before[id]
