"""What is handed in to be indexed, file by file: folders opened, the same file taken once."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from tracert.corpus.loaders import suffixes, supported
from tracert.errors import DocumentError

#: The ending of a zip of documents, beside those of the documents themselves.
ZIP: Final = ".zip"


@dataclass(frozen=True, slots=True)
class File:
    """A file's name and content, as an upload or a paste brings it."""

    name: str
    data: bytes


Input = File | Path | str


def endings() -> tuple[str, ...]:
    """The usual endings of what can be handed in, with their dots."""
    return (*suffixes(), ZIP)


@dataclass(frozen=True, slots=True)
class Given:
    """One file to be read.

    `path` is what a report calls it and `name` its own name. `source` tells which file it is,
    whatever it holds: its name and a hash of the resolved path, or the name of an upload. `names`
    are what its document may be called, the best first. `content` is the bytes, the place where
    they lie, or the sentence that says why there are none.
    """

    path: str
    name: str
    source: str
    names: tuple[str, ...]
    content: bytes | Path | str

    def read(self, most: int) -> bytes:
        """The bytes of the file, of which there may be so many.

        Raises:
            DocumentError: it is no regular file, too large, or cannot be read.
        """
        if isinstance(self.content, str):
            raise DocumentError(self.content)
        return self.content if isinstance(self.content, bytes) else _bytes_of(self.content, most)

    def member(self, name: str) -> Given:
        """A file of that path inside this one; `content` is then read from there."""
        names = (name, f"{self.names[0]}/{name}")
        return Given(f"{self.path}/{name}", name, f"{self.source}/{name}", names, b"")


def gather(files: Sequence[Input]) -> list[Given]:
    """The files meant, in order, each once; a folder stands for the readable files in it.

    Files that share a name are called by their folder, too; uploads that do get a number.
    """
    seen: set[str] = set()
    found: list[tuple[str, File | Path | _Problem]] = []
    for given in files:
        for each in _expand(given):
            source = _source(each, seen)
            if source not in seen:
                seen.add(source)
                found.append((source, each))
    shared = Counter(each.name for _, each in found if isinstance(each, Path))
    return [_given(source, each, shared) for source, each in found]


def numbered(name: str, used: Container[str]) -> str:
    """The name, with the first number before its suffix that makes it none of those used."""
    path = PurePath(name)
    stem = name.removesuffix(path.suffix)
    number, free = 1, name
    while free in used:
        number += 1
        free = f"{stem} ({number}){path.suffix}"
    return free


@dataclass(frozen=True, slots=True)
class _Problem:
    """A path that stands for no file, and why."""

    path: str
    message: str


def _expand(given: Input) -> Iterator[File | Path | _Problem]:
    """A folder as the files in it, by name; anything else as it is."""
    if isinstance(given, File):
        yield given
        return
    try:
        path = Path(given).expanduser()
        is_folder = path.is_dir()
    except RuntimeError:
        yield _Problem(str(given), f"{given} names no home folder. Pass the whole path.")
        return
    except OSError as error:
        yield _unreadable(given, error)
        return
    if is_folder:
        yield from _inside(path)
    elif "\0" in str(path):
        yield _Problem(str(given), f"{str(given)!r} is no path. Pass one without a zero character.")
    else:
        yield path


def _inside(folder: Path) -> Iterator[Path | _Problem]:
    """The files in a folder and below of the kinds that can be read, but the hidden ones."""
    kinds = endings()
    problems: list[OSError] = []
    paths = []
    for place, folders, names in os.walk(folder, onerror=problems.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [
            Path(place, name)
            for name in names
            if not name.startswith(".") and PurePath(name).suffix.lower() in kinds
        ]
    yield from sorted(paths)
    for error in problems:
        yield _unreadable(error.filename or folder, error)
    if not paths and not problems:
        yield _Problem(
            str(folder), f"{folder} holds no file that can be read. Supported: {supported()}."
        )


def _unreadable(path: str | Path, error: OSError) -> _Problem:
    return _Problem(str(path), _why(path, error))


def _why(path: str | Path, error: OSError) -> str:
    return f"{path} cannot be read ({error.strerror}). Check the path and the permission."


def source_of(path: str) -> str:
    """Which file a path names, without the path: its last name and a hash of the whole.

    So a file that comes again is known, and a store that others read tells no folder. Who
    guesses a path can check the guess.
    """
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{PurePath(path.replace(chr(92), '/')).name}#{digest[:24]}"


def _source(given: File | Path | _Problem, seen: Container[str]) -> str:
    """Which file it is; an upload is another one each time."""
    if isinstance(given, File):
        return numbered(given.name, seen)
    if isinstance(given, _Problem):
        return given.path
    try:
        return source_of(str(given.resolve()))
    except (OSError, RuntimeError):  # links that lead in a circle
        return source_of(str(given.absolute()))


def _given(source: str, found: File | Path | _Problem, shared: Mapping[str, int]) -> Given:
    if isinstance(found, _Problem):
        return Given(found.path, PurePath(found.path).name, source, (), found.message)
    if isinstance(found, File):
        return Given(found.name, found.name, source, (source,), found.data)
    folder = found.absolute().parent.name
    long = f"{folder}/{found.name}" if folder else found.name
    names = (found.name, long) if shared[found.name] == 1 else (long,)
    return Given(str(found), found.name, source, names, found)


def _bytes_of(path: Path, most: int) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DocumentError(
                f"{path} is no file but a device or a pipe. Save what it gives as a file first."
            )
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise DocumentError(_why(path, error)) from error
    if len(data) > most:
        raise DocumentError(
            f"{path} has more than the {most / 1e6:,.0f} MB that are read. Split it, or raise the "
            "limit."
        )
    return data
