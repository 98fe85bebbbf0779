"""Windows worked by hand, and what must hold for every text and every setting."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.corpus.chunking import MAX_SIZE, Chunking, chunk
from tracert.corpus.model import Chunk, Document, Mark
from tracert.corpus.sentences import sentence_spans
from tracert.errors import SettingError

#: Words, sentences, blank runs, headings, wide and combining characters.
TEXTS = st.text(alphabet="ab. !?\n\tÉ。é́😀#-", max_size=400)


@st.composite
def chunkings(draw: st.DrawFn) -> Chunking:
    size = draw(st.integers(1, 60))
    return Chunking(size, draw(st.integers(0, size - 1)), draw(st.booleans()))


def document(text: str, marks: tuple[Mark, ...] | None = None) -> Document:
    marks = (Mark(0, None, ()),) if marks is None else marks
    return Document("a.txt", "text", text, marks, "0123456789abcdef" * 4)


def rebuilt(chunks: list[Chunk]) -> str:
    """The text again: from each chunk, what the ones before do not hold."""
    text = ""
    for each in chunks:
        text += each.text[len(text) - each.start :]
    return text


def test_windows_by_hand() -> None:
    # Length 23, size 10, stride 10 - 4 = 6: windows begin at 0, 6 and 12, and the one at 18
    # would be the last since 18 + 10 >= 23; the one at 12 ends at 22 < 23, so it is needed.
    text = "abcdefghijklmnopqrstuvw"
    spans = [(each.start, each.end) for each in chunk(document(text), Chunking(10, 4))]
    assert spans == [(0, 10), (6, 16), (12, 22), (18, 23)]


def test_window_that_ends_with_the_text_is_the_last() -> None:
    # 22 characters: the window at 12 ends exactly at 22, so nothing follows it.
    spans = [(each.start, each.end) for each in chunk(document("x" * 22), Chunking(10, 4))]
    assert spans == [(0, 10), (6, 16), (12, 22)]


def test_short_text_is_one_chunk_and_no_text_is_none() -> None:
    (only,) = chunk(document("Short."), Chunking())
    assert (only.text, only.start, only.end) == ("Short.", 0, 6)
    assert only.id == "0123456789ab:0"
    assert chunk(document("", ()), Chunking()) == []
    assert chunk(document(" \n\t "), Chunking(2, 1)) == []


def test_blank_windows_lengthen_their_neighbours() -> None:
    # Size 4, no overlap: 'abcd', four blanks, 'efgh'; the blank window joins 'abcd'.
    (first, second) = chunk(document("abcd    efgh"), Chunking(4, 0))
    assert (first.text, second.text) == ("abcd    ", "efgh")
    # A blank window at the beginning has none before it and joins the one after.
    (only,) = chunk(document("    abcd"), Chunking(4, 0))
    assert only.text == "    abcd"


def test_page_and_heading_are_those_at_the_first_character() -> None:
    marks = (Mark(0, 1, ("A",)), Mark(10, 1, ("A", "B")), Mark(15, 2, ("A", "B")))
    found = [
        (each.start, each.page, each.heading_path)
        for each in chunk(document("x" * 20, marks), Chunking(5, 0))
    ]
    assert found == [
        (0, 1, ("A",)),
        (5, 1, ("A",)),
        (10, 1, ("A", "B")),
        (15, 2, ("A", "B")),
    ]


def test_text_before_the_first_mark_has_no_page() -> None:
    (only,) = chunk(document("abc", ()), Chunking())
    assert (only.page, only.heading_path) == (None, ())


def test_sentences_snap_ends_and_starts() -> None:
    # Sentences of 30 characters begin at 0, 31, 62 and 93. Size 70, overlap 10: tolerance is
    # min(70 // 4, 60 // 3) = 17. The first window would end at 70; the sentence start 62 is
    # within 17 before it, so it ends there. The next would begin at 62 - 10 = 52; the nearest
    # sentence start is 62, within 17 and not after the end, so it begins there.
    text = " ".join(["Aaaa bbbb cccc dddd eeee ffff."] * 4)
    found = [(each.start, each.end) for each in chunk(document(text), Chunking(70, 10, True))]
    assert found == [(0, 62), (62, len(text))]


def test_sentences_out_of_reach_leave_the_window_as_it_is() -> None:
    text = "a" * 25
    snapped = chunk(document(text), Chunking(10, 4, True))
    assert snapped == chunk(document(text), Chunking(10, 4))


@given(TEXTS, chunkings())
def test_text_can_be_rebuilt_from_its_chunks(text: str, chunking: Chunking) -> None:
    chunks = chunk(document(text), chunking)
    if text.strip():
        assert rebuilt(chunks) == text
    else:
        assert chunks == []


@given(TEXTS, chunkings())
def test_offsets_order_and_ids(text: str, chunking: Chunking) -> None:
    chunks = chunk(document(text), chunking)
    assert chunks == chunk(document(text), chunking), "the same twice"
    for position, each in enumerate(chunks):
        assert each.text == text[each.start : each.end]
        assert each.text.strip()
        assert each.position == position
        assert each.id == f"0123456789ab:{position}"
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start <= before.end < after.end


@given(st.integers(1, 400), chunkings())
def test_fixed_windows_follow_the_formula(length: int, chunking: Chunking) -> None:
    # Independent count: one window, and one more for each stride that the rest needs.
    stride = chunking.size - chunking.overlap
    count = 1 + max(0, math.ceil((length - chunking.size) / stride))
    chunks = chunk(document("x" * length), Chunking(chunking.size, chunking.overlap))
    starts = [index * stride for index in range(count)]
    assert [each.start for each in chunks] == starts
    assert [each.end for each in chunks] == [min(start + chunking.size, length) for start in starts]


@given(TEXTS, st.integers(1, 60), st.data())
def test_only_blanks_make_a_window_longer(text: str, size: int, data: st.DataObject) -> None:
    # Every window reaches further than the one before by more than the overlap, so a blank one
    # that was merged left a run of more blanks than the overlap.
    overlap = data.draw(st.integers(0, size - 1))
    for each in chunk(document(text), Chunking(size, overlap)):
        if len(each.text) > size:
            assert max(len(run) for run in _blank_runs(each.text)) > overlap


def _blank_runs(text: str) -> list[str]:
    runs = [""]
    for character in text:
        runs = [*runs[:-1], runs[-1] + character] if character.isspace() else [*runs, ""]
    return runs


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20), st.integers(40, 90))
def test_snapped_starts_are_sentence_starts_where_sentences_are_short(
    lengths: list[int], size: int
) -> None:
    # Sentences of at most 12 characters are nearer than the tolerance of size // 4 >= 10 on
    # one side or the other, so that every window must begin at one.
    text = " ".join("A" * min(length, 10) + "." for length in lengths)
    begins = {start for start, _ in sentence_spans(text)}
    for each in chunk(document(text), Chunking(size, size // 4, True)):
        assert each.start in begins


@pytest.mark.parametrize(
    ("size", "overlap", "word"),
    [
        (0, 0, "size"),
        (-5, 0, "size"),
        (MAX_SIZE + 1, 0, "size"),
        (10, 10, "overlap"),
        (10, -1, "overlap"),
    ],
)
def test_settings_that_make_no_sense(size: int, overlap: int, word: str) -> None:
    with pytest.raises(SettingError, match=word) as caught:
        Chunking(size, overlap)
    assert "Pass" in str(caught.value)


@pytest.mark.shared
def test_a_whole_book(shared) -> None:
    from tracert.corpus.loaders import load_document

    book = shared / "data" / "books" / "pride_and_prejudice.txt"
    loaded = load_document(book.read_bytes(), book.name)
    chunks = chunk(loaded, Chunking())
    assert len(chunks) == 1 + math.ceil((len(loaded.text) - 500) / 400) == 1712
    assert rebuilt(chunks) == loaded.text
    assert chunks[-1].heading_path == ("Chapter 61",)
    snapped = chunk(loaded, Chunking(sentences=True))
    assert rebuilt(snapped) == loaded.text
    begins = {start for start, _ in sentence_spans(loaded.text)}
    inside = sum(each.start in begins for each in snapped)
    # Sentences here are long; those of more than twice the tolerance of 125 may be out of reach.
    assert inside > 0.9 * len(snapped)
