"""Chunks as rows of a part, and rows as chunks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

import numpy as np

from tracert.corpus.model import Chunk, Mark
from tracert.store.records import DocumentRecord, Page


def to_metadata(chunk: Chunk, marks: tuple[Mark, ...]) -> dict[str, str | int]:
    """What a row says of its chunk beside id, text and vector."""
    metadata: dict[str, str | int] = {
        "document": chunk.document_fingerprint,
        "name": chunk.document,
        "position": chunk.position,
        "start": chunk.start,
        "end": chunk.end,
        "heading": json.dumps(chunk.heading_path, ensure_ascii=False),
    }
    if chunk.page is not None:
        metadata["page"] = chunk.page
    if marks:
        metadata["marks"] = json.dumps([astuple(mark) for mark in marks], ensure_ascii=False)
    return metadata


def to_page(rows: Any, part: str, wanted: Mapping[tuple[str, str], DocumentRecord]) -> Page:
    """The chunks in these rows of a part whose document, by part and fingerprint, is wanted."""
    chunks: list[Chunk] = []
    marks: list[tuple[Mark, ...]] = []
    kept: list[int] = []
    for row, (id, text, metadata) in enumerate(
        zip(rows["ids"], rows["documents"], rows["metadatas"], strict=True)
    ):
        document = wanted.get((part, metadata["document"]))
        if document is None:
            continue
        kept.append(row)
        chunks.append(
            Chunk(
                id=id,
                text=text,
                document=document.name,
                document_fingerprint=document.fingerprint,
                position=metadata["position"],
                page=metadata.get("page"),
                heading_path=tuple(json.loads(metadata["heading"])),
                start=metadata["start"],
                end=metadata["end"],
            )
        )
        marks.append(
            tuple(
                Mark(start, page, tuple(heading))
                for start, page, heading in json.loads(metadata.get("marks", "[]"))
            )
        )
    vectors = np.asarray(rows["embeddings"], dtype=np.float32)
    return Page(chunks, vectors[kept] if len(kept) < len(vectors) else vectors, marks)
