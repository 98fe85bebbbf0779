"""The one door to the files of a graph: nothing outside its folder is ever read.

A note's path may come from a note, from an archive or from a model, so it is data. It is
looked up in the folder's own listing, letter by letter, and never joined to anything before
that; what the listing names is opened without following a link at its end, after its real
place has been found to lie inside the folder.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tracert.corpus.encoding import decode
from tracert.corpus.zipped import UnsafeNameError, safe_name
from tracert.errors import KnowledgeError
from tracert.knowledge.model import Fault

SUFFIXES: Final = (".md", ".markdown")
#: More files than this are no graph of notes.
MAX_NOTES: Final = 50_000
#: A file larger than this, in bytes, is not read as a note.
MAX_BYTES: Final = 5_000_000
MAX_DEPTH: Final = 32
_SKIPPED: Final = frozenset({"node_modules", "_site", "__pycache__", "__MACOSX"})


def checked_name(name: str) -> str:
    """The path in its regular form, if it is one that could lie inside a folder.

    Raises:
        KnowledgeError: as `tracert.corpus.zipped.safe_name` refuses a path.
    """
    try:
        return safe_name(name, "a note", "notes")
    except UnsafeNameError as error:
        raise KnowledgeError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the listing: its place on disk (relative), change time and size in bytes."""

    disk: str
    modified_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The notes of a folder by path, and what was left out with the reason."""

    entries: Mapping[str, Entry]
    faults: tuple[Fault, ...]


class NoteFolder:
    """A folder of notes; the only thing that opens their files."""

    def __init__(self, root: Path) -> None:
        """Take the folder; nothing is read yet.

        Raises:
            KnowledgeError: there is no such folder.
        """
        try:
            self.root = root.expanduser().resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise KnowledgeError(f"There is no folder {root}. Pass a folder of notes.") from error
        if not self.root.is_dir():
            raise KnowledgeError(f"{root} is no folder. Pass a folder of notes or a zip of one.")
        self.listing = self._list()

    def data(self, path: str) -> bytes:
        """The bytes of a note of the listing.

        Raises:
            KnowledgeError: the path is unsafe or not of the listing, its file has moved
                outside, is no regular file, is too large or cannot be read.
        """
        name = checked_name(path)
        entry = self.listing.entries.get(name)
        if entry is None:
            raise KnowledgeError(f"There is no note {ascii(name)[:120]}. Pass a path of the graph.")
        return self._read(name, entry.disk)

    def text(self, path: str) -> str:
        """The text of a note, without byte order mark and with single newlines.

        Raises:
            KnowledgeError: as `data`, or the file is no text.
        """
        return decoded(self.data(path), path)

    def _read(self, name: str, disk: str) -> bytes:
        real = Path(os.path.realpath(self.root / disk))
        if not real.is_relative_to(self.root):
            raise KnowledgeError(f"The note {name} is a link that leads outside. Copy the file in.")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            handle = os.open(real, flags | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise KnowledgeError(
                f"The note {name} cannot be read ({error.strerror}). Check its permissions."
            ) from error
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise KnowledgeError(f"The note {name} is no regular file. Replace it by one.")
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise KnowledgeError(
                f"The note {name} has more than {MAX_BYTES / 1e6:.0f} MB. Split it into notes."
            )
        return data

    def _list(self) -> Listing:
        entries: dict[str, Entry] = {}
        faults: list[Fault] = []
        for disk, found in self._files("", faults, 0):
            try:
                name = checked_name(disk)
            except KnowledgeError as error:
                faults.append(Fault(ascii(disk), 0, "outside", str(error), "Rename the file."))
                continue
            if name in entries:
                message = f"{disk!a} and another file have names that read the same."
                faults.append(Fault(name, 0, "duplicate_file", message, "Rename one of them."))
                continue
            entries[name] = Entry(disk, found.st_mtime_ns, found.st_size)
            if len(entries) > MAX_NOTES:
                raise KnowledgeError(
                    f"{self.root} holds more than {MAX_NOTES} notes. Pass a folder inside it."
                )
        return Listing(dict(sorted(entries.items())), tuple(faults))

    def _files(
        self, folder: str, faults: list[Fault], depth: int
    ) -> Iterator[tuple[str, os.stat_result]]:
        try:
            with os.scandir(self.root / folder) as found:
                items = sorted(found, key=lambda item: item.name)
        except OSError as error:
            message = f"The folder cannot be read ({error.strerror})."
            faults.append(Fault(folder or ".", 0, "unreadable", message, "Check its permissions."))
            return
        for item in items:
            if item.name.startswith(".") or item.name in _SKIPPED:
                continue
            disk = f"{folder}/{item.name}" if folder else item.name
            try:
                yield from self._item(item, disk, faults, depth)
            except OSError as error:  # a circle of links, or gone since it was listed
                message = f"This cannot be read ({error.strerror})."
                faults.append(Fault(disk, 0, "unreadable", message, "Repair or remove it."))

    def _item(
        self, item: os.DirEntry[str], disk: str, faults: list[Fault], depth: int
    ) -> Iterator[tuple[str, os.stat_result]]:
        link = item.is_symlink()
        is_note = item.name.lower().endswith(SUFFIXES)
        if link and not self._inside(disk):
            if is_note or item.is_dir():
                message = "This is a link that leads outside the folder; it is not read."
                faults.append(Fault(disk, 0, "outside", message, "Copy the file in."))
        elif item.is_dir():
            if not link and depth < MAX_DEPTH:
                yield from self._files(disk, faults, depth + 1)
        elif is_note:
            if item.is_file():
                yield disk, item.stat()
            else:
                message = "This is no regular file; it is not read."
                faults.append(Fault(disk, 0, "unreadable", message, "Replace it by a file."))

    def _inside(self, disk: str) -> bool:
        real = Path(os.path.realpath(self.root / disk))
        return real.is_relative_to(self.root)


def decoded(data: bytes, name: str) -> str:
    """Bytes as text: UTF-8 or what the bytes show, no byte order mark, single newlines.

    Raises:
        KnowledgeError: the bytes are no text.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        found = decode(data)
        if found is None:
            raise KnowledgeError(f"The note {name} is no text. Save it as UTF-8.") from None
        text = found.text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
