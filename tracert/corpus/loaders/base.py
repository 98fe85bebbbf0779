"""What a loader is: bytes of one kind of file in, text with its marks out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tracert.corpus.model import Mark


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a file is read: bytes of the file, pages, characters of text, seconds."""

    max_bytes: int = 200_000_000
    max_pages: int = 5_000
    max_characters: int = 50_000_000
    max_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Content:
    """What a loader found: clean text, and the marks, pages and warnings of a `Document`."""

    text: str
    marks: tuple[Mark, ...]
    pages: int | None = None
    warnings: tuple[str, ...] = ()


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
