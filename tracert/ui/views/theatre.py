"""The theatre: stage, map, step, passage, answer and comparison of one trace, kept together.

It is a fragment: a step at the player, or a click, runs this alone. Every method's page shows
the same theatre with its own words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from tracert.render.words import words_for
from tracert.trace import Trace
from tracert.ui.glossary import explain
from tracert.ui.live import Live
from tracert.ui.session import View
from tracert.ui.session import view as view_of
from tracert.ui.views import answer, map, passage, path, stage, step, toolbar


@dataclass(frozen=True, slots=True)
class Panel:
    """A view that one method has beside the shared ones, and under which of the two it stands."""

    title: str
    help: str
    side: Literal["stage", "map"]
    show: Callable[[Trace, View, Live], None]


@st.fragment
def show(trace: Trace, live: Live, *, key: str, panels: Sequence[Panel] = ()) -> None:
    """All views of a trace, on one selection."""
    words = words_for(trace.method)
    view = view_of(key, trace)
    tools = st.container()
    # Two rows, so that in a narrow window, where columns stand one below the other, the map
    # follows the stage.
    left, right = st.columns([3, 2], gap="medium")
    with left:
        stage.show(trace, view, key=key)
    # Drawn above, but after the stage was heard: a link says the step that is shown.
    with tools:
        toolbar.show(trace, view, key=key)
    with right:
        map.show(trace, view, live, key=key)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _panels(panels, "stage", trace, view, live)
        with st.container(border=True):
            st.subheader("The answer", help=explain("extract"), anchor=False)
            answer.show(trace, view, key=key)
        with st.container(border=True):
            st.subheader("This step in numbers", help=words.chapters, anchor=False)
            step.show(trace, view, words, key=key)
    with right:
        _panels(panels, "map", trace, view, live)
        with st.container(border=True):
            st.subheader("The passage in its source", help=explain("passage"), anchor=False)
            passage.show(trace, view, live, key=key)
        with st.container(border=True):
            st.subheader("Beside plain top-k", help=explain("top-k"), anchor=False)
            answer.beside(trace, view, live, key=key)
    with st.expander("The path in words", icon=":material/article:"):
        path.show(trace, view, words, key=key)
    answer.spent(trace)


def _panels(panels: Sequence[Panel], side: str, trace: Trace, view: View, live: Live) -> None:
    for panel in panels:
        if panel.side == side:
            with st.container(border=True):
                st.subheader(panel.title, help=panel.help, anchor=False)
                panel.show(trace, view, live)
