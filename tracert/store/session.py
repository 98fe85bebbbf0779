"""What is done under the store's lock: parts filled and read, heads changed, leavings swept."""

from __future__ import annotations

import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tracert.chroma import errors
from tracert.errors import CancelledError
from tracert.store.collections import Collections
from tracert.store.owner import Owner
from tracert.store.records import CorpusRecord, Page
from tracert.store.rows import to_metadata, to_page

if TYPE_CHECKING:
    from chromadb.api.client import Client

#: Rows written at once, so that progress moves, a cancel is heard and no request to a server
#: grows beyond some megabytes; more at once is hardly faster.
BATCH: Final = 1_000
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Cancelled = Callable[[], bool]


class Session:
    """The store while one holds its lock. Made by `tracert.store.store.Store.session`."""

    def __init__(self, client: Client, collections: Collections, owner: Owner) -> None:
        self._client = client
        self._collections = collections
        self._place = collections.place
        self._owner = owner
        with errors(self._place):
            limit = client.get_max_batch_size()
        self._batch = min(BATCH, limit, self._place.rows)

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
        with errors(self._place):
            part = self._collections.create(self._client, "part")
        try:
            for first in range(0, len(page.chunks), self._batch):
                if cancelled is not None and cancelled():
                    raise CancelledError("Cancelled; nothing half-made was kept.")
                last = first + self._batch
                some = page.chunks[first:last]
                with errors(self._place):
                    part.add(
                        ids=[chunk.id for chunk in some],
                        embeddings=page.vectors[first:last],
                        documents=[chunk.text for chunk in some],
                        metadatas=[
                            to_metadata(chunk, marks)
                            for chunk, marks in zip(some, page.marks[first:last], strict=True)
                        ],
                    )
                if on_stored is not None:
                    on_stored(first + len(some))
        except BaseException:
            with errors(self._place):
                self._client.delete_collection(part.name)
            raise
        return str(part.name)

    def commit(self, record: CorpusRecord) -> CorpusRecord:
        """Make the record the truth by one change of its head, then sweep what it left behind.

        An empty `id` makes a new corpus. The corpus is the store's owner's, then and before.

        Raises:
            CorpusError: it belongs to another owner, or there is no room for it.
        """
        everyones = self._collections.records(self._client)
        there = next((each for each in everyones if each.id == record.id), None)
        if there is not None:
            self._owner.check_mine(there)
        if there is None or record.size > there.size:
            name = record.name if there is None else there.name
            self._owner.check_room(name, record.size, everyones)
        record = replace(record, owner=self._owner.name)
        with errors(self._place):
            if record.id:
                head = self._client.get_collection(record.id, embedding_function=None)
            else:
                head = self._collections.create(self._client, "head")
                record = replace(record, id=head.name)
            record = replace(record, changed=time.time())
            self._collections.set_head(self._client, head, record, self._batch)
        self.sweep()
        return record

    def delete(self, record: CorpusRecord) -> None:
        """Delete a corpus of this owner's.

        Raises:
            CorpusError: it belongs to another owner.
        """
        self._owner.check_mine(record)
        self.remove(record)

    def remove(self, record: CorpusRecord) -> None:
        """Delete a corpus: its head first, so that it is gone at once, then its parts."""
        with errors(self._place):
            self._client.delete_collection(record.id)
        self.sweep()

    def pages(self, record: CorpusRecord) -> Iterator[Page]:
        """The chunks of a corpus with their vectors, page by page, each chunk once.

        Raises:
            StoreError: a part is gone or holds other rows than the manifest says.
        """
        wanted = {(d.part, d.fingerprint): d for d in record.documents}
        for name in record.parts:
            with errors(self._place):
                part = self._client.get_collection(name, embedding_function=None)
                size = part.count()
            most = self._place.rows
            for first in range(0, size, most):
                with errors(self._place):
                    rows = part.get(
                        limit=most, offset=first, include=["embeddings", "documents", "metadatas"]
                    )
                page = to_page(rows, name, wanted)
                if page.chunks:
                    yield page

    def sweep(self) -> int:
        """Delete every collection of ours that no corpus names; how many that were."""
        unnamed = self._collections.unnamed(self._client)
        with errors(self._place):
            for collection in unnamed:
                self._client.delete_collection(collection.name)
            if unnamed and self._place.embedded:
                _remove_index_folders(Path(self._place.folder))
        return len(unnamed)


def _remove_index_folders(folder: Path) -> None:
    """Remove the vector indices of deleted collections, which chromadb 1.5.9 leaves lying."""
    with closing(
        sqlite3.connect(f"{(folder / 'chroma.sqlite3').as_uri()}?mode=ro", uri=True)
    ) as db:
        segments = {id for (id,) in db.execute("SELECT id FROM segments")}
    for inner in folder.iterdir():
        if inner.is_dir() and _UUID.fullmatch(inner.name) and inner.name not in segments:
            shutil.rmtree(inner, ignore_errors=True)
