"""The studio of Tracert-RAG: its goal, its settings, and the theatre under them.

It is a fragment: moving a setting walks again and redraws this, and nothing else of the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from tracert.errors import TracertError
from tracert.methods.registry import method
from tracert.render.walk_notes import notes
from tracert.trace import StopReason, Trace, Value
from tracert.ui import controls
from tracert.ui.live import Live
from tracert.ui.running import Asked, run
from tracert.ui.safe import literal
from tracert.ui.session import stored_trace
from tracert.ui.views import goal, histogram, studio, theatre
from tracert.workspace import Workspace

NAME = "tracert_rag"
_STRIP = ("alpha", "radius_scale", "max_hops")


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The settings as the controls have them, the map's kind, and the control of delta."""

    values: Mapping[str, Value]
    plane: studio.Plane
    delta: controls.Open


@st.fragment
def show(space: Workspace, asked: Asked, *, key: str = NAME) -> None:
    """Settings, goal and theatre for what was asked."""
    strip = st.container(border=True, gap="small")
    chosen = _settings(strip, stored_trace(key), key=key)
    try:
        trace, live = run(space, asked, NAME, chosen.values, kind=chosen.plane, key=key)
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    delta = trace.settings.get("delta")
    chosen.delta.found(delta if isinstance(delta, float) else None)
    with strip:
        goal.show(trace, asked, key=key)
        said(trace)
    theatre.show(trace, live, key=key)
    studio.foot(space, asked, trace, chosen.plane, key=key)


def replay(trace: Trace, *, key: str = NAME) -> None:
    """The theatre of an opened trace, with the settings that it was made with."""
    goal.show(trace, None, key=key)
    said(trace)
    theatre.show(trace, Live(), key=f"{key}:replay")


def said(trace: Trace) -> None:
    """How the walk ended where it did not arrive, and what it says about its own settings."""
    stop = trace.result.stop
    if stop.reason is not StopReason.GOAL_REACHED:
        ending = literal(f"{stop.message} {stop.remedy}".strip())
        st.markdown(f":orange-badge[:material/block: Goal not reached] {ending}")
    for note in notes(trace):
        st.caption(f":material/info: {literal(note)}")


def _settings(strip: Any, last: Trace | None, *, key: str) -> _Chosen:
    kind = method(NAME).settings_type
    values: dict[str, Value] = {}
    with strip:
        columns = st.columns([1, 1, 1, 1.45, 1.3], gap="medium", vertical_alignment="bottom")
        for column, name in zip(columns, _STRIP, strict=False):
            with column:
                values[name] = controls.control(kind, name, key=key)
        with columns[3]:
            delta = controls.open_control(kind, "delta", key=key)
            values["delta"] = delta.value
        with (
            columns[4],
            st.container(horizontal=True, horizontal_alignment="right", wrap=False, gap="small"),
        ):
            plane = studio.plane(key=key)
            more = st.popover("More", icon=":material/tune:", key=f"{key}:more", on_change="rerun")
            with more:
                rest = [name for name in controls.names(kind) if name not in (*_STRIP, "delta")]
                values |= controls.controls(kind, rest, key=key)
                if last is not None and more.open:
                    histogram.show(last, key=key)
    return _Chosen(values, plane, delta)
