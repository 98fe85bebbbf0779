"""Where the notes of a tree lie: rings around the question, the entry points innermost.

Each leaf gets the same length of the outermost ring, in the order of the tree, and a note
stands in the middle of what lies below it. The rings are ellipses as wide as the picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.render.layout import ASPECT, Positions
from tracert.render.outline import Outline

#: The least pixels between two leaves on a ring, and between two rings, upwards.
LEAF, RING = 34.0, 78.0
#: Every other leaf stands so much farther out where a ring is crowded.
STAGGER: Final = 1.09
_FINE: Final = 2048


def tree_layout(outline: Outline, query: str = "query") -> Positions:
    """Positions of the question and all notes of the outline, in pixels, y downwards."""
    positions: Positions = {query: (0.0, 0.0)}
    if not outline.titles:
        return positions
    parents = _sound(outline.parents)
    depth = _depths(parents)
    share = _shares(list(outline.titles), parents)
    rings = max(depth.values())
    leaves = len(parents) - len({parent for parent in parents.values() if parent})
    angles, length = _even_angles()
    # `length` is the ring's length for a half height of 1.
    high = max(rings * RING, leaves * LEAF / length)
    crowded = leaves > 24
    for place, path in enumerate(outline.titles):
        t = float(np.interp(share[path], np.linspace(0, 1, _FINE), angles))
        out = high * depth[path] / rings
        if crowded and depth[path] == rings and place % 2:
            out *= STAGGER
        positions[path] = (out * ASPECT * float(np.cos(t)), out * float(np.sin(t)))
    return positions


def _sound(parents: Mapping[str, str | None]) -> dict[str, str | None]:
    """The parents without circles: a note that is its own ancestor has none."""
    found = dict(parents)
    for path in parents:
        seen = {path}
        at = found[path]
        while at is not None:
            if at in seen or at not in found:
                found[path] = None
                break
            seen.add(at)
            at = found[at]
    return found


def _depths(parents: Mapping[str, str | None]) -> dict[str, int]:
    depth: dict[str, int] = {}
    for path in parents:
        line = [path]
        while (above := parents[line[-1]]) is not None and above not in depth:
            line.append(above)
        base = 0 if parents[line[-1]] is None else depth[str(parents[line[-1]])]
        for number, one in enumerate(reversed(line), start=1):
            depth[one] = base + number
    return depth


def _shares(order: Sequence[str], parents: Mapping[str, str | None]) -> dict[str, float]:
    """The place of each note around the ring, from 0 to 1: leaves evenly, others amid theirs."""
    inner = {parent for parent in parents.values() if parent is not None}
    leaves = [path for path in order if path not in inner]
    below: dict[str, list[float]] = {path: [] for path in order}
    for number, leaf in enumerate(leaves):
        at = (number + 0.5) / len(leaves)
        line: str | None = leaf
        while line is not None:
            below[line].append(at)
            line = parents[line]
    return {path: (min(found) + max(found)) / 2 for path, found in below.items()}


def _even_angles() -> tuple[npt.NDArray[np.float64], float]:
    """Angles at equal steps along an ellipse of half axes `ASPECT` and 1, and its length."""
    t = np.linspace(-np.pi / 2, 3 * np.pi / 2, _FINE)
    speed = np.hypot(ASPECT * np.sin(t), np.cos(t))
    along = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2 * np.diff(t))])
    return np.interp(np.linspace(0, along[-1], _FINE), along, t), float(along[-1])
