"""The frame of the app, for pages that a person enters by their own address.

Streamlit takes a folder `pages` beside the main script for an app of the old kind until
`st.navigation` has been called once in the process. The first session that opens the address
of a page would so run the page without app.py. A page calls `enter`, which then goes through
app.py; app.py calls `entered`, which goes back to the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from tracert.errors import TracertError
from tracert.hosting import is_public
from tracert.ui.safe import literal

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

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


def run(page: StreamlitPage) -> None:
    """Run a page; where the store or a file fails it, say so in a sentence and offer to go on.

    Of a fault of the app itself a stranger is shown no details, since these name the server's
    files; they are in the log.
    """
    if is_public():
        st.set_option("client.showErrorDetails", "none")
    try:
        page.run()
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        st.button("Try again", icon=":material/refresh:", key="frame:again")
