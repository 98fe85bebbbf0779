"""The judge over many questions: worked by hand."""

from __future__ import annotations

import json

import pytest

from tests.scripted_model import ScriptedModel
from tracert.errors import BudgetError
from tracert.evaluation.judged import as_markdown, judge_all, judged
from tracert.language.judge import CRITERIA, Judgement, Round, Scores
from tracert.trace import Cost


def flat(mark: int) -> Scores:
    return Scores(mark, mark, mark, mark)


def made(question: str, first: tuple[str, int, int], second: tuple[str, int, int]) -> Judgement:
    """Both rounds as (best, mark of a, mark of b)."""
    rounds = [
        Round(order, {"a": flat(marks[1]), "b": flat(marks[2])}, marks[0])
        for order, marks in ((("a", "b"), first), (("b", "a"), second))
    ]
    return Judgement(question, "judge", 0, rounds[0], rounds[1], Cost({}, 2, 10, 5))


def test_means_wins_and_disagreement():
    report = judged(
        [
            made("1", ("a", 8, 6), ("a", 8, 6)),  # a wins, nothing moves
            made("2", ("a", 7, 5), ("b", 5, 7)),  # nobody wins, both move by two points
            made("3", ("b", 4, 9), ("b", 4, 9)),  # b wins
        ]
    )
    assert report is not None
    assert [row.method for row in report.rows] == ["b", "a"]
    b, a = report.rows
    assert (a.wins, b.wins) == (1, 1)
    # Of six rounds a is named in the first, second and third: 3 of 6; b in the other three.
    assert a.share[0] == b.share[0] == 0.5
    assert a.scores["overall"][0] == pytest.approx((8 + 6 + 4) / 3)
    assert b.scores["overall"][0] == pytest.approx((6 + 6 + 9) / 3)
    for each in CRITERIA:
        assert a.scores[each] == a.scores["overall"]
    low, high = a.scores["overall"][1:]
    assert 4 <= low <= 6 <= high <= 8
    assert report.disagreed[0] == pytest.approx(1 / 3)
    assert report.moved[0] == pytest.approx((0 + 2 + 0) / 3)


def test_one_question_has_an_interval_of_no_width():
    report = judged([made("1", ("a", 8, 6), ("a", 8, 6))])
    assert report is not None
    assert report.rows[0].scores["depth"] == (8.0, 8.0, 8.0)
    assert judged([]) is None


def test_judgements_of_different_methods_are_not_mixed():
    one = made("1", ("a", 8, 6), ("a", 8, 6))
    rounds = Round(("a", "c"), {"a": flat(1), "c": flat(2)}, "c")
    other = Judgement("2", "judge", 0, rounds, rounds, Cost())
    with pytest.raises(ValueError, match="different"):
        judged([one, other])


def test_the_table_reads_as_the_papers():
    report = judged([made("1", ("a", 8, 6), ("a", 8, 6))], [("2", "unreadable")])
    assert report is not None
    text = as_markdown(report, {"a": "Tracert-RAG"})
    head, rule, first, *_ = text.splitlines()
    assert head == ("| Method | Win | Comprehensiveness | Engagement | Depth | Clarity | Overall |")
    assert rule.count("---") == 7
    assert first.startswith("| Tracert-RAG | 1 | 8.0 (8.0 to 8.0) |")
    assert "At 1 more the judge gave nothing" in text


def reply(best: str) -> str:
    return json.dumps(
        {"A": dict.fromkeys(CRITERIA, 5), "B": dict.fromkeys(CRITERIA, 6)} | {"best": best}
    )


def test_a_question_that_fails_does_not_stop_the_others():
    answers = {"a": "one", "b": "two"}
    model = ScriptedModel("no", "no", reply("A"), reply("A"))
    told: list[tuple[int, int]] = []
    done, failed = judge_all(
        [("Q1", answers), ("Q2", answers)], model, on_progress=lambda *at: told.append(at)
    )
    assert [each.question for each in done] == ["Q2"]
    assert [question for question, _ in failed] == ["Q1"]
    assert "no JSON object" in failed[0][1]
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_an_empty_budget_ends_it():
    answers = {"a": "one", "b": "two"}
    model = ScriptedModel(reply("A"), reply("B"), BudgetError("The budget is used up."))
    done, failed = judge_all([("Q1", answers), ("Q2", answers), ("Q3", answers)], model)
    assert len(done) == 1
    assert failed == (("Q2", "The budget is used up."), ("Q3", "The budget is used up."))
    assert len(model.asked) == 3
