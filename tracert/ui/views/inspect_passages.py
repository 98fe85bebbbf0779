"""The passages of a corpus as a table, one of them in its source, and its neighbours."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import streamlit as st

from tracert.corpus.model import Chunk
from tracert.inspecting import Lengths, Near, beside, nearest
from tracert.render.numbers import count
from tracert.render.passage import pieces
from tracert.render.words.base import upright
from tracert.snapshot import Snapshot
from tracert.trace import leaf_of
from tracert.ui import components
from tracert.ui.glossary import explain
from tracert.ui.inspected import measure, texts_of
from tracert.ui.session import theme

#: Rows of the table sent to the browser at once.
MOST_ROWS: Final = 500
_BEGINNING: Final = 160
_ORDERS: Final = ("As in the text", "Longest first", "Shortest first")
_ALL: Final = "All documents"


def show(snapshot: Snapshot, *, key: str) -> None:
    """The table with its search; below it the passage that is selected."""
    measured, texts = measure(snapshot), texts_of(snapshot)
    rows = _found(snapshot, measured, texts, key=key)
    if not rows:
        st.info("No passage has that. Take another word, or clear the search.")
        return
    most = len(rows)
    first = 0
    if most > MOST_ROWS:
        pages = -(-most // MOST_ROWS)
        page = st.number_input(
            f"Page of the table (1 to {pages:,})", 1, pages, 1, key=f"{key}:page:{pages}"
        )
        first = (int(page) - 1) * MOST_ROWS
    shown = rows[first : first + MOST_ROWS]
    ids = [snapshot.ids[row] for row in shown]

    def chosen() -> None:
        picked = st.session_state[table].selection.rows
        if picked and picked[0] < len(ids):
            select(ids[picked[0]])

    table = f"{key}:table:{snapshot.info.fingerprint[:12]}"
    st.dataframe(
        _columns(snapshot, measured, shown),
        hide_index=True,
        key=table,
        on_select=chosen,
        selection_mode="single-row",
        height=min(340, 38 + 35 * len(shown)),
        column_config={"Text": st.column_config.TextColumn(width="large")},
        alt="The passages of the corpus.",
    )
    said = count(len(texts), "passage") if most == len(texts) else f"{most:,} of {len(texts):,}"
    st.caption(
        f"{said}. Select a row to read it in its source. A click on a column's head sorts what is "
        "shown."
    )
    row = snapshot.ids.row(str(st.session_state.get(_SELECTED, "")))
    if row is None:
        row = shown[0]
    st.divider()
    left, right = st.columns([3, 2], gap="large")
    with left:
        _in_source(snapshot, measured, row, key=key)
    with right:
        _neighbours(snapshot, row, key=key)


_SELECTED: Final = "inspect:selected"
_MOMENT: Final = "inspect:moment"


def select(id: str) -> None:
    """Make a passage the one that is read."""
    st.session_state[_SELECTED] = id


def rows_table(snapshot: Snapshot, measured: Lengths, rows: list[int], *, key: str) -> None:
    """A few passages as a table."""
    st.dataframe(
        _columns(snapshot, measured, rows),
        hide_index=True,
        key=key,
        column_config={"Text": st.column_config.TextColumn(width="large")},
        alt="Some passages of the corpus.",
    )


def called(chunk: Chunk) -> str:
    """Where a passage stands: document, page, headings."""
    leaf = leaf_of(chunk.document, chunk.page)
    heading = " › ".join(chunk.heading_path)
    number = f"no. {chunk.position + 1}"
    return upright(" · ".join(part for part in (chunk.document, number, leaf, heading) if part))


def title(chunk: Chunk) -> str:
    """The beginning of a passage on one line."""
    words = " ".join(upright(chunk.text[: 2 * _BEGINNING]).split())
    return words if len(words) <= _BEGINNING else words[: _BEGINNING - 1].rstrip() + "…"


def _found(snapshot: Snapshot, measured: Lengths, texts: list[str], *, key: str) -> list[int]:
    """The rows that the search, the document and the order give."""
    documents = snapshot.record.documents
    with st.container(horizontal=True, vertical_alignment="bottom"):
        asked = st.text_input(
            "Search the passages",
            key=f"{key}:search",
            placeholder="A word or a part of one",
            icon=":material/search:",
        )
        name = _ALL
        if len(documents) > 1:
            names = [_ALL, *(document.name for document in documents)]
            name = st.selectbox("Document", names, key=f"{key}:document")
        order = st.selectbox("Order", _ORDERS, key=f"{key}:order")
    rows = np.arange(len(texts))
    if name != _ALL:
        index = next(at for at, each in enumerate(documents) if each.name == name)
        rows = rows[snapshot.documents[rows] == index]
    wanted = asked.strip().casefold()
    if wanted:
        rows = np.array([row for row in rows.tolist() if wanted in texts[row].casefold()], int)
    if order != _ORDERS[0]:
        lengths = measured.characters[rows]
        rows = rows[np.argsort(-lengths if order == _ORDERS[1] else lengths, kind="stable")]
    found: list[int] = rows.tolist()
    return found


def _columns(snapshot: Snapshot, measured: Lengths, rows: list[int]) -> dict[str, list[Any]]:
    chunks = snapshot.chunks(rows)
    table: dict[str, list[Any]] = {
        "No.": [chunk.position + 1 for chunk in chunks],
        "Text": [title(chunk) for chunk in chunks],
        "Characters": measured.characters[rows].tolist(),
        "Words": measured.words[rows].tolist(),
    }
    if measured.tokens is not None:
        table["Tokens"] = measured.tokens[rows].tolist()
    if len(snapshot.record.documents) > 1:
        table["Document"] = [chunk.document for chunk in chunks]
    if any(chunk.page is not None for chunk in chunks):
        table["Page"] = [chunk.page for chunk in chunks]
    if any(chunk.heading_path for chunk in chunks):
        table["Heading"] = [" › ".join(chunk.heading_path) for chunk in chunks]
    return table


def _in_source(snapshot: Snapshot, measured: Lengths, row: int, *, key: str) -> None:
    chunk = snapshot.chunks([row])[0]
    st.text(called(chunk))
    text = snapshot.document_text(chunk.document_fingerprint)
    components.passage(
        pieces(text, chunk.start, chunk.end, None), key=f"{key}:source", label=called(chunk)
    )
    tokens = "" if measured.tokens is None else f", {count(int(measured.tokens[row]), 'token')}"
    st.caption(
        f"{count(int(measured.characters[row]), 'character')} "
        f"({chunk.start:,} to {chunk.end:,} of {len(text):,}), "
        f"{count(int(measured.words[row]), 'word')}{tokens}. "
        "Pale: the text around the passage."
    )


def _neighbours(snapshot: Snapshot, row: int, *, key: str) -> None:
    before, after = beside(snapshot, row)
    data = {
        "dark": theme() == "dark",
        "selected": snapshot.ids[row],
        "groups": [
            {
                "heading": "Next to it in the text",
                "items": [_card(snapshot, near) for near in (before, after) if near is not None],
                "empty": "It is the only passage of its document.",
            },
            {
                "heading": "Nearest in the vector space",
                "items": [_card(snapshot, near) for near in nearest(snapshot, row)],
                "empty": "There is no other passage.",
            },
        ],
    }
    pick = components.cards(data, key=f"{key}:neighbours")
    if pick is not None and pick["moment"] > st.session_state.get(_MOMENT, 0.0):
        st.session_state[_MOMENT] = pick["moment"]
        if snapshot.ids.row(str(pick["id"])) is not None:
            select(str(pick["id"]))
            st.rerun()
    st.caption(
        "The number is the cosine of the two vectors. Click a passage to go there.",
        help=explain("cosine"),
    )


def _card(snapshot: Snapshot, near: Near) -> dict[str, str]:
    chunk = snapshot.chunks([near.row])[0]
    return {
        "id": chunk.id,
        "badge": f"{near.cosine:.2f}",
        "title": title(chunk),
        "where": called(chunk),
    }
