"""From what is asked and chosen to the runs of all methods, kept while nothing changes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Protocol

import streamlit as st

from tracert.comparing.budget import Entry, entry, settings_at
from tracert.errors import TracertError
from tracert.evaluation.quoted import Gold
from tracert.knowledge.opened import OpenGraph
from tracert.language.answer import write_answer
from tracert.language.base import ChatModel
from tracert.methods.base import Method
from tracert.methods.registry import method
from tracert.render.compare_map import last_hop
from tracert.snapshot import Snapshot
from tracert.trace import Cost, Trace, Value
from tracert.ui import notes
from tracert.ui.gold import known
from tracert.ui.live import Live
from tracert.ui.model import chat_model, embedder_for, named_embedder, warm
from tracert.ui.running import Asked, run
from tracert.ui.session import View
from tracert.ui.views import studio
from tracert.workspace import Workspace

BASELINE: Final = "native_rag"
#: Runs that a session keeps, so that a method taken out and put back is there at once.
_KEPT: Final = 24


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the controls say: methods in order, the budget, each one's settings, the map."""

    methods: tuple[str, ...]
    budget: int
    values: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    plane: studio.Plane = "auto"
    with_model: bool = False

    def of(self, name: str) -> Mapping[str, Value]:
        """The settings of a method that are not left at their defaults."""
        return self.values.get(name, {})


class Again(Protocol):
    """One more run of the same question, without map and answer."""

    def __call__(self, method: str | Method, values: Mapping[str, Value], budget: int) -> Trace:
        """The trace of that method with these settings at that budget.

        Raises:
            TracertError: what cannot be done, and what to do instead.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The runs of all methods on one question, and what lies behind them.

    `over` is the corpus or the graph of notes. `gold` is empty where it is not known. `failed`
    says of each method that could not run why. `revision` changes with anything that was chosen.
    """

    question: str
    revision: str
    chosen: Chosen
    entries: tuple[Entry, ...]
    gold: Gold
    live: Live
    over: Snapshot | OpenGraph
    again: Again
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """What is found: 'passage' or 'note'."""
        return "note" if isinstance(self.over, OpenGraph) else "passage"


# --- over a corpus --------------------------------------------------------------------------------


def compare(space: Workspace, asked: Asked, chosen: Chosen, *, key: str) -> Compared:
    """Run each method at the budget.

    Raises:
        TracertError: the corpus cannot be opened or the question cannot be embedded.
    """
    over = space.open(asked.record.name)
    _warm(asked.record.embedder)
    plain = settings_at(method(BASELINE).settings_type, {}, chosen.budget)
    _, live = run(space, asked, BASELINE, plain, kind=chosen.plane, key=f"{key}:plain")
    model = chat_model() if chosen.with_model else None
    again = partial(_ask, space, asked, model)
    entries, failed = [], {}
    for name in chosen.methods:
        try:
            trace = _trace(space, asked, chosen, name, model, live, over, key=key)
            entries.append(entry(trace, chosen.budget, _ranked(again, chosen.of(name), chosen)))
        except TracertError as error:
            failed[name] = str(error)
    return Compared(
        asked.question,
        _revision(asked.record.fingerprint, asked.question, asked.goal, chosen),
        chosen,
        tuple(entries),
        _gold(over, asked, live),
        live,
        over,
        again,
        failed,
    )


@st.cache_resource(show_spinner=False)
def _warm(embedder: str) -> None:
    """Load an embedder of this machine, so that no method is charged for being asked first."""
    if not embedder.startswith("openai"):
        named_embedder(embedder).embed(["warm"])


def _ask(
    space: Workspace,
    asked: Asked,
    model: ChatModel | None,
    name: str | Method,
    values: Mapping[str, Value],
    budget: int,
    *,
    plane: studio.Plane | None = None,
    fresh: bool = False,
) -> Trace:
    kind = (method(name) if isinstance(name, str) else name).settings_type
    return space.ask(
        asked.question,
        corpus=asked.record.name,
        method=name,
        settings=settings_at(kind, values, budget),
        goal=asked.goal,
        model=model,
        embedder=embedder_for(asked.record),
        answer=False,
        with_map=False if plane is None else plane,
        fresh=fresh,
    )


def _trace(
    space: Workspace,
    asked: Asked,
    chosen: Chosen,
    name: str,
    model: ChatModel | None,
    live: Live,
    over: Snapshot,
    *,
    key: str,
) -> Trace:
    values = chosen.of(name)
    wanted = (
        over.info.fingerprint,
        asked.record.name,
        asked.question,
        asked.goal,
        name,
        tuple(sorted(values.items(), key=lambda item: item[0])),
        chosen.budget,
        model.name if model is not None else None,
        chosen.plane,
        space.map_status(asked.record.name).state,
    )
    kept: dict[Any, Trace] = st.session_state.setdefault(f"{key}:runs", {})
    if wanted not in kept:
        trace = _ask(space, asked, model, name, values, chosen.budget, plane=chosen.plane)
        if model is None and _first(asked, name, key=key):
            # The first run loads and counts what later ones find ready; the second tells the cost.
            trace = _ask(
                space, asked, None, name, values, chosen.budget, plane=chosen.plane, fresh=True
            )
        cut = _cut(trace, chosen.budget)
        kept[wanted] = trace.with_answer(*write_answer(cut, None, live.embed))
        while len(kept) > _KEPT:
            kept.pop(next(iter(kept)))
    return _written(kept[wanted], chosen.budget, key=key)


