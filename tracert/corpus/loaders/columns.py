"""Columns of a page: whether its text jumps between them, and the order in which it is read.

Most files with columns hold their text column by column. Some hold it line by line across the
whole page, so that every line of the text is torn. Such a page is known by three signs: free
strips from top to bottom that part the lines into two or three columns; lines that fill their
column, as those of running text do and the cells of a table do not; and a text that jumps from
column to column about once a line. A page without all three is left as it is.

The order of reading: what crosses a strip (a title, a wide heading, a figure's caption) parts
the page into bands; a band is read column by column, each from the top.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

#: A free strip is at least this wide, as a share of the width of the text.
_STRIP: Final = 0.012
#: Of the lines at a place in a free strip at most this share goes across it.
_ACROSS: Final = 0.25
#: A column is at least this wide, as a share of the width of the text.
_NARROW: Final = 0.15
#: Fewer lines in a column are no column of running text.
_FEWEST: Final = 6
#: A line is full that has this share of the width of its column; so many of the lines are.
_FULL: Final = 0.75
_MOSTLY: Final = 0.5
#: Jumps between columns, as a share of the lines of the shorter one, that make a torn page.
_JUMPS: Final = 0.5
_MOST_COLUMNS: Final = 3
#: Places across the page at which the strips are looked for.
_PLACES: Final = 400
#: Boxes of which the middles differ by less than this share of their height are on one line.
_SAME_LINE: Final = 0.5
#: A gap of this share of the height of the letters stands for a blank.
_BLANK: Final = 0.12
#: Words of one line stand closer than this share of their height. A line that begins within a
#: share of the usual height from the left edge of a column belongs to the column all the same,
#: unless it is larger than the others.
_WORDS: Final = 0.5
_EDGE: Final = 0.25
_LARGE: Final = 1.2
#: Share of a strip, from its right, in which what begins belongs to the column on the right.
_INTO: Final = 0.3


@dataclass(frozen=True, slots=True)
class Box:
    """Some text of one line: where it stands, in points from the lower left corner."""

    left: float
    bottom: float
    right: float
    top: float
    text: str = ""

    @property
    def middle(self) -> float:
        """Half way up."""
        return (self.bottom + self.top) / 2

    @property
    def height(self) -> float:
        """From the bottom to the top."""
        return self.top - self.bottom


def torn_columns(boxes: Sequence[Box]) -> tuple[tuple[float, float], ...]:
    """The columns of a page whose text jumps between them, from left to right; else nothing.

    Args:
        boxes: the boxes of a page in the order of its text.
    """
    shown = [box for box in boxes if box.right > box.left and box.top > box.bottom]
    if len(shown) < 2 * _FEWEST:
        return ()
    columns = _columns(shown)
    if not 2 <= len(columns) <= _MOST_COLUMNS:
        return ()
    lines = [
        _lines([box for box in shown if _of(box, columns) == at]) for at in range(len(columns))
    ]
    if not all(_is_prose(some, column) for some, column in zip(lines, columns, strict=True)):
        return ()
    order = [at for at in (_of(box, columns) for box in shown) if at is not None]
    jumps = sum(before != after for before, after in pairwise(order))
    return columns if jumps >= _JUMPS * min(map(len, lines)) else ()


def in_order(boxes: Sequence[Box], columns: Sequence[tuple[float, float]]) -> str:
    """The text of a page of columns in the order of reading, a line each.

    Args:
        boxes: boxes with their text, in any order.
        columns: left and right edges, from left to right.
    """
    out: list[str] = []
    band: list[list[list[Box]]] = [[] for _ in columns]

    def flush() -> None:
        for column in band:
            out.extend(_joined(line) for line in column)
            column.clear()

    written = [box for box in boxes if box.text.strip()]
    body = statistics.median([box.height for box in written]) if written else 0.0
    for line in _lines(written):
        parts = _parted(line, columns, body)
        if parts is None:
            flush()
            out.append(_joined(line))
        else:
            for at, part in parts:
                band[at].append(part)
    flush()
    return "\n".join(out)


def _parted(
    line: list[Box], columns: Sequence[tuple[float, float]], body: float
) -> list[tuple[int, list[Box]]] | None:
    """The boxes of a line by column, None where it goes across; `body` is the usual height."""
    parts: dict[int, list[Box]] = {}
    for box in line:
        at = _of(box, columns)
        if at is None:
            return None
        parts.setdefault(at, []).append(box)
    found = sorted(parts)
    for before, after in pairwise(found):
        # Words of one wide line stand as close over a strip as anywhere else, and where they
        # happen to, not where the column begins.
        first = parts[after][0]
        close = first.left - parts[before][-1].right < _WORDS * first.height
        begins = abs(first.left - columns[after][0]) <= _EDGE * body
        if close and not (begins and first.height <= _LARGE * body):
            return None
    return [(at, parts[at]) for at in found]


def _columns(boxes: Sequence[Box]) -> tuple[tuple[float, float], ...]:
    """What lies between the free strips, from the left edge of the text to the right."""
    left, right = min(box.left for box in boxes), max(box.right for box in boxes)
    step = (right - left) / _PLACES
    if step <= 0:
        return ()
    covered = [0] * (_PLACES + 1)
    for line in _lines(boxes):
        for start, end in _runs(line):
            covered[int((start - left) / step)] += 1
            covered[min(_PLACES, int((end - left) / step) + 1)] -= 1
    depth, depths = 0, []
    for change in covered[:_PLACES]:
        depth += change
        depths.append(depth)
    bound = _ACROSS * statistics.median(depths)
    found: list[tuple[float, float]] = []
    begin: int | None = None
    free = 0
    for place, lines in enumerate([*depths, 0]):
        if lines > bound and place < _PLACES:
            if begin is None:
                begin = place
            elif free >= max(2, _STRIP * _PLACES):
                found.append((left + begin * step, left + (place - free) * step))
                begin = place
            free = 0
        else:
            free += 1
    if begin is not None:
        found.append((left + begin * step, right))
    narrow = _NARROW * (right - left)
    return tuple(found) if all(end - start >= narrow for start, end in found) else ()


def _runs(line: list[Box]) -> Iterator[tuple[float, float]]:
    """The stretches of a line without a gap of more than a letter's height."""
    start, end = line[0].left, line[0].right
    for box in line[1:]:
        if box.left - end > 0.7 * box.height:
            yield start, end
            start = box.left
        end = max(end, box.right)
    yield start, end


