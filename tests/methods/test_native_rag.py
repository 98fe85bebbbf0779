"""Plain top-k, worked by hand and against a sort."""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods.toy import ToyCorpus, run
from tracert.methods.base import Question, Resources, parse_settings
from tracert.methods.registry import method


def at(*degrees):
    return [[cos(radians(d)), sin(radians(d))] for d in degrees]


def test_k_nearest_best_first():
    trace = run("native_rag", ToyCorpus(at(50, -10, 30, 80)), *at(0), k=2)
    assert trace.result.evidence == ("toy:1", "toy:2")
    assert trace.result.path == ("query", "toy:1", "toy:2")
    step = trace.steps[0]
    assert step.values == {"k": 2.0}
    assert step.counts == {"kept": 2, "below_k": 2}
    similarities = [candidate.values["similarity"] for candidate in step.candidates]
    assert similarities == pytest.approx([cos(radians(d)) for d in (10, 30, 50, 80)])
    assert [candidate.rule for candidate in step.candidates] == ["kept"] * 2 + ["below_k"] * 2


def test_ties_follow_the_order_of_the_text():
    trace = run("native_rag", ToyCorpus(at(40, 20, -20, 20)), *at(0), k=2)
    assert trace.result.evidence == ("toy:1", "toy:2")


def test_small_and_empty_corpora():
    few = run("native_rag", ToyCorpus(at(10, 20)), *at(0), k=5)
    assert few.result.evidence == ("toy:0", "toy:1")
    assert "2 passages" in few.result.stop.message
    none = run("native_rag", ToyCorpus(np.empty((0, 2))), *at(0))
    assert none.result.evidence == ()
    assert none.result.stop.reason == "empty_corridor"


def test_candidates_named_may_be_fewer_than_counted():
    trace = run("native_rag", ToyCorpus(at(*range(30))), *at(0), k=3, candidates_kept=10)
    assert len(trace.steps[0].candidates) == 10
    assert trace.steps[0].counts == {"kept": 3, "below_k": 27}


@given(
    st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=1, max_size=20).filter(
        lambda rows: all(np.linalg.norm(row) > 1e-3 for row in rows)
    ),
    st.integers(1, 6),
)
def test_equals_a_sort(rows, k):
    corpus = ToyCorpus(np.array(rows))
    exact = corpus.matrix.astype(float)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    # The similarity to the first axis is the first component; ties are rounded together.
    order = sorted(range(len(rows)), key=lambda row: (-round(exact[row, 0], 7), row))
    trace = run("native_rag", corpus, [1, 0, 0], k=k)
    found = [exact[corpus.ids.index(id), 0] for id in trace.result.evidence]
    assert found == pytest.approx([exact[row, 0] for row in order[:k]], abs=1e-6)


def test_empty_question_is_refused():
    chosen = method("native_rag")
    corpus = ToyCorpus(at(1))
    resources = Resources(lambda texts: corpus.matrix[: len(texts)], corpus)
    with pytest.raises(Exception, match="Type one"):
        chosen.prepare(Question(" "), resources)
    assert parse_settings(chosen.settings_type, {"k": "7"}).k == 7
