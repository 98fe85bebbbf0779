"""The goal of a Tracert walk as a text: category, concept and explanation (paper, section 3.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

GoalSource = Literal["typed", "model", "offline"]

#: The labels of the visible form, also in the paper's one-line notation with brackets.
_LABEL: Final = re.compile(r"\(?\b(category|concept|explanation)\b\s*[:：]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GoalText:
    """What the question is after, in the paper's form.

    `category` is the kind of question ('Literary Analysis'), `concept` what it is about
    ('Character Development'), `explanation` the sentence that says so at length. `source`
    tells who wrote it: a person ('typed'), a language model ('model') or the offline
    predictor ('offline'). A text typed without labels stands in `explanation` alone.
    """

    category: str
    concept: str
    explanation: str
    source: GoalSource

    @property
    def text(self) -> str:
        """Concept and explanation together: the part that is embedded to the goal vector."""
        return ": ".join(part for part in (self.concept, self.explanation) if part)

    @property
    def form(self) -> str:
        """The three fields with their labels, one a line: what is shown and can be edited."""
        fields = (
            ("Category", self.category),
            ("Concept", self.concept),
            ("Explanation", self.explanation),
        )
        return "\n".join(f"{label}: {value}" for label, value in fields if value)


def read_goal(text: str, source: GoalSource) -> GoalText:
    """The goal in a text, with or without labels.

    Reads what `GoalText.form` writes and the paper's 'Category: ... Concept: ...
    (Explanation: ...)'. Without the labels 'Concept:' and 'Explanation:' the whole text is
    the explanation. Labels with nothing behind them are no text: what stands before them is
    the explanation then, and `GoalText.text` is empty where nothing does. Runs of white space
    become one space.
    """
    parts = _LABEL.split(text)
    found: dict[str, str] = {}
    for label, value in zip(parts[1::2], parts[2::2], strict=True):
        found.setdefault(label.lower(), _plain(value))
    if not found.get("concept") and not found.get("explanation"):
        empty = not any(found.values()) or not found.keys().isdisjoint(("concept", "explanation"))
        return GoalText(
            found.get("category", "") if empty else "",
            "",
            _plain(parts[0] if empty and found else text),
            source,
        )
    explanation = found.get("explanation", "")
    if explanation.endswith(")") and explanation.count(")") > explanation.count("("):
        explanation = explanation[:-1].rstrip()
    return GoalText(found.get("category", ""), found.get("concept", ""), explanation, source)


def _plain(text: str) -> str:
    return " ".join(text.split())
