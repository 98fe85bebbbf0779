"""Word counts alone: BM25 of head and content, as shares of what is possible.

    s(q, n) = b(q, body_n) + b(q, head_n)

scaled so that s = 0.2 scores 60 and 0.45 scores 95, read off the training questions as in
`offline`: of the best notes with s of 0.45 and more 87 in a hundred were gold.
b is that of `offline`. It needs no embedder and is fooled by every paraphrase; it is here to
compare with and for languages that the embedder does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.knowledge.opened import OpenGraph
from tracert.methods.trailgraph.scoring.base import Asked, Score
from tracert.methods.trailgraph.scoring.offline import share

KNOTS: Final = ((0.0, 0.0), (0.2, 60.0), (0.45, 95.0), (2.0, 100.0))

Reals = npt.NDArray[np.float64]


class Bm25Scorer:
    """The strategy 'bm25'."""

    name = "bm25"

    def __init__(self, opened: OpenGraph) -> None:
        self._opened = opened
        self._known: dict[str, tuple[Reals, Reals, Reals]] = {}

    def score(self, asked: Asked, paths: Sequence[str]) -> list[Score]:
        """See `Scorer.score`; it never fails."""
        body, head, score = self._parts(asked)
        rows = [self._opened.row[path] for path in paths]
        return [
            Score(
                float(score[row]),
                f"{score[row]:.0f}: {100 * head[row]:.0f}% of the question's word weight in its "
                f"summary, {100 * body[row]:.0f}% in its content",
            )
            for row in rows
        ]

    def rank(self, asked: Asked, most: int) -> list[str]:
        """See `Searcher.rank`."""
        order = np.argsort(-self._parts(asked)[2], kind="stable")[:most]
        return [self._opened.paths[row] for row in order]

    def _parts(self, asked: Asked) -> tuple[Reals, Reals, Reals]:
        if asked.text not in self._known:
            body = share(self._opened.bodies, asked.counted)
            head = share(self._opened.heads, asked.counted)
            places, values = zip(*KNOTS, strict=True)
            self._known[asked.text] = body, head, np.interp(body + head, places, values)
        return self._known[asked.text]
