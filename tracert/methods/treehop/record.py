"""TreeHop's retrieval as steps and nodes of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tracert.corpus.model import Corpus
from tracert.methods.treehop.gates import Batch
from tracert.methods.treehop.retrieval import (
    BUDGET,
    KEPT,
    LAYER_TOP_K,
    LOW_NOVELTY,
    MAX_QUERIES,
    NOT_SPAWNED,
    REDUNDANT,
    Found,
    Hit,
    HopQuery,
    places,
)
from tracert.methods.treehop.settings import TreeHopSettings
from tracert.trace import Candidate, Node, NodeKind, Step, Stop, StopReason

_REASONS = {
    KEPT: "among the best of this hop",
    NOT_SPAWNED: "kept, but better passages of this hop make the next queries",
    REDUNDANT: "retrieved before: the branch ends here",
    LAYER_TOP_K: "other passages of this hop, over all its queries, scored higher",
    LOW_NOVELTY: "says too little that the kept passages do not say",
    BUDGET: "no place is free: the rest is kept for later hops",
}


def hop_id(query: int) -> str:
    """The id of a query's node; hop:0 is the question itself."""
    return f"hop:{query}"


def steps(found: Found, corpus: Corpus, settings: TreeHopSettings, model: str) -> Iterator[Step]:
    """One step a query, in the order in which they were made; `model` is what moved it."""
    last_hop = max(query.hop for query in found.queries)
    free = places(settings, settings.hops)
    for index, (query, hits) in enumerate(zip(found.queries, found.hits, strict=True)):
        counts: dict[str, int] = {}
        for hit in hits:
            counts[hit.rule] = counts.get(hit.rule, 0) + 1
        best = next((hit for hit in hits if hit.kept), None)
        values: dict[str, float | str | None] = {
            "hop": float(query.hop),
            "path": query.path,
            "parent": None if query.parent is None else hop_id(query.parent),
            "passage": corpus.ids[query.rows[0]] if len(query.rows) == 1 else None,
            "fused": float(len(query.rows)),
            "model": model,
        }
        yield Step(
            index=index,
            action="search" if query.hop == 1 else "hop",
            source=hop_id(index),
            target=None if best is None else corpus.ids[best.row],
            values=values,
            counts=counts,
            candidates=tuple(
                _candidate(
                    hit, corpus, settings, last=query.hop == last_hop, free=free[query.hop - 1]
                )
                for hit in hits
            ),
            vector=query.vector,
        )


def _candidate(
    hit: Hit, corpus: Corpus, settings: TreeHopSettings, *, last: bool, free: int
) -> Candidate:
    reason = _REASONS[hit.rule]
    if hit.rule == BUDGET and free == 0:
        reason = f"of {settings.k} places none is kept for this hop"
    elif hit.rule == BUDGET and last:
        reason = f"all {settings.k} places are taken"
    return Candidate(
        corpus.ids[hit.row],
        hit.kept,
        hit.rule,
        reason,
        {
            "similarity": hit.similarity,
            "score": hit.score,
            "parent": hop_id(hit.query),
            "novelty": hit.novelty,
        },
    )


def nodes(question: str, found: Found, corpus: Corpus) -> tuple[Node, ...]:
    """The question, the query of each hop, and every passage that a step names."""
    rows = sorted({hit.row for hits in found.hits for hit in hits})
    chunks = dict(zip(rows, corpus.chunks(rows), strict=True))
    labels = {row: chunk.node().label for row, chunk in chunks.items()}
    queries = tuple(
        Node(
            hop_id(index),
            NodeKind.HOP,
            _label(query, labels),
            _text(query, labels),
            vector=query.vector,
        )
        for index, query in enumerate(found.queries)
    )
    block: Batch = np.array(corpus.matrix[rows]) if rows else np.empty((0, 1), np.float32)
    passages = tuple(chunks[row].node(vector) for row, vector in zip(rows, block, strict=True))
    asked = Node("query", NodeKind.QUERY, "Question", question, vector=found.queries[0].vector)
    return (asked, *queries, *passages)


def _label(query: HopQuery, labels: dict[int, str]) -> str:
    if not query.rows:
        return "Hop 1: the question"
    if len(query.rows) > 1:
        return f"Hop {query.hop}: {len(query.rows)} passages fused"
    return f"Hop {query.hop}: after {labels[query.rows[0]]}"


def _text(query: HopQuery, labels: dict[int, str]) -> str:
    if not query.rows:
        return "The vector of the question as it was asked."
    after = "; ".join(labels[row] for row in query.rows)
    return f"The query's vector after the gates saw: {after}"


def path(found: Found, corpus: Corpus) -> tuple[str, ...]:
    """The question, then the branch that led to the best passage of the last hop."""
    kept = [hit for hits in found.hits for hit in hits if hit.kept]
    if not kept:
        return ("query",)
    last = max(found.queries[hit.query].hop for hit in kept)
    best = max(
        (hit for hit in kept if found.queries[hit.query].hop == last),
        key=lambda hit: (hit.score, -hit.row),
    )
    ids = [corpus.ids[best.row]]
    query: int | None = best.query
    while query is not None:
        ids.append(hop_id(query))
        rows = found.queries[query].rows
        ids.extend(corpus.ids[row] for row in reversed(rows))
        query = found.queries[query].parent
    return ("query", *reversed(ids))


def stop(found: Found, settings: TreeHopSettings, size: int, *, alone: bool) -> Stop:
    """Why the walk ended and what may be changed; `size` is the number of all passages."""
    count = len(found.rows)
    if count == 0:
        return Stop(
            StopReason.EMPTY_CORRIDOR,
            "The corpus holds no passage.",
            "Load a document with text in it.",
        )
    if found.cut:
        return Stop(
            StopReason.BUDGET,
            f"A hop grew past {MAX_QUERIES} queries; the best {MAX_QUERIES} searched.",
            "Switch layer-wise pruning on or take fewer hops.",
        )
    if alone and settings.hops > 1:
        return Stop(
            StopReason.HOPS_DONE,
            f"The question compares two things that it names, so it was searched with once: "
            f"the evidence is plain top-{count}.",
            "Switch 'Leave comparisons alone' off to hop all the same.",
        )
    if settings.hops > 1 and not _later_kept(found):
        if count == size:
            return Stop(
                StopReason.NOTHING_NEW,
                f"The corpus has {_many(size, 'passage')}, and the first hop kept all of them.",
                "Load more text, or return fewer passages.",
            )
        return Stop(
            StopReason.NOTHING_NEW,
            "The later hops found nothing that was not kept already.",
            "Raise 'Places for later hops' or 'Passages that spawn'.",
        )
    fill = "fills a place" if found.filled == 1 else "fill places"
    filled = f" {found.filled} of them {fill} that no later hop took." if found.filled else ""
    return Stop(
        StopReason.HOPS_DONE,
        f"{_many(_last_hop(found), 'hop')} with {_many(len(found.queries), 'query', 'queries')} "
        f"brought {_many(count, 'passage')}." + filled,
    )


def _many(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or one + 's'}"


def _later_kept(found: Found) -> bool:
    later: Sequence[Hit] = [hit for hits in found.hits[1:] for hit in hits]
    return any(hit.kept for hit in later)


def _last_hop(found: Found) -> int:
    return max(query.hop for query in found.queries)
