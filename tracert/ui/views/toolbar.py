"""What can be done with the run on the page: lay it over another, share it, take it along."""

from __future__ import annotations

import streamlit as st

from tracert.trace import Trace
from tracert.ui.safe import literal
from tracert.ui.session import View
from tracert.ui.views import difference, export


def show(trace: Trace, view: View, *, key: str) -> None:
    """The row of buttons above a theatre, and what is said of how the run was opened."""
    with st.container(
        horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"
    ):
        difference.controls(trace, key=key)
        export.show(trace, view, key=key)
    if view.note:
        st.caption(f":material/info: {literal(view.note)}")
    difference.show(trace, view, key=key)
