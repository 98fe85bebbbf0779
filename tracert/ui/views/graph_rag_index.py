"""The graph of a corpus on the page: what it is made of, what it costs, and its making.

Offline it is made at once, in the background, and asks nobody. With a model it may take some
hundred calls, so the page says how many and makes none before a person has agreed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from tracert.language.base import ChatModel
from tracert.methods.graph_rag import GraphRagSettings
from tracert.methods.graph_rag.graph import Graph
from tracert.methods.graph_rag.index import (
    Limits,
    Making,
    graph_of,
    incomplete,
    is_made,
    most_calls,
)
from tracert.render.numbers import count, seconds
from tracert.snapshot import Snapshot
from tracert.trace import Trace, Value
from tracert.ui import controls
from tracert.ui.jobs import Job
from tracert.ui.model import chat_model
from tracert.ui.model import settings as model_settings
from tracert.ui.running import Asked
from tracert.ui.safe import literal
from tracert.ui.views import job as job_view
from tracert.workspace import Workspace

OFFLINE: Final = Limits(0, 0)
_STAGES: Final = {
    "names": "Looking for names",
    "reading": "The model reads",
    "communities": "Relating entities and dividing them into communities",
    "summaries": "The model sums up",
}
LIMITS_OFFLINE: Final = (
    "Made offline: an entity is a capitalised name, two are related where they share a sentence, "
    "and a summary is quoted sentences. Things without a name, relations told over several "
    "sentences and other scripts are missed."
)
_Work = Job[Making, Graph]


@dataclass(frozen=True, slots=True)
class Made:
    """A graph that is there, and the settings by which a walk finds it again."""

    graph: Graph
    settings: Mapping[str, Value]


def show(space: Workspace, asked: Asked, *, key: str) -> Made | None:
    """The graph of the corpus that is asked; None while it is being made or waits for a yes."""
    snapshot = space.open(asked.record.name)
    model = chat_model()
    with st.container(border=True, gap="small"):
        limits = _limits(model, key=key)
        used = model if limits != OFFLINE else None
        job: _Work | None = st.session_state.get(f"{key}:making")
        if job is not None and job.running:
            _watch(job, key=key)
            return None
        if not is_made(snapshot, used, limits, space.path):
            if used is None:
                return _offline(space, snapshot, job, key=key)
            _offer(space, snapshot, used, limits, job, key=key)
            limits, used = OFFLINE, None
            if not is_made(snapshot, None, OFFLINE, space.path):
                return None
            st.caption("Until then the graph made offline is searched.")
        graph, _ = graph_of(snapshot, used, limits, space.path)
        _metrics(graph)
    values: dict[str, Value] = {
        "reading_calls": limits.reading,
        "summary_calls": limits.summaries,
    }
    return Made(graph, values)


def told(trace: Trace) -> None:
    """What an opened trace tells of the graph that it was made over."""
    values = trace.steps[0].values if trace.steps else {}
    parts = []
    for name, one, many in (
        ("entities", "entity", "entities"),
        ("relations", "relation", ""),
        ("communities", "community", "communities"),
    ):
        value = values.get(name)
        if isinstance(value, int | float):
            parts.append(count(int(value), one, many))
    spent, calls = values.get("index_seconds"), values.get("index_model_calls")
    if isinstance(spent, int | float):
        parts.append(f"made in {seconds(float(spent))}")
    if isinstance(calls, int | float):
        parts.append(f"with {count(int(calls), 'model call')}")
    if parts:
        st.caption(f"The graph: {', '.join(parts)}. {literal(str(values.get('index_note') or ''))}")


# --- how much a model may do ------------------------------------------------------------------


def _limits(model: ChatModel | None, *, key: str) -> Limits:
    """How many calls a model may take for the graph; none where none is named or wanted."""
    head, tools = st.columns([2.4, 3], vertical_alignment="center")
    head.markdown("**The graph**", help="Made once for a corpus, and kept with it.")
    if model is None:
        tools.caption(":material/cloud_off: Offline. Name a model in Settings to let it read.")
        return OFFLINE
    with tools, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        on = st.toggle(
            f"Let {literal(model.name)} read",
            key=f"{key}:reads",
            persist_state="session",
            help="A model finds entities that are no names and says how they are related. It takes "
            "many calls, once. Nothing is sent before you agree.",
        )
        if not on:
            return OFFLINE
        return Limits(_calls("reading_calls", key=key), _calls("summary_calls", key=key))


def _calls(name: str, *, key: str) -> int:
    field = controls.field_named(GraphRagSettings, name)
    full = f"{key}:{name}"
    st.session_state.setdefault(full, field.default)
    return int(
        st.number_input(
            str(field.metadata["label"]),
            int(field.metadata["low"]),
            int(field.metadata["high"]),
            step=10,
            key=full,
            help=field.metadata["help"],
            persist_state="session",
            width=150,
        )
    )


def _offer(
    space: Workspace,
    snapshot: Snapshot,
    model: ChatModel,
    limits: Limits,
    job: _Work | None,
    *,
    key: str,
) -> None:
    """What the making would take, and the button that agrees to it."""
    most = most_calls(snapshot, limits)
    own = model_settings()
    said = (
        f"To make this graph {literal(model.name)} is called up to {most:,} times "
        f"({snapshot.info.size:,} passages, about four a call; {limits.summaries:,} summaries) "
        "and is sent the passages."
    )
    if own.calls and most > own.calls:
        said += (
            f" Your budget is {own.calls:,} calls: raise it in Settings, or lower the calls here; "
            "what is read before it ends is kept."
        )
    st.warning(said, icon=":material/payments:")
    if job is not None and job.report is not None and incomplete(job.report):
        st.error(literal(" ".join(job.report.notes)), icon=":material/error:")
    elif job is not None and job.message:
        st.info(literal(job.message), icon=":material/block:")
    if st.button(
        f"Make the graph with up to {most:,} calls",
        type="primary",
        key=f"{key}:agree",
        icon=":material/hub:",
    ):
        _begin(space, snapshot, model, limits, key=key)


def _offline(space: Workspace, snapshot: Snapshot, job: _Work | None, *, key: str) -> Made | None:
    """Make the graph offline, at once; after a stop or a failure only when asked to."""
    mark = (snapshot.info.fingerprint, "offline")
    if st.session_state.get(f"{key}:made-for") != mark:
        st.session_state[f"{key}:made-for"] = mark
        _begin(space, snapshot, None, OFFLINE, key=key)
    if job is not None and job.message:
        st.info(literal(job.message), icon=":material/block:")
    if st.button("Make the graph", type="primary", key=f"{key}:make", icon=":material/hub:"):
        _begin(space, snapshot, None, OFFLINE, key=key)
    return None


def _begin(
    space: Workspace, snapshot: Snapshot, model: ChatModel | None, limits: Limits, *, key: str
) -> None:
    st.session_state[f"{key}:making"] = Job(
        f"Making the graph of {snapshot.info.name}",
        lambda tell, stop: graph_of(
            snapshot, model, limits, space.path, on_progress=tell, cancelled=stop
        )[0],
        cancelled="The making of the graph was stopped. What a model has read is kept.",
    )
    st.rerun()


@st.fragment(run_every=0.5)
def _watch(job: _Work, *, key: str) -> None:
    if not job.running:
        st.rerun()
    st.markdown(f"**{literal(job.title)}**")
    now = job.progress
    if now is None:
        job_view.beginning(job)
    else:
        calls = now.stage in ("reading", "summaries")
        said = _STAGES[now.stage]
        said += f" · {now.done:,} of {count(now.total, 'call')}" if calls else "…"
        share = now.done / now.total if calls and now.total else 0.0
        st.progress(min(1.0, share), said)
    job_view.stop(job, "Cancel", key=f"{key}:cancel")


def _metrics(graph: Graph) -> None:
    """What the graph is made of and what it cost, which is what the paper holds against it."""
    cost = graph.cost
    tokens = cost.prompt_tokens + cost.completion_tokens
    figures = (
        ("Making it took", seconds(graph.seconds)),
        ("Model calls", f"{cost.model_calls:,}"),
        ("Tokens", f"{tokens:,}"),
        ("Entities", f"{len(graph.entities):,}"),
        ("Relations", f"{len(graph.relations):,}"),
        (f"Communities, {count(graph.levels, 'level')}", f"{len(graph.communities):,}"),
    )
    with st.container(horizontal=True, gap="medium"):
        for label, value in figures:
            st.metric(label, value, width=158)
    told = LIMITS_OFFLINE if not graph.read else " ".join(graph.notes)
    if told:
        st.caption(f":material/info: {literal(told)}")
