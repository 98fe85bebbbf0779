"""The studio of TrailGraph: its notes, its settings, who walks, and the theatre under them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from tracert.errors import KnowledgeError, TracertError
from tracert.knowledge.opened import OpenGraph
from tracert.methods.registry import method
from tracert.methods.trailgraph.session import pending
from tracert.render.words import title, words_for
from tracert.render.words.base import upright
from tracert.trace import Step, StopReason, Trace, Value
from tracert.ui import arrival, controls, notes
from tracert.ui.glossary import explain
from tracert.ui.live import Live
from tracert.ui.notes import NAME, AskedNotes, Kind, Ran
from tracert.ui.safe import literal
from tracert.ui.views import examples as examples_view
from tracert.ui.views import (
    files,
    knowledge,
    knowledge_make,
    missing,
    trailgraph_hand,
    trailgraph_theatre,
)
from tracert.workspace import Workspace

_STRIP = ("scoring", "beam", "entries", "max_hops")
_MACHINE, _PERSON = "Watch the machine", "You are the agent"
#: Examples shown as buttons.
_EXAMPLES = 3
_ABOUT = "Questions of the built-in notes, with their number of hops"


def ask(space: Workspace, *, key: str = NAME) -> AskedNotes | None:
    """The top of the page: notes, question, examples, loading and checks."""
    knowledge.settle()
    shelf = _shelf(space)
    arrival.arrive(method(NAME), shelf, key=key)
    if missing.show(shelf, key=key, method=NAME):
        return None
    arrival.notices(key=key)
    left, middle, last, right = st.columns([2.2, 5, 1, 1.5], vertical_alignment="bottom")
    with left:
        source = knowledge.choose()
    with right:
        knowledge.load(space, key=key)
    opened = None
    if source is not None:
        try:
            if not source.folder.is_dir():
                raise KnowledgeError(f"{source.name} is no longer there. Load the notes again.")
            with left, st.spinner("Reading the notes; the first time takes a while…"):
                opened = space.open_notes(source.folder, name=source.name)
        except TracertError as error:
            st.error(literal(str(error)), icon=":material/error:")
    with middle:
        examples = notes.examples() if source and source.name == notes.BUILTIN else []
        question = _question(examples[0].text if examples else "", key=key)
    with last:
        st.button("Ask", type="primary", width="stretch", key=f"{key}:ask")
    if examples:
        examples_view.show(examples, _EXAMPLES, f"{key}:question", _ABOUT, key=key)
    if opened is not None and source is not None:
        knowledge.checks(opened, source, key=key)
    knowledge_make.workshop(space, key=f"{key}:make")
    if opened is None:
        if source is None:
            st.info(
                "There are no notes yet. Load a folder or a zip of notes, or make notes of a "
                "document.",
                icon=":material/account_tree:",
            )
        files.open_(key=key, method=NAME)
        return None
    if not question.strip():
        st.info(
            f"{literal(opened.info.name)} is ready: {opened.info.size:,} notes. Type a question.",
            icon=":material/edit:",
        )
        files.open_(key=key, method=NAME)
        return None
    return AskedNotes(opened, question.strip())


def _shelf(space: Workspace) -> arrival.Shelf:
    """The notes of the session; the state of each is known once they are open."""
    known = notes.shelf()

    def fingerprint(name: str) -> str:
        return space.open_notes(known[name].folder, name=name).info.fingerprint

    return arrival.Shelf(list(known), fingerprint, knowledge.CHOSEN, f"{NAME}:question")


def _question(default: str, *, key: str) -> str:
    name = f"{key}:question"
    if name not in st.session_state:
        st.session_state[name] = default
    return st.text_input(
        "Question",
        key=name,
        placeholder="Ask something that one of the notes answers",
        max_chars=2000,
        persist_state="session",
    )


# --- the walk ---------------------------------------------------------------------------------


@st.fragment
def show(space: Workspace, asked: AskedNotes, *, key: str = NAME) -> None:
    """Settings, and the machine's theatre or the person's walk."""
    with st.container(border=True, gap="small"):
        chosen = _settings(key=key)
    try:
        ran = notes.run(space, asked, chosen.values, kind=chosen.plane, key=key)
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    if chosen.by_hand:
        settings = trailgraph_hand.settings_of(chosen.values)
        trailgraph_hand.show(asked, ran, settings, key=f"{key}:hand")
        return
    if ran.wants_model:
        _offer_model(space, asked, chosen.values, key=key)
    said(ran.trace)
    _did_you_mean(asked, ran.trace, chosen.values, key=key)
    trailgraph_theatre.show(ran.trace, ran.live, asked.opened, key=key)
    with st.container(horizontal=True, gap="small"):
        files.save(ran.trace, key=key)
        files.open_(key=key, method=NAME)
    _await_map(space, asked.opened, ran, chosen.plane)


def replay(trace: Trace, *, key: str = NAME) -> None:
    """The theatre of an opened trace."""
    said(trace)
    trailgraph_theatre.show(trace, Live(), None, key=f"{key}:replay")


def said(trace: Trace) -> None:
    """How the walk ended where no note was opened."""
    stop = trace.result.stop
    if stop.reason is not StopReason.ANSWERED:
        st.warning(literal(f"{stop.message} {stop.remedy}".strip()), icon=":material/block:")


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The settings as the controls have them, the map's kind, and who walks."""

    values: Mapping[str, Value]
    plane: Kind
    by_hand: bool


