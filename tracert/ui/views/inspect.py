"""The chunk inspector: a corpus to choose, and four ways to look at it."""

from __future__ import annotations

import streamlit as st

from tracert.render.numbers import count
from tracert.store.records import CorpusRecord
from tracert.ui.glossary import explain
from tracert.ui.views import inspect_alike, inspect_cut, inspect_lengths, inspect_passages
from tracert.workspace import Workspace

#: Where the Library leaves the name of the corpus to look at.
CORPUS = "inspect:corpus"
_PASSAGES, _LENGTHS, _ALIKE, _CUT = "Passages", "Lengths", "Look-alikes", "Another cut"


def show(space: Workspace, *, key: str) -> None:
    """Choose a corpus and a view of it."""
    records = space.corpora()
    if not records:
        st.info(
            "There is no corpus yet. Add a document in the Library; then its passages are here.",
            icon=":material/library_add:",
        )
        st.page_link("pages/library.py", label="To the Library", icon=":material/library_books:")
        return
    record = _chosen(records)
    if not record.size:
        st.info("This corpus has no passages. Add a document in the Library.")
        return
    snapshot = space.open(record.name)
    made = (
        f"from {record.origin}"
        if record.origin
        else f"cut at {record.chunking.size:,} characters with {record.chunking.overlap:,} shared"
    )
    st.text(
        f"{count(len(record.documents), 'document')}, {count(record.size, 'passage')}, {made}, "
        f"embedded by {record.embedder}."
    )
    view = st.segmented_control(
        "What to look at",
        [_PASSAGES, _LENGTHS, _ALIKE, _CUT],
        default=_PASSAGES,
        required=True,
        key=f"{key}:view",
        persist_state="session",
        label_visibility="collapsed",
    )
    if view == _LENGTHS:
        inspect_lengths.show(snapshot, key=f"{key}:lengths")
    elif view == _ALIKE:
        inspect_alike.show(snapshot, key=f"{key}:alike")
    elif view == _CUT:
        inspect_cut.show(space, snapshot, key=f"{key}:cut")
    else:
        inspect_passages.show(snapshot, key=f"{key}:passages")


def _chosen(records: list[CorpusRecord]) -> CorpusRecord:
    names = [record.name for record in records]
    wanted = st.session_state.get(CORPUS)
    if wanted not in names:
        current = st.session_state.get("corpus")
        st.session_state[CORPUS] = current if current in names else names[0]
    name = st.selectbox(
        "Corpus", names, key=CORPUS, help=explain("corpus"), persist_state="session"
    )
    return next(record for record in records if record.name == name)
