"""The walk equals an independent implementation in plain loops, on random instances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.methods import brute_force
from tests.methods.toy import ToyCorpus, run

# Small whole numbers make ties, duplicates, opposite vectors and right angles common.
grid = st.integers(-2, 2)
real = st.floats(-1, 1, allow_nan=False, width=32)


@st.composite
def instances(draw):
    dimension = draw(st.integers(2, 4))
    number = draw(st.sampled_from([grid, real]))
    vector = st.lists(number, min_size=dimension, max_size=dimension).filter(
        lambda v: np.linalg.norm(v) > 1e-3
    )
    vectors = draw(st.lists(vector, max_size=12))
    if vectors:
        vectors += draw(st.lists(st.sampled_from(vectors), max_size=3))
    anywhere = st.one_of(vector, st.sampled_from(vectors)) if vectors else vector
    return vectors, draw(anywhere), draw(anywhere), dimension


options = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0]),
        "delta": st.one_of(st.none(), st.sampled_from([0.0, 0.2, 0.5, 1.0, 2.0])),
        "radius_scale": st.sampled_from([0.0, 0.5, 1.0, 1.7]),
        "strict": st.booleans(),
        "min_candidates": st.integers(1, 6),
        "max_hops": st.integers(1, 9),
        "min_passages": st.integers(1, 3),
        "direct_edge": st.booleans(),
        "start": st.sampled_from(["query", "query", "best"]),
        "seed_passages": st.integers(1, 4),
    }
)
PLAIN = {
    "alpha": 0.5,
    "delta": None,
    "radius_scale": 1.0,
    "strict": False,
    "min_candidates": 3,
    "max_hops": 6,
    "min_passages": 1,
    "direct_edge": False,
}


@given(instances(), options)
@settings(max_examples=500, deadline=None)
@example(([], [1, 0], [0, 1], 2), PLAIN)
@example(([[1, 1]], [1, 0], [0, 1], 2), PLAIN)
@example(([[1, 1], [1, 1], [1, 1]], [1, 1], [1, 1], 2), PLAIN)
@example(([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 0], [-1, 0], 2), PLAIN)
def test_walk_equals_brute_force(instance, chosen):
    vectors, query, goal, dimension = instance
    corpus = ToyCorpus(np.array(vectors, dtype=float).reshape(-1, dimension))
    trace = run("tracert_rag", corpus, query, goal, **chosen)
    # The brute force gets what the method got: float32 vectors.
    stored = [np.float32(np.array(v) / np.linalg.norm(v)) for v in (query, goal)]
    expected = brute_force.walk(corpus.matrix.tolist(), *(v.tolist() for v in stored), **chosen)

    path = [f"toy:{node}" if isinstance(node, int) else node for node in expected.path]
    assert list(trace.result.path) == path
    assert list(trace.result.evidence) == [f"toy:{row}" for row in expected.evidence]
    assert trace.result.stop.reason.value == expected.reason
    assert [dict(step.counts) for step in trace.steps] == expected.counts
    assert trace.settings["delta"] == pytest.approx(expected.delta, abs=1e-9)
    for step, numbers in zip(trace.steps, expected.steps, strict=True):
        assert step.values["radius"] == pytest.approx(expected.radius, abs=1e-9)
        for candidate in step.candidates:
            if candidate.rule == "outside_radius":
                continue
            row = candidate.id if candidate.id == "goal" else int(candidate.id[4:])
            for value, right in zip(("distance", "penalty", "cost"), numbers[row], strict=True):
                assert candidate.values[value] == pytest.approx(right, abs=1e-6)


def test_walk_in_a_large_corpus_equals_brute_force():
    # More candidates than a step shows, so that the float32 pass and its bound decide who is
    # looked at exactly. Rows come in groups that differ by less than float32 products resolve.
    random = np.random.default_rng(7)
    centres = random.normal(size=(200, 16))
    vectors = np.repeat(centres, 6, axis=0) + random.normal(size=(1200, 16)) * 3e-7
    vectors = vectors[random.permutation(len(vectors))] + 0.5
    corpus = ToyCorpus(vectors)
    query, goal = np.ones(16), -corpus.matrix[10].astype(float)
    chosen = {**PLAIN, "delta": 0.6, "radius_scale": 0.9, "max_hops": 12, "min_passages": 12}
    trace = run("tracert_rag", corpus, query, goal, candidates_kept=5, **chosen)
    stored = [np.float32(np.array(v) / np.linalg.norm(v)) for v in (query, goal)]
    expected = brute_force.walk(corpus.matrix.tolist(), *(v.tolist() for v in stored), **chosen)
    assert len(trace.steps) == 12
    assert list(trace.result.path[1:]) == [f"toy:{row}" for row in expected.path[1:]]
    assert [dict(step.counts) for step in trace.steps] == expected.counts


@given(instances(), st.permutations(range(15)), options)
@settings(max_examples=100, deadline=None)
def test_order_of_the_corpus_only_breaks_ties(instance, permutation, chosen):
    # Every passage has a vector of its own and generic numbers, so there are no ties.
    vectors, query, goal, dimension = instance
    random = np.random.default_rng(0)
    vectors = np.array(vectors, dtype=float).reshape(-1, dimension)
    vectors = vectors + random.normal(size=vectors.shape) * 0.01
    query, goal = (
        np.array(v, dtype=float) + random.normal(size=dimension) * 0.01 for v in (query, goal)
    )
    order = [row for row in permutation if row < len(vectors)]
    one = run("tracert_rag", ToyCorpus(vectors), query, goal, **chosen)
    other = run("tracert_rag", ToyCorpus(vectors[order]), query, goal, **chosen)
    back = {f"toy:{new}": f"toy:{old}" for new, old in enumerate(order)}
    assert [back.get(id, id) for id in other.result.path] == list(one.result.path)
    assert [step.counts for step in other.steps] == [step.counts for step in one.steps]


def test_float_costs_hold_beyond_float32():
    # Two passages at almost the same angle t on either side of the query. For small angles the
    # distance is t^2 / 2, so these differ by near * 2e-6 = 2e-9: far less than the 6e-8 that a
    # float32 product resolves, and twice the width of a tie.
    near, far = 1e-3, 1e-3 + 2e-6
    corpus = ToyCorpus([[np.cos(far), np.sin(far)], [np.cos(near), -np.sin(near)]])
    trace = run("tracert_rag", corpus, [1, 0], [0, 1], alpha=0.0, max_hops=1)
    # Row 0 stands first in the text, but row 1 is nearer by more than the tie of 1e-9.
    assert trace.result.path == ("query", "toy:1")
