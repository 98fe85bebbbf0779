"""A pool of passages as a corpus in memory, its vectors kept on disk between runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from tracert.corpus.model import Chunk, Matrix
from tracert.embedding.base import Embedder
from tracert.errors import DatasetError
from tracert.evaluation.datasets import Passage
from tracert.trace import CorpusInfo
from tracert.whole import whole

#: Raised when what is kept changes its form.
_VERSION: Final = 1
_BATCH: Final = 1024

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Passages as a corpus; row i is line i of the file and has the id 'passage:i'."""

    info: CorpusInfo
    ids: Sequence[str]
    matrix: Matrix
    passages: Sequence[Passage]

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """The passages of these rows, in the order asked."""
        return [self._chunk(int(row)) for row in rows]

    def _chunk(self, row: int) -> Chunk:
        passage = self.passages[row]
        return Chunk(
            id=self.ids[row],
            text=passage.embedded,
            document=passage.title or self.info.name,
            document_fingerprint=self.info.fingerprint,
            position=row,
            page=None,
            heading_path=(),
            start=0,
            end=len(passage.embedded),
        )


def pool(
    passages: Sequence[Passage],
    name: str,
    embedder: Embedder,
    folder: Path,
    on_progress: OnProgress = lambda _done, _of: None,
) -> Pool:
    """Embed the passages, or take their vectors from `folder` where they were embedded before."""
    texts = [passage.embedded for passage in passages]
    fingerprint = _fingerprint(texts)
    matrix = vectors(texts, embedder, folder, on_progress)
    matrix.flags.writeable = False
    info = CorpusInfo(name, fingerprint, embedder.name, matrix.shape[1], len(passages))
    return Pool(info, [f"passage:{row}" for row in range(len(passages))], matrix, passages)


def vectors(
    texts: Sequence[str],
    embedder: Embedder,
    folder: Path,
    on_progress: OnProgress = lambda _done, _of: None,
) -> Matrix:
    """The vectors of the texts, shape (n, d), embedded once for each embedder and set of texts.

    Raises:
        DatasetError: they cannot be kept in `folder`.
    """
    key = hashlib.sha256(
        f"{_VERSION}\n{embedder.identity}\n{_fingerprint(texts)}".encode()
    ).hexdigest()[:32]
    path = folder / f"{key}.npy"
    kept = _kept(path)
    if kept is not None:
        return kept
    parts = []
    for start in range(0, len(texts), _BATCH):
        parts.append(embedder.embed(texts[start : start + _BATCH]))
        on_progress(min(start + _BATCH, len(texts)), len(texts))
    matrix = np.concatenate(parts) if parts else np.empty((0, embedder.dimension), np.float32)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with whole(path) as file:
            np.save(file, matrix, allow_pickle=False)
    except OSError as error:
        raise DatasetError(
            f"The vectors of the pool cannot be kept ({error.strerror}). Make room in the data "
            "folder, or set TRACERT_HOME to one that you may write."
        ) from error
    return matrix


def _kept(path: Path) -> Matrix | None:
    """What was kept; None where there is nothing, or what was damaged from outside."""
    try:
        kept: Matrix = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return kept


def _fingerprint(texts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()
