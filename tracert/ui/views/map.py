"""The map: where the passages lie, and the walk over them."""

from __future__ import annotations

from typing import Literal, cast

import streamlit as st

from tracert.render import tree
from tracert.render.map import COLOUR_WORDS, Colour, figure, selected_ids, text_of_map
from tracert.render.palette import Theme
from tracert.render.words.base import unit
from tracert.trace import NodeKind, Trace
from tracert.ui.glossary import explain
from tracert.ui.live import Live
from tracert.ui.session import View, theme

Kind = Literal["umap", "pca"]


def show(trace: Trace, view: View, live: Live, *, key: str) -> None:
    """Draw the map at the view's frame; a selection of points selects passages."""
    if trace.map is None:
        st.info(live.map_note or "This trace was saved without a map.", icon=":material/map:")
        return
    ground = live.ground
    colour: Colour = "position"
    if ground is not None:
        choices = ground.colours()
        picked = st.selectbox(
            "Colour of the passages",
            choices,
            format_func=lambda name: f"Colour: {COLOUR_WORDS[name][0].lower()}",
            key=f"{key}:colour",
            label_visibility="collapsed",
        )
        colour = picked or "position"
    chart = f"{key}:map"
    made = figure(
        trace,
        view.step,
        theme=cast(Theme, theme()),
        ground=ground,
        colour=colour,
        selected=view.node,
        plain=live.plain.result.evidence if live.plain is not None else (),
    )

    def selected() -> None:
        ids = selected_ids(st.session_state.get(chart), trace, ground)
        if ids:
            view.select(ids[0], several=tuple(ids) if len(ids) > 1 else ())

    st.plotly_chart(
        made,
        key=chart,
        theme=None,
        on_select=selected,
        selection_mode=("points", "box", "lasso"),
        config={"scrollZoom": True, "displaylogo": False, "displayModeBar": "hover"},
        alt=text_of_map(trace, view.step),
    )
    st.caption(_about(trace, live), help=_signs(trace))


def _about(trace: Trace, live: Live) -> str:
    kind = trace.map.kind.upper() if trace.map is not None else ""
    goal = any(node.kind is NodeKind.GOAL for node in trace.nodes)
    placed = "question and goal are" if goal else "the question is"
    placed = "the queries are" if tree.branches(trace) else placed
    said = f"{kind} map; {placed} placed on it afterwards, so approximate. "
    ground = live.ground
    if ground is not None and ground.kept is not None and len(ground.kept):
        said += (
            f"It keeps {float(ground.kept.mean()):.0%} of each {unit(trace)}'s ten nearest "
            "neighbours. "
        )
    return said + live.map_note


def _signs(trace: Trace) -> str:
    """What the words of the map's legend mean."""
    if tree.branches(trace):
        own = (
            "**Kept**: found by the queries so far, in this order. **Ended**: weighed at this step "
            "and dropped. **Top-k**: what plain top-k finds with as many passages. "
            "**Moved q**: the question after a passage moved it."
        )
    elif unit(trace) == "note":
        own = (
            "**Revealed**: what the walk has been shown so far. **Path**: what it chose, in order."
        )
    elif any(node.kind is NodeKind.GOAL for node in trace.nodes):
        own = (
            "**Corridor**: near enough to the question to be walked; **Outside**: not. "
            "**Weighed**: a neighbour that would have cost more at this step. **Path**: what the "
            "walk took, in order."
        )
    else:
        own = "**Kept**: what was found so far, in this order."
    return (
        f"{own} **In hand**: where this step starts. **Selected**: what is shown as text. "
        f"**≈**: placed on the map afterwards.\n\n{explain('kept')}"
    )
