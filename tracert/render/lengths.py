"""The distribution of passages' lengths, of one cut or of two beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tracert.render.palette import PALETTES, Theme
from tracert.render.plotted import backdrop

_BINS: Final = 28
#: The two cuts are told apart by colour and by hatching.
_HATCH: Final = "/"


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The lengths of one cut, shape (n,), and what it is called; `weight` scales its counts."""

    name: str
    values: npt.NDArray[np.int64]
    weight: float = 1.0


def bins(series: tuple[Series, ...]) -> npt.NDArray[np.float64]:
    """The edges of bins of equal, whole width that hold the lengths of all."""
    values = np.concatenate([one.values for one in series])
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 1)
    width = max(1, -(-(high - low + 1) // _BINS))
    return np.arange(low, high + width + 1, width, dtype=np.float64)


def figure(
    series: tuple[Series, ...], unit: str, *, theme: Theme = "light", limit: int | None = None
) -> Any:
    """Bars of how many passages have about that length; `limit` is drawn as a line."""
    import plotly.graph_objects as go

    palette = PALETTES[theme]
    edges = bins(series)
    middle = (edges[:-1] + edges[1:] - 1) / 2
    made = go.Figure()
    colours = (palette.path, palette.kept) if len(series) > 1 else (palette.kept,)
    for number, (one, colour) in enumerate(zip(series, colours, strict=True)):
        counts, _ = np.histogram(one.values, edges)
        ranges = [
            f"{low:,.0f}" if high - low == 1 else f"{low:,.0f} to {high - 1:,.0f}"
            for low, high in pairwise(edges.tolist())
        ]
        made.add_bar(
            x=middle,
            y=counts * one.weight,
            name=one.name,
            marker={
                "color": colour,
                "pattern": {"shape": _HATCH if number else "", "size": 5},
            },
            customdata=ranges,
            hovertemplate="%{y:,.0f} passages of %{customdata} " + unit + "<extra>%{fullData.name}"
            "</extra>",
        )
    if limit is not None:
        made.add_vline(
            x=limit,
            line={"color": palette.ink, "width": 2, "dash": "dash"},
            annotation={"text": f"read: {limit:,}", "font": {"color": palette.ink, "size": 13}},
        )
    made.update_layout(
        height=260,
        margin={"l": 8, "r": 4, "t": 28, "b": 40},
        **backdrop(palette, 12),
        showlegend=len(series) > 1,
        legend={"orientation": "h", "y": 1.12, "x": 0},
        xaxis={"title": {"text": f"{unit} in a passage"}, "showgrid": False},
        yaxis={
            "title": {"text": "passages", "standoff": 10},
            "gridcolor": palette.panel,
            "zeroline": False,
            "automargin": True,
        },
        barmode="group",
        bargap=0.08,
    )
    return made
