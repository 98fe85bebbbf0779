"""PDF: the text layer page by page, by pypdf."""

from __future__ import annotations

import io
import logging
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tracert.corpus.encoding import clean
from tracert.corpus.loaders.base import Content, Limits
from tracert.corpus.model import Mark
from tracert.errors import DocumentError

if TYPE_CHECKING:
    from pypdf import PdfReader

#: The header may stand a little way in, behind junk; readers look as far as this.
_HEADER_WITHIN: Final = 1024
_SEPARATOR: Final = "\n\n"
#: What pypdf lets out on damaged files besides its own errors.
_DAMAGE: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    EOFError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)


class PdfLoader:
    """PDF files with a text layer; a mark at each page."""

    kind = "pdf"
    title = "PDF"
    suffixes = (".pdf",)

    def recognises(self, data: bytes, name: str) -> bool:  # noqa: ARG002
        """Whether the PDF header stands at the beginning."""
        return b"%PDF-" in data[:_HEADER_WITHIN]

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The pages' text, joined by blank lines; pages without any are skipped.

        Words broken at the end of a line stay broken: to join them would be to guess.
        """
        with _quiet():
            reader = _open(data, name)
            return _read(reader, name, limits)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep pypdf's remarks on damaged files out of the log while one is read."""
    logger = logging.getLogger("pypdf")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _open(data: bytes, name: str) -> PdfReader:
    from pypdf import PasswordType, PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    damaged = DocumentError(
        f"{name} is a damaged PDF and cannot be opened. Open it in a PDF viewer and print it to a "
        "new PDF, then load that."
    )
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        locked = reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED
        pages = len(reader.pages) if not locked else 0
    except DependencyError as error:
        raise DocumentError(
            f"{name} is encrypted with AES. Run pip install cryptography, then load it again."
        ) from error
    except (PyPdfError, *_DAMAGE) as error:
        raise damaged from error
    if locked:
        raise DocumentError(
            f"{name} is protected by a password. Save a copy without one, then load that."
        )
    if pages == 0:
        raise damaged
    return reader


def _read(reader: PdfReader, name: str, limits: Limits) -> Content:
    from pypdf.errors import PyPdfError

    total = len(reader.pages)
    warnings: list[str] = []
    if total > limits.max_pages:
        warnings.append(f"{name} has {total:,} pages; the first {limits.max_pages:,} were read.")
    deadline = time.monotonic() + limits.max_seconds
    parts: list[str] = []
    marks: list[Mark] = []
    unread: list[int] = []
    length = 0
    for number in range(1, min(total, limits.max_pages) + 1):
        if length > limits.max_characters or time.monotonic() > deadline:
            warnings.append(f"{name} is too long to read whole; reading stopped at page {number}.")
            break
        try:
            text = clean(reader.pages[number - 1].extract_text()).strip()
        except (PyPdfError, *_DAMAGE):
            unread.append(number)
            continue
        if not text:
            continue
        if parts:
            length += len(_SEPARATOR)
        marks.append(Mark(length, number, ()))
        parts.append(text)
        length += len(text)
    if unread:
        warnings.append(_unread(name, unread))
    if not parts:
        raise DocumentError(_no_text(name, bool(unread)))
    return Content(_SEPARATOR.join(parts), tuple(marks), total, tuple(warnings))


def _unread(name: str, pages: list[int]) -> str:
    listed = ", ".join(str(page) for page in pages[:10]) + (" …" if len(pages) > 10 else "")
    return f"{len(pages)} of the pages of {name} could not be read and are left out: {listed}."


def _no_text(name: str, damaged: bool) -> str:
    if damaged:
        return (
            f"No page of {name} could be read. Open it in a PDF viewer and print it to a new PDF, "
            "then load that."
        )
    return (
        f"{name} has no text layer, it is a scan or a picture. Run it through text recognition "
        "(OCR, such as ocrmypdf), then load the result."
    )
