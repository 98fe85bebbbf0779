"""What app and worker say to each other over pipes: a JSON head and a body of bytes.

A frame is two little-endian lengths (32 bits of the head, 64 of the body), the head, the body.
Nothing is pickled: whatever a document makes of the worker, its replies are data.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import IO, Any, Final

import numpy as np

from tracert.corpus.model import Document, Mark, Vectors

#: The largest head in bytes: marks and warnings of the largest document.
MAX_HEAD: Final = 256_000_000
_LENGTHS: Final = struct.Struct("<IQ")


class WireError(Exception):
    """The other side closed the pipe, or what came is no frame."""


def send(stream: IO[bytes], head: Mapping[str, Any], body: bytes = b"") -> None:
    """Write one frame.

    Raises:
        OSError: the other side is gone.
    """
    packed = json.dumps(head).encode("ascii")
    stream.write(_LENGTHS.pack(len(packed), len(body)))
    stream.write(packed)
    stream.write(body)
    stream.flush()


def receive(stream: IO[bytes], most: int) -> tuple[dict[str, Any], bytes]:
    """Read one frame with a body of at most `most` bytes.

    Raises:
        WireError: the pipe ended, or the frame is none, or larger than allowed.
        OSError: the pipe broke.
    """
    head_size, body_size = _LENGTHS.unpack(_exactly(stream, _LENGTHS.size))
    if head_size > MAX_HEAD or body_size > most:
        raise WireError("a frame is larger than allowed")
    packed, body = _exactly(stream, head_size), _exactly(stream, body_size)
    try:
        head = json.loads(packed)
    except (ValueError, RecursionError) as error:
        raise WireError("the head of a frame is no JSON") from error
    if not isinstance(head, dict):
        raise WireError("the head of a frame is no object")
    return head, body


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise WireError("the pipe ended")
    return data


def packed(document: Document) -> tuple[dict[str, Any], bytes]:
    """A document as head and body."""
    text = document.text.encode("utf-8")
    vectors = document.vectors
    head = {
        "reply": "document",
        "name": document.name,
        "kind": document.kind,
        "marks": [[mark.start, mark.page, list(mark.heading_path)] for mark in document.marks],
        "fingerprint": document.fingerprint,
        "pages": document.pages,
        "warnings": list(document.warnings),
        "text": len(text),
        "vectors": None if vectors is None else [*vectors.rows.shape, vectors.embedder],
    }
    return head, text + (b"" if vectors is None else vectors.rows.astype("<f4").tobytes())


def unpacked(head: Mapping[str, Any], body: bytes) -> Document:
    """The document of a frame.

    Raises:
        WireError: the frame holds no such document.
    """
    try:
        size = int(head["text"])
        vectors = None
        if head["vectors"] is not None:
            rows, columns, embedder = head["vectors"]
            matrix = np.frombuffer(body, dtype="<f4", offset=size).reshape(rows, columns)
            vectors = Vectors(matrix.astype(np.float32), str(embedder))
        return Document(
            name=head["name"],
            kind=head["kind"],
            text=body[:size].decode("utf-8"),
            marks=tuple(Mark(start, page, tuple(path)) for start, page, path in head["marks"]),
            fingerprint=head["fingerprint"],
            pages=head["pages"],
            warnings=tuple(head["warnings"]),
            vectors=vectors,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise WireError("the frame holds no document") from error
