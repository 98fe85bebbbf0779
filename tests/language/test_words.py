"""The words that carry meaning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.language.words import stem, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("battery", "batteries"),
        ("walk", "walking"),
        ("invent", "invented"),
        ("pile", "piles"),
        ("cable", "cables"),
        ("glass", "glasses"),
        ("box", "boxes"),
        ("branch", "branches"),
        ("Volta", "Volta's"),
    ],
)
def test_forms_of_one_word_meet(one, other):
    assert stem(one) == stem(other)


def test_short_words_keep_their_endings():
    assert [stem(word) for word in ("gas", "red", "king", "bed")] == ["gas", "red", "king", "bed"]


def test_terms_leave_out_what_carries_no_meaning():
    assert terms("Who was it that built the Piles, and Volta’s cell?") == [
        "built",
        "pil",
        "volta",
        "cell",
    ]


@given(st.text(max_size=40))
def test_stems_are_never_empty(text):
    assert all(terms(text))
