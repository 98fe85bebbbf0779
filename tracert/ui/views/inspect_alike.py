"""Passages that are alike: equal texts, and pairs of vectors above a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from tracert.inspecting import MOST_COMPARED, Alike
from tracert.render.numbers import count
from tracert.snapshot import Snapshot
from tracert.ui import components
from tracert.ui.glossary import explain
from tracert.ui.inspected import alike_of, same_of
from tracert.ui.views.inspect_passages import called, title

_SHOWN: Final = 20


def show(snapshot: Snapshot, *, key: str) -> None:
    """Equal texts first, then what is nearly so."""
    _equal(snapshot, same_of(snapshot), key=key)
    st.subheader("Nearly the same", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        threshold = st.slider(
            "Least cosine",
            0.5,
            1.0,
            0.95,
            0.01,
            key=f"{key}:threshold",
            help=explain("cosine"),
            persist_state="session",
        )
        overlapping = st.toggle(
            "With pairs that share text",
            key=f"{key}:overlapping",
            help="Two passages in a row share as many characters as the overlap, which makes "
            "them alike without telling anything of the text.",
            persist_state="session",
        )
    found = alike_of(snapshot, float(threshold), bool(overlapping))
    _tell(found)
    if not found.pairs:
        return
    chunks = {
        chunk.id: chunk
        for pair in found.pairs
        for chunk in snapshot.chunks([pair.left, pair.right])
    }
    ids = [(snapshot.ids[pair.left], snapshot.ids[pair.right]) for pair in found.pairs]
    event = st.dataframe(
        {
            "Cosine": [pair.cosine for pair in found.pairs],
            "One": [title(chunks[one]) for one, _ in ids],
            "The other": [title(chunks[other]) for _, other in ids],
            "Where the one is": [called(chunks[one]) for one, _ in ids],
            "Where the other is": [called(chunks[other]) for _, other in ids],
        },
        hide_index=True,
        key=f"{key}:pairs:{snapshot.info.fingerprint[:12]}:{threshold}:{overlapping}",
        on_select="rerun",
        selection_mode="single-row",
        height=min(340, 38 + 35 * len(ids)),
        column_config={
            "Cosine": st.column_config.NumberColumn(format="%.3f", width="small"),
            "One": st.column_config.TextColumn(width="large"),
            "The other": st.column_config.TextColumn(width="large"),
        },
        alt="Pairs of passages that are nearly the same.",
    )
    rows = event.selection.rows
    at = rows[0] if rows and rows[0] < len(ids) else 0
    st.caption("Select a pair to read it." if not rows else "The pair that is selected:")
    for place, id in zip(st.columns(2, gap="large"), ids[at], strict=True):
        with place:
            chunk = chunks[id]
            st.text(called(chunk))
            components.passage([("here", chunk.text)], key=f"{key}:{place_key(id, ids[at])}")


def place_key(id: str, pair: tuple[str, str]) -> str:
    """Which of the two it is."""
    return "one" if id == pair[0] else "other"


def _equal(snapshot: Snapshot, groups: Sequence[tuple[int, ...]], *, key: str) -> None:
    st.subheader("The same text", anchor=False)
    if not groups:
        st.caption("No two passages have the same text.")
        return
    more = sum(len(group) - 1 for group in groups)
    st.text(
        f"{count(len(groups), 'text')} {'stands' if len(groups) == 1 else 'stand'} more than "
        f"once: {count(more, 'passage')} could go "
        "without loss. White space is not counted."
    )
    first = [snapshot.chunks([group[0]])[0] for group in groups[:_SHOWN]]
    places = [
        [called(chunk) for chunk in snapshot.chunks(list(group[:5]))] for group in groups[:_SHOWN]
    ]
    st.dataframe(
        {
            "Times": [len(group) for group in groups[:_SHOWN]],
            "Text": [title(chunk) for chunk in first],
            "Where": ["; ".join(some) for some in places],
        },
        hide_index=True,
        key=f"{key}:same",
        column_config={
            "Text": st.column_config.TextColumn(width="large"),
            "Where": st.column_config.TextColumn(width="large"),
        },
        height=min(250, 38 + 35 * len(first)),
        alt="Texts that stand more than once.",
    )
    if len(groups) > _SHOWN:
        st.caption(f"The {_SHOWN} most frequent of {len(groups):,} are shown.")


def _tell(found: Alike) -> None:
    if not found.found:
        st.text("No two passages are that near. Move the slider down to see the nearest.")
    elif found.found > len(found.pairs):
        st.text(f"{found.found:,} pairs, of which the nearest {len(found.pairs):,} are shown.")
    else:
        st.text(f"{count(found.found, 'pair')}.")
    if found.compared < found.passages:
        st.caption(
            f"{found.compared:,} of {found.passages:,} passages, evenly spread, were compared with "
            f"one another: more than {MOST_COMPARED:,} would take long. There are more pairs."
        )
