"""Tracert-RAG once more, in plain Python loops over all pairs: nothing is shared with the method.

Written from the paper's equations 1 to 6 and algorithms 1 and 2 and from the deviations that
the method documents. Distances come from cosines, the threshold from Kruskal's algorithm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

TIE = 1e-9
SAME = 1e-6


@dataclass
class Expected:
    radius: float
    delta: float | None
    path: list[int | str]
    reason: str
    evidence: list[int]
    #: By step, each candidate's distance, penalty and cost from the node in hand, by row.
    steps: list[dict[int | str, tuple[float, float, float]]]
    counts: list[dict[str, int]]


def normalise(vector):
    length = math.sqrt(sum(float(x) ** 2 for x in vector))
    return [float(x) / length for x in vector]


def distance(a, b):
    return 1.0 - sum(x * y for x, y in zip(a, b, strict=True))


def penalty(u, v, goal):
    move = [y - x for x, y in zip(u, v, strict=True)]
    aim = [y - x for x, y in zip(u, goal, strict=True)]
    length = math.sqrt(sum(x * x for x in move))
    reach = math.sqrt(sum(x * x for x in aim))
    if length <= SAME or reach <= SAME:
        return 1.0
    dot = sum(x * y for x, y in zip(move, aim, strict=True))
    return min(max(1.0 - dot / (length * reach), 0.0), 2.0)


def smallest_threshold(vectors, inside, query, goal, direct):
    """Add the edges from short to long until query and goal hang together."""
    nodes = {"query": query, "goal": goal} | {row: vectors[row] for row in inside}
    names = list(nodes)
    edges = []
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            if {a, b} == {"query", "goal"} and not direct:
                continue
            edges.append((distance(nodes[a], nodes[b]), a, b))
    parent = {name: name for name in names}

    def root(name):
        while parent[name] != name:
            name = parent[name]
        return name

    for length, a, b in sorted(edges, key=lambda edge: edge[0]):
        parent[root(a)] = root(b)
        if root("query") == root("goal"):
            return max(length, 0.0)
    return None


def nearest(distances, count):
    """Rows by distance; of those within a tie the smaller row comes first."""
    left, out = set(range(len(distances))), []
    while left and len(out) < count:
        group = {min(left, key=lambda row: (distances[row], row))}
        while True:
            more = {
                row for row in left if any(abs(distances[row] - distances[o]) <= TIE for o in group)
            }
            if more == group:
                break
            group = more
        out += sorted(group)
        left -= group
    return out[:count]


def walk(
    vectors,
    query,
    goal,
    *,
    alpha,
    delta,
    radius_scale,
    strict,
    min_candidates,
    max_hops,
    min_passages,
    direct_edge,
    start="query",
    seed_passages=8,
) -> Expected:
    vectors = [normalise(vector) for vector in vectors]
    query, goal = normalise(query), normalise(goal)
    to_query = [distance(query, vector) for vector in vectors]
    radius = radius_scale * distance(query, goal)
    inside = [row for row, d in enumerate(to_query) if d <= radius + TIE]
    if len(inside) < min_candidates and not strict and len(inside) < len(vectors):
        radius = sorted(to_query)[min(min_candidates, len(vectors)) - 1]
        inside = [row for row, d in enumerate(to_query) if d <= radius + TIE]
    outside = len(vectors) - len(inside)
    path: list[int | str] = ["query"]
    here, visited, seeds = query, [], []
    steps, counts = [], []
    if start == "best" and vectors:
        seeds = nearest(to_query, seed_passages)
        numbers = {}
        for row, vector in enumerate(vectors):
            d = to_query[row]
            numbers[row] = (d, penalty(query, vector, goal), d)
        numbers["goal"] = (distance(query, goal), 0.0, distance(query, goal))
        steps.append(numbers)
        counts.append(
            {
                rule: count
                for rule, count in {
                    "chosen": len(seeds),
                    "dearer": len(set(inside) - set(seeds)),
                    "no_edge": 1,
                    "outside_radius": len(vectors) - len(set(inside) | set(seeds)),
                }.items()
                if count
            }
        )
        path.append(seeds[0])
        visited, here = list(seeds), vectors[seeds[0]]
    if delta is None and (inside or direct_edge or seeds):
        direct = direct_edge or (len(path) > 1 and min_passages <= 1)
        free = [row for row in inside if row not in visited]
        delta = smallest_threshold(vectors, free, here, goal, direct)
    reason = "max_hops"
    for _ in range(max_hops):
        numbers, best, chosen = {}, math.inf, None
        rules = {"dearer": 0, "no_edge": 0, "visited": 0}
        for row in inside:
            d, p = distance(here, vectors[row]), penalty(here, vectors[row], goal)
            numbers[row] = (d, p, d + alpha * p)
            if row in visited:
                rules["visited"] += 1
            elif delta is None or d > delta + TIE:
                rules["no_edge"] += 1
            else:
                rules["dearer"] += 1
                best = min(best, d + alpha * p)
        for row in inside:
            if row in visited or delta is None or numbers[row][0] > delta + TIE:
                continue
            if numbers[row][2] <= best + TIE:
                chosen = row
                break
        d = distance(here, goal)
        numbers["goal"] = (d, 0.0, d)
        may = direct_edge or len(path) - 1 >= min_passages
        if may and delta is not None and d <= delta + TIE:
            rules["dearer"] += 1
            if chosen is None or d < numbers[chosen][2] - TIE:
                chosen = "goal"
        else:
            rules["no_edge"] += 1
        rules["dearer"] -= chosen is not None
        steps.append(numbers)
        counts.append(
            {
                rule: count
                for rule, count in {
                    "chosen": int(chosen is not None),
                    **rules,
                    "outside_radius": outside,
                }.items()
                if count
            }
        )
        if chosen is None:
            reason = "dead_end" if inside or direct_edge or seeds else "empty_corridor"
            break
        path.append(chosen)
        if chosen == "goal":
            reason = "goal_reached"
            break
        visited.append(chosen)
        here = vectors[chosen]
    evidence = list(dict.fromkeys([*seeds, *(node for node in path if isinstance(node, int))]))
    return Expected(radius, delta, path, reason, evidence, steps, counts)
