"""What the hops found: similarities of the kept passages, and the gold where it is known."""

from __future__ import annotations

from typing import Any

import streamlit as st

from tracert.evaluation.quoted import Gold, found_of
from tracert.render import tree
from tracert.render.frames import frame, last
from tracert.render.hop_table import similarity_rows
from tracert.render.numbers import count
from tracert.render.words import place, title
from tracert.trace import Trace
from tracert.ui import components, redraw
from tracert.ui.gold import Recall
from tracert.ui.live import Live, node_of
from tracert.ui.session import View, theme

_HELP = {
    "Found by": "The query that kept the passage: the question, or a moved query.",
    "To q": "Cosine to q, the query before: the one that q′ was made of.",
    "To q′": "Cosine to q′, the query that found the passage.",
    "To c": "Cosine to c, the passage that the gates saw when they made q′.",
}


def similarities(trace: Trace, view: View, *, key: str) -> None:
    """The cosines of the kept passages to q, q' and c; a row selects its passage."""
    rows = similarity_rows(trace)
    ids = rows.pop("id")
    if not ids:
        st.caption("No passage was kept.")
        return
    chart = f"{key}:similarities:{view.revision}"

    def selected() -> None:
        chosen = st.session_state[chart].selection.rows
        if chosen and 0 <= chosen[0] < len(ids):
            view.select(ids[chosen[0]])

    columns: dict[str, Any] = {
        name: st.column_config.NumberColumn(help=_HELP[name], format="%.3f", width="small")
        for name in ("To q", "To q′", "To c")
        if name in rows
    }
    columns["No."] = st.column_config.NumberColumn(width="small")
    columns["Passage"] = st.column_config.TextColumn(width="medium")
    columns["Found by"] = st.column_config.TextColumn(help=_HELP["Found by"], width="small")
    st.dataframe(
        rows,
        key=chart,
        hide_index=True,
        height=min(318, 38 + 35 * len(ids)),
        placeholder="–",
        on_select=selected,
        selection_mode="single-row",
        column_config=columns,
        alt="The kept passages with their cosines to the query before, the query that found them "
        "and the passage that this query was made of.",
    )
    st.caption(
        "A passage nearer to q′ than to q is one that the moved query brought into reach. "
        "Passages of the first hop have neither q nor c. Select a row to read it."
    )


def gold(
    trace: Trace, view: View, live: Live, gold: Gold, overall: Recall | None, *, key: str
) -> None:
    """Which gold passages the hops found, and which plain top-k did at the same number."""
    number = len(trace.result.evidence)
    ours = found_of(gold, trace.result.evidence)
    plain = live.plain.result.evidence if live.plain is not None else ()
    theirs = found_of(gold, plain)
    left, right = st.columns(2)
    many = len(gold)
    left.metric("Recall of the hops", f"{ours:.2f}", f"{ours - theirs:+.2f} to top-k")
    right.metric(f"Plain top-{number}", f"{theirs:.2f}")
    st.text(
        f"Of {count(many, 'gold passage')} the hops found {round(ours * many)}, plain top-k "
        f"{round(theirs * many)}, each with {count(number, 'passage')}."
    )
    if view.pick(components.cards(_cards(trace, view, live, gold, plain), key=f"{key}:gold")):
        redraw.fragment()
    if overall is not None:
        st.caption(
            f"With these settings over all {overall.questions} built-in questions: recall "
            f"{overall.hops:.3f}, plain top-k at the same number of passages {overall.plain:.3f}."
        )


def _cards(
    trace: Trace, view: View, live: Live, gold: Gold, plain: tuple[str, ...]
) -> dict[str, object]:
    order = frame(trace, last(trace)).order
    items = []
    for number, ids in enumerate(gold, start=1):
        found = next((id for id in trace.result.evidence if id in ids), None)
        shown = found or next(iter(sorted(ids)), None)
        node = node_of(trace, live, shown)
        items.append(
            {
                "id": shown,
                "badge": str(order[found]) if found in order else "–",
                "path": found is not None,
                "title": title(node) if node is not None else f"Gold passage {number}",
                "where": " · ".join(
                    part
                    for part in (
                        _by(trace, found),
                        _rank(ids, plain),
                        place(node) if node is not None else "",
                    )
                    if part
                ),
            }
        )
    return {
        "dark": theme() == "dark",
        "selected": view.node,
        "groups": [{"heading": "Gold passages, in the order of the hops", "items": items}],
    }


def _by(trace: Trace, id: str | None) -> str:
    query = None if id is None else tree.finder(trace, id)
    if query is None:
        return "the hops missed it"
    if query.step == 0:
        return "found by the question in hop 1"
    return f"found by {query.name} in hop {query.hop}"


def _rank(ids: frozenset[str], plain: tuple[str, ...]) -> str:
    rank = next((rank for rank, id in enumerate(plain, start=1) if id in ids), None)
    return "plain top-k missed it" if rank is None else f"rank {rank} of plain top-k"
