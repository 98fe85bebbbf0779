"""An evaluation in tables and words, on details made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracert.evaluation.asked import GoldPassage
from tracert.evaluation.detail import BASELINE, BM25, DENSE, Detail
from tracert.evaluation.summary import Evaluation, Setup
from tracert.render.evaluation_tables import (
    Measured,
    cutoff_rows,
    group_rows,
    interval,
    method_rows,
    outcome,
    points,
    question_rows,
    series_of,
    stand_ins,
    verdicts,
    walk_rows,
)

GOLD = (GoldPassage(("a",), 1), GoldPassage(("b",), 2))


def detail(number: int, evidence, baseline, words, *, kind="bridge", hops=(), filled=0) -> Detail:
    return Detail(
        id=f"q{number}",
        question=f"Question {number}?",
        type=kind,
        n_hops=2,
        gold=GOLD,
        edges=((0, 1),),
        evidence=tuple(evidence),
        filled=filled,
        references={BASELINE: tuple(baseline), DENSE: tuple(baseline), BM25: tuple(words)},
        hops=tuple(tuple(hop) for hop in hops),
        stop="hops_done",
        seconds={"embed": 0.001, "walk": 0.002, "all": 0.004},
    )


def measured(label: str, method: str, details, making=None, **settings) -> Measured:
    setup = Setup("q.jsonl", "pool", "pool", 9, "f", method, settings, 2, "toy")
    return Measured(label, Evaluation(setup, tuple(details)), making or {})


def many(evidence, baseline, words, count=30, **more):
    return [detail(number, evidence, baseline, words, **more) for number in range(count)]


#: The walk finds both, plain top-k one of two, BM25 none.
WIN = measured("Walk", "treehop", many("ab", "ax", "xy", hops=("a", "b")), first_stage="dense")
LOSS = measured("Lost", "treehop", many("xy", "ax", "xy", hops=("x", "y")), first_stage="dense")
SAME = measured("Same", "treehop", many("ax", "ay", "xy", hops=("a", "x")), first_stage="dense")
TOP = measured("Plain top-k", "native_rag", many("ax", "ax", "xy"), first_stage="dense")
WORDS = measured("BM25", "native_rag", many("xy", "xy", "xy"), first_stage="bm25")


def row(rows, label):
    place = rows["Method"].index(label)
    return {name: values[place] for name, values in rows.items()}


def test_a_row_a_method_and_the_references_that_were_not_chosen():
    rows = method_rows([WIN])
    assert rows["Method"] == ["Walk", "Plain top-k (reference)", "BM25 (reference)"]
    walk, plain, words = (row(rows, label) for label in rows["Method"])
    assert (walk["Recall"], plain["Recall"], words["Recall"]) == (1.0, 0.5, 0.0)
    # One of two gold passages more: 50 points.
    assert walk["vs top-k"] == pytest.approx(50.0)
    assert walk["vs top-k, 95%"] == "+50.0 to +50.0"
    assert plain["vs top-k"] is None
    assert words["vs top-k"] == pytest.approx(-50.0)
    assert words["vs top-k, 95%"] == "−50.0 to −50.0"
    assert (walk["Precision"], walk["MRR"], walk["nDCG"], walk["All found"]) == (1, 1, 1, 1)
    assert (walk["ms p50"], plain["ms p50"]) == (pytest.approx(4.0), None)


def test_a_reference_that_was_chosen_stands_once():
    rows = method_rows([TOP, WIN])
    assert rows["Method"] == ["Plain top-k", "Walk", "BM25 (reference)"]
    assert row(rows, "Plain top-k")["vs top-k"] is None


def test_columns_of_a_model_are_there_only_where_one_was_asked():
    assert "Model calls" not in method_rows([WIN])
    asked = detail(0, "ab", "ax", "xy")
    asked = Detail(**{name: getattr(asked, name) for name in Detail.__slots__} | {"model_calls": 2})
    assert row(method_rows([measured("M", "tracert_rag", [asked])]), "M")["Model calls"] == 2.0


def test_plain_search_by_words_is_measured_against_plain_search_by_vectors():
    """Its own first stage is itself, so nothing could be said against that."""
    by_words = measured(
        "BM25",
        "native_rag",
        [
            Detail(
                **{name: getattr(one, name) for name in Detail.__slots__}
                | {"references": {BASELINE: ("a", "b"), DENSE: ("a", "x"), BM25: ("a", "b")}}
            )
            for one in many("ab", "ab", "ab")
        ],
        first_stage="bm25",
    )
    assert row(method_rows([by_words]), "BM25")["vs top-k"] == pytest.approx(50.0)
    (said,) = verdicts([by_words])
    assert said.kind == "gain"


# --- words ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "kind", "said"),
    [
        (WIN, "gain", "finds more than plain top-k at the same 2 passages: recall 1.000 against"),
        (LOSS, "loss", "loses to plain top-k at the same 2 passages: recall 0.000 against 0.500"),
        (SAME, "open", "shows no clear difference from plain top-k"),
    ],
)
def test_gains_and_losses_are_said_with_their_figures(one, kind, said):
    (verdict,) = verdicts([one])
    assert verdict.kind == kind
    assert said in verdict.text
    assert "30 questions" in verdict.text


def test_where_it_is_otherwise_is_said_too():
    """It wins on bridges and loses on the comparisons: both stand in the sentence."""
    details = many("ab", "ax", "xy", count=30) + many("xy", "ax", "xy", count=10, kind="comparison")
    (verdict,) = verdicts([measured("Walk", "treehop", details, first_stage="dense")])
    # 30 times +0.5, 10 times -0.5: +25 points in the mean.
    assert verdict.kind == "gain"
    assert "+25.0 points" in verdict.text
    assert "It loses on type comparison (−50.0 points)" in verdict.more


def test_what_was_filled_up_is_said():
    (verdict,) = verdicts([measured("W", "tracert_rag", many("ab", "ax", "xy", filled=1))])
    assert "Of its passages 50% were filled up with plain top-k" in verdict.more


def test_a_method_of_another_first_stage_is_told_against_that_stage():
    one = measured("W", "treehop", many("ab", "ax", "xy"), first_stage="hybrid")
    assert "plain top-k by hybrid, its own first stage," in verdicts([one])[0].text


def test_over_notes_notes_are_counted():
    one = measured("W", "trailgraph", many("ab", "ax", "xy", filled=1))
    setup = replace(one.evaluation.setup, kind="notes")
    (verdict,) = verdicts([Measured("W", Evaluation(setup, one.evaluation.details), {})])
    assert "at the same 2 notes" in verdict.text
    assert "Of its notes 50%" in verdict.more


def test_plain_top_k_itself_gets_no_verdict():
    assert verdicts([TOP]) == []


@pytest.mark.parametrize(
    ("value", "text"), [(0.0234, "+2.3"), (-0.004, "−0.4"), (-0.0001, "+0.0"), (0.0, "+0.0")]
)
def test_points_have_a_sign_and_no_negative_nothing(value, text):
    assert points(value) == text


def test_an_interval_is_in_points():
    assert interval(WIN.summary.differences[BASELINE]["recall"]) == "+50.0 to +50.0"


def asking(method: str, calls: list[int], model: str = "toy") -> Measured:
    details = [
        Detail(**{name: getattr(one, name) for name in Detail.__slots__} | {"model_calls": number})
        for one, number in zip(many("ab", "ax", "xy", count=len(calls)), calls, strict=True)
    ]
    one = measured("M", method, details)
    setup = replace(one.evaluation.setup, model=model)
    return Measured("M", Evaluation(setup, one.evaluation.details), {})


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (asking("tracert_rag", [1, 0]), "asked toy in 1 of 2 questions"),
        (asking("tracert_rag", [0, 0]), "asked toy in 0 of 2 questions"),
        (asking("iterative_rewrite", [2, 0]), "asked toy in 1 of 2 questions"),
        (asking("tracert_rag", [1, 2]), ""),
        (asking("native_rag", [0, 0]), ""),
        (asking("tracert_rag", [0, 0], model=""), ""),
    ],
)
def test_where_a_model_was_to_be_asked_and_was_not_is_said(one, said):
    found = stand_ins(one)
    assert said in found if said else found == ""


# --- the other tables -------------------------------------------------------------------------


def test_by_type_stands_every_method_with_its_difference():
    rows = group_rows([WIN, LOSS], "type")
    assert rows["Type"] == ["bridge"]
    assert rows["Questions"] == [30]
    assert (rows["Plain top-k"], rows["BM25"]) == ([0.5], [0.0])
    assert (rows["Walk"], rows["Walk, points"]) == ([1.0], [50.0])
    assert (rows["Lost"], rows["Lost, points"]) == ([0.0], [-50.0])


def test_every_measure_is_told_by_type():
    rows = group_rows([TOP, WIN], "type", "all_found")
    # Plain top-k finds one of two, so never all; the walk finds both, always.
    assert (rows["Plain top-k"], rows["Walk"], rows["Walk, points"]) == ([0.0], [1.0], [100.0])
    assert "BM25" not in rows


def test_plain_top_k_by_type_is_that_of_the_vectors():
    """A method of another first stage has another baseline, which is not plain top-k."""
    other = measured("Hybrid walk", "treehop", many("ab", "xy", "xy"), first_stage="hybrid")
    assert "Plain top-k" not in group_rows([other], "type")
    assert group_rows([other, WIN], "type")["Plain top-k"] == [0.5]


def test_recall_is_told_at_each_cutoff_as_far_as_the_lists_go():
    rows = cutoff_rows([WIN])
    assert rows["Method"] == ["Walk", "Plain top-k (reference)", "BM25 (reference)"]
    assert set(rows) == {"Method", "Recall@1", "Recall@2"}
    assert rows["Recall@1"] == [0.5, 0.5, 0.0]
    assert rows["Recall@2"] == [1.0, 0.5, 0.0]


def test_by_depth_counts_gold_passages():
    rows = group_rows([WIN], "depth")
    assert rows["Hops to the passage"] == ["1", "2"]
    assert rows["Gold passages"] == [30, 30]
    # Plain top-k finds the first of the chain and never the second.
    assert rows["Plain top-k"] == [1.0, 0.0]


def test_questions_without_a_type_are_called_so():
    assert group_rows([measured("W", "treehop", many("ab", "ax", "xy", kind=""))], "type")[
        "Type"
    ] == ["none"]


def test_the_way_is_told_of_methods_that_move():
    rows = walk_rows([TOP, WIN, LOSS])
    assert rows["Method"] == ["Walk", "Lost"]
    # a then b, gathered in that order, no hop wasted; x and y waste both and never arrive.
    assert rows["Gold in order"] == [1.0, 0.0]
    assert rows["Wasted hops"] == [0.0, 1.0]
    assert rows["Stops"][0] == "hops done 30"
    assert walk_rows([TOP]) == {}


def test_a_question_is_won_lost_or_tied():
    for one, word in ((WIN, "Won"), (LOSS, "Lost"), (SAME, "Tied")):
        assert outcome(one, one.evaluation.details[0]) == word
    rows = question_rows([TOP, WIN, LOSS], 1)
    assert rows["Against top-k"][0] == "Won"
    assert rows["Points"][0] == pytest.approx(50.0)
    assert (rows["Plain top-k"][0], rows["Walk"][0], rows["Lost"][0]) == (0.5, 1.0, 0.0)
    assert rows["Id"][0] == "q0"


def test_plain_top_k_stands_beside_a_method_where_it_was_not_chosen():
    rows = question_rows([WIN], 0)
    assert rows["Plain top-k"] == [0.5] * 30
    assert [len(values) for values in rows.values()] == [30] * len(rows)


def test_the_pictures_get_the_references_once():
    assert [one.label for one in series_of([WIN])] == ["Plain top-k", "BM25", "Walk"]
    assert [one.label for one in series_of([TOP, WORDS, WIN])] == ["Plain top-k", "BM25", "Walk"]
    walk = series_of([WIN])[2]
    # After one passage half of the gold, after two all of it.
    assert walk.curve == (0.5, 1.0)
    assert walk.ms == (pytest.approx(4.0), pytest.approx(4.0))
