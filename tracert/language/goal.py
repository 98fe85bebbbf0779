"""The goal of a Tracert walk, predicted by a language model (paper, section 3.3)."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from tracert.errors import ModelError
from tracert.language.base import ChatModel, Message
from tracert.language.goal_text import GoalText, read_goal

_SYSTEM: Final = """\
You turn a question about a document into the goal of a search through its passages. You do \
not answer the question and you do not need to know the document. You name what a passage \
that completes the answer is about.

Reply with exactly one line of this form and nothing else:
Category: <kind of question> Concept: <two to five words> (Explanation: <one or two sentences \
that speak of what the answer is made of, in the words in which the document may tell it>)

Example.
Question: How does Elizabeth's initial reaction to Mr. Darcy at the Meryton assembly \
(Chapter 3) contrast with her response when he proposes to her (Chapter 34), and what key \
events in between shape that change of heart?
Category: Literary Analysis Concept: Character Development (Explanation: The contrast in \
Elizabeth's reactions to Mr. Darcy illustrates her growth and changing perceptions influenced \
by key events, such as his initial arrogance, the revelations about Wickham, and Darcy's later \
actions that demonstrate his true character.)\
"""
_TOKENS: Final = 600
#: A goal longer than this is an essay: its vector would be a mean of everything.
_LONGEST: Final = 1200
_MARKDOWN: Final = re.compile(r"^\s*(?:[#>]+|[-*+]\s)\s*|\*+|`+|__+", re.MULTILINE)
_THOUGHTS: Final = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_OBJECT: Final = re.compile(r"\{.*\}", re.DOTALL)


def goal_messages(question: str) -> list[Message]:
    """The conversation that asks for a goal; the question stands alone in the last message."""
    return [Message("system", _SYSTEM), Message("user", f"Question: {question}")]


def predict_goal(question: str, model: ChatModel) -> GoalText:
    """What the question is after, as the model puts it; one call.

    Raises:
        BudgetError: the allowed calls or tokens are used up; nothing was sent.
        ModelError: the model gave no goal; the offline predictor can step in.
    """
    reply = model.complete(goal_messages(question), max_tokens=_TOKENS)
    return parse_goal(reply.text, model.name)


def parse_goal(text: str, model: str) -> GoalText:
    """A goal out of a model's reply.

    Takes the paper's form in any case and spread over any lines, with markdown around the
    labels, or a JSON object with the fields 'category', 'concept' and 'explanation'.

    Raises:
        ModelError: the text names neither a concept nor an explanation, or is far too long.
    """
    text = _THOUGHTS.sub("", text)
    goal = _from_object(text)
    if goal is None:
        plain = " ".join(_MARKDOWN.sub("", text).split())
        goal = read_goal(plain, "model")
        # Without a label that has something behind it the whole text is the explanation.
        if not goal.concept and goal.explanation == plain:
            raise _no_goal(model)
    if not re.search(r"\w{2}", goal.text) or len(goal.text) > _LONGEST:
        raise _no_goal(model)
    return goal


def _from_object(text: str) -> GoalText | None:
    """The goal of a JSON object in the text, None where there is no such object."""
    found = _OBJECT.search(text)
    if found is None:
        return None
    try:
        data = json.loads(found.group())
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    fields = {str(key).lower(): value for key, value in data.items()}

    def plain(name: str) -> str:
        value: Any = fields.get(name)
        return " ".join(value.split()) if isinstance(value, str) else ""

    if not plain("concept") and not plain("explanation"):
        return None
    return GoalText(plain("category"), plain("concept"), plain("explanation"), "model")


def _no_goal(model: str) -> ModelError:
    return ModelError(
        f"The model {model!r} gave no goal of the form 'Category: ... Concept: ... "
        "(Explanation: ...)'. Try again, type the goal, or use the offline predictor."
    )
