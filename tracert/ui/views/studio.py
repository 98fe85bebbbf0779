"""What the studios of all methods share: the map's kind, the row of buttons, the wait for UMAP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import streamlit as st

from tracert.methods.registry import method
from tracert.trace import Trace
from tracert.ui import arrival, resources
from tracert.ui.glossary import explain
from tracert.ui.model import chat_model
from tracert.ui.running import Asked, write
from tracert.ui.safe import literal
from tracert.ui.views import about, ask, files, missing
from tracert.workspace import Workspace

Plane = Literal["auto", "pca"]


def page(
    name: str,
    show: Callable[[Workspace, Asked], None],
    replay: Callable[[Trace], None],
    first: tuple[str, ...] = resources.FIRST,
    words: Mapping[str, tuple[str, ...]] | None = None,
) -> None:
    """The page of a method: an opened trace if there is one, else what is asked.

    `first` are the ids of the examples that lead. `words` is what a setting of any text may be
    in a link, by the setting's name.
    """
    about.show(name)
    opened = files.opened(key=name)
    if opened is not None:
        files.banner(opened, key=name)
        replay(opened)
        return
    space = resources.workspace()
    shelf = arrival.shelf_of(space.corpora())
    arrival.arrive(method(name), shelf, key=name, words=words)
    if missing.show(shelf, key=name, method=name):
        return
    arrival.notices(key=name)
    asked = ask.show(space, key=name, first=first)
    if asked is None:
        files.open_(key=name, method=name)
    else:
        show(space, asked)


def plane(*, key: str) -> Plane:
    """The switch between the maps."""
    chosen = st.segmented_control(
        "Map",
        ["UMAP", "PCA"],
        default="UMAP",
        required=True,
        key=f"{key}:kind",
        label_visibility="collapsed",
        help=f"{explain('UMAP')} {explain('PCA')}",
    )
    return "pca" if chosen == "PCA" else "auto"


def foot(space: Workspace, asked: Asked, trace: Trace, kind: Plane, *, key: str) -> None:
    """Write the answer, save the trace, open another; and the map once it is fitted."""
    with st.container(horizontal=True, gap="small"):
        _write(trace, key=key)
        files.save(trace, key=key)
        files.open_(key=key, method=trace.method)
    _await_map(space, asked, trace, kind)


def _write(trace: Trace, *, key: str) -> None:
    model = chat_model()
    answer = trace.result.answer
    if model is None or (answer is not None and answer.source != "extract"):
        return
    if st.button(f"Write the answer with {literal(model.name)}", icon=":material/edit_note:"):
        with st.spinner("The model writes…"):
            write(trace, key=key)
        st.rerun()


def _await_map(space: Workspace, asked: Asked, trace: Trace, kind: Plane) -> None:
    if kind == "pca" or trace.map is None or trace.map.kind == "umap":
        return
    await_fit(lambda: space.map_status(asked.record.name).state == "fitting")


def await_fit(fitting: Callable[[], bool]) -> None:
    """While UMAP is fitted in the background, look now and then, and draw it when it is there."""
    if not fitting():
        return

    @st.fragment(run_every=2.0)
    def look() -> None:
        if not fitting():
            st.rerun()

    look()
