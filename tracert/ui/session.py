"""What a page remembers between runs: one selection a page, checked against the trace.

Events come from the browser and may be late, so each carries the revision of the graph and
the moment it happened; an event of another graph, or an older one, changes nothing.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

import streamlit as st

from tracert.render.frames import clamp, frame, last
from tracert.render.network import revision, walk
from tracert.trace import NodeKind, Trace
from tracert.ui import arrival


@dataclass(slots=True)
class View:
    """Where a person stands in a trace: the frame and the selected node.

    `note` is what there is to say of how it was opened. `command` counts the times that Python,
    and not the person at the player, moved the stage; `told_step` and `told_node` are what it said
    the last time. So a run that only answers the player sends the stage the same message
    again, which the browser keeps. `walk` names the walk, and `before` is the revision that showed
    the same walk on another map: what a person did at the stage while the map changed counts.
    """

    revision: str
    step: int
    node: str | None
    question: str = ""
    several: tuple[str, ...] = ()
    command: int = 0
    told_step: int | None = None
    told_node: str | None = None
    moment: float = 0.0
    note: str = ""
    walk: str = ""
    before: str = ""

    def select(self, id: str | None, *, several: tuple[str, ...] = ()) -> None:
        """Select a node from anywhere but the stage, and tell the stage."""
        self.node, self.several = id, several
        self.command += 1
        self.told_node, self.told_step = id, None

    def hear(self, event: dict[str, Any] | None, trace: Trace, drawn: Container[str] = ()) -> None:
        """Take over what the person did at the stage, if it is about this trace and new.

        `drawn` are the nodes that the stage shows beside those that the trace names.
        """
        if event is None or event.get("revision") not in (self.revision, self.before or None):
            return
        if not self._newer(event):
            return
        step, node = event.get("step"), event.get("selected")
        if isinstance(step, int):
            self.step = clamp(trace, step)
        if node is None or node in drawn or any(known.id == node for known in trace.nodes):
            if node != self.node:
                self.several = ()
            self.node = node
        if event["revision"] != self.revision:
            self.command += 1
            self.told_step, self.told_node = self.step, self.node

    def pick(self, event: dict[str, Any] | None) -> bool:
        """Take over a click in a list; True if it was new."""
        if event is None or not isinstance(event.get("id"), str) or not self._newer(event):
            return False
        self.select(event["id"])
        return True

    def _newer(self, event: dict[str, Any]) -> bool:
        moment = event.get("moment")
        if not isinstance(moment, int | float) or moment <= self.moment:
            return False
        self.moment = moment
        return True


def view(key: str, trace: Trace) -> View:
    """The view of that page on this trace; a new walk is opened at its end.

    The same walk on another map, which comes once UMAP is fitted, stays at its step. The
    selection stays where the question is the same and the new trace still names the node; else it
    is the last passage of the path.
    """
    name = f"{key}:view"
    seen: View | None = st.session_state.get(name)
    now = revision(trace)
    if seen is not None and seen.revision == now:
        return seen
    same = seen is not None and seen.question == trace.question
    node = seen.node if seen is not None and same else None
    if node is None or all(known.id != node for known in trace.nodes):
        node = _last_passage(trace)
    at, note = _opening(trace, key)
    fresh = View(now, at, node, trace.question, note=note, walk=walk(trace))
    if seen is not None and seen.walk == fresh.walk:
        fresh.step, fresh.several, fresh.note = seen.step, seen.several, seen.note
        fresh.before = seen.revision
    elif at != last(trace):
        fresh.node = frame(trace, at).chosen or fresh.node
    fresh.command = 1 if seen is None else seen.command + 1
    fresh.told_step, fresh.told_node = fresh.step, fresh.node
    fresh.moment = 0.0 if seen is None else seen.moment
    st.session_state[name] = fresh
    return fresh


def _opening(trace: Trace, key: str) -> tuple[int, str]:
    """The frame that a link asked for, else the last; and a sentence if there is none such."""
    wanted = arrival.step(key=key)
    if wanted is None:
        return last(trace), ""
    at = clamp(trace, wanted)
    note = f"The link asks for step {wanted}; this walk ends at step {at}, which is shown."
    return at, note if at != wanted else ""


def _last_passage(trace: Trace) -> str | None:
    ends = {node.id for node in trace.nodes if node.kind in (NodeKind.QUERY, NodeKind.GOAL)}
    walked = [id for id in (*trace.result.evidence, *trace.result.path) if id not in ends]
    on_path = [id for id in trace.result.path if id not in ends]
    return next(reversed(on_path or walked), None)


def theme() -> str:
    """'dark' or 'light', as the browser shows it."""
    return "dark" if st.context.theme.type == "dark" else "light"


def held_key(key: str) -> str:
    """Where a page keeps the run that it holds; its opened traces hold in the same place."""
    return f"{key.removesuffix(':replay')}:held"


def stored_trace(key: str) -> Trace | None:
    """The trace that the page showed last, for controls that show what it found."""
    kept = st.session_state.get(f"{key}:run")
    return None if kept is None else kept[1]
