"""BM25 against the formula written out plainly, and the cache of indices."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods.toy import ToyCorpus
from tracert.language.words import terms
from tracert.methods.bm25 import K1, B, TermIndex, term_index

WORDS = ["amber", "glass", "frog", "pile", "wire", "the"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=7)


def brute(texts: list[str], question: str) -> list[float]:
    """The formula of the module's docstring, passage by passage."""
    cut = [terms(text) for text in texts]
    mean = sum(map(len, cut)) / len(cut)
    scores = []
    for passage in cut:
        score = 0.0
        for term in terms(question):
            held = sum(term in other for other in cut)
            often = Counter(passage)[term]
            if often:
                idf = math.log(1 + (len(cut) - held + 0.5) / (held + 0.5))
                length = 1 - B + B * len(passage) / mean
                score += idf * often / (often + K1 * length)
        scores.append(score)
    return scores


def test_one_term_by_hand() -> None:
    # n = 2, n(amber) = 1, both passages of mean length 2, so the length part is 1:
    # idf = ln(1 + 1.5 / 1.5) = ln 2, and f = 1 gives ln 2 / (1 + k1).
    index = TermIndex([["amber", "glass"], ["frog", "glass"]])
    assert index.scores("Amber?").tolist() == pytest.approx([math.log(2) / (1 + K1), 0.0])


@given(TEXTS, st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join))
def test_equals_the_formula(texts: list[str], question: str) -> None:
    index = TermIndex([terms(text) for text in texts])
    assert index.scores(question).tolist() == pytest.approx(brute(texts, question), abs=1e-12)


@pytest.mark.parametrize("texts", [[], [""], ["the", "of"]])
def test_no_term_at_all_scores_nothing(texts: list[str]) -> None:
    index = TermIndex([terms(text) for text in texts])
    assert index.scores("amber").tolist() == [0.0] * len(texts)


def test_idf_falls_with_the_passages_that_hold_a_term() -> None:
    index = TermIndex([["a1", "b1"], ["a1"], ["a1", "c1"]])
    assert index.idf("a1") < index.idf("b1") < index.idf("unheard")


def test_the_index_is_built_once_for_a_fingerprint() -> None:
    vectors = np.eye(2)
    one = ToyCorpus(vectors, ["amber and glass", "a frog"])
    same = ToyCorpus(vectors, ["amber and glass", "a frog"])
    other = ToyCorpus(vectors, ["amber and glass", "a wire"])
    assert term_index(one) is term_index(same)
    assert term_index(other).scores("wire")[1] > 0.0
    assert term_index(one).scores("wire")[1] == 0.0
