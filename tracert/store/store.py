"""The door to the store: corpora listed and found, its lock, and as whom it is opened."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from tracert.chroma import errors, place_of
from tracert.errors import CancelledError, CorpusError, StoreError
from tracert.home import PRIVATE, home
from tracert.hosting import Room, expires
from tracert.store.collections import Collections
from tracert.store.owner import Owner
from tracert.store.records import CorpusRecord, check_name, regular
from tracert.store.session import Cancelled, Session

if TYPE_CHECKING:
    from chromadb.api.client import Client


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
        self.owner = Owner()
        self._place = place_of(self.path)
        self._collections = Collections(self._place)
        self._reader: Client | None = None
        self._opening = Lock()

    def owned_by(self, owner: str, room: Room | None = None) -> Store:
        """The same store as that owner has it, who may fill that room."""
        other = copy.copy(self)
        other.owner = Owner(owner, room)
        return other

    # --- reading: the metadata alone, fresh at every call --------------------------------

    def corpora(self) -> list[CorpusRecord]:
        """Every committed corpus of this owner and of the host, by name, one's own first.

        Raises:
            StoreError: the store cannot be read.
        """
        seen = [each for each in self.everyones() if self.owner.sees(each)]
        return sorted(seen, key=lambda each: (each.name.casefold(), not each.owner))

    def everyones(self) -> list[CorpusRecord]:
        """Every committed corpus of whatever owner: for what is cleaned up, never for a page."""
        return self._collections.records(self._metadata_client())

    def find(self, name: str) -> CorpusRecord | None:
        """The corpus of that name, or None."""
        wanted = regular(name)
        return next((each for each in self.corpora() if regular(each.name) == wanted), None)

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

    def check_room(self, name: str, passages: int) -> None:
        """Refuse a corpus of that name and size where it does not fit any more.

        Raises:
            CorpusError: the owner has too many corpora or passages, or all owners have.
        """
        if self.owner.room is not None:
            self.owner.check_room(name, passages, self.everyones())

    # --- under the lock: vectors, and every change ---------------------------------------

    @contextmanager
    def session(self, cancelled: Cancelled | None = None) -> Iterator[Session]:
        """The store for oneself: one session at a time over all threads and processes.

        Raises:
            CancelledError: `cancelled` said so while another session was awaited.
            StoreError: the store cannot be reached.
        """
        with self._lock(cancelled):
            with errors(self._place):
                client = self._place.open(apart=True)
            try:
                yield Session(client, self._collections, self.owner)
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
            self.owner.check_mine(record)
            if new == record.name:
                return record
            if self.find(new) not in (None, record):
                raise CorpusError(f"There is a corpus {new!r} already. Choose another name.")
            return session.commit(replace(record, name=new))

    def tidy(self) -> int:
        """Sweep what a write left that was ended in the middle; how many collections that were.

        0, too, while somebody writes: what is half-made then is in hand.
        """
        if not self._collections.unnamed(self._metadata_client()):
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

    # --- inner ----------------------------------------------------------------------------

    def _metadata_client(self) -> Client:
        with self._opening, errors(self._place):
            if self._reader is None:
                self._reader = self._place.open(apart=False)
            return self._reader

    @contextmanager
    def _lock(self, cancelled: Cancelled | None) -> Iterator[None]:
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / "store.lock", thread_local=False)
        while True:
            try:
                self.path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
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
