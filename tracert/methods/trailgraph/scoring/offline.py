"""Vectors and word counts, made when the notes were indexed: no model, a microsecond a note.

    s(q, n) = 0.5 * cos(q, head_n) + 0.5 * max_p cos(q, passage_np)
              + w_b * b(q, body_n) + w_h * b(q, head_n)
              + 0.5 * cos'(q, head_n) + 1.0 * max_p cos'(q, passage_np)

where the head of a note is its title, summary and key points, its passages are pieces of its
content of about 500 characters, and b is BM25 as a share of the most that any text could reach,
sum_t idf(t) * (k1 + 1), over the question's terms and their first five letters. A term that no
note holds counts in that sum with the highest idf, so that a question about something else
scores low everywhere. cos' is by the second vectors of a graph (`knowledge.second`), where it
has them: then w_b = w_h = 0.4. A graph without them, a large one say, does without the last
line, and w_b = 0.8, w_h = 1.5.

All weights were chosen on notes made of the training questions of MuSiQue, 2WikiMultihopQA and
HotpotQA (graphs of about 40 to 80 notes); `benchmarks/trailgraph_scores.py` measures what they
are worth, and half and twice each. The second vectors are there for questions that share hardly
a word with their note: on two graphs of other subjects, of 53 and 41 notes, whose 80 questions
were written before anything was measured, they raise the share whose first note is gold from
53 to 81 of 100. The score from 0 to 100 is linear between the knots (s, score), which were read
off the training questions: below the first knot one note in a hundred was gold, and of the best
notes of a graph at the second and above about nine in ten.

The note with the highest s gets its lead over the next one added to s before the scale: of two
notes of equal s the one that stands out is the likelier answer. Nothing changes its place by it.
Of the best notes of the training graphs it lifts nine more to 95 and more, six of them gold; of
those of the built-in graph and of `benchmarks/trailgraph_notes/larkmoor` twelve, all of them gold;
of questions about something else none.

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
from tracert.knowledge.vectors import NoteVectors
from tracert.methods.trailgraph.scoring.base import Asked, Score


@dataclass(frozen=True, slots=True)
class Weighing:
    """What each part of the sum weighs, and the knots (s, score) of the scale."""

    head: float
    passage: float
    body_words: float
    head_words: float
    second_head: float
    second_passage: float
    knots: tuple[tuple[float, float], ...]


ALONE: Final = Weighing(
    0.5, 0.5, 0.8, 1.5, 0.0, 0.0, ((0.0, 0.0), (0.5, 60.0), (0.85, 95.0), (3.5, 100.0))
)
WITH_SECOND: Final = Weighing(
    0.5, 0.5, 0.4, 0.4, 0.5, 1.0, ((0.0, 0.0), (0.9, 60.0), (1.2, 95.0), (3.3, 100.0))
)

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts and the score of every note by row, all of shape (n,).

    `ahead` is the lead of the best note in its place and 0 in all others. `held` has shape
    (t, n): whether a note holds term i of the question, spelled `words[i]`.
    """

    head: Reals
    passage: Reals
    body_words: Reals
    head_words: Reals
    ahead: Reals
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
            self.ahead[rows].tolist(),
            self.held[:, rows].T.tolist(),
            strict=True,
        )
        found: list[str] = []
        for score, head, passage, ahead, held in columns:
            words = [word for word, holds in zip(self.words, held, strict=True) if holds]
            named = f" ({', '.join(words[:6])})" if words else ""
            lead = f"; ahead of the next note by {ahead:.2f}" if ahead >= 0.005 else ""
            found.append(
                f"{score:.0f}: it holds {len(words)} of the question's {total} words{named}; "
                f"closeness {head:.2f} by its summary, {passage:.2f} by its closest passage{lead}"
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
        head, passage = _cosines(opened.vectors, asked.vector)
        weighing = ALONE
        body_words = share(opened.bodies, asked.counted)
        head_words = share(opened.heads, asked.counted)
        raw: Reals = np.zeros(len(opened.paths))
        if opened.second is not None:
            weighing = WITH_SECOND
            vector = opened.second.embedder.embed([asked.text])[0]
            second_head, second_passage = _cosines(opened.second.vectors, vector)
            raw += weighing.second_head * second_head + weighing.second_passage * second_passage
        raw += weighing.head * head + weighing.passage * passage
        raw += weighing.body_words * body_words + weighing.head_words * head_words
        places, values = zip(*weighing.knots, strict=True)
        ahead = lead(raw)
        score = np.interp(raw + ahead, places, values)
        words, held = _held(opened, asked)
        return Parts(head, passage, body_words, head_words, ahead, score, words, held)


def _cosines(vectors: NoteVectors, asked: npt.NDArray[np.float32]) -> tuple[Reals, Reals]:
    """How close each head and each note's closest passage is, 0 to 1, both of shape (n,)."""
    head, passage = (np.maximum(part.astype(np.float64), 0.0) for part in vectors.closest(asked))
    return head, passage


def lead(values: Reals) -> Reals:
    """By how much the highest value leads the next, in its place; 0 in all others, shape (n,).

    >>> lead(np.array([0.5, 2.0, 1.5]))
    array([0. , 0.5, 0. ])
    """
    found: Reals = np.zeros_like(values)
    if len(values) > 1:
        second, first = np.partition(values, -2)[-2:]
        found[int(values.argmax())] = first - second
    return found


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
