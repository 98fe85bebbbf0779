"""The offline goal: terms worked out by hand, and texts of any kind."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.language.offline import Rarity, predict_goal_offline

NONE = Rarity.of([])


def test_terms_by_weight_rarity_and_name():
    passages = [
        "The amber attracted chaff, wrote Gilbert.",
        "There Gilbert rubbed amber and glass, and chaff and straw and wool and resin.",
        "And Gilbert took the glass, attracted by straw, wool and resin.",
    ]
    # Of eight passages of the corpus seven hold glass.
    rarity = Rarity.of(["Much glass here."] * 7 + ["Some other words."])
    assert rarity.idf("glass") == log(9 / 7.5)
    assert rarity.idf("gilbert") == log(9 / 0.5)
    goal = predict_goal_offline("What did he do with amber?", passages, rarity)
    # The ranks weigh 1, 10/11 and 10/12. Amber is asked. Gilbert, a name, is in all: 2 * 2.74.
    # Chaff is in the first two, 1.91, attracted in the first and third, 1.83; straw, wool and
    # resin in the last two, 1.74. Rubbed and wrote stand in one passage and do not count. Glass
    # is in two, but its rarity is 0.18 and not 2.9.
    assert goal.concept == "Gilbert, chaff, attracted"
    assert goal.explanation == "It also tells of straw, wool, resin and glass."
    assert goal.source == "offline"


def test_words_of_the_question_and_of_grammar_are_no_goal():
    goal = predict_goal_offline("Who was Volta's friend?", ["Volta was with his friend's."], NONE)
    assert goal.concept == ""
    # Nothing is added, so the question stands in.
    assert goal.explanation == "Who was Volta's friend?"


def test_a_name_is_written_as_a_name_and_without_a_possessive():
    goal = predict_goal_offline("q", ["FARADAY. Then said Faraday’s ring."], NONE)
    assert goal.concept == "Faraday, ring"


def test_adverbs_are_no_goal_but_names_that_look_like_them_are():
    goal = predict_goal_offline("q", ["Extremely slowly in Italy and by Kelly."], NONE)
    assert goal.concept == "Italy, Kelly"


def test_a_few_terms_make_a_short_sentence():
    goal = predict_goal_offline("q", ["alpha beta gamma delta"], NONE)
    assert goal.concept == "alpha, beta, gamma"
    assert goal.explanation == "It also tells of delta."
    assert predict_goal_offline("q", ["alpha beta gamma"], NONE).text == "alpha, beta, gamma"


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
    assert predict_goal_offline(question, [], NONE).category == category


texts = st.lists(st.text(max_size=60), max_size=6)


@given(st.text(max_size=60), texts, texts)
def test_any_text_makes_one_and_the_same_goal(question, passages, background):
    goal = predict_goal_offline(question, passages, Rarity.of(background))
    assert goal == predict_goal_offline(question, passages, Rarity.of(background))
    assert goal.source == "offline"
    asked = question.lower()
    for term in filter(None, goal.concept.split(", ")):
        assert term in " ".join(passages)
        assert f" {term.lower()} " not in f" {asked} "
