"""The corridor of Tracert-RAG: radius, candidates, and what to say about them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracert.methods._tracert.bottleneck import MOST, bottleneck
from tracert.methods.exact import Reals, Rows, Vectors, cosine_distance, even_rows

#: A corridor with at least this share of all passages leaves out next to nothing.
NEARLY_ALL: Final = 0.9
#: The histogram counts the distances from a few candidates to many, both evenly spread.
_FEW: Final = 32
_MANY: Final = 1000
_BINS: Final = 40


@dataclass(frozen=True, slots=True, eq=False)
class Corridor:
    """The passages near enough to the question.

    `paper_radius` is equation 1 at scale 1, `radius` the one in force. `rows` are the
    candidates in the order of the text. `to_query` are cosine distances of all passages to
    the question, shape (n,), within `Vectors.error` and exact at the radius.
    """

    paper_radius: float
    radius: float
    rows: Rows
    to_query: Reals
    radius_note: str
    corridor_note: str

    @property
    def widened(self) -> bool:
        """Whether the radius in force is another than scale times the paper's."""
        return bool(self.radius_note)


def corridor(
    vectors: Vectors,
    query: Reals,
    goal: Reals,
    *,
    scale: float,
    strict: bool,
    min_candidates: int,
) -> Corridor:
    """Equations 1 and 2, widened where the paper's radius holds too few.

        r = scale * (1 - cos(v_q, v_g)),    V_r = {v_d : 1 - cos(v_q, v_d) <= r}

    Unless `strict`, a radius that holds fewer than `min_candidates` passages becomes the
    distance of the min_candidates-th nearest (of the farthest, in a smaller corpus).
    """
    to_query = vectors.approximate(query)
    paper_radius = cosine_distance(query, goal)
    radius = scale * paper_radius
    rows = vectors.within(to_query, query, radius)
    note = ""
    if len(rows) < min_candidates and not strict and len(to_query) > len(rows):
        held = len(rows)
        _, nearest = vectors.nearest_of(to_query, query, min_candidates)
        radius = float(nearest[-1])
        rows = vectors.within(to_query, query, radius)
        note = (
            f"The radius {scale * paper_radius:.3f} held {counted(held)}; it was widened to "
            f"{radius:.3f}, the distance of the {_ordinal(len(nearest))} nearest passage."
        )
    return Corridor(
        paper_radius, radius, rows, to_query, note, _corridor_note(len(rows), len(to_query))
    )


def automatic_delta(
    vectors: Vectors, rows: Rows, start: Reals, goal: Reals, *, direct: bool
) -> tuple[float, str]:
    """The bottleneck between start and goal over these candidates, and what to say about it.

    Exact for up to `bottleneck.MOST` candidates; of more, half that number nearest to the
    start and half nearest to the goal are taken. `direct` lets the edge from start to goal
    count. Infinite where nothing connects the two.
    """
    note = (
        "delta, the longest step allowed, is the smallest with which the candidates still lead "
        "from start to goal (the bottleneck of the minimax path)."
    )
    if len(rows) > MOST:
        near = [
            np.argpartition(vectors.approximate(end)[rows], MOST // 2)[: MOST // 2]
            for end in (start, goal)
        ]
        note = (
            f"{note[:-1]}, found among {MOST:,} of the {len(rows):,} candidates: the nearest to "
            "the start and the nearest to the goal. The exact value may be smaller."
        )
        rows = rows[np.union1d(*near)]
    passages = vectors.rows(rows)
    delta = bottleneck(passages, *(np.maximum(1.0 - passages @ end, 0.0) for end in (start, goal)))
    if direct:
        delta = min(delta, cosine_distance(start, goal))
    return delta, note


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of distances in bins of equal width from `low` to `high`."""

    low: float
    high: float
    counts: tuple[int, ...]

    def to_text(self) -> str:
        """As JSON, for the values of a step."""
        return json.dumps({"low": self.low, "high": self.high, "counts": self.counts})

    @staticmethod
    def from_text(text: str) -> Histogram:
        """What `to_text` wrote.

        Raises:
            ValueError: the text is something else.
        """
        try:
            data = json.loads(text)
            counts = tuple(int(count) for count in data["counts"])
            return Histogram(float(data["low"]), float(data["high"]), counts)
        except (TypeError, KeyError, RecursionError) as error:
            raise ValueError("not a histogram") from error


def histogram(distances: Reals) -> Histogram | None:
    """The histogram of the distances, None where there are none."""
    if distances.size == 0:
        return None
    low, high = float(distances.min()), float(distances.max())
    width = max(high - low, 1e-9) / _BINS
    bins = np.minimum(((distances - low) / width).astype(np.intp), _BINS - 1)
    counts = np.bincount(bins.ravel(), minlength=_BINS)
    return Histogram(round(low, 6), round(high, 6), tuple(counts.tolist()))


def pair_distances(vectors: Vectors, rows: Rows) -> Reals:
    """Distances between candidates, from an even sample to an even sample of them, shape (k,).

    In float32, since they are only drawn.
    """
    many = rows[even_rows(len(rows), _MANY)]
    few = even_rows(len(many), _FEW)
    part = vectors.matrix[many]
    distances = np.maximum(1.0 - (part @ part[few].T).astype(np.float64), 0.0)
    distances[few, np.arange(len(few))] = np.nan
    return distances[np.isfinite(distances)]


def _corridor_note(held: int, size: int) -> str:
    if size == 0 or held < NEARLY_ALL * size:
        return ""
    whole = "the whole corpus" if held == size else "nearly the whole corpus"
    return (
        f"The corridor holds {held:,} of {counted(size)}, {whole}: the radius leaves out "
        f"{'nothing' if held == size else 'next to nothing'}."
    )


def counted(count: int) -> str:
    """The number of passages in words."""
    return f"{count:,} passage" if count == 1 else f"{count:,} passages"


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
