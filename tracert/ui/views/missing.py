"""Where a link asks for a corpus that is not here: which one, and what can be done."""

from __future__ import annotations

import streamlit as st

from tracert.ui import arrival
from tracert.ui.safe import literal
from tracert.ui.views import add, files


def show(shelf: arrival.Shelf, *, key: str, method: str | None) -> bool:
    """Say what is missing and offer ways on; False where nothing is.

    `method` is the one whose traces the page can open, if it can.
    """
    asked = arrival.missing(shelf, key=key)
    if asked is None:
        return False
    with st.container(border=True):
        st.subheader("This link asks for a corpus that is not here", anchor=False)
        st.markdown(
            f"It is called {literal(arrival.told(asked))}. Load its documents under that name, "
            "open a trace of the run, or ask what is here."
        )
        if asked.question is not None:
            st.caption("The question of the link")
            st.text(asked.question)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if method == "trailgraph":
                st.caption("Load the notes below, after 'Ask what is here'.", width="content")
            else:
                st.page_link(
                    "pages/library.py",
                    label="Load it",
                    icon=":material/library_books:",
                    query_params={add.NAME: asked.name},
                )
            if method is not None:
                files.open_(key=key, method=method)
            st.button(
                "Ask what is here",
                key=f"{key}:link:here",
                on_click=arrival.forget_missing,
                kwargs={"key": key},
                icon=":material/arrow_forward:",
            )
    return True
