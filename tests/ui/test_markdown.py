from __future__ import annotations

import pytest

from tracert.ui.markdown import marked, resolver, safe_markdown

TITLES = {"sales/Sales.md": "Sales", "sales/Lead process.md": "Lead process", "Note.md": "A note"}
FIND = resolver("sales/Sales.md", TITLES)


@pytest.mark.parametrize(
    ("written", "note"),
    [
        ("Lead process.md", "sales/Lead process.md"),  # beside the note
        ("Lead%20process.md#part", "sales/Lead process.md"),
        ("../Note.md", "Note.md"),
        ("Note.md", "Note.md"),  # from the root
        ("lead process", "sales/Lead process.md"),  # by title
        ("../../etc/passwd", None),
        ("https://example.org/Note.md", None),
        ("", None),
        ("#part", None),
    ],
)
def test_a_link_is_looked_up_among_the_notes(written, note):
    assert FIND(written) == note


def test_links_to_notes_become_text_and_are_listed():
    safe = safe_markdown(
        "See [the leads](Lead%20process.md), [[A note|this]] and [[nothing]].", FIND
    )
    assert set(safe.links) == {"sales/Lead process.md", "Note.md"}
    assert safe.text == "See **the leads**, **this** and nothing."


def test_nothing_is_fetched_and_no_script_is_linked():
    text = (
        "![x](http://evil/x.png) ![y][r] [go](javascript:alert(1)) [rel](/secret)\n\n[r]: http://e/"
    )
    safe = safe_markdown(text, lambda _: None)
    assert "![" not in safe.text
    assert "javascript" not in safe.text
    assert "(/secret)" not in safe.text
    assert "\n[r]:" not in safe.text
    assert safe_markdown("[web](https://example.org)", FIND).text == "[web](https://example.org)"


def test_an_image_behind_an_open_backtick_is_not_fetched_either():
    assert "![" not in safe_markdown("`open ![x](http://evil/x.png)", FIND).text
    assert "![" not in safe_markdown("```\n![x](http://evil/x.png)", FIND).text


def test_code_stays_as_it_is():
    text = "Run `a[0](b) $x$` and\n```\n[l](m) $5\n```"
    assert safe_markdown(text, FIND).text == text


def test_dollars_are_no_formula_and_marks_no_colour():
    safe = safe_markdown("From $5 to $6 :red[x] :smile:", FIND)
    assert "\\$5" in safe.text
    assert ":red[" not in safe.text


def test_marks_that_turn_the_writing_are_left_out():
    assert safe_markdown("a\u202eb\x00c", FIND).text == "abc"


def test_a_sentence_is_marked_where_it_stands_once():
    assert marked("One. Two.", "Two.") == "One. :orange-background[Two.]"
    assert marked("Two. Two.", "Two.") == "Two. Two."
    assert marked("A [b] c.", "A [b] c.") == "A [b] c."
    assert marked("One.", "") == "One."
