"""What a corpus is made of: lengths, neighbours, passages alike, and what another cut would do."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.corpus.chunking import Chunking
from tracert.corpus.chunking import cut as cut_as
from tracert.embedding.base import Counting, Embedder
from tracert.snapshot import Snapshot
from tracert.store.records import DocumentRecord

Whole = npt.NDArray[np.int64]
Span = tuple[int, int]

#: Passages compared with one another for near-duplicates: their square is what takes the time,
#: about 3 seconds for 256 numbers a vector on two cores.
MOST_COMPARED: Final = 10_000
#: Characters that are cut anew for a preview; the rest of a larger corpus is reckoned from them.
MOST_CUT: Final = 4_000_000
#: Passages embedded to learn the pace of an embedder.
PACE_OF: Final = 64
#: Passages stored a second of processor time, with the snapshot made: of 100,000 by
#: `benchmarks/store_scale.py`.
STORED_A_SECOND: Final = 1_000.0
_BLOCK: Final = 1_024


# --- lengths ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """How long passages are, each array of shape (n,).

    `tokens` is None where the embedder cannot tell; `most_tokens` is how many of a text it
    reads, None where it reads all or does not say.
    """

    characters: Whole
    words: Whole
    tokens: Whole | None = None
    most_tokens: int | None = None

    @property
    def cut_off(self) -> int:
        """The number of passages whose end the embedder does not read."""
        if self.tokens is None or self.most_tokens is None:
            return 0
        return int((self.tokens > self.most_tokens).sum())


def lengths(texts: Sequence[str], embedder: Embedder | None = None) -> Lengths:
    """How long texts are in characters, in words (runs without white space) and in tokens.

    Raises:
        EmbedderError: the embedder's tokenizer cannot be had.
    """
    characters = np.fromiter(map(len, texts), np.int64, len(texts))
    words = np.fromiter((len(text.split()) for text in texts), np.int64, len(texts))
    if isinstance(embedder, Counting):
        return Lengths(characters, words, embedder.tokens(texts), embedder.most_tokens)
    return Lengths(characters, words)


# --- neighbours ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Near:
    """A passage near another one, by row, and the cosine of the two vectors."""

    row: int
    cosine: float


def nearest(snapshot: Snapshot, row: int, most: int = 8) -> list[Near]:
    """The passages whose vectors are nearest to that of a row, best first, itself left out."""
    cosines = snapshot.matrix @ snapshot.matrix[row]
    cosines[row] = -np.inf
    most = min(most, len(cosines) - 1)
    if most < 1:
        return []
    best = np.argpartition(-cosines, most - 1)[:most]
    best = best[np.lexsort((best, -cosines[best]))]
    return [Near(int(each), float(cosines[each])) for each in best]


def beside(snapshot: Snapshot, row: int) -> tuple[Near | None, Near | None]:
    """The passages before and after in the same document, where there are such."""
    documents, found = snapshot.documents, []
    for other in (row - 1, row + 1):
        there = 0 <= other < len(documents) and documents[other] == documents[row]
        cosine = float(snapshot.matrix[row] @ snapshot.matrix[other]) if there else 0.0
        found.append(Near(other, cosine) if there else None)
    return found[0], found[1]


# --- passages alike -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """Two passages alike, by row, the one that stands earlier first."""

    left: int
    right: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Alike:
    """The pairs above a threshold, best first.

    `found` counts all, of which `pairs` are the first. `compared` passages were compared with
    one another, of all `passages`.
    """

    pairs: tuple[Pair, ...]
    found: int
    compared: int
    passages: int


def alike(
    snapshot: Snapshot, threshold: float, *, overlapping: bool = False, most: int = 200
) -> Alike:
    """The pairs of passages with a cosine of at least `threshold`.

    All passages are compared, or of a larger corpus `MOST_COMPARED`, evenly spread.

    Args:
        snapshot: the corpus.
        threshold: the least cosine.
        overlapping: whether pairs count that share a piece of one document's text, which are
            alike because the cut made them so.
        most: how many pairs are given.
    """
    size = len(snapshot.ids)
    rows = np.arange(size)
    if size > MOST_COMPARED:
        rows = np.linspace(0, size - 1, MOST_COMPARED).astype(np.int64)
    documents, (starts, ends) = snapshot.documents, snapshot.places
    best: list[tuple[float, int, int]] = []
    found = 0
    for first in range(0, len(rows), _BLOCK):
        left = rows[first : first + _BLOCK]
        vectors = snapshot.matrix[left]
        for second in range(first, len(rows), _BLOCK):
            right = rows[second : second + _BLOCK]
            cosines = vectors @ snapshot.matrix[right].T
            near = cosines >= threshold
            if first == second:
                near = np.triu(near, 1)
            one, two = np.nonzero(near)
            a, b = left[one], right[two]
            if not overlapping and len(a):
                shared = (documents[a] == documents[b]) & (starts[b] < ends[a])
                one, two, a, b = one[~shared], two[~shared], a[~shared], b[~shared]
            found += len(a)
            values = cosines[one, two]
            if len(a) > most:
                kept = np.argpartition(-values, most - 1)[:most]
                a, b, values = a[kept], b[kept], values[kept]
            best += zip((-values).tolist(), a.tolist(), b.tolist(), strict=True)
            best = sorted(best)[:most]
    pairs = tuple(Pair(a, b, min(1.0, -negative)) for negative, a, b in best)
    return Alike(pairs, found, len(rows), size)


def same(texts: Sequence[str]) -> list[tuple[int, ...]]:
    """The groups of texts that are equal but for white space, by row, the largest first."""
    groups: dict[bytes, list[int]] = {}
    for row, text in enumerate(texts):
        key = hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).digest()
        groups.setdefault(key, []).append(row)
    found = [tuple(group) for group in groups.values() if len(group) > 1]
    return sorted(found, key=lambda group: (-len(group), group))


# --- another cut --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """What a corpus would be if it were cut that way.

    `characters` are the lengths of the passages that were cut to see, shape (m,); `passages` is
    the number in all, which is reckoned from them where `share` of the text (0 to 1) is below 1.
    `sample` are some of their texts, evenly spread.
    """

    chunking: Chunking
    passages: int
    characters: Whole
    share: float
    sample: tuple[str, ...]


def cut(snapshot: Snapshot, chunking: Chunking) -> Cut:
    """Cut the texts of a corpus, or `MOST_CUT` characters of a large one, and store nothing."""
    documents = snapshot.record.documents
    total = sum(document.characters for document in documents)
    # Documents from everywhere: every n-th, so that those looked at have about that many.
    step = max(1, -(-total // MOST_CUT))
    found: list[int] = []
    texts: list[str] = []
    seen = 0
    for document in documents[::step]:
        text = snapshot.document_text(document.fingerprint)
        text = text[: max(0, MOST_CUT - seen)]
        seen += len(text)
        places = recut(snapshot, document, text, chunking)
        found += [end - start for start, end in places]
        picked = np.linspace(0, len(places) - 1, min(PACE_OF, len(places))).astype(int)
        texts += [text[slice(*places[at])] for at in picked.tolist()]
        if seen >= MOST_CUT:
            break
    share = seen / total if total else 1.0
    passages = round(len(found) / share) if share else 0
    picked = np.linspace(0, len(texts) - 1, min(PACE_OF, len(texts))).astype(int)
    return Cut(
        chunking,
        passages,
        np.asarray(found, dtype=np.int64),
        share,
        tuple(texts[at] for at in picked.tolist()),
    )


def recut(
    snapshot: Snapshot, document: DocumentRecord, text: str, chunking: Chunking
) -> list[Span]:
    """Where the passages of a document would begin and end, in the beginning of it that is given.

    What is cut at its own places, passages and slides, begins passages there now as well.
    """
    chunks = snapshot.document_chunks(document.fingerprint)
    places = [(chunk.start, chunk.page) for chunk in chunks if chunk.start < len(text)]
    return cut_as(text, document.kind, places, chunking)


def seconds_to_index(made: Cut, embedder: Embedder) -> float:
    """About how long it would take to embed and store that cut, from the embedder's own pace.

    Embeds the sample; call it only where that costs nothing.

    Raises:
        EmbedderError: the embedder cannot be used.
    """
    if not made.sample:
        return 0.0
    embedder.embed(made.sample[:1])  # what is read at the first use is not counted
    begun = time.perf_counter()
    embedder.embed(made.sample)
    each = (time.perf_counter() - begun) / len(made.sample)
    return made.passages * (each + 1.0 / STORED_A_SECOND)
