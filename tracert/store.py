"""The store: chunks and vectors of every corpus in Chroma, written so that a crash shows nothing.

A corpus is one *head* and some *parts*, all of them Chroma collections. A part holds chunks with
their vectors and is never changed once it is filled; the head holds no vectors, only, as its
metadata, the manifest: name, embedder, chunking and the documents in order, each with the part
that its chunks lie in. A write fills new parts first and then changes the head by one `modify`,
which is one transaction: that is the commit. Whoever reads the head before it sees the old corpus
whole, whoever reads it after sees the new one whole. Parts that no head names are the leavings of
a crash or of a replaced document; the next write sweeps them. In Chroma Cloud, where metadata are
short, the manifest is a collection of its own, as unchanging as a part, and the head names it.

Parts are never changed because the embedded Chroma keeps vectors in an index of plain files that
another process may read half-written: with chromadb 1.5.9 a reader beside a writer on the same
collection failed ("Error finding id") or ended in a segmentation fault, while the metadata, in
SQLite, was always whole and fresh. So metadata is read at any time by one client, and vectors are
read and written only under the store's file lock, by a client of their own that is closed before
the lock is given back.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import shutil
import sqlite3
import time
import unicodedata
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tracert.chroma import CLOUD_DOCUMENT_BYTES, ROWS, errors, every_collection, place_of
from tracert.corpus.chunking import Chunking
from tracert.corpus.model import Chunk, Mark
from tracert.errors import CancelledError, CorpusError, StoreError
from tracert.home import home
from tracert.hosting import Room, expires
from tracert.inputs import source_of
from tracert.recent import Recent
from tracert.trace import CorpusInfo

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

#: Chunks that are read out of a snapshot at once.
PAGE: Final = ROWS
#: Rows written at once, so that progress moves, a cancel is heard and no request to a server
#: grows beyond some megabytes; more at once is hardly faster.
BATCH: Final = 1_000
MAX_NAME: Final = 200
_FORMAT: Final = "tracert.store/1"
#: Names, in the metadata of a head, the collection that holds its manifest.
_APART: Final = "manifest_in"
_TRIES: Final = 5
#: On a server another machine may be writing: its parts are swept only after this long.
_ABANDONED_SECONDS: Final = 24 * 3600

Cancelled = Callable[[], bool]
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
    parts = [_FORMAT, identity, json.dumps(asdict(chunking), sort_keys=True), *documents]
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


def check_name(name: str) -> str:
    """The name of a corpus without outer blanks, its letters composed (Unicode's form NFC).

    Raises:
        CorpusError: it is empty, too long or has control characters.
    """
    name = _regular(name)
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise CorpusError(
            f"A corpus cannot be called {name[:40]!r}. Pass a name of 1 to {MAX_NAME} printable "
            "characters."
        )
    return name


def _regular(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip()


class Store:
    """All corpora of one data folder, or of one Chroma server.

    Threads may share an instance and processes may share a folder. `path` is the data folder;
    `CHROMA_URL` moves chunks and vectors to a Chroma server and `CHROMA_API_KEY` to Chroma
    Cloud, with `CHROMA_TENANT` and `CHROMA_DATABASE`.

    A store is opened as one owner, the host unless `owned_by` says otherwise. It shows what that
    owner and what the host has, and changes what that owner has: of anybody else's corpus it says
    that there is none.
    """

    def __init__(self, path: Path | None = None) -> None:
        # An absolute path, so that all clients of this process agree on which store it is.
        self.path = (home() if path is None else path).absolute()
        self._place = place_of(self.path)
        self.owner = ""
        self._room: Room | None = None
        self._reader: Client | None = None
        self._manifests: Recent[str] = Recent(256)
        self._opening = Lock()

    def owned_by(self, owner: str, room: Room | None = None) -> Store:
        """The same store as that owner has it, who may fill that room."""
        other = copy.copy(self)
        other.owner, other._room = owner, room
        return other

    # --- reading: the metadata alone, fresh at every call --------------------------------

    def corpora(self) -> list[CorpusRecord]:
        """Every committed corpus of this owner and of the host, by name, one's own first.

        Raises:
            StoreError: the store cannot be read.
        """
        seen = [each for each in self.everyones() if each.owner in ("", self.owner)]
        return sorted(seen, key=lambda each: (each.name.casefold(), not each.owner))

    def everyones(self) -> list[CorpusRecord]:
        """Every committed corpus of whatever owner: for what is cleaned up, never for a page."""
        return self._heads(self._metadata_client())

    def find(self, name: str) -> CorpusRecord | None:
        """The corpus of that name, or None."""
        wanted = _regular(name)
        return next((each for each in self.corpora() if _regular(each.name) == wanted), None)

    def corpus(self, name: str) -> CorpusRecord:
        """The corpus of that name.

        Raises:
            CorpusError: there is none; the text names those that exist.
        """
        record = self.find(name)
        if record is not None:
            return record
        names = ", ".join(repr(each.name) for each in self.corpora()[:8]) or "none"
        raise CorpusError(
            f"There is no corpus {name!r}. Index documents under that name or ask one that "
            f"exists: {names}."
        )

    def check_mine(self, record: CorpusRecord) -> None:
        """Refuse what another owner has: a visitor reads the host's corpora and no more.

        Raises:
            CorpusError: it is not this owner's.
        """
        if record.owner != self.owner:
            raise CorpusError(
                f"{record.name!r} belongs to the host of this app, for everyone to read. Load "
                "your documents under another name."
            )

    def check_room(self, name: str, passages: int) -> None:
        """Refuse a corpus of that name and size where it does not fit any more.

        Raises:
            CorpusError: the owner has too many corpora or passages, or all owners have.
        """
        if self._room is None:
            return
        wanted = _regular(name)
        visitors = [
            each
            for each in self.everyones()
            if each.owner and (each.owner, _regular(each.name)) != (self.owner, wanted)
        ]
        own = [each for each in visitors if each.owner == self.owner]
        if len(own) + 1 > self._room.corpora:
            raise CorpusError(
                f"In this app you may have {self._room.corpora} corpora at once. Delete one of "
                "yours in the Library first."
            )
        if sum(each.size for each in own) + passages > self._room.passages:
            raise CorpusError(
                f"In this app you may have {self._room.passages:,} passages at once, and this "
                "would be more. Load less, or delete a corpus of yours in the Library first."
            )
        if sum(each.size for each in visitors) + passages > self._room.all_passages:
            raise CorpusError(
                "The room of this app for its visitors' documents is used up. Come back later, "
                "or run Tracert on your own machine."
            )

    def tidy(self) -> int:
        """Sweep what a write left that was ended in the middle; how many collections that were.

        0, too, while somebody writes: what is half-made then is in hand.
        """
        if not self._unnamed(self._metadata_client()):
            return 0
        try:
            with self.session(cancelled=lambda: True) as session:
                return session.sweep()
        except CancelledError:
            return 0

    def expire(self, before: float) -> int:
        """Delete the corpora of browser sessions that were last changed before then; how many.

        `before` is in seconds since 1970.
        """
        old = [each for each in self.everyones() if expires(each.owner) and each.changed < before]
        if old:
            with self.session() as session:
                for record in old:
                    session.remove(record)
        return len(old)

    # --- under the lock: vectors, and every change ---------------------------------------

    @contextmanager
    def session(self, cancelled: Cancelled | None = None) -> Iterator[Session]:
        """The store for oneself: one session at a time over all threads and processes.

        Raises:
            CancelledError: `cancelled` said so while another session was awaited.
            StoreError: the store cannot be reached.
        """
        with self._lock(cancelled):
            with self._errors():
                client = self._place.open(apart=True)
            try:
                yield Session(self, client, embedded=self._place.embedded)
            finally:
                client.close()

    def rename(self, name: str, new: str) -> CorpusRecord:
        """Give a corpus another name.

        Raises:
            CorpusError: there is no such corpus, or the new name is taken or unfit.
        """
        new = check_name(new)
        with self.session() as session:
            record = self.corpus(name)
            self.check_mine(record)
            if new == record.name:
                return record
            if self.find(new) not in (None, record):
                raise CorpusError(f"There is a corpus {new!r} already. Choose another name.")
            return session.commit(replace(record, name=new))

    # --- inner ----------------------------------------------------------------------------

    def _metadata_client(self) -> Client:
        with self._opening, self._errors():
            if self._reader is None:
                self._reader = self._place.open(apart=False)
            return self._reader

    def _heads(self, client: Client) -> list[CorpusRecord]:
        from chromadb.errors import NotFoundError

        with self._errors():
            for attempt in range(_TRIES):
                try:
                    return list(self._read_heads(client))
                except NotFoundError:
                    # A manifest that lies apart went with a commit after its head was read.
                    if attempt == _TRIES - 1:
                        raise
        return []

    def _read_heads(self, client: Client) -> Iterator[CorpusRecord]:
        for collection in every_collection(client):
            metadata = collection.metadata or {}
            if not is_ours(collection):
                continue
            if metadata.get("manifest"):
                yield _read_manifest(collection.name, str(metadata["manifest"]))
            elif metadata.get(_APART):
                name = str(metadata[_APART])
                text = self._manifests.get(name, partial(self._apart, client, name))
                yield _read_manifest(collection.name, text)

    def _apart(self, client: Client, name: str) -> str:
        """The manifest that lies in a collection of its own, which never changes."""
        collection = client.get_collection(name, embedding_function=None)
        pieces: dict[str, str] = {}
        for first in range(0, collection.count(), self._place.rows):
            some = collection.get(limit=self._place.rows, offset=first, include=["documents"])
            pieces |= zip(some["ids"], some["documents"] or [], strict=True)
        return "".join(pieces[id] for id in sorted(pieces))

    def _unnamed(self, client: Client) -> list[Collection]:
        """The collections of ours that no corpus names and nobody is filling now."""
        named: set[str] = set()
        for record in self._heads(client):
            named |= {record.id, *record.parts}
        with self._errors():
            collections = list(every_collection(client))
        named |= {str((each.metadata or {}).get(_APART)) for each in collections}
        found = []
        for each in collections:
            metadata = each.metadata or {}
            if not is_ours(each) or each.name in named:
                continue
            age = time.time() - float(metadata.get("created", 0.0))
            if self._place.embedded or age > _ABANDONED_SECONDS or metadata.get("owner") == _OWNER:
                found.append(each)
        return found

    @contextmanager
    def _lock(self, cancelled: Cancelled | None) -> Iterator[None]:
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / "store.lock", thread_local=False)
        while True:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                lock.acquire(timeout=0.25)
                break
            except Timeout:
                if cancelled is not None and cancelled():
                    raise CancelledError("Cancelled while another write was awaited.") from None
            except OSError as error:
                raise StoreError(
                    f"Nothing can be written to the data folder ({error.strerror}). Make room, "
                    "allow writing, or set TRACERT_HOME to another folder."
                ) from error
        try:
            yield
        finally:
            lock.release()

    def _errors(self) -> AbstractContextManager[None]:
        return errors(self._place)


class Session:
    """The store while one holds its lock. Made by `Store.session`."""

    def __init__(self, store: Store, client: Client, *, embedded: bool) -> None:
        self._store = store
        self._client = client
        self._embedded = embedded
        with store._errors():
            limit = client.get_max_batch_size()
        self._batch = min(BATCH, limit, store._place.rows)

    def fill(
        self,
        page: Page,
        *,
        on_stored: Callable[[int], None] | None = None,
        cancelled: Cancelled | None = None,
    ) -> str:
        """A new part with the chunks of this page; its name.

        Nothing shows before `commit` names the part. A cancelled or failed part is deleted.

        Raises:
            CancelledError: `cancelled` said so.
            StoreError: Chroma refused.
        """
        with self._store._errors():
            part = self._create("part")
        try:
            for first in range(0, len(page.chunks), self._batch):
                if cancelled is not None and cancelled():
                    raise CancelledError("Cancelled; nothing half-made was kept.")
                last = first + self._batch
                some = page.chunks[first:last]
                with self._store._errors():
                    part.add(
                        ids=[chunk.id for chunk in some],
                        embeddings=page.vectors[first:last],
                        documents=[chunk.text for chunk in some],
                        metadatas=[
                            _to_metadata(chunk, marks)
                            for chunk, marks in zip(some, page.marks[first:last], strict=True)
                        ],
                    )
                if on_stored is not None:
                    on_stored(first + len(some))
        except BaseException:
            with self._store._errors():
                self._client.delete_collection(part.name)
            raise
        return str(part.name)

    def commit(self, record: CorpusRecord) -> CorpusRecord:
        """Make the record the truth by one change of its head, then sweep what it left behind.

        An empty `id` makes a new corpus. The corpus is the store's owner's, then and before.

        Raises:
            CorpusError: it belongs to another owner, or there is no room for it.
        """
        owner = self._store.owner
        there = [each for each in self._store._heads(self._client) if each.id == record.id]
        for each in there:
            self._store.check_mine(each)
        if not there or record.size > there[0].size:
            self._store.check_room(there[0].name if there else record.name, record.size)
        record = replace(record, owner=owner)
        with self._store._errors():
            if record.id:
                head = self._client.get_collection(record.id, embedding_function=None)
            else:
                head = self._create("head")
                record = replace(record, id=head.name)
            record = replace(record, changed=time.time())
            if self._store._place.narrow:
                manifest = {_APART: self._set_apart(_write_manifest(record, ascii=True))}
            else:
                manifest = {"manifest": _write_manifest(record)}
            head.modify(metadata={"tracert": _FORMAT, **manifest})
        self.sweep()
        return record

    def _set_apart(self, text: str) -> str:
        """A new collection with the manifest, for a place whose metadata are short; its name."""
        size = CLOUD_DOCUMENT_BYTES
        pieces = [text[first : first + size] for first in range(0, len(text), size)]
        apart = self._create("manifest")
        for first in range(0, len(pieces), self._batch):
            some = pieces[first : first + self._batch]
            apart.add(
                ids=[f"{first + at:09}" for at in range(len(some))],
                documents=some,
                embeddings=np.ones((len(some), 1), dtype=np.float32),
            )
        return str(apart.name)

    def delete(self, record: CorpusRecord) -> None:
        """Delete a corpus of this owner's.

        Raises:
            CorpusError: it belongs to another owner.
        """
        self._store.check_mine(record)
        self.remove(record)

    def remove(self, record: CorpusRecord) -> None:
        """Delete a corpus: its head first, so that it is gone at once, then its parts."""
        with self._store._errors():
            self._client.delete_collection(record.id)
        self.sweep()

    def pages(self, record: CorpusRecord) -> Iterator[Page]:
        """The chunks of a corpus with their vectors, page by page, each chunk once.

        Raises:
            StoreError: a part is gone or holds other rows than the manifest says.
        """
        wanted = {(d.part, d.fingerprint): d for d in record.documents}
        for name in record.parts:
            with self._store._errors():
                part = self._client.get_collection(name, embedding_function=None)
                size = part.count()
            most = self._store._place.rows
            for first in range(0, size, most):
                with self._store._errors():
                    rows = part.get(
                        limit=most, offset=first, include=["embeddings", "documents", "metadatas"]
                    )
                page = _page_from_rows(rows, name, wanted)
                if page.chunks:
                    yield page

    def sweep(self) -> int:
        """Delete every collection of ours that no corpus names; how many that were.

        On a server, where another machine may be in the middle of a write, only what has
        lain there for a day.
        """
        unnamed = self._store._unnamed(self._client)
        with self._store._errors():
            for collection in unnamed:
                self._client.delete_collection(collection.name)
            if unnamed and self._embedded:
                _remove_index_folders(self._store.path / "store")
        return len(unnamed)

    def _create(self, role: str) -> Collection:
        return self._client.create_collection(
            f"tracert-{role}-{uuid.uuid4().hex}",
            metadata={"tracert": _FORMAT, "owner": _OWNER, "created": time.time()},
            configuration={"hnsw": {"space": "ip"}},
            embedding_function=None,
        )


#: This process, so that on a server it sweeps its own leavings and no other's.
_OWNER: Final = uuid.uuid4().hex


# --- to and from Chroma -------------------------------------------------------------------


def is_ours(collection: Collection) -> bool:
    """Whether a collection is a head or a part of ours."""
    return (collection.metadata or {}).get("tracert") == _FORMAT


def _remove_index_folders(folder: Path) -> None:
    """Remove the vector indices of deleted collections, which chromadb 1.5.9 leaves lying."""
    with closing(
        sqlite3.connect(f"{(folder / 'chroma.sqlite3').as_uri()}?mode=ro", uri=True)
    ) as db:
        segments = {id for (id,) in db.execute("SELECT id FROM segments")}
    for inner in folder.iterdir():
        if inner.is_dir() and _UUID.fullmatch(inner.name) and inner.name not in segments:
            shutil.rmtree(inner, ignore_errors=True)


_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _write_manifest(record: CorpusRecord, *, ascii: bool = False) -> str:
    data = asdict(record)
    del data["id"]
    for name in ("origin", "owner"):
        if not data[name]:
            del data[name]
    return json.dumps(data, ensure_ascii=ascii, separators=(",", ":"))


@lru_cache(maxsize=256)
def _read_manifest(id: str, text: str) -> CorpusRecord:
    try:
        data = json.loads(text)
        data["chunking"] = Chunking(**data["chunking"])
        data["documents"] = tuple(
            DocumentRecord(**{**document, "source": _without_path(document.get("source", ""))})
            for document in data["documents"]
        )
        return CorpusRecord(id=id, **data)
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError(
            "The store holds a corpus that this version cannot read. Delete the folder 'store' "
            "in the data folder and index again."
        ) from error


def _without_path(source: str) -> str:
    """The source as it is written now; older manifests hold whole paths."""
    whole = PurePosixPath(source).is_absolute() or PureWindowsPath(source).is_absolute()
    return source_of(source) if whole else source


def _to_metadata(chunk: Chunk, marks: tuple[Mark, ...]) -> dict[str, str | int]:
    metadata: dict[str, str | int] = {
        "document": chunk.document_fingerprint,
        "name": chunk.document,
        "position": chunk.position,
        "start": chunk.start,
        "end": chunk.end,
        "heading": json.dumps(chunk.heading_path, ensure_ascii=False),
    }
    if chunk.page is not None:
        metadata["page"] = chunk.page
    if marks:
        metadata["marks"] = json.dumps([astuple(mark) for mark in marks], ensure_ascii=False)
    return metadata


def _page_from_rows(rows: Any, part: str, wanted: dict[tuple[str, str], DocumentRecord]) -> Page:
    chunks: list[Chunk] = []
    marks: list[tuple[Mark, ...]] = []
    kept: list[int] = []
    for row, (id, text, metadata) in enumerate(
        zip(rows["ids"], rows["documents"], rows["metadatas"], strict=True)
    ):
        document = wanted.get((part, metadata["document"]))
        if document is None:
            continue
        kept.append(row)
        chunks.append(
            Chunk(
                id=id,
                text=text,
                document=document.name,
                document_fingerprint=document.fingerprint,
                position=metadata["position"],
                page=metadata.get("page"),
                heading_path=tuple(json.loads(metadata["heading"])),
                start=metadata["start"],
                end=metadata["end"],
            )
        )
        marks.append(
            tuple(
                Mark(start, page, tuple(heading))
                for start, page, heading in json.loads(metadata.get("marks", "[]"))
            )
        )
    vectors = np.asarray(rows["embeddings"], dtype=np.float32)
    return Page(chunks, vectors[kept] if len(kept) < len(vectors) else vectors, marks)
