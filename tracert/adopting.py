"""A collection of another program as a corpus: its texts and its vectors, taken as they are.

What a walk needs is copied into the store, so that nothing is embedded again and nothing is ever
written to the collection; to take it anew after a change, adopt it again with `replace`. Rows
are put together to documents by what their metadata says of their source, in its order. Where a
passage begins with what the one before ended with, the two share it, as our own chunks do; else
an empty line stands between them.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path, PurePath
from statistics import median
from typing import Any, Final

import numpy as np

from tracert.corpus.chunking import MAX_SIZE, Chunking
from tracert.corpus.model import Chunk, Mark
from tracert.embedding.base import Embedder, Priced
from tracert.embedding.registry import embedder as embedder_by_name
from tracert.embedding.registry import names as embedder_names
from tracert.embedding.vectors import unit_rows, whole
from tracert.errors import CorpusError
from tracert.foreign import Listed, Rows, read
from tracert.indexing import Cancelled, FileReport, IndexReport, OnProgress, Progress, Stage
from tracert.inputs import numbered
from tracert.snapshot import refresh
from tracert.store.records import CorpusRecord, DocumentRecord, Page, check_name
from tracert.store.store import Store

KIND: Final = "chroma"
#: Metadata that tells the source, its title, the heading, the page, and the place in the source,
#: as LangChain, LlamaIndex and others write them; the first that is there counts.
_SOURCES: Final = ("source", "file_name", "filename", "file_path", "url", "title", "document")
_TITLES: Final = ("title", "heading", "section", "Header 1", "Header 2", "Header 3")
_PAGES: Final = ("page_label", "page_number", "page")
_PLACES: Final = ("start_index", "chunk_index", "chunk", "position", "index")
#: With more sources than this the collection is one document, and the sources are headings: a
#: corpus lists its documents in one piece of metadata.
_MOST_SOURCES: Final = 5_000
#: Characters that two passages must have in common to count as overlapping, and are looked
#: through for it.
_LEAST_SHARED, _MOST_SHARED, _TRIES = 20, 2_000, 8
_GAP: Final = "\n\n"
#: Passages embedded anew to see whether the embedder made the vectors, and the median cosine
#: from which it did: the same model in another precision gives 0.95 and more, another one 0.
_PROBES, _AGREES = 5, 0.8
#: A length of 1 within what float32 and a program's rounding leave.
_UNIT: Final = 1e-3


def adopt(
    folder: Path | None,
    collection: str,
    *,
    store: Store,
    name: str,
    embedder: Embedder | str | None = None,
    replace: bool = False,
    on_progress: OnProgress | None = None,
    cancelled: Cancelled | None = None,
) -> IndexReport:
    """Make a corpus of a Chroma collection, without embedding anything anew.

    Args:
        folder: the folder of a Chroma store, or None for the server that the environment names.
        collection: the collection's name.
        store: where the corpus goes.
        name: the corpus's, free text.
        embedder: what made the vectors and will embed questions; unless given, the one that the
            collection names.
        replace: whether it may take the place of a corpus of that name.
        on_progress: called on this thread, by stage.
        cancelled: asked between pieces of work.

    Raises:
        CancelledError: `cancelled` said so; nothing changed.
        CorpusError: there is no such collection, it names no embedder that is known here, its
            vectors have another dimension, or a corpus of that name exists.
        EmbedderError: the embedder is unknown or cannot be used.
        StoreError: the collection or the store cannot be read or written.
    """
    name = check_name(name)
    _check_free(store, name, replace=replace)
    tell = _Teller(on_progress)
    said, rows = read(
        folder,
        collection,
        on_rows=lambda done, total: tell.at("read", done, total),
        cancelled=cancelled,
    )
    tell.end("read")
    chosen = _embedder(said, rows, embedder)
    made = _made(said, rows)
    tell.end("chunk")
    agreement = _agreement(made.page, chosen)
    tell.end("embed")
    with store.session(cancelled) as session:
        _check_free(store, name, replace=replace)
        current = store.find(name)
        part = session.fill(
            made.page,
            on_stored=lambda done: tell.at("store", done, len(made.page.chunks)),
            cancelled=cancelled,
        )
        now = time.time()
        session.commit(
            CorpusRecord(
                id=current.id if current else "",
                name=name,
                embedder=chosen.name,
                identity=chosen.identity,
                dimension=made.page.vectors.shape[1],
                chunking=made.chunking,
                documents=tuple(made.documents(part)),
                created=current.created if current else now,
                changed=now,
                origin=f"Chroma collection {said.name}",
            )
        )
        refresh(store, session, name)
    tell.end("store")
    notes = (*made.notes, agreement.sentence)
    report = FileReport(
        path=said.name,
        status="partial" if made.left_out or not agreement.good else "indexed",
        kind=KIND,
        pages=None,
        chunks=len(made.page.chunks),
        message=" ".join(each for each in notes if each),
    )
    return IndexReport(name, chosen.name, len(made.page.chunks), (report,), tell.seconds)


def _check_free(store: Store, name: str, *, replace: bool) -> None:
    there = store.find(name)
    if there is not None:
        store.owner.check_mine(there)
    if not replace and there is not None:
        raise CorpusError(
            f"There is a corpus {name!r} already. Choose another name, or replace it."
        )


# --- which embedder -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Agreement:
    good: bool
    sentence: str


def _embedder(said: Listed, rows: Rows, asked: Embedder | str | None) -> Embedder:
    """The embedder asked for or named, if its vectors are as long as those of the collection."""
    chosen = asked or said.embedder
    if not chosen:
        made_by = f"says that {said.made_by!r} made" if said.made_by else "does not say what made"
        raise CorpusError(
            f"The collection {said.name!r} {made_by} its vectors of {rows.vectors.shape[1]:,} "
            f"numbers. Name the embedder that did: {', '.join(embedder_names())}."
        )
    found = embedder_by_name(chosen) if isinstance(chosen, str) else chosen
    if found.dimension != rows.vectors.shape[1]:
        raise CorpusError(
            f"The vectors of the collection {said.name!r} have {rows.vectors.shape[1]:,} numbers, "
            f"those of {found.name} have {found.dimension:,}. Name the embedder that made them."
        )
    return found


def _agreement(page: Page, embedder: Embedder) -> _Agreement:
    """Whether the embedder gives the vectors that are stored; one that costs is not asked."""
    if isinstance(embedder, Priced):
        return _Agreement(True, f"That {embedder.name} made its vectors was not checked.")
    rows = np.linspace(0, len(page.chunks) - 1, min(_PROBES, len(page.chunks))).astype(int)
    again = embedder.embed([page.chunks[row].text for row in rows.tolist()])
    cosine = float(np.median(np.sum(again * page.vectors[rows], axis=1)))
    if cosine >= _AGREES:
        return _Agreement(True, f"{embedder.name} gives the same vectors (cosine {cosine:.2f}).")
    return _Agreement(
        False,
        f"{embedder.name} gives other vectors (cosine {cosine:.2f}): questions will find little. "
        "Name the embedder that made these, or re-index the corpus.",
    )


# --- rows to documents --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """A row that can be used: its number, text, page, headings and place in its source."""

    number: int
    text: str
    page: int | None
    headings: tuple[str, ...]
    place: int


@dataclass(frozen=True, slots=True)
class _Made:
    page: Page
    documents_of: tuple[DocumentRecord, ...]
    chunking: Chunking
    left_out: int
    notes: tuple[str, ...]

    def documents(self, part: str) -> list[DocumentRecord]:
        """The documents, stored in that part."""
        return [changed(each, part=part) for each in self.documents_of]


def _made(said: Listed, rows: Rows) -> _Made:
    """The rows of a collection as the chunks of documents, with unit vectors."""
    finite = np.asarray(np.isfinite(rows.vectors).all(axis=1))
    groups: dict[str, list[_Row]] = {}
    for number, (text, metadata) in enumerate(zip(rows.texts, rows.metadatas, strict=True)):
        if not text or text.isspace() or not finite[number]:
            continue
        row = _Row(
            number,
            whole(text),
            _whole_number(metadata, _PAGES),
            _headings(metadata),
            _whole_number(metadata, _PLACES) or 0,
        )
        groups.setdefault(_text(metadata, _SOURCES) or said.name, []).append(row)
    kept = sum(map(len, groups.values()))
    if not kept:
        raise CorpusError(
            f"No row of the collection {said.name!r} has a text with a vector: the program kept "
            "its texts elsewhere. Index the documents themselves."
        )
    left_out = len(rows.texts) - kept
    notes = []
    if left_out:
        notes.append(f"{left_out:,} of {len(rows.texts):,} rows have no text and were left out.")
    if len(groups) > _MOST_SOURCES:
        notes.append(f"Its {len(groups):,} sources are headings of one document.")
        groups = {said.name: [_under(source, row) for source, g in groups.items() for row in g]}
    order, chunks, marks, documents, shared = _laid_out(groups, rows)
    vectors = rows.vectors[order]
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    if np.abs(lengths - 1.0).max() > _UNIT:
        notes.append(_about(said.space))
    longest = max(len(chunk.text) for chunk in chunks)
    size = min(longest, MAX_SIZE)
    overlap = min(int(median(shared)) if shared else 0, size - 1)
    return _Made(
        Page(chunks, unit_rows(vectors, said.name), marks),
        tuple(documents),
        Chunking(size, overlap),
        left_out,
        tuple(notes),
    )


def _about(space: str) -> str:
    if space == "cosine":
        return "Its vectors were brought to length 1, which changes no cosine."
    return (
        f"Its vectors were brought to length 1: near is here what has a high cosine, which may "
        f"differ from its own distance ({space})."
    )


def _laid_out(
    groups: Mapping[str, list[_Row]], rows: Rows
) -> tuple[list[int], list[Chunk], list[tuple[Mark, ...]], list[DocumentRecord], list[int]]:
    """The order of the rows, their chunks, marks and documents, and what neighbours share."""
    order: list[int] = []
    chunks: list[Chunk] = []
    marks: list[tuple[Mark, ...]] = []
    documents: list[DocumentRecord] = []
    shared: list[int] = []
    used: set[str] = set()
    for source, group in groups.items():
        # Chroma gives rows in the order of their arrival, which sorting keeps.
        group = _from_one(sorted(group, key=lambda row: (row.page or 0, row.place)))
        name = numbered(_called(source), used)
        used.add(name)
        print_ = _fingerprint(source, group, rows)
        reached, before, mark = 0, "", None
        for position, row in enumerate(group):
            common = _common(before, row.text)
            start = max(0, reached - common if common else reached + len(_GAP) * bool(before))
            reached, before = start + len(row.text), row.text
            if position:
                shared.append(common)
            here = (row.page, row.headings)
            marks.append(() if here == mark else (Mark(start, row.page, row.headings),))
            mark = here
            order.append(row.number)
            chunks.append(
                Chunk(
                    id=f"{print_[:12]}:{position}",
                    text=row.text,
                    document=name,
                    document_fingerprint=print_,
                    position=position,
                    page=row.page,
                    heading_path=row.headings,
                    start=start,
                    end=reached,
                )
            )
        pages = [row.page for row in group if row.page is not None]
        documents.append(
            DocumentRecord(
                name=name,
                kind=KIND,
                fingerprint=print_,
                chunks=len(group),
                characters=reached,
                pages=max(pages) if pages else None,
                part="",
            )
        )
    return order, chunks, marks, documents, shared


def _from_one(group: Sequence[_Row]) -> list[_Row]:
    """The rows with pages counted from 1; some programs count from 0."""
    if all(row.page != 0 for row in group):
        return list(group)
    return [changed(row, page=None if row.page is None else row.page + 1) for row in group]


def _under(source: str, row: _Row) -> _Row:
    return changed(row, headings=(_called(source), *row.headings))


def _called(source: str) -> str:
    """A source by its last name: no folder of another machine is shown."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in source).split())
    name = flat if "://" in flat else PurePath(flat.replace("\\", "/")).name
    return (name or flat or "Untitled")[:120]


