"""A run as Markdown: all that a person needs to follow it, and nothing of it becomes markup."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracert.render.export.markdown import escaped, to_markdown


def test_the_document_tells_the_whole_run(toys):
    trace = toys.walk_trace()
    text = to_markdown(trace)
    assert text.startswith(f"# {trace.question}\n")
    for heading in ("## Answer", "## Path", "## Passages found", "## Settings and cost"):
        assert f"\n{heading}\n" in text
    # Frame 0 is the opening, so a walk of n steps has n + 1 sentences, counted from 1.
    assert f"\n{len(trace.steps) + 1}. " in text
    assert f"\n{len(trace.steps) + 2}. " not in text
    for id in trace.result.evidence:
        assert trace.node(id).text.split(".")[0] in text
    assert (
        "Humphry Davy took on a bookbinder's apprentice at the Royal Institution. \\[1\\]" in text
    )
    assert "alpha 0.600" in text


def test_why_the_walk_ended_is_said_once(toys):
    for change in ({}, {"delta": 0.01}, {"max_hops": 2}, {"scale": 0.0}):
        trace = toys.walk_trace(**change)
        assert to_markdown(trace).count(trace.result.stop.message) == 1


def test_a_walk_that_found_nothing_says_so(toys):
    text = to_markdown(toys.walk_trace(scale=0.0))
    assert "There is no answer" in text
    assert "\nNone.\n" in text


@given(st.text(max_size=60))
@example("1. one")
@example("- item\n# head\n> quote\n===\n+ plus")
@example("<b>x</b> [a](javascript:alert(1)) `code` *s* _e_ ~~d~~ |t| $x$ &lt; \\")
@example("\ud800 \x00 \u202e")
def test_escaped_text_is_read_back_as_it_was(text):
    """By a reader of CommonMark of its own: one paragraph of text alone, the words as they were."""
    markdown_it = pytest.importorskip("markdown_it")
    tokens = (
        markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(escaped(text))
    )
    shown = "".join(
        child.content for token in tokens for child in token.children or () if token.children
    )
    inline = {child.type for token in tokens for child in token.children or ()}
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    assert inline <= {"text", "text_special"}
    wanted = " ".join("".join(mark for mark in text if escaped(mark) or mark.isspace()).split())
    assert shown.split() == wanted.split()


def test_a_hostile_document_stays_text(toys):
    markdown_it = pytest.importorskip("markdown_it")
    hostile = toys.HOSTILE + "\n# heading\n- item\n\n    code\n"
    trace = toys.walk_trace(text=hostile, document=hostile, question=hostile)
    html = markdown_it.MarkdownIt("commonmark").enable("table").render(to_markdown(trace))
    for tag in ("<script", "<img", "<a ", "<code", "<table"):
        assert tag not in html
    # The headings are the document's own.
    assert html.count("<h1") == 1
    assert html.count("<h2") == 4
    assert "\u202e" not in html


def test_the_goal_has_all_its_parts(toys):
    trace = toys.walk_trace()
    parts = {
        "goal_category": "Person",
        "goal_concept": "a *ring*",
        "goal_explanation": "Who made it.",
    }
    first = replace(trace.steps[0], values={**trace.steps[0].values, **parts})
    told = to_markdown(replace(trace, steps=(first, *trace.steps[1:])))
    assert r"**Goal** (source not known): Person · a \*ring\* · Who made it" in told
