"""Our collections in Chroma: the heads, what each says, and those that none of them names."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from tracert.chroma import CLOUD_DOCUMENT_BYTES, Place, errors, every_collection
from tracert.recent import Recent
from tracert.store.manifest import read_manifest, write_manifest
from tracert.store.records import FORMAT, CorpusRecord

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

#: Names, in the metadata of a head, the collection that holds its manifest.
_APART: Final = "manifest_in"
_TRIES: Final = 5
#: On a server another machine may be writing: its parts are swept only after this long.
_ABANDONED_SECONDS: Final = 24 * 3600
#: This process, so that on a server it sweeps its own leavings and no other's.
_PROCESS: Final = uuid.uuid4().hex


def is_ours(collection: Collection) -> bool:
    """Whether a collection is a head or a part of ours."""
    return (collection.metadata or {}).get("tracert") == FORMAT


class Collections:
    """The collections of one place, seen through the client that is passed in.

    Threads may share it: it keeps manifests alone, which never change under their name.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self._manifests: Recent[str] = Recent(256)

    def records(self, client: Client) -> list[CorpusRecord]:
        """Every committed corpus, in no order to rely on.

        Raises:
            StoreError: Chroma or a manifest cannot be read.
        """
        from chromadb.errors import NotFoundError

        with errors(self.place):
            for attempt in range(_TRIES):
                try:
                    return list(self._read_heads(client))
                except NotFoundError:
                    # A manifest that lies apart went with a commit after its head was read.
                    if attempt == _TRIES - 1:
                        raise
        return []

    def unnamed(self, client: Client) -> list[Collection]:
        """The collections of ours that no corpus names and nobody is filling now.

        On a server, where another machine may be in the middle of a write, only what this
        process made or what has lain there for a day.
        """
        named: set[str] = set()
        for record in self.records(client):
            named |= {record.id, *record.parts}
        with errors(self.place):
            collections = list(every_collection(client))
        named |= {str((each.metadata or {}).get(_APART)) for each in collections}
        found = []
        for each in collections:
            metadata = each.metadata or {}
            if not is_ours(each) or each.name in named:
                continue
            age = time.time() - float(metadata.get("created", 0.0))
            mine = metadata.get("owner") == _PROCESS
            if self.place.embedded or age > _ABANDONED_SECONDS or mine:
                found.append(each)
        return found

    def create(self, client: Client, role: str) -> Collection:
        """A new, empty collection of ours. Call it within `errors`."""
        return client.create_collection(
            f"tracert-{role}-{uuid.uuid4().hex}",
            metadata={"tracert": FORMAT, "owner": _PROCESS, "created": time.time()},
            configuration={"hnsw": {"space": "ip"}},
            embedding_function=None,
        )

    def set_head(self, client: Client, head: Collection, record: CorpusRecord, rows: int) -> None:
        """Make the record the truth by one change of its head, the commit. Call within `errors`.

        A manifest that lies apart is written first, in requests of at most `rows` rows.
        """
        if self.place.narrow:
            text = write_manifest(record, ascii=True)
            manifest = {_APART: self._set_apart(client, text, rows)}
        else:
            manifest = {"manifest": write_manifest(record)}
        head.modify(metadata={"tracert": FORMAT, **manifest})

    def _read_heads(self, client: Client) -> Iterator[CorpusRecord]:
        for collection in every_collection(client):
            metadata = collection.metadata or {}
            if not is_ours(collection):
                continue
            if metadata.get("manifest"):
                yield read_manifest(collection.name, str(metadata["manifest"]))
            elif metadata.get(_APART):
                name = str(metadata[_APART])
                text = self._manifests.get(name, partial(self._apart, client, name))
                yield read_manifest(collection.name, text)

    def _apart(self, client: Client, name: str) -> str:
        """The manifest that lies in a collection of its own, which never changes."""
        collection = client.get_collection(name, embedding_function=None)
        pieces: dict[str, str] = {}
        for first in range(0, collection.count(), self.place.rows):
            some = collection.get(limit=self.place.rows, offset=first, include=["documents"])
            pieces |= zip(some["ids"], some["documents"] or [], strict=True)
        return "".join(pieces[id] for id in sorted(pieces))

    def _set_apart(self, client: Client, text: str, rows: int) -> str:
        """A new collection with the manifest, for a place whose metadata are short; its name."""
        size = CLOUD_DOCUMENT_BYTES
        pieces = [text[first : first + size] for first in range(0, len(text), size)]
        apart = self.create(client, "manifest")
        for first in range(0, len(pieces), rows):
            some = pieces[first : first + rows]
            apart.add(
                ids=[f"{first + at:09}" for at in range(len(some))],
                documents=some,
                embeddings=np.ones((len(some), 1), dtype=np.float32),
            )
        return str(apart.name)
