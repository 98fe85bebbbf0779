from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tracert.ui.safe import literal

#: HTML on, which is more than Streamlit allows: what is text here is text there.
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def shown(text: str) -> str:
    """What a browser shows of this Markdown, with the tags that it made left visible."""
    made = MARKDOWN.renderInline(literal(text))
    return html.unescape(made.replace("\u2060", ""))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Cf"]), max_size=120))
def test_any_text_shows_letter_by_letter(text):
    assert shown(text) == " ".join(text.split())


def test_markup_and_scripts_show_as_text(toys):
    out = MARKDOWN.renderInline(literal(toys.HOSTILE))
    assert not re.search(r"<(?!/?p>)", out), "no tag is made"
    for part in ("<script>", "**stars**", "[link](javascript:alert(1))", "$x^2$", "# heading"):
        assert part in html.unescape(out.replace("\u2060", ""))


@pytest.mark.parametrize(
    "text", [":red[x]", ":smile:", ":material/home:", ":blue-background[x]", "a -> b", "<- b"]
)
def test_what_streamlit_reads_after_the_markdown_is_broken_up(text):
    out = literal(text)
    assert not re.search(r"(?<!\\):[\w+-]", out)
    assert ":smile" not in out
    assert "->" not in out.replace("\\", "")
    assert "<-" not in out.replace("\\", "")


@pytest.mark.parametrize("text", ["http://a.b/c", "HTTPS://a.b", "www.a.b", "Www.a.b", "me@a.b"])
def test_an_address_becomes_no_link(text):
    """Streamlit looks for bare addresses in the text that is left after the Markdown was read."""
    left = html.unescape(MARKDOWN.renderInline(literal(text)))
    # The expressions of mdast-util-gfm-autolink-literal, which know ASCII letters alone.
    assert not re.search(r"(https?://|www(?=\.))([-.\w]+)", left, re.ASCII | re.IGNORECASE)
    assert not re.search(r"([-.\w+]+)@([-\w]+(?:\.[-\w]+)+)", left, re.ASCII)
    assert left.replace("\u2060", "") == text


def test_text_cannot_turn_the_direction_of_writing(toys):
    assert "\u202e" in toys.HOSTILE
    assert "\u202e" not in literal(toys.HOSTILE)
    assert literal("one\n\n# two") == r"one \# two"
