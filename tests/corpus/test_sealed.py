"""Office files that are encrypted with a password, sealed here by msoffcrypto itself."""

from __future__ import annotations

import io
import logging
import random

import docx
import pptx
import pytest
from msoffcrypto.format.ooxml import OOXMLFile

from tests.corpus.documents import check, hurt, packed
from tracert.corpus.apart import Parser
from tracert.corpus.loaders import load_document
from tracert.corpus.model import Document
from tracert.errors import DocumentError, PasswordError
from tracert.indexing import File
from tracert.reading import read

PASSWORD = "Sesame ä 1"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def word() -> bytes:
    made, buffer = docx.Document(), io.BytesIO()
    for number in range(30):
        made.add_heading(f"Head {number}", 1)
        made.add_paragraph(f"The lamp number {number} was lit at dusk.")
    made.save(buffer)
    return buffer.getvalue()


def slides() -> bytes:
    made, buffer = pptx.Presentation(), io.BytesIO()
    made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = "The lamp was lit."
    made.save(buffer)
    return buffer.getvalue()


def sealed(data: bytes) -> bytes:
    buffer = io.BytesIO()
    OOXMLFile(io.BytesIO(data)).encrypt(PASSWORD, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(("make", "kind"), [(word, "docx"), (slides, "pptx")])
def test_with_its_password_it_is_the_file_that_was_sealed(make, kind: str) -> None:
    plain = make()
    found = load_document(sealed(plain), f"a.{kind}", password=PASSWORD)
    assert found.kind == kind
    check(found)
    assert found == load_document(plain, f"a.{kind}")


def test_a_missing_and_a_wrong_password_are_asked_for_again() -> None:
    data = sealed(word())
    with pytest.raises(PasswordError, match=r"a\.docx is protected by a password\. Give"):
        load_document(data, "a.docx")
    with pytest.raises(PasswordError, match=r"not the password of a\.docx"):
        load_document(data, "a.docx", password="Sesame")


def test_a_batch_asks_and_goes_on_and_the_process_apart_opens_it() -> None:
    data = sealed(word())
    first, second = read([File("a.docx", data), File("b.txt", b"Plain words.")])
    assert first.locked
    assert second.document is not None
    with Parser() as parser:
        found = parser.load(data, "a.docx", PASSWORD)
    assert isinstance(found, Document)
    assert "lamp number 7" in found.text


def test_a_sheet_is_said_to_be_one_once_it_is_open() -> None:
    types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    padding = random.Random(1).randbytes(9_000)
    parts = {"[Content_Types].xml": types, "xl/workbook.xml": "<x/>", "xl/media/a.png": padding}
    data = sealed(packed(parts))
    with pytest.raises(PasswordError):
        load_document(data, "a.xlsx")
    with pytest.raises(DocumentError, match=r"a spreadsheet\. Save its sheets as CSV"):
        load_document(data, "a.xlsx", password=PASSWORD)


def test_rights_management_has_no_password() -> None:
    names = ("EncryptedPackage", "DRMEncryptedDataSpace")
    data = OLE + b"".join(name.encode("utf-16-le") + bytes(64) for name in names)
    with pytest.raises(DocumentError, match="rights management") as caught:
        load_document(data, "a.docx")
    assert not isinstance(caught.value, PasswordError)


def test_a_damaged_one_ends_in_text_or_in_a_sentence() -> None:
    outcomes = set()
    for data in hurt(sealed(word()), 11, 16):
        try:
            found = load_document(data, "a.docx", password=PASSWORD)
        except DocumentError as error:
            assert "a.docx" in str(error)
            assert str(error).endswith(".")
            outcomes.add("refused")
        else:
            check(found)
            outcomes.add("read")
    assert outcomes == {"refused", "read"}


def test_no_log_has_the_password(caplog: pytest.LogCaptureFixture) -> None:
    data = sealed(word())
    with caplog.at_level(logging.DEBUG):
        load_document(data, "a.docx", password=PASSWORD)
    assert PASSWORD not in caplog.text
