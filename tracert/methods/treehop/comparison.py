"""Which questions compare two named things, told by their words.

    p = 1 / (1 + exp(-(b + sum over features of w)))

over the words and pairs of neighbouring words of the question, lower-cased, the begin of the
question counting as a word. 'Which film came out first, A or B?' names both passages, so that
plain top-k finds both and a hop only costs a place. The weights (L1-regularised logistic
regression, fitted by `tracert.training.comparison` on training questions alone) are few and
readable: see `weights/comparison.json`. 'Whose director is younger, A's or B's?' needs a hop
on each side and is no comparison here.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from typing import Final

from tracert.methods.treehop.weights import FOLDER

FILE: Final = FOLDER / "comparison.json"
_TOKEN: Final = re.compile(r"[a-z0-9]+(?:'s)?|[,?]")
_BEGIN: Final = "^"


def features(question: str) -> frozenset[str]:
    """The words and pairs of neighbouring words of a question."""
    tokens = _TOKEN.findall(question.lower())
    return frozenset(tokens).union(
        f"{left} {right}" for left, right in zip([_BEGIN, *tokens], tokens, strict=False)
    )


def probability(question: str) -> float:
    """How likely the question is to compare two things that it names, 0 to 1."""
    bias, weights = _weights()
    logit = bias + sum(weights.get(feature, 0.0) for feature in features(question))
    return 1.0 / (1.0 + math.exp(-logit))


def compares(question: str) -> bool:
    """Whether the question more likely than not compares two things that it names."""
    return probability(question) > 0.5


@cache
def _weights() -> tuple[float, dict[str, float]]:
    data = json.loads(FILE.read_text(encoding="utf-8"))
    return float(data["bias"]), {str(key): float(value) for key, value in data["weights"].items()}
