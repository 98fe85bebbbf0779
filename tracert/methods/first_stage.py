"""The first stage of a retrieval: all passages ranked by vector, by words or by both.

    dense     cos(v_q, v_d)
    bm25      the BM25 score, see `tracert.methods.bm25`
    hybrid    RRF(d) = sum over both rankings of 1 / (k + rank(d)),  k = 60

Hybrid is reciprocal rank fusion: Cormack, Clarke and Buettcher, 'Reciprocal Rank Fusion
outperforms Condorcet and individual Rank Learning Methods', SIGIR 2009, section 2. Ranks count
from 1. Each ranking is read down to `DEPTH`; a passage that stands in one of them only gets
that one's part, and a passage that shares no word with the question stands in none of BM25's.
Ties within 1e-9 are broken by position in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Corpus
from tracert.errors import SettingError
from tracert.methods.base import setting
from tracert.methods.bm25 import term_index
from tracert.methods.exact import Reals, Rows, Vectors, ranked, unit

STAGES: Final = ("dense", "bm25", "hybrid")
Stage = Literal["dense", "bm25", "hybrid"]
#: The constant k of reciprocal rank fusion, as its authors fixed it.
RRF_K: Final = 60
#: How far down each ranking is read: part of a fused score beyond it is below 1 / 1060.
DEPTH: Final = 1000

#: What decides the rank in each stage: the name of the value, and how a person reads it.
DECIDES: Final = {
    "dense": ("similarity", "similarity"),
    "bm25": ("bm25", "BM25 score"),
    "hybrid": ("fused", "fused score"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The best passages of a first stage, best first.

    `scores` is what decided, shape (m,), falling. `values` are the numbers of each candidate
    for a trace: similarity always; bm25 and bm25_rank where words were counted; dense_rank and
    fused for hybrid. A rank is None where a ranking does not hold the passage.
    """

    stage: str
    rows: Rows
    scores: Reals
    values: tuple[dict[str, float | str | None], ...]


def first_stage_setting() -> str:
    """The field of a settings dataclass that chooses the first stage."""
    field: str = setting(
        "dense",
        "What ranks the passages: vectors (dense), words (bm25) or both (hybrid).",
        choices=STAGES,
        label="First stage",
    )
    return field


def rank(
    corpus: Corpus,
    question: str,
    vector: npt.NDArray[np.floating],
    stage: str = "dense",
    count: int = 10,
) -> Ranking:
    """The `count` best passages for a question and its vector (d,).

    Fewer come back where the corpus is smaller, and from bm25 where fewer share a word with the
    question.

    Raises:
        SettingError: an unknown stage.
    """
    if stage not in STAGES:
        raise SettingError(f"first_stage={stage!r} is unknown. Supported: {', '.join(STAGES)}.")
    vectors, query = Vectors(corpus.matrix), unit(vector)
    if stage == "dense":
        rows, distances = vectors.nearest(query, count)
        scores = 1.0 - distances
        values = tuple({"similarity": score} for score in scores.tolist())
        return Ranking(stage, rows, scores, values)
    words = term_index(corpus).scores(question)
    by_words = _best(words, max(count, DEPTH))
    if stage == "bm25":
        rows = by_words[:count]
        similarities = 1.0 - vectors.distances(rows, query)
        return Ranking(
            stage,
            rows,
            words[rows],
            tuple(
                {"similarity": similarity, "bm25": score, "bm25_rank": float(place)}
                for place, (similarity, score) in enumerate(
                    zip(similarities.tolist(), words[rows].tolist(), strict=True), 1
                )
            ),
        )
    by_vector, _ = vectors.nearest(query, max(count, DEPTH))
    rows, scores = fuse((by_vector, by_words), count)
    places = [
        dict(zip(ranking.tolist(), range(1, len(ranking) + 1), strict=True))
        for ranking in (by_vector, by_words)
    ]
    similarities = 1.0 - vectors.distances(rows, query)
    return Ranking(
        stage,
        rows,
        scores,
        tuple(
            {
                "similarity": similarity,
                "bm25": float(words[row]),
                "dense_rank": _number(places[0].get(row)),
                "bm25_rank": _number(places[1].get(row)),
                "fused": score,
            }
            for row, similarity, score in zip(
                rows.tolist(), similarities.tolist(), scores.tolist(), strict=True
            )
        ),
    )


def fuse(rankings: Sequence[Rows], count: int, k: int = RRF_K) -> tuple[Rows, Reals]:
    """Reciprocal rank fusion of rankings of rows: the `count` best rows and their scores.

    >>> rows, scores = fuse([np.array([7, 3]), np.array([3])], 2)
    >>> rows.tolist(), scores.tolist() == [1 / 62 + 1 / 61, 1 / 61]
    ([3, 7], True)
    """
    together = np.concatenate(rankings) if rankings else np.empty(0, dtype=np.intp)
    rows, place = np.unique(together, return_inverse=True)
    parts = [1.0 / (k + np.arange(1, len(ranking) + 1)) for ranking in rankings]
    scores = np.zeros(len(rows))
    np.add.at(scores, place, np.concatenate(parts) if parts else np.empty(0))
    order = ranked(-scores, rows)[:count]
    return rows[order], scores[order]


def _best(scores: Reals, count: int) -> Rows:
    """The rows of the `count` largest scores above 0, largest first, ties to the first row."""
    rows = np.flatnonzero(scores > 0.0)
    if count < len(rows):
        limit = np.partition(scores[rows], len(rows) - count)[len(rows) - count]
        rows = rows[scores[rows] >= limit - 2e-9]
    return rows[ranked(-scores[rows], rows)[:count]]


def _number(rank: int | None) -> float | None:
    return None if rank is None else float(rank)
