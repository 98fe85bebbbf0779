"""What the gates did with a query and a passage of a trace, in numbers and in words.

Everything here is computed from the trace's own vectors and the weights that it names, so that it
works on a trace that was opened from a file, without the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tracert.errors import SettingError, TraceError
from tracert.methods.base import parse_settings
from tracert.methods.treehop.gates import Batch, QueryModel
from tracert.methods.treehop.method import model_for
from tracert.methods.treehop.settings import AUTO, FORGET_RULE, TreeHopSettings
from tracert.trace import NodeKind, Trace, Vector


@dataclass(frozen=True, slots=True, eq=False)
class GateReading:
    """The gates on one pair: next = norm(query - forget + update), each of shape (d,).

    `similarities` are cosines: 'query_passage', 'next_query', 'next_passage'.
    """

    model: str
    query: Vector
    passage: Vector
    forget: Vector
    update: Vector
    following: Vector
    similarities: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Near:
    """A word or passage whose vector lies near another, and the cosine."""

    label: str
    similarity: float


def read_gates(
    trace: Trace, hop: str, passage: str, model: QueryModel | None = None
) -> GateReading:
    """What Forget took and Update added for the query of node `hop` and the passage `passage`.

    Any pair may be asked for, also one that made no next query in the run. Without `model` the
    gates are those that the trace names; a trace may come from anyone, so a path in it is not
    followed: load such weights and pass them.

    Raises:
        TraceError: the trace is of another method, names no such node, keeps no vectors, or
            names a file of weights and none was passed.
    """
    if trace.method != "treehop":
        raise TraceError(
            f"This trace is of {trace.method}, which has no gates. Open one of treehop."
        )
    q, c = _vector(trace, hop), _vector(trace, passage)
    model = model or _named_model(trace)
    moves = model.moves(q[None], c[None])
    following = moves.applied(q[None])[0]
    return GateReading(
        model=model.name,
        query=q,
        passage=c,
        forget=moves.forget[0],
        update=moves.update[0],
        following=following,
        similarities={
            "query_passage": cosine(q, c),
            "next_query": cosine(following, q),
            "next_passage": cosine(following, c),
        },
    )


def nearest(vector: Vector, labels: Sequence[str], vectors: Batch, count: int = 8) -> list[Near]:
    """The labels whose vectors are nearest to a vector by cosine, nearest first.

    A vector of the gates is no text's, so that these words are an approximation of it.

    Args:
        vector: shape (d,).
        labels: words, or titles of passages.
        vectors: theirs, shape (len(labels), d), unit rows.
        count: how many at most.
    """
    length = float(np.linalg.norm(vector))
    if length == 0.0 or not labels:
        return []
    similarities = vectors @ (vector / np.float32(length))
    order = np.argsort(-similarities, kind="stable")[:count]
    return [Near(labels[place], float(similarities[place])) for place in order.tolist()]


def nearest_passages(vector: Vector, trace: Trace, count: int = 5) -> list[Near]:
    """The passages of the trace nearest to a vector, for embedders that know no words."""
    known = [
        (node.label, node.vector)
        for node in trace.nodes
        if node.kind is NodeKind.CHUNK and node.vector is not None
    ]
    if not known:
        return []
    return nearest(vector, [label for label, _ in known], np.stack([v for _, v in known]), count)


def cosine(a: Vector, b: Vector) -> float:
    """The cosine of two vectors, 0 where one has no length."""
    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


def _vector(trace: Trace, id: str) -> Vector:
    try:
        vector = trace.node(id).vector
    except KeyError:
        raise TraceError(f"The trace names no node {id!r}. Choose one of its own.") from None
    if vector is None:
        raise TraceError("The trace was saved without vectors. Save it with them to see the gates.")
    return vector


def _named_model(trace: Trace) -> QueryModel:
    try:
        settings = parse_settings(
            TreeHopSettings,
            {name: trace.settings[name] for name in ("model", "gamma") if name in trace.settings},
        )
    except SettingError as error:
        raise TraceError(f"The trace's settings cannot be used: {error}") from error
    if settings.model not in {AUTO, FORGET_RULE}:
        raise TraceError(
            f"This run used the weights {Path(settings.model).name}, which a trace does not hold. "
            "Run it again here to see its gates."
        )
    return model_for(settings, trace.corpus.embedder, trace.corpus.dimension)
