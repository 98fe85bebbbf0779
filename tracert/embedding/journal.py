"""Vectors that an endpoint has already made, kept on disk so that a broken attempt goes on."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from tracert.home import home

_VERSION: Final = 1
_KEEP_SECONDS: Final = 7 * 86_400
#: The older half is dropped above this many bytes.
_MAX_BYTES: Final = 1_000_000_000
_AT_ONCE: Final = 500
_WAIT_SECONDS: Final = 10.0
_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS vectors "
    "(key BLOB PRIMARY KEY, vector BLOB NOT NULL, made REAL NOT NULL)"
)

T = TypeVar("T")


class Journal:
    """The vectors of one embedder by text, in one SQLite file of the data folder.

    Keys are hashes, so no text is kept. Entries last a week. It serves several processes at
    once. It is a convenience alone: a damaged file is made anew, and one that cannot be
    read or written counts as empty.
    """

    def __init__(self, identity: str, folder: Path | None = None) -> None:
        """The journal of the embedder of that identity, by default in the data folder."""
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        self._folder = folder
        self._name = f"v{_VERSION}-{digest}.sqlite"

    def get(self, texts: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The vectors at hand, by text."""
        keys = {_key(text): text for text in texts}

        def read(database: sqlite3.Connection) -> dict[str, npt.NDArray[np.float32]]:
            found: dict[str, npt.NDArray[np.float32]] = {}
            oldest = time.time() - _KEEP_SECONDS
            wanted = list(keys)
            for start in range(0, len(wanted), _AT_ONCE):
                part = wanted[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = database.execute(
                    f"SELECT key, vector FROM vectors WHERE made > ? AND key IN ({marks})",  # noqa: S608 marks alone
                    (oldest, *part),
                )
                for key, vector in rows:
                    found[keys[key]] = np.frombuffer(vector, "<f4").astype(np.float32)
            return found

        return self._use(read, {}) if keys else {}

    def put(self, vectors: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Keep the vectors of these texts."""
        now = time.time()
        rows = [
            (_key(text), vector.astype("<f4").tobytes(), now) for text, vector in vectors.items()
        ]

        def write(database: sqlite3.Connection) -> None:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            database.execute("DELETE FROM vectors WHERE made < ?", (now - _KEEP_SECONDS,))
            _shrink(database)

        self._use(write, None)

    def clear(self) -> None:
        """Forget everything."""

        def delete(database: sqlite3.Connection) -> None:
            database.execute("DELETE FROM vectors")

        self._use(delete, None)

    def _use(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        path = (self._folder or home() / "embeddings") / self._name
        try:
            with self._open(path) as database:
                return action(database)
        except sqlite3.OperationalError:
            return otherwise
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
            return otherwise
        except OSError:
            return otherwise

    @contextmanager
    def _open(self, path: Path) -> Iterator[sqlite3.Connection]:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=_WAIT_SECONDS)) as database, database:
            database.execute(_SCHEMA)
            yield database


def _shrink(database: sqlite3.Connection) -> None:
    pages, free, size = (
        database.execute(f"PRAGMA {what}").fetchone()[0]
        for what in ("page_count", "freelist_count", "page_size")
    )
    if (pages - free) * size > _MAX_BYTES:
        database.execute(
            "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY made "
            "LIMIT (SELECT count(*) / 2 FROM vectors))"
        )


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
