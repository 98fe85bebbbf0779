"""The costs of Tracert-RAG from the node in hand: distance, angular penalty and their sum."""

from __future__ import annotations

from typing import Final

import numpy as np

from tracert.methods.exact import TIE, Flags, Reals, Rows, Vectors, cosine_distance

#: Two vectors nearer than this are the same: the length below which float32 has no direction.
SAME: Final = 1e-6
#: The penalty where the angle is undefined: that of a move at right angles to the goal.
NEUTRAL: Final = 1.0
#: Rows turned into float64 at once.
_BLOCK: Final = 4096


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


class Field:
    """The candidates of a walk, seen from one node after the other.

    One float32 matrix product a step gives the distances within a bound, and from them the
    costs of the edges; what lies within the bound of a decision is looked at in float64.
    """

    def __init__(self, vectors: Vectors, rows: Rows, goal: Reals, alpha: float) -> None:
        self._vectors = vectors
        self._rows = rows
        self._goal = goal
        self._alpha = alpha
        # A copy of the candidates makes each step cheaper and costs as much as eight products
        # over them (new memory is slow): it pays up to two fifths of the corpus.
        whole = 5 * len(rows) > 2 * len(vectors.matrix)
        self._part = None if whole else Vectors(vectors.matrix[rows])
        self._to_goal = self.distances(goal)

    def distances(self, node: Reals) -> Reals:
        """Distances from a unit vector (d,) to all candidates, (m,), within `Vectors.error`."""
        if self._part is None:
            return self._vectors.approximate(node)[self._rows]
        return self._part.approximate(node)

    def edges(self, distance: Reals, delta: float, node: Reals) -> Flags:
        """Which candidates an edge leads to, (m,): exact distance at most delta (and `TIE`).

        `distance` is changed: values near delta become exact.
        """
        close = np.flatnonzero(np.abs(distance - delta) <= self._vectors.error + TIE)
        distance[close] = self._vectors.distances(self._rows[close], node)
        return distance <= delta + TIE

    def cheapest(self, distance: Reals, places: Rows, node: Reals) -> tuple[Reals, int | None]:
        """The costs of the moves to these places, (k,), and the place of lowest exact cost.

        Ties within `TIE` go to the first place. Costs that may be the lowest are exact, the
        others within the bound.
        """
        if len(places) == 0:
            return np.empty(0), None
        cost, doubt = self._approximate_costs(distance[places], self._to_goal[places], node)
        lowest = float((cost + doubt).min())
        contenders = np.flatnonzero(cost - doubt <= lowest + TIE)
        cost[contenders] = self._exact_costs(self._rows[places[contenders]], node)
        first = np.flatnonzero(cost <= cost[contenders].min() + TIE)[0]
        return cost, int(places[first])

    def _approximate_costs(
        self, distance: Reals, to_goal: Reals, node: Reals
    ) -> tuple[Reals, Reals]:
        """Costs by distances alone and the bounds of their errors, shape (k,) each.

        With |a - b|^2 / 2 = 1 - a.b at length 1, the product of equation 6 is
        (v_v - v_u).(v_g - v_u) = d(u, v) + d(u, g) - d(v, g), and |v_v - v_u|^2 = 2 d(u, v).
        """
        error = self._vectors.error
        gap = cosine_distance(node, self._goal)
        if 2.0 * gap <= SAME**2:
            return distance + self._alpha * NEUTRAL, np.full(len(distance), 2.0 * error)
        length = np.sqrt(2.0 * np.maximum(distance, error))
        scale = length * np.sqrt(2.0 * gap)
        penalty = np.clip(1.0 - (distance + gap - to_goal) / scale, 0.0, 2.0)
        wrong = 4.0 * error / scale + 4.0 * error / length**2
        return distance + self._alpha * penalty, error + self._alpha * np.minimum(wrong, 2.0)

    def _exact_costs(self, rows: Rows, node: Reals) -> Reals:
        out = np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK):
            difference = self._vectors.rows(rows[start : start + _BLOCK]) - node
            distance = np.einsum("ij,ij->i", difference, difference) / 2.0
            penalty = penalties(difference, self._goal - node)
            out[start : start + _BLOCK] = distance + self._alpha * penalty
        return out
