"""Stage 3, the contrastive graph: each hop against the passages that it must not lead to.

For a hop (q, c, d) the positive is d. Negatives are

- the same question's distractors (its paragraphs that are not gold);
- in-batch negatives, the positives of the batch's other hops;
- the full corpus: all passages of all training questions.

The full corpus holds the first two, so one softmax over all passages is the sum of the three;
the other gold passages of the question and c itself are left out of it, as neither is wrong.
Logical distractors, passages near the question that are no bridge (the `near` most similar to
q that are not gold), can be given more weight in that sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Matrix
from tracert.evaluation.datasets import Item, Passage
from tracert.training.composition import Composed

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """The hops to learn, as indices: into `questions` (m, d) and `passages` (n, d).

    Row i of the hops: question `query[i]`, passage in hand `start[i]`, passage to be found
    `end[i]`; `excluded[i]` are passages that are neither right nor wrong; `logical[i]` are the
    logical distractors.
    """

    query: Rows
    start: Rows
    end: Rows
    excluded: tuple[Rows, ...]
    logical: tuple[Rows, ...]

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """All training questions and passages with their vectors.

    `rows` gives the row of a passage in `passages`; questions are by their place in `items`.
    """

    items: tuple[Item, ...]
    rows: dict[Passage, int]
    questions: Matrix
    passages: Matrix


def distinct_passages(items: Iterable[Item]) -> dict[Passage, int]:
    """All paragraphs of all questions, each once, by row."""
    rows: dict[Passage, int] = {}
    for item in items:
        for passage in item.paragraphs:
            rows.setdefault(passage, len(rows))
    return rows


def contrast(composed: Sequence[Composed], space: Space, near: int = 20) -> Contrast:
    """The hops of these questions; the questions have to be items of the space."""
    place = {id(item): index for index, item in enumerate(space.items)}
    query, start, end, excluded, logical = [], [], [], [], []
    for each in composed:
        index = place[id(each.item)]
        gold = {space.rows[each.passage(paragraph)] for paragraph in each.item.supporting}
        close = _nearest(space, index, gold, near)
        for link in each.links:
            here, there = space.rows[each.passage(link.start)], space.rows[each.passage(link.end)]
            if here == there:
                continue
            query.append(index)
            start.append(here)
            end.append(there)
            excluded.append(np.array(sorted((gold | {here}) - {there}), dtype=np.intp))
            logical.append(close)
    return Contrast(
        np.array(query, dtype=np.intp),
        np.array(start, dtype=np.intp),
        np.array(end, dtype=np.intp),
        tuple(excluded),
        tuple(logical),
    )


def _nearest(space: Space, index: int, gold: set[int], near: int) -> Rows:
    """The `near` passages most similar to the question that are not gold."""
    similarity = space.passages @ space.questions[index]
    count = min(near + len(gold), len(similarity))
    rows = np.argpartition(-similarity, count - 1)[:count] if count else np.empty(0, np.intp)
    rows = rows[np.argsort(-similarity[rows], kind="stable")]
    return np.array([row for row in rows.tolist() if row not in gold][:near], dtype=np.intp)
