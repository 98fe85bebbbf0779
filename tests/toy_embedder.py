"""An embedder for tests: a text's vector is the sum of its words' random directions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tracert.embedding.base import Progress


class ToyEmbedder:
    """Texts that share words are near each other; the same on every machine."""

    name = "toy"

    def __init__(self, dimension: int = 16, version: str = "1", block: int = 64) -> None:
        self.dimension = dimension
        self.identity = f"toy-{version}/{dimension}"
        self.texts = 0
        self._block = block

    def embed(
        self, texts: Sequence[str], *, progress: Progress | None = None
    ) -> npt.NDArray[np.float32]:
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vector = np.ones(self.dimension) * 1e-3
            for word in re.findall(r"\w+", text.lower()):
                vector += self._word(word)
            out[row] = vector / np.linalg.norm(vector)
            self.texts += 1
            if progress is not None and (row + 1) % self._block == 0:
                progress(row + 1)
        return out

    def _word(self, word: str) -> npt.NDArray[np.float64]:
        digest = hashlib.sha256(f"{self.identity}:{word}".encode()).digest()
        seed = int.from_bytes(digest[:8], "little")
        return np.random.default_rng(seed).normal(size=self.dimension)
