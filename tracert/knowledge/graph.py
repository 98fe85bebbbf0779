"""A graph of notes, opened: its notes by path, its entry points, its report, its contents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from tracert.errors import KnowledgeError
from tracert.knowledge import checks
from tracert.knowledge.dialects import registry
from tracert.knowledge.dialects.base import Dialect
from tracert.knowledge.index import File, Index
from tracert.knowledge.linking import link
from tracert.knowledge.markup import shown
from tracert.knowledge.model import Draft, Fault, Note, Report
from tracert.knowledge.paths import Entry, NoteFolder, decoded
from tracert.language.words import terms

#: How many notes are looked at to tell the dialect, and how much of each, in characters.
_SAMPLE, _SAMPLE_TEXT = 40, 6_000
#: So much of a long note counts for its terms, in characters.
_TERMS: Final = 200_000


@dataclass(frozen=True, slots=True)
class KnowledgeGraph:
    """The notes of one folder; open it by `open_graph`. Immutable: a changed folder is reopened.

    `fingerprint` follows from the paths and contents of all notes.
    """

    name: str
    notes: Mapping[str, Note]
    entry_points: tuple[str, ...]
    fingerprint: str
    report: Report
    faults: tuple[Fault, ...]
    folder: NoteFolder
    index: Index
    dialect: Dialect

    def note(self, path: str) -> Note:
        """The note of that path.

        Raises:
            KnowledgeError: there is none.
        """
        found = self.notes.get(path)
        if found is None:
            raise KnowledgeError(f"There is no note {ascii(path)[:120]}. Pass a path of the graph.")
        return found

    def children_of(self, path: str) -> list[Note]:
        """The notes below this one, in its order."""
        return [self.notes[child] for child in self.note(path).children]

    def related_of(self, path: str) -> list[Note]:
        """The notes that this one names as related, in its order."""
        return [self.notes[other] for other in self.note(path).related]

    def ancestors_of(self, path: str) -> list[Note]:
        """The parents of the note, the nearest first."""
        found: list[Note] = []
        parent = self.note(path).parent
        while parent is not None:
            found.append(self.notes[parent])
            parent = self.notes[parent].parent
        return found

    def content(self, path: str) -> str:
        """The full content of the note, read from its file now.

        A file that changed since it was indexed is parsed again, so that the offsets are its
        own.

        Raises:
            KnowledgeError: there is no such note or its file cannot be read any more.
        """
        note = self.note(path)
        data = self.folder.data(path)
        text = decoded(data, path)
        if content_hash(data) == note.hash:
            return text[note.start : note.end]
        draft = self.dialect.parse(path, text)
        return text[draft.start : draft.end]


def content_hash(data: bytes) -> str:
    """The hash by which a file is known to be the same."""
    return hashlib.sha256(data).hexdigest()[:32]


def open_graph(
    folder: Path | str, *, data: Path | None = None, name: str = "", dialect: str | None = None
) -> KnowledgeGraph:
    """The graph of a folder of notes, from its index where the files are as they were.

    Args:
        folder: the folder; it is only read.
        data: where indexes are kept, by default Tracert's data folder.
        name: what a person calls it, by default the folder's name.
        dialect: one of `registry.names()`; told from the content by default.

    Raises:
        KnowledgeError: no folder, no notes in it, or an index that cannot be written.
    """
    notes_folder = NoteFolder(Path(folder))
    entries = notes_folder.listing.entries
    if not entries:
        raise KnowledgeError(
            f"{folder} holds no note that can be read. Pass a folder with .md files in it."
        )
    index = Index(notes_folder.root, data)
    stamps = index.stamps()
    now = {path: (entry.modified_ns, entry.size) for path, entry in entries.items()}
    unreadable = {}
    stored = index.load()
    if stored is not None:
        unreadable = {path: tuple(stamp) for path, stamp in stored.about["unreadable"].items()}
    same = stored is not None and dialect in (None, stored.about["dialect"])
    if not (same and now == {**stamps, **unreadable}):
        return _build(notes_folder, index, name, dialect)
    assert stored is not None  # noqa: S101 told to the type checker; `same` says it
    return _graph(notes_folder, index, name, stored.notes, stored.faults, stored.about, 0)


def _build(folder: NoteFolder, index: Index, name: str, wanted: str | None) -> KnowledgeGraph:
    known = index.files()
    files: dict[str, File] = {}
    fresh: dict[str, tuple[Entry, str, str]] = {}
    faults: list[Fault] = list(folder.listing.faults)
    unreadable: dict[str, tuple[int, int]] = {}
    touched: set[str] = set()
    for path, entry in folder.listing.entries.items():
        old = known.get(path)
        if old is not None and (old.modified_ns, old.size) == (entry.modified_ns, entry.size):
            files[path] = old
            continue
        try:
            raw = folder.data(path)
            hash, text = content_hash(raw), decoded(raw, path)
        except KnowledgeError as error:
            fix = "Repair or remove the file; the other notes are not affected."
            faults.append(Fault(path, 0, "unreadable", str(error), fix))
            unreadable[path] = (entry.modified_ns, entry.size)
            continue
        if old is not None and old.hash == hash:
            files[path] = replace(old, modified_ns=entry.modified_ns, size=entry.size)
            touched.add(path)
        else:
            fresh[path] = (entry, hash, text)
    dialect = registry.dialect(wanted) if wanted else _detect(folder, fresh)
    before = index.load()
    if before is not None and before.about["dialect"] != dialect.name:
        for path in files:  # parsed by the rules of another dialect
            raw = folder.data(path)
            entry = folder.listing.entries[path]
            fresh[path] = (entry, content_hash(raw), decoded(raw, path))
        files.clear()
        touched.clear()
    for path, (entry, hash, text) in fresh.items():
        files[path] = _file(dialect, path, entry, hash, text)
    if not files:
        raise KnowledgeError(
            f"None of the notes in {folder.root} can be read. Save them as UTF-8 text."
        )
    files = dict(sorted(files.items()))
    linked = link(
        dialect,
        {path: file.draft for path, file in files.items()},
        {path: file.hash for path, file in files.items()},
    )
    entries, rule = checks.entry_points(linked.notes)
    fixed = rule == "the folder entry_points"
    faults += linked.faults
    faults += checks.check(linked.notes, entries, fixed, dialect.lists_children)
    faults.sort(key=lambda fault: (fault.file, fault.line, fault.kind))
    about = {
        "dialect": dialect.name,
        "unreadable": unreadable,
        "entries": list(entries),
        "rule": rule,
        "links": linked.links,
        "unresolved": linked.unresolved,
        "root": linked.relative_to_root,
        "note": linked.relative_to_note,
        "islands": len(checks.islands(linked.notes, entries, fixed)),
        "fingerprint": _fingerprint(linked.notes),
    }
    changed = {path: files[path] for path in {*fresh, *touched}}
    index.save(changed, known.keys() - files.keys(), linked.notes, faults, about)
    return _graph(folder, index, name, linked.notes, tuple(faults), about, len(fresh))


def _graph(
    folder: NoteFolder,
    index: Index,
    name: str,
    notes: Mapping[str, Note],
    faults: tuple[Fault, ...],
    about: Mapping[str, Any],
    parsed: int,
) -> KnowledgeGraph:
    report = Report(
        dialect=about["dialect"],
        notes=len(notes),
        links=about["links"],
        resolved=about["links"] - about["unresolved"],
        unresolved=about["unresolved"],
        islands=about["islands"],
        relative_to_root=about["root"],
        relative_to_note=about["note"],
        entry_rule=about["rule"],
        parsed=parsed,
    )
    return KnowledgeGraph(
        name=name or folder.root.name,
        notes=notes,
        entry_points=tuple(about["entries"]),
        fingerprint=about["fingerprint"],
        report=report,
        faults=faults,
        folder=folder,
        index=index,
        dialect=registry.dialect(about["dialect"]),
    )


def _file(dialect: Dialect, path: str, entry: Entry, hash: str, text: str) -> File:
    draft = _plain(dialect.parse(path, text))
    head = "\n".join((draft.title, draft.summary, *draft.key_points, *draft.tags))
    body = text[draft.start : min(draft.end, draft.start + _TERMS)]
    return File(
        entry.modified_ns, entry.size, hash, draft, " ".join(terms(head)), " ".join(terms(body))
    )


def _plain(draft: Draft) -> Draft:
    """The draft without characters that steer a terminal or turn the direction of a line.

    They are no text, and what a head says is shown in many places.
    """
    return replace(
        draft,
        title=shown(draft.title) or PurePosixPath(draft.path).stem,
        summary=shown(draft.summary),
        key_points=tuple(point for raw in draft.key_points if (point := shown(raw))),
        tags=tuple(tag for raw in draft.tags if (tag := shown(raw))),
    )


def _detect(folder: NoteFolder, read: Mapping[str, tuple[Entry, str, str]]) -> Dialect:
    """The dialect that the tree looks most like, told from notes spread over it."""
    paths = list(folder.listing.entries)
    step = max(1, len(paths) // _SAMPLE)
    sample: dict[str, str] = {}
    for path in paths[::step][:_SAMPLE]:
        try:
            text = read[path][2] if path in read else folder.text(path)
        except KnowledgeError:
            continue
        sample[path] = text[:_SAMPLE_TEXT]
    return registry.detect(sample, paths)


def _fingerprint(notes: Mapping[str, Note]) -> str:
    rows = [
        [note.path, note.hash, note.parent, note.children, note.related] for note in notes.values()
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
