"""The measures of a list of passages, of a walk, and the bootstrap.

A question needs the gold passages g_1 .. g_m, each a set of ids any of which will do. Of a list
e_1 .. e_n of ids the gain of place i is the number of gold passages that e_i holds and that no
earlier place holds. So a passage that is returned twice, or by two chunks that overlap, counts
once, and where every gold passage is one id of its own these are the textbook's measures:

    recall      sum_i gain_i / m                    at k: over the first k places
    precision   |{i : gain_i > 0}| / n              0 of an empty list
    MRR         1 / min {i : gain_i > 0}            0 where nothing is found
    nDCG        sum_i gain_i / log2(i + 1), divided by the same sum of the best list there is

nDCG with gains 0 and 1 is that of Järvelin and Kekäläinen, 'Cumulated gain-based evaluation of IR
techniques', 2002, with the discount log2(i + 1). It is taken over as many places as the list has:
the best list is cut there, too.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.evaluation.asked import GoldPassage

Reals = npt.NDArray[np.float64]

#: Resamples of a bootstrap interval: its ends then move by about a hundredth of its width.
RESAMPLES: Final = 10_000
#: Resamples of the interval of a quantile, each of which sorts all questions.
QUANTILE_RESAMPLES: Final = 1_000
_BLOCK: Final = 500
LEVEL: Final = 0.95

Gold = Sequence[GoldPassage]


def recall(found: Collection[int], gold: Collection[int]) -> float:
    """Share of the gold passages that were found: |found & gold| / |gold|.

    Raises:
        ValueError: there is no gold, so that no share is defined.
    """
    if not gold:
        raise ValueError("recall needs at least one gold passage")
    return len(set(found) & set(gold)) / len(set(gold))


# --- a list -------------------------------------------------------------------------------


def covered(ids: Collection[str], gold: Gold) -> frozenset[int]:
    """The indices of the gold passages that these ids hold."""
    there = set(ids)
    return frozenset(
        place for place, passage in enumerate(gold) if not there.isdisjoint(passage.ids)
    )


def recall_of(ids: Collection[str], gold: Gold) -> float:
    """Recall, see the module.

    Raises:
        ValueError: there is no gold, so that no share is defined.
    """
    if not gold:
        raise ValueError("recall needs at least one gold passage")
    return len(covered(ids, gold)) / len(gold)


def gains(ids: Sequence[str], gold: Gold) -> list[int]:
    """For each place of the list, how many gold passages it is the first to hold."""
    holds: dict[str, set[int]] = {}
    for place, passage in enumerate(gold):
        for id in passage.ids:
            holds.setdefault(id, set()).add(place)
    seen: set[int] = set()
    out = []
    for id in ids:
        new = holds.get(id, set()) - seen
        seen |= new
        out.append(len(new))
    return out


def best_gains(gold: Gold) -> list[int]:
    """The gains of the best list: ever the passage that holds most of what is missing.

    Where each gold passage has its own ids this is 1 for each that has any.
    """
    ids = sorted({id for passage in gold for id in passage.ids})
    missing = set(range(len(gold)))
    out: list[int] = []
    while True:
        held = [{place for place in missing if id in gold[place].ids} for id in ids]
        most = max(held, key=len, default=set())
        if not most:
            return out
        missing -= most
        out.append(len(most))


def discounted(gains: Sequence[int]) -> float:
    """DCG: sum of gain_i / log2(i + 1) over the places i from 1 on."""
    return math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))


def of_list(ids: Sequence[str], gold: Gold) -> dict[str, float]:
    """Recall, precision, all found, MRR and nDCG of a list; nDCG is NaN where gold has no id."""
    gain = gains(ids, gold)
    hits = [place for place, each in enumerate(gain, start=1) if each]
    best = discounted(best_gains(gold)[: len(ids)])
    share = sum(gain) / len(gold)
    return {
        "recall": share,
        "precision": len(hits) / len(ids) if ids else 0.0,
        "all_found": float(sum(gain) == len(gold)),
        "mrr": 1 / hits[0] if hits else 0.0,
        "ndcg": discounted(gain) / best if best else (0.0 if not ids else math.nan),
    }


def recall_curve(ids: Sequence[str], gold: Gold, most: int) -> list[float]:
    """Recall at 1 .. `most`; a list that is shorter stays where it ended."""
    shares = (np.cumsum(gains(ids, gold)[:most], dtype=float) / len(gold)).tolist()
    last = shares[-1] if shares else 0.0
    return [*shares, *[last] * (most - len(shares))]


# --- a walk -------------------------------------------------------------------------------


def of_walk(
    hops: Sequence[Sequence[str]],
    gold: Gold,
    edges: Sequence[tuple[int, int]],
    room: bool,
) -> dict[str, float]:
    """The measures of the way that a method went, hop by hop.

    - in_order: of the edges of the gold chain (a leads to b), the share where both were gathered
      and a in no later hop than b. NaN where the question has no edges.
    - hops: how many hops gathered something.
    - wasted_hops: the share of hops that gathered no gold passage that was not there before.
    - too_early: 1 where a gold passage was missing at the end though there was `room`, else 0.
    - too_late: 1 where all gold was there before the last hop, else 0.
    - late_hops: the hops after all gold was there; NaN where it never was.

    Args:
        hops: the ids gathered, see `tracert.evaluation.detail.gathered`.
        gold: the passages that the question needs.
        edges: pairs of indices into `gold`.
        room: whether the method could have returned more passages.
    """
    first: dict[int, int] = {}
    wasted = 0
    for number, hop in enumerate(hops):
        new = covered(hop, gold) - first.keys()
        first.update(dict.fromkeys(new, number))
        wasted += not new
    whole = len(first) == len(gold)
    after = len(hops) - 1 - max(first.values(), default=0)
    kept = [start in first and end in first and first[start] <= first[end] for start, end in edges]
    return {
        "in_order": float(np.mean(kept)) if kept else math.nan,
        "hops": float(len(hops)),
        "wasted_hops": wasted / len(hops) if hops else math.nan,
        "too_early": float(not whole and room),
        "too_late": float(whole and after > 0),
        "late_hops": float(after) if whole else math.nan,
    }


# --- the bootstrap --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `count` questions and its 95% bootstrap interval over questions."""

    mean: float
    low: float
    high: float
    count: int


