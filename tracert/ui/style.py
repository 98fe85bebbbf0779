"""What the theme's options cannot say: ink on pale buttons, focus, formulas on narrow screens."""

from __future__ import annotations

from typing import Final

import streamlit as st

from tracert.ui.session import theme

#: A formula that is wider than its card can be moved, and is set smaller before it comes to that.
#: Streamlit marks the link to a page that has the focus by a ground that is hardly seen.
_ALWAYS: Final = """
[data-testid='stTopNavLink']:focus-visible, [data-testid='stSidebarNavLink']:focus-visible {
  outline: 2px solid currentColor; outline-offset: -2px; }
.katex-display { overflow-x: auto; overflow-y: hidden; }
@media (max-width: 640px) { .katex-display > .katex { font-size: 0.95rem; } }
"""
#: Streamlit writes white on a button of the primary colour, which is pale where the page is dark.
_DARK: Final = "button[kind^='primary'], button[kind^='primary']:hover { color: #10131b; }"


def load() -> None:
    """Send the rules to the browser; call it once a run."""
    st.html(f"<style>{_ALWAYS}{_DARK if theme() == 'dark' else ''}</style>")
