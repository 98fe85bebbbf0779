"""A zip read within bounds: nothing that it says about itself is believed.

Every zip that comes from outside passes here: documents that are zips (DOCX, PPTX, EPUB), zips of
documents, zips of notes. Sizes are counted while unpacking, links and devices are set apart, and
nothing is ever written to disk. Where the list of entries at the end is lost, the entries are
found by the headers in front of each, so that what is left of a damaged file can be read.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from tracert.errors import DocumentError, TracertError

_ENTRY: Final = b"PK\x03\x04"
_LISTED: Final = b"PK\x01\x02"
_SIGNATURES: Final = re.compile(b"PK(?:\x03\x04|\x01\x02|\x05\x06|\x06\x06|\x07\x08)")
#: Signature, version, flags, method, time, date, CRC, packed and full size, lengths of name, extra.
_HEADER: Final = struct.Struct("<4s5H3L2H")
_LOCKED, _SIZES_BEHIND, _UTF8 = 0x1, 0x8, 0x800
#: An entry smaller than this, in bytes, is no bomb, however well it was packed.
_SMALL: Final = 1_000_000
#: Bytes that are unpacked, and packed bytes that are taken, at a time.
_STEP: Final = 1_000_000
_SLICE, _BITE = 65_536, 64
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_DRIVE: Final = re.compile(r"[A-Za-z]:")
#: Backslashes and what looks like a slash; look-alikes of dots are caught where they stand
#: alone between slashes.
_LOOK_ALIKES: Final = re.compile("[\\\\\u2044\u2215\u2216\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c]")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that is unpacked of a zip.

    `entries` in all, bytes of one entry and of all that is read, and `ratio`, how many times its
    packed size an entry of a megabyte or more may have.
    """

    entries: int = 20_000
    entry_bytes: int = 100_000_000
    total_bytes: int = 400_000_000
    ratio: int = 200


class Refusal(Enum):
    """Why a zip is not read."""

    DAMAGED = "damaged"
    LOCKED = "locked"
    METHOD = "method"
    BOMB = "bomb"
    LARGE = "large"
    MANY = "many"


_ADVICE: Final = {
    Refusal.DAMAGED: "Save or pack it anew.",
    Refusal.LOCKED: "Unpack it yourself and pass the files.",
    Refusal.METHOD: "Pack it as an ordinary zip.",
    Refusal.BOMB: "Unpack it yourself and pass the files.",
    Refusal.LARGE: "Split it into several files.",
    Refusal.MANY: "Pass a part of it.",
}


class ArchiveError(DocumentError):
    """A zip, or an entry of one, is not read.

    `said` is the sentence that says why, without the advice, for a caller with better advice.
    """

    def __init__(self, said: str, why: Refusal) -> None:
        super().__init__(f"{said} {_ADVICE[why]}")
        self.said = said
        self.why = why


class UnsafeNameError(TracertError):
    """A path out of an archive, a note or a reply leads outside, or may be taken to."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a zip.

    `name` is spelt as the archive does, zero bytes and all; `regular` is False for links and
    devices; `size` and `packed` are what the archive claims, in bytes.
    """

    name: str
    size: int
    packed: int
    regular: bool
    locked: bool
    method: int
    crc: int | None
    at: int