def bootstrap_mean(
    values: Reals, *, seed: int = 0, level: float = LEVEL
) -> tuple[float, float, float]:
    """The mean of the values and its percentile bootstrap interval (Efron 1979).

    Args:
        values: a value a question, shape (n,), n at least 1.
        seed: of the resampling.
        level: how often the interval is to cover the mean.

    Returns:
        Mean, lower end, upper end.
    """
    (one,) = bootstrap_means({"": values}, seed=seed, level=level).values()
    return one.mean, one.low, one.high


def bootstrap_means(
    columns: Mapping[str, Reals],
    weights: Mapping[str, Reals] | None = None,
    *,
    seed: int = 0,
    level: float = LEVEL,
) -> dict[str, Estimate]:
    """The means of many measures on the same questions, with their intervals.

    All columns are resampled by the same draws of questions. A value that is NaN is not defined
    for its question and counts in no mean; a column without any value is left out of the result.
    With weights the mean is sum(w v) / sum(w), both sums over the questions drawn.

    Args:
        columns: by name, shape (n,) each.
        weights: by name, shape (n,); 1 where a column has none.
        seed: of the resampling.
        level: how often an interval is to cover the mean.
    """
    names = [name for name, column in columns.items() if not np.isnan(column).all()]
    if not names:
        return {}
    table = np.stack([columns[name] for name in names], axis=1).astype(np.float64)
    there = ~np.isnan(table)
    weight = np.ones(table.shape)
    for place, name in enumerate(names):
        if weights is not None and name in weights:
            weight[:, place] = weights[name]
    weight *= there
    weighted = np.where(there, table, 0.0) * weight
    size = len(table)
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(RESAMPLES // _BLOCK):
        counts = _counts(rng.integers(0, size, (_BLOCK, size)), size)
        with np.errstate(invalid="ignore", divide="ignore"):
            parts.append((counts @ weighted) / (counts @ weight))
    # A draw in which a measure is defined for no question says nothing about it.
    ends = np.nanquantile(np.concatenate(parts), [(1 - level) / 2, (1 + level) / 2], axis=0)
    means = weighted.sum(axis=0) / weight.sum(axis=0)
    return {
        name: Estimate(
            float(means[place]),
            float(ends[0, place]),
            float(ends[1, place]),
            int(np.count_nonzero(weight[:, place])),
        )
        for place, name in enumerate(names)
    }


def bootstrap_quantile(
    values: Reals, quantile: float, *, seed: int = 0, level: float = LEVEL
) -> Estimate:
    """A quantile of the values, shape (n,), and its percentile bootstrap interval."""
    rng = np.random.default_rng(seed)
    drawn = values[rng.integers(0, len(values), (QUANTILE_RESAMPLES, len(values)))]
    spread = np.quantile(drawn, quantile, axis=1)
    low, high = np.quantile(spread, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(np.quantile(values, quantile)), float(low), float(high), len(values))


def _counts(draws: npt.NDArray[np.int64], size: int) -> Reals:
    """How often each question was drawn, shape (draws, size)."""
    flat = draws + size * np.arange(len(draws))[:, None]
    return (
        np.bincount(flat.ravel(), minlength=size * len(draws))
        .reshape(len(draws), size)
        .astype(np.float64)
    )
