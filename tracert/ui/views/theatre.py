"""The theatre: stage, map, step, passage, answer and comparison of one trace, kept together.

It is a fragment: a step at the player, or a click, runs this alone. Every method's page shows
the same theatre with its own words.
"""

from __future__ import annotations

import streamlit as st

from tracert.render.words import words_for
from tracert.trace import Trace
from tracert.ui.glossary import explain
from tracert.ui.live import Live
from tracert.ui.session import view as view_of
from tracert.ui.views import answer, map, passage, path, stage, step


@st.fragment
def show(trace: Trace, live: Live, *, key: str) -> None:
    """All views of a trace, on one selection."""
    words = words_for(trace.method)
    view = view_of(key, trace)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        stage.show(trace, view, key=key)
        with st.container(border=True):
            st.subheader("The answer", help=explain("extract"), anchor=False)
            answer.show(trace, view, key=key)
        with st.container(border=True):
            st.subheader("This step in numbers", help=explain("penalty"), anchor=False)
            step.show(trace, view, words, key=key)
    with right:
        map.show(trace, view, live, key=key)
        with st.container(border=True):
            st.subheader("The passage in its source", help=explain("passage"), anchor=False)
            passage.show(trace, view, live, key=key)
        with st.container(border=True):
            st.subheader("Beside plain top-k", help=explain("top-k"), anchor=False)
            answer.beside(trace, view, live, key=key)
    with st.expander("The path in words", icon=":material/article:"):
        path.show(trace, view, words, key=key)
    answer.spent(trace)
