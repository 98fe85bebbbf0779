"""What the loader of notes needs of markdown: links, headings and plain sentences.

Code is masked before links are looked for, so that a link in an example is none. This is no
renderer: pages render the text themselves.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tracert.corpus.loaders.markdown import heading_marks

_FENCE: Final = re.compile(
    r"^[ \t]{0,12}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]{0,12}(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_CODE: Final = re.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]{1,400}?\1(?!`)")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_INLINE: Final = re.compile(
    r"(?<!!)\[(?P<text>(?:[^\[\]\n]|!?\[[^\[\]\n]*\](?:\([^()\n]*\))?){0,300})\]"
    r"\(\s*(?:<(?P<angle>[^<>\n]*)>|(?P<bare>(?:\{%[^%\n]*%\}|\{\{[^}\n]*\}\}|[^\s()]|\([^()\s]*\))*))"
    r"(?:\s+[\"'(][^\n]*?[\"')])?\s*\)"
)
_DEFINITION: Final = re.compile(
    r"^ {0,3}\[(?!\^)(?P<label>[^\[\]\n]+)\]:[ \t]*<?"
    r"(?P<target>\{%[^%\n]*%\}\S*|\{\{[^}\n]*\}\}(?:\{%[^%\n]*%\})?\S*|[^\s<>]+)",
    re.MULTILINE,
)
_WIKI: Final = re.compile(r"(?<!\\)(!?)\[\[([^\[\]\n]{1,400})\]\]")

_HTML: Final = re.compile(r"</?[A-Za-z][^<>]{0,2000}>")
_LIQUID: Final = re.compile(r"\{%[^%]{0,400}%\}|\{\{[^}]{0,400}\}\}|\{:[^}\n]{0,200}\}")
_IMAGE: Final = re.compile(r"!\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])?")
_LINK: Final = re.compile(r"\[([^\[\]\n]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)|\[[^\]\n]*\])")
_REFERENCE: Final = re.compile(r"\[([^\[\]\n^!][^\[\]\n]*)\]")
_FOOTNOTE: Final = re.compile(r"\[\^[^\]\n]*\]")
_EMPHASIS: Final = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|~~|`+")
_LINE_MARK: Final = re.compile(r"^[ \t]*(?:(?:>|[-*+]|\d{1,3}[.)])[ \t]+)+|^[ \t]*>", re.MULTILINE)
_NO_PROSE: Final = re.compile(r"[ \t]*(?:\||#{1,6}[ \t]|\[[^\]]*\]:|:::|={3,}|-{3,}|\*{3,})")


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written: its target, its words ('' where none), and its line from 1."""

    target: str
    words: str
    line: int
    start: int


class Lines:
    """Which line an offset of a text stands in."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def at(self, offset: int) -> int:
        """The line of the offset, counted from 1."""
        return bisect_right(self._starts, offset)


#: Control characters but tab and line feed, and those that override a direction of writing.
_STEERING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def shown(text: str) -> str:
    r"""The text of a head without characters that steer a terminal or turn a line's direction.

    >>> shown("\x1b[31mRed")
    '[31mRed'
    """
    return _STEERING.sub("", text).strip()


def masked(text: str) -> str:
    """The text with code and comments blanked, every other character at its place."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group())

    for pattern in (_FENCE, _COMMENT, _CODE):
        text = pattern.sub(blank, text)
    return text


def links(text: str, start: int = 0) -> list[Link]:
    """The markdown links of the text from `start` on: inline, then reference definitions.

    Links to the web, to addresses and within the page are left out.
    """
    bare = masked(text)
    lines = Lines(text)
    found: list[Link] = []
    for match in _INLINE.finditer(bare, start):
        target = match["angle"] if match["angle"] is not None else match["bare"]
        words = plain_line(text[match.start("text") : match.end("text")])
        if is_local(target):
            found.append(Link(target.strip(), words, lines.at(match.start()), match.start()))
    for match in _DEFINITION.finditer(bare, start):
        if is_local(match["target"]):
            line = lines.at(match.start("label"))
            found.append(Link(match["target"], match["label"], line, match.start()))
    return found


def wikilinks(text: str, start: int = 0) -> list[Link]:
    """The `[[links]]` of the text, with what stands between the brackets as target."""
    bare = masked(text)
    lines = Lines(text)
    return [
        Link(match[2].strip(), "!" if match[1] else "", lines.at(match.start()), match.start())
        for match in _WIKI.finditer(bare, start)
    ]


def is_local(target: str) -> bool:
    """Whether a link's target is a place in the folder: no web address, no anchor, no code."""
    target = target.strip()
    return (
        bool(target)
        and not target.startswith(("#", "//"))
        and not re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", target)
    )


def headings(text: str, start: int = 0) -> list[tuple[int, int, str]]:
    """The headings from `start` on as (offset, level by nesting from 1, title)."""
    return [
        (mark.start, len(mark.heading_path), plain_line(mark.heading_path[-1]))
        for mark in heading_marks(text)
        if mark.heading_path and mark.start >= start
    ]


def plain_line(text: str) -> str:
    """A line without markup."""
    text = _WIKI.sub(_wiki_words, text)
    for pattern in (_LIQUID, _IMAGE, _FOOTNOTE):
        text = pattern.sub(" ", text)
    text = _REFERENCE.sub(r"\1", _LINK.sub(r"\1", text))
    text = _EMPHASIS.sub("", _HTML.sub(" ", text))
    return " ".join(text.replace("\\", "").split())


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of prose, each one line without markup; no headings, tables or code."""
    bare = _FENCE.sub("", _COMMENT.sub("", text))
    for block in re.split(r"\n[ \t]*\n", bare):
        lines = [line for line in block.split("\n") if not _NO_PROSE.match(line)]
        words = plain_line(_LINE_MARK.sub("", "\n".join(lines)))
        if len(words) > 2:
            yield words


def _wiki_words(match: re.Match[str]) -> str:
    if match[1]:
        return " "
    words, _bar, after = match[2].partition("|")
    return re.sub(r"[#^].*", "", words).replace("dendron://", "") or after
