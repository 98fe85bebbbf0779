"""The walk of Tracert-RAG as steps and nodes of a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tracert.corpus.model import Corpus
from tracert.methods._tracert.corridor import counted
from tracert.methods._tracert.costs import penalties
from tracert.methods._tracert.walk import Decision, TracertWalk
from tracert.methods.exact import Reals, Rows, Vectors
from tracert.trace import Candidate, Node, Step

#: The rules in the order in which a step lists them.
_RULES: Final = ("chosen", "dearer", "visited", "no_edge", "outside_radius")
#: A step names the best candidates over all, but so many of each rule in any case.
_LEAST_OF_EACH: Final = 10

Values = dict[str, float | str | None]


class Recorder:
    """Turns decisions into steps and remembers which passages they name.

    A step lists at most `kept` candidates (and the goal, which is always listed): the chosen,
    the dearer by cost, the visited and those without an edge by distance from the node in
    hand, those outside the radius by distance from the question. The counts cover all.
    """

    def __init__(self, corpus: Corpus, vectors: Vectors, walk: TracertWalk, kept: int) -> None:
        self._corpus = corpus
        self._vectors = vectors
        self._walk = walk
        self._kept = kept
        self._named: set[int] = set()
        self._size = len(corpus.ids)
        beyond = walk.corridor.to_query.copy()
        beyond[walk.rows] = np.inf
        self._outside = _smallest(beyond, min(kept, self._size - len(walk.rows)))

    def move(self, index: int, decision: Decision, extra: Mapping[str, float | str | None]) -> Step:
        """The step of a decision, before it is carried out; `extra` joins its values."""
        walk, ids = self._walk, self._corpus.ids
        target = "goal" if decision.arrives else None
        if decision.chosen is not None:
            target = ids[int(walk.rows[decision.chosen])]
        moved = int(target is not None)
        goal_rule = "no_edge"
        if decision.goal_open:
            goal_rule = "chosen" if decision.arrives else "dearer"
        rest = decision.open != decision.chosen
        near = decision.distance
        places = {
            "chosen": np.array([] if decision.chosen is None else [decision.chosen], dtype=np.intp),
            "dearer": decision.open[rest][_smallest(decision.cost[rest], self._kept)],
            "visited": decision.visited[_smallest(near[decision.visited], self._kept)],
            "no_edge": decision.far[_smallest(near[decision.far], self._kept)],
        }
        rows = {rule: walk.rows[group] for rule, group in places.items()}
        rows["outside_radius"] = self._outside
        return Step(
            index=index,
            action="move",
            source=ids[walk.path[-1]] if walk.path else "query",
            target=target,
            values={
                "radius": walk.corridor.radius,
                "delta": decision.delta,
                "alpha": decision.alpha,
                "distance_to_goal": decision.goal_distance,
                **extra,
            },
            counts=_counts(
                chosen=moved,
                dearer=len(decision.open) + int(decision.goal_open) - moved,
                visited=len(decision.visited),
                no_edge=len(decision.far) + int(not decision.goal_open),
                outside_radius=self._size - len(walk.rows),
            ),
            candidates=self._candidates(
                rows, decision.node, decision.alpha, _reasons(decision, walk), goal_rule
            ),
        )

    def start(self, seeds: Rows, extra: Mapping[str, float | str | None]) -> Step:
        """The step that takes passages of plain top-k and stands on the nearest.

        alpha is 0 here: the cost of a passage is its distance from the question alone.
        """
        walk = self._walk
        others = np.setdiff1d(walk.rows, seeds)
        gap = walk.corridor.paper_radius
        reasons = {
            "chosen": f"among the {len(seeds)} passages nearest to the question",
            "dearer": "farther from the question than the passages taken",
            "no_edge": "the goal cannot be entered before the walk begins",
            "outside_radius": _outside(walk),
        }
        rows = {
            "chosen": seeds,
            "dearer": others[_smallest(walk.corridor.to_query[others], self._kept)],
            "outside_radius": np.setdiff1d(self._outside, seeds, assume_unique=True),
        }
        return Step(
            index=0,
            action="start",
            source="query",
            target=self._corpus.ids[int(seeds[0])],
            values={
                "radius": walk.corridor.radius,
                "delta": walk.delta,
                "alpha": 0.0,
                "distance_to_goal": gap,
                **extra,
            },
            counts=_counts(
                chosen=len(seeds),
                dearer=len(others),
                no_edge=1,
                outside_radius=self._size - len(np.union1d(walk.rows, seeds)),
            ),
            candidates=self._candidates(rows, walk.query, 0.0, reasons, "no_edge"),
        )

    def nodes(self, query: Node, goal: Node) -> tuple[Node, ...]:
        """Question, goal and every passage that a step named, in the order of the text."""
        rows = np.array(sorted(self._named), dtype=np.intp)
        block = np.array(self._vectors.matrix[rows])
        chunks = self._corpus.chunks(rows.tolist())
        passages = (chunk.node(vector) for chunk, vector in zip(chunks, block, strict=True))
        return (query, goal, *passages)

    def _candidates(
        self,
        rows: dict[str, Rows],
        node: Reals,
        alpha: float,
        reasons: Mapping[str, str],
        goal_rule: str,
    ) -> tuple[Candidate, ...]:
        """Candidates with exact numbers, by rule and best first; `rows` are cut to fit."""
        walk = self._walk
        groups = _cut(rows, self._kept)
        shown = np.concatenate(list(groups.values()))
        self._named.update(shown.tolist())
        # The goal stands in the last line, as a passage after all others.
        vectors = np.vstack((self._vectors.rows(shown), walk.goal))
        difference = vectors - node
        distance = _half_square(difference)
        to_query = _half_square(vectors - walk.query)
        penalty = penalties(difference, walk.goal - node)
        penalty[-1] = 0.0
        cost = distance + alpha * penalty
        rule_of = [rule for rule, group in groups.items() for _ in group] + [goal_rule]
        reason_of = [reasons[rule] for rule in rule_of]
        reason_of[-1] = reasons.get("goal", reason_of[-1])
        rank = np.repeat(
            [_RULES.index(rule) for rule in (*groups, goal_rule)],
            [*map(len, groups.values()), 1],
        )
        key = np.where(rank <= 1, cost, np.where(rank == 4, to_query, distance))
        row = np.append(shown, self._size)
        ids = [*map(self._corpus.ids.__getitem__, shown.tolist()), "goal"]
        values = [
            {"distance_to_query": a, "distance": b, "penalty": c, "cost": d}
            for a, b, c, d in np.stack((to_query, distance, penalty, cost), axis=1).tolist()
        ]
        return tuple(
            Candidate(ids[i], rule_of[i] == "chosen", rule_of[i], reason_of[i], values[i])
            for i in np.lexsort((row, key, rank)).tolist()
        )


def _half_square(difference: Reals) -> Reals:
    """Cosine distances of unit vectors from their differences, see `cosine_distance`."""
    out: Reals = np.einsum("ij,ij->i", difference, difference) / 2.0
    return out


def _smallest(values: Reals, count: int) -> Rows:
    """The places of the `count` smallest values, smallest first, ties to the first place."""
    if count < len(values):
        places = np.sort(np.argpartition(values, count)[:count])
    else:
        places = np.arange(len(values))
    return places[np.argsort(values[places], kind="stable")]


def _cut(groups: dict[str, Rows], room: int) -> dict[str, Rows]:
    """The groups cut to `room` members in all, earlier groups first, none to nothing."""
    out = {}
    rest = list(groups.values())
    for rule, group in groups.items():
        rest = rest[1:]
        reserved = sum(min(len(later), _LEAST_OF_EACH) for later in rest)
        least = min(len(group), _LEAST_OF_EACH)
        out[rule] = group[: max(room - reserved, least)]
        room -= len(out[rule])
    return out


def _counts(**counts: int) -> dict[str, int]:
    return {rule: count for rule, count in counts.items() if count}


def _outside(walk: TracertWalk) -> str:
    return f"farther from the question than the radius {walk.corridor.radius:.4f}"


def _reasons(decision: Decision, walk: TracertWalk) -> dict[str, str]:
    """One sentence a rule; the numbers of a candidate stand in its values."""
    far = "there is no threshold that connects question and goal"
    if decision.delta is not None:
        far = f"farther from the node in hand than delta {decision.delta:.4f}"
    reasons = {
        "chosen": "the lowest cost of all nodes that an edge leads to",
        "dearer": f"an edge leads there, but the cost is no lower than {decision.price:.4f}",
        "visited": "already taken",
        "no_edge": far,
        "outside_radius": _outside(walk),
    }
    if decision.goal_locked:
        reasons["goal"] = f"the goal cannot be entered yet, after {counted(len(walk.path))}"
    return reasons
