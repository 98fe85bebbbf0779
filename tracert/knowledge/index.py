"""The index of a folder of notes: metadata in SQLite, in Tracert's own data folder.

The folder of notes is never written. An index is keyed by the folder's real path and holds,
for each file, its change time, size and content hash and what was parsed from it; and the
notes as they were linked last. A file whose change time and size are as before is not even
read; one whose hash is as before is not parsed again. The content of notes is not here.

Several processes may use one index: it is in WAL mode, each write is one transaction, and
what is written follows from the files alone, so that it does not matter who writes last.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tracert.errors import KnowledgeError
from tracert.home import home
from tracert.knowledge.model import Draft, Fault, Note, Reference

#: Raised when what is stored, or how a file is parsed, changes; an older index is made anew.
VERSION: Final = 3
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, modified_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    hash TEXT NOT NULL, draft TEXT NOT NULL, head TEXT NOT NULL, body TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS notes (
    path TEXT PRIMARY KEY, title TEXT NOT NULL, summary TEXT NOT NULL, parent TEXT,
    children TEXT NOT NULL, related TEXT NOT NULL, key_points TEXT NOT NULL,
    content_start INTEGER NOT NULL, content_end INTEGER NOT NULL, hash TEXT NOT NULL,
    extra TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was parsed: its stamp, its hash, its draft, and its terms for scoring.

    `head` and `body` are the terms of the head and of the content, joined by blanks.
    """

    modified_ns: int
    size: int
    hash: str
    draft: Draft
    head: str
    body: str


@dataclass(frozen=True, slots=True)
class Stored:
    """What a whole index says about the folder: the linked notes and what came with them."""

    notes: dict[str, Note]
    faults: tuple[Fault, ...]
    about: Mapping[str, Any]


def place_of(folder: Path, data: Path | None = None) -> Path:
    """Where the index of `folder` lies, under `data` or Tracert's data folder."""
    name = hashlib.sha256(str(folder).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return (data or home()) / "knowledge" / "index" / name


class Index:
    """The SQLite file of one folder."""

    def __init__(self, folder: Path, data: Path | None = None) -> None:
        """The index of `folder`, under `data` or Tracert's data folder.

        Raises:
            KnowledgeError: the file cannot be made.
        """
        self.place = place_of(folder, data)
        try:
            self.place.mkdir(parents=True, exist_ok=True)
            self._prepare(folder)
        except (OSError, sqlite3.Error) as error:
            raise KnowledgeError(
                f"The index {self.place} cannot be written ({error}). Set TRACERT_HOME to a "
                "folder that you may write."
            ) from error

    def stamps(self) -> dict[str, tuple[int, int]]:
        """Change time and size of every file by path, as they were indexed."""
        with closing(self._connect()) as db:
            return {
                path: (modified, size)
                for path, modified, size in db.execute("SELECT path, modified_ns, size FROM files")
            }

    def files(self) -> dict[str, File]:
        """Every file as it was parsed."""
        with closing(self._connect()) as db:
            rows = db.execute("SELECT path, modified_ns, size, hash, draft, head, body FROM files")
            return {
                row[0]: File(row[1], row[2], row[3], _draft(json.loads(row[4])), row[5], row[6])
                for row in rows
            }

    def terms(self) -> dict[str, tuple[str, str]]:
        """The terms of head and content by path, joined by blanks."""
        with closing(self._connect()) as db:
            return {row[0]: row[1:] for row in db.execute("SELECT path, head, body FROM files")}

    def load(self) -> Stored | None:
        """The linked notes as they were saved last, None where there are none."""
        with closing(self._connect()) as db:
            db.execute("BEGIN")
            row = db.execute("SELECT value FROM about WHERE key = 'graph'").fetchone()
            if row is None:
                return None
            rows = db.execute("SELECT * FROM notes ORDER BY path").fetchall()
        about = json.loads(row[0])
        faults = tuple(Fault(*fault) for fault in about.pop("faults"))
        return Stored({row[0]: _note(row) for row in rows}, faults, about)

    def save(
        self,
        changed: Mapping[str, File],
        gone: Iterable[str],
        notes: Mapping[str, Note],
        faults: Sequence[Fault],
        about: Mapping[str, Any],
    ) -> None:
        """Everything new, in one transaction."""
        graph = json.dumps({**about, "faults": [_fields(fault) for fault in faults]})
        try:
            with closing(self._connect()) as db, db:
                db.execute("BEGIN IMMEDIATE")
                db.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in gone])
                db.executemany(
                    "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [
                        (
                            path,
                            file.modified_ns,
                            file.size,
                            file.hash,
                            _text(file.draft),
                            file.head,
                            file.body,
                        )
                        for path, file in changed.items()
                    ],
                )
                db.execute("DELETE FROM notes")
                db.executemany(
                    "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [_row(note) for note in notes.values()],
                )
                db.execute("INSERT OR REPLACE INTO about VALUES ('graph', ?)", (graph,))
        except sqlite3.Error as error:
            raise KnowledgeError(
                f"The index {self.place} cannot be written ({error}). Free some space, or set "
                "TRACERT_HOME to another folder."
            ) from error

    def _prepare(self, folder: Path) -> None:
        with closing(self._connect()) as db:
            if db.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                return
            db.execute("PRAGMA journal_mode = WAL")
            with db:
                db.execute("BEGIN IMMEDIATE")
                if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                    for table in ("files", "notes", "about"):
                        db.execute(f"DROP TABLE IF EXISTS {table}")
                    for statement in _SCHEMA.split(";"):
                        db.execute(statement)
                    db.execute(
                        "INSERT OR REPLACE INTO about VALUES ('folder', ?)", (ascii(str(folder)),)
                    )
                    db.execute(f"PRAGMA user_version = {VERSION}")

    def _connect(self) -> sqlite3.Connection:
        # Autocommit, so that BEGIN and its end are ours; 30 s for another process to finish.
        return sqlite3.connect(self.place / "notes.sqlite", timeout=30.0, isolation_level=None)


