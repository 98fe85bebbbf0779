"""The same text as a document and as a markdown graph: one question, both forms, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import streamlit as st

from tracert.errors import TracertError
from tracert.knowledge.opened import OpenGraph
from tracert.render.compare_looks import short
from tracert.render.numbers import count
from tracert.ui import notes, resources
from tracert.ui.running import Asked
from tracert.ui.safe import literal
from tracert.ui.session import View
from tracert.ui.views import (
    builtin,
    compare_answers,
    compare_found,
    compare_map,
    compare_why,
    studio,
    trailgraph_note,
)
from tracert.ui.views import passage as passage_view
from tracert.ui.views.compare_runs import Chosen, Compared, compare, compare_notes, selection
from tracert.workspace import BUILTIN, Workspace

#: The methods on the side of the document.
DOCUMENT: Final = ("tracert_rag", "treehop")
#: What both sides may return: the notes give an answer at most so many.
OPENING, LARGEST = 8, 20
#: The examples that lead, by id: both forms find gold there, by different ways.
FIRST: Final = ("A14", "A16", "A10")


@dataclass(frozen=True, slots=True)
class Pair:
    """A built-in question with the paths of its gold notes."""

    question: str
    hops: int
    notes: tuple[str, ...]


@st.cache_data(show_spinner=False)
def questions() -> list[Pair]:
    """The built-in questions with gold passages and gold notes; those of `FIRST` lead."""
    return [
        Pair(row["question"], row["hops"], tuple(row["notes"]))
        for row in resources.questions(FIRST)
    ]


def show(space: Workspace, *, key: str) -> None:
    """The pair on a question: the document with its methods, the notes with TrailGraph."""
    known, folder = questions(), notes.builtin_notes()
    record = next((one for one in space.corpora() if one.name == BUILTIN), None)
    if not known or folder is None:
        st.info("The built-in text is not beside this installation.", icon=":material/info:")
        return
    if record is None:
        st.info("The built-in text is not loaded.", icon=":material/auto_stories:")
        builtin.offer(space, key=key)
        return
    pair, budget = _asked(known, key=key)
    if pair is None:
        return
    try:
        with st.spinner("Both are opened and searched…"):
            opened = space.open_notes(folder, name=notes.BUILTIN)
            text = compare(
                space, Asked(record, pair.question), Chosen(DOCUMENT, budget), key=f"{key}:text"
            )
            graph = compare_notes(
                space,
                opened,
                pair.question,
                Chosen((notes.NAME,), budget),
                pair.notes,
                key=f"{key}:graph",
            )
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    theatre(text, graph, key=key)
    studio.await_fit(
        lambda: "fitting" in (space.map_status(BUILTIN).state, space.notes_map_status(opened).state)
    )


def _asked(known: list[Pair], *, key: str) -> tuple[Pair | None, int]:
    by_text = {pair.question: pair for pair in known}
    left, right = st.columns([5, 2], gap="medium", vertical_alignment="bottom")
    with left:
        asked = st.selectbox(
            "Question",
            list(by_text),
            format_func=lambda text: (
                f"{text} ({count(by_text[text].hops, 'hop')})" if text in by_text else text
            ),
            accept_new_options=True,
            key=f"{key}:question",
            persist_state="session",
            help="A question of the built-in text, whose gold is known, or one of your own.",
        )
    with right:
        budget = st.slider(
            "Passages or notes for each",
            1,
            LARGEST,
            OPENING,
            key=f"{key}:budget",
            persist_state="session",
            help="So many at most are returned by each method on either side.",
        )
    if asked is None or not asked.strip():
        st.info("Choose a question, or type one.", icon=":material/edit:")
        return None, int(budget)
    return by_text.get(asked, Pair(asked.strip(), 0, ())), int(budget)


@st.fragment
def theatre(text: Compared, graph: Compared, *, key: str) -> None:
    """Both forms, each with its own selection."""
    views = [selection(one, key=f"{key}:{one.unit}") for one in (text, graph)]
    both = list(zip((text, graph), views, strict=True))
    for column, (compared, view) in zip(st.columns(2, gap="medium"), both, strict=True):
        with column, st.container(border=True):
            _form(compared, view, key=f"{key}:{compared.unit}")
    for column, (compared, view) in zip(st.columns(2, gap="medium"), both, strict=True):
        with column, st.container(border=True):
            st.subheader(f"The {compared.unit} in its source", anchor=False)
            _source(compared, view, key=f"{key}:{compared.unit}")
    with st.container(border=True):
        st.subheader("The answers", anchor=False)
        columns = st.columns(3, gap="medium")
        ones = [(one, view) for compared, view in both for one in compared.entries]
        for column, (one, view) in zip(columns, ones, strict=False):
            with column:
                st.markdown(f"**{short(one.method)}**")
                compare_answers.one_(one, view, key=key)


def _form(compared: Compared, view: View, *, key: str) -> None:
    size = compared.over.info.size
    if compared.unit == "note":
        st.subheader(f"As a markdown graph: {count(size, 'note')}", anchor=False)
        st.caption(
            "The same content as notes with links: TrailGraph enters, follows what scores best, "
            "and opens a note in full only where it fits."
        )
    else:
        st.subheader(f"As a document: {count(size, 'passage')}", anchor=False)
        st.caption(
            "Chapters cut into passages, with no links: Tracert walks towards a goal, TreeHop "
            "moves the question."
        )
    compare_found.board(compared, view, key=key)
    compare_map.show(compared, view, key=key)
    compare_found.matrix(compared, view, key=key)
    with st.expander(f"Why not this {compared.unit}?", icon=":material/help_center:"):
        compare_why.show(compared, view, key=f"{key}:why")


def _source(compared: Compared, view: View, *, key: str) -> None:
    node = None if view.node is None else compare_found.nodes(compared)(view.node)
    if node is None:
        st.caption(f"Select a {compared.unit} to read it here.")
    elif compared.unit == "note":
        opened = compared.over if isinstance(compared.over, OpenGraph) else None
        trace = compared.entries[0].trace
        trailgraph_note.show(trace, view, compared.live, opened, key=key)
    else:
        passage_view.source(node, compared.question, compared.live, key=key)