def _settings(*, key: str) -> _Chosen:
    kind = method(NAME).settings_type
    values: dict[str, Value] = {}
    columns = st.columns([1.9, 1.1, 0.9, 0.9, 0.9, 1.9], gap="medium", vertical_alignment="bottom")
    with columns[0]:
        who = st.segmented_control(
            "Who walks",
            [_MACHINE, _PERSON],
            default=_MACHINE,
            required=True,
            key=f"{key}:who",
            help=explain("tool"),
        )
    for column, name in zip(columns[1:5], _STRIP, strict=True):
        with column:
            values[name] = controls.control(kind, name, key=key)
    with (
        columns[5],
        st.container(horizontal=True, horizontal_alignment="right", wrap=False, gap="small"),
    ):
        values["plain"] = st.toggle(
            "Plain walk",
            key=f"{key}:plain",
            persist_state="session",
            help=controls.field_named(kind, "plain").metadata["help"],
        )
        with st.popover("More", icon=":material/tune:", key=f"{key}:more"):
            rest = [name for name in controls.names(kind) if name not in (*_STRIP, "plain")]
            values |= controls.controls(kind, rest, key=key)
            plane = st.segmented_control(
                "Map",
                ["UMAP", "PCA"],
                default="UMAP",
                required=True,
                key=f"{key}:kind",
                help=f"{explain('UMAP')} {explain('PCA')}",
            )
    return _Chosen(values, "pca" if plane == "PCA" else "auto", who == _PERSON)


def _did_you_mean(
    asked: AskedNotes, trace: Trace, values: Mapping[str, Value], *, key: str
) -> None:
    path = pending(trace)
    if path is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"Did you mean “{title(trace.node(path))}”?", width="content")
        st.button(
            "Yes, open it",
            type="primary",
            key=f"{key}:yes-button",
            icon=":material/check:",
            on_click=_yes,
            args=(asked, values, key),
        )
        st.caption("A new question starts clean.", width="content")


def _yes(asked: AskedNotes, values: Mapping[str, Value], key: str) -> None:
    notes.say_yes(asked, values, key=key)


def _offer_model(
    space: Workspace, asked: AskedNotes, values: Mapping[str, Value], *, key: str
) -> None:
    model = notes.asking_model(values)
    name = literal(model.name) if model is not None else ""
    problem = st.session_state.pop(f"{key}:model-problem", None)
    if problem:
        st.warning(literal(problem), icon=":material/cloud_off:")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Shown below: the offline walk, which asks no model.", width="content")
        go = st.button(
            f"Let {name} walk", type="primary", key=f"{key}:model", icon=":material/smart_toy:"
        )
    if go:
        st.session_state[f"{key}:model-problem"] = _walk_by_model(space, asked, values, key=key)
        st.rerun()


def _walk_by_model(
    space: Workspace, asked: AskedNotes, values: Mapping[str, Value], *, key: str
) -> str:
    """The model's walk with each step and its words as they come; '' or what went wrong."""
    with st.status("The model walks…", expanded=True) as status:
        place: Any = st.empty()
        text: list[str] = []

        def hear(piece: str) -> None:
            text.append(piece)
            place.text("".join(text)[-600:])

        def step(taken: Step) -> None:
            score = taken.values.get("score")
            given = f", score {score:.0f}" if isinstance(score, int | float) else ""
            said = f"{taken.index + 1}. {taken.action}: {taken.target or 'nowhere'}{given}"
            st.text(upright(said))
            if taken.values.get("reason"):
                st.caption(literal(str(taken.values["reason"])))
            text.clear()

        problem = notes.ask_model(space, asked, values, key=key, on_step=step, on_text=hear)
        status.update(label="The model has walked.", state="error" if problem else "complete")
    return problem


def _await_map(space: Workspace, opened: OpenGraph, ran: Ran, plane: str) -> None:
    """While UMAP is fitted in the background, look now and then, and draw it when it is there."""
    if plane == "pca" or ran.trace.map is None or ran.trace.map.kind == "umap":
        return
    if space.notes_map_status(opened).state != "fitting":
        return

    @st.fragment(run_every=2.0)
    def look() -> None:
        if space.notes_map_status(opened).state != "fitting":
            st.rerun()

    look()


def about() -> str:
    """What the method does, for a person who meets it first."""
    return words_for(NAME).chapters
