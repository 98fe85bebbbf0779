"""The Evaluate page: begin a run, look at what runs gave, make gold chains."""

from __future__ import annotations

from typing import Final

import streamlit as st

from tracert.errors import TracertError
from tracert.ui import evaluating, resources
from tracert.ui.safe import literal
from tracert.ui.views import evaluate_chain, evaluate_results, evaluate_setup

KEY: Final = "evaluate"
NEW, RESULTS, CHAINS = "New run", "Results", "Gold chains"
_ICONS: Final = {
    NEW: ":material/play_circle:",
    RESULTS: ":material/bar_chart:",
    CHAINS: ":material/link:",
}


def page() -> None:
    """The page, in one of its three views."""
    st.title("Evaluate", anchor=False)
    st.caption(
        "Does moving beat plain top-k, where, and at what cost? Ask many questions whose passages "
        "are known, and compare methods at the same number of passages."
    )
    _arrive()
    view = st.segmented_control(
        "View",
        [NEW, RESULTS, CHAINS],
        format_func=lambda name: f"{_ICONS[name]} {name}",
        required=True,
        key=f"{KEY}:view",
        label_visibility="collapsed",
        persist_state="session",
    )
    try:
        space = resources.workspace()
        if view == NEW:
            evaluate_setup.show(space, key=KEY)
        elif view == CHAINS:
            evaluate_chain.show(space, key=f"{KEY}:chain")
        else:
            evaluate_results.show(space, key=KEY)
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")


def _arrive() -> None:
    """Open what the address names, else a run that goes on, else the view of a new run."""
    if f"{KEY}:view" in st.session_state:
        return
    named = st.query_params.get("run")
    going = evaluating.running()
    id = named or (going[0] if going else None)
    if id is not None:
        st.session_state[f"{KEY}:run"] = id
    st.session_state[f"{KEY}:view"] = NEW if id is None else RESULTS
