"""How long the passages of a corpus are."""

from __future__ import annotations

from typing import cast

import numpy as np
import streamlit as st

from tracert.render.lengths import Series, figure
from tracert.render.numbers import count
from tracert.render.palette import Theme
from tracert.snapshot import Snapshot
from tracert.ui.inspected import measure
from tracert.ui.session import theme
from tracert.ui.views.inspect_passages import rows_table

_SHOWN = 5


def show(snapshot: Snapshot, *, key: str) -> None:
    """The distribution, the figures of it, and the shortest and longest passages."""
    measured = measure(snapshot)
    units = ["characters", "words"] + (["tokens"] if measured.tokens is not None else [])
    unit = str(
        st.segmented_control(
            "Counted in",
            units,
            default=units[0],
            required=True,
            key=f"{key}:unit:{len(units)}",
            help="Tokens are what the embedder reads a text as: words and pieces of words.",
        )
    )
    values = {"characters": measured.characters, "words": measured.words}.get(unit)
    if values is None:
        values = measured.tokens if measured.tokens is not None else measured.characters
    low, middle, high = (float(each) for each in np.percentile(values, [5, 50, 95]))
    with st.container(horizontal=True, gap="large"):
        for label, value in (
            ("Shortest", values.min()),
            ("5% are shorter than", low),
            ("Median", middle),
            ("5% are longer than", high),
            ("Longest", values.max()),
        ):
            st.metric(label, f"{float(value):,.0f}", width="content")
    st.plotly_chart(
        figure(
            (Series("passages", values),),
            unit,
            theme=cast(Theme, theme()),
            limit=measured.most_tokens if unit == "tokens" else None,
        ),
        key=f"{key}:figure",
        theme=None,
        config={"displayModeBar": False},
        alt=f"Histogram of the number of {unit} in a passage.",
    )
    if measured.cut_off:
        st.warning(
            f"{count(measured.cut_off, 'passage')} have more than the "
            f"{measured.most_tokens:,} tokens that {snapshot.info.embedder} reads: their ends "
            "are not in their vectors. A smaller chunk size would put them there.",
            icon=":material/content_cut:",
        )
    order = np.argsort(values, kind="stable")
    left, right = st.columns(2)
    with left:
        st.markdown("**The shortest**")
        rows_table(snapshot, measured, order[:_SHOWN].tolist(), key=f"{key}:short")
    with right:
        st.markdown("**The longest**")
        longest = order[::-1][:_SHOWN].tolist()
        rows_table(snapshot, measured, longest, key=f"{key}:long")
