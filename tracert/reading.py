"""Files to documents: each one read apart from this process, zips opened, none stopping another."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tracert.corpus.apart import Archive, Parser
from tracert.corpus.loaders import Limits
from tracert.corpus.loaders.limits import from_environment
from tracert.corpus.model import Document
from tracert.errors import DocumentError, PasswordError
from tracert.inputs import Given, Input, gather
from tracert.merging import Arrival

Cancelled = Callable[[], bool]
#: Gets the number of files done, the number of all, and the name of the last.
OnRead = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Read:
    """A file as read: its document with its place in a corpus, or why there is none.

    `path` is what a report calls it; `locked` tells that a password, or another one, would help.
    """

    path: str
    document: Document | None
    names: tuple[str, ...] = ()
    source: str = ""
    message: str = ""
    locked: bool = False

    def arrival(self, document: Document) -> Arrival:
        """The document as one that comes into a corpus."""
        return Arrival(self.names, self.source, document.fingerprint)


def read(
    files: Sequence[Input],
    *,
    limits: Limits | None = None,
    passwords: Mapping[str, str] | None = None,
    on_read: OnRead = lambda _done, _total, _name: None,
    cancelled: Cancelled | None = None,
) -> list[Read]:
    """Every file meant, in order; a zip of documents stands for the files in it.

    Args:
        files: uploads, or paths of files and folders.
        limits: how much of a file is read, and what that may take; unless given, as the
            environment says (`tracert.corpus.loaders.limits`).
        passwords: passwords of encrypted files by their path in the report; that of '' is for
            all others. They go to the process that reads and nowhere else.
        on_read: called on this thread at each file.
        cancelled: asked many times a second.

    Raises:
        CancelledError: `cancelled` said so.
        SettingError: a limit in the environment is none.
    """
    inputs = gather(files)
    found: list[Read] = []
    with Parser(limits or from_environment(), cancelled=cancelled) as parser:
        reader = _Reader(parser, passwords or {})
        on_read(0, len(inputs), "")
        for done, given in enumerate(inputs):
            for each in reader.read(given):
                found.append(each)
                on_read(done, len(inputs), each.path)
            on_read(done + 1, len(inputs), given.name)
    return found


class _Reader:
    def __init__(self, parser: Parser, passwords: Mapping[str, str]) -> None:
        self._parser = parser
        self._passwords = passwords

    def read(self, given: Given) -> Iterator[Read]:
        """The file, or those in it."""
        try:
            data = given.read(self._parser.limits.max_bytes)
        except DocumentError as error:
            yield _refused(given, error)
            return
        archive = yield from self._load(given, data, self._password(given))
        if archive is None:
            return
        for index, member in enumerate(archive.members):
            inside = given.member(member.name)
            try:
                if member.problem:
                    raise DocumentError(member.problem)
                content = self._parser.member(archive, index)
            except DocumentError as error:
                yield _refused(inside, error)
                continue
            password = self._password(inside) or self._password(given)
            nested = yield from self._load(inside, content, password)
            if nested is not None:
                yield _refused(
                    inside,
                    DocumentError(
                        f"{member.name} is an archive in an archive. Unpack it and pass the files."
                    ),
                )

    def _load(
        self, given: Given, data: bytes, password: str
    ) -> Generator[Read, None, Archive | None]:
        """The document of these bytes, or why there is none; returns a zip of documents."""
        try:
            loaded = self._parser.load(data, given.name, password)
        except DocumentError as error:
            yield _refused(given, error)
            return None
        if isinstance(loaded, Archive):
            return loaded
        yield Read(given.path, loaded, given.names, given.source)
        return None

    def _password(self, given: Given) -> str:
        return self._passwords.get(given.path) or self._passwords.get("", "")


def _refused(given: Given, error: DocumentError) -> Read:
    locked = isinstance(error, PasswordError)
    return Read(given.path, None, message=str(error), locked=locked)
