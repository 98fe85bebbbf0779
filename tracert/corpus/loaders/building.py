"""A document's text put together block by block, with a mark wherever page or headings change."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tracert.corpus.encoding import clean
from tracert.corpus.loaders.base import Content, Limits
from tracert.corpus.model import Mark
from tracert.errors import DocumentError

#: Signs that only steer the setting of a line: soft hyphens, places where a word may break.
_LAYOUT: Final = re.compile("[\u00ad\u200b\u2060]")
_MAX_TITLE: Final = 200
#: Headings inside headings at most: more is a program's mistake or an enemy's.
_MAX_DEPTH: Final = 12
#: Looked for where a run of blanks begins and nowhere inside it: runs may be long.
_BLANKS: Final = re.compile(r"(?<![ \t])[ \t]++(?=\n|\Z)")


class Builder:
    """Collects the blocks of one document: paragraphs, headings, items of lists, rows of tables.

    Offsets are exact because each block is cleaned before it is added and never touched again.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self._deadline = time.monotonic() + limits.max_seconds
        self._parts: list[str] = []
        self._length = 0
        self._marks: list[Mark] = []
        self._root: tuple[str, ...] = ()
        self._stack: list[tuple[int, str]] = []
        self._page: int | None = None
        self.warnings: list[str] = []
        #: Whether a limit was met: nothing more is taken.
        self.full = False

    @property
    def path(self) -> tuple[str, ...]:
        """The heading path that holds for the next block."""
        return self._root + tuple(title for _, title in self._stack)

    @property
    def empty(self) -> bool:
        """Whether no text has been added yet."""
        return not self._parts

    def root(self, *titles: str) -> None:
        """The outermost headings from here on; the ones inside them end."""
        self._root = tuple(title for title in map(as_title, titles) if title)[:_MAX_DEPTH]
        self._stack.clear()

    def heading(self, level: int, title: str) -> None:
        """A heading from here on, inside those of a smaller level; one without words is none."""
        title = as_title(title)
        if title:
            self._stack = [entry for entry in self._stack if entry[0] < level][-_MAX_DEPTH:]
            self._stack.append((level, title))

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is added inside stands beside the text: its headings end with it, not its title."""
        before = list(self._stack)
        yield
        title = [entry for entry in self._stack[:1] if entry[0] == 0]
        self._stack = before or title

    def page(self, number: int) -> None:
        """The page or slide from here on."""
        self._page = number

    def block(
        self, text: str, *, tight: bool = False, breaks: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Add a block, behind a blank line or, where it is `tight`, on the next line.

        Args:
            text: tidied (`tidied`); blank lines around it are left out, an empty one is no block.
            tight: whether it belongs to the block before, as an item or a row does.
            breaks: offsets in `text` at which a page begins, with its number, in order.
        """
        lead = len(text) - len(text.lstrip("\n"))
        body = text.strip("\n")
        if not body.strip():
            for _, number in breaks:
                self._page = number
            return
        if self._length + len(body) > self._limits.max_characters:
            self._stop(f"the first {self._limits.max_characters:,} characters were read")
        elif time.monotonic() > self._deadline:
            self._stop(f"what was read in {self._limits.max_seconds:,.0f} s is kept")
        if self.full:
            return
        if self._parts:
            between = "\n" if tight else "\n\n"
            self._parts.append(between)
            self._length += len(between)
        self._mark(self._length)
        for place, number in breaks:
            self._page = number
            # A break behind the last letter is the next block's.
            if place - lead < len(body):
                self._mark(self._length + max(0, place - lead))
        self._parts.append(body)
        self._length += len(body)

    def done(self, no_text: str, pages: int | None = None) -> Content:
        """What was collected.

        Args:
            no_text: the sentence for a document without any text.
            pages: how many pages or slides it has.

        Raises:
            DocumentError: there is no text.
        """
        if not self._parts:
            raise DocumentError(no_text)
        return Content("".join(self._parts), tuple(self._marks), pages, tuple(self.warnings))

    def _mark(self, start: int) -> None:
        mark = Mark(start, self._page, self.path)
        if self._marks and self._marks[-1].start == start:
            self._marks.pop()
        last = self._marks[-1] if self._marks else None
        if last is None or (last.page, last.heading_path) != (mark.page, mark.heading_path):
            self._marks.append(mark)

    def _stop(self, kept: str) -> None:
        if not self.full:
            self.full = True
            self.warnings.append(
                f"{self._name} is too long to read whole; {kept}. Split it into several files."
            )


def tidied(text: str) -> str:
    """Clean text without signs of layout, with plain spaces, and none at the ends of lines."""
    return _BLANKS.sub("", _LAYOUT.sub("", clean(text)).replace("\u00a0", " "))


def as_title(text: str) -> str:
    """The words of a heading on one line, cut where it is too long for one."""
    words = " ".join(tidied(text[: 4 * _MAX_TITLE]).split())
    return words if len(words) <= _MAX_TITLE else words[: _MAX_TITLE - 1].rstrip() + "…"


def as_row(cells: Sequence[str]) -> str:
    """The cells of a row on one line, joined by ' | '; empty ones at its end are left out."""
    filled = max((place for place, cell in enumerate(cells, 1) if cell.strip()), default=0)
    return " | ".join(cells[:filled])
