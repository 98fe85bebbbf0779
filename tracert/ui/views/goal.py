"""The goal of a Tracert walk: what it says, who made it, and a place to write another."""

from __future__ import annotations

import streamlit as st

from tracert.render.walk_notes import GOAL_SOURCES, goal_source
from tracert.trace import Trace
from tracert.ui.glossary import explain
from tracert.ui.running import Asked
from tracert.ui.safe import literal

_COLOURS = {"offline": "blue", "model": "violet", "typed": "green"}


def show(trace: Trace, asked: Asked | None, *, key: str) -> None:
    """The goal in its three parts; with `asked`, a form to write another."""
    values = trace.steps[0].values if trace.steps else {}
    source = str(values.get("goal_source") or "offline")
    parts = {name: str(values.get(f"goal_{name}") or "") for name in _PARTS}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**Goal**", width="content", help=explain("goal"))
        label, colour = goal_source(trace) or GOAL_SOURCES["offline"], _COLOURS.get(source, "gray")
        st.badge(literal(label), color=colour)  # type: ignore[arg-type]
        said = ". ".join(text for text in (parts["category"], parts["concept"]) if text)
        st.text(said or _goal_text(trace), width="content")
        if asked is not None:
            with st.popover("See and edit", icon=":material/edit:", type="tertiary"):
                _form(asked, parts, source, key=key)


_PARTS = ("category", "concept", "explanation")


def _goal_text(trace: Trace) -> str:
    node = next((node for node in trace.nodes if node.id == "goal"), None)
    text = "" if node is None else " ".join(node.text.split())
    return text if len(text) <= 110 else text[:109].rsplit(" ", 1)[0] + "…"


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
