"""Files into a corpus: read, chunk, embed, store, with a report a file and nothing half-made.

Reading, chunking and embedding take the time and need no lock; the store is locked only while
the chunks are written and the manifest is committed. What was embedded for a corpus that someone
else changed meanwhile is fitted to its new state, so two who add to one corpus at once both get
their documents in.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import Any, Final, Literal

import numpy as np

from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import Limits
from tracert.corpus.model import Chunk, Document, Mark
from tracert.embedding.base import Embedder
from tracert.embedding.registry import embedder as embedder_by_name
from tracert.errors import CancelledError, CorpusError
from tracert.inputs import File, Input
from tracert.merging import Place, merge
from tracert.reading import Read
from tracert.reading import read as read_files
from tracert.snapshot import prune, refresh, text_of
from tracert.store.records import CorpusRecord, DocumentRecord, Page, check_name
from tracert.store.session import Session
from tracert.store.store import Store
from tracert.vectoring import vectors_of

__all__ = [
    "DEFAULT_EMBEDDER",
    "SCHEMA",
    "STAGES",
    "Cancelled",
    "File",
    "FileReport",
    "IndexReport",
    "Input",
    "OnProgress",
    "Progress",
    "Stage",
    "Status",
    "delete",
    "index",
    "reindex",
    "remove_document",
    "stored_document",
]

SCHEMA: Final = "tracert.index/1"
DEFAULT_EMBEDDER: Final = "wordllama"

Stage = Literal["read", "chunk", "embed", "store"]
STAGES: Final[tuple[Stage, ...]] = ("read", "chunk", "embed", "store")
Status = Literal["indexed", "partial", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage is: `done` of `total` (files, then chunks), and the seconds it still needs.

    `seconds_left` is this stage's, from its own pace; None before there is a pace. `item` is the
    file at hand, and before anything is sent out to be embedded a sentence on what that costs.
    """

    stage: Stage
    done: int
    total: int
    seconds_left: float | None
    item: str = ""


