"""What a scorer is: a question and notes in, a score from 0 to 100 and a reason for each out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from tracert.knowledge.lexical import with_beginnings
from tracert.language.words import WORD, stem, terms


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question as a scorer sees it: its text, its unit vector of shape (d,), its terms."""

    text: str
    vector: npt.NDArray[np.float32]

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms, each once, in order."""
        return tuple(dict.fromkeys(terms(self.text)))

    @property
    def counted(self) -> tuple[str, ...]:
        """What the lexicons count: the terms and their beginnings, each once."""
        return tuple(dict.fromkeys(with_beginnings(self.terms)))

    @property
    def spellings(self) -> dict[str, str]:
        """How the question spells each of its terms."""
        words = (match.group() for match in WORD.finditer(self.text))
        found: dict[str, str] = {}
        for word in words:
            found.setdefault(stem(word.lower().replace("’", "'")), word)
        return found


@dataclass(frozen=True, slots=True)
class Score:
    """A score from 0 to 100 and why, in words with numbers."""

    value: float
    reason: str


class Scorer(Protocol):
    """One way to score. An instance serves one graph and one walk."""

    @property
    def name(self) -> str:
        """The name of the strategy."""
        ...

    def score(self, asked: Asked, paths: Sequence[str]) -> list[Score]:
        """The score of each of the notes, in the order asked.

        Raises:
            ModelError: a model that was to score did not; another scorer can step in.
        """
        ...


@runtime_checkable
class Searcher(Protocol):
    """A scorer that can rank the whole graph at once, and so find entry points."""

    def rank(self, asked: Asked, most: int) -> list[str]:
        """The paths of the notes that score highest, best first; ties in the graph's order."""
        ...
