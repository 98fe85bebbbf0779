"""A graph opened for a walk: its notes, and what scoring needs of them, ready in memory."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.embedding.base import Embedder
from tracert.errors import KnowledgeError
from tracert.knowledge.graph import KnowledgeGraph, open_graph
from tracert.knowledge.lexical import Lexicon, with_beginnings
from tracert.knowledge.model import Note
from tracert.knowledge.second import Second, second_vectors
from tracert.knowledge.vectors import NoteVectors, note_vectors
from tracert.trace import CorpusInfo

#: Raised when the arrays of a lexicon are stored in another way.
_VERSION: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class OpenGraph:
    """What a method that walks notes gets as `Resources.knowledge`.

    Row i of the vectors, of the second vectors and of both lexicons belongs to `paths[i]`. The
    lexicons count terms and their beginnings (`with_beginnings`). The second vectors serve the
    score alone, and large graphs have none. The fingerprint of `info` follows from the notes and
    the embedder.
    """

    graph: KnowledgeGraph
    vectors: NoteVectors
    second: Second | None
    heads: Lexicon
    bodies: Lexicon
    paths: tuple[str, ...]
    row: Mapping[str, int]
    info: CorpusInfo

    def note(self, path: str) -> Note:
        """The note of that path.

        Raises:
            KnowledgeError: there is none.
        """
        return self.graph.note(path)

    @property
    def matrix(self) -> npt.NDArray[np.float32]:
        """The vectors of the heads by row, shape (n, d): what a map of the notes is fitted to."""
        return self.vectors.heads

    def vector(self, path: str) -> npt.NDArray[np.float32]:
        """The vector of the note's head, shape (d,)."""
        vector: npt.NDArray[np.float32] = self.vectors.heads[self.row[path]]
        return vector


def open_for_walk(
    folder: Path | str, embedder: Embedder, *, data: Path | None = None, name: str = ""
) -> OpenGraph:
    """Open a folder of notes for a walk; see `open_graph`.

    Raises:
        KnowledgeError: the folder holds no notes, or the index cannot be written.
        EmbedderError: the notes could not be embedded.
    """
    return prepared(open_graph(folder, data=data, name=name), embedder)


def prepared(graph: KnowledgeGraph, embedder: Embedder) -> OpenGraph:
    """A graph with its vectors and lexicons, from the files beside its index where they are.

    Raises:
        KnowledgeError: the index cannot be written.
        EmbedderError: the notes could not be embedded.
    """
    paths = tuple(graph.notes)
    key = f"{graph.fingerprint}\n{embedder.identity}"
    fingerprint = hashlib.sha256(key.encode()).hexdigest()
    heads, bodies = _lexicons(graph, paths)
    return OpenGraph(
        graph=graph,
        vectors=note_vectors(graph, embedder),
        second=second_vectors(graph, embedder),
        heads=heads,
        bodies=bodies,
        paths=paths,
        row={path: row for row, path in enumerate(paths)},
        info=CorpusInfo(graph.name, fingerprint, embedder.name, embedder.dimension, len(paths)),
    )


def _lexicons(graph: KnowledgeGraph, paths: tuple[str, ...]) -> tuple[Lexicon, Lexicon]:
    file = graph.index.place / "lexicon.npz"
    key = f"{_VERSION}:{graph.fingerprint}"
    found = _read(file, key)
    if found is None:
        terms = graph.index.terms()
        pairs = [terms.get(path, ("", "")) for path in paths]
        head, body = (
            Lexicon.of([" ".join(with_beginnings(text.split())) for text in texts])
            for texts in zip(*pairs, strict=True)
        )
        found = head, body
        _write(file, key, found)
    return found


def _read(file: Path, key: str) -> tuple[Lexicon, Lexicon] | None:
    """The lexicons as saved, None where they are absent, torn or of other notes."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            if bytes(arrays["key"]).decode("utf-8") != key:
                return None
            head, body = (
                Lexicon.from_arrays({part: arrays[f"{name}_{part}"] for part in Lexicon.PARTS})
                for name in ("head", "body")
            )
    except (OSError, ValueError, KeyError, EOFError, UnicodeDecodeError):
        return None
    return head, body


def _write(file: Path, key: str, lexicons: tuple[Lexicon, Lexicon]) -> None:
    arrays = {"key": np.frombuffer(key.encode(), np.uint8)}
    for name, lexicon in zip(("head", "body"), lexicons, strict=True):
        arrays |= {f"{name}_{part}": array for part, array in lexicon.to_arrays().items()}
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".tmp", delete=False) as out:
            np.savez(out, **arrays)  # type: ignore[arg-type]
        Path(out.name).replace(file)
    except OSError as error:
        raise KnowledgeError(
            f"The index {file.parent} cannot be written ({error.strerror}). Free some space, or "
            "set TRACERT_HOME to another folder."
        ) from error
