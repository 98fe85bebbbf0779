"""EPUB: the chapters in the order of reading, their headings from the book's table of contents."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from tracert.corpus.loaders.base import Content, Limits
from tracert.corpus.loaders.building import Builder, as_title
from tracert.corpus.loaders.html import decoded_page
from tracert.corpus.loaders.markup import Block, blocks, words
from tracert.corpus.loaders.office import advising, bounds, parts_of
from tracert.corpus.loaders.trees import html_tree, tag_of, xml_tree
from tracert.corpus.zipped import Archive, is_zip
from tracert.errors import DocumentError

if TYPE_CHECKING:
    from lxml import etree

_TYPE: Final = b"application/epub+zip"
_CONTAINER: Final = "meta-inf/container.xml"
_LOCKS: Final = "meta-inf/encryption.xml"
_PAGES: Final = frozenset({"application/xhtml+xml", "text/html", "application/xml", "text/xml"})
_MAX_ENTRIES: Final = 10_000
_MAX_DEPTH: Final = 20

#: A place in the book, file and anchor ('' for its beginning), and the path that holds from there.
_Contents = dict[str, dict[str, tuple[str, ...]]]


class EpubLoader:
    """Electronic books (.epub, of version 2 or 3): a mark at each entry of the contents."""

    kind = "epub"
    title = "EPUB"
    suffixes = (".epub",)

    def recognises(self, data: bytes, name: str) -> bool:
        """Whether it is a zip that says so, or that holds the files that describe a book."""
        if data[30:58] == b"mimetype" + _TYPE:
            return is_zip(data)
        return any(part == _CONTAINER or part.endswith(".opf") for part in parts_of(data, name))

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The text of the book's pages, in the order of its spine.

        The heading path is that of the table of contents (navigation document or NCX), to which
        smaller headings of the text are added; a book without one has the headings of its text.
        The table of contents itself is left out where it is a page of the book.
        """
        with advising():
            return _read(_Book(data, name, limits), Builder(name, limits))


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of the book as its package lists it."""

    path: str
    media: str
    properties: frozenset[str]


class _Book:
    """The files of a book and what its package says of them."""

    def __init__(self, data: bytes, name: str, limits: Limits) -> None:
        self.name = name
        self.damaged: list[str] = []
        self._archive = Archive(data, name, bounds(limits))
        self._names = {each.lower(): each for each in self._archive.names}
        self._package = self._package_path()
        root = self.xml(self._package) if self._package else None
        self.title = ""
        self._items: dict[str, _Item] = {}
        self._spine: list[str] = []
        self._ncx = ""
        self._listing: set[str] = set()
        if root is not None:
            self._described(root)

    @property
    def mended(self) -> bool:
        """Whether the list of files or the package was lost."""
        return self._archive.mended or not self._spine

    def pages(self) -> list[str]:
        """The files to read, in order; all pages by name where the order is lost."""
        paths = [
            item.path
            for item in map(self._items.get, self._spine)
            if item is not None
            and (item.media in _PAGES or not item.media)
            and "nav" not in item.properties
            and item.path not in self._listing
        ]
        endings = (".xhtml", ".html", ".htm")
        if not self._spine:
            paths = sorted(each for each in self._archive.names if each.lower().endswith(endings))
        return list(dict.fromkeys(paths))

    def locked(self) -> frozenset[str]:
        """The files that are encrypted, by a seller's protection mostly; fonts may be as well."""
        root = self.xml(_LOCKS)
        found = (each.get("URI", "") for each in root.iter()) if root is not None else ()
        return frozenset(unquote(path) for path in found if path)

    def contents(self) -> _Contents:
        """The table of contents: the navigation document, or else the NCX file."""
        for item in self._items.values():
            if "nav" in item.properties:
                found = self._placed(_navigation(self.page(item.path)), item.path)
                if found:
                    return found
        listing = self._items.get(self._ncx) or next(
            (each for each in self._items.values() if each.media.endswith("ncx+xml")), None
        )
        if listing is None:
            return {}
        return self._placed(_ncx(self.xml(listing.path)), listing.path)

    def _placed(self, entries: Iterator[tuple[str, tuple[str, ...]]], base: str) -> _Contents:
        """The entries of a table of contents by file and anchor, below the book's title.

        Of several entries for one place the last one, the innermost, is kept.
        """
        found: _Contents = {}
        for reference, path in islice(entries, _MAX_ENTRIES):
            file, anchor = _joined(base, reference)
            named = path[0].casefold() == self.title.casefold()
            found.setdefault(file, {})[anchor] = path if named else (self.title, *path)
        return found

    def page(self, path: str) -> etree._Element | None:
        """The tree of a page; damage is noted."""
        content = self._content(path)
        if content is None:
            return None
        root, whole = html_tree(decoded_page(content)[0], self.name)
        self._note(path, whole)
        return root

    def xml(self, path: str) -> etree._Element | None:
        """The tree of an XML file; damage is noted."""
        content = self._content(path)
        if content is None:
            return None
        root, whole = xml_tree(content, self.name)
        self._note(path, whole)
        return root

    def _content(self, path: str) -> bytes | None:
        name = self._names.get(path.lower())
        if name is None:
            if path not in (_LOCKS, _CONTAINER):
                self._note(path, whole=False)
            return None
        content, whole = self._archive.salvage(name)
        self._note(path, whole)
        return content

    def _note(self, path: str, whole: bool) -> None:
        if not whole and path not in self.damaged:
            self.damaged.append(path)

    def _package_path(self) -> str:
        root = self.xml(_CONTAINER)
        for each in root.iter() if root is not None else ():
            if tag_of(each) == "rootfile" and each.get("full-path"):
                return str(each.get("full-path"))
        return next((each for each in self._archive.names if each.lower().endswith(".opf")), "")

    def _described(self, root: etree._Element) -> None:
        for each in root.iter():
            tag = tag_of(each)
            if tag == "title" and not self.title:
                self.title = as_title(each.text or "")
            elif tag == "item":
                path = _joined(self._package, str(each.get("href", "")))[0]
                properties = frozenset(str(each.get("properties", "")).split())
                self._items[str(each.get("id", ""))] = _Item(
                    path, str(each.get("media-type", "")), properties
                )
            elif tag == "spine":
                self._ncx = str(each.get("toc", ""))
            elif tag == "itemref":
                self._spine.append(str(each.get("idref", "")))
            elif tag == "reference" and each.get("type") == "toc":
                self._listing.add(_joined(self._package, str(each.get("href", "")))[0])


