"""The notes that a session has loaded, and from a question to a trace over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import streamlit as st

from tracert.errors import ModelError
from tracert.knowledge.model import Fault
from tracert.knowledge.opened import OpenGraph
from tracert.language.answer import write_answer
from tracert.language.base import ChatModel, Message, OnText, Reply, Tool
from tracert.methods.base import Outcome, Resources, Walk
from tracert.methods.registry import method
from tracert.methods.trailgraph.session import confirmed
from tracert.render.map import Ground
from tracert.render.outline import outline, with_outline
from tracert.trace import Node, NodeKind, Step, Trace, Value
from tracert.ui import resources
from tracert.ui.live import Live
from tracert.ui.model import chat_model, named_embedder
from tracert.ui.resources import Example
from tracert.workspace import Workspace, builtin_folder

NAME: Final = "trailgraph"
#: The built-in notes as a person knows them.
BUILTIN: Final = "The Long Spark (notes)"
_SHELF: Final = "trailgraph:shelf"
#: The first examples, by id: walks that go deeper before they open a note, and one that asks
#: back.
FIRST: Final = ("B11", "A10", "A05")
#: Scorings that ask a model where there is one.
_ASKING: Final = ("auto", "agent", "model", "mean")
Kind = Literal["auto", "pca"]


@dataclass(frozen=True, slots=True)
class Source:
    """A folder of notes on the shelf, and what was left out of it when it was unpacked."""

    name: str
    folder: Path
    left_out: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class AskedNotes:
    """What was asked of which notes."""

    opened: OpenGraph
    question: str


def builtin_notes() -> Path | None:
    """The folder of the built-in notes, where the project's files are beside the package."""
    folder = builtin_folder()
    notes = None if folder is None else folder.parent / "notes"
    return notes if notes is not None and notes.is_dir() else None


def examples() -> list[Example]:
    """The built-in questions; those of `FIRST` lead."""
    return resources.note_examples(FIRST)


def shelf() -> dict[str, Source]:
    """The notes of this session by name, the built-in ones first."""
    found: dict[str, Source] = {}
    folder = builtin_notes()
    if folder is not None:
        found[BUILTIN] = Source(BUILTIN, folder)
    loaded: dict[str, Source] = st.session_state.get(_SHELF, {})
    return found | loaded


def put(source: Source) -> str:
    """Put notes on the shelf; gives the name, made unique, unless the folder is there already."""
    known = shelf()
    for name, other in known.items():
        if other.folder == source.folder:
            return name
    name, number = source.name, 2
    while name in known:
        name, number = f"{source.name} ({number})", number + 1
    st.session_state.setdefault(_SHELF, {})[name] = replace(source, name=name)
    return name


# --- running ------------------------------------------------------------------------------


def asking_model(settings: Mapping[str, Value]) -> ChatModel | None:
    """The session's model where these settings let one walk or score, else None."""
    return chat_model() if settings.get("scoring") in _ASKING else None


@dataclass(frozen=True, slots=True, eq=False)
class Ran:
    """A trace with what lies behind it; `wants_model` if a model's walk is yet to be begun."""

    trace: Trace
    live: Live
    wants_model: bool


def run(
    space: Workspace, asked: AskedNotes, settings: Mapping[str, Value], *, kind: Kind, key: str
) -> Ran:
    """The trace of a question; a model is asked only where `ask_model` was called for it.

    Raises:
        TracertError: what cannot be done, and what to do instead.
    """
    st.session_state[f"{key}:settings"] = (NAME, dict(settings))
    model = asking_model(settings)
    wanted = _wanted(asked, settings, model)
    walked: dict[Any, Trace] = st.session_state.setdefault(f"{key}:walked", {})
    said_yes = wanted in st.session_state.setdefault(f"{key}:yes", set())
    status = space.notes_map_status(asked.opened)
    whole = (wanted, kind, said_yes, status.state, wanted in walked)
    kept = st.session_state.get(f"{key}:run")
    if kept is not None and kept[0] == whole:
        return Ran(kept[1], kept[2], model is not None and wanted not in walked)
    if wanted in walked:
        trace = walked[wanted]
        trace = trace.with_map(space.map_of(trace, asked.opened, kind))
    else:
        without = {**settings, "scoring": "offline"} if model is not None else settings
        trace = space.ask(
            asked.question,
            knowledge=asked.opened,
            method=NAME,
            settings=without,
            embedder=named_embedder(asked.opened.info.embedder),
            answer=False,
            with_map=kind,
        )
    if said_yes:
        trace = confirmed(trace, asked.opened)
    embed = named_embedder(asked.opened.info.embedder).embed
    trace = with_outline(trace, outline(asked.opened.graph, [node.id for node in trace.nodes]))
    if trace.result.answer is None or said_yes:
        trace = trace.with_answer(*write_answer(trace, None, embed))
    live = _live(space, asked, trace, kind)
    st.session_state[f"{key}:run"] = (whole, trace, live)
    return Ran(trace, live, model is not None and wanted not in walked)


