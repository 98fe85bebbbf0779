from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.corpus.sentences import sentence_spans
from tracert.render.passage import glimpse, nearest_sentence, pieces

TEXT = "Davy saw it. Faraday wound two coils on a ring. The needle jerked."


def test_the_sentence_with_the_words_of_the_question_is_found():
    span = nearest_sentence(TEXT, sentence_spans(TEXT), "Who wound the coils?")
    assert TEXT[slice(*span)].strip() == "Faraday wound two coils on a ring."


def test_an_embedder_decides_by_cosine():
    def embed(texts):
        # The question and the third sentence point the same way, the others across.
        return np.array([[1.0, 0], [0, 1], [0.1, 0.9], [0.9, 0.1]], dtype=np.float32)[: len(texts)]

    span = nearest_sentence(TEXT, sentence_spans(TEXT), "anything", embed)
    assert TEXT[slice(*span)].strip() == "The needle jerked."


def test_a_heading_is_marked_only_where_there_is_nothing_else():
    text = "# The coils of Faraday\n\nFaraday wound two. The needle jerked."
    span = nearest_sentence(text, sentence_spans(text), "Which coils of Faraday?")
    assert text[slice(*span)].strip() == "Faraday wound two."
    alone = "## The coils of Faraday"
    assert nearest_sentence(alone, sentence_spans(alone), "Which coils?") == (0, len(alone))


def test_nothing_in_common_marks_nothing():
    assert nearest_sentence(TEXT, sentence_spans(TEXT), "xylophone") is None
    assert nearest_sentence("", [], "anything") is None


@given(
    st.text(max_size=300),
    st.integers(0, 300),
    st.integers(0, 300),
    st.integers(0, 40),
    st.one_of(st.none(), st.tuples(st.integers(0, 50), st.integers(0, 50))),
)
def test_pieces_are_the_document_and_nothing_else(text, a, b, around, sentence):
    start, end = sorted((min(a, len(text)), min(b, len(text))))
    if sentence is not None:
        low, high = sorted(sentence)
        sentence = (min(low, end - start), min(high, end - start))
    made = pieces(text, start, end, sentence, around)
    here = "".join(part for role, part in made if role != "around")
    assert here == text[start:end]
    whole = "".join(part for _, part in made)
    assert whole.removeprefix("… ").removesuffix(" …") in text or whole in text


@pytest.mark.parametrize("around", [0, 10, 1000])
def test_the_marked_sentence_is_exact(around):
    start = TEXT.index("Faraday")
    made = pieces(TEXT, start, len(TEXT), (0, 34), around)
    assert dict(made)["sentence"] == TEXT[start : start + 34]


def test_a_passage_is_shown_by_whole_words():
    assert glimpse("ductor, driven hard by coils", 20) == "… driven hard by…"
    assert glimpse("A thread burned.", 200) == "A thread burned."
    # A word that fills the line to its end is whole; one that goes beyond it is left out.
    assert glimpse("One two three", 7) == "One two…"
    assert glimpse("One two three", 6) == "One…"
    # Without a space there is no word to leave out.
    assert glimpse("unbroken", 200) == "unbroken"
    assert glimpse("", 200) == ""
