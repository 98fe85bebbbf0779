"""The answers side by side, each from the passages of its method, with citations."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from tracert.comparing.budget import Entry
from tracert.render.compare_looks import look, short
from tracert.render.palette import Theme
from tracert.render.words import place
from tracert.ui import components, redraw
from tracert.ui.model import chat_model
from tracert.ui.safe import literal
from tracert.ui.session import View, theme
from tracert.ui.views.compare_runs import Compared, write_answers

#: Answers in a row.
_ROW = 3


def show(compared: Compared, view: View, *, key: str) -> None:
    """One column a method; a citation selects its passage everywhere."""
    entries = compared.entries
    for start in range(0, len(entries), _ROW):
        columns = st.columns(min(_ROW, len(entries)), gap="medium")
        for column, one in zip(columns, entries[start : start + _ROW], strict=False):
            with column:
                st.markdown(f"**{short(one.method)}**")
                one_(one, view, key=key)
    _write(compared, key=key)


def one_(one: Entry, view: View, *, key: str) -> None:
    """The answer of one method; the number of a citation is the passage's rank."""
    answer = one.trace.result.answer
    if answer is None or not answer.sentences:
        st.caption("There is no answer, since no passage was found to answer from.")
        return
    known = {node.id: node for node in one.trace.nodes}
    data: dict[str, Any] = {
        "dark": theme() == "dark",
        "mark": look(one.method).colour(cast(Theme, theme())),
        "selected": None,
        "prose": [
            {
                "text": sentence.text,
                "cites": [
                    {
                        "id": id,
                        "number": str(one.rank(id) or "·"),
                        "title": place(known[id]),
                    }
                    for id in sentence.citations
                    if id in known
                ],
                "unknown": list(sentence.unknown),
            }
            for sentence in answer.sentences
        ],
    }
    if view.pick(components.cards(data, key=f"{key}:answer:{one.method}")):
        redraw.fragment()
    source = "Extract, word for word." if answer.source == "extract" else f"By {answer.source}."
    note = f" {answer.note}" if answer.note and answer.source != "extract" else ""
    st.text(source + note)


def _write(compared: Compared, *, key: str) -> None:
    model = chat_model()
    if model is None:
        return
    if all(
        one.trace.result.answer is not None and one.trace.result.answer.source != "extract"
        for one in compared.entries
    ):
        return
    if st.button(
        f"Write all answers with {literal(model.name)}",
        icon=":material/edit_note:",
        key=f"{key}:write",
        help=f"{len(compared.entries)} calls, one a method, each from its own passages alone.",
    ):
        with st.spinner("The model writes…"):
            write_answers(compared, key=key)
        st.rerun()
