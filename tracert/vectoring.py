"""Vectors of passages: made by the embedder, or taken from the file that brings them.

Vectors of a file are used where they are what the corpus's embedder makes: their length is its
own, the file names no other one, and for a sample of passages the embedder gives the same again.
So a question, which the embedder turns into a vector, is compared with its like. All other
vectors are made anew, and a sentence says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracert.corpus.chunking import PASSAGES
from tracert.corpus.model import Chunk, Document, Matrix, Vectors
from tracert.embedding.base import CostEstimate, Embedder, Priced
from tracert.embedding.vectors import unit_rows

#: Passages of a file that are embedded to compare, and the median cosine from which the vectors
#: count as the same: one model in two precisions gives about 0.99, two models about 0.
_SAMPLE: Final = 6
_SAME: Final = 0.95

OnDone = Callable[[int], None]
OnCost = Callable[[CostEstimate], None]


@dataclass(frozen=True, slots=True)
class Vectored:
    """A unit vector a chunk, shape (n, d), and what to say of documents that brought their own.

    `said` is by the document's fingerprint.
    """

    rows: Matrix
    said: Mapping[str, str]


def vectors_of(
    documents: Sequence[Document],
    chunks: Sequence[Sequence[Chunk]],
    embedder: Embedder,
    on_done: OnDone,
    on_cost: OnCost | None = None,
) -> Vectored:
    """The vectors of all chunks, in order.

    A passage with a title, out of a file of passages, is embedded as title, newline, text, as
    an evaluation does; any other chunk as its text.

    Args:
        documents: the documents.
        chunks: their chunks, document by document.
        embedder: what makes the vectors.
        on_done: gets the number of chunks done.
        on_cost: gets what will be sent out and cost, before anything is; only called where
            something will.

    Raises:
        EmbedderError: the embedder failed.
        SettingError: the cost was asked for and the table of prices is damaged.
    """
    texts = [
        _text(document, chunk) for document, some in _pairs(documents, chunks) for chunk in some
    ]
    if not texts:
        return Vectored(np.zeros((0, embedder.dimension), dtype=np.float32), {})
    said: dict[str, str] = {}
    taken: dict[int, Matrix] = {}
    first = 0
    for document, some in _pairs(documents, chunks):
        if document.vectors is not None:
            own, sentence = _own(document, document.vectors, some, texts[first:], embedder)
            said[document.fingerprint] = sentence
            taken |= {first + row: vector for row, vector in own.items()}
        first += len(some)
    _tell_cost([text for row, text in enumerate(texts) if row not in taken], embedder, on_cost)
    if not taken:
        return Vectored(embedder.embed(texts, progress=on_done), said)
    rows = np.empty((len(texts), embedder.dimension), dtype=np.float32)
    rows[list(taken)] = unit_rows(np.stack(list(taken.values())), embedder.name)
    missing = [row for row in range(len(texts)) if row not in taken]
    if missing:
        rows[missing] = embedder.embed(
            [texts[row] for row in missing], progress=lambda done: on_done(len(taken) + done)
        )
    return Vectored(rows, said)


def _tell_cost(texts: Sequence[str], embedder: Embedder, on_cost: OnCost | None) -> None:
    if on_cost is None or not isinstance(embedder, Priced):
        return
    cost = embedder.estimate(texts)
    if cost.texts:
        on_cost(cost)


def _pairs(
    documents: Sequence[Document], chunks: Sequence[Sequence[Chunk]]
) -> list[tuple[Document, Sequence[Chunk]]]:
    return list(zip(documents, chunks, strict=True))


def _text(document: Document, chunk: Chunk) -> str:
    """What is embedded of a chunk."""
    if document.kind in PASSAGES and chunk.heading_path:
        return f"{chunk.heading_path[-1]}\n{chunk.text}"
    return chunk.text


def _own(
    document: Document,
    vectors: Vectors,
    chunks: Sequence[Chunk],
    texts: Sequence[str],
    embedder: Embedder,
) -> tuple[dict[int, Matrix], str]:
    """The vectors by row that the document brings and that can be used, and a sentence."""
    size = vectors.rows.shape[1]
    anew = f"the vectors in {document.name} were made anew"
    if vectors.embedder and vectors.embedder not in (embedder.name, embedder.identity):
        return {}, f"They are of {vectors.embedder[:80]}, not of {embedder.name}, so {anew}."
    if size != embedder.dimension:
        return {}, (
            f"They have {size:,} numbers, those of {embedder.name} {embedder.dimension:,}, so "
            f"{anew}."
        )
    own = _of_whole_passages(document, vectors, chunks)
    if not own:
        return {}, ""
    if isinstance(embedder, Priced):
        # To compare would send texts out and cost money before anybody was told.
        if not vectors.embedder:
            return {}, f"It is not said in the file what made them, so {anew}."
        return (
            own,
            f"Its {len(own):,} vectors were used; that {embedder.name} made them was not checked.",
        )
    cosine = _agreement(own, chunks, texts, embedder)
    if cosine < _SAME:
        return {}, f"{embedder.name} gives others (cosine {cosine:.2f}), so {anew}."
    return own, f"Its {len(own):,} vectors were used; {embedder.name} gives the same."


def _of_whole_passages(
    document: Document, vectors: Vectors, chunks: Sequence[Chunk]
) -> dict[int, Matrix]:
    """The vector of each chunk that is a whole passage and has one, by the chunk's row."""
    at = {mark.start: number for number, mark in enumerate(document.marks)}
    starts = [chunk.start for chunk in chunks]
    own: dict[int, Matrix] = {}
    for row, start in enumerate(starts):
        number = at.get(start)
        # Of a passage that was cut the next chunk is no mark's.
        cut = row + 1 < len(starts) and starts[row + 1] not in at
        if number is not None and not cut and bool(np.isfinite(vectors.rows[number]).all()):
            own[row] = vectors.rows[number]
    return own


def _agreement(
    own: Mapping[int, Matrix], chunks: Sequence[Chunk], texts: Sequence[str], embedder: Embedder
) -> float:
    """The median cosine of a sample to what the embedder gives, with titles or without."""
    rows = [
        list(own)[at] for at in np.linspace(0, len(own) - 1, min(_SAMPLE, len(own))).astype(int)
    ]
    theirs = unit_rows(np.stack([own[row] for row in rows]), embedder.name)
    ours = embedder.embed([texts[row] for row in rows] + [chunks[row].text for row in rows])
    cosines = np.sum(ours * np.concatenate([theirs, theirs]), axis=1)
    return float(max(np.median(cosines[: len(rows)]), np.median(cosines[len(rows) :])))
