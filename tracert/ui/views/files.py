"""Saving a trace and opening one: a replay needs no key and no corpus."""

from __future__ import annotations

import re

import streamlit as st

from tracert.errors import TracertError
from tracert.render.opened import open_trace
from tracert.render.words.base import unit
from tracert.trace import Trace
from tracert.ui import visitor
from tracert.ui.safe import literal
from tracert.ui.views import again


def file_name(trace: Trace, ending: str) -> str:
    """What a file made of this trace is called: the method and the words of the question."""
    words = re.sub(r"[^a-z0-9]+", "-", trace.question.lower()).strip("-")[:48].strip("-")
    return f"{trace.method}-{words or 'trace'}{ending}"


def save(trace: Trace, *, key: str) -> None:
    """A button to save the trace as JSON; it is made on the click."""
    st.download_button(
        "Save trace",
        lambda: trace.to_json(),
        file_name(trace, ".json"),
        "application/json",
        key=f"{key}:save",
        icon=":material/download:",
        help="Everything this page shows, as JSON. It replays without a key and a corpus.",
        on_click="ignore",
    )


def opened(*, key: str) -> Trace | None:
    """The trace that was opened on this page, if any."""
    trace: Trace | None = st.session_state.get(f"{key}:opened")
    return trace


def open_(*, key: str, method: str) -> None:
    """A place to drop a saved trace; it then takes the page until it is closed."""
    serial = st.session_state.get(f"{key}:upload-serial", 0)
    name = f"{key}:upload:{serial}"

    def read() -> None:
        file = st.session_state[name]
        if file is None:
            return
        st.session_state.pop(f"{key}:upload-error", None)
        try:
            trace = open_trace(file.getvalue())
        except TracertError as error:
            st.session_state[f"{key}:upload-error"] = str(error)
            return
        if trace.method != method:
            st.session_state[f"{key}:upload-error"] = (
                f"This is a trace of {trace.method}. Open it on that method's page."
            )
            return
        st.session_state[f"{key}:opened"] = trace
        st.session_state[f"{key}:upload-serial"] = serial + 1

    with st.popover("Open trace", icon=":material/folder_open:"):
        st.file_uploader(
            "A trace that 'Save trace' or 'ask --json' wrote",
            type="json",
            max_upload_size=visitor.upload_mb(),
            key=name,
            on_change=read,
        )
        if opened(key=key) is not None:
            st.rerun()
        error = st.session_state.get(f"{key}:upload-error")
        if error:
            st.error(literal(error))


def banner(trace: Trace, *, key: str) -> None:
    """Says that an opened trace is on the page, and closes it."""

    def close() -> None:
        st.session_state.pop(f"{key}:opened", None)

    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge("Opened trace", icon=":material/folder_open:", color="violet")
            st.text(trace.question, width="stretch")
            st.button("Close", key=f"{key}:close", on_click=close, icon=":material/close:")
        st.text(
            f"Corpus {trace.corpus.name}, {trace.corpus.size:,} {unit(trace)}s, embedder "
            f"{trace.corpus.embedder}. Shown from the file alone."
        )
        again.show(trace, key=key)
