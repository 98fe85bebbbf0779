"""What a page shows, in one sentence for a person who sees it first."""

from __future__ import annotations

from typing import Final

import streamlit as st

_LINES: Final = {
    "tracert_rag": "Watch a search walk through a text: from your question towards its guess of "
    "where the answer lies, one passage at a time.",
    "trailgraph": "Watch an agent find its way through a graph of notes by their one-line "
    "summaries, and open a note in full only where it fits; or be the agent yourself.",
    "treehop": "Watch a question's vector move with each passage it finds, and search again for "
    "what the question alone would miss.",
}


def show(method: str) -> None:
    """The sentence of the page of that method."""
    st.caption(_LINES[method])
