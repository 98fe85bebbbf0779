"""Where the sentences of a text stand, by offsets: for highlights, extracts and snapping."""

from __future__ import annotations

import re
from typing import Final

#: A full stop after one of these ends no sentence: titles of people and Latin shorthand.
_ABBREVIATION: Final = re.compile(
    r"mr|mrs|ms|messrs|mme|mlle|dr|prof|rev|hon|st|jr|sr|capt|col|gen|lt|maj|sgt|gov|e\.g|i\.e"
    r"|vs|viz|cf|ca|approx",
    re.IGNORECASE,
)
#: Nor after one of these, where a number follows: parts of works and months.
_BEFORE_NUMBER: Final = re.compile(
    r"nos?|vols?|figs?|eqs?|secs?|ch|chap|pp?|art|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec",
    re.IGNORECASE,
)

#: A terminator with what closes it, then a gap or the end; scripts without gaps need none.
_END: Final = re.compile(
    r"(?<![.!?…؟۔।])(?P<mark>[.!?…؟۔।]++)[\"'”’»)\]*_]*+(?=\s|\Z)"
    r"|[。！？｡]+[”’」』）]*|(?P<gap>\n[^\S\n]*\n\s*)"
    r"|(?P<item>\n(?=[^\S\n]*(?:[-*+•]|\d{1,3}[.)]|\#{1,6})[^\S\n]))"
)
_HEADING: Final = re.compile(r"[^\S\n]{0,3}\#{1,6}[^\S\n][^\n]*")
_WORD_BEFORE: Final = re.compile(r"[^\s(\[\"'“‘]*\Z")
_NEXT: Final = re.compile(r"\s*[\"'“‘«(\[*_]*(\S)")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The sentences of a text as (start, end), in order, without blank edges.

    Every character that is no white space lies in exactly one span. A sentence ends at
    `.`, `!`, `?` or their like with white space behind and no small letter after it, at a
    blank line, after a markdown heading and before an item of a list. Common English
    abbreviations and initials do not end one. Rules of this kind err at times, as at
    "the U.S. Senate"; nothing but the convenience of a reader hangs on it.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match["mark"] is not None and not _ends(text, match):
            continue
        _add(text, start, match.end(), spans)
        start = match.end()
    _add(text, start, len(text), spans)
    return spans


def _ends(text: str, match: re.Match[str]) -> bool:
    """Whether the terminator found ends a sentence."""
    after = _NEXT.match(text, match.end())
    if after is not None and after[1].islower():
        return False
    if match["mark"] != ".":
        return True
    word = _WORD_BEFORE.search(text, max(0, match.start() - 24), match.start())
    before = word[0] if word is not None else ""
    initial = len(before) == 1 and before.isupper() and before != "I"
    if initial or _ABBREVIATION.fullmatch(before):
        return False
    number = after is not None and (after[1].isdigit() or after[1] in "IVXLC")
    return not (number and _BEFORE_NUMBER.fullmatch(before))


def _add(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    """Add text[start:end] without its blank edges, a markdown heading apart from the rest."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start == end:
        return
    heading = _HEADING.match(text, start, end)
    if heading is not None and heading.end() < end:
        spans.append((start, start + len(heading[0].rstrip())))
        _add(text, heading.end(), end, spans)
    else:
        spans.append((start, end))
