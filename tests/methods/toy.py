"""A corpus in memory and an embedder of a few known texts, for tests of methods."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Chunk
from tracert.methods.base import Question, Resources, collect, parse_settings
from tracert.methods.registry import method
from tracert.trace import CorpusInfo, Trace, Value


class ToyCorpus:
    """Passages 'toy:0', 'toy:1', ... with the given vectors, brought to length 1."""

    def __init__(
        self, vectors: npt.ArrayLike, texts: Sequence[str] | None = None, dimension: int = 2
    ) -> None:
        raw = np.asarray(vectors, dtype=np.float64).reshape(-1, np.shape(vectors)[-1] or dimension)
        self.matrix = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)
        texts = texts or [f"Passage {row} of the toy." for row in range(len(raw))]
        self._chunks = [
            Chunk(f"toy:{row}", text, "toy.txt", "toy", row, None, (), row * 100, row * 100 + 50)
            for row, text in enumerate(texts)
        ]
        self.ids = [chunk.id for chunk in self._chunks]
        # Methods keep what they derive from a corpus by its fingerprint, as with a real one.
        digest = hashlib.sha256(self.matrix.tobytes() + "\0".join(texts).encode()).hexdigest()
        self.info = CorpusInfo("toy", digest, "toy", self.matrix.shape[1], len(raw))

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        return [self._chunks[row] for row in rows]


class ToyEmbedder:
    """Knows the vectors of some texts; any other text gets the first axis."""

    def __init__(self, known: Mapping[str, npt.ArrayLike], dimension: int) -> None:
        self._known = {text: np.asarray(vector, dtype=np.float64) for text, vector in known.items()}
        self._first = np.eye(dimension)[0]
        self.calls = 0

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.calls += 1
        rows = np.array([self._known.get(text, self._first) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def run(
    name: str,
    corpus: ToyCorpus,
    query: npt.ArrayLike,
    goal: npt.ArrayLike | None = None,
    **settings: Value,
) -> Trace:
    """The trace of a method for a question and a typed goal at these vectors."""
    chosen = method(name)
    known = {"question": query} if goal is None else {"question": query, "goal": goal}
    resources = Resources(ToyEmbedder(known, corpus.matrix.shape[1]), corpus)
    question = Question("question", None if goal is None else "goal")
    prepared = chosen.prepare(question, resources)
    walk = chosen.walk(prepared, parse_settings(chosen.settings_type, settings), resources)
    return collect(walk, method=name, question="question", prepared=prepared.cost)
