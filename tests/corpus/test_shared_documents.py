"""All files of other people's that lie beside the checkout: each ends in text or in a sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tracert.corpus.apart import Parser
from tracert.corpus.model import Document
from tracert.errors import DocumentError, PasswordError

pytestmark = pytest.mark.shared


@dataclass(frozen=True)
class Read:
    """The kind, some words of the text, and why it needs a remark, if it gets one."""

    kind: str
    words: str
    remark: str = ""


@dataclass(frozen=True)
class Refused:
    """Words of the sentence, and why there is no text."""

    words: str
    why: str
    locked: bool = False


_NO_LETTERS = "fuzzed: bytes that are valid in no encoding"
_POTATO = Read("pdf", "Potato")

TABLE: dict[str, Read | Refused] = {
    "docx/blk-inner-content.docx": Read("docx", "P1"),
    "docx/blk-paras-and-tables.docx": Read("docx", "Lorem ipsum"),
    "docx/comments-rich-para.docx": Read("docx", "Some text worthy of note"),
    "docx/having-images.docx": Refused("no text", "it holds pictures alone"),
    "docx/hdr-header-footer.docx": Read("docx", "section with header"),
    "docx/par-hyperlinks.docx": Read("docx", "awesome hyperlink"),
    "docx/sct-inner-content.docx": Read("docx", "P9"),
    "docx/test.docx": Read("docx", "python-docx was here!"),
    "epub/pride_and_prejudice_standardebooks.epub": Read("epub", "universally acknowledged"),
    "html/malformed_bs4_fuzz_1.html": Read("html", "fontipt", _NO_LETTERS),
    "html/malformed_bs4_fuzz_2.html": Read("html", "crip", _NO_LETTERS),
    "html/malformed_bs4_fuzz_3.html": Read("html", ">>>", _NO_LETTERS),
    "html/malformed_bs4_fuzz_4.html": Read("html", "S", _NO_LETTERS),
    # It begins with a sign no page begins with, and closes nothing: read as it stands.
    "html/malformed_bs4_fuzz_6.html": Read("text", "<applet>"),
    "html/pride_and_prejudice_gutenberg.htm": Read("html", "universally acknowledged"),
    "pdf/attachment_and_comments.pdf": Read("pdf", "The Crazy Ones"),
    "pdf/content_stream_errors.pdf": Read("pdf", "Potato", "one of its four pages is damaged"),
    "pdf/crazyones-encrypted-256.pdf": Refused("password", "AES-256", locked=True),
    "pdf/encrypted-file.pdf": Refused("password", "RC4", locked=True),
    "pdf/encrypted_aes256_r6.pdf": Refused("password", "AES-256, revision 6", locked=True),
    "pdf/encrypted_r6_empty_password.pdf": Read("pdf", "pdf encryption test"),
    "pdf/form_table_sf424.pdf": Read("pdf", "Type of Applicant"),
    "pdf/japanese_jo.pdf": Read("pdf", "ある程度まではみんなに共通いたします"),
    "pdf/latex_outline_4p.pdf": Read("pdf", "Contents"),
    "pdf/malformed_qpdf_bad-token-startxref.pdf": _POTATO,
    "pdf/malformed_qpdf_bad-xref-entry.pdf": _POTATO,
    # Five bytes, none of them of a PDF: the name decides nothing.
    "pdf/malformed_qpdf_bad1.pdf": Read("text", "oops"),
    "pdf/malformed_qpdf_bad10.pdf": _POTATO,
    "pdf/malformed_qpdf_bad13.pdf": _POTATO,
    "pdf/malformed_qpdf_bad22.pdf": _POTATO,
    "pdf/malformed_qpdf_bad28.pdf": _POTATO,
    "pdf/malformed_qpdf_bad5.pdf": _POTATO,
    "pdf/malformed_qpdf_bad7.pdf": Refused("damaged", "its list of pages is gone"),
    "pdf/malformed_qpdf_issue-100.pdf": Refused("damaged", "its list of pages is gone"),
    "pdf/malformed_qpdf_issue-263.pdf": Refused("damaged", "cut off behind the header"),
    "pdf/malformed_qpdf_issue-335a.pdf": Refused("no text that can be read", "fuzzed: no header"),
    "pdf/malformed_xref_simple1.pdf": Read("pdf", "Hello World", "its table of objects is gone"),
    "pdf/malformed_zen_of_python_corrupted.pdf": Read("pdf", "Beautiful is better than ugly"),
    "pdf/multilang_arabic_thai_cjk.pdf": Read("pdf", "مرحبا"),
    "pdf/outline_invalid_destinations.pdf": Read("pdf", "Contents"),
    "pdf/plain_text_crazyones.pdf": Read("pdf", "The Crazy Ones"),
    "pdf/rotated_scan_ocr_5p.pdf": Read("pdf", "Containership Operators"),
    "pdf/scanned_no_text_congress.pdf": Refused("OCR", "a scan"),
    "pdf/scanned_no_text_jbig2.pdf": Refused("OCR", "a scan"),
    "pdf/three_column_federal_register.pdf": Read("pdf", "FEDERAL REGISTER"),
    "pdf/two_column_scan_with_ocr_layer.pdf": Read("pdf", "LinnSequencer"),
}
#: As `manifest.json` beside the files names them.
PASSWORDS = {
    "pdf/crazyones-encrypted-256.pdf": ("password", "The Crazy Ones"),
    "pdf/encrypted-file.pdf": ("test", ""),
    "pdf/encrypted_aes256_r6.pdf": ("usersecret", "Hello"),
}


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data" / "documents"


@pytest.fixture(scope="module")
def outcomes(folder: Path) -> dict[str, Document | DocumentError]:
    """What becomes of each file of the table, read by one worker as a batch is."""
    found: dict[str, Document | DocumentError] = {}
    with Parser() as parser:
        for file in TABLE:
            try:
                loaded = parser.load((folder / file).read_bytes(), Path(file).name)
            except DocumentError as error:
                found[file] = error
            else:
                assert isinstance(loaded, Document)
                found[file] = loaded
    return found


def test_the_table_names_every_file(folder: Path) -> None:
    there = {path.relative_to(folder).as_posix() for path in folder.glob("*/*")}
    assert there == set(TABLE)
    assert len(TABLE) == 46
    assert Counter(type(outcome).__name__ for outcome in TABLE.values()) == {
        "Read": 36,
        "Refused": 10,
    }


@pytest.mark.parametrize("file", TABLE)
def test_it_ends_in_text_or_in_a_sentence(
    file: str, outcomes: dict[str, Document | DocumentError]
) -> None:
    expected, found = TABLE[file], outcomes[file]
    if isinstance(expected, Refused):
        assert isinstance(found, DocumentError), found
        sentence = str(found)
        assert expected.words in sentence
        assert Path(file).name in sentence
        assert sentence.endswith(".")
        assert isinstance(found, PasswordError) == expected.locked
        return
    assert isinstance(found, Document), found
    assert found.kind == expected.kind
    assert expected.words in found.text
    assert found.text.strip()
    assert bool(found.warnings) == bool(expected.remark), found.warnings


@pytest.mark.parametrize("file", PASSWORDS)
def test_with_its_password_it_ends_in_text(folder: Path, file: str) -> None:
    password, words = PASSWORDS[file]
    with Parser() as parser:
        try:
            loaded = parser.load((folder / file).read_bytes(), "a.pdf", password)
        except DocumentError as error:
            assert not words, error
            return
    assert isinstance(loaded, Document)
    assert words in loaded.text
