"""The gold-chain editor: ask, mark the passages that answer, put them in order, keep the chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import streamlit as st

from tracert.corpus.model import Chunk
from tracert.errors import TracertError
from tracert.evaluation.datasets import Passage
from tracert.evaluation.gold_chain import MOST_CHARACTERS, TYPES, GoldChain, to_jsonl
from tracert.methods.first_stage import rank
from tracert.render.numbers import count
from tracert.render.passage import glimpse
from tracert.snapshot import Snapshot
from tracert.store.records import CorpusRecord
from tracert.ui import evaluating
from tracert.ui.glossary import explain
from tracert.ui.model import named_embedder
from tracert.ui.safe import literal
from tracert.ui.views.evaluate_data import CHAINS, record_of
from tracert.workspace import Workspace

#: Passages that a search shows, and characters of each there and in the chain.
_FOUND, _SHOWN, _SHOWN_IN_CHAIN = 15, 420, 200
#: The list of them in pixels; it scrolls.
_HEIGHT: Final = 560
_HOW: Final = {"hybrid": "Meaning and words", "dense": "Meaning", "bm25": "Words"}
_TYPES: Final = {
    "single": "Single: one passage answers",
    "bridge": "Bridge: one passage leads to the next",
    "comparison": "Comparison: the passages stand side by side",
}


@dataclass(slots=True)
class _Draft:
    """The chain that is being made: the marked passages in order, and others that were found."""

    corpus: str
    gold: list[Passage] = field(default_factory=list)
    others: list[Passage] = field(default_factory=list)


def show(space: Workspace, *, key: str) -> None:
    """The editor beside the chain, and the sets below."""
    st.caption(
        "Make questions of your own: ask, mark the passages that hold the answer in the order in "
        "which one leads to the next, and add the chain to a set. A set is a file of JSON lines "
        "that can be evaluated here, by the command line, or anywhere."
    )
    record = record_of(space.corpora(), key=key)
    if record is None:
        return
    draft = _draft(record, key=key)
    left, right = st.columns([3, 2], gap="medium")
    with left, st.container(border=True):
        _search(space, record, draft, key=key)
    with right, st.container(border=True):
        _chain(draft, key=key)
    _sets(key=key)


def _draft(record: CorpusRecord, *, key: str) -> _Draft:
    draft: _Draft | None = st.session_state.get(f"{key}:draft")
    if draft is None or draft.corpus != record.name:
        draft = st.session_state[f"{key}:draft"] = _Draft(record.name)
    return draft


# --- finding ------------------------------------------------------------------------------


def _search(space: Workspace, record: CorpusRecord, draft: _Draft, *, key: str) -> None:
    st.subheader("Ask and mark", help=explain("gold chain"), anchor=False)
    question = st.text_input(
        "The question of the chain",
        key=f"{key}:question",
        max_chars=2000,
        placeholder="A question that needs more than one passage",
        persist_state="session",
    )
    left, right = st.columns([2, 1.6], vertical_alignment="bottom")
    with left:
        other = st.text_input(
            "Search for something else",
            key=f"{key}:other",
            max_chars=2000,
            placeholder="Words of a passage that you look for",
            help="The question stays as it is; only the list below is searched by this.",
        )
    with right:
        how = st.segmented_control(
            "Search by",
            list(_HOW),
            format_func=_HOW.__getitem__,
            default="hybrid",
            required=True,
            key=f"{key}:how",
        )
    sought = other.strip() or question.strip()
    if not sought:
        st.info("Type a question; the passages nearest to it appear here.", icon=":material/edit:")
        return
    found = _found(space.open(record.name), sought, how)
    if not found:
        st.caption("No passage shares a word with this. Search by meaning, or in other words.")
        return
    passages = [Passage(chunk.document, chunk.text) for chunk in found]
    draft.others += [one for one in passages if one not in draft.others]
    with st.container(height=_HEIGHT, border=False):
        for number, (chunk, passage) in enumerate(zip(found, passages, strict=True)):
            _passage(chunk, passage, draft, key=f"{key}:found:{number}:{chunk.id}")


def _found(snapshot: Snapshot, sought: str, how: str) -> list[Chunk]:
    vector = named_embedder(snapshot.info.embedder).embed([sought])[0]
    return snapshot.chunks(rank(snapshot, sought, vector, how, _FOUND).rows.tolist())


def _passage(chunk: Chunk, passage: Passage, draft: _Draft, *, key: str) -> None:
    """One passage that was found, with the button that marks it."""
    marked = passage in draft.gold
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if marked:
                hop = draft.gold.index(passage) + 1
                st.badge(f"Hop {hop}", icon=":material/link:", color="violet")
            where = " › ".join((chunk.document, *chunk.heading_path))
            st.caption(literal(where), width="stretch")
            st.button(
                "Take out" if marked else "Mark as gold",
                key=f"{key}:mark",
                icon=":material/remove:" if marked else ":material/add:",
                type="tertiary" if marked else "secondary",
                on_click=partial(_take_out if marked else _mark, draft, passage),
            )
        st.text(glimpse(chunk.text, _SHOWN))


def _mark(draft: _Draft, passage: Passage) -> None:
    if passage not in draft.gold:
        draft.gold.append(passage)


def _take_out(draft: _Draft, passage: Passage) -> None:
    if passage in draft.gold:
        draft.gold.remove(passage)


def _move(draft: _Draft, place: int, by: int) -> None:
    other = place + by
    if 0 <= place < len(draft.gold) and 0 <= other < len(draft.gold):
        draft.gold[place], draft.gold[other] = draft.gold[other], draft.gold[place]


# --- the chain ----------------------------------------------------------------------------


def _chain(draft: _Draft, *, key: str) -> None:
    st.subheader("The chain", help=explain("gold chain"), anchor=False)
    if not draft.gold:
        st.caption("Nothing is marked yet. The passages that you mark stand here, in order.")
    last = len(draft.gold) - 1
    for place, passage in enumerate(draft.gold):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(f"Hop {place + 1}", icon=":material/link:", color="violet")
            st.caption(literal(passage.title), width="stretch")
            for label, off, act in (
                ("Up", place == 0, partial(_move, draft, place, -1)),
                ("Down", place == last, partial(_move, draft, place, 1)),
                ("Take out", False, partial(_take_out, draft, passage)),
            ):
                st.button(
                    label,
                    key=f"{key}:chain:{place}:{label}",
                    disabled=off,
                    type="tertiary",
                    on_click=act,
                )
        st.text(glimpse(passage.text, _SHOWN_IN_CHAIN))
    known = evaluating.gold_sets().names()
    st.session_state.setdefault(f"{key}:type", "bridge")
    # Once only: set at each run it would take back what is being typed.
    st.session_state.setdefault(f"{key}:set", known[0] if known else None)
    st.selectbox(
        "How the passages hang together",
        TYPES,
        format_func=_TYPES.__getitem__,
        key=f"{key}:type",
        persist_state="session",
    )
    st.text_input("Answer, in short", key=f"{key}:answer", max_chars=500, persist_state="session")
    st.selectbox(
        "Set",
        known,
        accept_new_options=True,
        placeholder="Type a name for a new set",
        key=f"{key}:set",
        help=f"Choose a set, or type the name of a new one, up to {MOST_CHARACTERS} characters.",
    )
    st.button(
        "Add the chain to the set",
        type="primary",
        icon=":material/playlist_add:",
        key=f"{key}:add",
        disabled=not draft.gold,
        on_click=partial(_add, draft, key),
    )
    said = st.session_state.pop(f"{key}:said", None)
    if said:
        (st.success if said[0] else st.error)(literal(said[1]))


def _add(draft: _Draft, key: str) -> None:
    name = str(st.session_state.get(f"{key}:set") or "")
    try:
        chain = GoldChain(
            str(st.session_state.get(f"{key}:question") or ""),
            tuple(draft.gold),
            str(st.session_state.get(f"{key}:answer") or ""),
            str(st.session_state.get(f"{key}:type") or "bridge"),
            tuple(draft.others),
        )
        number = evaluating.gold_sets().add(name, chain)
    except TracertError as error:
        st.session_state[f"{key}:said"] = (False, str(error))
        return
    st.session_state[f"{key}:said"] = (True, f"{name} now has {count(number, 'chain')}.")
    st.session_state[f"{key}:open"] = name
    st.session_state[f"{key}:draft"] = _Draft(draft.corpus)
    for field_ in ("question", "other", "answer"):
        st.session_state[f"{key}:{field_}"] = ""


# --- the sets -----------------------------------------------------------------------------


def _sets(*, key: str) -> None:
    sets = evaluating.gold_sets()
    known = sets.names()
    if not known:
        return
    with st.container(border=True):
        st.subheader("The sets", help=explain("gold chain"), anchor=False)
        if st.session_state.get(f"{key}:open") not in known:
            st.session_state[f"{key}:open"] = known[0]
        name = st.selectbox("Show the set", known, key=f"{key}:open")
        try:
            chains = sets.read(name)
        except TracertError as error:
            st.error(literal(str(error)), icon=":material/error:")
            _delete(name, key=key)
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                "Evaluate this set",
                key=f"{key}:evaluate",
                icon=":material/play_circle:",
                type="primary",
                on_click=partial(_evaluate, name),
            )
            st.download_button(
                "Save as JSONL",
                lambda: to_jsonl(chains, name),
                f"{sets.path(name).stem}.jsonl",
                "application/jsonl",
                key=f"{key}:save",
                icon=":material/download:",
                on_click="ignore",
            )
            _delete(name, key=key)
        _chains(name, chains, key=key)


def _chains(name: str, chains: Sequence[GoldChain], *, key: str) -> None:
    event = st.dataframe(
        {
            "Question": [one.question for one in chains],
            "Answer": [one.answer for one in chains],
            "Type": [one.type for one in chains],
            "Hops": [len(one.gold) for one in chains],
            "Passages": [" → ".join(each.title for each in one.gold) for one in chains],
        },
        key=f"{key}:chains:{name}:{len(chains)}",
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        alt="The chains of the set.",
    )
    rows = event.selection.rows
    if not rows or rows[0] >= len(chains):
        st.caption("Select a chain to change it or to take it out.")
        return
    chain = chains[rows[0]]
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Change it",
            key=f"{key}:change",
            icon=":material/edit:",
            on_click=partial(_change, name, chain, key),
        )
        st.button(
            "Take it out of the set",
            key=f"{key}:remove",
            icon=":material/playlist_remove:",
            on_click=partial(_remove, name, chain, key),
        )


def _change(name: str, chain: GoldChain, key: str) -> None:
    """Put a chain into the editor; adding it again takes its place while the question is kept."""
    draft: _Draft = st.session_state[f"{key}:draft"]
    st.session_state[f"{key}:draft"] = _Draft(draft.corpus, list(chain.gold), list(chain.others))
    st.session_state[f"{key}:question"] = chain.question
    st.session_state[f"{key}:answer"] = chain.answer
    st.session_state[f"{key}:type"] = chain.type if chain.type in TYPES else "bridge"
    st.session_state[f"{key}:set"] = name


def _remove(name: str, chain: GoldChain, key: str) -> None:
    try:
        evaluating.gold_sets().remove(name, chain.id)
    except TracertError as error:
        st.session_state[f"{key}:said"] = (False, str(error))


def _delete(name: str, *, key: str) -> None:
    def delete() -> None:
        try:
            evaluating.gold_sets().delete(name)
        except TracertError as error:
            st.session_state[f"{key}:said"] = (False, str(error))

    with st.popover("Delete", icon=":material/delete:", type="tertiary", key=f"{key}:deleting"):
        st.text(f"Delete the set {name}?")
        st.button("Delete it", type="primary", key=f"{key}:delete", on_click=delete)


def _evaluate(name: str) -> None:
    """Go to a new run over this set."""
    st.session_state["evaluate:view"] = "New run"
    st.session_state["evaluate:data:source"] = CHAINS
    st.session_state["evaluate:data:chains:set"] = name
