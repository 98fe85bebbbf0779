"""A corpus as files: what a walk reads, paged out of the store once for each fingerprint.

A snapshot is a folder under `snapshots` in the data folder, named after its version and the
corpus's fingerprint, and so never stale: another content is another folder. It holds

- `matrix.npy`, the unit vectors, shape (n, d), float32, memory-mapped;
- `numbers.npy`, shape (n, 7), int64: document, position, start, end, page (-1: none), heading
  (an index) and begin of the text in
- `texts.bin`, the chunks' texts in UTF-8, one after the other in the order of arrival;
- `lengths.npy`, shape (n,), the bytes of each text;
- `headings.json`, the different heading paths.

It is built in a folder beside and renamed, so that it is there whole or not at all; of two
processes that build the same, the first wins. The names of documents are not in it, they come
from the record, since two corpora of one content share the files.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import uuid
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final, overload

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Chunk, Matrix
from tracert.errors import CorpusError, StoreError
from tracert.home import derived
from tracert.store.records import CorpusRecord, Page
from tracert.store.session import Session
from tracert.store.store import Store
from tracert.trace import CorpusInfo

VERSION: Final = 1
#: Chunks that are read out of a snapshot at once.
PAGE: Final = 5_000
#: A corpus may change between the reading of its record and of its files.
_TRIES: Final = 5
_MATRIX: Final = "matrix.npy"
_NUMBERS: Final = "numbers.npy"
_LENGTHS: Final = "lengths.npy"
_TEXTS: Final = "texts.bin"
_HEADINGS: Final = "headings.json"
_DOCUMENT, _POSITION, _START, _END, _PAGE, _HEADING, _BEGIN = range(7)


class Ids(Sequence[str]):
    """The chunk ids by row, made when asked for: `fingerprint[:12]:position`."""

    def __init__(self, fingerprints: Sequence[str], firsts: Sequence[int], size: int) -> None:
        self._fingerprints = [fingerprint[:12] for fingerprint in fingerprints]
        self._firsts = [int(first) for first in firsts]
        self._size = size
        self._row_of = dict(zip(self._fingerprints, firsts, strict=True))
        self._sizes = dict(zip(self._fingerprints, np.diff([*firsts, size]).tolist(), strict=True))

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(self._size))]
        row = int(row)
        if row < 0:
            row += self._size
        if not 0 <= row < self._size:
            raise IndexError(row)
        document = bisect_right(self._firsts, row) - 1
        return f"{self._fingerprints[document]}:{row - self._firsts[document]}"

    def row(self, id: str) -> int | None:
        """The row of a chunk id, or None where the corpus has no such chunk."""
        fingerprint, _, position = id.partition(":")
        first = self._row_of.get(fingerprint)
        if first is None or not position.isdecimal():
            return None
        return first + int(position) if int(position) < self._sizes[fingerprint] else None


class Snapshot:
    """A corpus open for reading; implements `tracert.corpus.model.Corpus`.

    Threads may share it. It goes on working when the corpus is changed or deleted meanwhile.
    """

    def __init__(self, record: CorpusRecord, folder: Path) -> None:
        """Open the files of `folder`.

        Raises:
            FileNotFoundError: the snapshot is not there (any more).
            StoreError: its files are damaged; `open_snapshot` makes them again.
        """
        self.record = record
        self._info = record.info
        self._fingerprints = [document.fingerprint for document in record.documents]
        self._names = [document.name for document in record.documents]
        self._firsts = _firsts(record)
        self._ids = Ids(self._fingerprints, self._firsts, record.size)
        try:
            # A view as a plain array: numpy's memmap class makes every slice slower.
            self._matrix = np.asarray(np.load(folder / _MATRIX, mmap_mode="r", allow_pickle=False))
            self._numbers = np.load(folder / _NUMBERS, allow_pickle=False)
            self._lengths = np.load(folder / _LENGTHS, allow_pickle=False)
            headings = json.loads((folder / _HEADINGS).read_bytes())
            with (folder / _TEXTS).open("rb") as file:
                # An empty file cannot be mapped.
                self._texts: mmap.mmap | bytes = (
                    mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if record.size else b""
                )
            self._headings = [tuple(heading) for heading in headings]
            self._check()
        except FileNotFoundError:
            raise
        except (OSError, ValueError, TypeError, EOFError) as error:
            raise StoreError(
                f"The snapshot of the corpus {record.name!r} is damaged. Delete the folder "
                "'snapshots' in the data folder; it is made again."
            ) from error

    def _check(self) -> None:
        """Whether the files are of the sizes that belong together.

        Raises:
            ValueError: they are not.
        """
        size = self.record.size
        shapes = (self._matrix.shape, self._numbers.shape, self._lengths.shape)
        if shapes != ((size, self.record.dimension), (size, 7), (size,)):
            raise ValueError(shapes)
        if int(self._lengths.sum()) != len(self._texts):
            raise ValueError(len(self._texts))
        if size and int(self._numbers[:, _HEADING].max()) >= len(self._headings):
            raise ValueError(len(self._headings))

    @property
    def info(self) -> CorpusInfo:
        """Name, fingerprint, embedder, dimension and size."""
        return self._info

    @property
    def ids(self) -> Ids:
        """The chunk ids by row."""
        return self._ids

    @property
    def matrix(self) -> Matrix:
        """The vectors by row, shape (n, d), float32, unit length, read-only."""
        return self._matrix

    @property
    def documents(self) -> npt.NDArray[np.int64]:
        """The index of the document of each row, shape (n,)."""
        column: npt.NDArray[np.int64] = self._numbers[:, _DOCUMENT]
        return column

    @property
    def places(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where the passage of each row begins and ends in its document, shapes (n,)."""
        return self._numbers[:, _START], self._numbers[:, _END]

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """The chunks of these rows, in the order asked."""
        wanted = np.asarray(rows, dtype=np.int64).reshape(-1)
        numbers = self._numbers[wanted].tolist()
        lengths = self._lengths[wanted].tolist()
        texts, names, headings = self._texts, self._names, self._headings
        fingerprints = self._fingerprints
        out = []
        for (document, position, start, end, page, heading, begin), length in zip(
            numbers, lengths, strict=True
        ):
            fingerprint = fingerprints[document]
            out.append(
                Chunk(
                    f"{fingerprint[:12]}:{position}",
                    str(texts[begin : begin + length], "utf-8"),
                    names[document],
                    fingerprint,
                    position,
                    None if page < 0 else page,
                    headings[heading],
                    start,
                    end,
                )
            )
        return out

    def rows_of(self, fingerprint: str) -> range:
        """The rows of one document.

        Raises:
            CorpusError: the corpus has no document of that fingerprint.
        """
        if fingerprint not in self._fingerprints:
            raise CorpusError(
                f"The corpus {self.record.name!r} has no document {fingerprint[:12]!r}. It may "
                "have been replaced; open the corpus again."
            )
        index = self._fingerprints.index(fingerprint)
        first = self._firsts[index]
        return range(first, first + self.record.documents[index].chunks)

    def document_chunks(self, fingerprint: str) -> list[Chunk]:
        """All chunks of one document, in order.

        Raises:
            CorpusError: the corpus has no document of that fingerprint.
        """
        return self.chunks(self.rows_of(fingerprint))

    def document_text(self, fingerprint: str) -> str:
        """The whole text of one document, put together from its chunks.

        Chunks cover the text and overlap; each adds what lies beyond the one before.

        Raises:
            CorpusError: the corpus has no document of that fingerprint.
        """
        return text_of(self.document_chunks(fingerprint))


