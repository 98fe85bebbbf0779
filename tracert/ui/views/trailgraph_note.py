"""The note in hand: what exploration shows of it, or its content, and its links as clicks."""

from __future__ import annotations

import streamlit as st

from tracert.corpus.sentences import sentence_spans
from tracert.errors import KnowledgeError
from tracert.knowledge.opened import OpenGraph
from tracert.render.notes import seen_before, titles
from tracert.render.passage import nearest_sentence
from tracert.trace import Node, NodeKind, Trace
from tracert.ui import components, redraw
from tracert.ui.live import Live, node_of
from tracert.ui.markdown import Safe, marked, resolver, safe_markdown
from tracert.ui.safe import literal
from tracert.ui.session import View, theme


def show(trace: Trace, view: View, live: Live, opened: OpenGraph | None, *, key: str) -> None:
    """The selected note as far as the walk has seen it; a button reads the rest."""
    node = node_of(trace, live, view.node)
    if node is None or node.kind is not NodeKind.NOTE:
        st.caption("Select a note in the graph, in a list or on the map to read it here.")
        if node is not None:
            st.text(node.text)
        return
    _head(trace, view, node)
    content = _content(node, opened, key=key)
    names = {path: title for path, title in titles(trace).items() if path != "query"}
    if opened is not None:
        names = {path: opened.note(path).title for path in opened.paths}
    body = safe_markdown(content or node.text, resolver(node.id, names))
    if content is None:
        st.markdown(body.text)
        st.caption("Summary and key points: all that exploration shows of a note.")
        if opened is not None and node.id in opened.row:
            _read_in_full(node.id, key=key)
    else:
        _full(trace, body, live)
    _links(node, body, view, opened, names, key=key)


def _head(trace: Trace, view: View, node: Node) -> None:
    seen = seen_before(trace, view.step)
    score = seen.get(node.id)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{literal(node.label)}**", width="content")
        if node.id not in seen:
            st.badge("Not revealed at this step", color="gray", icon=":material/visibility_off:")
        elif node.source is not None:
            st.badge("Opened by the walk", color="orange", icon=":material/menu_book:")
        else:
            st.badge("Seen in exploration", color="blue", icon=":material/visibility:")
        if score is not None:
            st.badge(f"Score {score:.0f}", color="violet")
    st.text(node.id)


def _content(node: Node, opened: OpenGraph | None, *, key: str) -> str | None:
    """The full content if the walk opened the note or the person asked for it."""
    if node.source is not None:
        return node.text
    if opened is None or st.session_state.get(f"{key}:full") != node.id:
        return None
    try:
        return opened.graph.content(node.id)
    except KnowledgeError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return None


def _read_in_full(path: str, *, key: str) -> None:
    def read() -> None:
        st.session_state[f"{key}:full"] = path

    st.button("Read the whole note", key=f"{key}:read", on_click=read, icon=":material/menu_book:")


def _full(trace: Trace, body: Safe, live: Live) -> None:
    cited = ""
    answer = trace.result.answer
    texts = [] if answer is None else [sentence.text for sentence in answer.sentences]
    cited = next((text for text in texts if text in body.text), "")
    if not cited:
        spans = sentence_spans(body.text)[:400]
        span = nearest_sentence(body.text, spans, trace.question, live.embed)
        cited = body.text[span[0] : span[1]] if span else ""
    with st.container(height=320, border=False):
        st.markdown(marked(body.text, cited))
    if cited:
        st.caption("Marked: the sentence that the answer cites, or the nearest to the question.")


def _links(
    node: Node,
    body: Safe,
    view: View,
    opened: OpenGraph | None,
    names: dict[str, str],
    *,
    key: str,
) -> None:
    groups: list[tuple[str, tuple[str, ...]]] = [("Linked in the text", body.links)]
    if opened is not None and node.id in opened.row:
        note = opened.note(node.id)
        groups = [
            ("Parent", (note.parent,) if note.parent else ()),
            ("Children", note.children),
            ("Related", note.related),
            *groups,
        ]
    data = {
        "dark": theme() == "dark",
        "selected": view.node,
        "groups": [
            {
                "heading": heading,
                "count": len(paths),
                "items": [{"id": path, "title": names.get(path, path)} for path in paths],
            }
            for heading, paths in groups
            if paths
        ],
    }
    if data["groups"] and view.pick(components.cards(data, key=f"{key}:links")):
        redraw.fragment()
