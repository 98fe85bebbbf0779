"""Columns: pages whose text jumps between them are read in order, all others stay as they are."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.pdfs import pdf
from tracert.corpus.loaders import load_document
from tracert.corpus.loaders.columns import Box, in_order, torn_columns

WORDS = "the lamp of a harbour turned slowly over water while boats came home from cold sea"
#: A letter of Helvetica is about half as wide as it is high.
WIDTH = 0.5
LEFT, RIGHT, GAP, SIZE = 50, 562, 24, 9

Placed = tuple[float, float, float, str]


def line(tag: str, width: float) -> str:
    """Words that fill a line of that width, seeded by the tag that begins it."""
    rng, out = random.Random(tag), tag
    while (len(out) + 8) * SIZE * WIDTH < width:
        out += " " + rng.choice(WORDS.split())
    return out


def columns(count: int, lines: int, top: float = 690) -> list[list[Placed]]:
    """Lines of running text in so many columns; line r of column c begins with 'c_r_'."""
    width = (RIGHT - LEFT - (count - 1) * GAP) / count
    return [
        [
            (LEFT + c * (width + GAP), top - 12 * r, SIZE, line(f"c{c}r{r}", width))
            for r in range(lines)
        ]
        for c in range(count)
    ]


def by_line(page: list[list[Placed]]) -> list[Placed]:
    """In the order that tears columns: line by line across the page."""
    return [placed for row in zip(*page, strict=True) for placed in row]


def by_column(page: list[list[Placed]]) -> list[Placed]:
    return [placed for column in page for placed in column]


def text_of(*pages: list[Placed]) -> str:
    return load_document(pdf(pages), "a.pdf").text


def tags(text: str) -> list[str]:
    return [shown.split()[0] for shown in text.split("\n") if shown]


@pytest.mark.parametrize("count", [2, 3])
def test_torn_columns_are_read_one_after_the_other(count: int) -> None:
    page = columns(count, 20)
    assert text_of(by_line(page)).split("\n") == [shown for *_, shown in by_column(page)]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("order", [by_line, by_column])
def test_what_is_in_order_stays_as_it_is(
    count: int, order: Callable[[list[list[Placed]]], list[Placed]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if count > 1 and order is by_line:
        return  # the test above
    page = order(columns(count, 20))
    here = text_of(page)
    monkeypatch.setattr("tracert.corpus.loaders.pdfium.torn_columns", lambda _: ())
    assert here == text_of(page), "as without any look at columns"
    assert tags(here) == [shown.split()[0] for *_, shown in page]


def test_headings_across_part_the_page_into_bands() -> None:
    title = (LEFT, 740, 18, "A title that goes over the columns of the page")
    middle = (LEFT, 690 - 12 * 10 - 6, 14, "A heading that stands across in the middle of all")
    upper, lower = columns(2, 10), columns(2, 10, top=690 - 12 * 12 - 6)
    page = [title, *by_line(upper), middle, *by_line(lower)]
    expected = [title, *by_column(upper), middle, *by_column(lower)]
    assert text_of(page).split("\n") == [shown for *_, shown in expected]


def test_columns_of_different_length_and_offset_lines() -> None:
    left, right = columns(2, 20)
    # The right column is shorter and its lines stand five points lower.
    right = [(x, y - 5, size, shown) for x, y, size, shown in right[:14]]
    torn = sorted([*left, *right], key=lambda placed: -placed[1])
    assert text_of(torn).split("\n") == [shown for *_, shown in [*left, *right]]


@pytest.mark.parametrize("cells", [2, 3, 4])
def test_a_table_is_torn_no_more_than_before(cells: int) -> None:
    # Short cells of different length, as tables have; row by row is how a table is read.
    rng = random.Random(cells)
    step = (RIGHT - LEFT) / cells
    page = [
        (LEFT + c * step, 690 - 14 * r, SIZE, f"r{r}c{c} " + "9" * rng.randrange(2, 14))
        for r in range(25)
        for c in range(cells)
    ]
    found = text_of(page)
    rows = found.split("\n")
    assert len(rows) == 25
    assert all(rows[r].startswith(f"r{r}c0") and f"r{r}c{cells - 1}" in rows[r] for r in range(25))


def test_each_page_is_judged_by_itself() -> None:
    torn, whole = columns(2, 20), columns(1, 20)
    found = load_document(pdf([by_column(whole), by_line(torn), by_column(whole)]), "a.pdf")
    assert [mark.page for mark in found.marks] == [1, 2, 3]
    second = found.text[found.marks[1].start : found.marks[2].start].rstrip()
    assert second.split("\n") == [shown for *_, shown in by_column(torn)]


def test_pages_that_are_turned_are_left_alone() -> None:
    import io

    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf([by_line(columns(2, 20))]))))
    writer.pages[0].rotate(90)
    out = io.BytesIO()
    writer.write(out)
    assert "c1r19" in load_document(out.getvalue(), "a.pdf").text


# --- the geometry alone -------------------------------------------------------------------


def boxes(rows: list[tuple[float, float, float, str]]) -> list[Box]:
    """Boxes ten points high from (left, right, bottom, text)."""
    return [Box(left, bottom, right, bottom + 10, text) for left, right, bottom, text in rows]


def test_worked_by_hand() -> None:
    # Two columns, 0 to 100 and 120 to 220, seven lines each, line by line: 13 jumps of 7 lines.
    rows = []
    for r in range(7):
        rows += [(0, 100, 100 - 12 * r, f"l{r}"), (120, 220, 100 - 12 * r, f"r{r}")]
    found = torn_columns(boxes(rows))
    assert len(found) == 2
    assert found[0] == pytest.approx((0, 100), abs=2)
    assert found[1] == pytest.approx((120, 220), abs=2)
    assert in_order(boxes(rows), found).split("\n") == [f"{s}{r}" for s in "lr" for r in range(7)]
    # Column by column there is one jump: nothing is torn.
    assert torn_columns(boxes(sorted(rows, key=lambda row: row[0]))) == ()


def test_few_lines_are_no_columns() -> None:
    rows = [(x, x + 100, 100 - 12 * r, "a") for r in range(5) for x in (0, 120)]
    assert torn_columns(boxes(rows)) == ()


#: Places as PDFs hold them, and odd ones: upside down, without height, far away.
places = st.floats(-1e6, 1e6) | st.integers(0, 600).map(float) | st.sampled_from([0.0, 1e300])


@given(st.lists(st.builds(Box, places, places, places, places, st.text(max_size=4)), max_size=60))
def test_no_geometry_breaks_it_and_no_word_is_lost(given_boxes: list[Box]) -> None:
    found = torn_columns(given_boxes)
    assert len(found) in (0, 2, 3)
    for edges in (found, ((0.0, 100.0), (120.0, 220.0))):
        text = in_order(given_boxes, edges) if edges else None
        if text is not None:
            wanted = sorted("".join("".join(box.text.split()) for box in given_boxes))
            assert sorted("".join(text.split())) == wanted


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "order"),
    [
        (
            "three_column_federal_register.pdf",
            [
                "DEPARTMENT OF TRANSPORTATION",
                "SUMMARY: The FAA proposes",
                "Examining the AD Docket",
            ],
        ),
        (
            "two_column_scan_with_ocr_layer.pdf",
            ["32 Track MIDI", "Recording 3 Sequence", "Editing", "Creating a Song"],
        ),
    ],
)
def test_real_columns_are_in_the_order_of_reading(
    shared: Path, file: str, order: list[str]
) -> None:
    text = load_document((shared / "data" / "documents" / "pdf" / file).read_bytes(), file).text
    places = [text.index(words) for words in order]
    assert places == sorted(places)