def _read(book: _Book, builder: Builder) -> Content:
    pages = book.pages()
    locked = book.locked()
    if pages and locked.issuperset(pages):
        raise DocumentError(
            f"{book.name} is protected against copying by its seller, so its text cannot be read. "
            "Load a copy without that protection."
        )
    contents = book.contents()
    builder.root(book.title)
    for path in pages:
        if path in locked:
            book.damaged.append(path)
            continue
        root = book.page(path)
        if root is not None:
            _page(builder, blocks(root), contents.get(path, {}), listed=bool(contents))
        if builder.full:
            break
    if book.damaged or book.mended:
        lost = f" Lost or cut short: {', '.join(book.damaged[:5])}." if book.damaged else ""
        builder.warnings.append(f"{book.name} is damaged; what can be read of the book was.{lost}")
    if builder.empty and (book.damaged or book.mended):
        return builder.done(
            f"{book.name} is damaged and no page of it can be read. Get the book anew, or convert "
            "it with Calibre, then load that."
        )
    return builder.done(
        f"{book.name} holds no text, only pictures perhaps. Convert it to PDF and run that "
        "through text recognition (OCR), then load the result."
    )


def _page(
    builder: Builder,
    found: Iterator[Block],
    contents: dict[str, tuple[str, ...]],
    *,
    listed: bool,
) -> None:
    """Add the blocks of a page; entries of the contents take effect where they point to."""
    entry = contents.get("")
    #: The level of the heading that an entry stands for; smaller ones go on below it.
    level: int | None = None
    fresh = entry is not None
    if entry is not None:
        builder.root(*entry)
    for block in found:
        for anchor in block.anchors:
            if anchor in contents:
                builder.root(*contents[anchor])
                level, fresh = None, True
        if block.level and (fresh or builder.path[-1:] == (as_title(block.text),)):
            # The heading at an entry's place is the entry itself, in the page's words.
            level, fresh = block.level, False
        elif block.level and listed and level is not None and block.level <= level:
            builder.heading(level + 1, block.text)
        elif block.level:
            builder.heading(block.level, block.text)
        if not block.level:
            fresh = False
        builder.block(block.text, tight=block.tight)
        if builder.full:
            return


def _joined(base: str, reference: str) -> tuple[str, str]:
    """The file and the anchor that a reference in the file `base` means."""
    path, _, anchor = reference.partition("#")
    if not path:
        return base, unquote(anchor)
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(path)))
    return whole.lstrip("/"), unquote(anchor)


def _navigation(root: etree._Element | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The links of a navigation document's list of contents, each with its path."""
    navs = [each for each in root.iter() if tag_of(each) == "nav"] if root is not None else []
    kinds = ("epub:type", "{http://www.idpf.org/2007/ops}type", "role")
    marked = [
        nav
        for nav in navs
        if {"toc", "doc-toc"} & {word for kind in kinds for word in str(nav.get(kind, "")).split()}
    ]
    for nav in (marked or navs)[:1]:
        lists = [each for each in nav.iter() if tag_of(each) in {"ol", "ul"}]
        yield from _items(lists[0], (), 0) if lists else ()


def _items(
    listed: etree._Element, parents: tuple[str, ...], depth: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for item in listed:
        label, nested = "", []
        reference = ""
        for each in item:
            if tag_of(each) in {"ol", "ul"}:
                nested.append(each)
            elif not label:
                label = words(each)
                links = [link for link in each.iter() if tag_of(link) == "a"]
                reference = str(links[0].get("href", "")) if links else ""
        path = (*parents, label) if label else parents
        if reference and label:
            yield reference, path
        if depth < _MAX_DEPTH:
            for each in nested:
                yield from _items(each, path, depth + 1)


def _ncx(root: etree._Element | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The points of an NCX file, each with its path."""
    for each in root if root is not None else ():
        if tag_of(each) == "navmap":
            yield from _points(each, (), 0)


def _points(
    parent: etree._Element, parents: tuple[str, ...], depth: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for point in parent:
        if tag_of(point) != "navpoint":
            continue
        label = next((words(each) for each in point if tag_of(each) == "navlabel"), "")
        source = next((str(e.get("src", "")) for e in point if tag_of(e) == "content"), "")
        path = (*parents, label) if label else parents
        if source and label:
            yield source, path
        if depth < _MAX_DEPTH:
            yield from _points(point, path, depth + 1)