def _wanted(asked: AskedNotes, settings: Mapping[str, Value], model: ChatModel | None) -> Any:
    values = tuple(sorted(settings.items(), key=lambda item: item[0]))
    name = model.name if model is not None else None
    return asked.opened.info.fingerprint, asked.question, values, name


def say_yes(asked: AskedNotes, settings: Mapping[str, Value], *, key: str) -> None:
    """Open the closest note of this walk from now on."""
    wanted = _wanted(asked, settings, asking_model(settings))
    st.session_state.setdefault(f"{key}:yes", set()).add(wanted)


def ask_model(
    space: Workspace,
    asked: AskedNotes,
    settings: Mapping[str, Value],
    *,
    key: str,
    on_step: Callable[[Step], None],
    on_text: OnText,
) -> str:
    """Let the model walk and answer, telling each step and each piece of text as it comes.

    Returns:
        '' where it went well, else a sentence; the offline walk then stays.
    """
    model = asking_model(settings)
    if model is None:
        return "No model is named. Name one on the Settings page."
    wanted = _wanted(asked, settings, model)
    try:
        trace = space.ask(
            asked.question,
            knowledge=asked.opened,
            method=_Told(on_step),
            settings=settings,
            model=_Heard(model, on_text),
            embedder=named_embedder(asked.opened.info.embedder),
            answer=True,
            with_map=True,
            on_text=on_text,
        )
    except ModelError as error:
        return f"{error} The offline walk is shown instead."
    visited = any("asked_view" in step.values for step in trace.steps)
    agent = settings.get("scoring") in ("auto", "agent")
    if agent and not visited:
        return f"{trace.result.stop.message} The offline walk is shown instead."
    walked = st.session_state.setdefault(f"{key}:walked", {})
    walked[wanted] = trace
    while len(walked) > 12:
        walked.pop(next(iter(walked)))
    return ""


class _Told:
    """The method, with each step told to somebody as it is taken."""

    def __init__(self, tell: Callable[[Step], None]) -> None:
        self._inner = method(NAME)
        self._tell = tell
        self.name, self.title = self._inner.name, self._inner.title
        self.summary, self.needs = self._inner.summary, self._inner.needs
        self.settings_type, self.prepare = self._inner.settings_type, self._inner.prepare

    def walk(self, prepared: Any, settings: Any, resources: Resources) -> Walk:
        walk = self._inner.walk(prepared, settings, resources)
        while True:
            try:
                step = next(walk)
            except StopIteration as end:
                outcome: Outcome = end.value
                return outcome
            self._tell(step)
            yield step


class _Heard:
    """The model, with its text passed on as it comes."""

    def __init__(self, model: ChatModel, hear: OnText) -> None:
        self._model = model
        self._hear = hear

    @property
    def name(self) -> str:
        return self._model.name

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int = 800,
        on_text: OnText | None = None,
    ) -> Reply:
        hear = on_text or self._hear
        return self._model.complete(messages, tools=tools, max_tokens=max_tokens, on_text=hear)


# --- what lies behind the trace -------------------------------------------------------------


def _live(space: Workspace, asked: AskedNotes, trace: Trace, kind: Kind) -> Live:
    opened = asked.opened

    def node(id: str) -> Node | None:
        if id not in opened.row:
            return None
        note = opened.note(id)
        return Node(id, NodeKind.NOTE, note.title, note.preview, vector=opened.vector(id))

    projection = space.notes_projection(opened, kind=kind)
    query = next((one.vector for one in trace.nodes if one.kind is NodeKind.QUERY), None)
    similarity = None if query is None else (opened.matrix @ query).astype(np.float32)
    ground = Ground(
        positions=projection.positions,
        ids=list(opened.paths),
        labels={path: opened.note(path).title for path in opened.paths},
        similarity=similarity,
        kept=projection.kept,
    )
    return Live(
        ground=ground,
        node=node,
        embed=named_embedder(opened.info.embedder).embed,
        map_note=space.notes_map_status(opened).message,
    )
