"""BM25 over the terms of notes, counted when they are indexed.

    score(q, n) = sum_{t in q} idf(t) * f(t, n) * (k1 + 1) / (f(t, n) + k1 * L(n))
    L(n) = 1 - b + b * |n| / avg
    idf(t) = log(1 + (N - N_t + 0.5) / (N_t + 0.5))

where f(t, n) is how often term t stands in note n, |n| its number of terms, avg their mean,
N the number of notes and N_t of those that hold t (Robertson and Zaragoza, 'The Probabilistic
Relevance Framework: BM25 and Beyond', 2009; k1 = 1.2, b = 0.75). The idf is the one that
Lucene uses and is never negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

K1, B = 1.2, 0.75

#: So many letters of a term are its beginning.
BEGINNING = 5

Reals = npt.NDArray[np.float64]


def with_beginnings(terms: Sequence[str]) -> list[str]:
    """The terms and then their beginnings, marked, so that 'owner' meets 'ownership' halfway.

    >>> with_beginnings(["owner", "ownership"])
    ['owner', 'ownership', '^owner', '^owner']
    """
    return [*terms, *(f"^{term[:BEGINNING]}" for term in terms)]


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The terms of n texts, in columns: term i stands in `rows[bounds[i]:bounds[i + 1]]`.

    `weights` holds, at the same places, the part of BM25 that depends on term and text alone.
    """

    #: The names of the arrays that hold a lexicon.
    PARTS: ClassVar = ("words", "bounds", "rows", "weights", "idf", "size")

    terms: dict[str, int]
    bounds: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]
    idf: npt.NDArray[np.float32]
    size: int

    @staticmethod
    def of(texts: Sequence[str]) -> Lexicon:
        """The lexicon of texts given as terms joined by blanks."""
        known: dict[str, int] = {}
        columns: list[int] = []
        rows: list[int] = []
        counts: list[int] = []
        lengths = np.zeros(len(texts))
        for row, text in enumerate(texts):
            words = text.split()
            lengths[row] = len(words)
            for term, count in Counter(words).items():
                columns.append(known.setdefault(term, len(known)))
                rows.append(row)
                counts.append(count)
        order = np.argsort(np.array(columns, np.int64), kind="stable")
        column = np.array(columns, np.int64)[order]
        row_of = np.array(rows, np.int32)[order]
        held = np.bincount(column, minlength=len(known)) if len(known) else np.zeros(0, np.int64)
        bounds = np.concatenate(([0], np.cumsum(held))).astype(np.int64)
        idf = np.log1p((len(texts) - held + 0.5) / (held + 0.5))
        frequency = np.array(counts, float)[order]
        mean = max(float(lengths.mean()), 1.0) if len(texts) else 1.0
        norm = K1 * (1 - B + B * lengths[row_of] / mean)
        weights = idf[column] * frequency * (K1 + 1) / (frequency + norm)
        return Lexicon(
            known, bounds, row_of, weights.astype(np.float32), idf.astype(np.float32), len(texts)
        )

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The lexicon as arrays that need no pickle; the terms are one text, in UTF-8."""
        words = "\n".join(self.terms).encode("utf-8", "surrogatepass")
        return {
            "words": np.frombuffer(words, np.uint8),
            "bounds": self.bounds,
            "rows": self.rows,
            "weights": self.weights,
            "idf": self.idf,
            "size": np.array([self.size]),
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> Lexicon:
        """The lexicon of such arrays.

        Raises:
            ValueError: they do not fit together.
        """
        words = bytes(arrays["words"]).decode("utf-8", "surrogatepass")
        terms = {term: column for column, term in enumerate(words.split("\n") if words else ())}
        if len(terms) != len(arrays["idf"]) or len(arrays["bounds"]) != len(terms) + 1:
            raise ValueError("the arrays of a lexicon do not fit together")
        return Lexicon(
            terms,
            arrays["bounds"],
            arrays["rows"],
            arrays["weights"],
            arrays["idf"],
            int(arrays["size"][0]),
        )

    def scores(self, terms: Sequence[str]) -> Reals:
        """BM25 of every text for the terms of a question, each counted once, shape (n,)."""
        total = np.zeros(self.size)
        for term in dict.fromkeys(terms):
            column = self.terms.get(term)
            if column is not None:
                place = slice(self.bounds[column], self.bounds[column + 1])
                total[self.rows[place]] += self.weights[place]
        return total

    def weight(self, term: str) -> float:
        """The idf of a term; one that no text holds weighs most."""
        column = self.terms.get(term)
        if column is None:
            return float(np.log1p((self.size + 0.5) / 0.5))
        return float(self.idf[column])

    def holders(self, term: str) -> npt.NDArray[np.int32]:
        """The rows of the texts that hold the term."""
        column = self.terms.get(term)
        if column is None:
            return np.zeros(0, np.int32)
        return self.rows[self.bounds[column] : self.bounds[column + 1]]
