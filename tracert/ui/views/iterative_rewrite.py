"""The studio of iterative rewriting: its settings, each rewritten question, what it cost."""

from __future__ import annotations

from typing import Final

import streamlit as st

from tracert.errors import TracertError
from tracert.methods.iterative_rewrite import IterativeRewriteSettings
from tracert.render import tree
from tracert.render.hop_table import plain_of
from tracert.render.numbers import count, seconds
from tracert.trace import Trace, Value
from tracert.ui import components, controls, redraw
from tracert.ui.live import Live
from tracert.ui.model import chat_model
from tracert.ui.running import Asked, run
from tracert.ui.safe import literal
from tracert.ui.session import View, theme
from tracert.ui.views import ending, first_stage, studio, theatre
from tracert.ui.views.theatre import Panel
from tracert.workspace import Workspace

NAME: Final = "iterative_rewrite"
#: The examples that lead, by id, as on TreeHop's page, with which it is to be compared.
FIRST: Final = ("A16", "A10", "A19")
_STRIP: Final = ("k", "rewrites", "later_places")
_BY: Final = {
    "question": "the question itself",
    "model": "written by the language model",
    "offline": "made of words, without a model",
}


@st.fragment
def show(space: Workspace, asked: Asked, *, key: str = NAME) -> None:
    """Settings and theatre for what was asked."""
    kind = IterativeRewriteSettings
    values: dict[str, Value] = {}
    with st.container(border=True, gap="small"):
        columns = st.columns([1, 1, 1, 2.2, 1.4], gap="medium", vertical_alignment="bottom")
        for column, name in zip(columns, _STRIP, strict=False):
            with column:
                values[name] = controls.control(kind, name, key=key)
        with columns[3]:
            values["first_stage"] = first_stage.control(kind, key=key)
        with columns[4], st.container(horizontal=True, horizontal_alignment="right", gap="small"):
            plane = studio.plane(key=key)
            with st.popover("More", icon=":material/tune:", key=f"{key}:more"):
                values |= controls.controls(kind, ["candidates_kept"], key=key)
        model = chat_model()
        if model is None:
            st.caption(
                ":material/cloud_off: No model is asked: each new question is made of words of the "
                "passages found. Name a model in Settings to see it write."
            )
        else:
            st.caption(
                f":material/edit_note: {literal(model.name)} writes each new question: one call a "
                "rewrite, kept, and asked for again only where the passages that it reads differ."
            )
    try:
        with st.spinner("Searching and rewriting…", show_time=True):
            trace, live = run(space, asked, NAME, values, kind=plane, key=key)
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    said(trace)
    theatre.show(trace, live, key=key, panels=_panels(key))
    studio.foot(space, asked, trace, plane, key=key)


def replay(trace: Trace, *, key: str = NAME) -> None:
    """The theatre of an opened trace; its first search is plain top-k."""
    said(trace)
    live = Live(plain=plain_of(trace) if tree.branches(trace) else None)
    theatre.show(trace, live, key=f"{key}:replay", panels=_panels(f"{key}:replay"))


def said(trace: Trace) -> None:
    """How it ended where it ended early, and where the model could not write."""
    ending.show(trace, "rewrite_note")


def _panels(key: str) -> list[Panel]:
    def asked(trace: Trace, view: View, live: Live) -> None:  # noqa: ARG001
        questions(trace, view, key=key)

    about = "What each search asked, who wrote it, how many new passages it brought."
    return [Panel("The questions asked", about, "stage", asked)]


def questions(trace: Trace, view: View, *, key: str) -> None:
    """Each search with its text; a click selects its query. Under them calls and seconds."""
    items = []
    for step in trace.steps:
        found = step.counts.get("kept", 0)
        source = _BY.get(str(step.values.get("rewrite_source")), "")
        items.append(
            {
                "id": step.source,
                "badge": str(step.index + 1),
                "path": True,
                "title": " ".join(trace.node(step.source).text.split()),
                "where": f"{source} · {count(found, 'new passage')}",
            }
        )
    data = {
        "dark": theme() == "dark",
        "selected": view.node,
        "groups": [{"heading": "", "items": items, "ordered": True}],
    }
    if view.pick(components.cards(data, key=f"{key}:questions")):
        redraw.fragment()
    spent = trace.cost.seconds
    columns = st.columns(3)
    written = trace.cost.model_calls
    columns[0].metric("Model calls", f"{written:,}", help="Those of the answer are among them.")
    columns[1].metric("Waiting for rewrites", seconds(spent.get("rewrite", 0.0)))
    columns[2].metric("Embedding", seconds(spent.get("embed", 0.0)))
    st.caption(
        "TreeHop moves the vector instead of writing a question: no call and no embedding a hop."
    )
