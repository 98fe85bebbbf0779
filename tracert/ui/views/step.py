"""The step in numbers: the formula with this step's values and the table of its candidates."""

from __future__ import annotations

import streamlit as st

from tracert.render.frames import frame
from tracert.render.tables import candidate_rows
from tracert.render.words import Words
from tracert.trace import Trace
from tracert.ui.session import View

#: Rows of the table that are seen without scrolling.
HEIGHT = 318


def show(trace: Trace, view: View, words: Words, *, key: str) -> None:
    """The deciding equation, then every candidate with its rule; a row selects its passage."""
    formula(trace, view, words)
    table(trace, view, words, key=key)


def formula(trace: Trace, view: View, words: Words) -> None:
    """The equation with the numbers of the selected candidate, or of the chosen one."""
    now = frame(trace, view.step)
    made = words.formula(trace, now, view.node)
    if made is None:
        if now.step is None:
            st.caption("The formula appears with the first step.")
        return
    st.text(made.about)
    st.latex(made.general)
    st.latex(made.filled)


def table(trace: Trace, view: View, words: Words, *, key: str) -> None:
    """The candidates of this frame, sortable; its counts cover all, also those cut."""
    now = frame(trace, view.step)
    if now.step is None:
        return
    rows = candidate_rows(trace, view.step, words)
    ids = rows.pop("id")
    listed, all_ = len(ids), sum(now.step.counts.values())
    chart = f"{key}:candidates:{view.revision}:{view.step}"

    def selected() -> None:
        chosen = st.session_state[chart].selection.rows
        if chosen and 0 <= chosen[0] < len(ids):
            view.select(ids[chosen[0]])

    st.dataframe(
        rows,
        key=chart,
        height=min(HEIGHT, 38 + 35 * max(1, listed)),
        hide_index=True,
        on_select=selected,
        selection_mode="single-row",
        column_config={
            column.label: st.column_config.NumberColumn(
                help=column.meaning, format=f"%.{column.digits}f"
            )
            for column in words.columns
            if column.label in rows
        },
        placeholder="–",
        alt=f"The candidates of step {view.step} with rule and numbers, best first.",
    )
    counts = ", ".join(
        f"{now.step.counts[rule.name]:,} {rule.label.lower()}"
        for rule in words.rules
        if now.step.counts.get(rule.name)
    )
    st.caption(f"Listed: {listed:,} of {all_:,} candidates. {counts}. Select a row to read it.")
