"""A tree of HTML as blocks of text, in the order in which a reader meets them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tracert.corpus.loaders.building import as_row, tidied
from tracert.corpus.loaders.trees import tag_of

if TYPE_CHECKING:
    from lxml import etree

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_BLOCKS: Final = _names(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form header hgroup hr html legend li main menu ol p pre section "
    "summary table tbody td tfoot th thead tr ul listing xmp plaintext"
)
#: What is no text, or not the page's own: programs, navigation, controls, embedded pages.
_LEFT_OUT: Final = _names(
    "script style template noscript head title meta link base nav iframe object embed canvas audio "
    "video svg map select option datalist button input textarea dialog rt rp frameset noframes "
    "noembed colgroup annotation annotation-xml"
)
_LEFT_OUT_ROLES: Final = _names(
    "navigation search menu menubar toolbar dialog alertdialog pagebreak doc-pagebreak"
)
#: Classes of what programs add to a page for working with it: links to edit, tables of contents.
_LEFT_OUT_CLASSES: Final = frozenset({"mw-editsection", "toc-macro", "mw-jump-link"})
_BACK: Final = frozenset({"backlink", "doc-backlink"})
_NOTE: Final = frozenset({"noteref", "doc-noteref"})
_UNSEEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACES: Final = re.compile("[ \t\n\r\f\u00a0]+")
_LINES: Final = re.compile(r" *\n *")
_NUMBER: Final = re.compile(r"\[?(\d{1,4}|[*†‡§]{1,3}|[a-z])\]?")
#: Links beside a heading or a note that lead to the place where they stand, or back.
_SIGNS: Final = frozenset({"¶", "#", "§", "🔗", "↩", "↩︎", "↑", "⏎", "^"})
_TYPE: Final = ("epub:type", "{http://www.idpf.org/2007/ops}type", "role")
_MAX_HEADING: Final = 600
_MAX_SPAN: Final = 1_000
#: Beyond this column no cell is carried down.
_MAX_COLUMNS: Final = 1_000
#: A cell over several rows is said again in each where it is as short as a label.
_MAX_LABEL: Final = 80


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text that stands by itself.

    `level` is that of a heading, 0 for anything else; `tight` blocks belong to the one before;
    `anchors` are the names that links can point to, of all elements begun in it or before it.
    """

    text: str
    level: int = 0
    tight: bool = False
    anchors: tuple[str, ...] = ()


def blocks(root: etree._Element) -> Iterator[Block]:
    """The text of an element and of all in it, block by block; what is hidden is left out.

    Rows of a table are blocks of cells joined by ' | '; a table that sets out a page (one column,
    or headings or tables in it) is read through. Items of lists begin with '- ' or their number,
    indented by their depth. A picture counts as the words that stand for it (`alt`).
    """
    reader = _Reader()
    for event, element in _walk(root):
        yield from reader.take(event, element, is_root=element is root)
    yield from reader.flush()


def words(element: etree._Element) -> str:
    """The text of an element on one line."""
    pieces: list[str] = []
    for event, each in _walk(element, into_grids=True):
        tag = tag_of(each)
        if event == "open":
            special = _special(each, tag)
            if special is not None:
                pieces.append(special)
            elif tag in _BLOCKS or tag in _HEADINGS:
                pieces.append(" ")
            if special is None and each.text:
                pieces.append(each.text)
        elif each is not element:
            if event == "close" and (tag in _BLOCKS or tag in _HEADINGS):
                pieces.append(" ")
            if each.tail:
                pieces.append(each.tail)
    return " ".join(tidied("".join(pieces)).split())


def is_left_out(element: etree._Element) -> bool:
    """Whether an element is hidden, or no text of the page's own."""
    tag = tag_of(element)
    if not tag or tag in _LEFT_OUT:
        return True
    attributes = element.attrib
    if not attributes:
        return False
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    if attributes.get("aria-hidden") == "true" or _UNSEEN.search(str(attributes.get("style", ""))):
        return True
    if not _LEFT_OUT_CLASSES.isdisjoint(str(attributes.get("class", "")).split()):
        return True
    roles = _roles(element)
    if roles and not (roles.isdisjoint(_LEFT_OUT_ROLES) and roles.isdisjoint(_BACK)):
        return True
    return tag == "a" and len(element) <= 1 and "".join(_itertext(element)).strip() in _SIGNS


def _itertext(element: etree._Element) -> Iterable[str]:
    return (str(text) for text in element.itertext())


