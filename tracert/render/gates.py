"""What the gates did with one pair, as strips over the dimensions of the vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracert.methods.treehop import GateReading
from tracert.render.palette import PALETTES, Theme
from tracert.render.plotted import backdrop
from tracert.trace import Vector

#: More dimensions than this are drawn as the mean of neighbours, so that a strip stays a picture.
STRIPS = 512
ROW = 62


def figure(reading: GateReading, *, theme: Theme = "light") -> Any:
    """Four strips, one under the other: the query, what Forget took, what Update added, the next.

    A bar stands above its line for a positive number and below it for a negative one, so that
    the sign is read without colour. All strips share one scale.
    """
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    palette = PALETTES[theme]
    rows = (
        ("q", "the query before", reading.query, palette.query),
        ("− Forget", "taken", -reading.forget, palette.faint),
        ("+ Update", "added", reading.update, palette.path),
        ("q′", "the next query", reading.following, palette.query),
    )
    made = make_subplots(rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=0.05)
    strips = [folded(vector) for _, _, vector, _ in rows]
    limit = max(1e-6, *(float(np.abs(heights).max(initial=0.0)) for heights, _ in strips)) * 1.08
    for place, (name, meaning, _, colour) in enumerate(rows, start=1):
        heights, each = strips[place - 1]
        at = np.arange(len(heights)) * each
        made.add_trace(
            go.Bar(
                x=at,
                y=heights,
                width=each,
                name=name,
                marker={"color": colour, "line": {"width": 0}},
                hovertemplate=f"dimension %{{x}}: %{{y:.3f}}<extra>{name}, {meaning}</extra>",
            ),
            row=place,
            col=1,
        )
        made.update_yaxes(
            row=place,
            col=1,
            range=[-limit, limit],
            tickvals=[0],
            ticktext=[f"<b>{name}</b>  "],
            tickfont={"color": palette.ink, "size": 13},
            showgrid=False,
            zeroline=True,
            zerolinecolor=palette.faint,
            zerolinewidth=1,
            fixedrange=True,
        )
    made.update_xaxes(showgrid=False, zeroline=False, fixedrange=True, showticklabels=False)
    made.update_xaxes(
        row=len(rows),
        col=1,
        showticklabels=True,
        tickfont={"color": palette.faint, "size": 12},
        title={"text": f"dimension, 0 to {len(reading.query) - 1}", "font": {"size": 12}},
    )
    made.update_layout(
        height=ROW * len(rows) + 50,
        margin={"l": 92, "r": 6, "t": 6, "b": 40},
        **backdrop(palette),
        showlegend=False,
        bargap=0,
        barcornerradius=0,
        hoverlabel={"bgcolor": palette.paper, "font": {"color": palette.ink, "size": 13}},
    )
    return made


def folded(vector: Vector, most: int = STRIPS) -> tuple[Vector, int]:
    """The bars of a strip and how many dimensions each stands for: their mean, if several."""
    each = -(-len(vector) // most)
    if each <= 1:
        return vector, 1
    padded = np.pad(vector.astype(np.float64), (0, -len(vector) % each), constant_values=np.nan)
    return np.nanmean(padded.reshape(-1, each), axis=1).astype(np.float32), each


def text(reading: GateReading) -> str:
    """What the strips show, for those who do not see them."""
    taken, added = (float(np.linalg.norm(one)) for one in (reading.forget, reading.update))
    most = int(np.argmax(np.abs(reading.update - reading.forget)))
    return (
        f"Four strips over {len(reading.query)} dimensions: the query, what Forget took (length "
        f"{taken:.2f}), what Update added (length {added:.2f}) and the next query. The largest "
        f"change is at dimension {most}."
    )
