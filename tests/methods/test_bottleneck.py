"""The bottleneck against Kruskal's algorithm over all edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.methods import brute_force
from tracert.methods._tracert import corridor
from tracert.methods._tracert.bottleneck import bottleneck
from tracert.methods.exact import Vectors

number = st.one_of(st.integers(-2, 2), st.floats(-1, 1, width=32))
vector = st.lists(number, min_size=3, max_size=3).filter(lambda v: np.linalg.norm(v) > 1e-3)


def units(vectors):
    out = np.array(vectors, dtype=float).reshape(-1, 3)
    return out / np.linalg.norm(out, axis=1, keepdims=True)


@given(st.lists(vector, max_size=25), vector, vector)
@settings(max_examples=300, deadline=None)
@example([[1, 0, 0]], [1, 0, 0], [1, 0, 0])
@example([[1, 0, 0], [0, 1, 0]], [1, 0, 0], [0, 1, 0])
def test_equals_kruskal(vectors, start, goal):
    passages, (start, goal) = units(vectors), units([start, goal])
    found = bottleneck(passages, 1 - passages @ start, 1 - passages @ goal)
    expected = brute_force.smallest_threshold(
        passages.tolist(), range(len(passages)), start.tolist(), goal.tolist(), direct=False
    )
    assert found == pytest.approx(np.inf if expected is None else expected, abs=1e-9)


def test_two_islands_are_bridged_at_their_gap():
    # On a circle, 0 to 50 degrees in steps of 5, then 110 to 160: the gap is 60.
    degrees = np.radians([*range(5, 51, 5), *range(110, 156, 5)])
    passages = np.stack([np.cos(degrees), np.sin(degrees)], axis=1)
    start, goal = np.array([1.0, 0.0]), np.array([np.cos(np.radians(160)), np.sin(np.radians(160))])
    found = bottleneck(passages, 1 - passages @ start, 1 - passages @ goal)
    assert found == pytest.approx(1 - np.cos(np.radians(60)))


def test_a_long_search_equals_kruskal():
    # Two clouds far apart: both trees have to take in their whole cloud before the gap counts.
    random = np.random.default_rng(3)
    clouds = random.normal(size=(300, 3)) * 0.1 + np.where(
        np.arange(300)[:, None] % 2, 1, [1, -1, 0]
    )
    passages = units(clouds)
    start, goal = units([clouds[0] * 1.01, clouds[1] * 1.01])
    found = bottleneck(passages, 1 - passages @ start, 1 - passages @ goal)
    expected = brute_force.smallest_threshold(
        passages.tolist(), range(300), start.tolist(), goal.tolist(), direct=False
    )
    assert found == pytest.approx(expected, abs=1e-9)


def test_many_candidates_are_searched_among_the_nearest_and_said_so(monkeypatch):
    monkeypatch.setattr(corridor, "MOST", 10)
    degrees = np.radians(np.linspace(1, 89, 45))
    matrix = np.stack([np.cos(degrees), np.sin(degrees)], axis=1).astype(np.float32)
    start, goal = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    rows = np.arange(45)
    delta, note = corridor.automatic_delta(Vectors(matrix), rows, start, goal, direct=False)
    assert "10 of the 45 candidates" in note
    # The five nearest to either end are at 1, 3, 5, 7, 9 and 81 to 89: between them lie 72.
    assert delta == pytest.approx(1 - np.cos(np.radians(72)), abs=1e-6)
    monkeypatch.setattr(corridor, "MOST", 45)
    exact, note = corridor.automatic_delta(Vectors(matrix), rows, start, goal, direct=False)
    assert exact == pytest.approx(1 - np.cos(np.radians(2)), abs=1e-6)
    assert "candidates:" not in note