def _first(asked: Asked, name: str, *, key: str) -> bool:
    seen: set[Any] = st.session_state.setdefault(f"{key}:seen", set())
    wanted = (asked.record.fingerprint, asked.question, asked.goal, name)
    new = wanted not in seen
    seen.add(wanted)
    return new


def _ranked(again: Again, values: Mapping[str, Value], chosen: Chosen) -> tuple[str, ...]:
    """Plain top-k's order by the first stage that the method has, for the places left."""
    stage = {"first_stage": values["first_stage"]} if "first_stage" in values else {}
    trace = again(BASELINE, stage, chosen.budget)
    return tuple(item.id for item in trace.steps[0].candidates)


def _gold(over: Snapshot, asked: Asked, live: Live) -> Gold:
    if live.embed is None:
        return ()
    these = known(over, live.embed)
    gold = None if these is None else these.of(asked.question)
    return gold or ()


# --- over notes -----------------------------------------------------------------------------------


def compare_notes(
    space: Workspace,
    opened: OpenGraph,
    question: str,
    chosen: Chosen,
    gold: Sequence[str],
    *,
    key: str,
) -> Compared:
    """The walk through notes at the budget, offline; `gold` are paths of notes.

    Raises:
        TracertError: what cannot be done, and what to do instead.
    """
    asked = notes.AskedNotes(opened, question)
    kind = method(notes.NAME).settings_type
    values = settings_at(kind, {"scoring": "offline"} | dict(chosen.of(notes.NAME)), chosen.budget)
    ran = notes.run(space, asked, values, kind=chosen.plane, key=f"{key}:notes")
    revision = _revision(opened.info.fingerprint, question, chosen)

    def again(
        method: str | Method, values: Mapping[str, Value], budget: int, *, fresh: bool = False
    ) -> Trace:
        settings = settings_at(kind, {"scoring": "offline"} | dict(values), budget)
        return space.ask(
            question,
            knowledge=opened,
            method=method,
            settings=settings,
            embedder=named_embedder(opened.info.embedder),
            answer=False,
            with_map=False,
            fresh=fresh,
        )

    # As over a corpus: the first run loads what later ones find ready, so another tells the cost.
    spent: tuple[str, Cost] | None = st.session_state.get(f"{key}:spent")
    if spent is None or spent[0] != revision:
        again_ = again(notes.NAME, chosen.of(notes.NAME), chosen.budget, fresh=True)
        spent = st.session_state[f"{key}:spent"] = (revision, again_.cost)
    trace = _written(replace(ran.trace, cost=spent[1]), chosen.budget, key=key)
    return Compared(
        question,
        revision,
        chosen,
        (entry(trace, chosen.budget),),
        tuple(frozenset({path}) for path in gold if path in opened.row),
        ran.live,
        opened,
        again,
    )


# --- shared ---------------------------------------------------------------------------------------


def _cut(trace: Trace, budget: int) -> Trace:
    """The trace with the evidence that the budget allows: what an answer may be written from."""
    return replace(trace, result=replace(trace.result, evidence=trace.result.evidence[:budget]))


def _written(trace: Trace, budget: int, *, key: str) -> Trace:
    """The trace with the answer that a model wrote from this evidence, if one did."""
    written = st.session_state.get(f"{key}:written", {})
    answer = written.get((trace.question, trace.method, trace.result.evidence[:budget]))
    return trace if answer is None else trace.with_answer(*answer)


def write_answers(compared: Compared, *, key: str) -> None:
    """Let the session's model write every method's answer from its own passages, and keep them.

    A model that fails leaves the extract with its reason, see `write_answer`.
    """
    model = chat_model()
    if model is not None:
        warm(model)
    written = st.session_state.setdefault(f"{key}:written", {})
    for one in compared.entries:
        cut = _cut(one.trace, one.budget)
        written[(cut.question, one.method, cut.result.evidence)] = write_answer(
            cut, model, compared.live.embed
        )


def _revision(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def selection(compared: Compared, *, key: str) -> View:
    """What is selected; it stays while the question does.

    Another page may have left the id of a passage that is wanted.
    """
    name = f"{key}:view"
    seen: View | None = st.session_state.get(name)
    wanted: str | None = st.session_state.pop(f"{key}:wanted", None)
    if seen is not None and seen.revision == compared.revision:
        seen.node = wanted or seen.node
        return seen
    same = seen is not None and seen.question == compared.question
    node = seen.node if seen is not None and same else _opening(compared)
    fresh = View(compared.revision, last_hop(compared.entries), wanted or node, compared.question)
    fresh.moment = 0.0 if seen is None else seen.moment
    st.session_state[name] = fresh
    return fresh


def _opening(compared: Compared) -> str | None:
    """The passage that is asked about first: gold that some method missed, else the first."""
    for chunks in compared.gold:
        found = [chunks & set(one.own) for one in compared.entries]
        if not all(found):
            return min(next((held for held in found if held), chunks), default=None)
    return next((id for one in compared.entries for id in one.own), None)
