"""Stage 1, multi-hop composition: from questions with an order to single hops to learn.

A hop is (question, passage in hand, passage to be found next). It comes from the question's
decomposition (MuSiQue), its evidences (2WikiMultiHopQA) or its order of gold passages (HotpotQA);
see `tracert.evaluation.datasets.Item.edges`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tracert.evaluation.datasets import Item, Passage


@dataclass(frozen=True, slots=True)
class Link:
    """A hop from one gold passage of a question to another: indices into its paragraphs.

    `answer` is what the passage in hand answers, '' where the data does not say.
    """

    start: int
    end: int
    answer: str


@dataclass(frozen=True, slots=True)
class Composed:
    """A question with the hops that lead through its gold passages."""

    item: Item
    links: tuple[Link, ...]

    def passage(self, index: int) -> Passage:
        """The paragraph of that index."""
        return self.item.paragraphs[index]


def compose(items: Iterable[Item]) -> list[Composed]:
    """All questions with their hops, those without any among them (stage 2 drops and counts)."""
    return [_compose(item) for item in items]


def _compose(item: Item) -> Composed:
    answers = {hop.paragraph: hop.answer for hop in item.hops if hop.paragraph is not None}
    return Composed(
        item,
        tuple(Link(start, end, answers.get(start, "")) for start, end in item.edges()),
    )
