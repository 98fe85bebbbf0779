"""The ladder of scores by hop, with the two thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import streamlit as st

from tracert.render.ladder import figure, text_of_ladder
from tracert.render.palette import Theme
from tracert.trace import Trace
from tracert.ui.session import View, theme


def show(trace: Trace, view: View, *, key: str) -> None:
    """Draw the ladder at the view's frame; a point selects its note."""
    chart = f"{key}:ladder"

    def selected() -> None:
        id = _picked(st.session_state.get(chart))
        if any(node.id == id for node in trace.nodes):
            view.select(id)

    st.plotly_chart(
        figure(trace, view.step, theme=cast(Theme, theme()), selected=view.node),
        key=chart,
        theme=None,
        on_select=selected,
        selection_mode="points",
        config={"displayModeBar": False},
        alt=text_of_ladder(trace, view.step),
    )


def _picked(event: Any) -> str | None:
    """The id of the point that was clicked; the event comes from the browser."""
    selection = event.get("selection") if isinstance(event, Mapping) else None
    points = selection.get("points") if isinstance(selection, Mapping) else None
    for point in points or ():
        data = point.get("customdata") if isinstance(point, Mapping) else None
        if isinstance(data, list) and data and isinstance(data[0], str):
            return data[0]
    return None
