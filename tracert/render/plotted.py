"""What the plotly figures share: a page that shines through, and words as hover labels."""

from __future__ import annotations

import html
import textwrap
from typing import Any, Final

from tracert.render.palette import Palette

_CLEAR: Final = "rgba(0,0,0,0)"


def backdrop(palette: Palette, size: int = 13) -> dict[str, Any]:
    """The part of a layout that lets the page's paper show and sets the ink; `size` in pixels."""
    return {
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "font": {"color": palette.ink, "size": size, "family": "Source Sans, sans-serif"},
    }


def map_backdrop(palette: Palette) -> dict[str, Any]:
    """The same for a map, with hover labels of several lines.

    Its tools stand below each other and without a ground of their own: side by side they would
    cover the legend, and plotly makes their ground from the paper's colour, which is clear.
    """
    return {
        **backdrop(palette),
        "hoverlabel": {
            "bgcolor": palette.paper,
            "bordercolor": palette.faint,
            "font": {"color": palette.ink, "size": 13},
            "align": "left",
        },
        "modebar": tools(palette),
    }


def tools(palette: Palette) -> dict[str, Any]:
    """The tools at the edge of a map, drawn in ink upon what is there."""
    return {
        "orientation": "v",
        "bgcolor": _CLEAR,
        "color": palette.faint,
        "activecolor": palette.ink,
    }


def hover_text(text: str, width: int = 46, most: int = 3) -> str:
    """Text for a hover label, in at most so many lines of so many characters.

    Escaped, since plotly reads a little markup.
    """
    return "<br>".join(html.escape(line) for line in textwrap.wrap(text, width)[:most])
