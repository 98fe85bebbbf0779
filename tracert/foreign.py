"""Collections that another program keeps in Chroma, read and never written.

To open a folder with Chroma is to write to it: chromadb 1.5.9 changes `chroma.sqlite3` when a
client is opened, and migrates the folder of an older version. So a folder is copied to a
temporary place first and the copy is opened. A server is only asked for what it has.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tracert.chroma import Place, elsewhere, errors, every_collection
from tracert.errors import CancelledError, CorpusError, StoreError
from tracert.store.collections import is_ours

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

_DATABASE: Final = "chroma.sqlite3"
_INDEX: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: Chroma's own embedding functions that are all-MiniLM-L6-v2, and the length of its vectors.
_DEFAULTS: Final = ("default", "onnx_mini_lm_l6_v2")
_MINILM: Final = re.compile(r"(sentence-transformers/)?all-minilm-l6-v2", re.IGNORECASE)
_MINILM_DIMENSION: Final = 384
#: Metadata by which programs tell what made the vectors.
_HINTS: Final = ("embedder", "embedding_model", "embedding_function", "embedding", "model")


@dataclass(frozen=True, slots=True)
class Listed:
    """A collection as it is listed.

    `made_by` is what it says made its vectors, '' where it says nothing, and `embedder` the name
    in our registry of the same model, '' where there is none. `dimension` is None while it is
    empty. `space` is 'cosine', 'l2' or 'ip'.
    """

    name: str
    rows: int
    dimension: int | None
    space: str
    made_by: str
    embedder: str


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What a collection holds, in the order in which Chroma gives it.

    `vectors` has shape (n, d), as stored. A text is None where the program kept none.
    """

    texts: list[str | None]
    metadatas: list[Mapping[str, Any]]
    vectors: npt.NDArray[np.float32]


def listed(folder: Path | None) -> list[Listed]:
    """The collections of other programs in a Chroma folder, or on the server where it is None.

    Raises:
        CorpusError: the folder holds no Chroma store, or the environment names no server.
        StoreError: it cannot be read.
    """
    with _client(folder, vectors=False) as (client, place), errors(place):
        found = [_listed(each) for each in every_collection(client) if not is_ours(each)]
    return sorted(found, key=lambda each: each.name.casefold())


def read(
    folder: Path | None,
    name: str,
    *,
    on_rows: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Listed, Rows]:
    """All rows of one collection.

    Args:
        folder: the Chroma folder, or None for the server that the environment names.
        name: the collection's.
        on_rows: called with how many are read, of how many.
        cancelled: asked between pages.

    Raises:
        CancelledError: `cancelled` said so.
        CorpusError: there is no such collection, or it is empty.
        StoreError: it cannot be read.
    """
    texts: list[str | None] = []
    metadatas: list[Mapping[str, Any]] = []
    vectors: list[npt.NDArray[np.float32]] = []
    with _client(folder, vectors=True) as (client, place), errors(place):
        collection = _named(client, name)
        said = _listed(collection)
        for first in range(0, said.rows, place.rows):
            if cancelled is not None and cancelled():
                raise CancelledError("Cancelled; nothing half-made was kept.")
            some = collection.get(
                limit=place.rows, offset=first, include=["embeddings", "documents", "metadatas"]
            )
            size = len(some["ids"])
            texts += some["documents"] or [None] * size
            metadatas += [each or {} for each in some["metadatas"] or ()] or [{}] * size
            vectors.append(np.asarray(some["embeddings"], dtype=np.float32))
            if on_rows is not None:
                on_rows(min(first + place.rows, said.rows), said.rows)
    if not texts:
        raise CorpusError(f"The collection {name!r} is empty. Choose one that has documents.")
    matrix = np.concatenate(vectors)
    if matrix.ndim != 2 or len(matrix) != len(texts) or not len(matrix[0]):
        raise CorpusError(
            f"The collection {name!r} has documents without vectors. Index its documents instead."
        )
    return said, Rows(texts, metadatas, matrix)


@contextmanager
def _client(folder: Path | None, *, vectors: bool) -> Iterator[tuple[Client, Place]]:
    """A client of the server, or of a copy of the folder, with its vectors or without."""
    if folder is None:
        place = elsewhere()
        if place is None:
            raise CorpusError(
                "No Chroma server is named. Set CHROMA_URL to its address, or name a folder."
            )
        with _opened(place) as client:
            yield client, place
        return
    with tempfile.TemporaryDirectory(prefix="tracert-chroma-") as temporary:
        _copy(folder, Path(temporary), vectors=vectors)
        place = Place(
            True,
            f"The Chroma store in {folder} cannot be read. Check that it was made by Chroma and "
            "is whole, or start its server and set CHROMA_URL",
            folder=temporary,
        )
        with _opened(place) as client:
            yield client, place


