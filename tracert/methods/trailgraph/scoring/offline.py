"""Vectors and word counts, made when the notes were indexed: no model, a microsecond a note.

    s(q, n) = 0.5 * cos(q, head_n) + 0.5 * max_p cos(q, passage_np)
              + 0.8 * b(q, body_n) + 1.5 * b(q, head_n)

where the head of a note is its title, summary and key points, its passages are pieces of its
content of about 500 characters, and b is BM25 as a share of the most that any text could reach,
sum_t idf(t) * (k1 + 1), over the question's terms and their first five letters. A term that no
note holds counts in that sum with the highest idf, so that a question about something else
scores low everywhere.

The weights were chosen on notes made of the training questions of MuSiQue, 2WikiMultihopQA and
HotpotQA (graphs of about 40 to 80 notes, 580 questions), where the best note is gold for 63, 97
and 85 of 100 questions; they lie on a plateau: half or twice a weight moves that by three points
at most. The score from 0 to 100 is linear between the knots (s, score) of `KNOTS`, which were
read off the same questions: of all notes below s = 0.5 one in a hundred was gold, and of the
best notes of a graph with s of 0.85 and more 88 in a hundred. `benchmarks/trailgraph_scores.py`
measures both.

The walk and the model never see the content by this: it goes into the score alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.knowledge.lexical import K1, Lexicon
from tracert.knowledge.opened import OpenGraph
from tracert.methods.trailgraph.scoring.base import Asked, Score

KNOTS: Final = ((0.0, 0.0), (0.5, 60.0), (0.85, 95.0), (3.5, 100.0))
_HEAD, _PASSAGE, _BODY_WORDS, _HEAD_WORDS = 0.5, 0.5, 0.8, 1.5

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts and the score of every note by row, all of shape (n,).

    `held` has shape (t, n): whether a note holds term i of the question, spelled `words[i]`.
    """

    head: Reals
    passage: Reals
    body_words: Reals
    head_words: Reals
    score: Reals
    words: tuple[str, ...]
    held: npt.NDArray[np.bool_]

    def reasons(self, rows: Sequence[int]) -> list[str]:
        """The scores of notes in words, with their numbers."""
        total = len(self.words)
        columns = zip(
            self.score[rows].tolist(),
            self.head[rows].tolist(),
            self.passage[rows].tolist(),
            self.held[:, rows].T.tolist(),
            strict=True,
        )
        found: list[str] = []
        for score, head, passage, held in columns:
            words = [word for word, holds in zip(self.words, held, strict=True) if holds]
            named = f" ({', '.join(words[:6])})" if words else ""
            found.append(
                f"{score:.0f}: it holds {len(words)} of the question's {total} words{named}; "
                f"closeness {head:.2f} by its summary, {passage:.2f} by its closest passage"
            )
        return found


class OfflineScorer:
    """The strategy 'offline'."""

    name = "offline"

    def __init__(self, opened: OpenGraph) -> None:
        self._opened = opened
        self._known: dict[str, Parts] = {}

    def score(self, asked: Asked, paths: Sequence[str]) -> list[Score]:
        """See `Scorer.score`; it never fails."""
        parts = self.parts(asked)
        rows = [self._opened.row[path] for path in paths]
        values = parts.score[rows].tolist()
        return [Score(*pair) for pair in zip(values, parts.reasons(rows), strict=True)]

    def rank(self, asked: Asked, most: int) -> list[str]:
        """See `Searcher.rank`."""
        order = np.argsort(-self.parts(asked).score, kind="stable")[:most]
        return [self._opened.paths[row] for row in order]

    def parts(self, asked: Asked) -> Parts:
        """The parts of the score of all notes; computed once a question."""
        if asked.text not in self._known:
            self._known[asked.text] = self._compute(asked)
        return self._known[asked.text]

    def _compute(self, asked: Asked) -> Parts:
        opened = self._opened
        head, passage = (
            np.maximum(cosines.astype(np.float64), 0.0)
            for cosines in opened.vectors.closest(asked.vector)
        )
        body_words = share(opened.bodies, asked.counted)
        head_words = share(opened.heads, asked.counted)
        raw = (
            _HEAD * head + _PASSAGE * passage + _BODY_WORDS * body_words + _HEAD_WORDS * head_words
        )
        places, values = zip(*KNOTS, strict=True)
        score = np.interp(raw, places, values)
        words, held = _held(opened, asked)
        return Parts(head, passage, body_words, head_words, score, words, held)


def share(lexicon: Lexicon, terms: Sequence[str]) -> Reals:
    """BM25 as a share of the most that any text could reach, shape (n,), 0 to 1."""
    most = sum(lexicon.weight(term) for term in terms) * (K1 + 1)
    return lexicon.scores(terms) / most if most else np.zeros(lexicon.size)


def _held(opened: OpenGraph, asked: Asked) -> tuple[tuple[str, ...], npt.NDArray[np.bool_]]:
    """The words of the question, and which notes hold them in head or content, (t, n)."""
    spelled, terms = asked.spellings, asked.terms
    held = np.zeros((len(terms), len(opened.paths)), dtype=np.bool_)
    for place, term in enumerate(terms):
        held[place, opened.heads.holders(term)] = True
        held[place, opened.bodies.holders(term)] = True
    return tuple(spelled.get(term, term) for term in terms), held
