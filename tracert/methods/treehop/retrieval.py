"""TreeHop's retrieval: search with the query, make next queries of what was found, search again.

Hop 1 is plain top-k of q. Each kept passage c of a query q that may spawn makes the next query
q' = model(q, c). Of all that a hop's queries find

- redundancy pruning ends a branch whose passage was retrieved before;
- layer-wise top-K pruning keeps the K best over all queries of the hop.

    score(d) = cos(q', d) + path_score * mean cosine along the path to q'

With path_score 0 this is the paper. What differs from it is a setting, see
`tracert.methods.treehop.settings`. Many questions are searched at once: all queries of a hop
are one matrix product. Ranks are exact, ties within 1e-9 are broken by the row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tracert.methods.exact import TIE, Reals, Rows, Vectors, ranked, unit
from tracert.methods.first_stage import Ranking
from tracert.methods.treehop.gates import Batch, QueryModel
from tracert.methods.treehop.settings import TreeHopSettings

KEPT: Final = "kept"
NOT_SPAWNED: Final = "not_spawned"
REDUNDANT: Final = "redundant"
LAYER_TOP_K: Final = "layer_top_k"
LOW_NOVELTY: Final = "low_novelty"
BUDGET: Final = "budget"

#: Queries multiplied with the matrix at once: bounds the block of similarities.
_BLOCK: Final = 64
#: Without layer-wise pruning queries grow as K^hops; a hop with more is cut, and says so. Each is
#: a step of the trace, so that more would be no tree to watch either.
MAX_QUERIES: Final = 256
#: A candidate: score without novelty, cosine to its query, row, query.
_Entry = tuple[float, float, int, int]
#: Temperature of the attention that fuses passages, and of the entropy that sets the breadth:
#: about the spread of the first hop's similarities.
_TEMPERATURE: Final = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class HopQuery:
    """A query vector. `vector` (d,) float32; `parent` and `rows` say what it was made from.

    `hop` counts from 1. `parent` is the index of the query that it came from, None for the
    question. `rows` are the passages (one, or several that were fused) and `shares` their
    weights. `path` is the mean cosine along the path to it, 0 for the question.
    """

    hop: int
    vector: Batch
    parent: int | None
    rows: tuple[int, ...]
    shares: tuple[float, ...]
    path: float
    depth: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a query found: kept or not, by which rule.

    `similarity` is its cosine to the query, `score` what ranked it, `novelty` 1 - its largest
    cosine to the query and to what was kept before it, None where no setting asks for it.
    """

    query: int
    row: int
    similarity: float
    score: float
    novelty: float | None
    kept: bool
    rule: str


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What one question brought.

    `hits[i]` belong to `queries[i]`, best first. `rows` are the passages returned, best first:
    hop by hop, each by score. `filled` counts those at the end that no later hop brought and
    that the first hop's next best filled. `cut` tells that a hop had more queries than allowed.
    """

    queries: tuple[HopQuery, ...]
    hits: tuple[tuple[Hit, ...], ...]
    rows: tuple[int, ...]
    filled: int
    cut: bool


def places(settings: TreeHopSettings, hops: int) -> list[int]:
    """How many passages each hop may keep, first hop first.

    Of k places the share `later_places` is kept free for the later hops, shared out evenly,
    earlier hops first, but never all: the first hop keeps at least one. Rounded to the nearest,
    halves up: 1 of 5, 2 of 8, 2 of 10 at a share of 0.2.
    """
    if settings.k_per_hop is not None:
        return [settings.k_per_hop] * hops
    if hops == 1:
        return [settings.k]
    later = min(math.floor(settings.later_places * settings.k + 0.5), settings.k - 1)
    each, rest = divmod(later, hops - 1)
    return [settings.k - later, *(each + (hop < rest) for hop in range(hops - 1))]


def width(settings: TreeHopSettings) -> int:
    """How many passages a query looks at.

    Of k, at most k less a hop's places are kept by earlier hops, so enough new ones are among them.
    """
    return settings.k if settings.k_per_hop is None else settings.k_per_hop


def retrieve(
    model: QueryModel,
    vectors: Batch,
    matrix: Batch,
    settings: TreeHopSettings,
    alone: Sequence[bool] | None = None,
    first: Sequence[Ranking] | None = None,
) -> list[Found]:
    """Search for many questions at once.

    Args:
        model: what makes the next queries.
        vectors: the questions, shape (b, d), unit rows.
        matrix: the passages, shape (n, d), unit rows.
        settings: see `TreeHopSettings`.
        alone: for each question, whether it is searched with once only.
        first: for each question, the first hop's ranking where it is not by vectors alone, at
            least `width(settings)` passages of it.

    Returns:
        What each question brought, in order.
    """
    corpus = Vectors(matrix)
    states = [
        _State(vector, settings, 1 if alone is not None and alone[i] else settings.hops)
        for i, vector in enumerate(np.asarray(vectors, dtype=np.float32))
    ]
    for hop in range(settings.hops):
        if hop == 0 and first is not None:
            for state, ranking in zip(states, first, strict=True):
                state.take(ranking)
        else:
            _search(states, corpus)
        for state in states:
            state.keep(corpus)
        _spawn(states, model, corpus)
    return [state.found() for state in states]


class _State:
    """One question on its way."""

    def __init__(self, vector: Batch, settings: TreeHopSettings, hops: int) -> None:
        self.settings = settings
        self.hops = hops
        self.places = places(settings, hops)
        self.queries = [HopQuery(1, vector, None, (), (), 0.0, 0)]
        self.hits: list[list[Hit]] = []
        self.kept: dict[int, None] = {}
        self.hop = 0
        self.layer = [0]
        #: For each query of the layer: rows, their cosines and what ranks them.
        self.ranked: list[tuple[Rows, Reals, Reals]] = []
        self.cut = False
        self.filled = 0

    def take(self, ranking: Ranking) -> None:
        """Let the first hop be this ranking."""
        count = width(self.settings)
        similarities = np.array([float(each["similarity"] or 0) for each in ranking.values[:count]])
        self.ranked = [(ranking.rows[:count], similarities, ranking.scores[:count])]

    # -- pruning

    def keep(self, corpus: Vectors) -> None:
        """Decide over all that the layer's queries found."""
        if not self.layer:
            return
        self.hop += 1
        pool = self._pool()
        limit = self.places[self.hop - 1]
        before = set(self.kept)
        fresh: set[int] = set()
        decided: dict[int, list[Hit]] = {query: [] for query in self.layer}
        novelty = _Novelty(self, corpus, pool)
        count = 0
        for place in novelty.order():
            _, similarity, row, query = pool[place]
            score, new = novelty.score(place), novelty.of(place)
            seen = row in before or row in fresh
            if seen and self.settings.redundancy_pruning:
                rule = REDUNDANT
            elif new is not None and new < self.settings.min_novelty:
                rule = LOW_NOVELTY
            elif count >= limit and (self.settings.layer_pruning or self.hop == 1):
                rule = BUDGET if self.hop == 1 or limit == 0 else LAYER_TOP_K
            elif self._full(seen):
                rule = BUDGET
            else:
                rule = KEPT
                count += 1
                fresh.add(row)
                self.kept.setdefault(row)
                novelty.add(row)
            decided[query].append(Hit(query, row, similarity, score, new, rule == KEPT, rule))
        self.hits.extend(decided[query] for query in self.layer)

    def _pool(self) -> list[_Entry]:
        weight = self.settings.path_score
        pool = []
        for query, (rows, similarities, scores) in zip(self.layer, self.ranked, strict=True):
            path = weight * self.queries[query].path
            for row, similarity, score in zip(
                rows.tolist(), similarities.tolist(), scores.tolist(), strict=True
            ):
                pool.append((score + path, similarity, row, query))
        pool.sort(key=lambda entry: (-entry[0], entry[2], entry[3]))
        return pool

    def _full(self, seen: bool) -> bool:
        """Whether no passage more may be returned, whatever the hop; repeats take no place."""
        if self.settings.k_per_hop is not None or seen:
            return False
        return len(self.kept) >= self.settings.k

    def _fill(self) -> None:
        """Places that no later hop took go to the next best of the first hop."""
        if self.settings.k_per_hop is not None:
            return
        for place, hit in enumerate(self.hits[0]):
            if len(self.kept) >= self.settings.k:
                break
            if not hit.kept and hit.row not in self.kept:
                self.kept[hit.row] = None
                self.filled += 1
                self.hits[0][place] = replace(hit, kept=True, rule=KEPT)

    # -- the next layer

    def spawning(self) -> list[Hit]:
        """The kept passages of the hop that make next queries, best first; marks the others."""
        start = len(self.hits) - len(self.layer)
        kept = [hit for hits in self.hits[start:] for hit in hits if hit.kept]
        kept.sort(key=lambda hit: (-hit.score, hit.row, hit.query))
        chosen = kept[: self._breadth(kept)]
        if len(chosen) > MAX_QUERIES:
            self.cut = True
            chosen = chosen[:MAX_QUERIES]
        ids = {id(hit) for hit in chosen}
        for hits in self.hits[start:]:
            for place, hit in enumerate(hits):
                if hit.kept and id(hit) not in ids:
                    hits[place] = replace(hit, rule=NOT_SPAWNED)
        return chosen

    def _breadth(self, kept: list[Hit]) -> int:
        most = self.settings.spawn or len(kept)
        if not self.settings.adaptive_breadth or not kept:
            return most
        shares = _attention(np.array([hit.similarity for hit in kept]))
        entropy = -float(np.sum(shares * np.log(np.maximum(shares, 1e-30))))
        # exp(entropy) is how many equally likely passages would be as uncertain.
        return min(most, max(1, round(math.exp(entropy))))

    def found(self) -> Found:
        self._fill()
        return Found(
            tuple(self.queries),
            tuple(tuple(hits) for hits in self.hits),
            tuple(self.kept),
            self.filled,
            self.cut,
        )


