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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import load_document, suffixes
from tracert.corpus.model import Chunk, Document, Mark
from tracert.embedding.base import Embedder
from tracert.embedding.registry import embedder as embedder_by_name
from tracert.errors import CancelledError, CorpusError, DocumentError
from tracert.snapshot import prune, refresh, text_of
from tracert.store import CorpusRecord, DocumentRecord, Page, Session, Store, check_name

SCHEMA: Final = "tracert.index/1"
DEFAULT_EMBEDDER: Final = "wordllama"
#: A file above this is refused unread.
MAX_FILE_BYTES: Final = 200_000_000

Stage = Literal["read", "chunk", "embed", "store"]
STAGES: Final[tuple[Stage, ...]] = ("read", "chunk", "embed", "store")
Status = Literal["indexed", "partial", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class File:
    """A file's name and content, as an upload or a paste brings it."""

    name: str
    data: bytes


Input = File | Path | str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a stage is: `done` of `total` (files, then chunks), and the seconds it still needs.

    `seconds_left` is this stage's, from its own pace; None before there is a pace.
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
    """What became of one file; `message` is a sentence for the person, empty where all is well."""

    path: str
    status: Status
    kind: str | None
    pages: int | None
    chunks: int
    message: str = ""


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
    on_progress: OnProgress | None = None,
    cancelled: Cancelled | None = None,
) -> IndexReport:
    """Add files to the corpus of that name, which is made if there is none.

    A file that is in already changes nothing. A file of the same name with another content
    takes the old one's place. One that cannot be read is refused and the others go on. A folder
    stands for the files in it of the kinds that can be read.

    Args:
        files: uploads, or paths of files and folders.
        store: where the corpus lies.
        name: free text.
        chunking: unless given, as the corpus has it, or 500 and 100 characters for a new one.
        embedder: unless given, as the corpus has it, or WordLlama for a new one.
        replace: these files become the whole corpus, with this chunking and embedder.
        on_progress: called on this thread, by stage.
        cancelled: asked between pieces of work.

    Raises:
        CancelledError: `cancelled` said so; the corpus is as before.
        CorpusError: the corpus has another chunking or embedder than asked for.
        EmbedderError: the embedder is unknown or failed.
        StoreError: the store cannot be used.
    """
    name = check_name(name)
    existing = store.find(name)
    plan = _plan(existing, chunking, embedder, replace=replace)
    watch = _Watch(on_progress, cancelled)
    read = _read(files, watch)
    documents = [each.document for each in read if each.document is not None]
    record, statuses = _add(documents, name, plan, existing, store, watch)
    return IndexReport(
        corpus=name,
        embedder=plan.embedder.name,
        chunks=record.size if record else 0,
        files=tuple(_file_report(each, record, statuses) for each in read),
        seconds=watch.seconds,
    )


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
    plan = _plan(
        existing, chunking or existing.chunking, embedder or existing.embedder, replace=True
    )
    watch = _Watch(on_progress, cancelled)
    watch.begin("read", len(existing.documents))
    with store.session(cancelled) as session:
        existing = store.corpus(name)
        documents = _rebuild(existing, session.pages(existing))
    watch.end()
    record, statuses = _add(documents, name, plan, existing, store, watch)
    read = [_Read(document.name, document, "") for document in documents]
    return IndexReport(
        corpus=name,
        embedder=plan.embedder.name,
        chunks=record.size if record else 0,
        files=tuple(_file_report(each, record, statuses) for each in read),
        seconds=watch.seconds,
    )


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


# --- read ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Read:
    """A file as read: a document, or why there is none."""

    path: str
    document: Document | None
    message: str


def _read(files: Sequence[Input], watch: _Watch) -> list[_Read]:
    inputs = [each for given in files for each in _expand(given)]
    names = _names(inputs)
    watch.begin("read", len(inputs))
    read = []
    for done, (given, name) in enumerate(zip(inputs, names, strict=True), start=1):
        path = given.name if isinstance(given, File) else str(given)
        try:
            data = given.data if isinstance(given, File) else _bytes_of(given)
            read.append(_Read(path, load_document(data, name), ""))
        except DocumentError as error:
            read.append(_Read(path, None, str(error)))
        watch.at(done, name)
    watch.end()
    return read


def _expand(given: Input) -> Iterator[File | Path]:
    """A folder as the readable files in it, by name; anything else as it is."""
    if isinstance(given, File):
        yield given
        return
    path = Path(given).expanduser()
    if not path.is_dir():
        yield path
        return
    kinds = suffixes()
    for inner in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in inner.relative_to(path).parts)
        if not hidden and inner.is_file() and inner.suffix.lower() in kinds:
            yield inner


def _names(inputs: Sequence[File | Path]) -> list[str]:
    """What each document is called: the file's name, told apart where two share one.

    Paths get their folder before the name; what is still the same gets a number behind it.
    """
    shared = Counter(given.name for given in inputs)
    used = Counter[str]()
    names = []
    for given in inputs:
        name = given.name
        if isinstance(given, Path) and shared[name] > 1 and given.parent.name:
            name = f"{given.parent.name}/{name}"
        used[name] += 1
        names.append(name if used[name] == 1 else f"{name} ({used[name]})")
    return names


