"""'You are the agent': a person walks by the local view alone, then sees both trails."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from tracert.knowledge.opened import OpenGraph
from tracert.methods.base import Question, Resources, parse_settings
from tracert.methods.trailgraph.by_hand import HandCall, HandWalk, walk_by_hand
from tracert.methods.trailgraph.method import Prepared, TrailGraph
from tracert.methods.trailgraph.settings import TrailGraphSettings
from tracert.render.notes import overlay, parted_in_words, parting
from tracert.trace import Value
from tracert.ui import components
from tracert.ui.glossary import explain
from tracert.ui.markdown import safe_markdown
from tracert.ui.model import named_embedder
from tracert.ui.notes import AskedNotes, Ran
from tracert.ui.safe import literal
from tracert.ui.session import theme
from tracert.ui.views import files, trailgraph_theatre


def show(asked: AskedNotes, ran: Ran, settings: TrailGraphSettings, *, key: str) -> None:
    """The walk of the person; when it is over, their trail over the machine's.

    `ran` is the machine's walk for the same question; nothing of it is shown before.
    """
    name = f"{key}:calls"
    about = (asked.opened.info.fingerprint, asked.question)
    if st.session_state.get(f"{name}:about") != about:
        st.session_state[name], st.session_state[f"{name}:about"] = [], about
        st.session_state[f"{name}:done"] = False
    calls: list[HandCall] = st.session_state[name]
    walk = walk_by_hand(asked.opened, _prepared(asked), settings, calls)
    if walk.over or st.session_state[f"{name}:done"]:
        _compare(asked, ran, walk, key=key)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left, st.container(border=True):
        _here(asked.opened, walk, settings)
        _choose(asked.opened, walk, settings, calls, key=key)
    with right, st.container(border=True):
        _trail(asked.opened, walk, settings, key=key)


def _prepared(asked: AskedNotes) -> Prepared:
    embed = named_embedder(asked.opened.info.embedder).embed
    resources = Resources(embed=embed, knowledge=asked.opened)
    return TrailGraph().prepare(Question(asked.question), resources)


def settings_of(values: Mapping[str, Value]) -> TrailGraphSettings:
    """The settings of the controls as the walk takes them."""
    return parse_settings(TrailGraphSettings, values)


# --- walking --------------------------------------------------------------------------------


def _here(opened: OpenGraph, walk: HandWalk, settings: TrailGraphSettings) -> None:
    if walk.at is None:
        st.subheader("You stand at the question", help=explain("tool"), anchor=False)
        st.caption("These notes are offered as entry points. You see what the model would see.")
        return
    note = opened.note(walk.at)
    st.subheader(literal(note.title), help=explain("tool"), anchor=False)
    above = " › ".join(one.title for one in reversed(opened.graph.ancestors_of(note.path)))
    st.text(f"{above} › {note.title}" if above else note.path)
    st.markdown(safe_markdown(note.preview, lambda _: None).text)
    if walk.turned_to is not None:
        st.info(
            f"This trail scored below {settings.explore_threshold:g} or is a dead end: you are "
            "sent back to the next entry point.",
            icon=":material/u_turn_left:",
        )


def _choose(
    opened: OpenGraph,
    walk: HandWalk,
    settings: TrailGraphSettings,
    calls: list[HandCall],
    *,
    key: str,
) -> None:
    serial = len(calls)
    options = [*walk.offered]
    here = walk.at
    if here is not None and here in walk.visited and opened.note(here).children:
        options.append(here)
    more = st.toggle("Offer earlier notes too", key=f"{key}:earlier", persist_state="session")
    if more:
        options += [path for path in walk.before if path not in options]

    def called(path: str) -> str:
        again = " (the note in hand, again)" if path == here else ""
        return literal(opened.note(path).title + again)

    chosen = st.radio(
        "Where to next?",
        options,
        format_func=called,
        captions=[literal(opened.note(path).summary) for path in options],
        key=f"{key}:next:{serial}:{more}",
    )
    score = st.slider(
        "How well does it fit the question?",
        0,
        100,
        75,
        key=f"{key}:score:{serial}",
        help=f"Below {settings.explore_threshold:g} this trail is given up; from "
        f"{settings.answer_threshold:g} on the note is opened and read.",
    )
    reason = st.text_input("Why? (may stay empty)", key=f"{key}:why:{serial}", max_chars=300)

    def go() -> None:
        calls.append(HandCall(chosen, float(score), reason))

    with st.container(horizontal=True, gap="small"):
        opens = score >= settings.answer_threshold
        st.button(
            "Open this note" if opens else "Go to this note",
            type="primary",
            key=f"{key}:go",
            on_click=go,
            disabled=chosen is None,
            icon=":material/menu_book:" if opens else ":material/arrow_forward:",
        )
        st.button("Stop and compare", key=f"{key}:stop", on_click=_finish, args=(key,))


def _finish(key: str) -> None:
    st.session_state[f"{key}:calls:done"] = True


def _trail(opened: OpenGraph, walk: HandWalk, settings: TrailGraphSettings, *, key: str) -> None:
    st.subheader("Your trail", help=explain("score"), anchor=False)
    st.caption(f"Hop {walk.hops} of at most {settings.max_hops} from this entry point.")
    items = [
        {"badge": f"{score:.0f}", "path": path == walk.at, "title": opened.note(path).title}
        for path, score in walk.visited.items()
    ]
    data = {
        "dark": theme() == "dark",
        "selected": None,
        "groups": [
            {"heading": "", "items": items, "ordered": True, "empty": "You went nowhere yet."}
        ],
    }
    components.cards(data, key=f"{key}:trail")


# --- afterwards -----------------------------------------------------------------------------


def _compare(asked: AskedNotes, ran: Ran, walk: HandWalk, *, key: str) -> None:
    names = {path: asked.opened.note(path).title for path in asked.opened.paths}
    found = parting(walk.trace, ran.trace)
    with st.container(border=True):
        st.subheader("Your trail and the machine's", help=explain("score"), anchor=False)
        st.text(walk.trace.result.stop.message)
        st.text(parted_in_words(found, names))
        columns = st.columns(3)
        columns[0].metric("Your hops", len(found.person), f"{found.more_hops:+d}", "inverse")
        columns[1].metric("The machine's hops", len(found.machine))
        columns[2].metric("Walked together", found.shared)
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Walk again",
                key=f"{key}:again",
                on_click=_again,
                args=(key,),
                icon=":material/replay:",
            )
            files.save(walk.trace, key=f"{key}:mine")
    trailgraph_theatre.show(
        ran.trace, ran.live, asked.opened, key=f"{key}:both", overlay=overlay(walk.trace)
    )


def _again(key: str) -> None:
    st.session_state[f"{key}:calls"] = []
    st.session_state[f"{key}:calls:done"] = False