OnProgress = Callable[[Progress], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file; `message` is a sentence for the person, empty where all is well.

    `locked` tells that it was refused for want of its password.
    """

    path: str
    status: Status
    kind: str | None
    pages: int | None
    chunks: int
    message: str = ""
    locked: bool = False


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an indexing did. `chunks` is the size of the corpus after it."""

    corpus: str
    embedder: str
    chunks: int
    files: tuple[FileReport, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether anything was indexed or was there already."""
        return any(file.status != "refused" for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON, schema `tracert.index/1`."""
        return {
            "schema": SCHEMA,
            "corpus": self.corpus,
            "embedder": self.embedder,
            "chunks": self.chunks,
            "files": [
                {
                    "path": file.path,
                    "status": file.status,
                    "kind": file.kind,
                    "pages": file.pages,
                    "chunks": file.chunks,
                    "message": file.message,
                }
                for file in self.files
            ],
            "seconds": {stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
        }


def index(
    files: Sequence[Input],
    *,
    store: Store,
    name: str,
    chunking: Chunking | None = None,
    embedder: Embedder | str | None = None,
    replace: bool = False,
    limits: Limits | None = None,
    passwords: Mapping[str, str] | None = None,
    on_progress: OnProgress | None = None,
    cancelled: Cancelled | None = None,
) -> IndexReport:
    """Add files to the corpus of that name, which is made if there is none.

    A file that is in already changes nothing. One that comes again with another content takes
    its old place (`tracert.merging`). One that cannot be read is refused and the others go on. A
    folder, and a zip, stands for the files in it of the kinds that can be read.

    Args:
        files: uploads, or paths of files and folders.
        store: where the corpus lies.
        name: free text.
        chunking: unless given, as the corpus has it, or 500 and 100 characters for a new one.
        embedder: unless given, as the corpus has it, or WordLlama for a new one.
        replace: these files become the whole corpus, with this chunking and embedder.
        limits: how much of a file is read; unless given, as the environment says.
        passwords: passwords of encrypted files by their path in the report, '' for all others.
        on_progress: called on this thread, by stage.
        cancelled: asked between pieces of work, and many times a second while a file is read.

    Raises:
        CancelledError: `cancelled` said so; the corpus is as before.
        CorpusError: the corpus has another chunking or embedder than asked for.
        EmbedderError: the embedder is unknown or failed.
        StoreError: the store cannot be used.
    """
    name = check_name(name)
    existing = store.find(name)
    if existing is not None:
        store.owner.check_mine(existing)
    plan = _plan(existing, chunking, embedder, replace=replace)
    watch = _Watch(on_progress, cancelled)
    watch.begin("read", 0)
    read = read_files(
        files,
        limits=limits,
        passwords=passwords,
        on_read=watch.of,
        cancelled=cancelled,
    )
    watch.end()
    return _report(read, name, plan, existing, store, watch)


def reindex(
    *,
    store: Store,
    name: str,
    chunking: Chunking | None = None,
    embedder: Embedder | str | None = None,
    on_progress: OnProgress | None = None,
    cancelled: Cancelled | None = None,
) -> IndexReport:
    """Cut and embed a corpus anew, from the texts in the store: the files are not needed.

    Raises:
        CancelledError: `cancelled` said so; the corpus is as before.
        CorpusError: there is no such corpus.
        EmbedderError: the embedder is unknown or failed.
        StoreError: the store cannot be used.
    """
    existing = store.corpus(name)
    store.owner.check_mine(existing)
    plan = _plan(
        existing, chunking or existing.chunking, embedder or existing.embedder, replace=True
    )
    watch = _Watch(on_progress, cancelled)
    watch.begin("read", len(existing.documents))
    with store.session(cancelled) as session:
        existing = store.corpus(name)
        documents = _rebuild(existing, session.pages(existing))
    watch.end()
    sources = {entry.fingerprint: entry.source for entry in existing.documents}
    read = [Read(each.name, each, (each.name,), sources[each.fingerprint]) for each in documents]
    return _report(read, name, plan, existing, store, watch)


def remove_document(fingerprint: str, *, store: Store, name: str) -> CorpusRecord:
    """Take one document out of a corpus.

    Raises:
        CorpusError: there is no such corpus or document, or it is the corpus's last one.
    """
    with store.session() as session:
        record = store.corpus(name)
        left = tuple(d for d in record.documents if d.fingerprint != fingerprint)
        if len(left) == len(record.documents):
            raise CorpusError(f"The corpus {name!r} has no such document. Open it again.")
        if not left:
            raise CorpusError(
                f"This is the last document of {name!r}. Delete the corpus to remove it."
            )
        fewer = session.commit(changed(record, documents=left))
        refresh(store, session, name, before=record)
        return fewer


def delete(*, store: Store, name: str) -> None:
    """Delete a corpus and the texts and vectors kept beside it.

    Raises:
        CorpusError: there is no such corpus.
    """
    with store.session() as session:
        session.delete(store.corpus(name))
        prune(store)


# --- what will be done --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Plan:
    embedder: Embedder
    chunking: Chunking
    replace: bool

    def fits(self, record: CorpusRecord) -> bool:
        """Whether chunks of that corpus are as this plan would make them."""
        return record.identity == self.embedder.identity and record.chunking == self.chunking

    def reusable(self, record: CorpusRecord | None) -> tuple[DocumentRecord, ...]:
        """The documents of that corpus whose chunks can stay as they are."""
        return record.documents if record is not None and self.fits(record) else ()

    def check(self, record: CorpusRecord | None) -> None:
        """Raise a `CorpusError` if the corpus cannot take what this plan makes."""
        if self.replace or record is None or self.fits(record):
            return
        have = f"{_in_words(record.chunking)} and the embedder {record.embedder!r}"
        want = f"{_in_words(self.chunking)} and {self.embedder.name!r}"
        raise CorpusError(
            f"The corpus {record.name!r} has {have}, not {want}. Index with its own settings, "
            "under another name, or replace it."
        )


def _plan(
    existing: CorpusRecord | None,
    chunking: Chunking | None,
    embedder: Embedder | str | None,
    *,
    replace: bool,
) -> _Plan:
    kept = None if replace else existing
    chosen = embedder or (kept.embedder if kept else DEFAULT_EMBEDDER)
    plan = _Plan(
        embedder=embedder_by_name(chosen) if isinstance(chosen, str) else chosen,
        chunking=chunking or (kept.chunking if kept else Chunking()),
        replace=replace,
    )
    plan.check(existing)
    return plan


def _in_words(chunking: Chunking) -> str:
    snapped = " at sentences" if chunking.sentences else ""
    return f"chunks of {chunking.size} characters with {chunking.overlap} shared{snapped}"


# --- documents that are there -------------------------------------------------------------


def stored_document(fingerprint: str, *, store: Store, name: str) -> Document:
    """A document of a corpus as it was loaded, with its pages and headings.

    Raises:
        CorpusError: there is no such corpus or document.
        StoreError: the store cannot be used.
    """
    with store.session() as session:
        record = store.corpus(name)
        documents = _rebuild(record, session.pages(record))
    found = next((one for one in documents if one.fingerprint == fingerprint), None)
    if found is None:
        raise CorpusError(f"The corpus {name!r} has no such document. Choose one that it lists.")
    return found


def _rebuild(record: CorpusRecord, pages: Iterable[Page]) -> list[Document]:
    """The documents of a corpus from its chunks, in order."""
    found: dict[str, list[tuple[Chunk, tuple[Mark, ...]]]] = {}
    for page in pages:
        for chunk_, marks in zip(page.chunks, page.marks, strict=True):
            found.setdefault(chunk_.document_fingerprint, []).append((chunk_, marks))
    documents = []
    for document in record.documents:
        rows = sorted(found[document.fingerprint], key=lambda row: row[0].position)
        documents.append(
            Document(
                name=document.name,
                kind=document.kind,
                text=text_of(chunk_ for chunk_, _ in rows),
                marks=tuple(mark for _, marks in rows for mark in marks),
                fingerprint=document.fingerprint,
                pages=document.pages,
            )
        )
    return documents


# --- chunk, embed, store ------------------------------------------------------------------


#: What became of each file: its status and a sentence, in the order of the files.
_Statuses = list[tuple[Status, str]]


def _report(
    read: Sequence[Read],
    name: str,
    plan: _Plan,
    existing: CorpusRecord | None,
    store: Store,
    watch: _Watch,
) -> IndexReport:
    """Put what was read into the corpus and tell what became of each file."""
    record, statuses = _add(read, name, plan, existing, store, watch)
    chunks = {each.fingerprint: each.chunks for each in record.documents} if record else {}
    files = []
    for each, (status, message) in zip(read, statuses, strict=True):
        document = each.document
        if document is None:
            files.append(FileReport(each.path, status, None, None, 0, message, each.locked))
        else:
            size = chunks.get(document.fingerprint, 0)
            files.append(
                FileReport(each.path, status, document.kind, document.pages, size, message)
            )
    return IndexReport(
        corpus=name,
        embedder=plan.embedder.name,
        chunks=record.size if record else 0,
        files=tuple(files),
        seconds=watch.seconds,
    )


def _add(
    read: Sequence[Read],
    name: str,
    plan: _Plan,
    existing: CorpusRecord | None,
    store: Store,
    watch: _Watch,
) -> tuple[CorpusRecord | None, _Statuses]:
    """The corpus with these documents in it, and what became of each file."""
    known = {d.fingerprint for d in plan.reusable(existing)}
    documents = [each.document for each in read if each.document is not None]
    new = {d.fingerprint: d for d in documents if d.fingerprint not in known}
    made, said = _make(list(new.values()), plan, watch, lambda more: store.check_room(name, more))
    blank = {d.fingerprint for d in new.values()} - {c.document_fingerprint for c in made.chunks}
    usable = [
        (each, each.document)
        for each in read
        if each.document is not None and each.document.fingerprint not in blank
    ]
    record = existing
    stored: _Statuses = []
    if usable:
        watch.begin("store", len(made.chunks))
        with store.session(watch.cancelled) as session:
            current = store.find(name)
            plan.check(current)
            record, stored = _store(session, current, usable, made, name, plan, watch)
            fits = current is not None and plan.fits(current)
            refresh(store, session, name, before=current if fits else None)
        watch.end()
    more = iter(stored)
    statuses: _Statuses = []
    for each in read:
        if each.document is None:
            statuses.append(("refused", each.message))
        elif each.document.fingerprint in blank:
            statuses.append(("refused", "There is no text in it. Pass a file with text."))
        else:
            status, message = next(more)
            of_vectors = said.get(each.document.fingerprint, "") if status != "unchanged" else ""
            statuses.append((status, " ".join(one for one in (message, of_vectors) if one)))
    return record, statuses


def _make(
    documents: Sequence[Document], plan: _Plan, watch: _Watch, check_room: Callable[[int], None]
) -> tuple[Page, Mapping[str, str]]:
    """The chunks, vectors and marks of new documents, and what to say of their own vectors."""
    pieces: list[list[Chunk]] = []
    marks: list[tuple[Mark, ...]] = []
    watch.begin("chunk", len(documents))
    for done, document in enumerate(documents, start=1):
        some = chunk(document, plan.chunking)
        pieces.append(some)
        marks += _marks_of(document, some)
        watch.at(done, document.name)
    watch.end()
    chunks = [each for some in pieces for each in some]
    check_room(len(chunks))
    watch.begin("embed", len(chunks))
    vectored = vectors_of(
        documents, pieces, plan.embedder, watch.at, lambda cost: watch.at(0, cost.sentence)
    )
    watch.at(len(chunks))
    watch.end()
    return Page(chunks, vectored.rows, marks), vectored.said


def _marks_of(document: Document, chunks: Sequence[Chunk]) -> list[tuple[Mark, ...]]:
    """The document's marks, each with the last chunk that starts at or before it."""
    starts = [each.start for each in chunks]
    out: list[list[Mark]] = [[] for _ in chunks]
    for mark in document.marks if chunks else ():
        out[max(bisect_right(starts, mark.start) - 1, 0)].append(mark)
    return [tuple(marks) for marks in out]


def _store(
    session: Session,
    current: CorpusRecord | None,
    usable: Sequence[tuple[Read, Document]],
    made: Page,
    name: str,
    plan: _Plan,
    watch: _Watch,
) -> tuple[CorpusRecord, _Statuses]:
    """Fill a part with what is not in yet and commit the new list of documents."""
    have = {each.fingerprint: each for each in plan.reusable(current)}
    before = () if plan.replace or current is None else current.documents
    merged = merge(before, [read.arrival(document) for read, document in usable])
    documents = {document.fingerprint: document for _, document in usable}
    sizes = Counter(each.document_fingerprint for each in made.chunks)
    if any(not sizes[each] for each in documents.keys() - have.keys()):
        raise CorpusError(
            f"The corpus {name!r} was changed by someone else meanwhile. Index again."
        )
    statuses: _Statuses = []
    told = set(have)
    for (_, document), message in zip(usable, merged.messages, strict=True):
        if document.fingerprint in told:
            statuses.append(("unchanged", message))
        else:
            status: Status = "partial" if document.warnings else "indexed"
            sentences = (*document.warnings, message)
            statuses.append((status, " ".join(each for each in sentences if each)))
        told.add(document.fingerprint)
    entries = [
        changed(have[place.fingerprint], name=place.name, source=place.source)
        if place.fingerprint in have
        else _entry(documents[place.fingerprint], place, sizes[place.fingerprint])
        for place in merged.places
    ]
    if current is not None and plan.fits(current) and tuple(entries) == current.documents:
        return current, statuses
    entries = _fill(session, current, entries, made, watch)
    now = time.time()
    record = CorpusRecord(
        id=current.id if current else "",
        name=name,
        embedder=plan.embedder.name,
        identity=plan.embedder.identity,
        dimension=plan.embedder.dimension,
        chunking=plan.chunking,
        documents=tuple(entries),
        created=current.created if current else now,
        changed=now,
        origin=current.origin if current and not plan.replace else "",
    )
    return session.commit(record), statuses


def _entry(document: Document, place: Place, chunks: int) -> DocumentRecord:
    return DocumentRecord(
        name=place.name,
        kind=document.kind,
        fingerprint=document.fingerprint,
        chunks=chunks,
        characters=len(document.text),
        pages=document.pages,
        part="",
        source=place.source,
    )


def _fill(
    session: Session,
    current: CorpusRecord | None,
    entries: Sequence[DocumentRecord],
    made: Page,
    watch: _Watch,
) -> list[DocumentRecord]:
    """The entries with their parts: new chunks, and small old parts, go into one new part.

    A part is taken in when it is no larger than what is to be written already, smallest first.
    So a corpus of n chunks added to one by one has at most log2(n) + 1 parts, and each chunk is
    written at most as often.
    """
    needed = {entry.fingerprint for entry in entries if not entry.part}
    if not needed:
        return list(entries)
    load = sum(entry.chunks for entry in entries if not entry.part)
    parts = Counter[str]()
    for entry in entries:
        if entry.part:
            parts[entry.part] += entry.chunks
    taken = set()
    for part, size in sorted(parts.items(), key=lambda item: item[1]):
        if size > load:
            break
        taken.add(part)
        load += size
    pages = [_only(made, needed)]
    if taken and current is not None:
        moved = tuple(entry for entry in entries if entry.part in taken)
        pages += session.pages(changed(current, documents=moved))
    page = pages[0] if len(pages) == 1 else _joined(pages)
    watch.begin("store", len(page.chunks))
    part = session.fill(page, on_stored=watch.at, cancelled=watch.cancelled)
    return [
        changed(entry, part=part) if not entry.part or entry.part in taken else entry
        for entry in entries
    ]


def _joined(pages: Sequence[Page]) -> Page:
    return Page(
        [each for page in pages for each in page.chunks],
        np.concatenate([page.vectors for page in pages]),
        [marks for page in pages for marks in page.marks],
    )


def _only(page: Page, fingerprints: set[str]) -> Page:
    """The chunks of these documents."""
    rows = [i for i, c in enumerate(page.chunks) if c.document_fingerprint in fingerprints]
    if len(rows) == len(page.chunks):
        return page
    return Page(
        [page.chunks[row] for row in rows], page.vectors[rows], [page.marks[row] for row in rows]
    )


# --- telling ------------------------------------------------------------------------------


class _Watch:
    """Seconds by stage, progress and the wish to stop, for one indexing."""

    def __init__(self, on_progress: OnProgress | None, cancelled: Cancelled | None) -> None:
        self.seconds: dict[str, float] = {}
        self.cancelled = cancelled
        self._on_progress = on_progress
        self._stage: Stage = "read"
        self._total = 0
        self._begun = time.perf_counter()

    def begin(self, stage: Stage, total: int) -> None:
        self._stage, self._total, self._begun = stage, total, time.perf_counter()
        self.at(0)

    def at(self, done: int, item: str = "") -> None:
        if self.cancelled is not None and self.cancelled():
            raise CancelledError("Cancelled; nothing half-made was kept.")
        if self._on_progress is not None:
            spent = time.perf_counter() - self._begun
            left = spent / done * (self._total - done) if done else None
            self._on_progress(Progress(self._stage, done, self._total, left, item))

    def of(self, done: int, total: int, item: str) -> None:
        """As `at`, where the total is known only now."""
        self._total = total
        self.at(done, item)

    def end(self) -> None:
        spent = time.perf_counter() - self._begun
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + spent
