"""The goal of a Tracert walk without a language model: what the nearest passages add."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tracert.language.goal_text import GoalText

_WORD: Final = re.compile(r"[^\W\d_][\w'’-]{2,}")
_STOP: Final = frozenset(
    """
    the and for that with this from was were had has have his her hers him she they them their
    which who whom whose what when where why how not but are been being its into than then there
    these those such one two all any some more most very would could should did does done can may
    might must shall will upon over under about after before only own same other also your you
    our out off too
    """.split()  # noqa: SIM905
)


def predict_goal_offline(question: str, passages: Sequence[str]) -> GoalText:
    """A goal made of terms that the passages nearest to the question hold and it does not."""
    asked = {word.lower() for word in _WORD.findall(question)}
    counts: Counter[str] = Counter()
    for passage in passages:
        words = dict.fromkeys(word.lower() for word in _WORD.findall(passage))
        counts.update(word for word in words if word not in asked and word not in _STOP)
    terms = [term for term, _ in counts.most_common(12)]
    return GoalText("", ", ".join(terms[:3]), " ".join(terms), "offline")
