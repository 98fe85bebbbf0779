"""Where the nodes of a branching walk lie: hop under hop, each query above what it found.

A query stands over its passages; the passages that it kept stand side by side, each over the
queries that it made; what a rule ended stands beside them as a small block of stubs. Pixels, x to
the right and y downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracert.render import tree
from tracert.trace import Trace

Positions = dict[str, tuple[float, float]]

#: The most and the least pixels between two kept passages, and the width that they share.
WIDE, NARROW, SHARED = 168.0, 46.0, 1500.0
#: Between two stubs, the most rows of a block of them, and between blocks.
STUB, ROWS, GAP = 54.0, 2, 26.0
#: Width to height of the picture, and the least and the most pixels between two levels.
ASPECT, LOW, HIGH = 1.75, 92.0, 180.0


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """The positions, and the pixels that a label of a kept passage may take."""

    positions: Positions
    label_width: float


def tree_layout(trace: Trace, shown: Sequence[str]) -> TreeLayout:
    """Positions of the shown nodes, hop under hop."""
    plan = _Plan(trace, frozenset(shown))
    widths = [plan.width_of(query) for query in plan.roots]
    total = sum(widths) + GAP * max(0, len(widths) - 1)
    levels = 2 * max((query.hop for query in plan.queries), default=1) - 1
    plan.level = min(max(total / ASPECT / levels, LOW), HIGH)
    left = -total / 2
    for query, width in zip(plan.roots, widths, strict=True):
        plan.put(query, left)
        left += width + GAP
    return TreeLayout(plan.positions, plan.slot)


class _Plan:
    """Who stands under whom. Widths are asked for often, so each is kept."""

    def __init__(self, trace: Trace, shown: frozenset[str]) -> None:
        first = {query.id: query for query in reversed(tree.queries(trace)) if query.id in shown}
        self.queries = sorted(first.values(), key=lambda query: query.step)
        self.positions: Positions = {}
        self.level = HIGH
        self._kept: dict[str, list[str]] = {}
        self._stubs: dict[str, list[str]] = {query.id: [] for query in self.queries}
        # The step that brought each node: what stands under it must be younger, so that a trace
        # from anywhere holds no circle.
        brought = {query.id: query.step for query in self.queries}
        for query in self.queries:
            kept = tree.kept(trace.steps[query.step])
            mine = [id for id in dict.fromkeys(kept) if id in shown and id not in brought]
            brought.update(dict.fromkeys(mine, query.step))
            self._kept[query.id] = mine
        for id, owner in _owners(trace, self.queries, shown - set(brought)).items():
            self._stubs[owner].append(id)
        self._under: dict[str, list[tree.Query]] = {}
        self.roots: list[tree.Query] = []
        for query in self.queries:
            places = (query.passage, query.parent)
            above = next((id for id in places if brought.get(id or "", 1 << 30) < query.step), None)
            if above is None:
                self.roots.append(query)
            else:
                self._under.setdefault(above, []).append(query)
        hops: dict[int, int] = {}
        for query in self.queries:
            hops[query.hop] = hops.get(query.hop, 0) + len(self._kept[query.id])
        most = max(hops.values(), default=1)
        self.slot = min(max(SHARED / max(most, 1), NARROW), WIDE)
        self._widths: dict[str, float] = {}

    def width_of(self, query: tree.Query) -> float:
        if query.id not in self._widths:
            found = sum(self._width_of_passage(id) for id in self._kept[query.id])
            block = found + self._block(query)
            self._widths[query.id] = max(block, self._row(query.id), self.slot)
        return self._widths[query.id]

    def _width_of_passage(self, id: str) -> float:
        return max(self.slot, self._row(id))

    def _row(self, id: str) -> float:
        """The width of the queries right under a node."""
        below = self._under.get(id, [])
        return sum(self.width_of(one) for one in below) + GAP * max(0, len(below) - 1)

    def _block(self, query: tree.Query) -> float:
        count = len(self._stubs[query.id])
        return -(-count // ROWS) * STUB + GAP * (count > 0)

    def put(self, query: tree.Query, left: float) -> None:
        y = (query.hop - 1) * 2 * self.level
        found = sum(self._width_of_passage(id) for id in self._kept[query.id])
        width = self.width_of(query)
        x = left + (width - found - self._block(query)) / 2
        for id in self._kept[query.id]:
            wide = self._width_of_passage(id)
            self.positions[id] = (x + wide / 2, y + self.level)
            self._put_under(id, x, wide)
            x += wide
        for slot, id in enumerate(self._stubs[query.id]):
            column, row = divmod(slot, ROWS)
            at = x + GAP / 2 + (column + 0.5) * STUB
            self.positions[id] = (at, y + self.level - 16 + row * 52)
        self._put_under(query.id, left, width)
        middle = left + width / 2
        kept = self._kept[query.id]
        if kept:
            middle = (self.positions[kept[0]][0] + self.positions[kept[-1]][0]) / 2
        self.positions[query.id] = (middle, y)

    def _put_under(self, id: str, left: float, width: float) -> None:
        left += (width - self._row(id)) / 2
        for one in self._under.get(id, []):
            self.put(one, left)
            left += self.width_of(one) + GAP


def _owners(trace: Trace, queries: Sequence[tree.Query], wanted: frozenset[str]) -> dict[str, str]:
    """For each passage that nobody kept the query that ranked it highest, the first of equals."""
    best: dict[str, tuple[int, int]] = {}
    for query in queries:
        for rank, item in enumerate(trace.steps[query.step].candidates):
            if item.id in wanted and (rank, query.step) < best.get(item.id, (1 << 30, 0)):
                best[item.id] = (rank, query.step)
    ordered = sorted(best, key=best.__getitem__)
    return {id: trace.steps[best[id][1]].source for id in ordered}