def _headings(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    source = _text(metadata, _SOURCES)
    found = (metadata.get(key) for key in _TITLES)
    return tuple(each[:200] for each in found if isinstance(each, str) and each and each != source)


def _text(metadata: Mapping[str, Any], keys: Sequence[str]) -> str:
    found = (metadata.get(key) for key in keys)
    return next((whole(each) for each in found if isinstance(each, str) and each.strip()), "")


def _whole_number(metadata: Mapping[str, Any], keys: Sequence[str]) -> int | None:
    for key in keys:
        value = metadata.get(key)
        if isinstance(value, str) and value.isdecimal() and len(value) < 10:
            value = int(value)
        if isinstance(value, int | float) and 0 <= value < 1e9 and value == int(value):
            return int(value)
    return None


def _fingerprint(source: str, group: Sequence[_Row], rows: Rows) -> str:
    """A hash of all that a document of a collection is: another vector is another document."""
    found = hashlib.sha256(b"chroma/1\x00" + source.encode())
    for row in group:
        found.update(repr((len(row.text), row.page, row.headings)).encode())
        found.update(row.text.encode())
        found.update(rows.vectors[row.number].tobytes())
    return found.hexdigest()


def _common(before: str, after: str) -> int:
    """How many characters the end of one passage and the beginning of the next have in common."""
    if len(after) <= _LEAST_SHARED:
        return 0
    tail, head = before[-_MOST_SHARED:][1:], after[:_LEAST_SHARED]
    at = tail.find(head)
    for _ in range(_TRIES):
        if at < 0:
            return 0
        if len(tail) - at < len(after) and after.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(head, at + 1)
    return 0


class _Teller:
    """Progress and seconds by stage."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self.seconds: dict[str, float] = {}
        self._on_progress = on_progress
        self._begun = time.perf_counter()

    def at(self, stage: Stage, done: int, total: int) -> None:
        if self._on_progress is not None:
            spent = time.perf_counter() - self._begun
            left = spent / done * (total - done) if done else None
            self._on_progress(Progress(stage, done, total, left))

    def end(self, stage: Stage) -> None:
        now = time.perf_counter()
        self.seconds[stage], self._begun = now - self._begun, now