def _roles(element: etree._Element) -> set[str]:
    return {word for name in _TYPE for word in str(element.get(name, "")).split()}


def _walk(
    root: etree._Element, *, into_grids: bool = False
) -> Iterator[tuple[str, etree._Element]]:
    """Elements as they open and close, depth first; 'skip' for those that are left out.

    Without recursion, so that no nesting is too deep. Nothing is visited inside what `_special`
    replaces by its words, nor in tables of data unless `into_grids`.
    """
    todo: list[tuple[bool, etree._Element]] = [(False, root)]
    while todo:
        closing, element = todo.pop()
        if closing:
            yield "close", element
        elif element is not root and is_left_out(element):
            yield "skip", element
        else:
            yield "open", element
            todo.append((True, element))
            closed = _special(element, tag_of(element)) is not None
            if not closed and (into_grids or not _is_grid(element)):
                todo.extend((False, child) for child in reversed(element))


def _special(element: etree._Element, tag: str) -> str | None:
    """The words of an element that is more than the text in it; None for all others."""
    if tag == "br":
        return "\n"
    if tag == "img":
        return "" if element.get("role") == "presentation" else str(element.get("alt", ""))
    if tag == "math" and element.get("alttext"):
        return str(element.get("alttext"))
    if tag == "a":
        return _note(element)
    return None


def _note(element: etree._Element) -> str | None:
    """The sign of a footnote in brackets; None for any other link."""
    if not str(element.get("href", "")):
        return None
    found = _NUMBER.fullmatch("".join("".join(_itertext(element)).split()))
    if found is None:
        return None
    parent = element.getparent()
    raised = any(tag_of(each) == "sup" for each in element) or (
        parent is not None and tag_of(parent) == "sup"
    )
    if not raised and _roles(element).isdisjoint(_NOTE):
        return None
    return f"[{found[1]}]"


def _level(element: etree._Element, tag: str) -> int:
    """The level of a heading; 0 for what is none, is too long for one or holds another.

    A heading of that kind was left open.
    """
    level = _HEADINGS.get(tag, 0)
    if not level and element.get("role") == "heading":
        level = max(1, min(_whole(element.get("aria-level"), 2), 6))
    if level:
        if any(tag_of(each) in _HEADINGS for each in element):
            return 0
        length = 0
        for text in _itertext(element):
            length += len(text)
            if length > _MAX_HEADING:
                return 0
    return level


def _is_grid(element: etree._Element) -> bool:
    """Whether a table holds data: two columns somewhere, and neither headings nor tables in it."""
    if tag_of(element) != "table" or element.get("role") == "presentation":
        return False
    columns = 0
    for each in element.iterdescendants():
        tag = tag_of(each)
        if tag in _HEADINGS or tag == "table":
            return False
        if tag == "tr":
            columns = max(columns, sum(tag_of(cell) in {"td", "th"} for cell in each))
    return columns > 1


@dataclass(slots=True)
class _List:
    """A list that is being read: the next number, None for one without numbers."""

    number: int | None
    step: int = 1


