"""The visible form of a goal, written and read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.language.goal_text import GoalText, read_goal

PAPER = (
    "Category: Literary Analysis Concept: Character Development (Explanation: The contrast in "
    "Elizabeth’s reactions illustrates her growth (and his).)"
)


def test_reads_the_form_of_the_paper():
    goal = read_goal(PAPER, "model")
    assert goal.category == "Literary Analysis"
    assert goal.concept == "Character Development"
    # The bracket that closes the paper's form goes, the one of the sentence stays.
    assert goal.explanation.endswith("growth (and his).")
    assert goal.source == "model"


def test_concept_and_explanation_are_embedded_the_category_is_not():
    assert GoalText("A", "B", "c d.", "typed").text == "B: c d."
    assert GoalText("A", "", "c d.", "typed").text == "c d."
    assert GoalText("A", "B", "", "typed").text == "B"


@pytest.mark.parametrize("text", ["How Faraday  came to\n Davy.", "Category: Person", "", "a: b"])
def test_text_without_labels_is_the_explanation(text):
    goal = read_goal(text, "typed")
    assert goal == GoalText("", "", " ".join(text.split()), "typed")


@pytest.mark.parametrize(
    "text", ["Category: \nConcept: \nExplanation: ", "Concept:", "concept : (Explanation: )", " "]
)
def test_labels_with_nothing_behind_them_are_no_text(text):
    assert read_goal(text, "typed").text == ""


def test_what_stands_before_empty_labels_is_the_explanation():
    goal = read_goal("Letters of Faraday. Concept:", "typed")
    assert goal == GoalText("", "", "Letters of Faraday.", "typed")


def test_a_category_alone_among_empty_labels_is_kept_but_not_embedded():
    goal = read_goal("Category: Person\nConcept: \nExplanation: ", "typed")
    assert (goal.category, goal.text) == ("Person", "")


def test_labels_in_any_case_and_order_the_first_of_a_kind_counts():
    goal = read_goal("EXPLANATION: why\nconcept : what\nConcept: again", "typed")
    assert (goal.concept, goal.explanation) == ("what", "why")


field = st.text(st.sampled_from("abc ().,'é"), max_size=20).map(lambda text: " ".join(text.split()))


@given(field, field, field)
def test_what_is_shown_reads_back(category, concept, explanation):
    goal = GoalText(category, concept, explanation, "typed")
    balanced = explanation.count(")") <= explanation.count("(")
    if (concept or explanation) and balanced and "(" not in (category + concept)[-1:]:
        assert read_goal(goal.form, "typed") == goal
