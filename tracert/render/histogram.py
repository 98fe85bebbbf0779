"""The histogram of distances with the line at delta."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tracert.render.palette import PALETTES, Theme

BINS = 48


def histogram(distances: npt.NDArray[Any], delta: float | None, *, theme: Theme = "light") -> Any:
    """How far the candidates lie from one another; those left of the line have an edge."""
    import plotly.graph_objects as go

    palette = PALETTES[theme]
    counts, edges = np.histogram(distances, bins=BINS)
    middle = (edges[:-1] + edges[1:]) / 2
    linked = middle <= (delta if delta is not None else -1)
    made = go.Figure(
        go.Bar(
            x=middle,
            y=counts,
            width=np.diff(edges) * 0.94,
            marker={
                "color": [palette.path if one else palette.rejected for one in linked],
                "pattern": {"shape": ["" if one else "/" for one in linked], "size": 4},
            },
            hovertemplate="%{y:,} pairs at about %{x:.2f}<extra></extra>",
        )
    )
    if delta is not None:
        made.add_vline(
            x=delta,
            line={"color": palette.ink, "width": 2, "dash": "dash"},
            annotation={"text": f"δ = {delta:.3f}", "font": {"color": palette.ink, "size": 13}},
        )
    made.update_layout(
        height=170,
        margin={"l": 4, "r": 4, "t": 24, "b": 34},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": palette.ink, "size": 12},
        showlegend=False,
        xaxis={"title": {"text": "cosine distance of two candidates"}, "showgrid": False},
        yaxis={"visible": False},
        bargap=0,
    )
    return made
