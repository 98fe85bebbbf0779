"""The float32 pass and its bound, and ranks that hold beyond float32."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.methods.exact import (
    TIE,
    Vectors,
    cosine_distance,
    even_rows,
    ranked,
    unit,
)


@pytest.mark.parametrize("dimension", [2, 16, 256, 1536])
def test_error_bounds_the_float32_pass(dimension):
    random = np.random.default_rng(dimension)
    matrix = random.normal(size=(500, dimension)) + 1.0
    matrix = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)
    vectors, vector = Vectors(matrix), unit(random.normal(size=dimension) + 1.0)
    exact = vectors.distances(np.arange(500), vector)
    assert np.abs(vectors.approximate(vector) - exact).max() <= vectors.error
    # A bound is of use only where it is far below the distances compared.
    assert vectors.error < 1e-4


def test_equal_vectors_are_at_distance_zero():
    row = np.array([0.6, 0.8], dtype=np.float32)
    assert cosine_distance(unit(row), unit(row)) == 0.0
    assert Vectors(row[None]).distances(np.array([0]), unit(row))[0] == pytest.approx(0, abs=1e-15)


def test_cosine_distance_is_one_minus_cosine():
    a, b = unit(np.array([1.0, 2.0, 2.0])), unit(np.array([2.0, 2.0, 1.0]))
    # The product of (1, 2, 2) and (2, 2, 1) is 8, both have length 3.
    assert cosine_distance(a, b) == pytest.approx(1 - 8 / 9)


def test_ties_rank_by_row():
    values = np.array([0.5, 0.2 + TIE / 2, 0.2, 0.9, 0.2])
    assert ranked(values, np.arange(5)).tolist() == [1, 2, 4, 0, 3]
    assert ranked(values, np.array([9, 8, 7, 6, 5])).tolist() == [4, 2, 1, 0, 3]
    assert ranked(np.empty(0), np.empty(0, dtype=int)).tolist() == []


@given(st.integers(0, 40), st.integers(0, 50), st.integers(0, 2**32 - 1))
def test_nearest_and_within_equal_a_sort(size, count, seed):
    random = np.random.default_rng(seed)
    # Whole numbers: many rows share a direction or an angle to the vector.
    raw = random.integers(-2, 3, size=(size, 3)) + np.array([3, 0, 0])
    matrix = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)
    vectors, vector = Vectors(matrix), unit(np.array([1.0, 1.0, 0.0]))
    exact = vectors.distances(np.arange(size), vector)
    rows, distances = vectors.nearest(vector, count)
    order: list[int] = []
    for row in sorted(range(size), key=lambda row: exact[row]):
        place = len(order)
        while place and exact[row] - exact[order[place - 1]] <= TIE and order[place - 1] > row:
            place -= 1
        order.insert(place, row)
    assert rows.tolist() == order[:count]
    assert distances.tolist() == pytest.approx(exact[rows].tolist())
    for radius in exact[:5]:
        within = vectors.within(vectors.approximate(vector), vector, float(radius))
        assert within.tolist() == np.flatnonzero(exact <= radius + TIE).tolist()


def test_even_rows():
    assert even_rows(3, 5).tolist() == [0, 1, 2]
    assert even_rows(10, 5).tolist() == [0, 2, 4, 6, 8]
    assert even_rows(0, 5).tolist() == []
