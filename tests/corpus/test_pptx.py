"""Presentations: the slide is the page, its title the heading."""

from __future__ import annotations

import io
from collections.abc import Callable

import pptx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pptx.presentation import Presentation
from pptx.slide import Slide
from pptx.util import Inches

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
from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import Limits, load_document
from tracert.corpus.model import Document
from tracert.errors import DocumentError

TITLE_AND_BODY, TITLE_ONLY, BLANK = 1, 5, 6
NAMESPACES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
)


def built(make: Callable[[Presentation], object]) -> bytes:
    """A file that python-pptx wrote."""
    deck = pptx.Presentation()
    make(deck)
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


def slide(deck: Presentation, layout: int, title: str = "", body: str = "") -> Slide:
    added = deck.slides.add_slide(deck.slide_layouts[layout])
    if title:
        added.shapes.title.text = title
    if body:
        added.placeholders[1].text_frame.text = body
    return added


def load(data: bytes) -> Document:
    document = load_document(data, "a.pptx")
    assert document.kind == "pptx"
    check(document)
    return document


def by_hand(*slides: str, **parts: str) -> bytes:
    """Slides given by their shapes, without the list of them; and further parts."""
    files: dict[str, str | bytes] = {
        f"ppt/slides/slide{number}.xml": f"<p:sld {NAMESPACES}><p:cSld><p:spTree>{shapes}"
        "</p:spTree></p:cSld></p:sld>"
        for number, shapes in enumerate(slides, 1)
    }
    return packed({**files, **parts})


def shape(text: str, about: str = "", placeholder: str = "") -> str:
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr id='1' name='x' {about}/><p:cNvSpPr/>"
        f"<p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def test_slides_titles_lists_and_notes() -> None:
    def make(deck: Presentation) -> None:
        first = slide(deck, TITLE_AND_BODY, "Bees", "Wings")
        for text, level in (("four of them", 1), ("thin", 2), ("Legs", 0)):
            paragraph = first.placeholders[1].text_frame.add_paragraph()
            paragraph.text, paragraph.level = text, level
        first.notes_slide.notes_text_frame.text = "Show the picture.\nWait."
        slide(deck, TITLE_ONLY, "Ants")
        slide(deck, BLANK)
        slide(deck, BLANK).shapes.add_textbox(0, 0, 9, 9).text_frame.text = "No title"

    document = load(built(make))
    assert blocks(document) == [
        "Bees",
        "Wings\n  - four of them\n    - thin\nLegs",
        "Notes\nShow the picture.\nWait.",
        "Ants",
        "No title",
    ]
    assert document.pages == 4
    assert (at(document, "Legs").page, path(document, "Legs")) == (1, ("Bees",))
    assert (at(document, "Wait").page, path(document, "Wait")) == (1, ("Bees", "Notes"))
    assert (at(document, "Ants").page, path(document, "Ants")) == (2, ("Ants",))
    assert (at(document, "No title").page, path(document, "No title")) == (4, ())


def test_no_passage_reaches_from_one_slide_into_the_next() -> None:
    def make(deck: Presentation) -> None:
        slide(
            deck, TITLE_AND_BODY, "Short", "one line"
        ).notes_slide.notes_text_frame.text = "say it"
        slide(deck, TITLE_AND_BODY, "Long", "word " * 60)
        slide(deck, BLANK)
        slide(deck, TITLE_ONLY, "Last")

    document = load(built(make))
    for sentences in (False, True):
        chunks = chunk(document, Chunking(100, 20, sentences=sentences))
        assert [(each.page, each.text[:5]) for each in chunks if each.text[0].isupper()] == [
            (1, "Short"),
            (2, "Long\n"),
            (4, "Last"),
        ]
        # A short slide is one passage, its notes included; a long one is cut like any text.
        assert chunks[0].text == "Short\n\none line\n\nNotes\nsay it"
        assert sum(each.page == 2 for each in chunks) >= 4
        assert all(each.text == document.text[each.start : each.end] for each in chunks)
        # Together they hold all of the text but the gaps between slides.
        held = {place for each in chunks for place in range(each.start, each.end)}
        left = "".join(letter for place, letter in enumerate(document.text) if place not in held)
        assert left == "\n" * 4


def test_the_order_is_that_of_the_show_not_of_the_names() -> None:
    def make(deck: Presentation) -> None:
        slide(deck, TITLE_ONLY, "first made")
        slide(deck, TITLE_ONLY, "second made")
        listed = deck.slides._sldIdLst
        listed.append(listed[0])

    assert blocks(load(built(make))) == ["second made", "first made"]


