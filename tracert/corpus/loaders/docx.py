"""Word: the body's text with headings, lists, tables, notes and text boxes where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tracert.corpus.encoding import is_binary
from tracert.corpus.loaders.base import Content, Limits
from tracert.corpus.loaders.building import Builder, as_row, tidied
from tracert.corpus.loaders.html import decoded_page
from tracert.corpus.loaders.markup import blocks
from tracert.corpus.loaders.mhtml import is_mhtml, page_in
from tracert.corpus.loaders.office import (
    Package,
    attribute,
    child,
    diagram,
    is_on,
    kind_of,
    parts_of,
)
from tracert.corpus.loaders.trees import html_tree
from tracert.corpus.loaders.word_styles import Lists, Styles, roman, whole

if TYPE_CHECKING:
    from lxml import etree

_MAIN: Final = re.compile(r"word/document\d*\.xml")
#: Elements that only wrap others: content controls, changes that were put in, marked-up text.
_WRAPPERS: Final = frozenset(
    {"w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo", "w:smartTag", "mc:Choice"}
)
#: What is no text of the document as it stands: what was deleted, instructions, embedded objects.
_LEFT_OUT: Final = frozenset(
    {"w:del", "w:moveFrom", "w:pPr", "w:rPr", "w:delText", "w:instrText", "w:delInstrText"}
    | {"w:sdtPr", "w:object", "w:rt", "w:rubyPr", "mc:Fallback", "w:tblPr", "w:trPr", "w:tcPr"}
)
_SIGNS: Final = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:cr": "\n",
    "w:noBreakHyphen": "-",
    "w:lastRenderedPageBreak": "\f",
}
#: Where Word begins another page the last time it set the document; stands in the raw text only.
_PAGE: Final = "\f"
_MAX_LABEL: Final = 80


class DocxLoader:
    """Word documents (.docx, .docm, .dotx): headings by style, list or outline level."""

    kind = "docx"
    title = "Word (.docx)"
    suffixes = (".docx", ".docm", ".dotx")

    def recognises(self, data: bytes, name: str) -> bool:
        """Whether it is a zip that holds a Word document."""
        return any(_MAIN.fullmatch(part) for part in parts_of(data, name))

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The text as it stands with all changes accepted.

        Left out: what was deleted or is hidden, comments, headers and footers, tables of
        contents, the instructions of fields, the descriptions of pictures. A footnote follows the
        paragraph that it belongs to, a text box the paragraph that it is tied to.

        A Word file has no pages until a program sets it; Word notes where pages began when it
        last did. These are taken where they agree with the number of pages that it noted, too.
        """
        package = Package(data, name, limits)
        builder = Builder(name, limits)
        reader = _Reader(package, builder)
        pages = reader.read()
        damage = package.damage("the text")
        if damage:
            builder.warnings.append(damage)
        if damage and builder.empty:
            return builder.done(
                f"{name} is damaged and no text of it can be read. Open it in Word, let that "
                "repair it, and save it anew."
            )
        return builder.done(
            f"{name} holds no text, only pictures perhaps. Save it as PDF and run that through "
            "text recognition (OCR), then load the result.",
            pages,
        )


@dataclass(slots=True)
class _Text:
    """What a paragraph, a cell or a note gives: its words, and what is told after it."""

    words: str = ""
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[etree._Element] = field(default_factory=list)
    diagrams: list[etree._Element] = field(default_factory=list)


