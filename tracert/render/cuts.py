"""A stretch of text with the cuts in it: which passage each piece belongs to, what two share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

Span = tuple[int, int]
Piece = tuple[str, str]

#: The roles of pieces: of an even or an odd passage, of several at once, the number of one.
EVEN: Final = "even"
ODD: Final = "odd"
SHARED: Final = "shared"
NUMBER: Final = "number"


def pieces(text: str, spans: Sequence[Span], start: int, end: int) -> list[Piece]:
    """`text[start:end]` in pieces, as (role, text), each passage's number where it begins.

    Passages are counted from 1. The numbers left out, the pieces joined are the stretch.

    Args:
        text: the whole document.
        spans: where its passages begin and end, in order; they cover the text.
        start: where the stretch begins.
        end: where it ends.
    """
    start, end = max(0, start), min(len(text), end)
    inside = [(number, span) for number, span in enumerate(spans) if _meets(span, start, end)]
    cuts = {start, end}
    for _, span in inside:
        cuts |= {place for place in span if start < place < end}
    places = sorted(cuts)
    begins = {span[0]: number for number, span in inside}
    out: list[Piece] = []
    for left, right in pairwise(places):
        if left in begins:
            out.append((NUMBER, f"{begins[left] + 1}"))
        over = [number for number, span in inside if span[0] <= left and right <= span[1]]
        if len(over) == 1:
            role = ODD if over[0] % 2 else EVEN
        else:
            role = SHARED if over else "around"
        out.append((role, text[left:right]))
    return out


def _meets(span: Span, start: int, end: int) -> bool:
    return span[0] < end and start < span[1]
