"""A zip of documents: which of its files are read, and why the others are not."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from tracert.corpus.loaders import Limits, suffixes, supported
from tracert.corpus.zipped import Archive, Bounds, Entry, UnsafeNameError, safe_name
from tracert.errors import DocumentError

#: Endings of archives; one inside another is refused, so that none can nest without end.
_ARCHIVES: Final = (".zip", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".tar")


class Members:
    """The files of a zip that are to be read, by number.

    As in a folder, hidden files and those of other kinds are left out without a word; what is
    meant to be read and cannot be is listed with the sentence that says why.
    """

    def __init__(self, data: bytes, name: str, limits: Limits) -> None:
        """Read the list of files.

        Raises:
            DocumentError: the zip is damaged, locked, too large, or holds no file to read.
        """
        self._limits = limits
        self._archive = Archive(
            data,
            name,
            Bounds(
                entries=20_000,
                entry_bytes=limits.max_bytes,
                total_bytes=limits.max_unpacked,
                ratio=limits.max_ratio,
            ),
        )
        self._entries = [entry for entry in self._archive.entries if _wanted(entry.name)]
        if not self._entries:
            raise DocumentError(
                f"{name} is a zip that holds no file that can be read. Supported: {supported()}."
            )
        if len(self._entries) > limits.max_members:
            raise DocumentError(
                f"{name} holds {len(self._entries):,} files, more than the "
                f"{limits.max_members:,} that are read of a zip. Split it, or raise the limit."
            )
        self.listed = self._listed()

    def read(self, index: int) -> bytes:
        """The bytes of a file.

        Raises:
            DocumentError: it is damaged, locked or beyond the limits.
        """
        return self._archive.read(self._entries[index])

    def _listed(self) -> list[tuple[str, str]]:
        """Each file's path and, where it is not read, why."""
        seen: set[str] = set()
        listed = []
        for entry in self._entries:
            shown, problem = _checked(entry)
            if not problem and shown in seen:
                problem = f"The zip holds {shown} twice; the first was read. Rename one of them."
            seen.add(shown)
            listed.append((shown, problem))
        return listed


def _wanted(name: str) -> bool:
    path = PurePosixPath(name)
    if path.parts and path.parts[0] == "__MACOSX":
        return False
    if any(part.startswith(".") and part != ".." for part in path.parts):
        return False
    return path.suffix.lower() in (*suffixes(), *_ARCHIVES)


def _checked(entry: Entry) -> tuple[str, str]:
    """The path as it is shown, and why the file is not read."""
    try:
        name = safe_name(entry.name, whole="zip")
    except UnsafeNameError as error:
        return ascii(entry.name)[1:-1], str(error)
    if not entry.regular:
        return name, f"{name} is a link or a device. Pack the file itself."
    if entry.locked:
        return name, f"{name} is locked by the zip's password. Unpack the zip and pass the files."
    if PurePosixPath(name).suffix.lower() in _ARCHIVES:
        return name, f"{name} is an archive in an archive. Unpack it and pass the files."
    return name, ""
