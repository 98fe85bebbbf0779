"""The trace: everything that a run of a retrieval method did, typed, frozen and as JSON.

A method yields `Step`s and returns an `Outcome` (see `tracert.methods.base`); `collect` drains
it into a `Trace`. Pages, player, map, tables, exports and evaluation read traces alone, so
a trace holds all that is needed to draw and to explain the run: without the corpus, without
a key and without running again. It never holds a secret.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tracert.errors import TraceError

SCHEMA: Final = "tracert.trace/1"
#: A trace file larger than this is refused before it is parsed.
MAX_BYTES: Final = 200_000_000
#: The most of each that a trace file may hold; a larger one is refused, not drawn for hours.
MAX_NODES: Final = 100_000
MAX_STEPS: Final = 2_000
MAX_CANDIDATES: Final = 1_000_000
MAX_REPLIES: Final = 10_000
#: Whole numbers are read up to this size (2^53, what JSON's numbers hold exactly).
_LARGEST: Final = 2**53

Vector = npt.NDArray[np.float32]
#: Any value of JSON that a setting or a step may carry.
Value = str | int | float | bool | None


class NodeKind(StrEnum):
    """What a node of a trace stands for."""

    QUERY = "query"
    GOAL = "goal"
    CHUNK = "chunk"
    NOTE = "note"
    HOP = "hop"
    ENTITY = "entity"
    COMMUNITY = "community"


class StopReason(StrEnum):
    """Why a walk ended. A walk that does not arrive is an outcome, not an error."""

    GOAL_REACHED = "goal_reached"
    DEAD_END = "dead_end"
    MAX_HOPS = "max_hops"
    EMPTY_CORRIDOR = "empty_corridor"
    HOPS_DONE = "hops_done"
    NOTHING_NEW = "nothing_new"
    ANSWERED = "answered"
    FALLBACK = "fallback"
    BUDGET = "budget"


#: How the names of presentations end; their pages are slides.
_SLIDES: Final = (".pptx", ".pptm", ".ppsx")


def leaf_of(document: str, page: int | None) -> str:
    """'page 4', or 'slide 4' of a presentation (told by its name); '' where there is none."""
    if page is None:
        return ""
    return f"{'slide' if document.lower().endswith(_SLIDES) else 'page'} {page}"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a passage stands: `text == document_text[start:end]`, in characters.

    `page` counts from 1 and is None where the format has no pages; `heading_path` runs from
    the outermost heading to the innermost.
    """

    document: str
    page: int | None
    heading_path: tuple[str, ...]
    start: int
    end: int

    @property
    def leaf(self) -> str:
        """The page in words, as `leaf_of` says it."""
        return leaf_of(self.document, self.page)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Something that the walk named. `vector` is a unit vector of shape (d,), if kept."""

    id: str
    kind: NodeKind
    label: str
    text: str
    source: Source | None = None
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node considered in one step: kept or rejected, by which rule, with which numbers."""

    id: str
    kept: bool
    rule: str
    reason: str
    values: Mapping[str, float | str | None]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One move. `candidates` are best first and may be cut; `counts` by rule cover all.

    `source` and `target` are ids of nodes; `target` is None where the move led nowhere.
    `vector`, of shape (d,), is the query vector of this step, where it is no node's own.
    """

    index: int
    action: str
    source: str
    target: str | None
    values: Mapping[str, float | str | None]
    counts: Mapping[str, int]
    candidates: tuple[Candidate, ...]
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the walk ended (`message`) and what a person may change (`remedy`, may be empty)."""

    reason: StopReason
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer with the ids that it cites.

    `unknown` holds citations that name no passage of the evidence: a model made them up.
    """

    text: str
    citations: tuple[str, ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer written from the evidence; `source` is 'extract' or the model's name."""

    sentences: tuple[Sentence, ...]
    source: str
    note: str = ""

    @property
    def text(self) -> str:
        """The answer as running text, without citations."""
        return " ".join(sentence.text for sentence in self.sentences)


