"""The offline goal: terms worked out by hand, and texts of any kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.language.offline import predict_goal_offline


def test_terms_by_count_and_rarity():
    passages = [
        "The amber attracted chaff, wrote Gilbert.",
        "Gilbert rubbed amber and glass.",
        "Gilbert and the glass.",
    ]
    background = ["Much glass here."] * 7 + ["Some other words."]
    goal = predict_goal_offline("What did he do with amber?", passages, background)
    # 'amber' is asked. With b = 8: Gilbert stands in 3 passages and no background, 3 ln(9 / 0.5)
    # = 8.7; each word of one passage gets ln(9 / 0.5) = 2.9, in the order of the text; glass is
    # in 2 passages, but in 7 of the background: 2 ln(9 / 7.5) = 0.4, the last of all.
    assert goal.concept == "Gilbert, attracted, chaff"
    assert goal.explanation == (
        "The passages nearest to the question also speak of wrote, rubbed and glass."
    )
    assert goal.source == "offline"


def test_words_of_the_question_and_of_grammar_are_no_goal():
    goal = predict_goal_offline("Who was Volta's friend?", ["Volta was with his friend's."], [])
    assert goal.concept == ""
    # Nothing is added, so the question stands in.
    assert goal.explanation == "Who was Volta's friend?"


def test_spelling_of_the_first_passage_is_kept_and_possessives_are_not():
    goal = predict_goal_offline("q", ["Faraday’s ring", "FARADAY and a ring"], [])
    assert goal.concept == "Faraday, ring"


def test_a_few_terms_make_a_short_sentence():
    passages = ["alpha beta gamma delta"]
    goal = predict_goal_offline("q", passages, [])
    assert goal.concept == "alpha, beta, gamma"
    assert goal.explanation == "The passages nearest to the question also speak of delta."


@pytest.mark.parametrize(
    ("question", "category"),
    [
        ("Who taught Marconi?", "Person"),
        ("In what year was it laid?", "Time"),
        ("Where did he work?", "Place"),
        ("Why did it fail?", "Reason"),
        ("How many miles?", "Quantity"),
        ("How did it work?", "Manner"),
        ("Which of both came earlier?", "Comparison"),
        ("Name the metal.", "Fact"),
    ],
)
def test_category_by_the_words_of_the_question(question, category):
    assert predict_goal_offline(question, [], []).category == category


texts = st.lists(st.text(max_size=60), max_size=6)


@given(st.text(max_size=60), texts, texts)
def test_any_text_makes_one_and_the_same_goal(question, passages, background):
    goal = predict_goal_offline(question, passages, background)
    assert goal == predict_goal_offline(question, passages, background)
    assert goal.source == "offline"
    asked = question.lower()
    for term in filter(None, goal.concept.split(", ")):
        assert term in " ".join(passages)
        assert f" {term.lower()} " not in f" {asked} "
