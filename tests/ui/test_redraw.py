"""A fragment that asks to be run again, in a run of the page and in one of its own."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def _page() -> None:
    import streamlit as st

    from tracert.ui import redraw

    @st.fragment
    def part() -> None:
        if st.session_state.pop("selected", False):
            redraw.fragment()
        st.text("drawn")

    part()
    st.text("after")


def test_a_selection_that_comes_in_a_run_of_the_whole_page_draws_the_page_again() -> None:
    """Streamlit's own `st.rerun(scope="fragment")` raises here: no fragment runs by itself."""
    at = AppTest.from_function(_page)
    at.session_state["selected"] = True
    at.run()
    assert not at.exception
    assert [text.value for text in at.text] == ["drawn", "after"]
