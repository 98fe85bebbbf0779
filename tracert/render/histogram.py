"""The histogram of the distances between candidates, with the line at delta."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracert.render.palette import PALETTES, Theme
from tracert.render.plotted import backdrop
from tracert.trace import Trace


@dataclass(frozen=True, slots=True)
class Bins:
    """Counts of distances in bins of equal width from `low` to `high`."""

    low: float
    high: float
    counts: tuple[int, ...]


def bins_of(trace: Trace, name: str = "pair_distances") -> Bins | None:
    """The bins that the first step of a trace carries as JSON; None where it has none.

    A trace file may come from anyone, so a text that is no histogram counts as none.
    """
    text = trace.steps[0].values.get(name) if trace.steps else None
    if not isinstance(text, str):
        return None
    try:
        data = json.loads(text)
        bins = Bins(float(data["low"]), float(data["high"]), tuple(map(int, data["counts"])))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    sound = 0 < len(bins.counts) <= 1000 and np.isfinite([bins.low, bins.high]).all()
    return bins if sound else None


def figure(trace: Trace, *, theme: Theme = "light") -> Any | None:
    """How far the candidates lie from one another; those left of the line have an edge."""
    bins = bins_of(trace)
    if bins is None:
        return None
    import plotly.graph_objects as go

    palette = PALETTES[theme]
    width = max(bins.high - bins.low, 1e-9) / len(bins.counts)
    middle = bins.low + width * (np.arange(len(bins.counts)) + 0.5)
    delta = trace.steps[0].values.get("delta")
    line = float(delta) if isinstance(delta, int | float) else None
    linked = [line is not None and x <= line for x in middle.tolist()]
    made = go.Figure(
        go.Bar(
            x=middle,
            y=bins.counts,
            width=width * 0.94,
            marker={
                "color": [palette.path if one else palette.rejected for one in linked],
                "pattern": {"shape": ["" if one else "/" for one in linked], "size": 4},
            },
            hovertemplate="%{y:,} pairs at about %{x:.2f}<extra></extra>",
        )
    )
    if line is not None:
        made.add_vline(
            x=line,
            line={"color": palette.ink, "width": 2, "dash": "dash"},
            annotation={
                "text": f"δ = {line:.3f}",
                "font": {"color": palette.ink, "size": 13},
                "xshift": 4,
            },
        )
    made.update_layout(
        height=180,
        margin={"l": 4, "r": 4, "t": 24, "b": 36},
        **backdrop(palette, 12),
        showlegend=False,
        xaxis={"title": {"text": "cosine distance of two candidates"}, "showgrid": False},
        yaxis={"visible": False},
        bargap=0,
    )
    return made
