"""The manifest: a corpus's record as the text that its head keeps."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from pathlib import PurePosixPath, PureWindowsPath

from tracert.corpus.chunking import Chunking
from tracert.errors import StoreError
from tracert.inputs import source_of
from tracert.store.records import CorpusRecord, DocumentRecord


def write_manifest(record: CorpusRecord, *, ascii: bool = False) -> str:
    """The record as JSON without its id, which is the head's name; `ascii` escapes the rest."""
    data = asdict(record)
    del data["id"]
    for name in ("origin", "owner"):
        if not data[name]:
            del data[name]
    return json.dumps(data, ensure_ascii=ascii, separators=(",", ":"))


@lru_cache(maxsize=256)
def read_manifest(id: str, text: str) -> CorpusRecord:
    """The record of the head of that name.

    Raises:
        StoreError: the text is damaged or of another version.
    """
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