class _Novelty:
    """The order of the layer's candidates, and the novelty of each where a setting asks for it.

    A passage says something new if it lies far from the query that found it and from all that is
    kept: novelty(d) = 1 - max(cos(q', d), max over kept c of cos(c, d)). With a weight, each
    passage that is kept changes the order of those that are left.
    """

    def __init__(self, state: _State, corpus: Vectors, pool: Sequence[_Entry]) -> None:
        settings = state.settings
        self._pool = pool
        self._weight = settings.novelty if state.hop > 1 else 0.0
        self._used = state.hop > 1 and (settings.novelty > 0 or settings.min_novelty > 0)
        self._corpus = corpus
        if self._used and pool:
            rows, self._place = np.unique([row for _, _, row, _ in pool], return_inverse=True)
            self._block = corpus.rows(rows)
            self._base = np.array([score for score, _, _, _ in pool])
            self._closest = np.array([similarity for _, similarity, _, _ in pool])
            self._scores = self._base
            self._taken = np.zeros(len(pool), dtype=bool)
            self._near(list(state.kept))

    def order(self) -> Iterator[int]:
        """The places in the pool, best first as far as is known when each is asked for."""
        if self._weight == 0.0 or not self._pool:
            yield from range(len(self._pool))
            return
        for _ in self._pool:
            best = int(np.argmax(np.where(self._taken, -np.inf, self._scores)))
            self._taken[best] = True
            yield best

    def add(self, row: int) -> None:
        """Count a passage among the kept."""
        if self._used:
            self._near([row])

    def of(self, place: int) -> float | None:
        """The novelty of a candidate, None where no setting asks for it."""
        return 1.0 - float(self._closest[place]) if self._used else None

    def score(self, place: int) -> float:
        """What ranks a candidate, its novelty counted."""
        return float(self._scores[place]) if self._weight else self._pool[place][0]

    def _near(self, kept: list[int]) -> None:
        vectors = self._corpus.rows(np.array(kept, dtype=np.intp))
        closest = (self._block @ vectors.T).max(axis=1, initial=-1.0)
        # At most 1, also where a rounding goes beyond: a passage itself has no novelty.
        self._closest = np.minimum(np.maximum(self._closest, closest[self._place]), 1.0)
        self._scores = self._base + self._weight * (1.0 - self._closest)


