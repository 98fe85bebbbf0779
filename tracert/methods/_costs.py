"""The costs of Tracert-RAG from the node in hand: distance, angular penalty and their sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tracert.methods.exact import TIE, Flags, Reals, Rows, Vectors

#: Two vectors nearer than this are the same: the length below which float32 has no direction.
SAME: Final = 1e-6
#: The penalty where the angle is undefined: that of a move at right angles to the goal.
NEUTRAL: Final = 1.0


def penalties(difference: Reals, to_goal: Reals) -> Reals:
    """Equation 6 for moves `difference`, shape (m, d), with `to_goal` = v_g - v_u, shape (d,).

        D(u -> v, v_g) = 1 - (v_v - v_u).(v_g - v_u) / (|v_v - v_u| |v_g - v_u|)  in [0, 2]

    Where one of the two has no length the angle is undefined, and D is 1 (`NEUTRAL`): a
    passage equal to the one in hand is a move neither towards the goal nor away from it, and
    from a passage equal to the goal no direction leads towards it.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", difference, difference))
    length = float(np.sqrt(to_goal @ to_goal))
    out = np.full(len(difference), NEUTRAL)
    if length <= SAME:
        return out
    moved = lengths > SAME
    cosines = (difference @ to_goal)[moved] / (lengths[moved] * length)
    out[moved] = np.clip(1.0 - cosines, 0.0, 2.0)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """From one node to each candidate, shape (m,): approximate until settled, then exact."""

    distance: Reals
    penalty: Reals
    cost: Reals
    #: Bound on the error of `cost`; 0 where settled. Distances are within `Vectors.error`.
    doubt: Reals


class Field:
    """The candidates of a walk, seen from one node after the other.

    One float32 matrix product a step gives all distances and penalties within a bound; what
    lies within the bound of a decision is settled in float64.
    """

    def __init__(self, vectors: Vectors, rows: Rows, goal: Reals, alpha: float) -> None:
        self._vectors = vectors
        self.rows = rows
        self._goal = goal
        self._alpha = alpha
        # A copy of the candidates makes each step cheaper, unless it were most of the corpus.
        whole = 2 * len(rows) > len(vectors.matrix)
        self._part = None if whole else vectors.matrix[rows]
        self._to_goal = self._approximate(goal)

    def look(self, node: Reals) -> Costs:
        """Approximate costs of the moves from a unit vector (d,) to all candidates."""
        error = self._vectors.error
        distance = self._approximate(node)
        gap = float(np.sum((self._goal - node) ** 2)) / 2.0
        length = np.sqrt(2.0 * np.maximum(distance, error))
        if 2.0 * gap <= SAME**2:
            penalty = np.full(len(distance), NEUTRAL)
            doubt = np.full(len(distance), error)
        else:
            # (v_v - v_u).(v_g - v_u) by distances alone: |a - b|^2 / 2 = 1 - a.b at length 1.
            scale = length * np.sqrt(2.0 * gap)
            penalty = np.clip(1.0 - (distance + gap - self._to_goal) / scale, 0.0, 2.0)
            wrong = 4.0 * error / scale + 4.0 * error / length**2
            doubt = error + self._alpha * np.minimum(wrong, 2.0)
        return Costs(distance, penalty, distance + self._alpha * penalty, doubt)

    def settle(self, costs: Costs, places: Rows, node: Reals) -> None:
        """Make the values of these candidates exact."""
        places = places[costs.doubt[places] > 0.0]
        for start in range(0, len(places), 4096):
            part = places[start : start + 4096]
            difference = self._vectors.rows(self.rows[part]) - node
            distance = np.einsum("ij,ij->i", difference, difference) / 2.0
            penalty = penalties(difference, self._goal - node)
            costs.distance[part] = distance
            costs.penalty[part] = penalty
            costs.cost[part] = distance + self._alpha * penalty
            costs.doubt[part] = 0.0

    def edges(self, costs: Costs, delta: float, node: Reals) -> Flags:
        """Which candidates an edge leads to: exact distance at most delta (and `TIE`)."""
        close = np.abs(costs.distance - delta) <= self._vectors.error + TIE
        self.settle(costs, np.flatnonzero(close), node)
        return costs.distance <= delta + TIE

    def cheapest(self, costs: Costs, places: Rows, node: Reals) -> int | None:
        """The place of lowest exact cost among these, ties within `TIE` to the first."""
        if len(places) == 0:
            return None
        best = float((costs.cost[places] + costs.doubt[places]).min())
        contenders = places[costs.cost[places] - costs.doubt[places] <= best + TIE]
        self.settle(costs, contenders, node)
        exact = costs.cost[contenders]
        return int(contenders[exact <= exact.min() + TIE][0])

    def _approximate(self, vector: Reals) -> Reals:
        if self._part is None:
            return self._vectors.approximate(vector)[self.rows]
        return Vectors(self._part).approximate(vector)
