"""Ink that can be read where the theme's own cannot."""

from __future__ import annotations

import streamlit as st

from tracert.ui.session import theme

#: Streamlit writes white on a button of the primary colour, which is pale where the page is dark.
_DARK = "<style>button[kind^='primary'], button[kind^='primary']:hover { color: #10131b; }</style>"


def load() -> None:
    """Write dark words on the pale buttons of a dark page; call it once a run."""
    if theme() == "dark":
        st.html(_DARK)
