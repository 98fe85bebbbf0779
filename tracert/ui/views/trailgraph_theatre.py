"""The theatre of a walk over notes: tree, ladder, transcript, note and map on one selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from tracert.knowledge.opened import OpenGraph
from tracert.render.words import words_for
from tracert.trace import Trace
from tracert.ui.glossary import explain
from tracert.ui.live import Live
from tracert.ui.session import view as view_of
from tracert.ui.views import (
    answer,
    map,
    path,
    stage,
    step,
    toolbar,
    trailgraph_ladder,
    trailgraph_note,
    trailgraph_transcript,
)


@st.fragment
def show(
    trace: Trace,
    live: Live,
    opened: OpenGraph | None,
    *,
    key: str,
    overlay: Mapping[str, Any] | None = None,
) -> None:
    """All views of a walk; `overlay` is a second trail that lies over it."""
    words = words_for(trace.method)
    view = view_of(key, trace)
    tools = st.container()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        stage.show(trace, view, key=key, overlay=overlay)
        # Drawn above, but after the stage was heard: a link says the step that is shown.
        with tools:
            toolbar.show(trace, view, key=key)
        with st.container(border=True):
            st.subheader("The answer", help=explain("extract"), anchor=False)
            answer.show(trace, view, key=key)
        with st.container(border=True):
            st.subheader("The ladder of scores", help=explain("score"), anchor=False)
            trailgraph_ladder.show(trace, view, key=key)
        with st.container(border=True):
            st.subheader("The notes of this step", help=explain("beam"), anchor=False)
            step.table(trace, view, words, key=key)
    with right:
        with st.container(border=True):
            st.subheader("The note in hand", help=explain("note"), anchor=False)
            trailgraph_note.show(trace, view, live, opened, key=key)
        with st.container(border=True):
            st.subheader("What the tool was asked and showed", help=explain("tool"), anchor=False)
            trailgraph_transcript.show(trace, view, key=key)
        with st.container(border=True):
            st.subheader("The notes on the map", help=explain("UMAP"), anchor=False)
            map.show(trace, view, live, key=key)
    with st.expander("The trail in words", icon=":material/article:"):
        path.show(trace, view, words, key=key)
    answer.spent(trace)