class _Reader:
    """Reads one document into a builder."""

    def __init__(self, package: Package, builder: Builder) -> None:
        self._package = package
        self._builder = builder
        self._part = package.main(
            next((name for name in package.names if _MAIN.fullmatch(name)), "word/document.xml")
        )
        related = {each.kind: each.target for each in package.relations(self._part).values()}

        def part(kind: str) -> etree._Element | None:
            return package.xml(related.get(kind, f"word/{kind}.xml"))

        self._styles = Styles(part("styles"))
        self._lists = Lists(part("numbering"), self._styles)
        self._notes = {
            "w:footnoteReference": _notes(part("footnotes"), "w:footnote"),
            "w:endnoteReference": _notes(part("endnotes"), "w:endnote"),
        }
        self._counts = dict.fromkeys(self._notes, 0)
        self._told: dict[tuple[str, str], str] = {}
        self._root = package.xml(self._part)
        self._paged = self._pages()
        self._page = 1
        #: Whether the block before was an item of a list, so that the next item follows tightly.
        self._in_list = False

    def read(self) -> int | None:
        """Add the body to the builder; how many pages it has, None where that is not known."""
        body = child(self._root, "w:body")
        if body is None:
            body = self._root
        if self._paged:
            self._builder.page(1)
        if body is not None:
            self._flow(body)
        return self._paged

    def _pages(self) -> int | None:
        """The number of pages where the noted page breaks agree with it."""
        breaks = 0
        if self._root is not None:
            breaks = sum(kind_of(each) == "w:lastRenderedPageBreak" for each in self._root.iter())
        noted = self._package.xml("docProps/app.xml") if breaks else None
        for each in noted if noted is not None else ():
            if kind_of(each).endswith(":Pages") and each.text == str(breaks + 1):
                return breaks + 1
        return None

    def _flow(self, container: etree._Element) -> None:
        """The paragraphs and tables in a container, one after the other."""
        for each in _inside(container):
            if self._builder.full:
                return
            if kind_of(each) == "w:p":
                self._paragraph(each)
            elif kind_of(each) == "w:tbl":
                self._table(each)
            elif kind_of(each) == "w:sdt":
                # A table of contents, see `_inside`.
                self._leave_out(_joined(self._text(p) for p in each.iter() if _is(p, "w:p")))
            elif kind_of(each) == "w:altChunk":
                self._embedded(attribute(each, "id") or "")

    def _embedded(self, relation: str) -> None:
        """A web page that a program put in whole, for Word to turn into paragraphs."""
        related = self._package.relations(self._part).get(relation)
        content = self._package.content(related.target) if related is not None else None
        if content is None:
            return
        page = page_in(content) if is_mhtml(content) else (content, "")
        if page is None or is_binary(content):
            self._builder.warnings.append(
                f"{self._package.name} has another document put in whole, which is left out. Open "
                "it in Word and save it anew to have its text."
            )
            return
        root, _ = html_tree(decoded_page(*page)[0], self._package.name)
        for block in blocks(root) if root is not None else ():
            if block.level:
                self._builder.heading(block.level, block.text)
            self._builder.block(block.text, tight=block.tight)

    def _paragraph(self, paragraph: etree._Element) -> None:
        properties = child(paragraph, "w:pPr")
        style = attribute(child(properties, "w:pStyle"), "val") or ""
        text = self._text(paragraph)
        if self._styles.is_contents(style) or self._styles.is_hidden(style):
            self._leave_out(text)
            return
        has_words = bool(text.words.strip())
        item = self._lists.item(style, properties) if has_words else None
        level = self._styles.heading(style, properties) if has_words else None
        words = text.words
        if item is not None and item[1]:
            indent = "" if level is not None else "  " * item[0]
            lead = len(words) - len(words.lstrip(_PAGE + " "))
            words = f"{words[:lead]}{indent}{item[1]} {words[lead:].lstrip()}"
        if level is not None:
            self._builder.heading(level, words.replace(_PAGE, " "))
        is_item = item is not None and level is None
        self._add(text, words, tight=is_item and self._in_list)
        if has_words:
            self._in_list = is_item

    def _leave_out(self, text: _Text) -> None:
        """Count the pages that begin in words that are left out."""
        self._block(_PAGE * _breaks(text.words))

    def _add(self, text: _Text, words: str, *, tight: bool = False) -> None:
        """The words, then the notes, boxes and diagrams that go with them."""
        self._block(words, tight=tight)
        for sign, note in text.notes:
            self._builder.block(f"[{sign}] {note}")
        for element in text.diagrams:
            for line in diagram(self._package, self._part, element):
                self._builder.block(tidied(line).strip())
        for box in text.boxes:
            self._in_list = False
            with self._builder.aside():
                self._flow(box)

    def _block(self, words: str, *, tight: bool = False) -> None:
        pieces = tidied(words).rstrip(" \t\n").split(_PAGE)
        place, breaks = 0, []
        for piece in pieces[:-1]:
            place += len(piece)
            self._page += 1
            if self._paged:
                breaks.append((place, min(self._page, self._paged)))
        self._builder.block("".join(pieces), tight=tight, breaks=breaks)

    def _table(self, table: etree._Element) -> None:
        """Rows as lines of cells; a table that sets out a page is read through, cell by cell."""
        self._in_list = False
        rows = [row for row in _inside(table) if kind_of(row) == "w:tr" and not _deleted(row)]
        cells = [[cell for cell in _inside(row) if kind_of(cell) == "w:tc"] for row in rows]
        if max(map(len, cells), default=0) < 2 or self._sets_out(table):
            for row in cells:
                for cell in row:
                    self._flow(cell)
                    self._in_list = False
            return
        above: dict[int, str] = {}
        tight = False
        for row in cells:
            whole_row = _Text()
            words = self._row(row, above, whole_row)
            if words.replace(_PAGE, "").strip():
                self._add(whole_row, words, tight=tight)
                tight = True
            else:
                self._block(_PAGE * _breaks(words))

    def _row(self, row: list[etree._Element], above: dict[int, str], told: _Text) -> str:
        """The cells of a row, joined; `above` holds the cells that reach down, by column."""
        texts, column = [], 0
        for cell in row:
            properties = child(cell, "w:tcPr")
            merged = child(properties, "w:vMerge")
            text = self._line(cell)
            words = text.words
            if merged is None:
                above.pop(column, None)
            elif attribute(merged, "val") == "restart":
                plain = words.replace(_PAGE, "")
                above[column] = plain if len(plain) <= _MAX_LABEL else ""
            else:
                words = _PAGE * _breaks(words) + above.get(column, "")
            texts.append(words)
            told.notes += text.notes
            told.boxes += text.boxes
            told.diagrams += text.diagrams
            column += max(1, whole(attribute(child(properties, "w:gridSpan"), "val")) or 1)
        joined = as_row(texts)
        # A page that begins in a cell without words, at the end of the row, begins behind it.
        return joined + _PAGE * (sum(map(_breaks, texts)) - _breaks(joined))

    def _sets_out(self, table: etree._Element) -> bool:
        """Whether a table holds tables or headings, so that it is no table of data."""
        for each in table.iterdescendants():
            if kind_of(each) == "w:tbl":
                return True
            if kind_of(each) == "w:p":
                properties = child(each, "w:pPr")
                style = attribute(child(properties, "w:pStyle"), "val") or ""
                if self._styles.heading(style, properties) is not None:
                    return True
        return False

    def _line(self, container: etree._Element) -> _Text:
        """The paragraphs in a cell or a note as one line."""
        return _joined(self._text(each) for each in _inside(container) if _is(each, "w:p"))

    def _text(self, paragraph: etree._Element) -> _Text:
        """The words of a paragraph, without those of text boxes that hang on it."""
        found = _Text()
        words: list[str] = []
        coded = 0
        todo = list(reversed(paragraph))
        while todo:
            each = todo.pop()
            kind = kind_of(each)
            if kind in _LEFT_OUT or _is_placeholder(each) or (kind == "w:r" and _hidden(each)):
                continue
            if kind == "w:fldChar":
                state = attribute(each, "fldCharType")
                coded += (state == "begin") - (state == "separate" and coded > 0)
            elif kind == "w:txbxContent":
                found.boxes.append(each)
            elif kind == "w:drawing":
                found.diagrams.append(each)
                todo.extend(reversed(each))
            elif kind in self._notes:
                note = self._note(kind, attribute(each, "id") or "")
                if note is not None:
                    found.notes.append(note)
                    words.append(f"[{note[0]}]")
            elif kind == "mc:AlternateContent":
                todo.extend([*each][:1])
            elif kind in {"w:t", "m:t"}:
                words.append((each.text or "") if not coded else "")
            elif kind == "w:br":
                words.append("" if attribute(each, "type") in {"page", "column"} else "\n")
            elif kind in _SIGNS:
                words.append(_SIGNS[kind])
            else:
                todo.extend(reversed(each))
        found.words = "".join(words)
        return found

    def _note(self, kind: str, number: str) -> tuple[str, str] | None:
        """The sign and the words of a note: footnotes count 1, 2, 3, endnotes i, ii, iii."""
        note = self._notes[kind].get(number)
        if note is None:
            return None
        key = (kind, number)
        if key not in self._told:
            # A note that refers to itself ends here.
            self._told[key] = ""
            words = self._line(note).words.replace(_PAGE, "")
            self._told[key] = " ".join(tidied(words).split())
        text = self._told[key]
        if not text:
            return None
        self._counts[kind] += 1
        count = self._counts[kind]
        return (str(count) if kind == "w:footnoteReference" else roman(count)), text


