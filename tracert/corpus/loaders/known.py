"""Kinds of file that are known but not read: what each is, and what to do with it."""

from __future__ import annotations

from typing import Final

from tracert.corpus.loaders.office import parts_of
from tracert.corpus.loaders.sealed import OLE

#: By the first bytes: what a person calls it and what to do.
_SIGNATURES: Final = (
    (rb"{\rtf", "a rich text document", "Save it as .docx or PDF"),
    (b"\x1f\x8b", "a gzip archive", "Unpack it and pass the files themselves"),
    (b"BZh", "a bzip2 archive", "Unpack it and pass the files themselves"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "Unpack it and pass the files themselves"),
    (b"Rar!", "a RAR archive", "Unpack it and pass the files themselves"),
    (b"\xfd7zXZ", "an xz archive", "Unpack it and pass the files themselves"),
    (b"\x89PNG", "a picture", "Run it through text recognition (OCR) first"),
    (b"\xff\xd8\xff", "a picture", "Run it through text recognition (OCR) first"),
    (b"GIF8", "a picture", "Run it through text recognition (OCR) first"),
    (b"II*\x00", "a picture", "Run it through text recognition (OCR) first"),
    (b"MM\x00*", "a picture", "Run it through text recognition (OCR) first"),
    (b"%!PS", "a PostScript file", "Convert it to PDF (ps2pdf does that)"),
    (b"\x7fELF", "a program", "Pass a document"),
    (b"MZ\x90", "a program", "Pass a document"),
    (b"SQLite format 3", "a database", "Export its texts first"),
    (b"ID3", "a sound recording", "Transcribe it to text first"),
    (b"OggS", "a sound recording", "Transcribe it to text first"),
    (b"ITSF", "a help file", "Save its pages as HTML"),
)
#: Old office files and locked new ones are one container; a stream's name tells what is in it.
_STREAMS: Final = (
    (
        "DRMEncryptedDataSpace",
        "an office document that is protected by rights management",
        "Ask its owner for an unprotected copy",
    ),
    (
        "EncryptedPackage",
        "an office document that is protected by a password",
        "Open it in Word or PowerPoint and save a copy without the password (File, Info, Protect)",
    ),
    ("WordDocument", "an old Word document", "Open it in Word or LibreOffice and save it as .docx"),
    (
        "PowerPoint Document",
        "an old PowerPoint file",
        "Open it in PowerPoint or LibreOffice and save it as .pptx",
    ),
    ("Workbook", "an old spreadsheet", "Save its sheets as CSV"),
    ("Book", "an old spreadsheet", "Save its sheets as CSV"),
    ("__properties_version1.0", "an Outlook message", "Save it as text or as HTML"),
)
#: By a part that only this kind of zip has.
_PARTS: Final = (
    ("xl/workbook.xml", "a spreadsheet", "Save its sheets as CSV"),
    ("xl/workbook.bin", "a spreadsheet", "Save its sheets as CSV"),
    ("visio/document.xml", "a Visio drawing", "Save it as PDF"),
    ("index/document.iwa", "a Pages, Numbers or Keynote file", "Export it as Word or PDF"),
    ("meta-inf/manifest.mf", "a Java program", "Pass a document"),
    ("androidmanifest.xml", "an Android program", "Pass a document"),
)
_OPEN_DOCUMENT: Final = "content.xml", "meta-inf/manifest.xml"


def known(data: bytes, name: str) -> tuple[str, str] | None:
    """What a file is that is not read, and what to do with it; None for any other."""
    for signature, what, advice in _SIGNATURES:
        if data.startswith(signature):
            return what, advice
    if data.startswith(OLE):
        for stream, what, advice in _STREAMS:
            if stream.encode("utf-16-le") in data:
                return what, advice
        return "an old office document", "Open it in the program that made it and save it as PDF"
    parts = parts_of(data, name)
    for part, what, advice in _PARTS:
        if part in parts:
            return what, advice
    if parts.issuperset(_OPEN_DOCUMENT):
        return "an OpenDocument file", "Open it in LibreOffice and save it as .docx or .pptx"
    return None
