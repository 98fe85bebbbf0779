"""Traces of TreeHop made by hand, on a circle where every cosine is known.

Passages lie on the unit circle at these angles, the question at 0 degrees. With the forget rule
at gamma 0 the next query after a passage is the passage itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.methods.toy import ToyCorpus, run
from tracert.trace import Map, Trace

#: Rows 0 to 5; from the question 0 (5), 1 (-11), 2 (22), 4 (-25), 3 (33), 5 (60) are nearest.
ANGLES = np.deg2rad(np.array([5.0, -11.0, 22.0, 33.0, -25.0, 60.0]))
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def hop_trace(*, with_map: bool = True, rows: int | None = None, **settings: Any) -> Trace:
    """A walk over the circle: k 4 with one place for hop 2, all passages spawn, no path score."""
    trace = run(
        "treehop",
        ToyCorpus(CIRCLE[:rows]),
        np.array([1.0, 0.0]),
        **{
            "model": "forget_rule",
            "gamma": 0.0,
            "path_score": 0.0,
            "k": 4,
            "later_places": 0.25,
            "spawn": 0,
            **settings,
        },
    )
    if not with_map:
        return trace
    positions = {
        node.id: (float(node.vector[0]), float(node.vector[1]))
        for node in trace.nodes
        if node.vector is not None
    }
    return trace.with_map(Map("pca", 0, positions, CIRCLE[:rows].astype(np.float32)))
