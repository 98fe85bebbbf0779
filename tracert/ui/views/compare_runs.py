"""From what is asked and chosen to the runs of all methods, kept while nothing changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

from tracert.comparing.budget import Entry, entry, settings_at
from tracert.errors import SettingError, TracertError
from tracert.evaluation.quoted import Gold
from tracert.language.answer import write_answer
from tracert.language.base import ChatModel
from tracert.methods.base import Method, Resources, Walk
from tracert.methods.registry import method
from tracert.trace import Trace, Value
from tracert.ui.gold import known
from tracert.ui.live import Live
from tracert.ui.model import chat_model, embedder_for
from tracert.ui.running import Asked, run
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
    values: Mapping[str, Mapping[str, Value]]
    plane: studio.Plane
    with_model: bool


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The runs of all methods on one question, and what lies behind them.

    `gold` is empty where it is not known. `failed` says of each method that could not run why.
    """

    asked: Asked
    chosen: Chosen
    entries: tuple[Entry, ...]
    gold: Gold
    live: Live
    failed: Mapping[str, str]


def compare(space: Workspace, asked: Asked, chosen: Chosen, *, key: str) -> Compared:
    """Run each method at the budget.

    Raises:
        TracertError: the corpus cannot be opened or the question cannot be embedded.
    """
    plain = settings_at(method(BASELINE).settings_type, {}, chosen.budget)
    _, live = run(space, asked, BASELINE, plain, kind=chosen.plane, key=f"{key}:plain")
    entries, failed = [], {}
    for name in chosen.methods:
        values = chosen.values.get(name, {})
        try:
            trace = _trace(space, asked, chosen, name, values, live, key=key)
            ranked = _ranked(space, asked, chosen, values)
        except TracertError as error:
            failed[name] = str(error)
            continue
        entries.append(entry(trace, chosen.budget, ranked))
    return Compared(asked, chosen, tuple(entries), _gold(space, asked, live), live, failed)


def ask(
    space: Workspace,
    asked: Asked,
    name: str | Method,
    values: Mapping[str, Value],
    budget: int,
    *,
    model: ChatModel | None,
    plane: studio.Plane | None = None,
) -> Trace:
    """One run of a method at a budget, without an answer; with the map of that kind, if any.

    Raises:
        TracertError: what cannot be done, and what to do instead.
    """
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
    )


class Unasked:
    """A method as it is, but for a model that is asked nothing new.

    The preparation is the same as the page's own run's, so replies that were kept are used; a
    walk that would need another one ends in `AskedAgain`, since trying settings must cost nothing.
    """

    def __init__(self, name: str) -> None:
        self._inner = method(name)
        self.name, self.title = self._inner.name, self._inner.title
        self.summary, self.needs = self._inner.summary, self._inner.needs
        self.settings_type, self.prepare = self._inner.settings_type, self._inner.prepare

    def walk(self, prepared: Any, settings: Any, resources: Resources) -> Walk:
        """The walk of the method, its model silenced."""
        model = None if resources.model is None else _Silent(resources.model)
        return (yield from self._inner.walk(prepared, settings, replace(resources, model=model)))


class AskedAgain(SettingError):
    """With these settings the walk would ask the model something new."""


class _Silent:
    def __init__(self, model: ChatModel) -> None:
        self.name = model.name

    def complete(self, *_: Any, **__: Any) -> Any:
        raise AskedAgain(f"With these settings {self.name} would be asked anew.")


def model_of(chosen: Chosen) -> ChatModel | None:
    """The session's model where it may take part."""
    return chat_model() if chosen.with_model else None


def _trace(
    space: Workspace,
    asked: Asked,
    chosen: Chosen,
    name: str,
    values: Mapping[str, Value],
    live: Live,
    *,
    key: str,
) -> Trace:
    model = model_of(chosen)
    status = space.map_status(asked.record.name)
    wanted = (
        asked.record.fingerprint,
        asked.record.name,
        asked.question,
        asked.goal,
        name,
        tuple(sorted(values.items(), key=lambda item: item[0])),
        chosen.budget,
        model.name if model is not None else None,
        chosen.plane,
        status.state,
    )
    kept: dict[Any, Trace] = st.session_state.setdefault(f"{key}:runs", {})
    if wanted not in kept:
        trace = ask(space, asked, name, values, chosen.budget, model=model, plane=chosen.plane)
        kept[wanted] = trace.with_answer(
            *write_answer(_cut(trace, chosen.budget), None, live.embed)
        )
        while len(kept) > _KEPT:
            kept.pop(next(iter(kept)))
    trace = kept[wanted]
    written = st.session_state.get(f"{key}:written", {})
    answer = written.get((trace.question, name, trace.result.evidence[: chosen.budget]))
    return trace if answer is None else trace.with_answer(*answer)


def _cut(trace: Trace, budget: int) -> Trace:
    """The trace with the evidence that the budget allows: what an answer may be written from."""
    return replace(trace, result=replace(trace.result, evidence=trace.result.evidence[:budget]))


def write_answers(compared: Compared, *, key: str) -> None:
    """Let the session's model write every method's answer from its own passages, and keep them.

    A model that fails leaves the extract with its reason, see `write_answer`.
    """
    model = chat_model()
    written = st.session_state.setdefault(f"{key}:written", {})
    for one in compared.entries:
        cut = _cut(one.trace, one.budget)
        written[(cut.question, one.method, cut.result.evidence)] = write_answer(
            cut, model, compared.live.embed
        )


def _ranked(
    space: Workspace, asked: Asked, chosen: Chosen, values: Mapping[str, Value]
) -> tuple[str, ...]:
    """Plain top-k's order by the first stage that the method has, for the places left."""
    stage = {"first_stage": values["first_stage"]} if "first_stage" in values else {}
    trace = ask(space, asked, BASELINE, stage, chosen.budget, model=None)
    return tuple(item.id for item in trace.steps[0].candidates)


def _gold(space: Workspace, asked: Asked, live: Live) -> Gold:
    if live.embed is None:
        return ()
    these = known(space.open(asked.record.name), live.embed)
    gold = None if these is None else these.of(asked.question)
    return gold or ()