# --- to and from text -----------------------------------------------------------------------


def _fields(fault: Fault) -> list[Any]:
    return [fault.file, fault.line, fault.kind, fault.message, fault.fix]


def _text(draft: Draft) -> str:
    def pairs(references: tuple[Reference, ...]) -> list[list[Any]]:
        return [[reference.written, reference.line] for reference in references]

    parent = draft.parent
    return json.dumps(
        [
            draft.path,
            draft.title,
            draft.summary,
            draft.key_points,
            None if parent is None else [parent.written, parent.line],
            pairs(draft.children),
            pairs(draft.related),
            draft.start,
            draft.end,
            dict(draft.lines),
            draft.aliases,
            draft.tags,
            draft.order,
            draft.made,
            dict(draft.extra),
            [_fields(fault) for fault in draft.faults],
        ]
    )


def _draft(data: Sequence[Any]) -> Draft:
    return Draft(
        path=data[0],
        title=data[1],
        summary=data[2],
        key_points=tuple(data[3]),
        parent=None if data[4] is None else Reference(*data[4]),
        children=tuple(Reference(*pair) for pair in data[5]),
        related=tuple(Reference(*pair) for pair in data[6]),
        start=data[7],
        end=data[8],
        lines=data[9],
        aliases=tuple(data[10]),
        tags=tuple(data[11]),
        order=data[12],
        made=tuple(data[13]),
        extra=data[14],
        faults=tuple(Fault(*fault) for fault in data[15]),
    )


def _row(note: Note) -> tuple[Any, ...]:
    return (
        note.path,
        note.title,
        note.summary,
        note.parent,
        json.dumps(note.children),
        json.dumps(note.related),
        json.dumps(note.key_points),
        note.start,
        note.end,
        note.hash,
        json.dumps([dict(note.lines), note.tags, note.made]),
    )


def _note(row: Sequence[Any]) -> Note:
    lines, tags, made = json.loads(row[10])
    return Note(
        path=row[0],
        title=row[1],
        summary=row[2],
        parent=row[3],
        children=tuple(json.loads(row[4])),
        related=tuple(json.loads(row[5])),
        key_points=tuple(json.loads(row[6])),
        start=row[7],
        end=row[8],
        hash=row[9],
        lines=lines,
        tags=tuple(tags),
        made=tuple(made),
    )
