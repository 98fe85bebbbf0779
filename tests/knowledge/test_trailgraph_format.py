"""The TrailGraph format: fields as people write them, not only as they should."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.knowledge.dialects.trailgraph import TrailGraph, read_list
from tracert.knowledge.paths import decoded

WHOLE = """# Lead Qualification

summary: Detailed internal rules: stages, criteria
         and responsibilities.
parent: sales/Sales.md
children: []
related: [sales/Opportunity_management.md, "sales/A, B.md"]
key_points: ["Data must be complete, and checked",
             'It''s confirmed',
             "a \\"quoted\\" word"]

## Content

One.

## Content

Two.
"""


def parse(text: str):
    return TrailGraph().parse("sales/Lead.md", text)


def test_every_field_of_a_whole_note() -> None:
    note = parse(WHOLE)
    assert note.title == "Lead Qualification"
    # A colon is part of a summary, and a summary goes on in the next line.
    assert note.summary == ("Detailed internal rules: stages, criteria and responsibilities.")
    assert note.parent is not None
    assert (note.parent.written, note.parent.line) == ("sales/Sales.md", 5)
    assert note.children == ()
    assert [item.written for item in note.related] == [
        "sales/Opportunity_management.md",
        "sales/A, B.md",
    ]
    # Commas inside quotes part nothing; '' and \" are quotes inside quotes.
    assert note.key_points == (
        "Data must be complete, and checked",
        "It's confirmed",
        'a "quoted" word',
    )
    # The content starts at the first heading of that name and holds the second.
    assert WHOLE[note.start : note.end] == "One.\n\n## Content\n\nTwo."
    assert note.made == ()


def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing() -> None:
    data = b"\xef\xbb\xbf" + WHOLE.replace("\n", "\r\n").encode()
    assert parse(decoded(data, "x.md")) == parse(WHOLE)


def test_absent_and_empty_fields() -> None:
    note = parse(
        "# T\n\nsummary:\nparent:\nchildren:\nkey_points: []\n\n## Content\n\nIt is here.\n"
    )
    assert note.parent is None
    assert (note.children, note.related) == ((), ())
    # Nothing to show would leave nothing to choose by, so both are made from the content.
    assert note.summary == "It is here."
    assert note.made == ("summary",)


def test_a_note_without_a_content_heading_has_what_follows_its_fields() -> None:
    text = "# T\n\nsummary: S.\nparent: a.md\n\nThe rest of it.\n\n## More\n\nAnd more.\n"
    note = parse(text)
    assert text[note.start : note.end] == "The rest of it.\n\n## More\n\nAnd more."


def test_a_note_without_fields_is_title_and_content() -> None:
    note = parse("# Only a title\n\nA sentence with five words.\n")
    assert note.title == "Only a title"
    assert note.summary == "A sentence with five words."


def test_without_a_title_the_file_names_the_note() -> None:
    assert parse("summary: S.\n\n## Content\n\nC.\n").title == "Lead"


def test_lists_of_lines_with_hyphens() -> None:
    note = parse(
        '# T\n\nchildren:\n  - a.md\n  - "b.md"\nkey_points:\n- one, two\n\n## Content\n\nC.\n'
    )
    assert [(item.written, item.line) for item in note.children] == [("a.md", 4), ("b.md", 5)]
    assert note.key_points == ("one, two",)


@pytest.mark.parametrize("mark", [">", "|", ">-", "|+"])
def test_the_mark_of_a_yaml_block_is_none_of_the_value(mark: str) -> None:
    note = parse(
        f"# T\n\nsummary: {mark}\n  First line,\n  second line.\nkey_points: {mark}\n  - one\n"
        "  - two\n\n## Content\n\nC.\n"
    )
    assert note.summary == "First line, second line."
    assert note.key_points == ("one", "two")
    assert parse("# T\n\nsummary: > 5 volts\n\n## Content\n\nC.\n").summary == "> 5 volts"


def test_an_unclosed_list_is_read_as_far_as_it_goes_and_reported() -> None:
    note = parse('# T\n\nkey_points: ["one", "two\nparent: p.md\n\n## Content\n\nC.\n')
    assert note.key_points[0] == "one"
    assert note.parent is not None and note.parent.written == "p.md"
    [fault] = note.faults
    assert (fault.kind, fault.line) == ("syntax", 3)


def test_a_content_heading_inside_code_is_none() -> None:
    text = "# T\n\nsummary: S.\n\n```\n## Content\n```\n\n## Content\n\nReal.\n"
    note = parse(text)
    assert text[note.start : note.end] == "Real."


def test_a_title_may_end_in_a_sharp() -> None:
    assert parse("# C#\n\nsummary: S.\n\n## Content\n\nC.\n").title == "C#"


@pytest.mark.parametrize("written", ["[", '["', "[a", "]", '"', "['", ",,,", "[[a]]", "- ", "\\"])
def test_no_list_is_too_broken_to_read(written: str) -> None:
    items, _closed = read_list(written)
    assert all(isinstance(item, str) for item, _place in items)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), max_size=6))
def test_quoted_items_come_back_as_they_were(items: list[str]) -> None:
    quoted = ", ".join('"' + i.replace("\\", "\\\\").replace('"', '\\"') + '"' for i in items)
    found, closed = read_list(f"[{quoted}]")
    assert closed
    assert [item for item, _place in found] == items


@given(st.text(max_size=400))
def test_any_text_is_a_note(text: str) -> None:
    text = text.replace("\r", "\n")
    note = parse(text)
    assert 0 <= note.start <= note.end <= len(text) or note.start == note.end
