"""What the inspector works out of a corpus, kept by the corpus's fingerprint for all sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import streamlit as st

from tracert.corpus.chunking import Chunking
from tracert.embedding.base import Embedder
from tracert.errors import EmbedderError
from tracert.inspecting import Alike, Cut, Lengths, alike, cut, lengths, same, seconds_to_index
from tracert.snapshot import Snapshot
from tracert.ui.model import named_embedder

#: A corpus is what its fingerprint says.
_BY: Final[dict[str | type[Any], Callable[[Any], Any]]] = {
    Snapshot: lambda snapshot: snapshot.info.fingerprint,
}


@st.cache_resource(max_entries=2, show_spinner="Reading the passages…", hash_funcs=_BY)
def texts_of(snapshot: Snapshot) -> list[str]:
    """The texts of all passages by row."""
    return [each.text for each in snapshot.chunks(range(len(snapshot.ids)))]


@st.cache_resource(max_entries=8, show_spinner="Measuring the passages…", hash_funcs=_BY)
def measure(snapshot: Snapshot) -> Lengths:
    """The lengths of all passages by row; without tokens where the embedder cannot be had."""
    texts = texts_of(snapshot)
    try:
        return lengths(texts, named_embedder(snapshot.info.embedder))
    except EmbedderError:
        return lengths(texts)


@st.cache_resource(max_entries=4, show_spinner="Looking for equal texts…", hash_funcs=_BY)
def same_of(snapshot: Snapshot) -> list[tuple[int, ...]]:
    """The groups of equal texts."""
    return same(texts_of(snapshot))


@st.cache_resource(max_entries=32, show_spinner="Comparing the passages…", hash_funcs=_BY)
def alike_of(snapshot: Snapshot, threshold: float, overlapping: bool) -> Alike:
    """The pairs that are nearly the same."""
    return alike(snapshot, threshold, overlapping=overlapping)


@st.cache_resource(max_entries=16, show_spinner="Cutting…", hash_funcs=_BY)
def cut_of(snapshot: Snapshot, chunking: Chunking) -> Cut:
    """What the corpus would be with another chunking."""
    return cut(snapshot, chunking)


@st.cache_resource(max_entries=64, show_spinner="Timing the embedder…", hash_funcs=_BY)
def seconds_of(snapshot: Snapshot, chunking: Chunking, _embedder: Embedder) -> float:
    """About how long it takes to index the corpus so cut."""
    return seconds_to_index(cut_of(snapshot, chunking), _embedder)
