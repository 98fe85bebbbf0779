"""The answer with its citations, and plain top-k beside the walk."""

from __future__ import annotations

import streamlit as st

from tracert.render import tree
from tracert.render.frames import frame, last
from tracert.render.tables import compare, cost_line
from tracert.render.words import place, title
from tracert.render.words.base import unit
from tracert.trace import Trace
from tracert.ui import components, redraw
from tracert.ui.live import Live, node_of
from tracert.ui.session import View, theme


def _numbers(trace: Trace) -> dict[str, int]:
    """The number of each passage of the evidence: its place on the path, else after it."""
    order = dict(frame(trace, last(trace)).order)
    for id in trace.result.evidence:
        order.setdefault(id, len(order) + 1)
    return order


def show(trace: Trace, view: View, *, key: str) -> None:
    """The answer, each sentence with the passages that it cites; a citation selects one."""
    answer = trace.result.answer
    if answer is None or not answer.sentences:
        st.caption("There is no answer, since no passage was found to answer from.")
        return
    numbers = _numbers(trace)
    data = {
        "dark": theme() == "dark",
        "selected": None,
        "prose": [
            {
                "text": sentence.text,
                "cites": [
                    {"id": id, "number": str(numbers.get(id, "·")), "title": place(trace.node(id))}
                    for id in sentence.citations
                    if any(node.id == id for node in trace.nodes)
                ],
                "unknown": list(sentence.unknown),
            }
            for sentence in answer.sentences
        ],
    }
    if view.pick(components.cards(data, key=f"{key}:answer")):
        redraw.fragment()
    source = (
        f"Extract: the best sentences of the {unit(trace)}s, word for word. No model wrote this."
        if answer.source == "extract"
        else f"Written by {answer.source} from the {unit(trace)}s found."
    )
    st.text(source + (f" {answer.note}" if answer.note and answer.source != "extract" else ""))


def beside(trace: Trace, view: View, live: Live, *, key: str) -> None:
    """What the walk and plain top-k both found, and what each alone, at the same number."""
    plain = live.plain
    if plain is None:
        st.caption("Plain top-k needs the corpus; this trace was opened without it.")
        return
    found = compare(trace.result.evidence, plain.result.evidence)
    numbers = _numbers(trace)
    ranks = {id: rank for rank, id in enumerate(plain.result.evidence, start=1)}

    def items(ids: tuple[str, ...]) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = []
        for id in ids:
            node = node_of(trace, live, id) or plain.node(id)
            where = place(node)
            if id in ranks:
                where += f" · rank {ranks[id]} of plain top-k"
            rows.append(
                {
                    "id": id,
                    "badge": str(numbers[id]) if id in numbers else "–",
                    "path": id in numbers,
                    "title": title(node),
                    "where": where,
                }
            )
        return rows

    walk = "the hops" if tree.branches(trace) else "the path"
    own = f"{walk.capitalize()} found nothing of {'their' if walk == 'the hops' else 'its'} own."
    groups = [
        ("Both found", found.both, "Nothing in common."),
        (f"Only {walk} found", found.only_path, own),
        ("Only plain top-k found", found.only_plain, "Plain top-k found nothing of its own."),
    ]
    data = {
        "dark": theme() == "dark",
        "selected": view.node,
        "groups": [
            {"heading": heading, "count": len(ids), "empty": empty, "items": items(ids)}
            for heading, ids, empty in groups
        ],
    }
    if view.pick(components.cards(data, key=f"{key}:beside")):
        redraw.fragment()


def spent(trace: Trace) -> None:
    """What the run cost."""
    st.caption(f"Spent: {cost_line(trace)}")
