"""Web pages: what a reader sees, under the headings that stand above it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.documents import at, blocks, check, hurt, path, survives
from tracert.corpus.loaders import Limits, load_document
from tracert.corpus.model import Document
from tracert.errors import DocumentError


def page(body: str, head: str = "<meta charset=utf-8>", name: str = "page.html") -> Document:
    document = load_document(
        f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode(), name
    )
    assert document.kind == "html"
    check(document)
    return document


def text(body: str) -> str:
    return page(body).text


def test_headings_nest_below_the_title() -> None:
    document = page(
        "<p>before</p><h1>A</h1><p>one</p><h2>B</h2><p>two</p><h4>C</h4><p>three</p>"
        "<h2>D</h2><p>four</p><h1>E</h1><p>five</p>",
        "<title>The page</title>",
    )
    assert path(document, "before") == ("The page",)
    assert path(document, "one") == ("The page", "A")
    assert path(document, "two") == ("The page", "A", "B")
    assert path(document, "three") == ("The page", "A", "B", "C")
    assert path(document, "four") == ("The page", "A", "D")
    assert path(document, "five") == ("The page", "E")
    # A mark stands where its heading begins.
    assert document.text[at(document, "two").start :].startswith("B\n\ntwo")


def test_one_main_heading_that_says_what_the_title_says_stands_for_it() -> None:
    document = page(
        "<p>before</p><h1>Bees</h1><p>one</p><h2>Wings</h2><p>two</p>",
        "<title>Bees - The Garden</title>",
    )
    assert path(document, "before") == ("Bees - The Garden",)
    assert path(document, "one") == ("Bees",)
    assert path(document, "two") == ("Bees", "Wings")
    # Whatever the level at which a page begins.
    document = page("<h2>Bees</h2><p>one</p><h3>Wings</h3><p>two</p>", "<title>Bees | G</title>")
    assert path(document, "two") == ("Bees", "Wings")
    document = page("<h2>Bees</h2><p>one</p><h2>Ants</h2><p>two</p>", "<title>Bees | G</title>")
    assert path(document, "two") == ("Bees | G", "Ants")


def test_a_heading_is_said_on_one_line_and_cut_where_it_is_too_long() -> None:
    document = page(
        f"<h1>One <b>bold</b><br>and <i>the\n  rest</i></h1><p>a</p><h2>{'x' * 500}</h2>b"
    )
    assert at(document, "One bold").heading_path == ("One bold and the rest",)
    assert document.text.startswith("One bold\nand the rest\n\na\n\n")
    (_, long) = document.marks[-1].heading_path
    assert len(long) == 200
    assert long.endswith("…")


def test_a_heading_that_was_left_open_is_a_paragraph() -> None:
    document = page(f"<h1>Open<div>{'word ' * 300}</div><div>second")
    assert document.marks[-1].heading_path == ()
    assert blocks(document)[-1] == "second"


def test_what_is_not_shown_is_left_out() -> None:
    hidden = (
        "<script>no</script><style>no{}</style><nav>no</nav><template>no</template>"
        "<noscript>no</noscript><p hidden>no</p><p style='color:red; DISPLAY : none'>no</p>"
        "<p aria-hidden=true>no</p><div role=navigation>no</div><svg><text>no</text></svg>"
        "<select><option>no</select><button>no</button><textarea>no</textarea><iframe>no</iframe>"
        "<!-- no --><object>no</object><video>no</video>"
    )
    assert text(f"<p>A{hidden}B</p>{hidden}<p>C{hidden}</p>") in {"AB\n\nC", "A\n\nB\n\nC"}
    assert text(f"yes{hidden}") == "yes"


def test_the_title_is_no_text_and_a_title_in_a_drawing_no_title() -> None:
    document = page("<svg><title>drawing</title></svg>words", "<title>T</title>")
    assert (document.text, document.marks[0].heading_path) == ("words", ("T",))


def test_the_main_part_is_taken_where_a_page_marks_it() -> None:
    frame = "<header>Shop</header>{}<footer>2026</footer>"
    assert text(frame.format("<main><p>words</p></main>")) == "words"
    assert text(frame.format("<div role=main><p>words</p></div>")) == "words"
    # Not where it is empty or there are two of them.
    assert text(frame.format("<main></main>")) == "Shop\n\n2026"
    assert text(frame.format("<main>a</main><main>b</main>")) == "Shop\n\na\n\nb\n\n2026"


def test_lists_keep_their_signs_and_depth() -> None:
    assert text(
        "<p>Take</p><ul><li>flour</li><li>eggs<ol start=3><li>brown</li><li value=7>white<li>blue"
        "</ol></li><li><p>milk</p><p>cold</p></li></ul><p>Mix.</p>"
    ) == ("Take\n\n- flour\n- eggs\n  3. brown\n  7. white\n  8. blue\n- milk\ncold\n\nMix.")
    assert text("<ol reversed><li>a<li>b<li>c</ol>") == "3. a\n2. b\n1. c"
    assert text("<ul><li></li><li>a</li></ul>") == "- a"


def test_tables_are_rows_of_cells() -> None:
    assert (
        text(
            "<table><caption>Bees</caption><tr><th>Kind<th>Legs</tr>"
            "<tr><td>honey<br>bee<td><p>six</p></tr><tr><td><td></tr></table><p>after</p>"
        )
        == "Bees\n\nKind | Legs\nhoney bee | six\n\nafter"
    )


def test_cells_over_several_rows_are_said_in_each() -> None:
    # A label over two rows and two columns is said once a row; a long text is not repeated.
    long = "x" * 90
    assert (
        text(
            "<table><tr><td rowspan=3>A<td colspan=2 rowspan=2>B<td>1<tr><td>2<tr><td>3<td>4"
            f"<tr><td rowspan=2>{long}<td>5<tr><td>6</table>"
        )
        == f"A | B | 1\nA | B | 2\nA | 3 | 4\n{long} | 5\n | 6"
    )


def test_a_table_that_sets_out_a_page_is_read_through() -> None:
    document = page(
        "<table><tr><td>left<td><h2>Head</h2><p>words</p><table><tr><td>1<td>2</table></table>"
    )
    assert blocks(document) == ["left", "Head", "words", "1 | 2"]
    assert path(document, "words") == ("Head",)
    assert text("<table><tr><td>a<tr><td>b</table>") == "a\n\nb"


def test_preformatted_text_keeps_its_lines() -> None:
    assert text("<p>a  \n b</p><pre>\n  x = 1\n\n    y\n</pre>") == "a b\n\n  x = 1\n\n    y"


def test_notes_are_in_brackets_and_ways_back_are_left_out() -> None:
    assert (
        text(
            '<p>word<sup><a href="#n1">1</a></sup> and<a href="#n2"><sup>2</sup></a> or'
            '<a href="#n3" role="doc-noteref">*</a></p><ol><li id=n1>first <a href="#r">↩</a></ol>'
        )
        == "word[1] and[2] or[*]\n\n1. first"
    )
    # A plain link in the text stays what it is.
    assert text('see <a href="/3">3</a>') == "see 3"


def test_pictures_formulas_quotes_and_small_signs_above() -> None:
    assert (
        text("<p><img alt=T src=t.png>he <img src=x><img alt=no role=presentation>end</p>")
        == "The end"
    )
    assert text("<p>so <q>yes</q></p>") == "so “yes”"
    assert text("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>字</p>") == "漢字"
    assert text('<p>if <math alttext="x^2"><mi>x</mi><mn>2</mn></math></p>') == "if x^2"


def test_entities_spaces_and_signs_of_layout() -> None:
    assert text(
        "<p>caf&eacute; &amp; &lt;b&gt; &#128512; &#x27; &nosuch; a&nbsp;b soft&shy;ly</p>"
    ) == ("café & <b> 😀 ' &nosuch; a b softly")
    assert text("<p>a&#0;&#xD800;b</p>") == "a\ufffd\ufffdb"


CONFLUENCE = """<!DOCTYPE html><html><head><title>ENG : How we deploy</title></head>
<body class="theme-default"><div id="page"><div id="main" class="aui-page-panel">
<div id="main-header"><div id="breadcrumb-section"><ol id="breadcrumbs">
<li class="first"><span><a href="index.html">ENG</a></span></li>
<li><span><a href="Handbook_1.html">Handbook</a></span></li></ol></div>
<h1 id="title-heading" class="pagetitle"><span id="title-text"> ENG : How we deploy </span></h1>
</div>
<div id="content" class="view"><div class="page-metadata">Created by <span>Ann</span></div>
<div id="main-content" class="wiki-content group">
<div class="toc-macro"><ul><li><a href="#a">Steps</a></li></ul></div>
<p>Read this first.</p><h1 id="a">Steps</h1><ol><li>Build</li><li>Ship</li></ol>
<div class="table-wrap"><table class="confluenceTable"><tbody><tr><th>Who</th><th>What</th></tr>
<tr><td>Ann</td><td>builds</td></tr></tbody></table></div>
<div class="confluence-information-macro"><span class="aui-icon"></span>
<div class="confluence-information-macro-body"><p>Not on Fridays.</p></div></div>
<div class="code panel"><div class="codeContent"><pre>make\n  ship</pre></div></div></div>
<div class="pageSection group"><h2 id="comments">Comments:</h2><p>Nice!</p></div></div></div>
<div id="footer" role="contentinfo"><p>Document generated by Confluence</p></div></div>
</body></html>"""


def test_a_page_that_confluence_exported() -> None:
    document = load_document(CONFLUENCE.encode(), "How-we-deploy_2.html")
    check(document)
    assert blocks(document) == [
        "How we deploy",
        "Read this first.",
        "Steps",
        "1. Build\n2. Ship",
        "Who | What\nAnn | builds",
        "Not on Fridays.",
        "make\n  ship",
    ]
    assert path(document, "Read this") == ("ENG", "Handbook", "How we deploy")
    assert path(document, "Fridays") == ("ENG", "Handbook", "How we deploy", "Steps")


MHTML = b"""From: <Saved by Blink>
Subject: Bees
MIME-Version: 1.0
Content-Type: multipart/related;
\ttype="text/html";
\tboundary="----b"

