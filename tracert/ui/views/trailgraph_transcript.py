"""The calls of the tool, one a step: what was asked and why, and what it showed."""

from __future__ import annotations

import streamlit as st

from tracert.render.notes import calls, titles
from tracert.render.outline import scores
from tracert.trace import Trace
from tracert.ui import components, redraw
from tracert.ui.session import View, theme

#: Pixels of the transcript before it scrolls.
HEIGHT = 420


def show(trace: Trace, view: View, *, key: str) -> None:
    """Every call up to the step of the player; a click on a note selects it."""
    names = titles(trace)
    reasons = [{item.id: item for item in step.candidates} for step in trace.steps]
    groups = []
    for call in calls(trace)[: view.step]:
        given = scores(trace.steps[call.index])
        items = []
        for id in call.shown:
            item = reasons[call.index].get(id)
            score = given.get(id)
            items.append(
                {
                    "id": id,
                    "badge": "–" if score is None else f"{score:.0f}",
                    "path": item is not None and item.kept,
                    "title": names.get(id, id),
                    "where": "" if item is None else item.reason,
                }
            )
        groups.append(
            {
                "heading": f"{call.index + 1}.",
                "call": call.text,
                "lead": call.reason,
                "empty": "The full content was shown." if call.view == "focused" else "",
                "items": items,
                "now": call.index + 1 == view.step,
            }
        )
    if not groups:
        st.caption("Nothing was called yet. Step forward.")
        return
    with st.container(height=HEIGHT, border=False):
        data = {"dark": theme() == "dark", "selected": view.node, "groups": groups}
        picked = components.cards(data, key=f"{key}:transcript")
    if view.pick(picked):
        redraw.fragment()
