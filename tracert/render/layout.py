"""Where the nodes of the graph lie: two layouts, computed here so that nothing wobbles.

`path_layout` unrolls the walk from left to right: the question, one column a step with the
candidates that were weighed there, the goal. `map_layout` takes the positions of the trace's
map, so that graph and map can be compared by eye; nodes that overlap are pushed apart.
Both return pixels, x to the right and y downwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tracert.trace import NodeKind, Trace

Positions = dict[str, tuple[float, float]]

#: The least pixels between two columns of the path, between two rows, and between sub-columns.
COLUMN, ROW, SUBCOLUMN = 220.0, 50.0, 46.0
#: Width to height of the picture that columns and rows are spread to fill, and the most pixels
#: between two columns and between two rows.
ASPECT, WIDE, LOOSE = 1.8, 400.0, 84.0
#: Rows above and below the path before a further sub-column is begun.
ROWS = 5
#: Rows on either side of the path that are left to the labels.
FREE = 2.7
#: The side of the square that the map layout fills, and the least distance of two nodes.
SIDE, APART = 900.0, 30.0


def path_layout(trace: Trace, shown: Sequence[str]) -> Positions:
    """Positions of the shown nodes with the walk unrolled from left to right.

    A candidate stands in the column of the step that ranked it highest (the earliest of
    equals), nearer to the path the better it was ranked.
    """
    column = _columns(trace)
    moves = max(max(column.values(), default=0), 1)
    rows = 2 * (ROWS - 1 + FREE)
    wide = min(max(rows * ROW * ASPECT / moves, COLUMN), WIDE)
    width = (moves if _arrived(trace) else moves + 1) * wide
    positions: Positions = {}
    for id, at in column.items():
        positions[id] = (at * wide, -18.0 if at % 2 else 18.0)
    for node in trace.nodes:
        if node.kind is NodeKind.GOAL and node.id not in positions:
            positions[node.id] = (width, 0.0)
    row = min(max(width / ASPECT / rows, ROW), LOOSE)
    best = _best_ranks(trace, set(shown) - set(positions))
    by_step: dict[int, list[tuple[int, str]]] = {}
    for id, (rank, step) in best.items():
        by_step.setdefault(step, []).append((rank, id))
    for step, ranked in by_step.items():
        centre = (column.get(trace.steps[step].source, 0) + 0.5) * wide
        for slot, (_, id) in enumerate(sorted(ranked)):
            positions[id] = _beside(centre, slot, row)
    return {id: positions[id] for id in shown if id in positions}


def _arrived(trace: Trace) -> bool:
    """Whether a goal, where there is one, stands on the path itself."""
    goals = {node.id for node in trace.nodes if node.kind is NodeKind.GOAL}
    return not goals or bool(goals & set(trace.result.path))


def _columns(trace: Trace) -> dict[str, int]:
    column: dict[str, int] = {}
    for step in trace.steps:
        column.setdefault(step.source, len(column))
        if step.target is not None:
            column.setdefault(step.target, len(column))
    for id in trace.result.path:
        column.setdefault(id, len(column))
    return column


def _best_ranks(trace: Trace, wanted: set[str]) -> dict[str, tuple[int, int]]:
    best: dict[str, tuple[int, int]] = {}
    for step in trace.steps:
        for rank, item in enumerate(step.candidates):
            if item.id in wanted and (rank, step.index) < best.get(item.id, (1 << 30, 0)):
                best[item.id] = (rank, step.index)
    return best


def _beside(centre: float, slot: int, high: float) -> tuple[float, float]:
    """Place of a rejected candidate: alternately above and below, then in the next sub-column."""
    band, rest = divmod(slot, 2 * ROWS)
    row, below = divmod(rest, 2)
    side = (band + 1) // 2 * (1 if band % 2 else -1)
    x = centre + side * SUBCOLUMN + (SUBCOLUMN / 4 if row % 2 else -SUBCOLUMN / 4)
    y = (row + FREE) * high * (1 if below else -1)
    return x, y


def map_layout(trace: Trace, shown: Sequence[str]) -> Positions:
    """Positions of the shown nodes as on the trace's map; {} where it has none."""
    if trace.map is None:
        return {}
    ids = [id for id in shown if id in trace.map.positions]
    if not ids:
        return {}
    points = np.array([trace.map.positions[id] for id in ids], dtype=np.float64)
    points[:, 1] *= -1
    low, high = points.min(axis=0), points.max(axis=0)
    points = (points - (low + high) / 2) / max(float((high - low).max()), 1e-9) * SIDE
    points = _spread(points)
    return {id: (float(x), float(y)) for id, (x, y) in zip(ids, points, strict=True)}


def _spread(points: npt.NDArray[np.float64], rounds: int = 24) -> npt.NDArray[np.float64]:
    """Push points apart until none are nearer than `APART`, moving each as little as it needs."""
    # Points on one spot have no direction to part in: a fixed spiral gives them one.
    angle = np.arange(len(points)) * 2.399963
    x, y = points[:, 0] + 0.01 * np.cos(angle), points[:, 1] + 0.01 * np.sin(angle)
    for _ in range(rounds):
        dx, dy = x[:, None] - x, y[:, None] - y
        distance = np.sqrt(dx * dx + dy * dy)
        np.fill_diagonal(distance, APART)
        near = distance < APART
        if not near.any():
            break
        push = np.where(near, (APART - distance) / np.maximum(distance, 1e-9), 0.0) * 0.35
        x = x + (dx * push).sum(axis=1)
        y = y + (dy * push).sum(axis=1)
    return np.stack([x, y], axis=1)


def rounded(positions: Mapping[str, tuple[float, float]]) -> dict[str, list[float]]:
    """The positions as short JSON."""
    return {id: [round(x, 1), round(y, 1)] for id, (x, y) in positions.items()}
