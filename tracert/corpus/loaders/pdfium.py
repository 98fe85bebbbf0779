"""PDFium as the second reader of PDF: where the text of a page stands, and pages that pypdf drops.

See docs/decisions/0082. PDFium is not made for threads, so one lock guards all of it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from threading import RLock
from typing import TYPE_CHECKING, Final

from tracert.corpus.loaders.columns import Box, in_order, torn_columns

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

#: Pages with more pieces of text than this are drawings; their text is left as pypdf gives it.
_MOST_BOXES: Final = 20_000
#: Marks of PDFium for a hyphen at the end of a line.
_HYPHENS: Final = str.maketrans("\ufffe\x02", "--")

_lock: Final = RLock()


class SecondReader:
    """A PDF as PDFium sees it; a file that it cannot open has no pages."""

    def __init__(self, data: bytes, password: str) -> None:
        """Nothing is opened before a page is asked for."""
        self._data = data
        self._password = password
        self._opened: PdfDocument | None = None
        self._tried = False

    def count(self) -> int:
        """The number of pages."""
        with _lock:
            self._page(1)
            return 0 if self._opened is None else len(self._opened)

    def columns(self, number: int) -> str | None:
        """The text of a page, from 1, in the order of reading where its columns are torn."""
        with _lock:
            page = self._page(number)
            if page is None or page.get_rotation():
                return None
            text = page.get_textpage()
            count = text.count_rects()
            if not 0 < count <= _MOST_BOXES:
                return None
            columns = torn_columns([Box(*text.get_rect(index)) for index in range(count)])
            return in_order(list(_words(text)), columns) if columns else None

    def text(self, number: int) -> str:
        """The text of a page, from 1, '' where it cannot be read."""
        with _lock:
            page = self._page(number)
            text = "" if page is None else str(page.get_textpage().get_text_range())
            return text.translate(_HYPHENS)

    def close(self) -> None:
        """Give the file back."""
        with _lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _page(self, number: int) -> PdfPage | None:
        from pypdfium2 import PdfDocument, PdfiumError

        try:
            if not self._tried:
                self._tried = True
                self._opened = PdfDocument(self._data, password=self._password or None)
            if self._opened is None or number > len(self._opened):
                return None
            return self._opened[number - 1]
        except PdfiumError:
            return None


def _words(page: PdfTextPage) -> Iterator[Box]:
    """The words of a page with their places."""
    from pypdfium2 import raw

    place = raw.FS_RECTF()
    letters: list[str] = []
    left = right = bottom = top = 0.0
    for index in range(page.count_chars()):
        letter = chr(raw.FPDFText_GetUnicode(page.raw, index)).translate(_HYPHENS)
        # Loose boxes reach from the font's lowest to its highest, whatever the letter.
        placed = raw.FPDFText_GetLooseCharBox(page.raw, index, ctypes.byref(place))
        blank = letter.isspace() or not placed
        height = top - bottom
        elsewhere = (
            place.left < left - height
            or place.left > right + height
            or abs(place.bottom - bottom) > height
        )
        if letters and (blank or elsewhere):
            yield Box(left, bottom, right, top, "".join(letters))
            letters.clear()
        if blank:
            continue
        if letters:
            left, right = min(left, place.left), max(right, place.right)
        else:
            left, bottom, right, top = place.left, place.bottom, place.right, place.top
        letters.append(letter)
    if letters:
        yield Box(left, bottom, right, top, "".join(letters))
