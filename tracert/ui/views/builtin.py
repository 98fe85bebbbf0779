"""The way back to the built-in text for a person who deleted it or never had it."""

from __future__ import annotations

import streamlit as st

from tracert.errors import TracertError
from tracert.ui import resources, visitor
from tracert.ui.safe import literal
from tracert.workspace import BUILTIN, Workspace, builtin_folder


def offer(space: Workspace, *, key: str) -> None:
    """A button that loads the built-in text, where its files are there and its corpus is not."""
    records = space.corpora()
    there = any(record.name == BUILTIN or resources.is_builtin(record) for record in records)
    if there or visitor.public() or builtin_folder() is None:
        return
    if not st.button(
        "Load the built-in text", icon=":material/auto_stories:", key=f"{key}:builtin"
    ):
        return
    try:
        with st.spinner("Indexing the built-in text…"):
            space.load_builtin()
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    st.session_state["corpus"] = BUILTIN
    st.rerun()