@dataclass(slots=True)
class _Reader:
    """What has been read of the block that is next."""

    pieces: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)
    prefix: str = ""
    heading: etree._Element | None = None
    kept_lines: int = 0
    began_list: bool = False

    def take(self, event: str, element: etree._Element, *, is_root: bool) -> Iterator[Block]:
        tag = tag_of(element)
        if event == "open":
            yield from self._open(element, tag)
        elif event == "close":
            yield from self._close(element, tag)
        if event != "open" and not is_root:
            self._text(element.tail)

    def flush(self, level: int = 0) -> Iterator[Block]:
        """The block that is complete, if it has any text."""
        text = tidied("".join(self.pieces))
        self.pieces.clear()
        if self.kept_lines:
            text = text.strip("\n").rstrip()
        else:
            text = _LINES.sub("\n", re.sub(" {2,}", " ", text)).strip()
        if not text:
            return
        inside = bool(self.lists)
        block = Block(
            self.prefix + text, level, inside and not self.began_list, tuple(self.anchors)
        )
        self.prefix = ""
        self.began_list = False
        self.anchors.clear()
        yield block

    def _open(self, element: etree._Element, tag: str) -> Iterator[Block]:
        level = _level(element, tag)
        if tag in _BLOCKS or tag in _HEADINGS or level:
            if self.heading is not None:
                self.pieces.append(" ")
            else:
                yield from self.flush()
        self.anchors += [str(element.get(key)) for key in ("id", "name") if element.get(key)]
        special = _special(element, tag)
        if special is not None:
            self._text(special, verbatim=tag == "br")
            return
        if _is_grid(element):
            yield from self._rows(element)
            return
        if level and self.heading is None:
            self.heading = element
        elif tag in {"pre", "listing", "xmp"}:
            self.kept_lines += 1
        elif tag in {"ul", "ol", "menu", "dir"}:
            self._begin_list(element, tag)
        elif tag == "li":
            self._begin_item(element)
        elif tag == "q":
            self.pieces.append("“")
        self._text(element.text)

    def _close(self, element: etree._Element, tag: str) -> Iterator[Block]:
        if element is self.heading:
            yield from self.flush(_level(element, tag))
            self.heading = None
        elif self.heading is None and (tag in _BLOCKS or tag in _HEADINGS):
            yield from self.flush()
        if tag in {"pre", "listing", "xmp"}:
            self.kept_lines -= 1
        elif tag in {"ul", "ol", "menu", "dir"} and self.lists:
            self.lists.pop()
            self.began_list = False
        elif tag == "li":
            self.prefix = ""
        elif tag == "q":
            self.pieces.append("”")

    def _text(self, text: str | None, *, verbatim: bool = False) -> None:
        if text:
            self.pieces.append(text if verbatim or self.kept_lines else _SPACES.sub(" ", text))

    def _begin_list(self, element: etree._Element, tag: str) -> None:
        if not self.lists:
            self.began_list = True
        backwards = tag == "ol" and element.get("reversed") is not None
        first = sum(tag_of(each) == "li" for each in element) if backwards else 1
        number = _whole(element.get("start"), first) if tag == "ol" else None
        self.lists.append(_List(number, -1 if backwards else 1))

    def _begin_item(self, element: etree._Element) -> None:
        if not self.lists:
            self.prefix = "- "
            return
        here = self.lists[-1]
        indent = "  " * (len(self.lists) - 1)
        if here.number is None:
            self.prefix = f"{indent}- "
        else:
            number = _whole(element.get("value"), here.number)
            self.prefix = f"{indent}{number}. "
            here.number = number + here.step

    def _rows(self, table: etree._Element) -> Iterator[Block]:
        """The caption and the rows of a table, labels that span rows said in each of them."""
        spans: dict[int, tuple[int, str | None]] = {}
        tight = bool(self.lists) and not self.began_list
        self.began_list = False
        for each in table.iterdescendants():
            tag = tag_of(each)
            self.anchors += [str(each.get("id"))] if each.get("id") else []
            if tag == "caption":
                text = words(each)
            elif tag == "tr" and not is_left_out(each):
                text = _row(each, spans)
            else:
                continue
            if text:
                yield Block(self.prefix + text, 0, tight, tuple(self.anchors))
                self.prefix, tight = "", tag != "caption"
                self.anchors.clear()


def _row(row: etree._Element, spans: dict[int, tuple[int, str | None]]) -> str:
    """The cells of a row, joined.

    `spans` holds by column for how many rows more a cell from above reaches down and what it
    says there, None in the further columns of a wide one; it is brought up to the next row.
    """
    cells: list[str] = []
    below: dict[int, tuple[int, str | None]] = {}
    column = 0

    def carry(column: int) -> int:
        while column in spans:
            rows, text = spans.pop(column)
            if text is not None:
                cells.append(text)
            if rows > 1:
                below[column] = (rows - 1, text)
            column += 1
        return column

    for cell in row:
        if tag_of(cell) not in {"td", "th"} or is_left_out(cell):
            continue
        column = carry(column)
        text = words(cell)
        cells.append(text)
        rows = min(_whole(cell.get("rowspan"), 1), _MAX_SPAN)
        wide = max(1, min(_whole(cell.get("colspan"), 1), _MAX_SPAN))
        if rows > 1:
            label = text if len(text) <= _MAX_LABEL else ""
            for place in range(column, min(column + wide, _MAX_COLUMNS)):
                below[place] = (rows - 1, label if place == column else None)
        column += wide
    carry(column)
    spans.clear()
    spans.update(below)
    return as_row(cells)


def _whole(text: str | None, default: int) -> int:
    """A whole number out of an attribute, of a length that a page may mean."""
    found = re.fullmatch(r"\s*([+-]?\d{1,6})\s*", text or "")
    return int(found[1]) if found else default
