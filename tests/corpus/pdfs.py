"""Small PDF files made on the spot, byte by byte where pypdf would not write such a thing."""

from __future__ import annotations

import io
from collections.abc import Sequence

from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


def pdf(
    pages: Sequence[str | Sequence[tuple[float, float, float, str]] | None],
    *,
    outline: Sequence[tuple[str, int, int]] = (),
    user_password: str | None = None,
    broken: Sequence[int] = (),
    strange: Sequence[int] = (),
) -> bytes:
    """A PDF with these texts, a page each; None is a page without a text layer.

    Args:
        pages: The texts, their lines set below each other; or lines as (x, y, font size, text) in
            the order of the file. ASCII.
        outline: Entries as (title, page from 0, depth from 0).
        user_password: Encrypts with AES-256; '' is what usage restrictions look like.
        broken: Pages, from 0, whose stream is noise and names a filter that does not exist.
        strange: Pages, from 0, whose stream is as it should be but names such a filter: PDFium
            reads them and pypdf does not.
    """
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for number, text in enumerate(pages):
        page = writer.add_blank_page(612, 792)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        stream = DecodedStreamObject()
        if isinstance(text, str):
            lines = " ".join(f"({line}) Tj T*" for line in text.split("\n"))
            stream.set_data(f"BT /F1 12 Tf 14 TL 72 720 Td {lines} ET".encode("ascii"))
        else:
            shown = [
                f"/F1 {size} Tf 1 0 0 1 {x} {y} Tm ({line}) Tj" for x, y, size, line in text or ()
            ]
            stream.set_data(f"BT {' '.join(shown)} ET".encode("ascii"))
        if number in broken:
            stream.set_data(b"\xff\x00\xfe" * 40)
        if number in (*broken, *strange):
            stream[NameObject("/Filter")] = NameObject("/NoSuchDecode")
        page[NameObject("/Contents")] = writer._add_object(stream)
    parents: list = []
    for title, page_number, depth in outline:
        parent = parents[depth - 1] if depth else None
        parents[depth:] = [
            writer.add_outline_item(title=title, page_number=page_number, parent=parent)
        ]
    if user_password is not None:
        writer.encrypt(user_password, owner_password="owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
