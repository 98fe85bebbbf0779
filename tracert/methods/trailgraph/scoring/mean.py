"""The mean of several scorers."""

from __future__ import annotations

from collections.abc import Sequence

from tracert.methods.trailgraph.scoring.base import Asked, Score, Scorer, Searcher


class MeanScorer:
    """The strategy 'mean': the plain mean of the scores, the reasons side by side."""

    name = "mean"

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self._scorers = tuple(scorers)

    def score(self, asked: Asked, paths: Sequence[str]) -> list[Score]:
        """See `Scorer.score`."""
        columns = [scorer.score(asked, paths) for scorer in self._scorers]
        found: list[Score] = []
        for row in zip(*columns, strict=True):
            mean = sum(score.value for score in row) / len(row)
            named = "; ".join(
                f"{scorer.name} {score.reason}"
                for scorer, score in zip(self._scorers, row, strict=True)
            )
            found.append(Score(mean, f"{mean:.0f}, the mean of {len(row)}: {named}"))
        return found

    def rank(self, asked: Asked, most: int) -> list[str]:
        """The best by the mean, of those that any searching scorer ranks high."""
        found: dict[str, None] = {}
        for scorer in self._scorers:
            if isinstance(scorer, Searcher):
                found |= dict.fromkeys(scorer.rank(asked, max(50, 2 * most)))
        paths = list(found)
        scores = [score.value for score in self.score(asked, paths)]
        order = sorted(range(len(paths)), key=lambda place: -scores[place])
        return [paths[place] for place in order[:most]]
