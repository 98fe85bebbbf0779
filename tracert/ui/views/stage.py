"""The stage: the graph of the walk with its player."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tracert.render.network import payload
from tracert.render.notes import of_notes, tree_payload
from tracert.trace import Trace
from tracert.ui import components
from tracert.ui.session import View, theme


@lru_cache(maxsize=8)
def _payload(trace: Trace) -> dict[str, Any]:
    made = payload(trace)
    return tree_payload(trace, made) if of_notes(trace) else made


def show(trace: Trace, view: View, *, key: str, overlay: Mapping[str, Any] | None = None) -> None:
    """Draw the graph, and take over into the view what the person did there.

    `overlay` is a second trail over the walk: {label, moves [[from, to]]}.
    """
    made = _payload(trace)
    data = {
        **made,
        "dark": theme() == "dark",
        "question": trace.question,
        "command": view.command,
        "step": view.told_step,
        "selected": view.told_node,
    }
    if overlay is not None:
        data["overlay"] = overlay
    known = {node["id"] for node in made["nodes"]}
    view.hear(components.stage(data, key=f"{key}:stage"), trace, known)