@dataclass(frozen=True, slots=True)
class Result:
    """What the walk brought.

    `path`: ids in walking order, the query first, the goal last if it was reached.
    `evidence`: ids of passages or notes to answer from; in walking order for tracert_rag,
    best first for the other methods.
    """

    path: tuple[str, ...]
    evidence: tuple[str, ...]
    stop: Stop
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a language model said once in a run.

    `key` is the hash of what it was sent (`tracert.language.record.exchange_key`); `calls` are
    the calls of tools that it asked for, as (id, name, arguments).
    """

    key: str
    text: str
    calls: tuple[tuple[str, str, str], ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish: str = "stop"


@dataclass(frozen=True, slots=True)
class Replies:
    """The replies of one model in the order in which they came, so that a run replays without it.

    They hold no key and no address.
    """

    model: str
    replies: tuple[ModelReply, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """The picture plane: where the nodes lie, and the rest of the corpus as background.

    `kind` is 'umap' or 'pca'; positions of the query, the goal and other points that were
    not in the fit are approximate. `background` has shape (m, 2).
    """

    kind: str
    seed: int
    positions: Mapping[str, tuple[float, float]]
    background: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Cost:
    """What the run cost: seconds by stage, calls of the model, tokens by its own count."""

    seconds: Mapping[str, float] = field(default_factory=dict)
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def plus(self, other: Cost) -> Cost:
        """The sum of two costs; seconds are added stage by stage."""
        stages = {**self.seconds}
        for stage, seconds in other.seconds.items():
            stages[stage] = stages.get(stage, 0.0) + seconds
        return Cost(
            stages,
            self.model_calls + other.model_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """Which corpus was walked: enough to find it again and to tell that it changed."""

    name: str
    fingerprint: str
    embedder: str
    dimension: int
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One run, whole. See the module's docstring."""

    method: str
    question: str
    settings: Mapping[str, Value]
    seed: int
    corpus: CorpusInfo
    nodes: tuple[Node, ...]
    steps: tuple[Step, ...]
    result: Result
    map: Map | None = None
    cost: Cost = field(default_factory=Cost)
    replies: Replies | None = None

    def node(self, id: str) -> Node:
        """The node of that id.

        Raises:
            KeyError: the trace names no such node.
        """
        for node in self.nodes:
            if node.id == id:
                return node
        raise KeyError(id)

    def with_answer(self, answer: Answer, cost: Cost) -> Trace:
        """The same run with an answer and what the answer cost."""
        return replace(self, result=replace(self.result, answer=answer), cost=self.cost.plus(cost))

    def with_replies(self, replies: Replies) -> Trace:
        """The same run with what a model said in it, after what it already holds."""
        if not replies.replies:
            return self
        before = () if self.replies is None else self.replies.replies
        return replace(self, replies=replace(replies, replies=(*before, *replies.replies)))

    def with_map(self, map: Map) -> Trace:
        """The same run with its picture plane."""
        return replace(self, map=map)

    def to_json(self, *, vectors: bool = True, indent: int | None = None) -> str:
        """The trace as JSON text, schema `tracert.trace/1`; `vectors=False` leaves them out."""
        return json.dumps(
            _trace_to_dict(self, vectors=vectors),
            ensure_ascii=False,
            indent=indent,
            allow_nan=False,
        )

    @staticmethod
    def from_json(text: str | bytes) -> Trace:
        """Read a trace back.

        Raises:
            TraceError: the text is no trace, is damaged, too large or of another version.
        """
        if len(text) > MAX_BYTES:
            raise TraceError(
                f"The trace has {len(text) / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB are "
                "read. Save it again with fewer candidates a step or without vectors."
            )
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise TraceError(
                "This file is not JSON. Open a file that 'Save trace' or 'ask --json' wrote."
            ) from error
        schema = data.get("schema") if isinstance(data, dict) else None
        if schema is None:
            raise TraceError(
                "This file names no schema, so it is no trace. Open a file that 'Save trace' or "
                "'ask --json' wrote."
            )
        if schema != SCHEMA:
            raise TraceError(
                f"This file has the schema {str(schema)[:80]!r}, not {SCHEMA!r}. Open a trace "
                "that this version of Tracert wrote."
            )
        try:
            return _trace_from_dict(data)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise TraceError(
                f"The trace is damaged near {str(error)[:120]!r}. Save it again from the "
                "page or with 'ask --json'."
            ) from error


