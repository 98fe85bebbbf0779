"""A person scores: whoever shows the notes asks, and hands the numbers in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tracert.errors import SettingError
from tracert.methods.trailgraph.scoring.base import Asked, Score

#: Shown the question and a note's path; gives a score from 0 to 100.
Ask = Callable[[str, str], float]


class PersonScorer:
    """The strategy 'person'; each note is asked for once."""

    name = "person"

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._given: dict[tuple[str, str], float] = {}

    def score(self, asked: Asked, paths: Sequence[str]) -> list[Score]:
        """See `Scorer.score`.

        Raises:
            SettingError: a score outside 0 to 100.
        """
        return [self._one(asked.text, path) for path in paths]

    def _one(self, question: str, path: str) -> Score:
        key = (question, path)
        if key not in self._given:
            value = float(self._ask(question, path))
            if not 0 <= value <= 100:
                raise SettingError(f"The score {value:g} is out of range. Give 0 to 100.")
            self._given[key] = value
        return Score(self._given[key], f"{self._given[key]:.0f}, given by a person")