def text_of(chunks: Iterable[Chunk]) -> str:
    """The text that these chunks of one document, in order, cover.

    Ours leave no gap. What another program cut may; a gap is filled with ends of lines.
    """
    pieces: list[str] = []
    reached = 0
    for chunk in chunks:
        if chunk.start > reached:
            pieces.append("\n" * (chunk.start - reached))
            reached = chunk.start
        if chunk.end > reached:
            pieces.append(chunk.text[reached - chunk.start :])
            reached = chunk.end
    return "".join(pieces)


def folder_of(root: Path, fingerprint: str) -> Path:
    """Where the snapshot of that corpus fingerprint lies."""
    return root / f"v{VERSION}-{fingerprint[:40]}"


def build(record: CorpusRecord, pages: Iterable[Page], root: Path) -> None:
    """Write the snapshot of a record from its chunks, in whatever order they come.

    Raises:
        StoreError: the chunks are not those that the record names, or the disk is full.
    """
    final = folder_of(root, record.fingerprint)
    work = root / f".making-{uuid.uuid4().hex}"
    try:
        work.mkdir(parents=True)
        _write(record, pages, work)
        try:
            work.rename(final)
        except OSError:
            # Another process was first; its files hold the same.
            if not final.is_dir():
                raise
    except OSError as error:
        raise StoreError(
            f"The snapshot of {record.name!r} cannot be written ({error.strerror}). Make room "
            "in the data folder or set TRACERT_HOME to another one."
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def open_snapshot(store: Store, name: str) -> Snapshot:
    """The corpus of that name as it is now, its snapshot made if it is not there or damaged.

    Raises:
        CorpusError: there is no such corpus.
        StoreError: the store cannot be read.
    """
    root = root_of(store)
    damage: StoreError | None = None
    for _ in range(_TRIES):
        record = store.corpus(name)
        try:
            return Snapshot(record, folder_of(root, record.fingerprint))
        except (FileNotFoundError, StoreError) as error:
            damage = error if isinstance(error, StoreError) else None
            try:
                with store.session() as session:
                    refresh(store, session, name)
            except StoreError:
                # On a server another machine may have replaced the corpus while it was read.
                if store.corpus(name) == record:
                    raise
    raise damage or StoreError(
        f"The corpus {name!r} changes faster than it can be read. Wait until the indexing is done."
    )


def refresh(
    store: Store, session: Session, name: str, *, before: CorpusRecord | None = None
) -> None:
    """Make the snapshot of a corpus and remove those of no corpus; call it in a session.

    `before` is the corpus as it was: what its snapshot holds need not come out of the store.
    """
    root = root_of(store)
    record = store.corpus(name)
    if _opened(root, record) is None:
        # What is there all the same is damaged.
        shutil.rmtree(folder_of(root, record.fingerprint), ignore_errors=True)
        old = _opened(root, before)
        kept = {d.fingerprint for d in old.record.documents} if old is not None else set()
        new = tuple(d for d in record.documents if d.fingerprint not in kept)
        pages = session.pages(replace(record, documents=new))
        if old is not None:
            same = [d.fingerprint for d in record.documents if d.fingerprint in kept]
            pages = chain(_pages_of(old, same), pages)
        build(record, pages, root)
    prune(store)


def _opened(root: Path, record: CorpusRecord | None) -> Snapshot | None:
    """The snapshot of that state of a corpus, if it is there."""
    if record is None:
        return None
    try:
        return Snapshot(record, folder_of(root, record.fingerprint))
    except (FileNotFoundError, StoreError):
        return None


def _pages_of(snapshot: Snapshot, fingerprints: Iterable[str]) -> Iterator[Page]:
    """The chunks of these documents with their vectors; the marks are not in a snapshot."""
    for fingerprint in fingerprints:
        rows = snapshot.rows_of(fingerprint)
        for first in range(rows.start, rows.stop, PAGE):
            some = range(first, min(first + PAGE, rows.stop))
            chunks = snapshot.chunks(some)
            yield Page(chunks, snapshot.matrix[some.start : some.stop], [()] * len(chunks))


def root_of(store: Store) -> Path:
    """The folder of all snapshots of a store."""
    return store.path / "snapshots"


def prune(store: Store) -> None:
    """Remove the snapshots of no corpus, and what was derived from them; call it in a session.

    Who has a snapshot open keeps it.
    """
    records = store.everyones()
    snapshots = [folder_of(root_of(store), record.fingerprint) for record in records]
    made = [derived(store.path, record.fingerprint) for record in records]
    for root, kept in ((root_of(store), snapshots), (derived(store.path), made)):
        for folder in root.iterdir() if root.is_dir() else ():
            if folder not in kept:
                shutil.rmtree(folder, ignore_errors=True)


def _firsts(record: CorpusRecord) -> list[int]:
    firsts, row = [], 0
    for document in record.documents:
        firsts.append(row)
        row += document.chunks
    return firsts


def _write(record: CorpusRecord, pages: Iterable[Page], folder: Path) -> None:
    size = record.size
    matrix = _new_matrix(folder / _MATRIX, size, record.dimension)
    numbers = np.zeros((size, 7), dtype=np.int64)
    lengths = np.zeros(size, dtype=np.int64)
    seen = np.zeros(size, dtype=bool)
    headings: dict[tuple[str, ...], int] = {}
    firsts = dict(zip((d.fingerprint for d in record.documents), _firsts(record), strict=True))
    index = {d.fingerprint: i for i, d in enumerate(record.documents)}
    with (folder / _TEXTS).open("wb") as texts:
        begin = 0
        for page in pages:
            rows = [firsts[c.document_fingerprint] + c.position for c in page.chunks]
            if max(rows, default=0) >= size or page.vectors.shape[1] != record.dimension:
                raise _mismatch(record)
            matrix[rows] = page.vectors
            seen[rows] = True
            for row, chunk in zip(rows, page.chunks, strict=True):
                text = chunk.text.encode()
                numbers[row] = (
                    index[chunk.document_fingerprint],
                    chunk.position,
                    chunk.start,
                    chunk.end,
                    -1 if chunk.page is None else chunk.page,
                    headings.setdefault(chunk.heading_path, len(headings)),
                    begin,
                )
                lengths[row] = len(text)
                begin += len(text)
                texts.write(text)
        texts.flush()
        os.fsync(texts.fileno())
    if not seen.all():
        raise _mismatch(record)
    if isinstance(matrix, np.memmap):
        matrix.flush()
    np.save(folder / _NUMBERS, numbers, allow_pickle=False)
    np.save(folder / _LENGTHS, lengths, allow_pickle=False)
    (folder / _HEADINGS).write_text(json.dumps(list(headings)), encoding="utf-8")


def _new_matrix(path: Path, size: int, dimension: int) -> Matrix:
    if size == 0:
        empty = np.zeros((0, dimension), dtype=np.float32)
        np.save(path, empty, allow_pickle=False)
        return empty
    return np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(size, dimension))


def _mismatch(record: CorpusRecord) -> StoreError:
    return StoreError(
        f"The store holds other chunks of {record.name!r} than its manifest names. Index its "
        "documents again with 'replace'."
    )
