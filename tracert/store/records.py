"""What a corpus is: its documents, its fingerprint and its name, and its chunks page by page."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.corpus.chunking import Chunking
from tracert.corpus.model import Chunk, Mark
from tracert.errors import CorpusError
from tracert.trace import CorpusInfo

#: The version of what is written; part of every fingerprint.
FORMAT: Final = "tracert.store/1"
MAX_NAME: Final = 200

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document as the manifest names it; `part` is the collection that holds its chunks.

    `source` tells which file it came from (`tracert.inputs.Given`), '' where that is not known.
    """

    name: str
    kind: str
    fingerprint: str
    chunks: int
    characters: int
    pages: int | None
    part: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class CorpusRecord:
    """A corpus as the store lists it.

    `owner` is '' for the host's, which everyone may read (`tracert.hosting`). `embedder` is the
    name in the registry and `identity` the exact model; `created` and `changed` are seconds since
    1970. `id` stays when the corpus is renamed or changed. `origin` tells where it came from if
    another program cut and embedded it, else it is ''.
    """

    id: str
    name: str
    embedder: str
    identity: str
    dimension: int
    chunking: Chunking
    documents: tuple[DocumentRecord, ...]
    created: float
    changed: float
    origin: str = ""
    owner: str = ""

    @property
    def size(self) -> int:
        """The number of chunks."""
        return sum(document.chunks for document in self.documents)

    @property
    def fingerprint(self) -> str:
        """A hash of the embedder's identity, the chunking and the documents in order."""
        return fingerprint(self.identity, self.chunking, [d.fingerprint for d in self.documents])

    @property
    def parts(self) -> tuple[str, ...]:
        """The collections that hold the chunks, each once."""
        return tuple(dict.fromkeys(document.part for document in self.documents))

    @property
    def info(self) -> CorpusInfo:
        """What a trace says of the corpus."""
        return CorpusInfo(self.name, self.fingerprint, self.embedder, self.dimension, self.size)


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Some chunks with their vectors, shape (len(chunks), d), in no order to rely on.

    `marks[i]` are the marks of the document that stand at or after the start of chunk i and
    before that of the next, so that the document can be cut anew.
    """

    chunks: Sequence[Chunk]
    vectors: Vectors
    marks: Sequence[tuple[Mark, ...]]


def fingerprint(identity: str, chunking: Chunking, documents: Sequence[str]) -> str:
    """The fingerprint of a corpus: whatever changes a vector, a text or a row changes it."""
    parts = [FORMAT, identity, json.dumps(asdict(chunking), sort_keys=True), *documents]
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


def check_name(name: str) -> str:
    """The name of a corpus without outer blanks, its letters composed (Unicode's form NFC).

    Raises:
        CorpusError: it is empty, too long or has control characters.
    """
    name = regular(name)
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise CorpusError(
            f"A corpus cannot be called {name[:40]!r}. Pass a name of 1 to {MAX_NAME} printable "
            "characters."
        )
    return name


def regular(name: str) -> str:
    """The form in which two names are compared."""
    return unicodedata.normalize("NFC", name).strip()
