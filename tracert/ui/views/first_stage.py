"""The switch between the first stages: vectors, words, or both."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from tracert.methods.first_stage import STAGES
from tracert.ui import controls

_NAMES: Final = {"dense": "Vectors", "bm25": "Words (BM25)", "hybrid": "Both (hybrid)"}


def control(kind: type[Any], *, key: str) -> str:
    """The setting `first_stage` of a method as a switch, so that all three are seen at once."""
    field = controls.field_named(kind, "first_stage")
    name = f"{key}:first_stage"
    st.session_state.setdefault(name, field.default)
    chosen = st.segmented_control(
        str(field.metadata["label"]),
        list(STAGES),
        format_func=_NAMES.__getitem__,
        required=True,
        key=name,
        help=field.metadata["help"],
        persist_state="session",
    )
    return str(chosen or field.default)