class Archive:
    """The files of a zip, each unpacked when it is asked for and within the bounds.

    `mended` tells that the list of entries was lost and the entries were searched for.
    """

    def __init__(self, data: bytes, name: str, bounds: Bounds | None = None) -> None:
        """Read the list of entries; nothing is unpacked yet.

        Raises:
            ArchiveError: no zip, damaged beyond any entry, or too many of them.
        """
        self.name = name
        self.bounds = bounds or Bounds()
        self._data = data
        self._unpacked = 0
        # A list is not read to its end only to find it too long; a nested zip may add to it.
        if data.count(_LISTED) > 4 * self.bounds.entries:
            raise self._error(f"holds more than {self.bounds.entries:,} entries", Refusal.MANY)
        listed = self._listed()
        self.mended = listed is None
        self.entries = tuple(self._found()) if listed is None else listed
        if len(self.entries) > self.bounds.entries:
            raise self._error(f"holds more than {self.bounds.entries:,} entries", Refusal.MANY)
        if self.mended and not self.entries:
            raise self._error("is no zip that can be read", Refusal.DAMAGED)
        self._by_name = {entry.name: entry for entry in self.entries if entry.regular}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the regular files, each once."""
        return tuple(self._by_name)

    def read(self, entry: Entry | str, at_most: int | None = None) -> bytes:
        """The content of a file, its first bytes alone where `at_most` is given.

        Raises:
            ArchiveError: it is not there, damaged, locked, or goes beyond the bounds.
        """
        content, whole = self._content(self._entry(entry), at_most)
        if not whole:
            raise self._error(f"is damaged at {_shown(self._entry(entry).name)}", Refusal.DAMAGED)
        return content

    def salvage(self, entry: Entry | str) -> tuple[bytes, bool]:
        """What can be unpacked of a file, and whether that is all of it, unchanged.

        Raises:
            ArchiveError: it is not there, locked, or goes beyond the bounds.
        """
        return self._content(self._entry(entry), None)

    def _entry(self, entry: Entry | str) -> Entry:
        if isinstance(entry, Entry):
            return entry
        if entry not in self._by_name:
            raise self._error(f"holds no {_shown(entry)}", Refusal.DAMAGED)
        return self._by_name[entry]

    def _content(self, entry: Entry, at_most: int | None) -> tuple[bytes, bool]:
        if entry.locked:
            raise self._error("is locked by a password", Refusal.LOCKED)
        if entry.method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self._error("is packed in a way that is not read", Refusal.METHOD)
        packed = self._packed(entry)
        dense = max(_SMALL, self.bounds.ratio * len(packed))
        parts: list[bytes] = []
        length, whole = 0, True
        for part in _parts(packed, entry):
            if part is None:
                whole = False
                break
            length += len(part)
            self._unpacked += len(part)
            parts.append(part)
            if length > dense:
                raise self._error(
                    f"unpacks to more than {self.bounds.ratio} times its size: it looks like a "
                    "bomb",
                    Refusal.BOMB,
                )
            if self._unpacked > self.bounds.total_bytes:
                raise self._large(self.bounds.total_bytes)
            if at_most is not None and length >= at_most:
                return b"".join(parts)[:at_most], True
            if length > self.bounds.entry_bytes:
                raise self._large(self.bounds.entry_bytes)
        content = b"".join(parts)
        return content, whole and entry.crc in (None, zlib.crc32(content))

    def _packed(self, entry: Entry) -> memoryview:
        """The bytes of an entry as they lie in the zip; none where its header is damaged."""
        header = self._data[entry.at : entry.at + _HEADER.size]
        if len(header) < _HEADER.size or not header.startswith(_ENTRY):
            return memoryview(b"")
        *_rest, name, extra = _HEADER.unpack(header)
        start = entry.at + _HEADER.size + name + extra
        return memoryview(self._data)[start : start + entry.packed]

    def _listed(self) -> tuple[Entry, ...] | None:
        """The entries that the list at the end names; None where there is no such list."""
        try:
            with zipfile.ZipFile(io.BytesIO(self._data)) as archive:
                infos = archive.infolist()
        except (
            zipfile.BadZipFile,
            struct.error,
            NotImplementedError,
            ValueError,
            OverflowError,
            LookupError,
            OSError,
        ):
            return None
        return tuple(
            Entry(
                name=info.orig_filename,
                size=info.file_size,
                packed=info.compress_size,
                regular=stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG),
                locked=bool(info.flag_bits & _LOCKED),
                method=info.compress_type,
                crc=info.CRC,
                at=info.header_offset,
            )
            for info in infos
            if not info.is_dir()
        )

    def _found(self) -> Iterator[Entry]:
        """The entries by the headers in front of them, as far as those can be made out."""
        place = self._data.find(_ENTRY)
        count = 0
        while place >= 0 and count <= self.bounds.entries:
            header = self._data[place : place + _HEADER.size]
            if len(header) < _HEADER.size:
                return
            _sign, _v, flags, method, _t, _d, crc, packed, size, named, extra = _HEADER.unpack(
                header
            )
            start = place + _HEADER.size + named + extra
            name = self._data[place + _HEADER.size : place + _HEADER.size + named]
            if not name or start > len(self._data):
                place = self._data.find(_ENTRY, place + 4)
                continue
            behind = bool(flags & _SIZES_BEHIND) or packed == 0xFFFFFFFF
            if behind or start + packed > len(self._data):
                following = _SIGNATURES.search(self._data, start)
                end = following.start() if following else len(self._data)
            else:
                end = start + packed
            text = name.decode("utf-8" if flags & _UTF8 else "cp437", "replace")
            if not text.endswith("/"):
                count += 1
                yield Entry(
                    name=text,
                    size=0 if behind else size,
                    packed=end - start,
                    regular=True,
                    locked=bool(flags & _LOCKED),
                    method=method,
                    crc=None if behind else crc,
                    at=place,
                )
            place = self._data.find(_ENTRY, max(end, start))

    def _error(self, what: str, why: Refusal) -> ArchiveError:
        return ArchiveError(f"{self.name} {what}.", why)

    def _large(self, most: int) -> ArchiveError:
        return self._error(
            f"unpacks to more than {most / 1e6:,.0f} MB, more than is read", Refusal.LARGE
        )


def is_zip(data: bytes) -> bool:
    """Whether the bytes begin as a zip does, an empty one too."""
    return data[:4] in (_ENTRY, b"PK\x05\x06")


def safe_name(name: str, what: str = "a file", whole: str = "archive") -> str:
    """A path out of an archive in its regular form, if it could lie inside a folder.

    Args:
        name: the path, relative, with slashes.
        what: what the path should be one of, for the sentence.
        whole: what it should lie in, for the sentence.

    Raises:
        UnsafeNameError: the path is absolute, climbs, names a drive, or holds control
            characters, backslashes or letters that only look like dots and slashes.
    """
    shown = _shown(name)
    if not name or _CONTROL.search(name):
        raise UnsafeNameError(f"{shown} is no path of {what}. Pass one as it is listed.")
    if name.startswith("/") or _DRIVE.match(name):
        raise UnsafeNameError(f"The path {shown} is absolute. Pass one relative to the {whole}.")
    if _LOOK_ALIKES.search(name):
        raise UnsafeNameError(
            f"The path {shown} holds a backslash or a letter that looks like a dot or a slash. "
            f"Pass one as it is listed."
        )
    parts = unicodedata.normalize("NFC", name).split("/")
    folded = unicodedata.normalize("NFKC", name).split("/")
    if len(folded) != len(parts) or any(part.strip(" .") == "" for part in (*parts, *folded)):
        raise UnsafeNameError(f"The path {shown} leads outside the {whole}. Stay inside it.")
    return "/".join(parts)


def _parts(packed: memoryview, entry: Entry) -> Iterator[bytes | None]:
    """The content piece by piece; None at the end where it breaks off."""
    if entry.method == zipfile.ZIP_STORED:
        for start in range(0, len(packed), _STEP):
            yield bytes(packed[start : start + _STEP])
        if entry.crc is not None and len(packed) < entry.size:
            yield None
        return
    unpack = zlib.decompressobj(-zlib.MAX_WBITS)
    for start in range(0, len(packed), _SLICE):
        before = unpack.copy()
        try:
            yield from _inflated(unpack, packed[start : start + _SLICE])
        except zlib.error:
            # Once more in small bites, since a failing call gives nothing of what it had.
            for bite in range(start, start + _SLICE, _BITE):
                try:
                    yield from _inflated(before, packed[bite : bite + _BITE])
                except zlib.error:
                    break
            break
        if unpack.eof:
            return
    yield None


def _inflated(unpack: zlib._Decompress, packed: memoryview) -> Iterator[bytes]:
    """What a slice unpacks to, in pieces of bounded size."""
    rest: bytes | memoryview = packed
    while True:
        part = unpack.decompress(rest, _STEP)
        if part:
            yield part
        rest = unpack.unconsumed_tail
        if unpack.eof or (not rest and len(part) < _STEP):
            return


def _shown(name: str) -> str:
    """A name for a sentence: short, and with nothing in it that steers a terminal."""
    return ascii(name)[:120]
