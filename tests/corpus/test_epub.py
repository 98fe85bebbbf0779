"""Electronic books: chapters in the order of reading, paths from the table of contents."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.corpus.documents import (
    at,
    blocks,
    changed,
    check,
    hurt,
    packed,
    parts_of,
    path,
    survives,
)
from tracert.corpus.loaders import Limits, load_document
from tracert.corpus.model import Document
from tracert.errors import DocumentError

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>"
)
XHTML = (
    '<?xml version="1.0" encoding="utf-8"?>{dtd}<html xmlns="http://www.w3.org/1999/xhtml" '
    'xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head><body>{body}</body></html>'
)
NCX_DTD = (
    '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" '
    '"http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
)


def page(body: str, dtd: str = "<!DOCTYPE html>") -> str:
    return XHTML.format(body=body, dtd=dtd)


def epub(
    pages: dict[str, str],
    nav: str = "",
    ncx: str = "",
    *,
    title: str = "The Book",
    more: str = "",
    **parts: str,
) -> bytes:
    """A book of pages (path to body) in their order, with a table of contents or two."""
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(pages)))
    if nav:
        items += (
            '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        )
        spine = '<itemref idref="nav"/>' + spine
    if ncx:
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0"><metadata>'
        f"<dc:title>{title}</dc:title></metadata><manifest>{items}</manifest>"
        f'<spine toc="ncx">{spine}</spine>{more}</package>'
    )
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package,
        **{f"OEBPS/{name}": page(body) for name, body in pages.items()},
    }
    if nav:
        files["OEBPS/nav.xhtml"] = page(
            f'<nav epub:type="toc"><h2>Contents</h2><ol>{nav}</ol></nav>'
        )
    if ncx:
        files["OEBPS/toc.ncx"] = (
            f'<?xml version="1.0"?>{NCX_DTD}<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/">'
            f"<navMap>{ncx}</navMap></ncx>"
        )
    return packed({**files, **parts})


def entry(label: str, target: str, inner: str = "") -> str:
    return f'<li><a href="{target}">{label}</a>{f"<ol>{inner}</ol>" if inner else ""}</li>'


def point(label: str, target: str, inner: str = "") -> str:
    return (
        f"<navPoint><navLabel><text>{label}</text></navLabel><content src='{target}'/>{inner}"
        "</navPoint>"
    )


def load(data: bytes) -> Document:
    document = load_document(data, "a.epub")
    assert document.kind == "epub"
    check(document)
    return document


PAGES = {
    "cover.xhtml": '<img src="cover.jpg" alt=""/>',
    "text/one.xhtml": "<h2>Chapter 1</h2><p>first</p><h3>A walk</h3><p>second</p>",
    "text/two.xhtml": '<section id="c2"><h2>The other</h2><p>third</p></section>'
    '<section id="c3"><h2>Third</h2><p>fourth</p><p id="mid">fifth</p></section>',
    "end.xhtml": "<p>sixth</p>",
}


@pytest.mark.parametrize("kind", ["nav", "ncx"])
def test_the_contents_give_the_paths(kind: str) -> None:
    make = entry if kind == "nav" else point
    contents = make(
        "Part I", "text/one.xhtml", make("One", "text/one.xhtml") + make("Two", "text/two.xhtml#c2")
    ) + make("Three &amp; more", "text/two.xhtml#c3", make("The middle", "text/two.xhtml#mid"))
    document = load(epub(PAGES, **{kind: contents}))
    assert blocks(document) == [
        "Chapter 1",
        "first",
        "A walk",
        "second",
        "The other",
        "third",
        "Third",
        "fourth",
        "fifth",
        "sixth",
    ]
    # The innermost of two entries for one place; smaller headings of the text below it; an entry
    # in the middle of a page from where it points to; what no entry names belongs to the last.
    assert path(document, "first") == ("The Book", "Part I", "One")
    assert path(document, "second") == ("The Book", "Part I", "One", "A walk")
    assert path(document, "third") == ("The Book", "Part I", "Two")
    assert path(document, "fourth") == ("The Book", "Three & more")
    assert path(document, "fifth") == ("The Book", "Three & more", "The middle")
    assert path(document, "sixth") == ("The Book", "Three & more", "The middle")
    assert document.text[at(document, "third").start :].startswith("The other")


def test_the_contents_may_lie_elsewhere_and_have_odd_names() -> None:
    data = epub({"a b.xhtml": "<h1>A</h1><p>words</p>"}, nav=entry("One", "a%20b.xhtml"))
    assert path(load(data), "words") == ("The Book", "One")
    moved = changed(
        data,
        {
            "OEBPS/x/nav.xhtml": page(
                f'<nav epub:type="toc"><ol>{entry("Up", "../a b.xhtml")}</ol></nav>'
            ),
            "OEBPS/book.opf": _opf(data)
            .replace("nav.xhtml", "x/nav.xhtml")
            .replace("a b.xhtml", "a%20b.xhtml"),
        },
    )
    assert path(load(moved), "words") == ("The Book", "Up")


def _opf(data: bytes) -> str:
    return parts_of(data)["OEBPS/book.opf"].decode()


def test_without_contents_the_headings_of_the_text_count() -> None:
    document = load(epub(PAGES))
    assert path(document, "second") == ("The Book", "Chapter 1", "A walk")
    assert path(document, "fourth") == ("The Book", "Third")


def test_a_book_that_begins_with_its_own_title() -> None:
    contents = entry("The Book", "a.xhtml", entry("One", "a.xhtml#x"))
    document = load(epub({"a.xhtml": "<p>start</p><p id='x'>words</p>"}, nav=contents))
    assert path(document, "start") == ("The Book",)
    assert path(document, "words") == ("The Book", "One")


def test_a_heading_that_says_what_its_entry_says_is_that_entry() -> None:
    pages = {"a.xhtml": "<p>A motto</p><h1>One</h1><p>words</p><h2>Inner</h2><p>more</p>"}
    document = load(epub(pages, nav=entry("One", "a.xhtml")))
    assert path(document, "words") == ("The Book", "One")
    assert path(document, "more") == ("The Book", "One", "Inner")


def test_the_contents_are_no_text_of_the_book() -> None:
    guide = '<guide><reference type="toc" href="toc.xhtml"/></guide>'
    pages = {"toc.xhtml": "<p>One 1</p>", "a.xhtml": "<p>words</p>"}
    assert load(epub(pages, nav=entry("One", "a.xhtml"), more=guide)).text == "words"


def test_page_numbers_notes_and_signs_of_layout() -> None:
    body = (
        '<p>so<span epub:type="pagebreak" title="7">7</span>me&#173;thing&#8288;'
        '<a epub:type="noteref" href="n.xhtml#n1">1</a></p>'
    )
    back = '<a epub:type="backlink" href="a.xhtml">back</a>'
    notes = f'<aside epub:type="footnote" id="n1"><p>1. The note. {back}</p></aside>'
    assert blocks(load(epub({"a.xhtml": body, "n.xhtml": notes}))) == [
        "something[1]",
        "1. The note.",
    ]


def test_version_2_pages_with_their_own_doctype() -> None:
    dtd = (
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" '
        '"http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">'
    )
    data = changed(
        epub({"a.xhtml": ""}), {"OEBPS/a.xhtml": page("<p>caf&eacute;&nbsp;&mdash;</p>", dtd)}
    )
    assert load(data).text == "café —"


def test_a_file_in_the_book_that_is_no_page_is_no_text() -> None:
    data = epub({"a.xhtml": "<p>words</p>"})
    package = (
        _opf(data)
        .replace("</manifest>", '<item id="s" href="s.svg" media-type="image/svg+xml"/></manifest>')
        .replace("</spine>", '<itemref idref="s"/><itemref idref="nosuch"/></spine>')
    )
    document = load(changed(data, {"OEBPS/book.opf": package, "OEBPS/s.svg": "<svg/>"}))
    assert (document.text, document.warnings) == ("words", ())


def encrypted(*paths: str) -> str:
    return (
        "<encryption>"
        + "".join(
            f'<EncryptedData><CipherData><CipherReference URI="{path}"/></CipherData>'
            "</EncryptedData>"
            for path in paths
        )
        + "</encryption>"
    )


def test_protected_books_say_so_and_fonts_do_not_matter() -> None:
    pages = {"a.xhtml": "<p>words</p>", "b.xhtml": "<p>more</p>"}
    data = epub(pages)
    lock = "META-INF/encryption.xml"
    assert load(changed(data, {lock: encrypted("OEBPS/font.otf")})).text == "words\n\nmore"
    with pytest.raises(DocumentError, match="protected against copying"):
        load_document(changed(data, {lock: encrypted("OEBPS/a.xhtml", "OEBPS/b.xhtml")}), "a.epub")
    partly = load(changed(data, {lock: encrypted("OEBPS/a.xhtml")}))
    assert partly.text == "more"
    assert "OEBPS/a.xhtml" in partly.warnings[0]


def test_lost_and_damaged_files_are_named_and_the_rest_is_read() -> None:
    pages = {"a.xhtml": "<p>one</p>", "b.xhtml": "<p>two</p>", "c.xhtml": "<p>three</p>"}
    data = epub(pages, nav=entry("A", "a.xhtml") + entry("C", "c.xhtml"))
    document = load(changed(data, {"OEBPS/b.xhtml": None}))
    assert blocks(document) == ["one", "three"]
    assert path(document, "three") == ("The Book", "C")
    assert "OEBPS/b.xhtml" in document.warnings[0]
    # Without the package the pages come by name; without the contents by their headings.
    assert blocks(load(changed(data, {"OEBPS/book.opf": None})))[-3:] == ["one", "two", "three"]
    lost = load(changed(data, {"OEBPS/nav.xhtml": None}))
    assert blocks(lost) == ["one", "two", "three"]
    assert "OEBPS/nav.xhtml" in lost.warnings[0]
    # Without the container the package is found by its ending.
    assert load(changed(data, {"META-INF/container.xml": None})).text == load(data).text


def test_a_book_without_text_says_so() -> None:
    with pytest.raises(DocumentError, match="holds no text"):
        load_document(epub({"a.xhtml": "<img src='a.jpg'/>"}), "a.epub")
    with pytest.raises(DocumentError, match="no page of it can be read"):
        load_document(changed(epub({"a.xhtml": ""}), {"OEBPS/a.xhtml": None}), "a.epub")


def test_entities_bombs_and_paths_outside(tmp_path: Path) -> None:
    secret = tmp_path / "secret.xhtml"
    secret.write_text(page("<p>the secret</p>"))
    data = epub({"a.xhtml": "<p>words</p>"})
    bomb = page("<p>&x;</p>", f'<!DOCTYPE html [<!ENTITY x SYSTEM "{secret.as_uri()}">]>')
    for part in ("OEBPS/a.xhtml", "OEBPS/book.opf", "META-INF/container.xml"):
        with pytest.raises(DocumentError, match="entities of its own"):
            load_document(changed(data, {part: bomb}), "a.epub")
    with pytest.raises(DocumentError, match="looks like a bomb"):
        load_document(changed(data, {"OEBPS/a.xhtml": bytes(50_000_000)}), "a.epub")
    with pytest.raises(DocumentError, match="more than is read"):
        load_document(data, "a.epub", Limits(max_unpacked=100))
    package = _opf(data).replace('href="a.xhtml"', f'href="../../../..{secret}"')
    with pytest.raises(DocumentError, match="no page of it can be read"):
        load_document(changed(data, {"OEBPS/book.opf": package}), "a.epub")


def test_contents_without_end() -> None:
    deep = ""
    for number in range(200):
        deep = entry(f"E{number}", "a.xhtml#x", deep)
    document = load(epub({"a.xhtml": "<p id='x'>words</p>"}, nav=deep))
    assert len(path(document, "words")) <= 12
    many = "".join(entry(f"E{n}", f"a.xhtml#x{n}") for n in range(20_000))
    assert load(epub({"a.xhtml": "<p id='x7'>words</p>"}, nav=many)).text == "words"


def test_damaged_files() -> None:
    data = epub(PAGES, nav=entry("One", "text/one.xhtml") + entry("Two", "text/two.xhtml"))
    texts = [survives(each, "a.epub") for each in hurt(data, 3, 80)]
    assert sum(text is not None and "first" in text for text in texts) > 25


def test_the_kind_is_told_by_the_content() -> None:
    data = epub({"a.xhtml": "<p>words</p>"})
    assert load_document(data, "a.zip").kind == "epub"
    # A book packed by a program that does not put the type first.
    assert load_document(changed(data, {"mimetype": None}), "a.bin").kind == "epub"


_WORDS = st.text("abc é中", min_size=1, max_size=9).filter(lambda s: s.strip())


@settings(max_examples=40)
@given(st.lists(st.lists(_WORDS, min_size=1, max_size=4), min_size=1, max_size=5), st.booleans())
def test_every_paragraph_is_in_its_chapter(chapters: list[list[str]], by_anchor: bool) -> None:
    # The same chapters as files of their own and as sections of one file.
    named = [
        [" ".join(f"{text} {c}.{i}.".split()) for i, text in enumerate(texts)]
        for c, texts in enumerate(chapters)
    ]
    bodies = [
        f"<section id='s{c}'>{''.join(f'<p>{t}</p>' for t in texts)}</section>"
        for c, texts in enumerate(named)
    ]
    pages = (
        {"all.xhtml": "".join(bodies)}
        if by_anchor
        else {f"{c}.xhtml": b for c, b in enumerate(bodies)}
    )
    nav = "".join(
        entry(f"C{c}", f"all.xhtml#s{c}" if by_anchor else f"{c}.xhtml") for c in range(len(named))
    )
    document = load(epub(pages, nav=nav))
    assert blocks(document) == [text for texts in named for text in texts]
    for c, texts in enumerate(named):
        for text in texts:
            assert path(document, text) == ("The Book", f"C{c}")


@pytest.mark.shared
def test_a_whole_book(shared: Path) -> None:
    file = shared / "data/documents/epub/pride_and_prejudice_standardebooks.epub"
    document = load(file.read_bytes())
    assert document.warnings == ()
    paths = [mark.heading_path for mark in document.marks]
    assert {entry[0] for entry in paths} == {"Pride and Prejudice"}
    # Sixty-one chapters, by their Roman numbers.
    assert [p[1] for p in paths[2:5]] == ["I", "II", "III"]
    assert ("Pride and Prejudice", "LXI") in paths
    assert path(document, "It is a truth universally acknowledged") == ("Pride and Prejudice", "I")
