"""Heading paths of markdown, by example."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.corpus.loaders import load_document
from tracert.corpus.loaders.markdown import heading_marks


def paths(text: str) -> list[tuple[str, ...]]:
    return [mark.heading_path for mark in heading_marks(text)]


def test_atx_headings_nest_by_level() -> None:
    text = "intro\n# A\nx\n## B\nx\n### C\nx\n## D\nx\n# E\n"
    assert paths(text) == [(), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",)]


def test_skipped_levels_leave_no_gap() -> None:
    assert paths("# A\n\n#### B\n\n## C\n") == [("A",), ("A", "B"), ("A", "C")]


def test_marks_stand_at_the_headings() -> None:
    text = "intro\n\n# A\n\ntext\n\nTitle\n=====\n\ntext\n"
    starts = [mark.start for mark in heading_marks(text)]
    assert starts == [0, text.index("# A"), text.index("Title")]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Plain", "Plain"),
        ("   ## Indented", "Indented"),
        ("# Closed ##", "Closed"),
        ("# C#", "C#"),
        ("# **Bold** and `code`", "Bold and code"),
        ("# [Link](a.md) and [[note|Alias]]", "Link and Alias"),
        ("# [[note]]", "note"),
        ("# Named {#anchor .class}", "Named"),
        ("#\tTab", "Tab"),
    ],
)
def test_titles_without_their_markup(line: str, title: str) -> None:
    assert paths(line) == [(title,)]


@pytest.mark.parametrize(
    "text",
    [
        "#NoSpace",
        "####### seven",
        "    # code by indentation",
        "```\n# in a fence\n```",
        "~~~ python\n# in a fence\n```\n# still\n~~~",
        "````\n```\n# still inside\n```\n````",
        "```\n# a fence that never closes",
        "<!-- # a comment -->",
        "<!--\n# a comment\n-->",
        "#",
        "\\# escaped",
    ],
)
def test_what_is_no_heading(text: str) -> None:
    assert paths(text) == [()]


def test_headings_after_a_fence_or_a_comment_count() -> None:
    assert paths("```\n# no\n```\n# yes\n") == [(), ("yes",)]
    assert paths("<!-- no -->\n# yes\n") == [(), ("yes",)]
    assert paths("`# no` is code\n\n# yes\n") == [(), ("yes",)]
    # Backticks in the info string: this opens no fence.
    assert paths("``` a`b\n# yes\n") == [(), ("yes",)]


def test_setext() -> None:
    assert paths("One\n===\n\ntext\n\nTwo\n---\n") == [("One",), ("One", "Two")]
    # A rule after a blank line, under a list or under two lines of text is no heading.
    assert paths("text\n\n---\n") == [()]
    assert paths("- item\n---\n") == [()]
    assert paths("line one\nline two\n---\n") == [()]
    assert paths("| a |\n| - |\n") == [()]


def test_front_matter_is_text_without_headings() -> None:
    text = "---\ntitle: A\n# a comment\n---\n\n# Head\n"
    assert paths(text) == [(), ("Head",)]
    assert load_document(text.encode(), "a.md").text == text
    # One that never closes is a rule and ordinary text.
    assert paths("---\n# Head\n") == [(), ("Head",)]


def test_empty_text_has_no_marks() -> None:
    assert heading_marks("") == ()


@given(st.text(alphabet="#=-`~ab \n<>!|[]()", max_size=200))
def test_marks_are_in_order_and_stand_at_line_starts(text: str) -> None:
    marks = heading_marks(text)
    starts = [mark.start for mark in marks]
    assert starts == sorted(set(starts))
    if text:
        assert starts[0] == 0
    for mark in marks:
        assert mark.start == 0 or text[mark.start - 1] == "\n"
        assert all(mark.heading_path)
