"""The lines of a run: a file that grows while a process works and may end in the middle of one.

A line is {method, question, detail} as JSON in ASCII. A process that was killed leaves half a line
at most: who reads passes it over, and the next who writes cuts it off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from tracert.errors import DatasetError


class Writer:
    """A run in the hands of the one process that works on it. Made by `appending`."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path

    def add(self, method: int, question: int, detail: Mapping[str, Any]) -> None:
        """Keep what a question gave; it is on its way to the disk when this returns.

        Raises:
            DatasetError: it cannot be written; what was written before stays.
        """
        line = {"method": method, "question": question, "detail": detail}
        data = json.dumps(line, ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n"
        try:
            self._file.write(data.encode("ascii"))
            self._file.flush()
        except OSError as error:
            raise unwritable(self._path, error) from error


@contextmanager
def appending(path: Path) -> Iterator[Writer]:
    """Take the file in hand: half a line at its end is cut off, and lines can be added.

    Raises:
        DatasetError: it cannot be written.
    """
    try:
        file = path.open("ab+")
    except OSError as error:
        raise unwritable(path, error) from error
    with file:
        _cut_half_line(file)
        yield Writer(file, path)


def whole_lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file; half a line at the end is being written or never will be."""
    try:
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield line
    except OSError:
        return


def count_lines(path: Path) -> int:
    """How many whole lines a file has; counted again only when it has changed."""
    try:
        found = path.stat()
    except OSError:
        return 0
    return _line_ends(str(path), found.st_size, found.st_mtime_ns)


def unwritable(path: Path, error: OSError) -> DatasetError:
    """What is said where a file of a run cannot be written."""
    return DatasetError(
        f"The run cannot be kept in {path.parent} ({error.strerror}). Make room there, or set "
        "TRACERT_HOME to a folder that you may write; what was asked so far stays."
    )


@lru_cache(maxsize=1024)
def _line_ends(path: str, size: int, changed: int) -> int:  # noqa: ARG001 they are the key
    """The line ends in the first `size` bytes of a file."""
    count, left = 0, size
    try:
        with Path(path).open("rb") as file:
            while left > 0:
                block = file.read(min(left, 1 << 20))
                if not block:
                    break
                count += block.count(b"\n")
                left -= len(block)
    except OSError:
        return 0
    return count


def _cut_half_line(file: BinaryIO) -> None:
    """Cut off what stands behind the last line end."""
    end = file.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - 65_536)
        file.seek(start)
        place = file.read(end - start).rfind(b"\n")
        if place >= 0:
            file.truncate(start + place + 1)
            break
        end = start
    else:
        file.truncate(0)
    file.seek(0, os.SEEK_END)
