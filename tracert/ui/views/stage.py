"""The stage: the graph of the walk with its player."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tracert.render.network import payload
from tracert.trace import Trace
from tracert.ui import components
from tracert.ui.session import View, theme


@lru_cache(maxsize=8)
def _payload(trace: Trace) -> dict[str, Any]:
    return payload(trace)


def show(trace: Trace, view: View, *, key: str) -> None:
    """Draw the graph, and take over into the view what the person did there."""
    data = {
        **_payload(trace),
        "dark": theme() == "dark",
        "command": view.command,
        "step": view.told_step,
        "selected": view.told_node,
    }
    view.hear(components.stage(data, key=f"{key}:stage"), trace)
