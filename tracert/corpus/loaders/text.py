"""Plain text, with chapters where the lines say so plainly."""

from __future__ import annotations

import re
from typing import Final

from tracert.corpus.encoding import SAMPLE, clean, decode, head
from tracert.corpus.loaders.base import Content, Limits
from tracert.corpus.model import Mark
from tracert.errors import DocumentError

_NUMBER: Final = (
    r"(?:\d{1,4}|[IVXLCDM]{1,8}|[ivxlcdm]{1,8}|(?:the\s+)?(?:first|second|third|fourth|fifth|sixth"
    r"|seventh|eighth|ninth|tenth|last|one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty))"
)
#: Words that head a division of a book, outermost first.
_DIVISIONS: Final = (("volume", "book", "part", "act"), ("chapter", "letter", "canto", "scene"))
_DIVISION: Final = re.compile(
    rf"(?P<word>volume|book|part|act|chapter|letter|canto|scene)\s+{_NUMBER}"
    r"(?:\s*[.:—–-]\s*(?P<rest>\S.*)|\.?)",
    re.IGNORECASE,
)
_CAPITALS: Final = len(_DIVISIONS) + 1
_MAX_HEADING: Final = 80


class TextLoader:
    """Text in any encoding; what no other loader knows and what is not binary."""

    kind = "text"
    title = "plain text"
    suffixes = (".txt", ".text")

    def recognises(self, data: bytes, name: str) -> bool:  # noqa: ARG002
        """Whether the bytes at the beginning can be read as text."""
        return decode(head(data, SAMPLE)) is not None

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The text as it stands, marks at chapters and at titles in capitals."""
        text, warnings = read_text(data, name, limits)
        return Content(text, _marks(text), warnings=warnings)


def read_text(data: bytes, name: str, limits: Limits) -> tuple[str, tuple[str, ...]]:
    """The bytes as clean text, and a warning where characters were lost.

    Raises:
        DocumentError: the bytes are no text, hold none, or hold too much.
    """
    decoded = decode(data)
    if decoded is None:
        raise DocumentError(f"{name} is not a text file. Save it as text in UTF-8 and pass that.")
    if len(decoded.text) > limits.max_characters:
        raise DocumentError(
            f"{name} has {len(decoded.text):,} characters, more than the "
            f"{limits.max_characters:,} that are read. Split it into several files."
        )
    text = clean(decoded.text)
    if not text.strip():
        raise DocumentError(f"{name} holds no text. Pass a file with something to read in it.")
    if decoded.lossy:
        return text, (
            f"Some bytes of {name} are no valid {decoded.encoding.upper()} and show as \ufffd; "
            "save the file as UTF-8 to mend them.",
        )
    return text, ()


def _marks(text: str) -> tuple[Mark, ...]:
    """Marks at headings: a line by itself that names a division or is all capitals."""
    lines = text.splitlines(keepends=True)
    marks = [Mark(0, None, ())]
    stack: list[tuple[int, str]] = []
    place = 0
    for index, line in enumerate(lines):
        level, label = _heading(lines, index)
        if level:
            stack = [entry for entry in stack if entry[0] < level] + [(level, label)]
            if place == 0:
                marks.clear()
            marks.append(Mark(place, None, tuple(entry[1] for entry in stack)))
        place += len(line)
    return tuple(marks)


def _heading(lines: list[str], index: int) -> tuple[int, str]:
    """The level and the label of the heading in this line, or (0, '')."""
    line = lines[index].strip()
    if not line or len(line) > _MAX_HEADING or not _blank(lines, index - 1):
        return 0, ""
    alone = _blank(lines, index + 1)
    division = _DIVISION.fullmatch(line)
    if division is not None:
        word = division["word"].lower()
        level = next(place for place, words in enumerate(_DIVISIONS, 1) if word in words)
        if alone:
            return level, " ".join(line.split())
        title = lines[index + 1].strip()
        if division["rest"] is None and len(title) <= _MAX_HEADING and _blank(lines, index + 2):
            return level, " ".join(f"{line} {title}".split())
        return 0, ""
    if alone and _is_title(line):
        return _CAPITALS, " ".join(line.split())
    return 0, ""


def _blank(lines: list[str], index: int) -> bool:
    return not 0 <= index < len(lines) or not lines[index].strip()


def _is_title(line: str) -> bool:
    """Capitals, at least five letters and twice as many as other signs, no speech, no dash."""
    letters = sum(character.isalpha() for character in line)
    others = sum(not character.isalpha() and not character.isspace() for character in line)
    plain = line[0] not in "\"'“‘«([" and line[-1] not in "!?,;:-—"
    return plain and line.isupper() and letters >= 5 and letters >= 2 * others
