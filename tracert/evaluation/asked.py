"""A passage, and a question with its gold, whatever it is sought in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a pool or of a question."""

    title: str
    text: str

    @property
    def embedded(self) -> str:
        """What is embedded: title, newline, text; the text alone where there is no title."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """A passage that the question needs: any of `ids` is it; none where nothing holds it.

    Several chunks may hold most of one quotation, and a passage may stand in a pool twice.
    `depth` says how many hops from the question it lies, from 1.
    """

    ids: tuple[str, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its gold.

    `edges` are pairs of indices into `gold`: which passage leads to which; none for
    a comparison or where no order is known.
    """

    id: str
    question: str
    answer: str
    type: str
    n_hops: int
    gold: tuple[GoldPassage, ...]
    edges: tuple[tuple[int, int], ...]
