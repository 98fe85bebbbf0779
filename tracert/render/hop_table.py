"""Tables of a walk whose query moves: similarities of the kept passages, and plain top-k beside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tracert.render import tree
from tracert.render.frames import frame, last
from tracert.render.words import title
from tracert.trace import Trace, Vector


def similarity_rows(trace: Trace) -> dict[str, list[Any]]:
    """The kept passages with their cosines to q, q' and c, in the order of their numbers.

    For a passage that the query q' found: q is the query before it and c the passage that
    the gates saw, so that q' was made of both. For the first hop q' is the question, and there is
    neither q nor c, None.
    """
    vectors = {node.id: node.vector for node in trace.nodes}
    order = frame(trace, last(trace)).order
    known = {query.id: query for query in tree.queries(trace)}
    rows: dict[str, list[Any]] = {
        name: [] for name in ("id", "No.", "Passage", "Found by", "To q", "To q′", "To c")
    }
    for id, number in order.items():
        found = tree.finder(trace, id)
        if found is None:
            continue
        q, c = (known.get(found.parent or ""), found.passage)
        rows["id"].append(id)
        rows["No."].append(number)
        rows["Passage"].append(title(trace.node(id), 90))
        rows["Found by"].append("question" if found.step == 0 else found.name)
        for name, other in (("To q", q.id if q else None), ("To q′", found.id), ("To c", c)):
            rows[name].append(_cosine(vectors[id], vectors.get(other or "")))
    for name in ("To q", "To c"):
        if all(value is None for value in rows[name]):
            del rows[name]
    return rows


def _cosine(a: Vector | None, b: Vector | None) -> float | None:
    return None if a is None or b is None else float(np.dot(a, b))


def plain_of(trace: Trace) -> Trace | None:
    """Plain top-k at the same number of passages, as far as the trace itself holds it.

    The first hop is plain top-k. It looked at enough passages where the number in all is fixed;
    where each hop has its own, it did not, and there is None.
    """
    count = len(trace.result.evidence)
    first = trace.steps[0].candidates if trace.steps else ()
    if not count or len(first) < min(count, trace.corpus.size):
        return None
    ranked = sorted(first, key=lambda item: -_score(item.values.get("score")))
    ids = tuple(item.id for item in ranked[:count])
    return replace(trace, result=replace(trace.result, evidence=ids))


def _score(value: float | str | None) -> float:
    return float(value) if isinstance(value, int | float) else -np.inf
