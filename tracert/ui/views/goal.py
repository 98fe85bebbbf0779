"""The goal of a Tracert walk: what it says, who made it, and a place to write another."""

from __future__ import annotations

import streamlit as st

from tracert.render.walk_notes import GOAL_PARTS, GOAL_SOURCES, goal_parts, goal_source
from tracert.trace import Trace
from tracert.ui.glossary import explain
from tracert.ui.running import Asked
from tracert.ui.safe import literal

#: Characters of a goal that stand beside the form; the paper's own example has 300.
_MOST = 400
_COLOURS = {"offline": "blue", "model": "violet", "typed": "green"}


def show(trace: Trace, asked: Asked | None, *, key: str) -> None:
    """The goal in its three parts; with `asked`, a form to write another."""
    values = trace.steps[0].values if trace.steps else {}
    source = str(values.get("goal_source") or "offline")
    parts = {name: str(values.get(f"goal_{name}") or "") for name in GOAL_PARTS}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**Goal**", width="content", help=explain("goal"))
        label, colour = goal_source(trace) or GOAL_SOURCES["offline"], _COLOURS.get(source, "gray")
        st.badge(literal(label), color=colour)  # type: ignore[arg-type]
        if asked is not None:
            with st.popover("Edit", icon=":material/edit:", type="tertiary"):
                _form(asked, parts, source, key=key)
        # Last, so that a long one has a line of its own.
        st.text(_said(trace, whole=asked is None), width="content")


def _said(trace: Trace, *, whole: bool) -> str:
    """The goal in one line; one that is an essay is cut unless `whole`, as the form has it all."""
    text = " · ".join(goal_parts(trace))
    return text if whole or len(text) <= _MOST else text[: _MOST - 1].rsplit(" ", 1)[0] + "…"


def _form(asked: Asked, parts: dict[str, str], source: str, *, key: str) -> None:
    goals = st.session_state.setdefault("goal", {})
    place = (asked.record.fingerprint, asked.question)
    name = f"{key}:goal:{hash((place, *parts.values()))}"
    with st.form(name, border=False):
        st.caption(
            "Concept and explanation are embedded together; the walk goes there. With both empty "
            "the goal is predicted."
        )
        category = st.text_input("Category", parts["category"], max_chars=200)
        concept = st.text_input("Concept", parts["concept"], max_chars=400)
        explanation = st.text_area("Explanation", parts["explanation"], max_chars=3000, height=150)
        if st.form_submit_button("Walk to this goal", type="primary"):
            lines = (f"Category: {category}", f"Concept: {concept}", f"Explanation: {explanation}")
            if concept.strip() or explanation.strip():
                goals[place] = "\n".join(lines)
            else:
                # Nothing is left to walk to: the goal is predicted again.
                goals.pop(place, None)
            st.rerun()
    if source == "typed" and st.button("Predict the goal again", key=f"{name}:again"):
        goals.pop(place, None)
        st.rerun()
