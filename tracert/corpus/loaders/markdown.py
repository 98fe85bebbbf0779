"""Markdown: the text stays as it is, the headings give each place its path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tracert.corpus.encoding import clean, decode, head
from tracert.corpus.loaders.base import Content, Limits
from tracert.corpus.loaders.text import read_text
from tracert.corpus.model import Mark

_ATX: Final = re.compile(r" {0,3}(?P<signs>#{1,6})(?:[ \t]+(?P<title>.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_UNDERLINE: Final = re.compile(r" {0,3}(?P<sign>=|-)(?P=sign)+[ \t]*\Z")
_FENCE: Final = re.compile(r" {0,3}(?P<signs>`{3,}|~{3,})(?P<info>.*)\Z")
#: Lines that begin something other than a paragraph and so cannot be a setext heading.
_BLOCK: Final = re.compile(r"[ \t]*(?:[-*+>|]|\d+[.)]\s|<)| {4,}|\t")
_SIGNS: Final = (
    re.compile(r"^ {0,3}#{1,6}[ \t]+\S", re.MULTILINE),
    re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE),
    re.compile(r"^[ \t]*[-*+][ \t]+\S", re.MULTILINE),
    re.compile(r"\[[^\[\]\n]{1,200}\](?:\([^)\s]|\])"),
    re.compile(r"\*\*[^*\n]+\*\*|(?<![`\w])`[^`\n]+`"),
)
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|\[\[(?:[^\]|]*\|)?([^\]]*)\]\]")
_ATTRIBUTES: Final = re.compile(r"[ \t]*\{[#.:][^}]*\}[ \t]*\Z")
#: A longer line is no heading; it also bounds the work of the patterns above.
_MAX_HEADING: Final = 500
#: How much is looked at to tell markdown from plain text, in bytes.
_SAMPLE: Final = 200_000


class MarkdownLoader:
    """Text with markdown structure: certain by its headings, or likely by its name."""

    kind = "markdown"
    title = "Markdown"
    suffixes = (".md", ".markdown")

    def recognises(self, data: bytes, name: str) -> bool:
        """Whether the text has the structure of markdown.

        A file called `.md` needs one sign of it (a heading, a fence, a list, a link, emphasis);
        any other needs at least two headings, set off by blank lines, and another sign.
        """
        decoded = decode(head(data, _SAMPLE))
        if decoded is None:
            return False
        text = clean(decoded.text)
        if name.lower().endswith(self.suffixes):
            return any(True for _ in _headings(text)) or any(sign.search(text) for sign in _SIGNS)
        lines = text.split("\n")
        set_off = sum(
            1 for _, line, _, _ in _headings(text) if line == 0 or not lines[line - 1].strip()
        )
        return set_off >= 2 and (
            text.lstrip().startswith("#") or any(sign.search(text) for sign in _SIGNS[1:])
        )

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The text as it stands, front matter included, with marks at the headings."""
        text, warnings = read_text(data, name, limits)
        return Content(text, heading_marks(text), warnings=warnings)


def heading_marks(text: str) -> tuple[Mark, ...]:
    """A mark at 0 and one at each heading, its path from the outermost heading inwards."""
    marks = [Mark(0, None, ())] if text else []
    stack: list[tuple[int, str]] = []
    for start, _, level, title in _headings(text):
        stack = [entry for entry in stack if entry[0] < level] + [(level, title)]
        if start == 0:
            marks.clear()
        marks.append(Mark(start, None, tuple(entry[1] for entry in stack)))
    return tuple(marks)


def _headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Each heading as (offset, line, level, title): ATX and one-line setext, as CommonMark.

    Not inside fenced code, front matter or HTML comments. A setext heading of several lines
    is taken for a paragraph over a rule, which is what most writers mean by it.
    """
    lines = text.split("\n")
    first = _front_matter(lines)
    place = sum(len(line) + 1 for line in lines[:first])
    fence = ""
    comment = False
    for index in range(first, len(lines)):
        line = lines[index]
        start, place = place, place + len(line) + 1
        if comment or (not fence and line.lstrip().startswith("<!--")):
            comment = "-->" not in line
            continue
        fenced = _FENCE.match(line)
        if fence:
            if fenced and fenced["signs"].startswith(fence) and not fenced["info"].strip():
                fence = ""
            continue
        if fenced and not (fenced["signs"][0] == "`" and "`" in fenced["info"]):
            fence = fenced["signs"]
            continue
        if len(line) > _MAX_HEADING:
            continue
        atx = _ATX.match(line)
        if atx is not None:
            title = _plain(atx["title"] or "")
            if title:
                yield start, index, len(atx["signs"]), title
            continue
        below = _UNDERLINE.match(lines[index + 1]) if index + 1 < len(lines) else None
        alone = index == 0 or not lines[index - 1].strip()
        if below and alone and line.strip() and not _BLOCK.match(line):
            yield start, index, 1 if below["sign"] == "=" else 2, _plain(line)


def _front_matter(lines: list[str]) -> int:
    """The number of lines of YAML front matter, 0 where there is none."""
    if lines[0].rstrip() != "---":
        return 0
    for index, line in enumerate(lines[1:], 1):
        if line.rstrip() in {"---", "..."}:
            return index + 1
    return 0


def _plain(title: str) -> str:
    """A heading without its inline markup."""
    title = _LINK.sub(lambda link: link[1] or link[2] or "", _ATTRIBUTES.sub("", title))
    return " ".join(title.replace("**", "").replace("`", "").strip(" *_").split())