def test_the_title_comes_first_wherever_it_stands() -> None:
    title = shape("Title", placeholder="<p:ph type='ctrTitle'/>")
    document = load(by_hand(shape("body") + title))
    assert blocks(document) == ["Title", "body"]
    assert path(document, "body") == ("Title",)


def test_tables() -> None:
    def make(deck: Presentation) -> None:
        table = slide(deck, BLANK).shapes.add_table(3, 2, 0, 0, Inches(3), Inches(2)).table
        for row, cells in enumerate((("Kind", "Legs"), ("bee\nhoney", "6"))):
            for column, text in enumerate(cells):
                table.cell(row, column).text = text
        table.cell(2, 0).merge(table.cell(2, 1))
        table.cell(2, 0).text = "over both"

    assert load(built(make)).text == "Kind | Legs\nbee honey | 6\nover both"


def test_groups_hidden_shapes_and_what_every_slide_says() -> None:
    document = load(
        by_hand(
            f"<p:grpSp><p:nvGrpSpPr><p:cNvPr id='1' name='g'/></p:nvGrpSpPr>{shape('in a group')}"
            f"<p:grpSp>{shape('deeper')}</p:grpSp></p:grpSp>"
            + shape("hidden", "hidden='1'")
            + f"<p:grpSp><p:nvGrpSpPr><p:cNvPr id='1' name='g' hidden='1'/></p:nvGrpSpPr>"
            f"{shape('hidden too')}</p:grpSp>"
            + "".join(
                shape("again", placeholder=f"<p:ph type='{t}'/>") for t in ("sldNum", "dt", "ftr")
            )
            + f"<mc:AlternateContent><mc:Choice>{shape('new')}</mc:Choice>"
            f"<mc:Fallback>{shape('old')}</mc:Fallback></mc:AlternateContent>"
        )
    )
    assert blocks(document) == ["in a group", "deeper", "new"]


def test_lines_numbers_and_fields() -> None:
    lines = (
        "<a:p><a:pPr><a:buAutoNum type='arabicPeriod'/></a:pPr><a:r><a:t>one</a:t></a:r></a:p>"
        "<a:p><a:pPr><a:buAutoNum type='arabicPeriod'/></a:pPr><a:r><a:t>two</a:t></a:r></a:p>"
        "<a:p><a:pPr><a:buChar char='x'/></a:pPr><a:r><a:t>sign</a:t></a:r></a:p>"
        "<a:p><a:r><a:t>a</a:t></a:r><a:br/><a:fld type='datetime'><a:t>2026</a:t></a:fld>"
        "<a:fld type='slidenum'><a:t>7</a:t></a:fld></a:p>"
    )
    text = shape("zero").replace("</p:txBody>", f"{lines}</p:txBody>")
    assert load(by_hand(text)).text == "zero\n1. one\n2. two\n- sign\na\n2026"


def test_diagrams() -> None:
    frame = (
        "<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm='rId1'/></a:graphicData>"
        "</a:graphic></p:graphicFrame>"
    )
    point = "<dgm:pt><dgm:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></dgm:t></dgm:pt>".format
    data = by_hand(shape("before") + frame)
    document = load(
        changed(
            data,
            {
                "ppt/slides/_rels/slide1.xml.rels": "<Relationships><Relationship Id='rId1' "
                "Type='x/diagramData' Target='../diagrams/data1.xml'/></Relationships>",
                "ppt/diagrams/data1.xml": f"<dgm:dataModel {NAMESPACES}>{point('Plan')}"
                f"{point('Do')}<dgm:pt type='pres'/></dgm:dataModel>",
            },
        )
    )
    assert blocks(document) == ["before", "Plan", "Do"]


