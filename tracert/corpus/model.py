"""The types of a corpus: a document with its structure, a chunk of it, and what a walk sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tracert.trace import CorpusInfo, Node, NodeKind, Source

Matrix = npt.NDArray[np.float32]

#: Characters of a node's label at most, and of the text that it is usually made from: to split
#: the whole text into words takes longer than a step of a walk.
_LABEL = 48
_LABEL_FROM = 120


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a document from which on a page or a heading path holds, in characters."""

    start: int
    page: int | None
    heading_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors that a file of passages brings with it.

    Row i of `rows` (shape (marks, d), float32) belongs to the passage at the document's mark i
    and is NaN where the file has none for it. `embedder` is the name that the file gives of what
    made them, '' where it gives none.
    """

    rows: Matrix
    embedder: str


@dataclass(frozen=True, slots=True)
class Document:
    """A file turned into text.

    `name` is what a person calls it (the file's name), `kind` what the content is ('pdf',
    'markdown', 'text'), `fingerprint` a hash of the text and its structure. `marks` are
    ordered by `start`; the first stands at 0 where there is any text. `warnings` are
    sentences for the person (a page that could not be read, say). `vectors` are those that came
    with the file, where it is one of passages.
    """

    name: str
    kind: str
    text: str
    marks: tuple[Mark, ...]
    fingerprint: str
    pages: int | None = None
    warnings: tuple[str, ...] = ()
    vectors: Vectors | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document: `text == document.text[start:end]`, exactly.

    `id` is the one id of this passage everywhere: document fingerprint (12 characters),
    a colon and `position`, counted from 0 in the document.
    """

    id: str
    text: str
    document: str
    document_fingerprint: str
    position: int
    page: int | None
    heading_path: tuple[str, ...]
    start: int
    end: int

    def node(self, vector: npt.NDArray[np.float32] | None = None) -> Node:
        """The chunk as a node of a trace, labelled by its first words."""
        words = " ".join(self.text[:_LABEL_FROM].split())
        if len(words) <= _LABEL < len(self.text):
            words = " ".join(self.text.split())
        label = words if len(words) <= _LABEL else words[: _LABEL - 1].rsplit(" ", 1)[0] + "…"
        source = Source(self.document, self.page, self.heading_path, self.start, self.end)
        return Node(self.id, NodeKind.CHUNK, label or self.id, self.text, source, vector)


class Corpus(Protocol):
    """What a method may ask of a corpus: its vectors at once, its texts one by one.

    Row i of `matrix` (shape (n, d), unit rows, read-only) belongs to `ids[i]`; rows follow
    the documents in the order of indexing and the position in each, so that a smaller row
    stands earlier in the text.
    """

    @property
    def info(self) -> CorpusInfo:
        """Name, fingerprint, embedder, dimension and size."""
        ...

    @property
    def ids(self) -> Sequence[str]:
        """The chunk ids by row."""
        ...

    @property
    def matrix(self) -> Matrix:
        """The vectors by row, shape (n, d), float32, unit length."""
        ...

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """The chunks of these rows, in the order asked."""
        ...