def _inside(container: etree._Element) -> Iterator[etree._Element]:
    """The elements in a container, those in mere wrappers included, deletions left out.

    A content control that holds a table of contents is given as it is.
    """
    todo = list(reversed(container))
    while todo:
        each = todo.pop()
        kind = kind_of(each)
        if kind == "w:sdt" and _is_contents(each):
            yield each
        elif _is_placeholder(each):
            continue
        elif kind in _WRAPPERS:
            todo.extend(reversed(each))
        elif kind == "mc:AlternateContent":
            todo.extend([*each][:1])
        elif kind not in _LEFT_OUT:
            yield each


def _is_placeholder(element: etree._Element) -> bool:
    """Whether an element is a content control that nobody has filled in."""
    return kind_of(element) == "w:sdt" and is_on(child(element, "w:sdtPr", "w:showingPlcHdr"))


def _hidden(run: etree._Element) -> bool:
    return is_on(child(run, "w:rPr", "w:vanish"))


def _is_contents(control: etree._Element) -> bool:
    gallery = child(control, "w:sdtPr", "w:docPartObj", "w:docPartGallery")
    return attribute(gallery, "val") in {"Table of Contents", "Bibliographies Contents"}


def _is(element: etree._Element, kind: str) -> bool:
    return kind_of(element) == kind


def _breaks(words: str) -> int:
    return words.count(_PAGE)


def _deleted(row: etree._Element) -> bool:
    return child(row, "w:trPr", "w:del") is not None


def _joined(texts: Iterator[_Text]) -> _Text:
    """Several paragraphs as one line, what goes with them together."""
    whole_text = _Text()
    words = []
    for text in texts:
        words.append(" ".join(re.split(r"[ \t\n]+", text.words)).strip(" "))
        whole_text.notes += text.notes
        whole_text.boxes += text.boxes
        whole_text.diagrams += text.diagrams
    whole_text.words = " ".join(each for each in words if each)
    return whole_text


def _notes(root: etree._Element | None, kind: str) -> dict[str, etree._Element]:
    """The notes of a part by their id, without the lines that separate them from the text."""
    return {
        attribute(each, "id") or "": each
        for each in (root if root is not None else ())
        if kind_of(each) == kind and attribute(each, "type") in {None, "normal"}
    }
