"""The studio of Graph RAG: its graph, its settings, its communities, and the theatre.

It is a fragment. The walk needs a graph of the corpus; `graph_rag_index` makes it in the
background and says what it costs before it does.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from tracert.errors import TracertError
from tracert.methods.graph_rag import GraphRagSettings
from tracert.methods.graph_rag.graph import Graph
from tracert.trace import Trace, Value
from tracert.ui import controls, resources
from tracert.ui.glossary import explain
from tracert.ui.live import Live
from tracert.ui.running import Asked, run
from tracert.ui.safe import literal
from tracert.ui.views import ending, graph_rag_communities, graph_rag_index, studio, theatre
from tracert.ui.views.theatre import Panel
from tracert.workspace import Workspace

NAME: Final = "graph_rag"
FIRST: Final = resources.FIRST
_SEARCHES: Final = {"local": "Local", "global": "Global"}
#: The settings of each search beside those that both have.
_OF: Final = {"local": ("entities", "neighbours"), "global": ("communities",)}
_REST: Final = {"local": ("within", "candidates_kept"), "global": ("candidates_kept",)}


@st.fragment
def show(space: Workspace, asked: Asked, *, key: str = NAME) -> None:
    """The graph, settings and theatre for what was asked."""
    try:
        made = graph_rag_index.show(space, asked, key=key)
        if made is None:
            return
        strip = st.container(border=True, gap="small")
        with strip:
            values, plane = _settings(made.graph, key=key)
        with st.spinner("Searching the graph…"):
            trace, live = run(space, asked, NAME, {**values, **made.settings}, kind=plane, key=key)
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    said(trace)
    theatre.show(trace, live, key=key, panels=_panels(key))
    studio.foot(space, asked, trace, plane, key=key)


def replay(trace: Trace, *, key: str = NAME) -> None:
    """The theatre of an opened trace, with what it tells of its graph."""
    graph_rag_index.told(trace)
    said(trace)
    theatre.show(trace, Live(), key=f"{key}:replay", panels=_panels(f"{key}:replay"))


def said(trace: Trace) -> None:
    """How it ended where it ended otherwise than with its passages; who rated, if not the model."""
    ending.show(trace, "rating_note")


def _panels(key: str) -> list[Panel]:
    show = partial(graph_rag_communities.show, key=key)
    return [Panel("The communities", explain("community"), "stage", show)]


def _settings(graph: Graph, *, key: str) -> tuple[dict[str, Value], studio.Plane]:
    kind = GraphRagSettings
    columns = st.columns([1, 1.75, 0.8, 0.8, 0.8, 1.25], gap="medium", vertical_alignment="bottom")
    values: dict[str, Value] = {}
    with columns[0]:
        search = values["search"] = _search(key=key)
    with columns[1]:
        values["level"] = _level(graph, key=key)
    names = ("k", *_OF[search])
    for column, name in zip(columns[2:5], names, strict=False):
        with column:
            values[name] = controls.control(kind, name, key=key)
    with columns[5], st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        plane = studio.plane(key=key)
        with st.popover("More", icon=":material/tune:", key=f"{key}:more"):
            values |= controls.controls(kind, _REST[search], key=key)
    return values, plane


def _search(*, key: str) -> str:
    field = controls.field_named(GraphRagSettings, "search")
    name = f"{key}:search"
    st.session_state.setdefault(name, field.default)
    chosen = st.segmented_control(
        "Search",
        list(_SEARCHES),
        format_func=_SEARCHES.__getitem__,
        required=True,
        key=name,
        help="Local starts at entities near the question and takes the passages that name them. "
        "Global rates the summaries of the communities and joins passages of the best.",
        persist_state="session",
    )
    return str(chosen or field.default)


def _level(graph: Graph, *, key: str) -> int:
    """The level of communities, of those that the graph has, each with its number of them."""
    held = max(graph.levels, 1)
    counts = [sum(each.level == level for each in graph.communities) for level in range(held)]
    name = f"{key}:level"
    now = st.session_state.get(name, 0)
    st.session_state[name] = min(now if isinstance(now, int) else 0, held - 1)
    chosen = st.segmented_control(
        "Level of communities",
        list(range(held)),
        format_func=lambda level: f"{level} · {counts[level]}",
        required=True,
        key=name,
        help="Level 0 has the largest communities; each further level divides them. Beside each "
        "level stands how many communities it has.",
        persist_state="session",
    )
    return int(chosen or 0)
