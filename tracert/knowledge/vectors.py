"""The vectors of notes: one of the head, one of each passage of the content.

They are made when a graph is indexed for an embedder and kept beside its index as .npy files,
keyed by the embedder's identity and the notes' hashes: a changed note alone is embedded again.
They serve the offline scorer; neither the local view nor a model ever sees the content by them.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.embedding.base import Embedder
from tracert.errors import KnowledgeError
from tracert.knowledge.graph import KnowledgeGraph

#: The length of a passage of the content, in characters, and how many are kept of one note.
PASSAGE, PASSAGES = 500, 64
#: Raised when passages are cut or vectors are stored in another way.
_VERSION: Final = 1
_PARTS: Final = ("keys", "bounds", "heads", "passages")

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class NoteVectors:
    """Vectors by row; row i belongs to the i-th note of the graph.

    `heads` has shape (n, d); the passages of note i are `passages[bounds[i]:bounds[i + 1]]`,
    at least one. All rows have unit length.
    """

    heads: Matrix
    passages: Matrix
    bounds: npt.NDArray[np.int64]

    def closest(self, vector: npt.NDArray[np.float32]) -> tuple[Matrix, Matrix]:
        """The cosines of each head and of each note's best passage, both of shape (n,)."""
        if not len(self.heads):
            return np.zeros(0, np.float32), np.zeros(0, np.float32)
        return self.heads @ vector, np.maximum.reduceat(self.passages @ vector, self.bounds[:-1])


def note_vectors(graph: KnowledgeGraph, embedder: Embedder) -> NoteVectors:
    """The vectors of the graph's notes, from the files beside its index where they are known.

    Raises:
        EmbedderError: notes could not be embedded.
        KnowledgeError: the vectors cannot be saved.
    """
    keys = [_key(graph.notes[path].hash, graph.notes[path].head) for path in graph.notes]
    name = hashlib.sha256(f"{_VERSION}\n{embedder.identity}".encode()).hexdigest()[:16]
    old = _read(graph.index.place, name, embedder.dimension)
    if old is not None and old[0] == keys:
        return old[1]
    known = {} if old is None else {key: row for row, key in enumerate(old[0])}
    texts: list[str] = []
    sizes: list[int] = []
    fresh = [place for place, key in enumerate(keys) if key not in known]
    paths = list(graph.notes)
    for place in fresh:
        note = graph.notes[paths[place]]
        pieces = passages(_content(graph, note.path))
        texts.append(note.head)
        texts += [f"{note.title}\n{piece}" for piece in pieces] or [note.head]
        sizes.append(max(1, len(pieces)))
    embedded = (
        embedder.embed(texts) if texts else np.zeros((0, embedder.dimension), dtype=np.float32)
    )
    vectors = _merged(keys, known, old, fresh, sizes, embedded)
    _write(graph.index.place, name, keys, vectors)
    return vectors


def passages(content: str) -> list[str]:
    """The content cut at its paragraphs into passages of about `PASSAGE` characters.

    A note of more than `PASSAGES` of them is cut into longer ones.
    """
    blocks = [block.strip() for block in re.split(r"\n[ \t]*\n", content) if block.strip()]
    most = max(PASSAGE, len(content) // PASSAGES + 1)
    found: list[str] = []
    for block in blocks:
        if found and len(found[-1]) + len(block) < most:
            found[-1] += f"\n\n{block}"
        else:
            found += [block[start : start + 2 * most] for start in range(0, len(block), 2 * most)]
    return found


def _content(graph: KnowledgeGraph, path: str) -> str:
    try:
        return graph.content(path)
    except KnowledgeError:  # gone since the graph was opened; its head still counts
        return ""


def _key(hash: str, head: str) -> str:
    return hashlib.sha256(f"{hash}\n{head}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _merged(
    keys: Sequence[str],
    known: dict[str, int],
    old: tuple[list[str], NoteVectors] | None,
    fresh: Sequence[int],
    sizes: Sequence[int],
    embedded: Matrix,
) -> NoteVectors:
    """Old rows and fresh rows in the order of the keys."""
    starts = np.concatenate(([0], np.cumsum([size + 1 for size in sizes]))).astype(int)
    at = {place: (starts[i], starts[i + 1]) for i, place in enumerate(fresh)}
    heads: list[Matrix] = []
    blocks: list[Matrix] = []
    for place, key in enumerate(keys):
        if place in at:
            start, end = at[place]
            heads.append(embedded[start])
            blocks.append(embedded[start + 1 : end])
        else:
            assert old is not None  # noqa: S101 a known key comes from there
            row, vectors = known[key], old[1]
            heads.append(vectors.heads[row])
            blocks.append(vectors.passages[vectors.bounds[row] : vectors.bounds[row + 1]])
    bounds = np.concatenate(([0], np.cumsum([len(block) for block in blocks]))).astype(np.int64)
    return NoteVectors(np.stack(heads), np.concatenate(blocks), bounds)


def _read(folder: Path, name: str, dimension: int) -> tuple[list[str], NoteVectors] | None:
    """The vectors as saved, None where they are absent, torn or of another shape."""
    stamp = folder / f"vectors-{name}.stamp"
    try:
        version = stamp.read_text("ascii")
        parts = [
            np.load(folder / f"vectors-{name}-{version}-{part}.npy", allow_pickle=False)
            for part in _PARTS
        ]
    except (OSError, ValueError, EOFError):
        return None
    keys, bounds, heads, rows = parts
    fits = (
        heads.ndim == 2
        and heads.shape == (len(keys), dimension)
        and rows.shape == (int(bounds[-1]), dimension)
    )
    if not fits:
        return None
    return [key.decode("ascii") for key in keys.tolist()], NoteVectors(heads, rows, bounds)


def _write(folder: Path, name: str, keys: Sequence[str], vectors: NoteVectors) -> None:
    """Saved under a name of their own; the stamp, replaced last, says which set counts."""
    version = hashlib.sha256("\n".join(keys).encode()).hexdigest()[:16]
    arrays = {
        "keys": np.array(keys, dtype="S32"),
        "bounds": vectors.bounds,
        "heads": vectors.heads,
        "passages": vectors.passages,
    }
    stamp = folder / f"vectors-{name}.stamp"
    try:
        before = stamp.read_text("ascii") if stamp.exists() else ""
        for part, array in arrays.items():
            with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as file:
                np.save(file, array, allow_pickle=False)
            Path(file.name).replace(folder / f"vectors-{name}-{version}-{part}.npy")
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as file:
            file.write(version.encode("ascii"))
        Path(file.name).replace(stamp)
    except OSError as error:
        raise KnowledgeError(
            f"The vectors in {folder} cannot be saved ({error.strerror}). Free some space, or "
            "set TRACERT_HOME to another folder."
        ) from error
    if before and before != version:
        for part in _PARTS:
            with suppress(OSError):  # another process may still read or have removed them
                (folder / f"vectors-{name}-{before}-{part}.npy").unlink()
