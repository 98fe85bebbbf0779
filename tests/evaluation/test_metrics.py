"""The measures by hand and against trec_eval, the bootstrap against formulas and a plain loop."""

from __future__ import annotations

import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, P, R, ScoredDoc, nDCG

from tracert.evaluation.asked import GoldPassage
from tracert.evaluation.metrics import (
    best_gains,
    bootstrap_mean,
    bootstrap_means,
    bootstrap_quantile,
    covered,
    discounted,
    gains,
    of_list,
    of_walk,
    recall,
    recall_curve,
    recall_of,
)


def gold(*groups: str) -> tuple[GoldPassage, ...]:
    """Gold passages of which each letter of a word is an id."""
    return tuple(GoldPassage(tuple(group), 1) for group in groups)


# --- a list -------------------------------------------------------------------------------


def test_recall() -> None:
    assert recall([3, 1, 2], [1, 9]) == 1 / 2
    assert recall([], [1]) == 0.0
    assert recall([1, 1], [1, 1]) == 1.0
    with pytest.raises(ValueError, match="at least one gold"):
        recall([1], [])
    with pytest.raises(ValueError, match="at least one gold"):
        recall_of(["a"], ())


def test_a_list_by_hand() -> None:
    # Gold a, b, c; returned x, b, y, a: hits at places 2 and 4.
    found = of_list("xbya", gold("a", "b", "c"))
    assert found["recall"] == 2 / 3
    assert found["precision"] == 2 / 4
    assert found["all_found"] == 0.0
    assert found["mrr"] == 1 / 2
    ideal = 1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert found["ndcg"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert recall_curve("xbya", gold("a", "b", "c"), 6) == [0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 2 / 3]


def test_a_passage_in_two_chunks_counts_once() -> None:
    # a and b hold the same passage: the second of them brings nothing.
    needs = gold("ab", "c")
    assert gains("abc", needs) == [1, 0, 1]
    assert best_gains(needs) == [1, 1]
    found = of_list("abc", needs)
    assert (found["recall"], found["precision"], found["all_found"]) == (1.0, 2 / 3, 1.0)
    assert covered("b", needs) == {0}


def test_a_chunk_with_two_passages_counts_twice_and_a_perfect_list_is_perfect() -> None:
    # x holds both: it alone is the best list.
    needs = gold("xa", "xb")
    assert gains("x", needs) == [2]
    assert best_gains(needs) == [2]
    assert of_list("x", needs) == {
        "recall": 1.0,
        "precision": 1.0,
        "all_found": 1.0,
        "mrr": 1.0,
        "ndcg": 1.0,
    }
    assert of_list("ab", needs)["ndcg"] == pytest.approx((1 + 1 / math.log2(3)) / 2)


def test_nothing_returned_and_nothing_to_find() -> None:
    empty = {"recall": 0.0, "precision": 0.0, "all_found": 0.0, "mrr": 0.0, "ndcg": 0.0}
    assert of_list("", gold("a")) == empty
    # No chunk holds the quotation: recall counts it as missed, nDCG is not defined.
    missing = of_list("x", (GoldPassage((), 1),))
    assert missing["recall"] == 0.0
    assert math.isnan(missing["ndcg"])
    assert discounted([]) == 0.0


@settings(deadline=None, max_examples=60)
@given(
    st.permutations(list("abcdefghijkl")),
    st.integers(1, 12),
    st.sets(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=6),
)
def test_one_id_a_passage_is_what_trec_eval_says(order, size, relevant) -> None:
    ids = order[:size]
    qrels = [ir_measures.Qrel("q", id, 1) for id in relevant]
    run = [ScoredDoc("q", id, float(-place)) for place, id in enumerate(ids)]
    theirs = ir_measures.calc_aggregate([R @ size, P @ size, RR, nDCG @ size], qrels, run)
    ours = of_list(ids, gold(*sorted(relevant)))
    assert ours["recall"] == pytest.approx(theirs[R @ size], abs=1e-9)
    assert ours["precision"] == pytest.approx(theirs[P @ size], abs=1e-9)
    assert ours["mrr"] == pytest.approx(theirs[RR], abs=1e-9)
    assert ours["ndcg"] == pytest.approx(theirs[nDCG @ size], abs=1e-9)
    assert ours["all_found"] == float(relevant <= set(ids))
    cutoffs = [R @ k for k in range(1, size + 1)]
    curve = ir_measures.calc_aggregate(cutoffs, qrels, run)
    assert recall_curve(ids, gold(*sorted(relevant)), size) == pytest.approx(
        [curve[each] for each in cutoffs], abs=1e-9
    )


@given(st.lists(st.sampled_from("abcdef"), max_size=8), st.lists(st.text("abcdef"), min_size=1))
def test_gains_sum_to_what_is_covered(ids, groups) -> None:
    needs = gold(*groups)
    assert sum(gains(ids, needs)) == len(covered(ids, needs))
    best = best_gains(needs)
    assert best == sorted(best, reverse=True)
    assert sum(best) == sum(bool(group) for group in groups)


# --- a walk -------------------------------------------------------------------------------


def test_a_walk_in_order_by_hand() -> None:
    # Hops x | a | y | b, gold a then b: x and y are wasted, the order is kept, b is the last.
    found = of_walk(["x", "a", "y", "b"], gold("a", "b"), [(0, 1)], room=True)
    assert found == {
        "in_order": 1.0,
        "hops": 4.0,
        "wasted_hops": 2 / 4,
        "too_early": 0.0,
        "too_late": 0.0,
        "late_hops": 0.0,
    }


def test_a_walk_against_the_order() -> None:
    found = of_walk(["b", "a"], gold("a", "b"), [(0, 1)], room=True)
    assert found["in_order"] == 0.0
    # Both in one hop is no later than each other.
    assert of_walk(["ba"], gold("a", "b"), [(0, 1)], room=True)["in_order"] == 1.0
    # Of the edges a to b and b to c, c was not gathered: one of two.
    assert of_walk(["a", "b"], gold("a", "b", "c"), [(0, 1), (1, 2)], True)["in_order"] == 1 / 2
    assert math.isnan(of_walk(["ab"], gold("a", "b"), [], True)["in_order"])


def test_too_early_needs_room_and_too_late_needs_all() -> None:
    needs = gold("a", "b")
    early = of_walk(["a"], needs, [], room=True)
    assert (early["too_early"], early["too_late"]) == (1.0, 0.0)
    assert math.isnan(early["late_hops"])
    assert of_walk(["a"], needs, [], room=False)["too_early"] == 0.0
    late = of_walk(["ab", "x", "y"], needs, [], room=True)
    assert (late["too_early"], late["too_late"], late["late_hops"]) == (0.0, 1.0, 2.0)
    none = of_walk([], needs, [(0, 1)], room=True)
    assert (none["hops"], none["too_early"], none["in_order"]) == (0.0, 1.0, 0.0)
    assert math.isnan(none["wasted_hops"])


# --- the bootstrap ------------------------------------------------------------------------


def test_the_interval_is_about_two_standard_errors() -> None:
    values = np.random.default_rng(0).normal(0.3, 1.0, 400)
    mean, low, high = bootstrap_mean(values)
    error = values.std() / np.sqrt(len(values))
    assert mean == pytest.approx(values.mean())
    assert low == pytest.approx(mean - 1.96 * error, abs=0.15 * error)
    assert high == pytest.approx(mean + 1.96 * error, abs=0.15 * error)


def test_equal_values_have_no_width_and_a_seed_repeats() -> None:
    assert bootstrap_mean(np.full(5, 0.25)) == (0.25, 0.25, 0.25)
    values = np.random.default_rng(5).normal(size=30)
    assert bootstrap_mean(values, seed=3) == bootstrap_mean(values, seed=3)
    assert bootstrap_mean(values, seed=3) != bootstrap_mean(values, seed=4)


def test_the_mean_of_two_questions_takes_three_values() -> None:
    # Two questions, 0 and 1: a draw gives 0, 1/2 or 1 with 1/4, 1/2 and 1/4. So the 95% interval
    # is 0 to 1, and the interval of the middle 40% is 1/2 to 1/2.
    values = np.array([0.0, 1.0])
    assert bootstrap_mean(values) == (0.5, 0.0, 1.0)
    assert bootstrap_mean(values, level=0.4) == (0.5, 0.5, 0.5)


def test_the_matrix_does_what_a_loop_does() -> None:
    values = np.random.default_rng(1).random(7)
    rng = np.random.default_rng(0)
    means = [values[rows].mean() for _ in range(20) for rows in rng.integers(0, 7, (500, 7))]
    low, high = np.quantile(means, [0.025, 0.975])
    assert bootstrap_mean(values) == pytest.approx((values.mean(), low, high))


def test_a_measure_that_is_not_defined_counts_in_no_mean() -> None:
    nan = math.nan
    found = bootstrap_means(
        {
            "all": np.array([0.0, 1.0, 1.0]),
            "some": np.array([nan, 1.0, 1.0]),
            "none": np.full(3, nan),
        }
    )
    assert set(found) == {"all", "some"}
    assert (found["some"].mean, found["some"].low, found["some"].count) == (1.0, 1.0, 2)
    assert found["all"].mean == pytest.approx(2 / 3)
    assert bootstrap_means({"none": np.full(2, nan)}) == {}


def test_weights_make_a_ratio_of_sums() -> None:
    # One question with 3 of 3, one with 0 of 1: 3/4 of the passages, not the mean of 1 and 0.
    found = bootstrap_means({"x": np.array([1.0, 0.0])}, {"x": np.array([3.0, 1.0])})["x"]
    assert found.mean == 3 / 4
    assert (found.low, found.high) == (0.0, 1.0)


def test_a_quantile_with_its_interval() -> None:
    values = np.random.default_rng(2).exponential(10.0, 500)
    found = bootstrap_quantile(values, 0.5)
    assert found.mean == np.median(values)
    # The median's standard error is 1 / (2 f sqrt(n)), f the density there: 0.05 for this one.
    error = 1 / (2 * 0.05 * np.sqrt(500))
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.25)
    assert bootstrap_quantile(np.full(4, 2.0), 0.95).high == 2.0
