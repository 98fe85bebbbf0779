"""The walk of Tracert-RAG: corridor, threshold and greedy moves (algorithm 2), without a record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracert.methods._tracert.corridor import Corridor, automatic_delta, corridor
from tracert.methods._tracert.costs import Field
from tracert.methods._tracert.settings import TracertRagSettings
from tracert.methods.exact import TIE, Flags, Reals, Rows, Vectors, cosine_distance


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What was decided at one node. Places count the candidates of the corridor from 0.

    `delta` and `alpha` are those in force at this node. `open` are the unvisited places that
    an edge leads to, `visited` those on the path or among the passages before it, `far` the
    rest. `distance` are those from the node to all places, `cost` those of the moves to the
    open places, both within a bound and exact where that decided. `chosen` is None where the
    walk enters the goal (`arrives`) or stays; `price` is the cost of the move that is made,
    infinite where none is.
    """

    node: Reals
    delta: float | None
    alpha: float
    distance: Reals
    cost: Reals
    goal_distance: float
    goal_open: bool
    goal_locked: bool
    open: Rows
    visited: Rows
    far: Rows
    chosen: int | None
    arrives: bool
    price: float


class TracertWalk:
    """The state of one walk: where it stands, what it has visited, what may come next."""

    def __init__(
        self, vectors: Vectors, query: Reals, goal: Reals, settings: TracertRagSettings
    ) -> None:
        """Find the corridor. `query` and `goal` are unit vectors in float64, shape (d,)."""
        self._vectors = vectors
        self._settings = settings
        self.query = query
        self.goal = goal
        self.corridor: Corridor = corridor(
            vectors,
            query,
            goal,
            scale=settings.radius_scale,
            strict=settings.strict,
            min_candidates=settings.min_candidates,
        )
        self.rows = self.corridor.rows
        self.field = Field(vectors, self.rows, goal, settings.alpha)
        #: Rows of the passages on the path, in walking order.
        self.path: list[int] = []
        #: Rows of the passages of plain top-k before the path, nearest first.
        self.seeds: list[int] = []
        self.delta: float | None = settings.delta
        self.delta_note = ""
        self._node = query
        self._visited: Flags = np.zeros(len(self.rows), dtype=bool)

    @property
    def blocked(self) -> bool:
        """Whether the question has no neighbour at all: no candidate and no edge to the goal."""
        return len(self.rows) == 0 and not self.path and not self._settings.direct_edge

    @property
    def distance_to_goal(self) -> float:
        """Cosine distance from the node in hand to the goal."""
        return cosine_distance(self._node, self.goal)

    def nearest_to_query(self) -> float | None:
        """The distance of the passage nearest to the question, None where there is none."""
        _, distances = self._vectors.nearest_of(self.corridor.to_query, self.query, 1)
        return float(distances[0]) if len(distances) else None

    def begin_at_best(self) -> Rows:
        """Take `seed_passages` of plain top-k and stand on the nearest; all rows of them."""
        rows, _ = self._vectors.nearest_of(
            self.corridor.to_query, self.query, self._settings.seed_passages
        )
        self.seeds = [int(row) for row in rows]
        self._visited = np.isin(self.rows, rows)
        self.path = self.seeds[:1]
        if self.path:
            self._node = self._vectors.rows(rows[:1])[0]
        return rows

    def open_edges(self) -> None:
        """Set delta where it was left open; to be called before the first `decide`."""
        if self.delta is not None or self.blocked:
            return
        settings = self._settings
        direct = settings.direct_edge or (bool(self.path) and settings.min_passages <= 1)
        delta, self.delta_note = automatic_delta(
            self._vectors, self.rows[~self._visited], self._node, self.goal, direct=direct
        )
        self.delta = delta if np.isfinite(delta) else None

    def decide(self) -> Decision:
        """The move of lowest cost from the node in hand, ties to the first in the text.

        A passage wins a tie with the goal. Nothing is changed; `enter` makes the move.
        """
        node, goal_distance, delta = self._node, self.distance_to_goal, self.delta
        distance = self.field.distances(node)
        if delta is None:
            edges: Flags = np.zeros(len(self.rows), dtype=bool)
        else:
            edges = self.field.edges(distance, delta, node)
        open_places = np.flatnonzero(edges & ~self._visited)
        cost, chosen = self.field.cheapest(distance, open_places, node)
        price = float("inf") if chosen is None else float(cost[open_places == chosen][0])
        locked = not self._settings.direct_edge and len(self.path) < self._settings.min_passages
        goal_open = not locked and delta is not None and goal_distance <= delta + TIE
        arrives = goal_open and goal_distance < price - TIE
        return Decision(
            node=node,
            delta=delta,
            alpha=self._settings.alpha,
            distance=distance,
            cost=cost,
            goal_distance=goal_distance,
            goal_open=goal_open,
            goal_locked=locked,
            open=open_places,
            visited=np.flatnonzero(self._visited),
            far=np.flatnonzero(~edges & ~self._visited),
            chosen=None if arrives else chosen,
            arrives=arrives,
            price=goal_distance if arrives else price,
        )

    def enter(self, place: int) -> None:
        """Stand on the candidate at that place."""
        row = int(self.rows[place])
        self.path.append(row)
        self._visited[place] = True
        self._node = self._vectors.rows(self.rows[place : place + 1])[0]

    def nearest_left(self, decision: Decision) -> float | None:
        """The exact distance of the nearest passage without an edge, None where none is left."""
        far = decision.far
        if len(far) == 0:
            return None
        bound = decision.distance[far].min() + 2.0 * self._vectors.error
        close = far[decision.distance[far] <= bound]
        return float(self._vectors.distances(self.rows[close], decision.node).min())
