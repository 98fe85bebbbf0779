"""PDF: pages, outline, locks and damage."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import pytest

from tests.corpus.pdfs import pdf
from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import Limits, load_document
from tracert.corpus.loaders.pdfium import SecondReader
from tracert.corpus.model import Mark
from tracert.errors import DocumentError


def test_pages_are_joined_by_blank_lines_and_marked() -> None:
    document = load_document(pdf(["One\ntwo", "Three", "Four"]), "a.pdf")
    assert document.text == "One\ntwo\n\nThree\n\nFour"
    assert document.pages == 3
    # 'One\ntwo' has 7 characters and the gap 2; 'Three' has 5 and the gap 2.
    assert document.marks == (Mark(0, 1, ()), Mark(9, 2, ()), Mark(16, 3, ()))
    assert document.warnings == ()


def test_chunks_know_their_page() -> None:
    document = load_document(pdf(["a" * 30, "b" * 30]), "a.pdf")
    assert [each.page for each in chunk(document, Chunking(16, 0))] == [1, 1, 2, 2]


def test_pages_without_text_are_skipped_and_counted() -> None:
    document = load_document(pdf([None, "Two", None, "Four"]), "a.pdf")
    assert document.text == "Two\n\nFour"
    assert [mark.page for mark in document.marks] == [2, 4]
    assert document.pages == 4


def test_a_scan_is_refused_with_the_remedy() -> None:
    with pytest.raises(DocumentError, match=r"no text layer.*OCR"):
        load_document(pdf([None, None]), "scan.pdf")


def test_outline_gives_heading_paths_at_the_titles() -> None:
    pages = ["Preface words", "Alpha\nwords\nBeta\nwords", "more words"]
    outline = [("Book", 0, 0), ("Alpha", 1, 1), ("Beta", 1, 1), ("No such line", 2, 0)]
    document = load_document(pdf(pages, outline=outline), "a.pdf")
    found = [
        (mark.page, mark.heading_path, document.text[mark.start :].split()[0])
        for mark in document.marks
    ]
    assert found == [
        (1, ("Book",), "Preface"),
        (2, ("Book", "Alpha"), "Alpha"),
        (2, ("Book", "Beta"), "Beta"),
        # A title that is not on its page counts from the top of the page.
        (3, ("No such line",), "more"),
    ]


def test_the_path_goes_on_over_pages_and_over_pages_without_text() -> None:
    document = load_document(pdf(["A\nx", None, "y"], outline=[("A", 0, 0), ("B", 1, 0)]), "a.pdf")
    assert [mark.heading_path for mark in document.marks] == [("A",), ("B",)]


def test_usage_restrictions_do_not_lock_and_a_password_does() -> None:
    assert load_document(pdf(["Secret"], user_password=""), "a.pdf").text == "Secret"
    with pytest.raises(DocumentError, match="password"):
        load_document(pdf(["Secret"], user_password="x"), "a.pdf")


def test_damaged_pages_are_named_and_the_others_kept() -> None:
    document = load_document(pdf(["One", "Two", "Three"], broken=[1]), "a.pdf")
    assert document.text == "One\n\nThree"
    (warning,) = document.warnings
    assert "1 of the pages" in warning
    assert warning.endswith(": 2.")


def test_a_page_that_one_reader_drops_is_recovered_by_the_other_and_named() -> None:
    document = load_document(pdf(["One", "Two", "Three"], strange=[1]), "a.pdf")
    assert document.text == "One\n\nTwo\n\nThree"
    (warning,) = document.warnings
    assert "damaged" in warning
    assert warning.endswith(": 2.")


def test_a_file_whose_every_page_is_damaged_is_refused() -> None:
    with pytest.raises(DocumentError, match=r"No page of a\.pdf"):
        load_document(pdf(["One"], broken=[0]), "a.pdf")


def test_a_lost_table_of_objects_is_mended() -> None:
    data = pdf(["One"])
    document = load_document(data[: data.rindex(b"startxref")], "a.pdf")
    assert document.text == "One"
    assert "damaged" in document.warnings[0]


@pytest.mark.parametrize("data", [b"%PDF-1.7", b"%PDF-1.7\n%%EOF", b"%PDF-1.4\n1 0 obj\n<<"])
def test_a_header_alone_is_damaged(data: bytes) -> None:
    with pytest.raises(DocumentError, match="damaged"):
        load_document(data, "a.pdf")


def test_more_pages_than_the_limit_are_told() -> None:
    document = load_document(pdf(["One", "Two", "Three"]), "a.pdf", Limits(max_pages=2))
    assert document.text == "One\n\nTwo"
    assert document.pages == 3
    assert "first 2" in document.warnings[0]


def test_more_characters_than_the_limit_are_told() -> None:
    document = load_document(pdf(["One", "Two", "Three"]), "a.pdf", Limits(max_characters=4))
    assert document.text == "One\n\nTwo"
    assert "pages from 3 on" in document.warnings[0]


def test_time_is_bounded() -> None:
    with pytest.raises(DocumentError):
        load_document(pdf(["One", "Two"]), "a.pdf", Limits(max_seconds=0.0))


def test_damage_makes_no_noise(caplog: pytest.LogCaptureFixture) -> None:
    level = logging.getLogger("pypdf").level
    data = pdf(["One", "Two"], broken=[0])
    load_document(data[: data.rindex(b"startxref")], "a.pdf")
    assert caplog.records == []
    assert logging.getLogger("pypdf").level == level, "the log is as it was"


def test_no_mutation_raises_anything_but_a_sentence() -> None:
    # A seeded fuzz: bytes changed, cut out and doubled.
    rng = random.Random(7)
    original = pdf(["One page", "Another page"], outline=[("One", 0, 0), ("Another", 1, 1)])
    outcomes = set()
    for _ in range(400):
        data = bytearray(original)
        for _ in range(rng.choice((1, 4, 20))):
            place = rng.randrange(len(data))
            match rng.randrange(3):
                case 0:
                    data[place] = rng.randrange(256)
                case 1:
                    del data[place : place + rng.randrange(30)]
                case _:
                    data[place:place] = data[place : place + rng.randrange(30)]
        try:
            outcomes.add(load_document(bytes(data), "a.pdf").kind)
        except DocumentError:
            outcomes.add("refused")
    assert outcomes >= {"pdf", "refused"}


@pytest.mark.shared
def test_fonts_that_hide_their_letters_are_read_by_pdfium_or_told(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its fonts name Japanese glyphs without saying which characters they are.
    folder = shared / "data" / "documents" / "pdf"
    data = (folder / "japanese_jo.pdf").read_bytes()
    found = load_document(data, "jo.pdf")
    assert "みんなのおのおののなかのすべてですから" in found.text
    assert found.warnings == ()
    monkeypatch.setattr(SecondReader, "text", lambda self, number: "")
    assert "no letters" in load_document(data, "jo.pdf").warnings[0]
    several = load_document((folder / "multilang_arabic_thai_cjk.pdf").read_bytes(), "many.pdf")
    assert several.warnings == ()


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("plain_text_crazyones.pdf", "The Crazy Ones"),
        ("encrypted_r6_empty_password.pdf", "pdf encryption test"),
        ("malformed_xref_simple1.pdf", "Hello World"),
        ("malformed_zen_of_python_corrupted.pdf", "Beautiful is better than ugly"),
        ("multilang_arabic_thai_cjk.pdf", "مرحبا"),
        ("three_column_federal_register.pdf", "FEDERAL REGISTER"),
        ("two_column_scan_with_ocr_layer.pdf", "LinnSequencer"),
    ],
)
def test_real_files_are_read(shared: Path, file: str, words: str) -> None:
    data = (shared / "data" / "documents" / "pdf" / file).read_bytes()
    assert words in load_document(data, file).text


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "word"),
    [
        ("crazyones-encrypted-256.pdf", "password"),
        ("encrypted-file.pdf", "password"),
        ("encrypted_aes256_r6.pdf", "password"),
        ("scanned_no_text_congress.pdf", "OCR"),
        ("scanned_no_text_jbig2.pdf", "OCR"),
        ("malformed_qpdf_bad7.pdf", "damaged"),
        ("malformed_qpdf_issue-263.pdf", "damaged"),
    ],
)
def test_real_files_are_refused(shared: Path, file: str, word: str) -> None:
    data = (shared / "data" / "documents" / "pdf" / file).read_bytes()
    with pytest.raises(DocumentError, match=word):
        load_document(data, file)
