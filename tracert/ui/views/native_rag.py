"""The studio of plain top-k: how many passages, by which first stage, and the theatre."""

from __future__ import annotations

from typing import Final

import streamlit as st

from tracert.errors import TracertError
from tracert.methods.native_rag import NativeRagSettings
from tracert.trace import Trace, Value
from tracert.ui import controls, resources
from tracert.ui.live import Live
from tracert.ui.running import Asked, run
from tracert.ui.safe import literal
from tracert.ui.views import ending, first_stage, studio, theatre
from tracert.workspace import Workspace

NAME: Final = "native_rag"
FIRST: Final = resources.FIRST


@st.fragment
def show(space: Workspace, asked: Asked, *, key: str = NAME) -> None:
    """Settings and theatre for what was asked."""
    values: dict[str, Value] = {}
    with st.container(border=True, gap="small"):
        left, middle, right = st.columns([1, 2, 1.2], gap="medium", vertical_alignment="bottom")
        with left:
            values["k"] = controls.control(NativeRagSettings, "k", key=key)
        with middle:
            values["first_stage"] = first_stage.control(NativeRagSettings, key=key)
        with right, st.container(horizontal=True, horizontal_alignment="right", gap="small"):
            plane = studio.plane(key=key)
            with st.popover("More", icon=":material/tune:", key=f"{key}:more"):
                values |= controls.controls(NativeRagSettings, ["candidates_kept"], key=key)
    try:
        trace, live = run(space, asked, NAME, values, kind=plane, key=key)
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    said(trace)
    theatre.show(trace, live, key=key)
    studio.foot(space, asked, trace, plane, key=key)


def replay(trace: Trace, *, key: str = NAME) -> None:
    """The theatre of an opened trace."""
    said(trace)
    theatre.show(trace, Live(), key=f"{key}:replay")


def said(trace: Trace) -> None:
    """How it ended, where it ended with fewer passages than were asked for."""
    ending.show(trace)
