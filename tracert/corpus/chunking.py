"""Document to passages: windows of fixed length with overlap, as in the Tracert paper."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracert.corpus.model import Chunk, Document, Mark
from tracert.corpus.sentences import sentence_spans
from tracert.errors import SettingError

#: The largest window, in characters; longer ones are of no use to any embedder here.
MAX_SIZE = 100_000
#: Kinds of documents whose marks are the beginnings of passages, and what parts these.
PASSAGES = frozenset({"csv", "jsonl"})
GAP = "\n\n"
#: The longest passage of such a file that stays one, in characters: about 2,000 tokens, of which
#: the embedders here read 256 and more.
LONGEST = 8_000
#: Kinds whose pages are slides; the same gap parts these.
SLIDES = frozenset({"pptx"})


@dataclass(frozen=True, slots=True)
class Chunking:
    """How a text is cut: `size` and `overlap` in characters, boundaries snapped or not.

    Raises:
        SettingError: a size below 1 or above 100,000, or an overlap that is negative or not
            smaller than the size.
    """

    size: int = 500
    overlap: int = 100
    sentences: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.size <= MAX_SIZE:
            raise SettingError(
                f"The chunk size {self.size} is out of range. Pass 1 to {MAX_SIZE:,} characters."
            )
        if not 0 <= self.overlap < self.size:
            raise SettingError(
                f"The overlap {self.overlap} does not fit a chunk size of {self.size}. "
                f"Pass 0 to {self.size - 1}."
            )


def chunk(document: Document, chunking: Chunking) -> list[Chunk]:
    """The passages of a document, in order.

    Without `sentences`, passage i is text[i * (size - overlap):][:size] and the last one ends
    where the text ends. With `sentences`, ends and starts move to the nearest start of a
    sentence within a tolerance of min(size / 4, (size - overlap) / 3), passages growing no
    longer than `size`. Together the passages cover the text: cutting from each what the one
    before holds already and joining the rest gives `document.text` back.

    A window of nothing but white space becomes no passage of its own, it lengthens the passage
    before (or the first one after); a text of nothing but white space has none.

    A document of passages (`PASSAGES`) is cut already: each of them is one passage here, without
    the gap behind it, unless it is longer than `LONGEST` and so cut like any text. No passage
    reaches from one slide into the next (`SLIDES`): each slide is cut like a text of its own.

    Page and heading path of a passage are those in force at its first character, even where
    the next page begins inside it.
    """
    starts = [mark.start for mark in document.marks]
    prefix = document.fingerprint[:12]
    chunks: list[Chunk] = []
    for position, (start, end) in enumerate(passages(document, chunking)):
        mark = _mark_at(document.marks, starts, start)
        chunks.append(
            Chunk(
                id=f"{prefix}:{position}",
                text=document.text[start:end],
                document=document.name,
                document_fingerprint=document.fingerprint,
                position=position,
                page=mark.page if mark else None,
                heading_path=mark.heading_path if mark else (),
                start=start,
                end=end,
            )
        )
    return chunks


def _mark_at(marks: tuple[Mark, ...], starts: list[int], place: int) -> Mark | None:
    """The last mark that stands at or before the place."""
    index = bisect_right(starts, place) - 1
    return marks[index] if index >= 0 else None


def passages(document: Document, chunking: Chunking) -> list[tuple[int, int]]:
    """Where the passages of a document begin and end, in order; see `chunk`."""
    places = [(mark.start, mark.page) for mark in document.marks]
    return cut(document.text, document.kind, places, chunking)


def cut(
    text: str, kind: str, places: Sequence[tuple[int, int | None]], chunking: Chunking
) -> list[tuple[int, int]]:
    """Where the passages of a text of that kind begin and end, in order; see `chunk`.

    `places` are offsets, the beginnings of passages or slides among them, and the page at each.
    """
    if kind in PASSAGES:
        starts, longest = [start for start, _ in places], LONGEST
    elif kind in SLIDES:
        pages = [None, *(page for _, page in places)]
        starts = [
            start for (start, page), before in zip(places, pages, strict=False) if page != before
        ]
        longest = 0
    else:
        return spans(text, chunking)
    ends = [start - len(GAP) for start in starts[1:]] + [len(text)]
    found: list[tuple[int, int]] = []
    for start, end in zip(starts, ends, strict=True):
        if end - start <= longest:
            found.append((start, end))
        else:
            inside = spans(text[start:end], chunking)
            found += [(start + first, start + last) for first, last in inside]
    return found


def spans(text: str, chunking: Chunking) -> list[tuple[int, int]]:
    """Where the passages of a text begin and end, in order; see `chunk`."""
    windows = _snapped(text, chunking) if chunking.sentences else _fixed(len(text), chunking)
    found: list[tuple[int, int]] = []
    waiting: int | None = None
    for start, end in windows:
        if text[start:end].isspace():
            if found:
                found[-1] = (found[-1][0], end)
            elif waiting is None:
                waiting = start
            continue
        found.append((start if waiting is None else waiting, end))
        waiting = None
    return found


def _fixed(length: int, chunking: Chunking) -> Iterator[tuple[int, int]]:
    if length == 0:
        return
    stride = chunking.size - chunking.overlap
    start = 0
    while start + chunking.size < length:
        yield start, start + chunking.size
        start += stride
    yield start, length


def _snapped(text: str, chunking: Chunking) -> Iterator[tuple[int, int]]:
    """Windows whose ends and starts are sentence starts where one is near enough.

    The tolerance is at most a third of the stride, so that two snaps towards the start still
    leave every window beginning after the one before.
    """
    if not text:
        return
    length, size, overlap = len(text), chunking.size, chunking.overlap
    tolerance = min(size // 4, (size - overlap) // 3)
    places = [start for start, _ in sentence_spans(text)]
    start = 0
    while start + size < length:
        nominal_end = start + size
        before = bisect_right(places, nominal_end) - 1
        snaps = before >= 0 and places[before] >= nominal_end - tolerance
        end = places[before] if snaps else nominal_end
        yield start, end
        start = _nearest(places, end - overlap, tolerance, end)
    yield start, length


def _nearest(places: list[int], wanted: int, tolerance: int, limit: int) -> int:
    """The place nearest to the wanted one within the tolerance and the limit, or the wanted."""
    index = bisect_left(places, wanted)
    near = [
        place
        for place in places[max(0, index - 1) : index + 1]
        if abs(place - wanted) <= tolerance and place <= limit
    ]
    return min(near, key=lambda place: (abs(place - wanted), place), default=wanted)