# --- to JSON ------------------------------------------------------------------------------


def _number(value: float | str | None) -> float | str | None:
    """JSON knows no infinity: a distance that is not finite is written as null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _number(value) for key, value in values.items()}


def _vector_to_text(vector: Vector) -> str:
    return base64.b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode("ascii")


def _trace_to_dict(trace: Trace, *, vectors: bool) -> dict[str, Any]:
    result = trace.result
    # A run that asked no model says nothing of replies.
    said = {} if trace.replies is None else {"replies": _replies_to_dict(trace.replies)}
    return {
        "schema": SCHEMA,
        "method": trace.method,
        "question": trace.question,
        "settings": _numbers(trace.settings),
        "seed": trace.seed,
        "corpus": {
            "name": trace.corpus.name,
            "fingerprint": trace.corpus.fingerprint,
            "embedder": trace.corpus.embedder,
            "dimension": trace.corpus.dimension,
            "size": trace.corpus.size,
        },
        "nodes": [_node_to_dict(node, vectors=vectors) for node in trace.nodes],
        "steps": [_step_to_dict(step, vectors=vectors) for step in trace.steps],
        "result": {
            "path": list(result.path),
            "evidence": list(result.evidence),
            "stop": {
                "reason": result.stop.reason.value,
                "message": result.stop.message,
                "remedy": result.stop.remedy,
            },
            "answer": None if result.answer is None else _answer_to_dict(result.answer),
        },
        "map": None if trace.map is None else _map_to_dict(trace.map),
        "cost": {
            "seconds": dict(trace.cost.seconds),
            "model_calls": trace.cost.model_calls,
            "prompt_tokens": trace.cost.prompt_tokens,
            "completion_tokens": trace.cost.completion_tokens,
        },
        **said,
    }


def _replies_to_dict(said: Replies) -> dict[str, Any]:
    return {
        "model": said.model,
        "replies": [
            {
                "key": reply.key,
                "text": reply.text,
                "calls": [list(call) for call in reply.calls],
                "prompt_tokens": reply.prompt_tokens,
                "completion_tokens": reply.completion_tokens,
                "finish": reply.finish,
            }
            for reply in said.replies
        ],
    }


def _node_to_dict(node: Node, *, vectors: bool) -> dict[str, Any]:
    source = node.source
    out: dict[str, Any] = {
        "id": node.id,
        "kind": node.kind.value,
        "label": node.label,
        "text": node.text,
        "source": None
        if source is None
        else {
            "document": source.document,
            "page": source.page,
            "heading_path": list(source.heading_path),
            "start": source.start,
            "end": source.end,
        },
    }
    if vectors and node.vector is not None:
        out["vector"] = _vector_to_text(node.vector)
    return out


def _step_to_dict(step: Step, *, vectors: bool) -> dict[str, Any]:
    out: dict[str, Any] = {
        "index": step.index,
        "action": step.action,
        "source": step.source,
        "target": step.target,
        "values": _numbers(step.values),
        "counts": dict(step.counts),
        "candidates": [
            {
                "id": candidate.id,
                "kept": candidate.kept,
                "rule": candidate.rule,
                "reason": candidate.reason,
                "values": _numbers(candidate.values),
            }
            for candidate in step.candidates
        ],
    }
    if vectors and step.vector is not None:
        out["vector"] = _vector_to_text(step.vector)
    return out


def _answer_to_dict(answer: Answer) -> dict[str, Any]:
    return {
        "text": answer.text,
        "source": answer.source,
        "note": answer.note,
        "sentences": [
            {
                "text": sentence.text,
                "citations": list(sentence.citations),
                "unknown": list(sentence.unknown),
            }
            for sentence in answer.sentences
        ],
    }


def _map_to_dict(map: Map) -> dict[str, Any]:
    return {
        "kind": map.kind,
        "seed": map.seed,
        "positions": {
            id: [round(float(x), 4), round(float(y), 4)] for id, (x, y) in map.positions.items()
        },
        "background": np.round(map.background.astype(np.float64), 4).tolist(),
    }


# --- from JSON: a trace file may come from anyone, so every type is checked -------------------


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {type(value).__name__}")
    if not value.isascii():
        value.encode()  # half a surrogate pair is no text: nothing could show or save it
    return value


def _texts(value: object) -> tuple[str, ...]:
    return tuple(_text(item) for item in _list(value))


def _list(value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {type(value).__name__}")
    return value


def _dict(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {type(value).__name__}")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"expected a whole number, got {type(value).__name__}")
    if not -_LARGEST <= value <= _LARGEST:
        raise ValueError("a whole number too large to be one of a trace")
    return value


def _few(value: object, most: int, what: str) -> Sequence[Any]:
    found = _list(value)
    if len(found) > most:
        raise ValueError(f"{len(found)} {what}, where at most {most} are read")
    return found


def _real(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"expected a finite number, got {str(value)[:40]!r}")
    return float(value)


def _scalar(value: object) -> Value:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _count(value)
    return _text(value) if isinstance(value, str) else _real(value)


def _measures(value: object) -> dict[str, float | str | None]:
    out: dict[str, float | str | None] = {}
    for key, item in _dict(value).items():
        out[_text(key)] = (
            None if item is None else _text(item) if isinstance(item, str) else _real(item)
        )
    return out


def _vector_from_text(value: object, dimension: int) -> Vector:
    vector = np.frombuffer(base64.b64decode(_text(value), validate=True), dtype="<f4")
    if vector.size != dimension or not np.isfinite(vector).all():
        raise ValueError(f"a vector of {vector.size} numbers where the corpus has {dimension}")
    return vector.astype(np.float32)


def _source_from_dict(data: Mapping[str, Any]) -> Source:
    return Source(
        document=_text(data["document"]),
        page=None if data["page"] is None else _count(data["page"]),
        heading_path=_texts(data["heading_path"]),
        start=_count(data["start"]),
        end=_count(data["end"]),
    )


def _node_from_dict(data: Mapping[str, Any], dimension: int) -> Node:
    return Node(
        id=_text(data["id"]),
        kind=NodeKind(data["kind"]),
        label=_text(data["label"]),
        text=_text(data["text"]),
        source=None if data["source"] is None else _source_from_dict(_dict(data["source"])),
        vector=_vector_from_text(data["vector"], dimension) if "vector" in data else None,
    )


def _candidate_from_dict(data: Mapping[str, Any]) -> Candidate:
    if not isinstance(data["kept"], bool):
        raise TypeError("'kept' is not true or false")
    return Candidate(
        id=_text(data["id"]),
        kept=data["kept"],
        rule=_text(data["rule"]),
        reason=_text(data["reason"]),
        values=_measures(data["values"]),
    )


def _step_from_dict(data: Mapping[str, Any], dimension: int) -> Step:
    return Step(
        index=_count(data["index"]),
        action=_text(data["action"]),
        source=_text(data["source"]),
        target=None if data["target"] is None else _text(data["target"]),
        values=_measures(data["values"]),
        counts={_text(key): _count(value) for key, value in _dict(data["counts"]).items()},
        candidates=tuple(_candidate_from_dict(_dict(item)) for item in _list(data["candidates"])),
        vector=_vector_from_text(data["vector"], dimension) if "vector" in data else None,
    )


def _answer_from_dict(data: Mapping[str, Any]) -> Answer:
    return Answer(
        sentences=tuple(
            Sentence(_text(item["text"]), _texts(item["citations"]), _texts(item["unknown"]))
            for item in map(_dict, _list(data["sentences"]))
        ),
        source=_text(data["source"]),
        note=_text(data["note"]),
    )


def _map_from_dict(data: Mapping[str, Any]) -> Map:
    rows = [[_real(x), _real(y)] for x, y in _list(data["background"])]
    with np.errstate(over="ignore"):
        background = np.array(rows, dtype=np.float32).reshape(-1, 2)
    if not np.isfinite(background).all():
        raise ValueError("a point of the map too far out for float32")
    return Map(
        kind=_text(data["kind"]),
        seed=_count(data["seed"]),
        positions={
            _text(id): (_real(x), _real(y)) for id, (x, y) in _dict(data["positions"]).items()
        },
        background=background,
    )


def _replies_from_dict(data: Mapping[str, Any]) -> Replies:
    return Replies(
        model=_text(data["model"]),
        replies=tuple(
            ModelReply(
                key=_text(item["key"]),
                text=_text(item["text"]),
                calls=tuple(_call(call) for call in _list(item["calls"])),
                prompt_tokens=_count(item["prompt_tokens"]),
                completion_tokens=_count(item["completion_tokens"]),
                finish=_text(item["finish"]),
            )
            for item in map(_dict, _few(data["replies"], MAX_REPLIES, "replies"))
        ),
    )


def _call(value: object) -> tuple[str, str, str]:
    id, name, arguments = _texts(value)
    return id, name, arguments


def _trace_from_dict(data: Mapping[str, Any]) -> Trace:
    corpus = _dict(data["corpus"])
    info = CorpusInfo(
        name=_text(corpus["name"]),
        fingerprint=_text(corpus["fingerprint"]),
        embedder=_text(corpus["embedder"]),
        dimension=_count(corpus["dimension"]),
        size=_count(corpus["size"]),
    )
    nodes = tuple(
        _node_from_dict(_dict(item), info.dimension)
        for item in _few(data["nodes"], MAX_NODES, "nodes")
    )
    steps = tuple(
        _step_from_dict(_dict(item), info.dimension)
        for item in _few(data["steps"], MAX_STEPS, "steps")
    )
    if sum(len(step.candidates) for step in steps) > MAX_CANDIDATES:
        raise ValueError(f"more than {MAX_CANDIDATES} candidates")
    result = _dict(data["result"])
    stop = _dict(result["stop"])
    cost = _dict(data["cost"])
    trace = Trace(
        method=_text(data["method"]),
        question=_text(data["question"]),
        settings={_text(key): _scalar(value) for key, value in _dict(data["settings"]).items()},
        seed=_count(data["seed"]),
        corpus=info,
        nodes=nodes,
        steps=steps,
        result=Result(
            path=_texts(_few(result["path"], MAX_NODES, "places of the path")),
            evidence=_texts(_few(result["evidence"], MAX_NODES, "places of the evidence")),
            stop=Stop(StopReason(stop["reason"]), _text(stop["message"]), _text(stop["remedy"])),
            answer=None if result["answer"] is None else _answer_from_dict(_dict(result["answer"])),
        ),
        map=None if data["map"] is None else _map_from_dict(_dict(data["map"])),
        cost=Cost(
            seconds={_text(key): _real(value) for key, value in _dict(cost["seconds"]).items()},
            model_calls=_count(cost["model_calls"]),
            prompt_tokens=_count(cost["prompt_tokens"]),
            completion_tokens=_count(cost["completion_tokens"]),
        ),
        replies=None if data.get("replies") is None else _replies_from_dict(_dict(data["replies"])),
    )
    _check_references(trace)
    return trace


def _check_references(trace: Trace) -> None:
    """Every id that the trace uses must name one of its nodes, and steps count from 0."""
    known = {node.id for node in trace.nodes}
    if len(known) != len(trace.nodes):
        raise ValueError("two nodes share an id")
    used: set[str] = {*trace.result.path, *trace.result.evidence}
    for place, step in enumerate(trace.steps):
        if step.index != place:
            raise ValueError(f"step {place} has the index {step.index}")
        used.add(step.source)
        used.update(candidate.id for candidate in step.candidates)
        if step.target is not None:
            used.add(step.target)
    missing = used - known
    if missing:
        raise ValueError(f"no node {min(missing)!r}")
