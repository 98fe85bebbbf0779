"""Text for a terminal: wrapped, without control characters, and a line of progress."""

from __future__ import annotations

import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

_WIDEST: Final = 100
#: Characters that turn the direction of the text after them.
_TURNING: Final = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: str) -> str:
    """The text on one line, with nothing in it that a terminal obeys.

    A document may hold escape sequences; printed as they are they could clear the screen or
    rename the window.
    """
    return _harmless(" ".join(text.split()))


def _harmless(text: str) -> str:
    return "".join(
        character
        for character in text
        if unicodedata.category(character) != "Cc" and character not in _TURNING
    )


def say(text: str = "", *, first: str = "", indent: str = "") -> None:
    """Print a paragraph wrapped to the terminal; `first` leads, `indent` the lines after it."""
    first = _harmless(first)
    width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)
    print(
        textwrap.fill(
            clean(text),
            width=max(width, len(first) + 20),
            initial_indent=first,
            subsequent_indent=indent or " " * len(first),
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


@contextmanager
def progress_line(stream: TextIO = sys.stderr) -> Iterator[Callable[[str], None]]:
    """A function that shows a line in place of the last one; silent where nobody watches."""
    shown = 0

    def show(text: str) -> None:
        nonlocal shown
        if stream.isatty():
            stream.write("\r" + clean(text).ljust(shown))
            stream.flush()
            shown = len(text)

    try:
        yield show
    finally:
        if shown:
            stream.write("\r" + " " * shown + "\r")
            stream.flush()
