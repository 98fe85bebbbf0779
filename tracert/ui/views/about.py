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
    "native_rag": "The passages most similar to your question, found at once. It is the baseline: "
    "whatever moves has to find more than this with as many passages.",
    "iterative_rewrite": "Search, have the question written anew from what was found, and search "
    "again. It is what TreeHop saves: a model's call and a new vector each round.",
    "graph_rag": "Search a graph of the people, places and things that the text names, and of the "
    "communities that they form. The graph has to be made first, which is its price.",
}


def show(method: str) -> None:
    """The sentence of the page of that method."""
    st.caption(_LINES[method])
