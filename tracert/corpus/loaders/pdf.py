"""PDF: the text layer page by page, by pypdf, with PDFium for columns and for damage."""

from __future__ import annotations

import io
import logging
import re
import struct
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

from tracert.corpus.encoding import clean, unreadable
from tracert.corpus.loaders.base import Content, Limits
from tracert.corpus.loaders.pdfium import SecondReader
from tracert.corpus.model import Mark
from tracert.corpus.zipped import is_zip
from tracert.errors import DocumentError, PasswordError

if TYPE_CHECKING:
    from pypdf import PdfReader

#: The header may stand a little way in, behind junk; readers look as far as this.
_HEADER_WITHIN: Final = 1024
_OBJECT: Final = re.compile(rb"\b\d+\s+\d+\s+obj\b")
#: Makes pypdf search the whole file for objects where the table of them is missing.
_NO_TABLE: Final = b"\nstartxref\n0\n%%EOF\n"
_SEPARATOR: Final = "\n\n"
_MAX_OUTLINE: Final = 10_000
_MAX_TITLE: Final = 200
#: A page of fewer lines has no columns of running text.
_COLUMN_LINES: Final = 5
#: Readable text has none of the signs counted by `unreadable`; one in fifty is no accident.
_GARBLED: Final = 0.02
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
    """PDF files with a text layer: a mark at each page and at each entry of the outline."""

    kind = "pdf"
    title = "PDF"
    suffixes = (".pdf",)

    def recognises(self, data: bytes, name: str) -> bool:  # noqa: ARG002
        """Whether the file begins as a PDF, or does so behind some junk and has PDF objects."""
        if data[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF"):
            return True
        # A zip may hold a PDF that was not packed, near its beginning.
        if is_zip(data):
            return False
        return b"%PDF-" in data[:_HEADER_WITHIN] and _OBJECT.search(data) is not None

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The text of a PDF that needs no password; see `unlock`."""
        return self.unlock(data, name, limits, "")

    def unlock(self, data: bytes, name: str, limits: Limits, password: str) -> Content:
        """The pages' text, joined by blank lines; pages without any are skipped.

        A page whose text jumps between columns is put into the order of reading, as PDFium sees
        the page; every other page is as pypdf gives it, or as PDFium does where pypdf fails or
        gives signs that are no letters.
        Words broken at the end of a line stay broken: to join them would be to guess. An
        entry of the outline gives the heading path from the place of its title on its page,
        or from the top of the page where the title is not found there.
        """
        with _quiet(), closing(SecondReader(data, password)) as second:
            reader, warnings = _open(data, name, password, second)
            return _read(reader, second, name, limits, warnings)


_quiet_lock: Final = threading.Lock()
_quiet_depth = 0
_quiet_before = logging.NOTSET


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep pypdf's remarks on damaged files out of the log while any is being read."""
    global _quiet_depth, _quiet_before
    logger = logging.getLogger("pypdf")
    with _quiet_lock:
        if _quiet_depth == 0:
            _quiet_before = logger.level
            logger.setLevel(logging.CRITICAL + 1)
        _quiet_depth += 1
    try:
        yield
    finally:
        with _quiet_lock:
            _quiet_depth -= 1
            if _quiet_depth == 0:
                logger.setLevel(_quiet_before)


def _open(
    data: bytes, name: str, password: str, second: SecondReader
) -> tuple[PdfReader | None, list[str]]:
    """A reader with at least one page, and a warning where the file had to be mended.

    None where pypdf finds no page and the second reader does.
    """
    from pypdf.errors import DependencyError

    remedy = "Open it in a PDF viewer and print it to a new PDF, then load that."
    mended = [f"{name} is damaged; what can be found of it was read."]
    failure: BaseException | None = None
    for ending in (b"", _NO_TABLE):
        try:
            reader = _unlocked(data + ending, name, password)
            if len(reader.pages):
                return reader, mended if ending else []
        except DependencyError as error:
            raise DocumentError(
                f"{name} is encrypted with AES. Run pip install cryptography, then load it again."
            ) from error
        except _damage() as error:
            failure = error
    if second.count():
        return None, mended
    raise DocumentError(f"{name} is a damaged PDF and cannot be opened. {remedy}") from failure


def _damage() -> tuple[type[Exception], ...]:
    """All that reading a damaged file may raise."""
    from pypdf.errors import DependencyError, DeprecationError, PyPdfError

    return (PyPdfError, DependencyError, DeprecationError, *_DAMAGE)


def _unlocked(data: bytes, name: str, password: str) -> PdfReader:
    """A reader of the file, opened with the empty password or the given one if encrypted."""
    from pypdf import PasswordType, PdfReader

    reader = PdfReader(io.BytesIO(data), strict=False)
    if not reader.is_encrypted or reader.decrypt("") is not PasswordType.NOT_DECRYPTED:
        return reader
    if not password:
        raise PasswordError(f"{name} is protected by a password. Give the password to read it.")
    if reader.decrypt(password) is PasswordType.NOT_DECRYPTED:
        raise PasswordError(f"This is not the password of {name}. Check it and give it again.")
    return reader


def _read(
    reader: PdfReader | None, second: SecondReader, name: str, limits: Limits, warnings: list[str]
) -> Content:
    total = second.count() if reader is None else len(reader.pages)
    if total > limits.max_pages:
        warnings.append(f"{name} has {total:,} pages; the first {limits.max_pages:,} were read.")
    deadline = time.monotonic() + limits.max_seconds
    outline = _outline(reader)
    path: tuple[str, ...] = ()
    parts: list[str] = []
    marks: list[Mark] = []
    unread: list[int] = []
    mended: list[int] = []
    length = 0
    for number in range(1, min(total, limits.max_pages) + 1):
        if length > limits.max_characters or time.monotonic() > deadline:
            warnings.append(
                f"{name} is too long to read whole; the pages from {number} on are left out. "
                "Split it into several files."
            )
            break
        found = _text(reader, second, number)
        if found is None:
            found = second.text(number)
            (mended if found.strip() else unread).append(number)
        text = clean(found).strip()
        if text:
            length += len(_SEPARATOR) if parts else 0
            marks.extend(_page_marks(text, length, number, path, outline[number]))
            parts.append(text)
            length += len(text)
        if outline[number]:
            path = outline[number][-1]
    if mended and reader is not None:
        warnings.append(
            f"Pages of {name} are damaged; what can be found on them was read: {_listed(mended)}."
        )
    if unread:
        warnings.append(
            f"{len(unread)} of the pages of {name} could not be read and are left out: "
            f"{_listed(unread)}."
        )
    if not parts:
        raise DocumentError(_no_text(name, bool(unread)))
    whole = _SEPARATOR.join(parts)
    if unreadable(whole) > _GARBLED:
        warnings.append(
            f"Much of {name} comes out as signs that are no letters, since its fonts do not say "
            "what they draw. Run it through text recognition (OCR, such as ocrmypdf --force-ocr)."
        )
    return Content(whole, tuple(marks), total, tuple(warnings))


def _text(reader: PdfReader | None, second: SecondReader, number: int) -> str | None:
    """The text of a page in the order of reading; None where pypdf cannot read it."""
    try:
        text = None if reader is None else reader.pages[number - 1].extract_text()
    except _damage():
        return None
    if text is None:
        return None
    garbled = unreadable(clean(text))
    if garbled > _GARBLED:
        other = second.text(number)
        if other.strip() and unreadable(clean(other)) < garbled:
            return other
    if text.count("\n") < _COLUMN_LINES:
        return text
    return second.columns(number) or text


def _page_marks(
    text: str, start: int, page: int, path: tuple[str, ...], entries: list[tuple[str, ...]]
) -> list[Mark]:
    """The mark at the top of a page, and one where the title of each outline entry stands."""
    marks = [Mark(start, page, path)]
    place = 0
    for entry in entries:
        title = re.compile(r"\s+".join(map(re.escape, entry[-1].split())), re.IGNORECASE)
        found = title.search(text, place)
        place = found.start() if found else place
        if marks[-1].start == start + place:
            marks.pop()
        marks.append(Mark(start + place, page, entry))
        place = found.end() if found else place
    return marks


def _outline(reader: PdfReader | None) -> defaultdict[int, list[tuple[str, ...]]]:
    """The heading paths of the outline by page, from 1; nothing where it is damaged."""
    found: defaultdict[int, list[tuple[str, ...]]] = defaultdict(list)
    count = 0

    def walk(entries: list[Any], parents: tuple[str, ...]) -> None:
        nonlocal count
        path = parents
        for entry in entries:
            count += 1
            if count > _MAX_OUTLINE:
                return
            if isinstance(entry, list):
                walk(entry, path)
                continue
            title = " ".join(clean(str(entry.title)).split())[:_MAX_TITLE]
            path = (*parents, title) if title else parents
            page = reader.get_destination_page_number(entry) if reader else None
            if page is not None and page >= 0 and title:
                found[page + 1].append(path)

    try:
        if reader is not None:
            walk(reader.outline, ())
    except _damage():
        found.clear()
    return found


def _listed(pages: list[int]) -> str:
    return ", ".join(str(page) for page in pages[:10]) + (" …" if len(pages) > 10 else "")


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
