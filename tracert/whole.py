"""A file that is there whole or not at all, whoever is killed while it is written."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path` to write, which takes its place when the block has ended well.

    Who reads meanwhile reads what was there before. The folder has to be there.

    Raises:
        OSError: it cannot be written; what was there before stays.
    """
    beside = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        with beside.open("wb") as file:
            yield file
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
