"""Sharing a run: a link to it, and files that need neither this app nor a network."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl

import streamlit as st

from tracert.methods.registry import method
from tracert.render.export.graphml import to_graphml
from tracert.render.export.markdown import to_markdown
from tracert.render.export.page import to_page
from tracert.render.frames import last
from tracert.render.network import export_html
from tracert.trace import NodeKind, Trace
from tracert.ui import arrival, components
from tracert.ui.link import Link, query
from tracert.ui.session import View
from tracert.ui.views.files import file_name


def link_of(trace: Trace, view: View, *, key: str) -> Link:
    """The link to what the page shows: as it was asked where that is known, else as it ran."""
    asked, values = st.session_state.get(f"{key}:settings", (None, {}))
    typed = bool(trace.steps) and trace.steps[0].values.get("goal_source") == "typed"
    goals = st.session_state.get("goal", {})
    goal = next((node.text for node in trace.nodes if node.kind is NodeKind.GOAL), None)
    goal = goals.get((trace.corpus.fingerprint, trace.question), goal)
    return Link(
        corpus=trace.corpus.name,
        fingerprint=trace.corpus.fingerprint,
        question=trace.question,
        method=trace.method,
        settings=values if asked == trace.method else trace.settings,
        step=view.step if view.step != last(trace) else None,
        goal=goal if typed else None,
    )


def show(trace: Trace, view: View, *, key: str) -> None:
    """The popover of all ways to share this run."""
    link = link_of(trace, view, key=key)
    address = query(link, method(trace.method).settings_type)
    arrival.keep_true(dict(parse_qsl(address)))
    with st.popover("Share and export", icon=":material/ios_share:", key=f"{key}:share"):
        st.markdown("**A link to this run at this step**")
        components.link(address, key=f"{key}:link")
        st.caption(
            "It names corpus, question, changed settings and step. Whoever opens it needs the "
            "same corpus; a file below needs nothing."
        )
        st.markdown("**Files**")
        _file(
            "The run as a web page",
            lambda: to_page(trace),
            file_name(trace, ".html"),
            "text/html",
            ":material/web:",
            "Graph, player, map, tables, answer and all passages in one file. It needs no "
            "network, and prints well.",
            key=f"{key}:page",
        )
        _file(
            "The path as Markdown",
            lambda: to_markdown(trace),
            file_name(trace, ".md"),
            "text/markdown",
            ":material/markdown:",
            "The walk in words, its passages with their sources, and the answer.",
            key=f"{key}:markdown",
        )
        _file(
            "The graph as GraphML",
            lambda: to_graphml(trace),
            file_name(trace, ".graphml"),
            "application/xml",
            ":material/hub:",
            "Nodes and edges with all their numbers, for Gephi, yEd, Cytoscape or networkx.",
            key=f"{key}:graphml",
        )
        _file(
            "The graph alone as a web page",
            lambda: export_html(trace),
            file_name(trace, "-graph.html"),
            "text/html",
            ":material/share:",
            "The last step of the graph by itself, without any text of the documents.",
            key=f"{key}:graph",
        )
        st.caption(
            "A picture: 'PNG' above the graph, and the camera at the top right of the map. The "
            "trace itself is saved below the page."
        )


def _file(
    label: str,
    make: Callable[[], str],
    name: str,
    mime: str,
    icon: str,
    about: str,
    *,
    key: str,
) -> None:
    """A button that makes a file on the click."""
    st.download_button(
        label, make, name, mime, key=key, icon=icon, help=about, on_click="ignore", width="stretch"
    )
