"""Chapters of plain text: found where they are plain, left alone where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracert.corpus.loaders import load_document


def paths(text: str) -> list[tuple[str, ...]]:
    return [mark.heading_path for mark in load_document(text.encode(), "a.txt").marks]


def test_divisions_nest() -> None:
    text = (
        "VOLUME I\n\n\nCHAPTER I\n\nText.\n\nCHAPTER II\n\nText.\n\nVOLUME II\n\nCHAPTER I\n\nText."
    )
    assert paths(text) == [
        ("VOLUME I",),
        ("VOLUME I", "CHAPTER I"),
        ("VOLUME I", "CHAPTER II"),
        ("VOLUME II",),
        ("VOLUME II", "CHAPTER I"),
    ]


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("Chapter 12", "Chapter 12"),
        ("CHAPTER XII.", "CHAPTER XII."),
        ("Chapter the Last", "Chapter the Last"),
        ("Part Two: The Road", "Part Two: The Road"),
        ("Chapter 3 - A  Visit", "Chapter 3 - A Visit"),
        ("Letter 4", "Letter 4"),
        ("ACT III", "ACT III"),
        ("THE END", "THE END"),
        ("A TALE OF TWO CITIES", "A TALE OF TWO CITIES"),
    ],
)
def test_headings(line: str, label: str) -> None:
    assert paths(f"Words before.\n\n{line}\n\nWords after.") == [(), (label,)]


def test_a_title_below_the_number_belongs_to_it() -> None:
    text = "Begin.\n\nCHAPTER I.\nDown the Rabbit-Hole\n\nAlice was tired."
    assert paths(text) == [(), ("CHAPTER I. Down the Rabbit-Hole",)]


@pytest.mark.parametrize(
    "text",
    [
        "Text.\n\nChapter 3 tells how they met, and it is long enough to be a sentence.\n\nText.",
        "Text.\n\nChapter 3\nis where this line goes on, as the paragraph that it is, for a long "
        "way, until at last it ends.\n\nText.",
        "Text.\nChapter 3\nText.",
        "Text.\n\nChapter 3\nshort line\nshort line\n\nText.",
        "Text.\n\nNO!\n\nText.",
        "Text.\n\n“HELP ME NOW”\n\nText.",
        "Text.\n\nIBM, HP, DEC,\n\nText.",
        "Text.\n\n12345-ABCDE-67890\n\nText.",
        "Text.\n\n* * *\n\nText.",
        "Contents\nChapter 1\nChapter 2\nChapter 3\n\nText.",
    ],
)
def test_what_is_no_heading(text: str) -> None:
    assert paths(text) == [()]


def test_text_is_kept_as_it_is() -> None:
    text = "  Indented.\n\n\n\tTab.  \n"
    assert load_document(text.encode(), "a.txt").text == text


@pytest.mark.shared
def test_books_have_their_chapters(shared: Path) -> None:
    books = shared / "data" / "books"
    pride = load_document((books / "pride_and_prejudice.txt").read_bytes(), "pride.txt")
    chapters = [
        mark.heading_path for mark in pride.marks if mark.heading_path[0] != "PRIDE AND PREJUDICE"
    ]
    assert chapters == [(f"Chapter {number}",) for number in range(1, 62)]
    emma = load_document((books / "emma.txt").read_bytes(), "emma.txt")
    chapters = [
        mark.heading_path
        for mark in emma.marks
        if len(mark.heading_path) == 2 and mark.heading_path[1].startswith("CHAPTER")
    ]
    # Three volumes of 18, 18 and 19 chapters.
    assert [
        sum(path[0] == f"VOLUME {volume}" for path in chapters) for volume in ("I", "II", "III")
    ] == [18, 18, 19]
