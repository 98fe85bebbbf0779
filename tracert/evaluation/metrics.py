"""Recall and the bootstrap."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]

#: Resamples of a bootstrap interval: its ends then move by about a hundredth of its width.
RESAMPLES: Final = 10_000
_BLOCK: Final = 500


def recall(found: Collection[int], gold: Collection[int]) -> float:
    """Share of the gold passages that were found: |found & gold| / |gold|.

    Raises:
        ValueError: there is no gold, so that no share is defined.
    """
    if not gold:
        raise ValueError("recall needs at least one gold passage")
    return len(set(found) & set(gold)) / len(set(gold))


def bootstrap_mean(
    values: Reals, *, seed: int = 0, level: float = 0.95
) -> tuple[float, float, float]:
    """The mean of the values and its percentile bootstrap interval (Efron 1979).

    Args:
        values: a value a question, shape (n,), n at least 1.
        seed: of the resampling.
        level: how often the interval is to cover the mean.

    Returns:
        Mean, lower end, upper end.
    """
    rng = np.random.default_rng(seed)
    means = np.concatenate(
        [
            values[rng.integers(0, len(values), (_BLOCK, len(values)))].mean(axis=1)
            for _ in range(RESAMPLES // _BLOCK)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(values.mean()), float(low), float(high)
