"""The distances between candidates, with the line at delta."""

from __future__ import annotations

from typing import cast

import streamlit as st

from tracert.render.histogram import figure
from tracert.render.palette import Theme
from tracert.trace import Trace
from tracert.ui.session import theme


def show(trace: Trace, *, key: str) -> None:
    """How far the candidates lie from one another, from the trace's first step."""
    made = figure(trace, theme=cast(Theme, theme()))
    if made is None:
        st.caption("There are too few candidates for a histogram of distances.")
        return
    st.plotly_chart(
        made,
        key=f"{key}:histogram",
        theme=None,
        config={"displayModeBar": False},
        alt="Histogram of the cosine distances between candidates, with a line at delta.",
    )
    st.caption(
        "Distances between pairs of candidates. Pairs left of the line are joined by an edge; "
        "the hatched ones are not."
    )
    note = trace.steps[0].values.get("delta_note") if trace.steps else None
    if note:
        st.text(str(note))