def _search(states: Sequence[_State], corpus: Vectors) -> None:
    """Each query of the layer finds its nearest passages, all in blocks of one product."""
    wanted = [(state, query) for state in states for query in state.layer]
    for state in states:
        state.ranked = []
    for start in range(0, len(wanted), _BLOCK):
        block = wanted[start : start + _BLOCK]
        queries = np.stack([state.queries[query].vector for state, query in block])
        products = queries @ corpus.matrix.T
        for (state, query), product in zip(block, products, strict=True):
            vector = unit(state.queries[query].vector)
            rows, distances = _nearest(corpus, product, vector, width(state.settings))
            state.ranked.append((rows, 1.0 - distances, 1.0 - distances))


def _nearest(corpus: Vectors, product: Batch, vector: Reals, count: int) -> tuple[Rows, Reals]:
    """The `count` rows nearest to a unit vector and their exact distances, nearest first.

    `product` (n,) are their cosines within `corpus.error`, so that only the rows within twice
    that of the count-th need float64. As `Vectors.nearest_of`, without a float64 copy of all n:
    this is run for each query of each hop.
    """
    count = min(count, len(product))
    if count == 0:
        return np.empty(0, dtype=np.intp), np.empty(0)
    limit = float(np.partition(product, len(product) - count)[len(product) - count])
    rows = np.flatnonzero(product >= np.float32(limit - 2 * corpus.error - 2 * TIE))
    distances = corpus.distances(rows, vector)
    order = ranked(distances, rows)[:count]
    return rows[order], distances[order]


