"""Notes from a zip or from uploaded files: written to a folder of Tracert's own, then opened.

What an archive says about itself is not believed: names pass the same door as every path, sizes
are counted while reading, links and devices are left out. What is left out is reported.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tracert.corpus.zipped import Archive, ArchiveError, Bounds, Refusal
from tracert.errors import KnowledgeError
from tracert.home import home
from tracert.knowledge.index import place_of
from tracert.knowledge.model import Fault
from tracert.knowledge.paths import MAX_BYTES, MAX_NOTES, SUFFIXES, checked_name

#: The largest archive, and the most that is unpacked of one, in bytes.
MAX_ARCHIVE, MAX_UNPACKED = 100_000_000, 200_000_000


@dataclass(frozen=True, slots=True)
class Room:
    """How many bytes the notes of one upload may have, and of all that are unpacked at once."""

    upload: int = MAX_UNPACKED
    together: int | None = None


_ADVICE: Final = {
    Refusal.DAMAGED: "Pack the folder of notes anew.",
    Refusal.METHOD: "Pack the folder of notes as an ordinary zip.",
    Refusal.LOCKED: "Unpack it yourself and pass the folder.",
    Refusal.BOMB: "Unpack it yourself and pass the folder.",
    Refusal.LARGE: "Pass a part of it.",
    Refusal.MANY: "Pass a part of it.",
}


def unpacked(source: Path, data: Path | None = None) -> tuple[Path, tuple[Fault, ...]]:
    """A folder for `source`: itself, or the folder that a zip is unpacked to.

    Raises:
        KnowledgeError: there is no such file, or it is neither a folder nor a zip of notes.
    """
    if source.is_dir():
        return source, ()
    try:
        size = source.stat().st_size
        if size > MAX_ARCHIVE:
            raise KnowledgeError(
                f"{source.name} has {size / 1e6:.0f} MB; at most {MAX_ARCHIVE / 1e6:.0f} MB are "
                "unpacked. Unpack it yourself and pass the folder."
            )
        content = source.read_bytes()
    except OSError as error:
        raise KnowledgeError(
            f"{source} cannot be read ({error.strerror}). Pass a folder of notes or a zip of one."
        ) from error
    return from_zip(content, source.name, data)


def from_zip(
    content: bytes,
    name: str = "notes.zip",
    data: Path | None = None,
    room: Room = Room(),
) -> tuple[Path, tuple[Fault, ...]]:
    """The folder that holds the notes of a zip, and what was left out of it.

    The folder is named by the content's hash, so that the same zip is unpacked once. A folder
    that holds everything in the zip is taken off the paths.

    Raises:
        KnowledgeError: no zip, too large, damaged, locked, or without notes.
    """
    if len(content) > MAX_ARCHIVE:
        raise KnowledgeError(
            f"{name} has {len(content) / 1e6:.0f} MB; at most {MAX_ARCHIVE / 1e6:.0f} MB are "
            "unpacked. Unpack it yourself and pass the folder."
        )
    faults: list[Fault] = []
    try:
        archive = Archive(content, name, Bounds(2 * MAX_NOTES, room.upload, room.upload))
        if archive.mended:
            raise KnowledgeError(f"{name} is no zip that can be read. {_ADVICE[Refusal.DAMAGED]}")
        digest = hashlib.sha256(content).hexdigest()
        return _written(_contents(archive, faults), digest, faults, name, data, room)
    except ArchiveError as error:
        raise KnowledgeError(f"{error.said} {_ADVICE[error.why]}") from error


def from_files(
    files: Mapping[str, bytes],
    data: Path | None = None,
    room: Room = Room(),
) -> tuple[Path, tuple[Fault, ...]]:
    """The folder that holds uploaded files by name, and what was left out of them.

    Raises:
        KnowledgeError: no note among them, or too much of them.
    """
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{len(name)}:{name}:{len(content)}:".encode("utf-8", "surrogatepass"))
        digest.update(content)
    return _written(iter(sorted(files.items())), digest.hexdigest(), [], "The upload", data, room)


def expire_unpacked(data: Path, before: float) -> None:
    """Delete what was unpacked, and not again, since `before`, and its indices.

    `before` is in seconds since 1970.
    """
    root = data / "knowledge" / "unpacked"
    for folder in root.iterdir() if root.is_dir() else ():
        try:
            old = folder.stat().st_mtime < before
        except FileNotFoundError:  # another process was faster
            continue
        if old:
            shutil.rmtree(place_of(folder.resolve(), data), ignore_errors=True)
            shutil.rmtree(folder, ignore_errors=True)


def _contents(archive: Archive, faults: list[Fault]) -> Iterator[tuple[str, bytes]]:
    """The notes of an archive; links and other kinds of file are reported."""
    for entry in archive.entries:
        if not entry.name.lower().endswith(SUFFIXES):
            continue
        if not entry.regular:
            message = "The archive holds a link or a device here; it is left out."
            fix = "Pack the file itself."
            faults.append(Fault(ascii(entry.name), 0, "outside", message, fix))
            continue
        # One byte more than is allowed, so that a size that the archive lies about shows.
        yield entry.name, archive.read(entry, MAX_BYTES + 1)


def _written(
    files: Iterator[tuple[str, bytes]],
    digest: str,
    faults: list[Fault],
    name: str,
    data: Path | None,
    room: Room,
) -> tuple[Path, tuple[Fault, ...]]:
    """The files written to a folder of their own, whole or not at all."""
    root = (data or home()) / "knowledge" / "unpacked"
    target = root / digest[:24]
    root.mkdir(parents=True, exist_ok=True)
    kept = _kept(files, faults, name, room.upload)
    if not kept:
        raise KnowledgeError(f"{name} holds no note that can be read. Pass .md files.")
    if target.is_dir():
        os.utime(target)
        return target, tuple(faults)
    _check_room(kept, root, room)
    with tempfile.TemporaryDirectory(dir=root) as folder:
        made = Path(folder) / "notes"
        for path, content in kept.items():
            place = made / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        try:
            made.rename(target)
        except OSError:  # another process was faster; the same content has the same name
            if not target.is_dir():
                raise
    return target, tuple(faults)


def _check_room(kept: Mapping[str, bytes], root: Path, room: Room) -> None:
    """That there is room for these notes beside all that are unpacked."""
    if room.together is None:
        return
    there = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    if there + sum(map(len, kept.values())) > room.together:
        raise KnowledgeError(
            "The room for notes of visitors is used up for now. Try again later, or with fewer "
            "notes."
        )


def _kept(
    files: Iterable[tuple[str, bytes]], faults: list[Fault], name: str, most: int
) -> dict[str, bytes]:
    """The notes by safe path; two names that a file system may take for one are not both kept."""
    kept: dict[str, bytes] = {}
    folded: set[str] = set()
    total = 0
    for written, content in files:
        if not written.lower().endswith(SUFFIXES):
            continue
        try:
            path = checked_name(written)
        except KnowledgeError as error:
            faults.append(Fault(ascii(written), 0, "outside", str(error), "Rename the file."))
            continue
        if len(content) > MAX_BYTES:
            message = f"The file has more than {MAX_BYTES / 1e6:.0f} MB; it is left out."
            faults.append(Fault(path, 0, "unreadable", message, "Split it into notes."))
            continue
        if path.casefold() in folded:
            message = "Another file has a name that reads the same; this one is left out."
            faults.append(Fault(path, 0, "duplicate_file", message, "Rename one of them."))
            continue
        total += len(content)
        if total > most or len(kept) >= MAX_NOTES:
            raise KnowledgeError(
                f"{name} holds more than {most / 1e6:.0f} MB or {MAX_NOTES:,} notes. "
                "Pass a part of it."
            )
        folded.add(path.casefold())
        kept[path] = content
    return _without_shell(kept)


def _without_shell(kept: dict[str, bytes]) -> dict[str, bytes]:
    """The paths without the one folder that holds everything, unless that is `entry_points`."""
    tops = {path.split("/", 1)[0] for path in kept}
    nested = all("/" in path for path in kept)
    if len(tops) != 1 or not nested or "entry_points" in tops:
        return kept
    return {path.split("/", 1)[1]: content for path, content in kept.items()}
