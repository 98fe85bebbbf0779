"""Two runs laid over each other: worked by hand on walks of a few steps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.difference import Pair, difference, same
from tracert.errors import TraceError
from tracert.trace import (
    Candidate,
    CorpusInfo,
    Cost,
    Node,
    NodeKind,
    Result,
    Step,
    Stop,
    StopReason,
    Trace,
)


def walk(*ways: str, settings=None, question="Why?", cost=None, method="tracert_rag") -> Trace:
    """A walk through passages a to e; a way 'q>a:bc' goes from q to a and rejects b and c."""
    nodes = [Node("q", NodeKind.QUERY, "Question", question)]
    nodes += [Node(id, NodeKind.CHUNK, id.upper(), f"Text of {id}.") for id in "abcde"]
    steps, path = [], ["q"]
    for index, way in enumerate(ways):
        move, _, rejected = way.partition(":")
        source, target = move.split(">")
        judged = [Candidate(target, True, "chosen", "the lowest", {"cost": 0.1})]
        judged += [
            Candidate(id, False, "dearer", "another cost less", {"cost": 0.2}) for id in rejected
        ]
        counts = {"chosen": 1, "dearer": len(rejected)}
        steps.append(Step(index, "walk", source, target, {"alpha": 0.5}, counts, tuple(judged)))
        path.append(target)
    return Trace(
        method,
        question,
        settings or {"alpha": 0.5},
        0,
        CorpusInfo("Toy", "f" * 64, "toy", 3, 5),
        tuple(nodes),
        tuple(steps),
        Result(tuple(path), tuple(path[1:]), Stop(StopReason.DEAD_END, "No way on.")),
        cost=cost or Cost(),
    )


def test_a_run_differs_in_nothing_from_itself(toys):
    for trace in (toys.walk_trace(), walk("q>a:b", "a>b"), toys.walk_trace(scale=0.0)):
        found = difference(trace, trace)
        assert found.same_walk
        assert found.settings == found.turned == found.notes == found.costs == ()
        assert {pair.kind for pair in found.steps} <= {Pair.SAME}
        assert found.stop is None


def test_the_place_where_the_walks_part():
    # Both go to a; then A goes on to b and B to c, and B takes one step more.
    a, b = walk("q>a:b", "a>b:c"), walk("q>a:b", "a>c:b", "c>d")
    found = difference(a, b)
    assert [pair.kind for pair in found.steps] == [Pair.SAME, Pair.MOVE, Pair.ONLY_B]
    assert found.parted == 1
    assert (found.both, found.only_a, found.only_b) == (("a",), ("b",), ("c", "d"))


def test_a_verdict_turned_at_the_same_node():
    # At a, A keeps b and rejects c; B keeps c and rejects b. Both are turned, and nothing else.
    found = difference(walk("q>a:e", "a>b:c"), walk("q>a:e", "a>c:b"))
    assert [(one.id, one.source, one.a.kept, one.b.kept) for one in found.turned] == [
        ("b", "a", True, False),
        ("c", "a", False, True),
    ]
    assert found.turned[0].b.rule == "dearer"
    assert found.turned[0].b.values == {"cost": 0.2}


def test_verdicts_are_compared_at_the_same_node_though_it_is_another_step():
    # A stands on b at its second step, B at its first but one after: q>a, a>b, b>...
    found = difference(walk("q>b", "b>c:d"), walk("q>a", "a>b", "b>d:c"))
    assert {(one.id, one.step_a, one.step_b) for one in found.turned if one.source == "b"} == {
        ("c", 1, 2),
        ("d", 1, 2),
    }


def test_a_candidate_that_only_one_weighed_is_turned_where_it_was_kept():
    found = difference(walk("q>a:b"), walk("q>c:b"))
    assert {(one.id, one.a is None, one.b is None) for one in found.turned} == {
        ("a", False, True),
        ("c", True, False),
    }


def test_the_fate_of_what_one_alone_found():
    # B weighed b at its first step and rejected it; A never weighed c.
    found = difference(walk("q>a", "a>b"), walk("q>a:b", "a>c"))
    in_a, in_b = found.fates["b"]
    assert in_a.verdict.kept
    assert (in_b.step, in_b.verdict.rule) == (0, "dearer")
    assert found.fates["c"][0] is None


def test_a_verdict_that_kept_stands_above_a_later_rejection():
    found = difference(walk("q>a", "a>b:a"), walk("q>b"))
    assert found.fates["a"][0].verdict.kept


def test_other_numbers_are_no_other_move():
    a = walk("q>a:b")
    step = replace(a.steps[0], values={"alpha": 0.7})
    found = difference(a, replace(a, steps=(step,), settings={"alpha": 0.7, "hops": 3}))
    assert [pair.kind for pair in found.steps] == [Pair.NUMBERS]
    assert found.parted is None
    assert [(one.name, one.a, one.b) for one in found.steps[0].values] == [("alpha", 0.5, 0.7)]
    assert [(one.name, one.a, one.b) for one in found.settings] == [
        ("alpha", 0.5, 0.7),
        ("hops", None, 3),
    ]


def test_how_a_number_came_about_is_no_other_number():
    # The run again is given as a number the delta that the first run found; both walk by 0.5.
    told = {"delta": 0.5, "delta_note": "delta is the smallest threshold …", "radius_note": "…"}
    a, b = walk("q>a:b"), walk("q>a:b")
    found = difference(
        replace(a, steps=(replace(a.steps[0], values=told),)),
        replace(b, steps=(replace(b.steps[0], values={"delta": 0.5}),)),
    )
    assert [pair.kind for pair in found.steps] == [Pair.SAME]


def test_costs_are_named_where_they_differ():
    a = walk("q>a", cost=Cost({"walk": 0.5}, 1, 100, 20))
    b = walk("q>a", cost=Cost({"walk": 0.5, "answer": 2.0}, 2, 100, 60))
    assert {(one.name, one.a, one.b) for one in difference(a, b).costs} == {
        ("model calls", 1, 2),
        ("completion tokens", 20, 60),
        ("seconds answer", None, 2.0),
    }


def test_another_question_and_another_corpus_are_said():
    a = walk("q>a")
    info = replace(a.corpus, fingerprint="e" * 64)
    assert len(difference(a, walk("q>a", question="How?")).notes) == 1
    assert "changed" in difference(a, replace(a, corpus=info)).notes[0]
    other = replace(info, name="Other", embedder="minilm")
    assert len(difference(a, replace(a, corpus=other)).notes) == 2


def test_two_methods_are_not_laid_over_each_other():
    with pytest.raises(TraceError, match="Compare"):
        difference(walk("q>a"), walk("q>a", method="treehop"))


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_numbers_are_the_same_within_a_rounding(a, b):
    assert same(a, a * (1 + 1e-9))
    assert same(a, b) == same(b, a)
    assert not same(a, 2 * abs(a) + 1)


@pytest.mark.parametrize(("a", "b"), [(True, 1), (None, 0), ("0.5", 0.5), ("a", "b")])
def test_values_of_two_kinds_differ(a, b):
    assert not same(a, b)


@given(st.floats(0.0, 2.0), st.floats(0.1, 1.2))
def test_the_difference_turned_round_is_the_difference_turned_round(toys, alpha, delta):
    a, b = toys.walk_trace(), toys.walk_trace(alpha=alpha, delta=delta)
    there, back = difference(a, b), difference(b, a)
    assert (there.only_a, there.only_b) == (back.only_b, back.only_a)
    assert set(there.both) == set(back.both)
    assert there.parted == back.parted
    assert {(one.id, one.step_a, one.step_b) for one in there.turned} == {
        (one.id, one.step_b, one.step_a) for one in back.turned
    }
    # Every passage of either run is in one of the three parts, once.
    parts = [*there.both, *there.only_a, *there.only_b]
    assert sorted(parts) == sorted({*a.result.evidence, *b.result.evidence})