@contextmanager
def _opened(place: Place) -> Iterator[Client]:
    with errors(place):
        client = place.open(apart=True)
    try:
        yield client
    finally:
        client.close()


def _copy(folder: Path, to: Path, *, vectors: bool) -> None:
    """Copy what Chroma needs out of a folder, and make sure that it stood still meanwhile."""
    try:
        folder = folder.expanduser()
    except RuntimeError as error:
        raise CorpusError(f"{folder} names no home folder. Pass the whole path.") from error
    try:
        if not (folder / _DATABASE).is_file():
            raise CorpusError(
                f"{folder} holds no Chroma store. Pass the folder that has {_DATABASE} in it."
            )
        before = _state(folder)
        for path in _files(folder, vectors=vectors):
            place = to / path.relative_to(folder)
            place.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, place)
        if _state(folder) != before:
            raise StoreError(
                f"The Chroma store in {folder} was changed while it was read. Stop the program "
                "that writes to it and try again, or start its server and set CHROMA_URL."
            )
    except OSError as error:
        raise StoreError(
            f"The Chroma store in {folder} cannot be copied ({error.strerror or error}). Check "
            "the permission and that the folder for temporary files has room."
        ) from error


def _files(folder: Path, *, vectors: bool) -> Iterator[Path]:
    """The database with its journal and, if wanted, the indices of vectors."""
    for name in (_DATABASE, f"{_DATABASE}-wal"):
        if (folder / name).is_file():
            yield folder / name
    for inner in folder.iterdir() if vectors else ():
        if _INDEX.fullmatch(inner.name) and inner.is_dir() and not inner.is_symlink():
            yield from (path for path in inner.iterdir() if path.is_file())


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    found = {path: path.stat() for path in _files(folder, vectors=True)}
    return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in found.items()}


def _named(client: Client, name: str) -> Collection:
    found = [each for each in every_collection(client) if not is_ours(each)]
    for each in found:
        if each.name == name:
            return each
    names = ", ".join(repr(each.name) for each in found[:8]) or "none"
    raise CorpusError(f"There is no collection {name!r}. Choose one that is there: {names}.")


def _listed(collection: Collection) -> Listed:
    configuration = collection.configuration_json or {}
    metadata = collection.metadata or {}
    kinds = (configuration.get("hnsw"), configuration.get("spann"))
    space = next((kind["space"] for kind in kinds if kind and kind.get("space")), None)
    dimension = collection.get_model().dimension
    made_by, embedder = made(configuration.get("embedding_function"), metadata, dimension)
    return Listed(
        name=collection.name,
        rows=collection.count(),
        dimension=dimension,
        space=str(metadata.get("hnsw:space") or space or "l2"),
        made_by=made_by,
        embedder=embedder,
    )


def made(function: Any, metadata: Mapping[str, Any], dimension: int | None) -> tuple[str, str]:
    """What made the vectors: as the collection says, and as our registry calls it, or ''.

    Args:
        function: the collection's configuration of its embedding function.
        metadata: the collection's.
        dimension: of its vectors. A program that brings its own vectors often leaves Chroma's
            default named; a dimension that the default does not have shows it.
    """
    kind, model = "", ""
    if isinstance(function, Mapping) and function.get("type") == "known":
        kind = str(function.get("name") or "")
        config = function.get("config")
        model = str(config.get("model_name") or "") if isinstance(config, Mapping) else ""
    for hint in _HINTS:
        if isinstance(metadata.get(hint), str) and (not kind or kind in _DEFAULTS):
            kind, model = "", str(metadata[hint])
            break
    if kind in _DEFAULTS:
        fits = dimension in (None, _MINILM_DIMENSION)
        return ("Chroma's default, all-MiniLM-L6-v2", "minilm") if fits else ("", "")
    said = f"{kind} {model}".strip()[:200]
    if _MINILM.fullmatch(model):
        return said, "minilm"
    if model and (kind in ("openai", "ollama") or model.startswith("text-embedding-")):
        return said, f"openai:{model}"
    return said, model if model in ("wordllama", "minilm", "minilm-int8") else ""
