"""The frame of the app, for pages that a person enters by their own address.

Streamlit takes a folder `pages` beside the main script for an app of the old kind until
`st.navigation` has been called once in the process. The first session that opens the address
of a page would so run the page without app.py. A page calls `enter`, which then goes through
app.py; app.py calls `entered`, which goes back to the page.
"""

from __future__ import annotations

import streamlit as st

_IN, _WANTED, _QUERY = "frame:in", "frame:wanted", "frame:query"


def enter(page: str) -> None:
    """Make sure that app.py has run in this session; `page` is the page's path."""
    if not st.session_state.get(_IN):
        st.session_state[_WANTED] = page
        # A switch of pages clears the address; a link has more than the page in it.
        st.session_state[_QUERY] = st.query_params.to_dict()
        st.switch_page("app.py")


def entered() -> None:
    """Say, from app.py and after `st.navigation`, that the frame stands."""
    st.session_state[_IN] = True
    wanted = st.session_state.pop(_WANTED, None)
    if wanted is not None:
        st.switch_page(wanted, query_params=st.session_state.pop(_QUERY, {}))
