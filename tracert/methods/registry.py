"""The methods by name: the one table that pages, command line and tests read."""

from __future__ import annotations

from tracert.errors import SettingError
from tracert.methods.base import Method
from tracert.methods.graph_rag import GraphRag
from tracert.methods.iterative_rewrite import IterativeRewrite
from tracert.methods.native_rag import NativeRag
from tracert.methods.tracert_rag import TracertRag
from tracert.methods.trailgraph import TrailGraph
from tracert.methods.treehop import TreeHop


def methods() -> dict[str, Method]:
    """All methods in the order in which they are shown, the baseline first."""
    table: tuple[Method, ...] = (
        NativeRag(),
        TracertRag(),
        TreeHop(),
        TrailGraph(),
        IterativeRewrite(),
        GraphRag(),
    )
    return {method.name: method for method in table}


def method(name: str) -> Method:
    """The method of that name.

    Raises:
        SettingError: there is none; the text names those that exist.
    """
    table = methods()
    if name not in table:
        raise SettingError(f"There is no method {name!r}. Supported: {', '.join(table)}.")
    return table[name]