def _of(box: Box, columns: Sequence[tuple[float, float]]) -> int | None:
    """The column that a box stands in, None where it goes across a strip.

    Lines mostly begin at one place and end at many, so that a few reach into the strip behind.
    """
    at = 0
    for before, after in pairwise(columns):
        if box.left < after[0] - _INTO * (after[0] - before[1]):
            return at if box.right <= after[0] else None
        at += 1
    return at


def _is_prose(lines: Sequence[list[Box]], column: tuple[float, float]) -> bool:
    width = column[1] - column[0]
    full = sum(line[-1].right - line[0].left >= _FULL * width for line in lines)
    return len(lines) >= _FEWEST and full >= _MOSTLY * len(lines)


def _lines(boxes: Sequence[Box]) -> list[list[Box]]:
    """The boxes by line, from the top, each line from the left."""
    lines: list[list[Box]] = []
    middle = height = 0.0
    for box in sorted(boxes, key=lambda box: (-box.middle, box.left)):
        if lines and middle - box.middle < _SAME_LINE * min(height, max(box.height, height / 2)):
            lines[-1].append(box)
        else:
            lines.append([box])
            middle, height = box.middle, box.height
    for line in lines:
        line.sort(key=lambda box: box.left)
    return lines


def _joined(line: Sequence[Box]) -> str:
    """The text of a line, with a blank where there is a gap."""
    out = line[0].text.strip()
    for before, after in pairwise(line):
        if after.left - before.right > _BLANK * after.height or before.text.endswith(" "):
            out += " "
        out += after.text.strip()
    return " ".join(out.split())