def test_sections_stand_above_titles() -> None:
    def make(deck: Presentation) -> None:
        slide(deck, TITLE_ONLY, "Bees")
        slide(deck, TITLE_ONLY, "Stones")

    data = built(make)
    main = parts_of(data)["ppt/presentation.xml"].decode()
    ids = [piece.split('"')[0] for piece in main.split('<p:sldId id="')[1:]] or [
        piece.split('"')[0] for piece in main.split('id="')[1:] if piece[:3] in {"256", "257"}
    ]
    assert len(ids) == 2
    section = (
        "<p:extLst><p:ext uri='x'><p14:sectionLst xmlns:p14='http://schemas.microsoft.com/office/"
        f"powerpoint/2010/main'><p14:section name='Living'><p14:sldIdLst><p14:sldId id='{ids[0]}'/>"
        "</p14:sldIdLst></p14:section></p14:sectionLst></p:ext></p:extLst></p:presentation>"
    )
    document = load(
        changed(data, {"ppt/presentation.xml": main.replace("</p:presentation>", section)})
    )
    assert [mark.heading_path for mark in document.marks] == [("Living", "Bees"), ("Stones",)]


def test_limits_and_empty_files() -> None:
    data = built(lambda deck: [slide(deck, TITLE_ONLY, f"S{number}") for number in range(5)])
    document = load_document(data, "a.pptx", Limits(max_pages=2))
    assert blocks(document) == ["S0", "S1"]
    assert "has 5 slides; the first 2 were read" in document.warnings[0]
    with pytest.raises(DocumentError, match="holds no text"):
        load_document(built(lambda deck: slide(deck, BLANK)), "a.pptx")
    with pytest.raises(DocumentError, match="holds no text"):
        load_document(built(lambda deck: None), "a.pptx")


def test_a_damaged_slide_is_named_and_the_others_read() -> None:
    data = built(lambda deck: [slide(deck, TITLE_ONLY, f"S{number}") for number in range(4)])
    document = load(
        changed(data, {"ppt/slides/slide2.xml": b"\x00", "ppt/slides/slide3.xml": None})
    )
    assert blocks(document) == ["S0", "S3"]
    assert at(document, "S3").page == 4
    (warning,) = document.warnings
    assert "Slides left out: 2, 3." in warning
    with pytest.raises(DocumentError, match="no slide of it can be read"):
        load_document(by_hand("<broken"), "a.pptx")


def test_of_a_file_cut_short_the_first_slides_are_read() -> None:
    data = built(lambda deck: [slide(deck, TITLE_AND_BODY, f"S{n}", "x") for n in range(20)])
    place = data.find(b"ppt/slides/slide9.xml")
    document = load(data[:place])
    assert {"S0", "S1"} <= set(blocks(document))
    assert "damaged" in document.warnings[0]


def test_entities_and_bombs_are_refused() -> None:
    bomb = f'<!DOCTYPE x [<!ENTITY a "b">]><p:sld {NAMESPACES}>&a;</p:sld>'
    with pytest.raises(DocumentError, match="entities of its own"):
        load_document(changed(by_hand(shape("a")), {"ppt/slides/slide1.xml": bomb}), "a.pptx")
    data = changed(by_hand(shape("a")), {"ppt/slides/slide2.xml": bytes(50_000_000)})
    with pytest.raises(DocumentError, match="looks like a bomb"):
        load_document(data, "a.pptx")


def test_groups_in_groups_without_end() -> None:
    deep = "<p:grpSp>" * 200 + shape("deep") + "</p:grpSp>" * 200
    assert load(by_hand(deep + shape("after"))).text == "deep\n\nafter"
    document = load(by_hand(shape("before") + "<p:grpSp>" * 5_000))
    assert document.text == "before"
    assert "damaged" in document.warnings[0]


def test_damaged_files() -> None:
    data = built(lambda deck: [slide(deck, TITLE_AND_BODY, f"S{n}", "words") for n in range(6)])
    texts = [survives(hurt_one, "a.pptx") for hurt_one in hurt(data, 5, 60)]
    assert sum(text is not None and "words" in text for text in texts) > 20


_WORDS = st.text("abc é中", min_size=1, max_size=9).filter(lambda s: s.strip())


@settings(max_examples=15)
@given(st.lists(st.tuples(_WORDS, _WORDS), min_size=1, max_size=6))
def test_every_text_stands_on_its_slide(texts: list[tuple[str, str]]) -> None:
    # Each text carries its number, so that it can be found.
    words = [
        (" ".join(f"{t} t{n}.".split()), " ".join(f"{b} b{n}.".split()))
        for n, (t, b) in enumerate(texts)
    ]
    document = load(built(lambda deck: [slide(deck, TITLE_AND_BODY, *each) for each in words]))
    assert blocks(document) == [text for pair in words for text in pair]
    for number, (title, body) in enumerate(words, 1):
        assert (at(document, body).page, path(document, body)) == (number, (title,))
    assert len(document.marks) == len(words)