def _bytes_of(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise DocumentError(
                f"{path.name} has {size / 1e6:.0f} MB; at most {MAX_FILE_BYTES / 1e6:.0f} MB are "
                "read. Split it."
            )
        return path.read_bytes()
    except OSError as error:
        raise DocumentError(
            f"{path} cannot be read ({error.strerror}). Check the path and the permission."
        ) from error


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


_Statuses = dict[str, tuple[Status, str]]


def _add(
    documents: Sequence[Document],
    name: str,
    plan: _Plan,
    existing: CorpusRecord | None,
    store: Store,
    watch: _Watch,
) -> tuple[CorpusRecord | None, _Statuses]:
    """The corpus with these documents in it, and what became of each, by fingerprint."""
    known = {d.fingerprint for d in plan.reusable(existing)}
    new = {d.fingerprint: d for d in documents if d.fingerprint not in known}
    made = _make(list(new.values()), plan, watch)
    blank = {d.fingerprint for d in new.values()} - {c.document_fingerprint for c in made.chunks}
    usable = [d for d in documents if d.fingerprint not in blank]
    statuses: _Statuses = dict.fromkeys(
        blank, ("refused", "There is no text in it. Pass a file with text.")
    )
    if not usable:
        return existing, statuses
    watch.begin("store", len(made.chunks))
    with store.session(watch.cancelled) as session:
        current = store.find(name)
        plan.check(current)
        record, more = _store(session, current, usable, made, name, plan, watch)
        refresh(store, session, name, before=current if current and plan.fits(current) else None)
    watch.end()
    return record, statuses | more


def _make(documents: Sequence[Document], plan: _Plan, watch: _Watch) -> Page:
    """The chunks, vectors and marks of new documents."""
    chunks: list[Chunk] = []
    marks: list[tuple[Mark, ...]] = []
    watch.begin("chunk", len(documents))
    for done, document in enumerate(documents, start=1):
        some = chunk(document, plan.chunking)
        chunks += some
        marks += _marks_of(document, some)
        watch.at(done, document.name)
    watch.end()
    watch.begin("embed", len(chunks))
    vectors = (
        plan.embedder.embed([each.text for each in chunks], progress=watch.at)
        if chunks
        else np.zeros((0, plan.embedder.dimension), dtype=np.float32)
    )
    watch.at(len(chunks))
    watch.end()
    return Page(chunks, vectors, marks)


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
    documents: Sequence[Document],
    made: Page,
    name: str,
    plan: _Plan,
    watch: _Watch,
) -> tuple[CorpusRecord, _Statuses]:
    """Fill a part with what is not in yet and commit the new list of documents."""
    reusable = {d.fingerprint: d for d in plan.reusable(current)}
    entries = [] if plan.replace or current is None else list(current.documents)
    sizes = Counter(each.document_fingerprint for each in made.chunks)
    statuses: _Statuses = {}
    for document in documents:
        present = next((e for e in entries if e.fingerprint == document.fingerprint), None)
        if present is not None:
            same = present.name == document.name
            message = "" if same else f"The same text is in the corpus as {present.name!r}."
            statuses.setdefault(document.fingerprint, ("unchanged", message))
            continue
        entry = reusable.get(document.fingerprint)
        if entry is None:
            if not sizes[document.fingerprint]:
                raise CorpusError(
                    f"The corpus {name!r} was changed by someone else meanwhile. Index again."
                )
            entry = _entry(document, sizes[document.fingerprint])
            partial = bool(document.warnings)
            statuses[document.fingerprint] = (
                "partial" if partial else "indexed",
                " ".join(document.warnings),
            )
        else:
            statuses[document.fingerprint] = ("unchanged", "")
        old = next((i for i, e in enumerate(entries) if e.name == document.name), None)
        if old is None:
            entries.append(entry)
        else:
            entries[old] = entry
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
    )
    return session.commit(record), statuses


def _entry(document: Document, chunks: int) -> DocumentRecord:
    return DocumentRecord(
        name=document.name,
        kind=document.kind,
        fingerprint=document.fingerprint,
        chunks=chunks,
        characters=len(document.text),
        pages=document.pages,
        part="",
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

    def end(self) -> None:
        spent = time.perf_counter() - self._begun
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + spent


def _file_report(
    read: _Read, record: CorpusRecord | None, statuses: Mapping[str, tuple[Status, str]]
) -> FileReport:
    document = read.document
    if document is None:
        return FileReport(read.path, "refused", None, None, 0, read.message)
    status, message = statuses[document.fingerprint]
    entries = record.documents if record else ()
    chunks = next((e.chunks for e in entries if e.fingerprint == document.fingerprint), 0)
    return FileReport(read.path, status, document.kind, document.pages, chunks, message)
