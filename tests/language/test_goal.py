"""The goal out of a model's reply."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scripted_model import ScriptedModel
from tracert.errors import ModelError
from tracert.language.goal import parse_goal, predict_goal
from tracert.language.goal_text import GoalText

PAPER = (
    "Category: Literary Analysis Concept: Character Development (Explanation: The contrast in "
    "Elizabeth's reactions illustrates her growth.)"
)
GOAL = GoalText(
    "Literary Analysis",
    "Character Development",
    "The contrast in Elizabeth's reactions illustrates her growth.",
    "model",
)


@pytest.mark.parametrize(
    "reply",
    [
        PAPER,
        PAPER.replace(" Concept", "\nConcept").replace(" (Expl", "\n(Expl"),
        PAPER.replace("Category:", "CATEGORY :").replace("Concept:", "concept:"),
        "**Category:** Literary Analysis\n**Concept:** Character Development\n"
        "**Explanation:** The contrast in Elizabeth's reactions illustrates her growth.",
        "## Category: Literary Analysis\n\n- **Concept**: Character Development\n"
        "  *Explanation*: The contrast in Elizabeth's reactions illustrates her growth.",
        f"<think>The concept: growth?\nHm.</think>\n{PAPER}",
        "```json\n"
        + json.dumps(
            {
                "category": GOAL.category,
                "Concept": GOAL.concept,
                "EXPLANATION": GOAL.explanation,
            }
        )
        + "\n```",
    ],
)
def test_the_papers_form_in_many_dresses(reply):
    assert parse_goal(reply, "tiny") == GOAL


def test_what_is_embedded_is_concept_and_explanation():
    goal = parse_goal(PAPER, "tiny")
    assert goal.concept in goal.text
    assert goal.explanation in goal.text
    assert goal.category not in goal.text


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I would rather talk about the weather.",
        "Category: Literary Analysis",
        "Concept: ",
        "Concept: ** (Explanation: )",
        "{}",
        '{"concept": 7}',
        '{"concept": ["a"]}',
        "Concept: x (Explanation: " + "very long " * 200 + ")",
    ],
)
def test_nonsense_is_an_error_so_that_the_offline_predictor_steps_in(reply):
    with pytest.raises(ModelError, match="gave no goal"):
        parse_goal(reply, "tiny")


@given(st.text(max_size=300))
def test_any_text_gives_a_goal_or_a_model_error(reply):
    try:
        goal = parse_goal(reply, "tiny")
    except ModelError:
        return
    assert goal.text.strip()
    assert goal.source == "model"


def test_the_question_stands_alone_in_the_last_message():
    model = ScriptedModel(PAPER)
    assert predict_goal("Who changed whom?", model) == GOAL
    (asked,) = model.asked
    assert [message.role for message in asked] == ["system", "user"]
    assert "Category:" in asked[0].content
    assert asked[1].content == "Question: Who changed whom?"


def test_the_models_own_error_passes():
    with pytest.raises(ModelError, match="is down"):
        predict_goal("Who?", ScriptedModel(ModelError("It is down.")))
