"""Word files: headings, lists, tables, notes and boxes where a reader meets them."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path

import docx
import pytest
from docx.document import Document as Word
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

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
BREAK = "<w:r><w:lastRenderedPageBreak/></w:r>"


def built(make: Callable[[Word], object]) -> bytes:
    """A file that python-docx wrote."""
    document = docx.Document()
    make(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def load(data: bytes) -> Document:
    document = load_document(data, "a.docx")
    assert document.kind == "docx"
    check(document)
    return document


def body(xml: str, **parts: str) -> Document:
    """A file by hand: the body, and further parts by their name ('styles')."""
    return load(by_hand(xml, **parts))


def by_hand(xml: str, **parts: str) -> bytes:
    files: dict[str, str | bytes] = {
        "word/document.xml": f"<w:document {NAMESPACES}><w:body>{xml}</w:body></w:document>"
    }
    for name, content in parts.items():
        files[f"word/{name}.xml"] = f"<w:{name} {NAMESPACES}>{content}</w:{name}>"
    return packed(files)


def p(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def style(key: str, name: str, more: str = "") -> str:
    return f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/>{more}</w:style>'


def styled(key: str) -> str:
    return f'<w:pStyle w:val="{key}"/>'


def test_headings_and_title_by_style() -> None:
    def make(word: Word) -> None:
        word.add_heading("Bees", 0)
        word.add_paragraph("before")
        word.add_heading("Wings", 1)
        word.add_paragraph("one")
        word.add_heading("Front", 2)
        word.add_paragraph("two")
        word.add_heading("Legs", 1)
        word.add_paragraph("three")

    document = load(built(make))
    assert blocks(document) == ["Bees", "before", "Wings", "one", "Front", "two", "Legs", "three"]
    assert path(document, "before") == ("Bees",)
    assert path(document, "one") == ("Bees", "Wings")
    assert path(document, "two") == ("Bees", "Wings", "Front")
    assert path(document, "three") == ("Bees", "Legs")
    assert document.text[at(document, "two").start :].startswith("Front\n\ntwo")


@pytest.mark.parametrize(
    ("key", "definition", "level"),
    [
        # Word writes the name in English whatever the language, and the id in the language.
        ("berschrift1", style("berschrift1", "heading 1"), 1),
        ("Titre2", style("Titre2", "heading 2"), 2),
        # Other programs write the name in the language, too, or give the id alone.
        ("a", style("a", "Überschrift 3"), 3),
        ("a", style("a", "标题 1"), 1),
        ("a", style("a", "Заголовок 2"), 2),
        ("Heading2", "", 2),
        ("Kop1", "", 1),
        # Based on one, two steps away; by the outline level of the style; by a custom name.
        (
            "c",
            style("c", "My head", '<w:basedOn w:val="b"/>')
            + style("b", "B", '<w:basedOn w:val="h"/>')
            + style("h", "heading 2"),
            2,
        ),
        ("a", style("a", "Clause", '<w:pPr><w:outlineLvl w:val="1"/></w:pPr>'), 2),
        # An outline level of body text is no heading, though the style is based on one.
        (
            "t",
            style(
                "t", "TOC Heading", '<w:basedOn w:val="h"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>'
            )
            + style("h", "heading 1"),
            0,
        ),
        ("a", style("a", "Heading of a table"), 0),
        ("a", style("a", "Normal"), 0),
        # Styles that are based on each other in a circle.
        (
            "a",
            style("a", "A", '<w:basedOn w:val="b"/>') + style("b", "B", '<w:basedOn w:val="a"/>'),
            0,
        ),
        ("nosuch", "", 0),
    ],
)
def test_what_is_a_heading(key: str, definition: str, level: int) -> None:
    outer = "".join(p(f"H{n}", f'<w:outlineLvl w:val="{n - 1}"/>') for n in range(1, level))
    document = body(outer + p("Head", styled(key)) + p("text"), styles=definition)
    wanted = (*(f"H{n}" for n in range(1, level)), "Head") if level else ()
    assert path(document, "text") == wanted


def test_an_outline_level_of_the_paragraph_itself_comes_first() -> None:
    styles = style("h", "heading 1")
    document = body(
        p("A", styled("h"))
        + p("B", styled("h") + '<w:outlineLvl w:val="9"/>')
        + p("C", '<w:outlineLvl w:val="1"/>')
        + p("text"),
        styles=styles,
    )
    assert path(document, "text") == ("A", "C")
    assert path(document, "B") == ("A",)


def test_what_was_deleted_or_is_hidden_is_left_out_and_what_was_put_in_is_kept() -> None:
    document = body(
        "<w:p><w:r><w:t xml:space='preserve'>The </w:t></w:r><w:del><w:r><w:delText>old</w:delText>"
        "</w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom>"
        "<w:moveTo><w:r><w:t xml:space='preserve'> word</w:t></w:r></w:moveTo>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        "<w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>.</w:t></w:r>"
        "<w:hyperlink><w:r><w:t xml:space='preserve'> Link</w:t></w:r></w:hyperlink>"
        "<w:commentRangeStart/><w:r><w:commentReference w:id='1'/></w:r>"
        "<w:sdt><w:sdtPr/><w:sdtContent><w:r><w:t xml:space='preserve'> field</w:t></w:r>"
        "</w:sdtContent></w:sdt>"
        "<w:r><w:tab/><w:t>tab</w:t><w:br/><w:t>line</w:t><w:noBreakHyphen/><w:softHyphen/>"
        "<w:t>end</w:t></w:r></w:p>"
        "<w:sdt><w:sdtContent>" + p("control") + "</w:sdtContent></w:sdt>"
        "<w:ins>" + p("inserted") + "</w:ins>"
    )
    assert blocks(document) == ["The new word. Link field\ttab\nline-end", "control", "inserted"]


def test_a_control_that_nobody_filled_in_is_no_text() -> None:
    empty = "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    run = "<w:r><w:t>Click here</w:t></w:r>"
    document = body(
        f"<w:p><w:r><w:t>Name: </w:t></w:r>{empty.format(run)}</w:p>"
        + empty.format(p("Click here"))
    )
    assert document.text == "Name:"


def test_fields_show_their_result() -> None:
    def char(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    def run(text: str) -> str:
        return f"<w:r><w:t>{text}</w:t></w:r>"

    nested = (
        char("begin")
        + "<w:r><w:instrText>IF </w:instrText></w:r>"
        + char("begin")
        + "<w:r><w:instrText>PAGE</w:instrText></w:r>"
        + char("separate")
        + run("7")
        + char("end")
        + char("separate")
        + run("result")
        + char("end")
    )
    # A field that is never closed costs its own paragraph at most.
    document = body(
        f"<w:p>{nested}{run('!')}</w:p><w:p>{run('a')}{char('begin')}</w:p>" + p("after")
    )
    assert blocks(document) == ["result!", "a", "after"]


def test_notes_follow_their_paragraph() -> None:
    note = '<w:{0} w:id="{1}"><w:p><w:r><w:{0}Ref/><w:t>{2}</w:t></w:r></w:p></w:{0}>'
    document = body(
        '<w:p><w:r><w:t>One</w:t><w:footnoteReference w:id="2"/><w:t> two</w:t>'
        '<w:footnoteReference w:id="3"/><w:endnoteReference w:id="2"/></w:r></w:p>'
        + p("next")
        + '<w:p><w:r><w:t>x</w:t><w:footnoteReference w:id="99"/></w:r></w:p>',
        footnotes='<w:footnote w:type="separator" w:id="-1">'
        + p("line")
        + "</w:footnote>"
        + note.format("footnote", 2, "first")
        + note.format("footnote", 3, "second"),
        endnotes=note.format("endnote", 2, "last"),
    )
    assert blocks(document) == [
        "One[1] two[2][i]",
        "[1] first",
        "[2] second",
        "[i] last",
        "next",
        "x",
    ]


def test_a_text_box_follows_the_paragraph_that_it_hangs_on_and_is_read_once() -> None:
    box = (
        "<w:txbxContent>" + p("Box", '<w:outlineLvl w:val="0"/>') + p("in it") + "</w:txbxContent>"
    )
    document = body(
        "<w:p><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:wsp><wps:txbx>"
        f"{box}</wps:txbx></wps:wsp></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{box}"
        "</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>Beside</w:t></w:r>"
        f"</w:p><w:p><w:r><w:pict><v:textbox>{box.replace('Box', 'Old')}</v:textbox></w:pict>"
        "</w:r></w:p>" + p("after")
    )
    assert blocks(document) == ["Beside", "Box", "in it", "Old", "in it", "after"]
    assert path(document, "Old") == ("Old",)
    # A heading in a box is none of the text beside it.
    assert path(document, "after") == ()


def test_a_title_in_a_box_is_the_title_of_all() -> None:
    box = f"<w:txbxContent>{p('Cover', styled('t'))}{p('H', styled('h'))}</w:txbxContent>"
    document = body(
        f"<w:p><w:r><w:pict><v:textbox>{box}</v:textbox></w:pict></w:r></w:p>" + p("after"),
        styles=style("t", "Title") + style("h", "heading 1"),
    )
    assert path(document, "after") == ("Cover",)


def test_tables_are_rows_of_cells() -> None:
    def make(word: Word) -> None:
        word.add_paragraph("before")
        table = word.add_table(rows=4, cols=3)
        for row, words in enumerate((["Kind", "Legs", "Wings"], ["bee", "6", "4"], ["", "8", ""])):
            for column, text in enumerate(words):
                table.cell(row, column).text = text
        table.cell(1, 0).merge(table.cell(2, 0))
        table.cell(3, 0).merge(table.cell(3, 2)).text = "over\nall"
        word.add_paragraph("after")

    # The cell that reaches down is said again; the wide one once.
    assert load(built(make)).text == (
        "before\n\nKind | Legs | Wings\nbee | 6 | 4\nbee | 8\nover all\n\nafter"
    )


def test_a_table_that_sets_out_a_page_is_read_through() -> None:
    def make(word: Word) -> None:
        table = word.add_table(rows=1, cols=2)
        table.cell(0, 0).text = "left"
        table.cell(0, 1).add_paragraph("Head", style="Heading 1")
        table.cell(0, 1).add_paragraph("words")
        one = word.add_table(rows=2, cols=1)
        one.cell(0, 0).text = "first"
        one.cell(1, 0).text = "second"

    document = load(built(make))
    assert blocks(document) == ["left", "Head", "words", "first", "second"]
    assert path(document, "words") == ("Head",)


def test_a_box_in_a_cell_is_read_once_behind_its_row() -> None:
    box = f"<w:txbxContent>{p('in the box')}</w:txbxContent>"
    both = (
        f"<mc:AlternateContent><mc:Choice><w:drawing>{box}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent>"
    )
    first = f"<w:tc><w:p><w:r><w:t>a</w:t></w:r><w:r>{both}</w:r></w:p></w:tc>"
    rows = f"<w:tr>{first}<w:tc>{p('b')}</w:tc></w:tr><w:tr><w:tc>{p('c')}</w:tc></w:tr>"
    assert body(f"<w:tbl>{rows}</w:tbl>").text == "a | b\n\nin the box\nc"


def test_a_page_may_begin_in_a_row_without_words() -> None:
    row = "<w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>".format
    begin = f"<w:p>{BREAK}</w:p>"
    merged = "<w:tcPr><w:vMerge{}/></w:tcPr>".format
    xml = "<w:tbl>{}</w:tbl>".format(
        row(merged(' w:val="restart"') + p("A"), p("one"))
        + row(merged("") + begin, p("two"))
        + row(begin, p(""))
        + row(p("B"), p("three"))
    )
    noted = {"docProps/app.xml": "<Properties><Pages>3</Pages></Properties>"}
    document = load(changed(by_hand(xml), noted))
    assert document.text == "A | one\nA | two\nB | three"
    assert [at(document, word).page for word in ("one", "two", "three")] == [1, 2, 3]


def test_a_note_in_a_cell_follows_its_row() -> None:
    cell = "<w:tc>{}</w:tc>".format
    reference = '<w:p><w:r><w:t>a</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    document = body(
        f"<w:tbl><w:tr>{cell(reference)}{cell(p('b'))}</w:tr><w:tr>{cell(p('c'))}{cell(p('d'))}</w:tr>"
        "<w:tr><w:trPr><w:del/></w:trPr>" + cell(p("gone")) + cell(p("gone")) + "</w:tr></w:tbl>",
        footnotes='<w:footnote w:id="2">' + p("note") + "</w:footnote>",
    )
    assert document.text == "a[1] | b\n\n[1] note\nc | d"


def level(at: int, form: str, text: str, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{at}">{more}<w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
    )


ONE, FOUR = '<w:start w:val="1"/>', '<w:start w:val="4"/>'
NUMBERING = (
    '<w:abstractNum w:abstractNumId="0">'
    + level(0, "decimal", "%1.", ONE)
    + level(1, "lowerLetter", "%1.%2)", ONE)
    + level(2, "upperRoman", "%3", FOUR)
    + '</w:abstractNum><w:abstractNum w:abstractNumId="1">'
    + level(0, "bullet", "\uf0b7")
    + '</w:abstractNum><w:abstractNum w:abstractNumId="2">'
    + level(0, "decimal", "%1", ONE + styled("h1"))
    + level(1, "decimal", "%1.%2", ONE + styled("h2"))
    + "</w:abstractNum>"
    + "".join(f'<w:num w:numId="{n}"><w:abstractNumId w:val="{n - 1}"/></w:num>' for n in (1, 2, 3))
    + '<w:num w:numId="4"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
    '<w:startOverride w:val="1"/></w:lvlOverride></w:num>'
)


def item(number: int, level: int = 0) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'


def test_lists_show_the_numbers_that_word_shows() -> None:
    document = body(
        p("a", item(1))
        + p("b", item(1))
        + p("c", item(1, 1))
        + p("d", item(1, 1))
        + p("e", item(1, 2))
        + p("f", item(1))
        + p("g", item(1, 1))
        + p("words")
        + p("h", item(1))
        + p("i", item(4))
        + p("j", item(2))
        + p("k", item(0))
        + p("l", item(77)),
        numbering=NUMBERING,
    )
    # 2.a) and 2.b) hang on 2; the level below begins at IV; after 3 the letters begin anew; a
    # list goes on behind other words; the other list begins at 1; 0 is no list.
    assert document.text == (
        "1. a\n2. b\n  2.a) c\n  2.b) d\n    IV e\n3. f\n  3.a) g\n\nwords\n\n"
        "4. h\n1. i\n- j\n\nk\n\n- l"
    )


def test_numbered_headings_keep_their_number() -> None:
    listed = '<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr>'
    document = body(
        p("A", styled("h1"))
        + p("B", styled("h2"))
        + p("x")
        + p("C", styled("h2"))
        + p("y")
        + p("D", styled("h1"))
        + p("E", styled("h2"))
        + p("z"),
        styles=style("h1", "heading 1", listed) + style("h2", "heading 2", listed),
        numbering=NUMBERING,
    )
    assert path(document, "x") == ("1 A", "1.1 B")
    assert path(document, "y") == ("1 A", "1.2 C")
    assert path(document, "z") == ("2 D", "2.1 E")
    assert "1.2 C\n\ny" in document.text


def test_a_list_that_a_style_defines() -> None:
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="L"/></w:abstractNum>'
        '<w:abstractNum w:abstractNumId="1"><w:styleLink w:val="L"/><w:lvl w:ilvl="0">'
        '<w:start w:val="3"/><w:numFmt w:val="upperLetter"/><w:lvlText w:val="(%1)"/></w:lvl>'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    )
    styles = style("L", "list", '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>')
    document = body(p("x", item(1)) + p("y", item(1)), numbering=numbering, styles=styles)
    assert document.text == "(C) x\n(D) y"


def test_a_table_of_contents_is_left_out() -> None:
    document = body(
        "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj>"
        "</w:sdtPr><w:sdtContent>"
        + p("Contents")
        + p("One 1")
        + "</w:sdtContent></w:sdt>"
        + p("Two 2", styled("toc1"))
        + p("words"),
        styles=style("toc1", "toc 1"),
    )
    assert document.text == "words"


def paged(pages: int) -> bytes:
    xml = (
        p("one")
        + f"<w:p><w:r><w:t>two </w:t></w:r>{BREAK}<w:r><w:t>three</w:t></w:r></w:p>"
        + f"<w:p><w:r><w:br w:type='page'/></w:r>{BREAK}<w:r><w:t>four</w:t></w:r></w:p>"
        + f"<w:p>{BREAK}</w:p>"
        + p("five")
    )
    return changed(
        by_hand(xml), {"docProps/app.xml": f"<Properties><Pages>{pages}</Pages></Properties>"}
    )


def test_pages_where_word_noted_them() -> None:
    document = load(paged(4))
    assert document.text == "one\n\ntwo three\n\nfour\n\nfive"
    assert document.pages == 4
    # The page changes at the very letter, inside a paragraph too.
    assert [(document.text[m.start :][:3], m.page) for m in document.marks] == [
        ("one", 1),
        ("thr", 2),
        ("fou", 3),
        ("fiv", 4),
    ]


def test_no_pages_where_the_notes_disagree_or_there_are_none() -> None:
    for data in (paged(5), built(lambda word: word.add_paragraph("x").add_run().add_break())):
        document = load(data)
        assert document.pages is None


def test_headers_comments_and_descriptions_are_left_out() -> None:
    def make(word: Word) -> None:
        word.sections[0].header.paragraphs[0].text = "the header"
        word.sections[0].footer.paragraphs[0].text = "the footer"
        run = word.add_paragraph().add_run("words")
        word.add_comment(run, text="a comment", author="A")

    assert load(built(make)).text == "words"


def test_formulas_and_ruby() -> None:
    document = body(
        "<w:p><w:r><w:t>if </w:t></w:r><m:oMath><m:r><m:t>x</m:t></m:r><m:r><m:t>=1</m:t></m:r>"
        "</m:oMath></w:p>"
        "<w:p><w:r><w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r>"
        "</w:rubyBase></w:ruby></w:r></w:p>"
    )
    assert blocks(document) == ["if x=1", "漢"]


def test_the_strict_form_and_other_names_of_parts() -> None:
    data = built(lambda word: word.add_heading("Head", 1))
    strict = {
        name: content.replace(W.encode(), b"http://purl.oclc.org/ooxml/wordprocessingml/main")
        for name, content in parts_of(data).items()
    }
    document = load(packed(strict))
    assert document.marks[0].heading_path == ("Head",)
    # Word on the web calls the main part document2.xml; another program writes capitals.
    parts = parts_of(data)
    parts["word/Document2.xml"] = parts.pop("word/document.xml")
    parts["_rels/.rels"] = parts["_rels/.rels"].replace(
        b"word/document.xml", b"/word/document2.xml"
    )
    assert load(packed(parts)).text == "Head"


@pytest.mark.parametrize("kind", ["html", "mht"])
def test_a_page_that_was_put_in_whole(kind: str) -> None:
    page = "<html><body><h1>Café</h1><p>words</p></body></html>"
    if kind == "mht":
        page = (
            "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\n"
            f"Content-Type: text/html; charset=utf-8\n\n{page}\n--x--\n"
        )
    chunk = '<w:altChunk xmlns:r="r" r:id="r1"/>'
    parts: dict[str, str | bytes | None] = {
        "word/_rels/document.xml.rels": '<Relationships><Relationship Id="r1" Type="x/aFChunk" '
        f'Target="/word/part.{kind}"/></Relationships>',
        f"word/part.{kind}": page,
    }
    document = load(changed(by_hand(p("before") + chunk + p("after")), parts))
    assert blocks(document) == ["before", "Café", "words", "after"]
    assert path(document, "words") == ("Café",)
    parts[f"word/part.{kind}"] = packed({"word/document.xml": "<x/>"})
    document = load(changed(by_hand(p("before") + chunk + p("after")), parts))
    assert blocks(document) == ["before", "after"]
    assert "put in whole" in document.warnings[0]


def test_a_note_told_a_thousand_times_is_read_once() -> None:
    note = '<w:footnote w:id="2">' + p("note " * 100) + "</w:footnote>"
    call = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    data = by_hand(f"<w:p>{call * 1_000}</w:p>", footnotes=note)
    document = load_document(data, "a.docx", Limits(max_characters=20_000))
    assert len(document.text) <= 20_000
    assert "too long" in document.warnings[-1]
    # A note that refers to itself ends there.
    own = '<w:footnote w:id="2"><w:p><w:r><w:t>own</w:t></w:r>' + call + "</w:p></w:footnote>"
    assert body(f"<w:p>{call}</w:p>", footnotes=own).text == "[1]\n\n[1] own"


def test_a_file_without_text_says_so() -> None:
    with pytest.raises(DocumentError, match="holds no text"):
        load_document(built(lambda word: word.add_paragraph("")), "a.docx")


@pytest.mark.parametrize(
    "part", ["word/document.xml", "word/styles.xml", "_rels/.rels", "docProps/app.xml"]
)
def test_entities_are_refused(part: str) -> None:
    bomb = (
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
        + "".join(
            f'<!ENTITY a{n} "{f"&a{n - 1 or chr(0)};" * 10}">'.replace("a\x00", "a")
            for n in range(1, 12)
        )
        + f"]><x {NAMESPACES}>&a11;</x>"
    )
    data = changed(paged(4), {part: bomb})
    with pytest.raises(DocumentError, match="entities of its own") as caught:
        load_document(data, "a.docx")
    assert "a.docx" in str(caught.value)


def test_files_outside_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    xml = f"<w:document {NAMESPACES}><w:body>{p('a')}</w:body></w:document>"
    named = f'<!DOCTYPE x SYSTEM "{secret.as_uri()}">{xml}'
    assert load(packed({"word/document.xml": named})).text == "a"
    relation = f'<Relationship Id="r" Type="x/styles" Target="{secret.as_uri()}"/>'
    relations = f"<Relationships>{relation}</Relationships>"
    climbing = {"word/_rels/document.xml.rels": relations, "../../etc/passwd": "no"}
    assert load(changed(by_hand(p("a")), climbing)).text == "a"


def test_bombs_are_refused() -> None:
    data = changed(by_hand(p("a")), {"word/document.xml": b" " * 50_000_000})
    with pytest.raises(DocumentError, match="looks like a bomb"):
        load_document(data, "a.docx")
    limits = Limits(max_unpacked=100)
    with pytest.raises(DocumentError, match="more than is read"):
        load_document(by_hand(p("a" * 200)), "a.docx", limits)


def test_a_picture_that_would_unpack_to_too_much_is_never_unpacked() -> None:
    data = changed(by_hand(p("a")), {"word/media/image1.png": bytes(50_000_000)})
    assert load(data).text == "a"


@pytest.mark.parametrize(
    "xml",
    [
        "<w:tbl><w:tr><w:tc>" * 60 + p("deep") + "</w:tc></w:tr></w:tbl>" * 60,
        "<w:sdt><w:sdtContent>" * 100 + p("deep") + "</w:sdtContent></w:sdt>" * 100,
        "<w:ins>" * 200 + p("deep") + "</w:ins>" * 200,
    ],
)
def test_deep_nesting_is_read(xml: str) -> None:
    assert body(xml + p("after")).text == "deep\n\nafter"


def test_parts_made_to_stall_a_pattern_do_not() -> None:
    blanks = " " * 900_000
    counted = level(0, "upperLetter", "%1" * 100_000, '<w:start w:val="999999999"/>')
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{counted}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    document = body(
        p(f"a{blanks}b") + p("c", item(1)) * 100,
        numbering=numbering,
        styles=style("a", blanks + "x"),
    )
    assert len(document.text) < 910_000
    assert document.text.endswith(" c")


def test_nesting_beyond_sense_is_cut_and_told() -> None:
    document = body(p("before") + "<w:ins>" * 5_000 + p("deep") + "</w:ins>" * 5_000)
    assert document.text == "before"
    assert "damaged" in document.warnings[0]


def test_of_a_file_cut_short_the_beginning_is_read() -> None:
    chance = random.Random(1)
    words = [f"Paragraph {n} " + "".join(chance.choices("abcdefgh ", k=60)) for n in range(3_000)]
    data = by_hand("".join(p(word) for word in words))
    document = load_document(data[: len(data) // 2], "a.docx")
    check(document)
    found = blocks(document)
    assert 1_000 < len(found) < 2_000
    assert found[:1_000] == [word.strip() for word in words[:1_000]]
    (warning,) = document.warnings
    assert "a.docx is damaged; what can be read of the text was" in warning
    assert "word/document.xml" in warning


def test_a_damaged_file_that_speaks_of_entities_is_no_bomb() -> None:
    data = by_hand(p("The IDENTITY of an ENTITY") + p("after"))
    cut = parts_of(data)["word/document.xml"][:-30]
    document = load(changed(data, {"word/document.xml": cut}))
    assert blocks(document)[0] == "The IDENTITY of an ENTITY"
    assert "damaged" in document.warnings[0]


def test_a_lost_part_is_named_and_a_lost_body_refused() -> None:
    data = built(lambda word: word.add_heading("Head", 1))
    document = load(changed(data, {"word/styles.xml": b"<w:styles"}))
    # The id of the style still says what it is.
    assert document.marks[0].heading_path == ("Head",)
    assert "word/styles.xml" in document.warnings[0]
    with pytest.raises(DocumentError, match="no text of it can be read"):
        load_document(changed(data, {"word/document.xml": b"\x00\x01"}), "a.docx")


def test_damaged_files() -> None:
    def make(word: Word) -> None:
        for number in range(30):
            word.add_heading(f"Head {number}", 1 + number % 3)
            word.add_paragraph(f"Paragraph {number}, and some words more.")

    texts = [survives(data, "a.docx") for data in hurt(built(make), 7, 80)]
    # Most of what is cut or flipped can still be read in part.
    assert sum(text is not None and "Paragraph 0" in text for text in texts) > 30


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        (
            "EncryptedPackage",
            "protected by a password. Open it in Word or PowerPoint and save a copy",
        ),
        (
            "WordDocument",
            "an old Word document. Open it in Word or LibreOffice and save it as .docx",
        ),
        ("PowerPoint Document", "an old PowerPoint file"),
        ("Workbook", "an old spreadsheet"),
        ("Other", "an old office document"),
    ],
)
def test_locked_and_old_files_say_what_to_do(stream: str, words: str) -> None:
    with pytest.raises(DocumentError) as caught:
        load_document(OLE + stream.encode("utf-16-le") + bytes(99), "a.docx")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"xl/workbook.xml": "<x/>"}, "a spreadsheet. Save its sheets as CSV"),
        ({"mimetype": "x", "content.xml": "<x/>", "META-INF/manifest.xml": "<x/>"}, "OpenDocument"),
    ],
)
def test_other_office_zips_say_what_to_do(parts: dict[str, str], words: str) -> None:
    with pytest.raises(DocumentError, match=words):
        load_document(packed(parts), "a.docx")


def test_the_name_decides_nothing() -> None:
    data = built(lambda word: word.add_paragraph("words"))
    assert load_document(data, "notes.txt").kind == "docx"
    assert load_document(b"plain words", "a.docx").kind == "text"


_WORD = st.text("abc é中", min_size=1, max_size=9).filter(lambda s: s.strip())


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 5), _WORD), min_size=1, max_size=20))
def test_what_python_docx_wrote_is_read_with_its_paths(parts: list[tuple[int, str]]) -> None:
    # Each paragraph carries its number, so that it can be found in the text; 0 is no heading.
    words = [(n, f"{' '.join(text.split())} {i}.") for i, (n, text) in enumerate(parts)]

    def make(word: Word) -> None:
        for level, text in words:
            word.add_heading(text, level) if level else word.add_paragraph(text)

    data = built(make)
    document = load(data)
    # python-docx, which shares no code with the loader, reads the same paragraphs.
    read = [each.text for each in docx.Document(io.BytesIO(data)).paragraphs]
    assert blocks(document) == read == [text for _, text in words]
    place, above = 0, dict[int, str]()
    for level, text in words:
        if level:
            above = {n: t for n, t in above.items() if n < level} | {level: text}
        mark = [mark for mark in document.marks if mark.start <= place][-1]
        assert mark.heading_path == tuple(above[n] for n in sorted(above))
        place += len(text) + 2


@pytest.mark.shared
def test_files_of_the_world(shared: Path) -> None:
    found = {}
    for file in sorted((shared / "data/documents/docx").glob("*.docx")):
        found[file.name] = survives(file.read_bytes(), file.name)
    assert len(found) == 8
    # One holds pictures alone.
    assert [name for name, text in found.items() if text is None] == ["having-images.docx"]
    for file in sorted((shared / "data/documents/docx").glob("*.docx")):
        text = found[file.name] or ""
        for paragraph in docx.Document(str(file)).paragraphs:
            assert " ".join(paragraph.text.split()) in " ".join(text.split())


@pytest.mark.shared
def test_pages_of_a_file_that_word_set(shared: Path) -> None:
    file = shared / "data/documents/docx/sct-inner-content.docx"
    document = load(file.read_bytes())
    assert document.pages == 3
    assert [at(document, f"P{n}").page for n in (1, 3, 5, 8, 9)] == [1, 1, 2, 3, 3]
