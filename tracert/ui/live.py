"""What lies behind a trace while its corpus is at hand; an opened trace has less of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tracert.render.map import Ground
from tracert.render.passage import Embed
from tracert.trace import Node, Trace, Vector


def _nothing(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Live:
    """The corpus behind a trace, as far as views need it; all of it may be missing.

    `document` gives the text of the document in which a passage stands, by the passage's id;
    `node` a passage that the trace does not name; `plain` is plain top-k at the same number
    of passages; `near` gives the ids of the passages whose vectors are nearest to a vector,
    with their cosines. `map_note` says what the map is, or why there is none yet.
    """

    ground: Ground | None = None
    document: Callable[[str], str | None] = _nothing
    node: Callable[[str], Node | None] = _nothing
    embed: Embed | None = None
    plain: Trace | None = None
    near: Callable[[Vector, int], list[tuple[str, float]]] | None = None
    map_note: str = ""


def node_of(trace: Trace, live: Live, id: str | None) -> Node | None:
    """The node of that id, from the trace or from the corpus behind it."""
    if id is None:
        return None
    return next((node for node in trace.nodes if node.id == id), None) or live.node(id)