def _spawn(states: Sequence[_State], model: QueryModel, corpus: Vectors) -> None:
    """Makes the next layer of all questions in one call of the model."""
    owners: list[tuple[_State, HopQuery]] = []
    contexts: list[Batch] = []
    for state in states:
        if not state.layer or state.hop >= state.hops:
            state.layer = []
            continue
        hits = state.spawning()
        made = [_pairwise(state, hit, corpus) for hit in hits]
        if state.settings.synthesis != "off" and hits:
            fused = _fused(state, hits, corpus)
            made = fused if state.settings.synthesis == "replace" else made + fused
        state.layer = []
        owners.extend((state, query) for query, _ in made)
        contexts.extend(context for _, context in made)
    if not owners:
        return
    q = np.stack([state.queries[query.parent or 0].vector for state, query in owners])
    following = model.moves(q, np.stack(contexts)).applied(q)
    for (state, query), vector in zip(owners, following, strict=True):
        state.layer.append(len(state.queries))
        state.queries.append(replace(query, vector=vector))


def _pairwise(state: _State, hit: Hit, corpus: Vectors) -> tuple[HopQuery, Batch]:
    return _next(state, hit.query, (hit.row,), (1.0,), hit.similarity), corpus.matrix[hit.row]


def _fused(state: _State, hits: Sequence[Hit], corpus: Vectors) -> list[tuple[HopQuery, Batch]]:
    """One context for each query of the layer: cross-attention over the layer's passages."""
    rows = tuple(dict.fromkeys(hit.row for hit in hits))
    block = corpus.matrix[list(rows)]
    made = []
    for query in dict.fromkeys(hit.query for hit in hits):
        similarities = (block @ state.queries[query].vector).astype(np.float64)
        shares = _attention(similarities)
        context = unit(shares @ block.astype(np.float64)).astype(np.float32)
        mean = float(shares @ similarities)
        made.append((_next(state, query, rows, tuple(shares.tolist()), mean), context))
    return made


def _next(
    state: _State, parent: int, rows: tuple[int, ...], shares: tuple[float, ...], similarity: float
) -> HopQuery:
    """A query to be made, its vector still the parent's; the path's mean grows by one cosine."""
    before = state.queries[parent]
    depth = before.depth + 1
    path = (before.path * before.depth + similarity) / depth
    return HopQuery(state.hop + 1, before.vector, parent, rows, shares, path, depth)


def _attention(similarities: Reals) -> Reals:
    powers = np.exp((similarities - similarities.max()) / _TEMPERATURE)
    shares: Reals = powers / powers.sum()
    return shares
