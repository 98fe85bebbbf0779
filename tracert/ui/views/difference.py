"""A run that is held, laid under the run on the page, with all that differs."""

from __future__ import annotations

from typing import cast

import streamlit as st

from tracert.difference import Difference, difference
from tracert.errors import TracertError
from tracert.render.difference import (
    changed_rows,
    fate_of,
    figure,
    in_words,
    node_of,
    step_rows,
    text_of,
    turned_rows,
)
from tracert.render.network import revision
from tracert.render.opened import open_trace
from tracert.render.palette import PALETTES, Theme
from tracert.render.words import place, title
from tracert.render.words.base import unit
from tracert.trace import Trace
from tracert.ui import components, redraw, visitor
from tracert.ui.safe import literal
from tracert.ui.session import View, held_key, theme


def held(*, key: str) -> Trace | None:
    """The run that this page holds as A."""
    kept: Trace | None = st.session_state.get(held_key(key))
    return kept


def controls(trace: Trace, *, key: str) -> None:
    """The popover that holds this run, or a saved one, as A."""
    name, home = f"{key}:hold", held_key(key)
    upload = f"{name}:file:{st.session_state.get(f'{name}:serial', 0)}"

    def hold() -> None:
        st.session_state[home] = trace

    def release() -> None:
        st.session_state.pop(home, None)

    def take() -> None:
        file = st.session_state[upload]
        st.session_state.pop(f"{name}:error", None)
        if file is None:
            return
        try:
            other = open_trace(file.getvalue())
            difference(other, trace)
        except TracertError as error:
            st.session_state[f"{name}:error"] = str(error)
            return
        st.session_state[home] = other
        st.session_state[f"{name}:serial"] = st.session_state.get(f"{name}:serial", 0) + 1

    now = held(key=key)
    label = "Compare runs" if now is None else "Compared with A"
    with st.popover(label, icon=":material/difference:", key=name):
        st.caption(
            "Hold a run as A. Then move a setting, or ask otherwise: the run on the page is B, "
            "and all that differs is listed."
        )
        st.button(
            "Hold this run as A",
            on_click=hold,
            icon=":material/push_pin:",
            key=f"{name}:this",
            width="stretch",
            type="primary",
        )
        st.file_uploader(
            "Or hold a saved trace of this method as A",
            type="json",
            max_upload_size=visitor.upload_mb(),
            key=upload,
            on_change=take,
        )
        error = st.session_state.get(f"{name}:error")
        if error:
            st.error(literal(error), icon=":material/error:")
        if now is not None:
            st.button(
                "Let go of A",
                on_click=release,
                icon=":material/keep_off:",
                key=f"{name}:release",
                width="stretch",
            )


def show(trace: Trace, view: View, *, key: str) -> None:
    """What differs between the held run and this one; nothing where none is held."""
    other = held(key=key)
    if other is None:
        return
    with st.container(border=True):
        st.subheader("A, which is held, and B, which is shown", anchor=False)
        if revision(other) == revision(trace):
            st.caption(
                ":material/push_pin: This run is held as A. Move a setting or ask otherwise, and "
                "what differs stands here."
            )
            return
        try:
            found = difference(other, trace)
        except TracertError as error:
            st.info(literal(str(error)), icon=":material/difference:")
            return
        st.markdown("\n".join(f"- {literal(sentence)}" for sentence in in_words(found)))
        left, right = st.columns([3, 2], gap="medium")
        with left:
            _picture(found, view, key=key)
        with right:
            _evidence(found, view, key=key)
        _tables(found, key=key)


def _picture(found: Difference, view: View, *, key: str) -> None:
    chart = f"{key}:difference:map"

    def selected() -> None:
        event = st.session_state.get(chart)
        points = event["selection"]["points"] if event else []
        for point in points:
            data = point.get("customdata")
            id = data[0] if isinstance(data, list) and data else None
            if any(node.id == id for node in found.b.nodes):
                view.select(id)

    st.plotly_chart(
        figure(found, theme=cast(Theme, theme())),
        key=chart,
        theme=None,
        on_select=selected,
        selection_mode="points",
        config={"scrollZoom": True, "displaylogo": False, "displayModeBar": "hover"},
        alt=text_of(found),
    )
    st.caption(
        "Solid: moves of both. Dashed: A alone. Dotted: B alone. A number such as 2|3 is the "
        "passage's place in A and in B."
    )


def _evidence(found: Difference, view: View, *, key: str) -> None:
    ours = {id: rank for rank, id in enumerate(found.a.result.evidence, start=1)}
    theirs = {id: rank for rank, id in enumerate(found.b.result.evidence, start=1)}

    def items(ids: tuple[str, ...], side: str) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = []
        for id in ids:
            node = node_of(found, id)
            where = place(node)
            if side == "a":
                where = f"In B: {fate_of(found.b, found.fates[id][1])}. {where}"
            if side == "b":
                where = f"In A: {fate_of(found.a, found.fates[id][0])}. {where}"
            badge = str(theirs.get(id) or ours[id])
            rows.append(
                {"id": id, "badge": badge, "path": True, "title": title(node), "where": where}
            )
        return rows

    what = unit(found.b)
    palette = PALETTES[cast(Theme, theme())]
    data = {
        "dark": theme() == "dark",
        "selected": view.node,
        "groups": [
            {
                "heading": heading,
                "count": len(ids),
                "empty": f"No {what}.",
                "items": items(ids, side),
                "mark": mark,
            }
            for heading, ids, side, mark in (
                ("A alone found", found.only_a, "a", palette.goal),
                ("B alone found", found.only_b, "b", palette.path),
                ("Both found", found.both, "", palette.ink),
            )
        ],
    }
    picked = components.cards(data, key=f"{key}:difference:cards")
    known = {node.id for node in found.b.nodes}
    if picked is not None and picked.get("id") in known and view.pick(picked):
        redraw.fragment()


def _tables(found: Difference, *, key: str) -> None:
    tabs = st.segmented_control(
        "What differs",
        ["Verdicts", "Steps", "Settings", "Cost"],
        default="Verdicts",
        required=True,
        key=f"{key}:difference:tab",
        label_visibility="collapsed",
    )
    if tabs == "Verdicts":
        rows = turned_rows(found)
        ids = rows.pop("id")
        _table(rows, "No candidate was kept by one and not by the other at the same node.")
        if ids:
            st.caption("Candidates that one kept and the other did not, standing at the same node.")
    elif tabs == "Steps":
        _table(step_rows(found), "Neither took a step.")
    elif tabs == "Settings":
        _table(changed_rows(found.settings), "No setting differs.")
    else:
        _table(changed_rows(found.costs), "Both cost the same.")


def _table(rows: dict[str, list[object]] | dict[str, list[str]], empty: str) -> None:
    if not next(iter(rows.values()), []):
        st.caption(empty)
        return
    st.dataframe(rows, hide_index=True, placeholder="–")
