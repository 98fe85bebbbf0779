"""A text with its cuts: worked by hand, and whole whatever the cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracert.corpus.chunking import Chunking, spans
from tracert.render import lengths
from tracert.render.cuts import pieces

TEXT = "abcdefghij"


def test_each_passage_has_its_number_and_what_two_share_is_told() -> None:
    # Windows of 4 that share 1: abcd, defg, ghij. 'd' and 'g' are in two passages each.
    found = pieces(TEXT, spans(TEXT, Chunking(4, 1)), 0, 10)
    assert found == [
        ("number", "1"), ("even", "abc"),
        ("number", "2"), ("shared", "d"), ("odd", "ef"),
        ("number", "3"), ("shared", "g"), ("even", "hij"),
    ]  # fmt: skip


def test_a_stretch_in_the_middle_begins_and_ends_where_it_is_told() -> None:
    # 'c' belongs to the first passage, which begins before the stretch and has no number here.
    found = pieces(TEXT, spans(TEXT, Chunking(4, 1)), 2, 5)
    assert found == [("even", "c"), ("number", "2"), ("shared", "d"), ("odd", "e")]


@given(
    st.text("ab .\n", max_size=80),
    st.integers(1, 20).flatmap(
        lambda size: st.builds(Chunking, st.just(size), st.integers(0, size - 1), st.booleans())
    ),
    st.integers(0, 80),
    st.integers(0, 80),
)
def test_the_pieces_joined_are_the_stretch(
    text: str, chunking: Chunking, start: int, more: int
) -> None:
    start = min(start, len(text))
    found = pieces(text, spans(text, chunking), start, start + more)
    assert "".join(piece for role, piece in found if role != "number") == text[start : start + more]


def test_every_length_is_in_a_bin_and_counted_once() -> None:
    one = lengths.Series("now", np.array([1, 500, 500, 37]))
    two = lengths.Series("then", np.array([900, 2]), weight=10.0)
    made = lengths.figure((one, two), "characters", limit=256)
    now, then = made.data
    assert sum(now.y) == 4
    assert sum(then.y) == 20  # two passages were cut of a tenth of the text
    assert made.layout.shapes[0].x0 == 256
    assert now.name == "now"
    assert now.marker.pattern.shape != then.marker.pattern.shape


def test_lengths_that_are_all_one_make_one_bar() -> None:
    made = lengths.figure((lengths.Series("now", np.array([7, 7, 7])),), "words")
    assert [height for height in made.data[0].y if height] == [3]
    assert made.data[0].customdata[0] == "7"
