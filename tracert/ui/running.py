"""From a question to a trace with all that its views need; a moved setting is arithmetic alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import streamlit as st

from tracert.embedding.base import Embedder
from tracert.language.answer import write_answer
from tracert.language.record import Recorder
from tracert.methods.base import Embed
from tracert.render.map import Ground
from tracert.render.words import title
from tracert.snapshot import Snapshot
from tracert.store.records import CorpusRecord
from tracert.trace import Answer, Cost, Node, NodeKind, Replies, Trace, Value, Vector
from tracert.ui.live import Live
from tracert.ui.model import chat_model, embedder_for, named_embedder
from tracert.workspace import Workspace

#: Points of the ground that the map draws, and up to how many each has its words on hover.
GROUND, LABELLED = 12_000, 4_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of which corpus."""

    record: CorpusRecord
    question: str
    goal: str | None = None


def run(
    space: Workspace,
    asked: Asked,
    method: str,
    settings: Mapping[str, Value],
    *,
    kind: Literal["auto", "pca"] = "auto",
    key: str,
) -> tuple[Trace, Live]:
    """The trace of a question, the last one kept in the session while nothing changes.

    Raises:
        TracertError: what cannot be done, and what to do instead.
    """
    st.session_state[f"{key}:settings"] = (method, dict(settings))
    model, embedder = chat_model(), embedder_for(asked.record)
    status = space.map_status(asked.record.name)
    wanted = (
        asked.record.fingerprint,
        asked.record.name,
        asked.question,
        asked.goal,
        method,
        tuple(sorted(settings.items(), key=lambda item: item[0])),
        model.name if model else None,
        kind,
        status.state,
    )
    kept = st.session_state.get(f"{key}:run")
    if kept is not None and kept[0] == wanted:
        trace, live = kept[1], kept[2]
        return trace, live
    name = asked.record.name
    trace = space.ask(
        asked.question,
        corpus=name,
        method=method,
        settings=settings,
        goal=asked.goal,
        model=model,
        embedder=embedder,
        answer=False,
        with_map=kind,
    )
    snapshot = space.open(name)
    embed = (embedder or named_embedder(asked.record.embedder)).embed
    trace = _answered(trace, embed, key=key)
    live = _live(space, snapshot, asked, trace, embed, embedder, kind)
    st.session_state[f"{key}:run"] = (wanted, trace, live)
    return trace, live


# --- the answer ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Written:
    """An answer that a model wrote, what it cost and what the model said."""

    answer: Answer
    cost: Cost
    replies: Replies | None

    def into(self, trace: Trace) -> Trace:
        """The trace with this answer and its replies."""
        answered = trace.with_answer(self.answer, self.cost)
        return answered if self.replies is None else answered.with_replies(self.replies)


def _answered(trace: Trace, embed: Embed, *, key: str) -> Trace:
    """With an answer: the model's where it wrote one from this evidence, else an extract."""
    written = st.session_state.get(f"{key}:written", {})
    found: Written | None = written.get((trace.question, trace.result.evidence))
    if found is not None:
        return found.into(trace)
    return trace.with_answer(*write_answer(trace, None, embed))


def write(trace: Trace, *, key: str) -> None:
    """Let the session's model write the answer from the evidence of this trace, and keep it."""
    model = chat_model()
    heard = None if model is None else Recorder(model)
    answer, cost = write_answer(trace, heard, None)
    written = st.session_state.setdefault(f"{key}:written", {})
    replies = None if heard is None else heard.replies
    written[(trace.question, trace.result.evidence)] = Written(answer, cost, replies)
    st.session_state.pop(f"{key}:run", None)


# --- what lies behind the trace -----------------------------------------------------------


def _live(
    space: Workspace,
    snapshot: Snapshot,
    asked: Asked,
    trace: Trace,
    embed: Embed,
    embedder: Embedder | None,
    kind: Literal["auto", "pca"],
) -> Live:
    name = asked.record.name
    plain = space.ask(
        asked.question,
        corpus=name,
        method="native_rag",
        settings=_plain_settings(trace),
        embedder=embedder,
        answer=False,
        with_map=False,
    )

    def node(id: str) -> Node | None:
        row = snapshot.ids.row(id)
        return None if row is None else snapshot.chunks([row])[0].node(snapshot.matrix[row])

    def document(id: str) -> str | None:
        row = snapshot.ids.row(id)
        if row is None:
            return None
        return snapshot.document_text(snapshot.chunks([row])[0].document_fingerprint)

    def near(vector: Vector, count: int) -> list[tuple[str, float]]:
        cosines = snapshot.matrix @ (vector / max(float(np.linalg.norm(vector)), 1e-12))
        return [
            (snapshot.ids[row], float(cosines[row]))
            for row in np.argsort(-cosines, kind="stable")[:count].tolist()
        ]

    return Live(
        ground=_ground(space, snapshot, trace, kind),
        document=document,
        node=node,
        embed=embed,
        plain=plain,
        near=near,
        map_note=space.map_status(name).message,
    )


def _plain_settings(trace: Trace) -> dict[str, Value]:
    """As many passages as the walk found, from the same first stage where it has one."""
    settings: dict[str, Value] = {"k": max(1, min(50, len(trace.result.evidence)))}
    if "first_stage" in trace.settings:
        settings["first_stage"] = trace.settings["first_stage"]
    return settings


def _ground(
    space: Workspace, snapshot: Snapshot, trace: Trace, kind: Literal["auto", "pca"]
) -> Ground | None:
    if trace.map is None or not len(snapshot.ids):
        return None
    projection = space.projection(snapshot.info.name, kind=kind)
    size = len(snapshot.ids)
    rows = np.arange(size) if size <= GROUND else np.linspace(0, size - 1, GROUND).astype(int)
    ids = [snapshot.ids[int(row)] for row in rows]
    similarity = inside = None
    query = next((one.vector for one in trace.nodes if one.kind is NodeKind.QUERY), None)
    if query is not None:
        similarity = (snapshot.matrix[rows] @ query).astype(np.float32)
        radius = trace.steps[0].values.get("radius") if trace.steps else None
        if isinstance(radius, float):
            inside = 1.0 - similarity <= radius + 1e-6
    return Ground(
        positions=projection.positions[rows],
        ids=ids,
        labels=_labels(snapshot.info.fingerprint, snapshot) if size <= LABELLED else None,
        similarity=similarity,
        kept=projection.kept[rows],
        inside=inside,
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _labels(fingerprint: str, _snapshot: Snapshot) -> dict[str, str]:  # noqa: ARG001 the key
    chunks = _snapshot.chunks(range(len(_snapshot.ids)))
    return {chunk.id: title(chunk.node()) for chunk in chunks}
