"""The smallest threshold at which a set of passages connects two vectors.

In the complete graph over start, goal and passages, weighted by cosine distance and without
the edge from start to goal, the minimax path is the one whose longest edge is shortest. Its
longest edge is the bottleneck: with the threshold there, a path from start to goal exists;
with any smaller one, none does. It is the longest edge on the path between the two in the
minimum spanning tree (Hu, 'The Maximum Capacity Route Problem', 1961).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tracert.methods.exact import Flags, Reals

#: Passages over which the bottleneck is exact; over more, the nearest are taken.
MOST: Final = 3000
#: Passages expanded one by one before all distances are computed at once.
_ONE_BY_ONE: Final = 128


class _Distances:
    """The distances from one passage to all, at first by a product each, later from a table."""

    def __init__(self, passages: Reals) -> None:
        self._passages = passages
        self._asked = 0
        self._table: Reals | None = None

    def of(self, row: int) -> Reals:
        """The cosine distances of that passage to all, shape (m,)."""
        self._asked += 1
        if self._asked > _ONE_BY_ONE and self._table is None:
            table = self._passages @ self._passages.T
            np.subtract(1.0, table, out=table)
            self._table = np.maximum(table, 0.0, out=table)
        if self._table is None:
            distances: Reals = np.maximum(1.0 - self._passages @ self._passages[row], 0.0)
        else:
            distances = self._table[row]
        return distances


class _Tree:
    """The passages reached from one end without an edge longer than the threshold."""

    def __init__(self, to_end: Reals, aim: Reals) -> None:
        #: The shortest edge from the tree to each passage, infinite once it is expanded.
        self.reach = to_end.copy()
        self.expanded: Flags = np.zeros(len(to_end), dtype=bool)
        self._aim = aim

    def next(self, threshold: float) -> int | None:
        """The passage within the threshold that is nearest to the other end, if any is left."""
        rows = np.flatnonzero(self.reach <= threshold)
        return int(rows[np.argmin(self._aim[rows])]) if len(rows) else None

    def holds(self, row: int, threshold: float) -> bool:
        """Whether a path within the threshold leads from this end to the passage."""
        return bool(self.expanded[row] or self.reach[row] <= threshold)

    def expand(self, row: int, distances: Reals) -> None:
        """Take a passage in, `distances` being those from it to all passages."""
        self.expanded[row] = True
        np.minimum(self.reach, distances, out=self.reach)
        self.reach[self.expanded] = np.inf

    def way_out(self, other: _Tree) -> float:
        """The shortest edge that leaves the tree: to a passage, or to the other end."""
        return float(min(self.reach.min(), other.reach[self.expanded].min(initial=np.inf)))


def bottleneck(passages: Reals, to_start: Reals, to_goal: Reals) -> float:
    """The longest edge of the minimax path from start to goal over the passages.

    Two trees grow, from the start and from the goal, as in Prim's algorithm, each over the
    edges no longer than the threshold, which begins at the larger of the two shortest edges
    at the ends: no path has less. Where a tree is complete and does not touch the other, the
    shortest edge that leaves it bounds the bottleneck from below, and the threshold rises to
    it. Within the threshold the order is free, so that the passage nearest to the other end is
    expanded first: on real texts that ends the search after a few passages, one matrix-vector
    product each. Only a long search computes all distances, once.

    Args:
        passages: unit vectors in float64, shape (m, d).
        to_start: their cosine distances to the start, shape (m,).
        to_goal: their cosine distances to the goal, shape (m,).

    Returns:
        The threshold; infinite where there is no passage.
    """
    if len(passages) == 0:
        return float("inf")
    distances = _Distances(passages)
    threshold = float(max(to_start.min(), to_goal.min()))
    trees = (_Tree(to_start, to_goal), _Tree(to_goal, to_start))
    while True:
        for tree, other in zip(trees, reversed(trees), strict=True):
            row = tree.next(threshold)
            if row is None:
                threshold = max(threshold, tree.way_out(other))
            elif other.holds(row, threshold):
                return threshold
            else:
                tree.expand(row, distances.of(row))
