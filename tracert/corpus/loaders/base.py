"""What a loader is: bytes of one kind of file in, text with its marks out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from tracert.corpus.model import Mark, Vectors


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a file is read, and what reading it may take.

    Bytes of the file, pages, characters of text, seconds, bytes of memory beyond what an idle
    reader has; of a zip of documents the files in it, the bytes that they unpack to in all, and
    how many times its packed size a large one may have.
    """

    max_bytes: int = 200_000_000
    max_pages: int = 5_000
    max_characters: int = 50_000_000
    max_seconds: float = 120.0
    max_memory: int = 1_500_000_000
    max_members: int = 2_000
    max_unpacked: int = 500_000_000
    max_ratio: int = 200


@dataclass(frozen=True, slots=True)
class Content:
    """What a loader found: clean text, and the marks, pages, warnings, vectors of a `Document`."""

    text: str
    marks: tuple[Mark, ...]
    pages: int | None = None
    warnings: tuple[str, ...] = ()
    vectors: Vectors | None = field(default=None, compare=False, repr=False)


class Loader(Protocol):
    """One kind of file. A further kind is one module and one line in the registry."""

    @property
    def kind(self) -> str:
        """The kind as `Document.kind` names it, e.g. 'pdf'."""
        ...

    @property
    def title(self) -> str:
        """The kind as a person calls it, e.g. 'PDF'."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The usual endings of such files, for a file dialogue; they decide nothing."""
        ...

    def recognises(self, data: bytes, name: str) -> bool:
        """Whether the content is of this kind; the name is a hint at most."""
        ...

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The text of the file, cleaned by `tracert.corpus.encoding.clean`.

        Raises:
            DocumentError: the file holds no text that can be read; the sentence says what to do.
        """
        ...


@runtime_checkable
class Unlocking(Loader, Protocol):
    """A loader of files that may be encrypted with a password that it can take."""

    def unlock(self, data: bytes, name: str, limits: Limits, password: str) -> Content:
        """As `load`, opened with the password; the empty one is tried first.

        Raises:
            PasswordError: the file needs a password, or another one.
            DocumentError: the file holds no text that can be read.
        """
        ...
