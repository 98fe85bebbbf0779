"""The selected passage in its source, with the sentence nearest to the question marked."""

from __future__ import annotations

import streamlit as st

from tracert.corpus.sentences import sentence_spans
from tracert.render import tree
from tracert.render.frames import frame, last
from tracert.render.passage import nearest_sentence, pieces
from tracert.render.words import called, place, title
from tracert.trace import Node, NodeKind, Trace
from tracert.ui import components
from tracert.ui.live import Live, node_of
from tracert.ui.session import View
from tracert.ui.views import ask


def show(trace: Trace, view: View, live: Live, *, key: str) -> None:
    """The passage that is selected anywhere, as text in its surroundings."""
    if len(view.several) > 1:
        _choose(trace, view, live, key=key)
    node = node_of(trace, live, view.node)
    if node is None:
        st.caption("Select a node, a point or a row to read the passage here.")
        return
    query = tree.query_of(trace, node.id) if node.kind is NodeKind.HOP else None
    if query is not None and query.passage is not None:
        name = called(trace, frame(trace, last(trace)), query.passage)
        st.text(f"Query {query.name} was made with {name}, which stands here:")
        node = trace.node(query.passage)
    elif query is not None and query.step == 0:
        node = trace.node(tree.hidden(trace) or node.id)
    st.text(_title(trace, node))
    source(node, trace.question, live, key=key)
    if node.kind is NodeKind.CHUNK and live.ground is not None:
        _compare(node, key=key)


def _compare(node: Node, *, key: str) -> None:
    """On to the Compare page with the same question, this passage selected there."""
    if st.button(
        "Why, or why not, in other methods?",
        icon=":material/compare_arrows:",
        type="tertiary",
        key=f"{key}:compare",
    ):
        st.session_state["compare:wanted"] = node.id
        ask.stays()
        # Without parameters given, a switch would clear those that corpus and question hold.
        st.switch_page("pages/compare.py", query_params={})


def source(node: Node, question: str, live: Live, *, key: str) -> None:
    """The text of a node, in its document where that is at hand."""
    if node.kind in (NodeKind.QUERY, NodeKind.GOAL) or node.source is None:
        components.passage([("here", node.text)], key=f"{key}:passage")
        return
    span = nearest_sentence(node.text, sentence_spans(node.text), question, live.embed)
    document, at = live.document(node.id), node.source
    if document is not None and document[at.start : at.end] == node.text:
        parts = pieces(document, at.start, at.end, span)
    else:
        parts = pieces(node.text, 0, len(node.text), span)
    components.passage(parts, key=f"{key}:passage")
    st.caption("Marked: the sentence nearest to the question. Pale: the text around the passage.")


def _title(trace: Trace, node: Node) -> str:
    if node.kind is NodeKind.QUERY:
        return "The question"
    if node.kind is NodeKind.GOAL:
        return "The goal"
    now = frame(trace, last(trace))
    if node.kind is NodeKind.HOP:
        return called(trace, now, node.id).capitalize()
    number = now.order.get(node.id)
    name = called(trace, now, node.id).capitalize() if number else _aside(trace)
    return f"{name} · {place(node)}" if place(node) else name


def _aside(trace: Trace) -> str:
    return "Not kept" if tree.branches(trace) else "Not on the path"


def _choose(trace: Trace, view: View, live: Live, *, key: str) -> None:
    known = {id: node_of(trace, live, id) for id in view.several}
    ids = [id for id, node in known.items() if node is not None]
    labels = {id: title(node) for id, node in known.items() if node is not None}

    def chosen() -> None:
        view.select(st.session_state[name], several=view.several)

    name = f"{key}:several"
    st.selectbox(
        f"{len(ids)} passages selected",
        ids,
        index=ids.index(view.node) if view.node in ids else 0,
        format_func=lambda id: labels[id],
        key=name,
        on_change=chosen,
    )
