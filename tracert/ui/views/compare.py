"""The Compare page: who found what, at which hop, at what cost."""

from __future__ import annotations

from typing import Final

import streamlit as st

from tracert.errors import TracertError
from tracert.render.compare_looks import short
from tracert.ui import resources
from tracert.ui.glossary import explain
from tracert.ui.running import Asked
from tracert.ui.safe import literal
from tracert.ui.session import View
from tracert.ui.views import (
    ask,
    compare_answers,
    compare_found,
    compare_link,
    compare_map,
    compare_pair,
    compare_strip,
    compare_why,
    costs,
    judge,
    studio,
)
from tracert.ui.views import passage as passage_view
from tracert.ui.views.compare_runs import Compared, compare, selection
from tracert.workspace import Workspace

KEY: Final = "compare"
#: The examples that lead, by id: there the methods find different gold passages.
FIRST: Final = ("A16", "A10", "B10")
_METHODS, _PAIR = "Methods on one text", "The same text as document and notes"
_MAP, _STAGES = "One map", "A stage each"


def page(*, key: str = KEY) -> None:
    """The page."""
    st.caption(
        "Ask several methods the same question at the same number of passages: who found what, at "
        "which hop, at what cost, and why not the rest."
    )
    space = resources.workspace()
    what = st.segmented_control(
        "What to compare",
        [_METHODS, _PAIR],
        default=_METHODS,
        required=True,
        key=f"{key}:what",
        label_visibility="collapsed",
        persist_state="session",
    )
    if what == _PAIR:
        compare_pair.show(space, key=f"{key}:pair")
        return
    if compare_link.missing_or_told(space, key=key):
        return
    asked = ask.show(space, key=key, first=FIRST)
    if asked is not None:
        show(space, asked, key=key)


@st.fragment
def show(space: Workspace, asked: Asked, *, key: str) -> None:
    """The controls, and everything that follows from them."""
    with st.container(border=True, gap="small"):
        chosen = compare_strip.show(key=key)
    if not chosen.methods:
        st.info("Choose a method above, better two or more.", icon=":material/checklist:")
        return
    try:
        with st.spinner("The methods search…", show_time=False):
            compared = compare(space, asked, chosen, key=key)
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    for name, why in compared.failed.items():
        st.warning(f"{short(name)}: {literal(why)}", icon=":material/block:")
    if compared.entries:
        compare_link.show(asked, chosen, key=key)
        theatre(compared, key=key)
    if chosen.plane == "auto":
        studio.await_fit(lambda: space.map_status(asked.record.name).state == "fitting")


@st.fragment
def theatre(compared: Compared, *, key: str) -> None:
    """All views of the runs, on one selection."""
    view = selection(compared, key=key)
    compare_found.board(compared, view, key=key)
    # Graphs need the whole width, the map does not.
    wide = st.session_state.get(f"{key}:how") == _STAGES
    left, right = (st.container(), st.container()) if wide else st.columns(_HALVES, gap="medium")
    with left, st.container(border=True):
        _paths(compared, view, key=key)
    with right, st.container(border=True):
        st.subheader("What each found", help=_OVERLAP, anchor=False)
        compare_found.matrix(compared, view, key=key)
    left, right = st.columns(_HALVES, gap="medium")
    with left, st.container(border=True):
        st.subheader("Why not this passage?", help=_WHY, anchor=False)
        compare_why.show(compared, view, key=f"{key}:why", root=key)
    with right, st.container(border=True):
        st.subheader("The passage in its source", help=explain("passage"), anchor=False)
        _source(compared, view, key=key)
    traces = {one.method: one.trace for one in compared.entries}
    with st.container(border=True):
        st.subheader("The answers", help=explain("extract"), anchor=False)
        compare_answers.show(compared, view, key=key)
        judge.show(traces, key=f"{key}:judge", called=short)
    with st.container(border=True):
        st.subheader("What it cost", anchor=False)
        costs.show(traces, key=key, called=short)
        compare_found.cost(compared, key=key)
    with st.expander("Passages by methods as a table", icon=":material/table:"):
        compare_found.table(compared, view, key=key)


_HALVES: Final = (3, 2.6)
_OVERLAP: Final = (
    "Passages stand by the set of methods that found them: what all found first, what one alone "
    "found last. A star marks a gold passage."
)
_WHY: Final = (
    "Any passage can be asked about. For each method that missed it: at which hop, by which rule "
    "and with which numbers it fell, and the smallest change of one setting that keeps it."
)


def _paths(compared: Compared, view: View, *, key: str) -> None:
    how = st.segmented_control(
        "Paths",
        [_MAP, _STAGES],
        default=_MAP,
        required=True,
        key=f"{key}:how",
        label_visibility="collapsed",
    )
    if how == _STAGES:
        compare_map.stages(compared, view, key=f"{key}:stage")
    else:
        compare_map.show(compared, view, key=key)


def _source(compared: Compared, view: View, *, key: str) -> None:
    node = None if view.node is None else compare_found.nodes(compared)(view.node)
    if node is None:
        st.caption("Select a point, a row or a citation to read the passage here.")
        return
    passage_view.source(node, compared.question, compared.live, key=key)
