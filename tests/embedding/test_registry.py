"""The names, and what every embedder must keep to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from tracert.embedding.registry import DEFAULT, embedder, names
from tracert.embedding.vectors import unit_rows, whole
from tracert.errors import EmbedderError


def test_names() -> None:
    assert names() == ("wordllama", "minilm", "minilm-int8", "openai")
    assert DEFAULT in names()


@pytest.mark.parametrize("name", ["", "word", "WordLlama", "minilm:x", "open"])
def test_an_unknown_name_lists_the_known(name: str) -> None:
    with pytest.raises(EmbedderError) as caught:
        embedder(name)
    assert all(known in str(caught.value) for known in names())
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", names())
def test_every_name_is_found_again_by_its_embedder(name: str) -> None:
    made = embedder(name, base_url="https://api.openai.com/v1")
    again = embedder(made.name, base_url="https://api.openai.com/v1")
    assert (again.name, again.identity) == (made.name, made.identity)
    assert made.dimension > 0


def test_local_embedders_are_made_once() -> None:
    assert embedder("wordllama") is embedder("wordllama")


ROWS = st_numpy.arrays(
    np.float32,
    st_numpy.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
)


@given(ROWS)
def test_unit_rows(rows: np.ndarray) -> None:
    units = unit_rows(rows, "x")
    np.testing.assert_allclose(np.linalg.norm(units.astype(np.float64), axis=1), 1.0, atol=1e-6)
    for row, unit in zip(rows, units, strict=True):
        if row.any():
            # The direction is kept: the largest component is where it was, with its sign.
            place = int(np.abs(row).argmax())
            assert np.sign(unit[place]) == np.sign(row[place])
            assert np.abs(unit[place]) == np.abs(unit).max()
        else:
            np.testing.assert_array_equal(unit, np.eye(len(row), dtype=np.float32)[0])


def test_unit_rows_of_none() -> None:
    assert unit_rows(np.zeros((0, 3), np.float32), "x").shape == (0, 3)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_unit_rows_refuse_what_is_not_finite(bad: float) -> None:
    with pytest.raises(EmbedderError, match="x returned"):
        unit_rows(np.array([[1.0, bad]], np.float32), "x")


def test_whole() -> None:
    assert whole("plain é 😀") == "plain é 😀"
    assert whole("a\ud83db") == "a?b"
