"""Recall by hand, the bootstrap against the formula of the mean's error."""

import numpy as np
import pytest

from tracert.evaluation.metrics import bootstrap_mean, recall


def test_recall() -> None:
    assert recall([3, 1, 2], [1, 9]) == 1 / 2
    assert recall([], [1]) == 0.0
    assert recall([1, 1], [1, 1]) == 1.0
    with pytest.raises(ValueError, match="at least one gold"):
        recall([1], [])


def test_the_interval_is_about_two_standard_errors() -> None:
    values = np.random.default_rng(0).normal(0.3, 1.0, 400)
    mean, low, high = bootstrap_mean(values)
    error = values.std() / np.sqrt(len(values))
    assert mean == values.mean()
    assert low == pytest.approx(mean - 1.96 * error, abs=0.15 * error)
    assert high == pytest.approx(mean + 1.96 * error, abs=0.15 * error)


def test_equal_values_have_no_width_and_a_seed_repeats() -> None:
    assert bootstrap_mean(np.full(5, 0.25)) == (0.25, 0.25, 0.25)
    values = np.arange(10.0)
    assert bootstrap_mean(values, seed=3) == bootstrap_mean(values, seed=3)
