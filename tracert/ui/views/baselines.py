"""The baselines, one at a time: plain top-k, iterative rewriting, Graph RAG."""

from __future__ import annotations

from typing import Final

import streamlit as st

from tracert.ui.views import graph_rag, iterative_rewrite, native_rag, studio

#: Each baseline with what it is called on the switch, its studio and its replay.
_STUDIOS: Final = {
    native_rag.NAME: ("Plain top-k", native_rag.show, native_rag.replay, native_rag.FIRST),
    iterative_rewrite.NAME: (
        "Iterative rewriting",
        iterative_rewrite.show,
        iterative_rewrite.replay,
        iterative_rewrite.FIRST,
    ),
    graph_rag.NAME: ("Graph RAG", graph_rag.show, graph_rag.replay, graph_rag.FIRST),
}
_KEY: Final = "baselines:method"


def page() -> None:
    """The switch, and the page of the baseline that it is at; a link may name one."""
    name = _chosen()
    _, show, replay, first = _STUDIOS[name]
    studio.page(name, show, replay, first)


def _chosen() -> str:
    if _KEY not in st.session_state:
        asked = st.query_params.get("method", "")
        st.session_state[_KEY] = asked if asked in _STUDIOS else native_rag.NAME
    chosen = st.segmented_control(
        "Baseline",
        list(_STUDIOS),
        format_func=lambda name: _STUDIOS[name][0],
        required=True,
        key=_KEY,
        label_visibility="collapsed",
        persist_state="session",
    )
    return str(chosen or native_rag.NAME)
