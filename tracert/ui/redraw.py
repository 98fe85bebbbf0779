"""Drawing again what a selection changed, and no more than that."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st
from streamlit.errors import StreamlitAPIException


def fragment() -> NoReturn:
    """Run the fragment that calls this again; in a run of the whole page, the page.

    Streamlit refuses to run a fragment by itself while the whole page runs. A selection comes
    in such a run where a person selects while the page is being drawn for another reason.
    """
    try:
        st.rerun(scope="fragment")
    except StreamlitAPIException:
        st.rerun()
