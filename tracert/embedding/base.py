"""What an embedder is: texts in, unit vectors out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

#: Called with the number of texts done so far.
Progress = Callable[[int], None]


class Embedder(Protocol):
    """Turns texts into vectors. Instances are shared by sessions and so keep no state of one."""

    @property
    def name(self) -> str:
        """The name in the registry, e.g. 'wordllama'."""
        ...

    @property
    def identity(self) -> str:
        """Name and exact model, free of secrets; two embedders of one identity agree on vectors."""
        ...

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""
        ...

    def embed(
        self, texts: Sequence[str], *, progress: Progress | None = None
    ) -> npt.NDArray[np.float32]:
        """The vectors of the texts, shape (len(texts), dimension), float32, unit length.

        An empty or unknown text still gets a unit vector, so that no distance is undefined.

        Raises:
            EmbedderError: the vectors could not be had; the text says what to do.
        """
        ...


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What embedding will cost, before it starts.

    `texts` and `tokens` count what must be sent; vectors at hand from an attempt before are left
    out. `dollars` is None where no price is known; `prices_as_of` is the month of that price.
    """

    texts: int
    tokens: int
    dollars: float | None
    prices_as_of: str

    @property
    def sentence(self) -> str:
        """What will be sent out and what that costs, for a person."""
        what = "1 passage" if self.texts == 1 else f"{self.texts:,} passages"
        said = f"{what} with about {self.tokens:,} tokens will be sent out. "
        if self.dollars is None:
            return said + "What that costs at this address is not known here."
        if not self.dollars:
            return said + "That costs nothing."
        when = f" (prices of {self.prices_as_of})" if self.prices_as_of else ""
        return said + f"That costs about ${self.dollars:,.4f}{when}."


@runtime_checkable
class Priced(Protocol):
    """An embedder that sends texts out and may cost money; ask it before `embed`."""

    def estimate(self, texts: Sequence[str]) -> CostEstimate:
        """What `embed` of these texts will send and cost; nothing goes out."""
        ...


@runtime_checkable
class Counting(Protocol):
    """An embedder that can tell how it divides a text, without embedding it."""

    @property
    def most_tokens(self) -> int | None:
        """The number of tokens of a text that are read; None where all are."""
        ...

    def tokens(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """The number of tokens of each text, those that are not read too; shape (len(texts),).

        Raises:
            EmbedderError: the embedder's files cannot be had.
        """
        ...
