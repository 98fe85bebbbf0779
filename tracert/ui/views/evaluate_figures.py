"""The figures of a run: words first, then the table, the pictures, and where it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import streamlit as st

from tracert.render import evaluation
from tracert.render.evaluation_intervals import measure_rows, stage_rows
from tracert.render.evaluation_tables import (
    Lot,
    Measured,
    cutoff_rows,
    group_rows,
    method_rows,
    said_of_making,
    series_of,
    stand_ins,
    verdicts,
    walk_rows,
)
from tracert.render.numbers import count
from tracert.render.palette import Theme
from tracert.ui.glossary import explain
from tracert.ui.safe import literal
from tracert.ui.session import theme

_BADGES: Final = {
    "gain": ":green-badge[:material/trending_up: Gains]",
    "loss": ":orange-badge[:material/trending_down: Loses]",
    "open": ":gray-badge[:material/trending_flat: No clear difference]",
}
_LOTS: Final[Mapping[Lot, str]] = {
    "type": "By type of question",
    "hops": "By hops of the question",
    "depth": "By hops to the passage",
}
_MEASURES: Final = {
    "recall": "Recall",
    "all_found": "All found",
    "precision": "Precision",
    "mrr": "MRR",
    "ndcg": "nDCG",
}
#: Which word of the glossary explains a column.
_HELP: Final = {
    "Recall": "recall",
    "Recall, 95%": "bootstrap interval",
    "vs top-k": "paired difference",
    "vs top-k, 95%": "bootstrap interval",
    "95%": "bootstrap interval",
    "vs BM25": "paired difference",
    "All found": "all found",
    "Precision": "precision",
    "MRR": "MRR",
    "nDCG": "nDCG",
    "Passages": "passages used",
    "Filled up": "filled up",
    "ms p50": "p50",
    "ms p95": "p95",
    "Model calls": "model calls",
    "Tokens": "tokens",
    "Gold in order": "gold in order",
    "Hops": "hops that gathered",
    "Wasted hops": "wasted hops",
    "Stopped too early": "stopped too early",
    "Stopped too late": "stopped too late",
    "Hops too many": "hops too many",
    "Stops": "stops",
}
_FORMATS: Final = {
    "vs top-k": "%+.1f",
    "vs BM25": "%+.1f",
    "Passages": "%.1f",
    "Filled up": "percent",
    "Wasted hops": "percent",
    "Stopped too early": "percent",
    "Stopped too late": "percent",
    "Gold in order": "percent",
    "Hops": "%.2f",
    "Hops too many": "%.2f",
    "ms p50": "%.1f",
    "ms p95": "%.1f",
    "Model calls": "%.1f",
    "Tokens": "%.0f",
}


def show(measured: Sequence[Measured], *, key: str) -> None:
    """Everything that a run says about its methods."""
    _words(measured)
    with st.container(border=True):
        st.subheader("The methods", help=explain("paired difference"), anchor=False)
        table(method_rows(measured), key=f"{key}:methods", alt="The methods and their measures.")
        st.caption(
            "vs top-k is the difference in recall to plain top-k at the same number of passages, "
            "in points, question by question; for a method of another first stage, to that stage. "
            "Click a column's head to sort."
        )
    _pictures(measured, key=key)
    _groups(measured, key=key)
    _way(measured, key=key)


def _words(measured: Sequence[Measured]) -> None:
    """What the figures mean, in sentences; losses are said as plainly as gains."""
    for verdict in verdicts(measured):
        said = f"{_BADGES[verdict.kind]} **{literal(verdict.label)}** {literal(verdict.text)}"
        st.markdown(f"{said} {literal(verdict.more)}".strip())
    for one in measured:
        cost = said_of_making(one)
        if cost:
            st.caption(literal(cost))
        said = stand_ins(one)
        if said:
            st.caption(f":material/cloud_off: {literal(said)}")
    setup = measured[0].evaluation.setup
    if setup.left_out:
        st.caption(
            f"{count(setup.left_out, 'question')} without a gold passage in "
            f"{literal(setup.source)} could not be asked."
        )
    if setup.faults:
        with st.expander(f"{count(len(setup.faults), 'row')} of the data could not be read"):
            st.text("\n".join(setup.faults[:50]))


def table(rows: Mapping[str, list[Any]], *, key: str, alt: str) -> None:
    """A table that sorts, with an explanation at each head."""
    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        placeholder="–",
        column_config={name: column(name) for name in rows},
        alt=alt,
        height=38 + 35 * max(1, min(12, len(next(iter(rows.values()), [])))),
    )


def column(name: str) -> Any:
    """How a column is shown: its help and its number format."""
    help = explain(_HELP[name]) if name in _HELP else None
    if name.endswith("95%") or name in ("Method", "Measure", "Stage", "Stops", "Type"):
        return st.column_config.TextColumn(help=help)
    if name.endswith(", points"):
        return st.column_config.NumberColumn(help=explain("paired difference"), format="%+.1f")
    if name in ("Questions", "Gold passages"):
        return st.column_config.NumberColumn(format="localized")
    return st.column_config.NumberColumn(help=help, format=_FORMATS.get(name, "%.3f"))


def _pictures(measured: Sequence[Measured], *, key: str) -> None:
    series = series_of(measured)
    look = cast(Theme, theme())
    left, right = st.columns(2, gap="medium")
    for column_, title, made in (
        (left, "Recall and passages", evaluation.by_passages(series, theme=look)),
        (right, "Recall and time", evaluation.by_time(series, theme=look)),
    ):
        with column_, st.container(border=True):
            st.subheader(title, help=explain("bootstrap interval"), anchor=False)
            if made is None:
                st.caption("No time was taken.")
                continue
            st.plotly_chart(
                made,
                key=f"{key}:{title}",
                theme=None,
                config={"displayModeBar": False},
                alt=evaluation.text_of(series),
            )


def _groups(measured: Sequence[Measured], *, key: str) -> None:
    with st.container(border=True):
        st.subheader("Where", help=explain("paired difference"), anchor=False)
        with st.container(horizontal=True, gap="medium"):
            lot = st.segmented_control(
                "By",
                list(_LOTS),
                format_func=_LOTS.__getitem__,
                default="type",
                required=True,
                key=f"{key}:lot",
                label_visibility="collapsed",
            )
            measure = "recall"
            if lot != "depth":
                measure = st.segmented_control(
                    "Measure",
                    list(_MEASURES),
                    format_func=_MEASURES.__getitem__,
                    default="recall",
                    required=True,
                    key=f"{key}:measure",
                    label_visibility="collapsed",
                )
        table(
            group_rows(measured, lot, measure),
            key=f"{key}:groups:{lot}:{measure}",
            alt=f"{_LOTS[lot]}: {_MEASURES[measure]}.",
        )


def _way(measured: Sequence[Measured], *, key: str) -> None:
    with st.expander("The way, recall at k, and the time by stage", icon=":material/route:"):
        rows = walk_rows(measured)
        if rows:
            table(rows, key=f"{key}:way", alt="How the methods that move went.")
        else:
            st.caption("None of these methods moves: each gathers all its passages at once.")
        table(cutoff_rows(measured), key=f"{key}:cutoffs", alt="Recall after so many passages.")
        table(
            stage_rows(measured),
            key=f"{key}:stages",
            alt="Milliseconds a question by stage: median and 95th percentile.",
        )
    with st.expander("Every measure with its interval", icon=":material/straighten:"):
        table(
            measure_rows(measured),
            key=f"{key}:measures",
            alt="Every measure of every method with its interval and its differences.",
        )
        st.caption(
            "Means over the questions with their 95% bootstrap intervals. The differences are "
            "in points, question by question at the same number of passages."
        )