------b
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable
Content-Location: https://example.org/bees

<!DOCTYPE html><html><head><title>Bees</title><meta charset=3Dutf-8></head><bod=
y><h2>Wings</h2><p>Four of them, caf=C3=A9.</p></body></html>
------b
Content-Type: image/png
Content-Transfer-Encoding: base64

iVBORw0KGgo=
------b--
"""


def test_a_page_saved_as_one_file() -> None:
    for data in (MHTML, MHTML.replace(b"\n", b"\r\n")):
        document = load_document(data, "bees.doc")
        check(document)
        assert document.kind == "html"
        assert blocks(document) == ["Wings", "Four of them, café."]
        assert path(document, "Four") == ("Bees", "Wings")
    # Its part may name the encoding, and have no other head than that.
    plain = (
        "MIME-Version: 1.0\nContent-Type: text/html; charset=windows-1252\n"
        "Content-Transfer-Encoding: 8bit\n\n<p>caf\xe9 \x96 so</p>"
    )
    assert load_document(plain.encode("latin-1"), "a.mht").text == "café – so"


def test_messages_without_a_page_and_such_as_nest_without_end() -> None:
    empty = MHTML.replace(b"Content-Type: text/html", b"Content-Type: text/plain")
    assert load_document(empty, "a.mhtml").kind == "text"
    begin, end = MHTML.index(b"<!DOCTYPE"), MHTML.index(b"</html>")
    with pytest.raises(DocumentError, match="no text by itself"):
        load_document(MHTML[:begin] + MHTML[end:], "a.mhtml")
    nested = b"MIME-Version: 1.0\n" + b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(4_000)
    )
    survives(nested, "a.mhtml")
    for data in hurt(MHTML, 2, 40):
        survives(data, "a.mhtml")
    # A letter is no page.
    letter = b"Date: today\nSubject: Bees\n\nDear Ann, the <b>bees</b> are well."
    assert load_document(letter, "letter.txt").kind == "text"


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("<meta charset=utf-8>", "utf-8"),
        ("<meta charset='windows-1252'>", "cp1252"),
        ("<meta charset=iso-8859-1>", "cp1252"),
        ("<meta http-equiv=Content-Type content='text/html; charset=macintosh'>", "mac_roman"),
        ("<meta charset=iso-8859-15>", "iso8859-15"),
        # Without a word of it, or with a wrong one, the bytes say what they are.
        ("", "utf-8"),
        ("", "utf-16"),
        ("", "utf-8-sig"),
        ("<meta charset=iso-8859-1>", "utf-8"),
        ("<meta charset=koi8-r>", "utf-8"),
        ("<meta charset=nosuch>", "utf-8"),
        ("<meta charset=utf-16>", "utf-8"),
        ("<meta charset=hex>", "utf-8"),
        ("<meta charset=utf-8>", "cp1252"),
    ],
)
def test_encodings(head: str, encoding: str) -> None:
    body = "The café of André, naïve, “déjà vu” – the élan of it, où près de l’été.".replace(
        "“", "«" if encoding == "iso8859-15" else "“"
    )
    if encoding == "iso8859-15":
        body = body.replace("”", "»").replace("–", "-").replace("’", "'")
    data = f"<!DOCTYPE html><html><head>{head}</head><body><p>{body}</p></body></html>"
    document = load_document(data.encode(encoding), "a.html")
    assert document.text == body
    assert document.warnings == ()


@pytest.mark.parametrize(
    ("label", "codec", "words"),
    [
        ("shift_jis", "cp932", "吾輩は猫である。名前はまだ無い。"),
        ("iso-2022-jp", "iso2022_jp", "吾輩は猫である。"),
        ("gb2312", "gb18030", "道可道，非常道。名可名，非常名。"),
        ("big5", "big5", "道可道，非常道。"),
        ("euc-kr", "cp949", "나랏말싸미 듕귁에 달아".replace("듕", "중")),
        ("koi8-r", "koi8-r", "Все счастливые семьи похожи друг на друга"),
    ],
)
def test_encodings_of_other_scripts(label: str, codec: str, words: str) -> None:
    data = f"<html><head><meta charset={label}></head><body>{words}</body></html>".encode(codec)
    assert load_document(data, "a.html").text == words


def test_xhtml_is_read_as_xml_where_it_is_sound() -> None:
    # To an HTML parser the empty title and the empty anchor would stay open.
    sound = (
        '<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml">'
        "<head><title/><script src='a'/></head><body><h1>A<a id='x'/></h1>"
        "<p>caf\xe9&nbsp;&mdash;</p>"
        "</body></html>"
    )
    document = load_document(sound.encode("latin-1"), "a.xhtml")
    assert blocks(document) == ["A", "café —"]
    # And as browsers read HTML where it is not.
    broken = load_document(sound.replace("</p>", "").encode("latin-1"), "a.xhtml")
    assert blocks(broken) == ["A", "café —"]
    assert broken.warnings == ()


def test_entities_of_its_own_are_refused_and_nothing_is_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    head = '<html xmlns="http://www.w3.org/1999/xhtml"><body>'
    for dtd in (
        f'<!DOCTYPE html [<!ENTITY x SYSTEM "{secret.as_uri()}">]>',
        '<!DOCTYPE html [<!ENTITY a "lol"><!ENTITY x "&a;&a;">]>',
        f'<!DOCTYPE html [<!ENTITY % x SYSTEM "{secret.as_uri()}"> %x;]>',
    ):
        data = f'<?xml version="1.0"?>{dtd}{head}<p>a&x;</p></body></html>'.encode()
        with pytest.raises(DocumentError, match="entities of its own"):
            load_document(data, "a.xhtml")
    # In HTML proper such a thing is a comment to a browser, and to us.
    document = load_document(f"<!DOCTYPE html><p>a&x;{secret.as_uri()}".encode(), "a.html")
    assert "the secret" not in document.text


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 100_000 + "deep",
        "<ul><li>" * 3_000 + "deep",
        "<table><tr><td>a<td>" * 2_000 + "deep",
        "<b>" * 100_000 + "<p>x" * 1_000,
        "<h1>" * 3_000 + "x",
        f"<p title='{'x' * 20_000_000}'>after",
        "<p " + " ".join(f"a{i}=1" for i in range(10_000)) + ">after",
        "<table><tr>" + "<td rowspan=65534 colspan=1000>x" * 500 + "<tr><td>y" * 500 + "</table>",
        "<a href=#x>" * 10_000 + "1",
        "<!--" * 100_000,
        "<![CDATA[" * 50_000,
        "&" * 1_000_000,
        "<ol start=999999999999><li>a</ol>",
        "<pre>" + " " * 1_000_000 + "x</pre>",
        "<a href=#x>" + " " * 1_000_000 + "1" + " " * 1_000_000 + "x</a>",
        "<!a>" * 100_000,
        "<p style='display" + " " * 1_000_000 + "'>x",
        "<td rowspan='" + " " * 1_000_000 + "x'>x",
        "<title>" + " " * 1_000_000,
    ],
    ids=range(19),
)
def test_pages_made_to_stall_end(body: str) -> None:
    data = f"<!DOCTYPE html><html><body><p>before</p>{body}".encode()
    found = survives(data, "a.html")
    assert found is not None
    assert found.startswith("before")
    # The same as what is taken for XHTML, and with all of it before the page's first element.
    survives(b"<?xml version='1.0'?>" + data.replace(b"<html>", b"<html xmlns='x'>"), "a.xhtml")
    survives(body.encode()[:2_000_000] + b"<html><p>a</p>", "a.html")


def test_what_is_nested_too_deep_is_told() -> None:
    document = page("<p>before</p>" + "<div>" * 3_000 + "deep" + "</div>" * 3_000)
    assert document.text == "before"
    (warning,) = document.warnings
    assert "nested too deep" in warning
    assert page("<p>before</p>" + "<div>" * 1_000 + "deep").warnings == ()
    with pytest.raises(DocumentError, match="nested too deep to be read"):
        load_document(b"<!DOCTYPE html>" + b"<div>" * 3_000 + b"deep", "a.html")


def test_limits() -> None:
    document = load_document(
        b"<!DOCTYPE html><p>one two</p><p>three</p>", "a.html", Limits(max_characters=10)
    )
    assert document.text == "one two"
    assert "too long" in document.warnings[0]
    for empty in (b"<!DOCTYPE html><script>app()</script>", b"<!DOCTYPE html>", b"<html></html>"):
        with pytest.raises(DocumentError, match="no text by itself"):
            load_document(empty, "a.html")


def test_what_begins_with_a_tag_is_not_always_a_page() -> None:
    readme = (
        b'<p align="center"><img src="x.png"></p>\n\n# Name\n\nSome *text*.\n\n## Use\n\nCode.\n'
    )
    assert load_document(readme, "README.md").kind == "markdown"
    assert load_document(b"a < b and <c> d", "a.txt").kind == "text"


_WORD = st.text("abcdefg é中", min_size=1, max_size=12).filter(lambda s: s.strip())


@given(st.lists(st.tuples(st.integers(0, 6), _WORD), min_size=1, max_size=30))
def test_every_block_has_the_path_of_the_headings_above_it(parts: list[tuple[int, str]]) -> None:
    # Each block carries its number, so that it can be found in the text; 0 is a paragraph.
    words = [
        (level, f"{' '.join(text.split())} {number}.") for number, (level, text) in enumerate(parts)
    ]
    body = "".join(f"<h{n}>{t}</h{n}>" if n else f"<p>{t}</p>" for n, t in words)
    document = page(body)
    assert blocks(document) == [text for _, text in words]
    place, open_headings = 0, dict[int, str]()
    for level, text in words:
        if level:
            open_headings = {n: t for n, t in open_headings.items() if n < level} | {level: text}
        mark = [mark for mark in document.marks if mark.start <= place][-1]
        assert mark.heading_path == tuple(open_headings[n] for n in sorted(open_headings))
        if level:
            assert mark.start == place
        place += len(text) + 2


@given(st.text(alphabet="<>/=&;!-'\" abph1trdulio\n", max_size=300))
def test_any_markup_ends_in_text_or_a_sentence(body: str) -> None:
    survives(f"<!DOCTYPE html>{body}".encode(), "a.html")


def test_damaged_pages() -> None:
    for data in hurt(CONFLUENCE.encode(), 11, 60):
        survives(data, "a.html")


@pytest.mark.shared
def test_a_whole_book(shared: Path) -> None:
    file = shared / "data/documents/html/pride_and_prejudice_gutenberg.htm"
    document = load_document(file.read_bytes(), file.name)
    check(document)
    chapters = [
        m.heading_path[-1] for m in document.marks if m.heading_path[-1].startswith("Chapter")
    ]
    assert chapters == [f"Chapter {number}" for number in range(1, 62)]
    assert path(document, "It is a truth universally acknowledged") == (
        "PRIDE AND PREJUDICE",
        "Chapter 1",
    )
    assert not re.search(r"</?[a-z]+>|text-align|&#\d+;", document.text)


@pytest.mark.shared
def test_malformed_pages_end_in_text_or_a_sentence(shared: Path) -> None:
    files = sorted((shared / "data/documents/html").glob("malformed_*"))
    assert len(files) == 5
    assert [survives(file.read_bytes(), file.name) is not None for file in files] == [True] * 5
