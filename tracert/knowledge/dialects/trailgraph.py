"""The TrailGraph format: a title, five fields, and the content under its own heading.

    # Lead Qualification

    summary: Rules and stages of lead qualification.
    parent: sales/Sales.md
    children: []
    related: [sales/Opportunity_management.md]
    key_points: ["Data must be complete, and checked", "..."]

    ## Content

The fields look like YAML but are none (a summary may hold a colon), so they are read by rules
of their own: a field starts with its name at the beginning of a line and runs to the next
field; a list stands in brackets over any number of lines, its items quoted or not, or as
lines with hyphens. Fields may be absent, empty or in any order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from tracert.knowledge.dialects.base import Resolved
from tracert.knowledge.dialects.places import Places
from tracert.knowledge.digest import completed
from tracert.knowledge.markup import Lines, masked, plain_line
from tracert.knowledge.model import Draft, Fault, Reference

FIELDS: Final = ("summary", "parent", "children", "related", "key_points")
_LISTS: Final = ("children", "related", "key_points")
_FIELD: Final = re.compile(
    r"^(?P<name>[A-Za-z][A-Za-z0-9_-]{0,30})[ \t]*:(?=[ \t]|$)", re.MULTILINE
)
_KNOWN: Final = re.compile(rf"^(?:{'|'.join(FIELDS)})[ \t]*:", re.MULTILINE)
_TITLE: Final = re.compile(r"^#[ \t]+(?P<title>.+?)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
_CONTENT: Final = re.compile(r"^##[ \t]+content[ \t]*#*[ \t]*$", re.MULTILINE | re.IGNORECASE)
_ANY_HEADING: Final = re.compile(r"^#{2,6}[ \t]+\S", re.MULTILINE)
#: The mark of a YAML block, as in `summary: >`; it is none of the value.
_BLOCK: Final = re.compile(r"\A[ \t]*[>|][+-]?[ \t]*(?=\n)")
_NONE: Final = frozenset({"", "[]", "none", "null", "~", "-", "n/a"})
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": " "}


class TrailGraph:
    """The dialect 'trailgraph'."""

    name = "trailgraph"
    lists_children = True

    def likeness(self, sample: Mapping[str, str], paths: Sequence[str]) -> float:  # noqa: ARG002
        """The share of notes whose head has at least two of the fields."""
        hits = sum(len(set(_KNOWN.findall(_head(text)[0]))) >= 2 for text in sample.values())
        return hits / max(1, len(sample))

    def parse(self, path: str, text: str) -> Draft:
        """The five fields, the title and where the content stands."""
        head, start, end = _head(text)
        lines = Lines(text)
        raw = _fields(head)
        title = _TITLE.search(head)
        name = plain_line(title["title"]) if title else PurePosixPath(path).stem.replace("_", " ")
        faults: list[Fault] = []

        def items(field: str) -> list[tuple[str, int]]:
            if field not in raw:
                return []
            value, offset = raw[field]
            found, closed = read_list(value)
            if not closed:
                line = lines.at(offset)
                message = f"The list of {field} is not closed; it was read as far as it goes."
                faults.append(Fault(path, line, "syntax", message, "Add the missing ']' or quote."))
            return [(item, lines.at(offset + place)) for item, place in found]

        summary = " ".join(unquoted(raw["summary"][0]).split()) if "summary" in raw else ""
        points = tuple(" ".join(item.split()) for item, _line in items("key_points"))
        summary, points, made = completed(text[:end], start, name, summary, points)
        parent = None
        if "parent" in raw:
            value, offset = raw["parent"]
            written = unquoted(value).strip()
            if written.casefold() not in _NONE:
                parent = Reference(written, lines.at(offset))
        return Draft(
            path=path,
            title=name,
            summary=summary,
            key_points=points,
            parent=parent,
            children=tuple(Reference(*item) for item in items("children")),
            related=tuple(Reference(*item) for item in items("related")),
            start=start,
            end=end,
            lines={
                **({"title": lines.at(title.start())} if title else {}),
                **{name: lines.at(offset) for name, (_value, offset) in raw.items()},
                "content": lines.at(start),
            },
            made=made,
            faults=tuple(faults),
        )

    def names(self, drafts: Mapping[str, Draft]) -> TrailGraphNames:
        """Paths relative to the folder, else to the note."""
        return TrailGraphNames(drafts)


class TrailGraphNames:
    """The links of a TrailGraph folder."""

    def __init__(self, drafts: Mapping[str, Draft]) -> None:
        self._places = Places(drafts)

    def parent(self, draft: Draft) -> tuple[Reference, Resolved] | None:
        """The parent as its field names it."""
        if draft.parent is None:
            return None
        return draft.parent, self._places.find(draft.path, draft.parent.written)

    def resolve(self, draft: Draft, reference: Reference) -> Resolved:
        """The path relative to the folder, else to the note."""
        return self._places.find(draft.path, reference.written)


def _head(text: str) -> tuple[str, int, int]:
    """The part before the content, and where the content starts and ends, without its edges."""
    mark = _CONTENT.search(masked(text))
    if mark is not None:
        head, start = text[: mark.start()], mark.end()
    else:
        head, start = _unmarked(text)
    while start < len(text) and text[start].isspace():
        start += 1
    return head, start, max(start, len(text.rstrip()))


def _unmarked(text: str) -> tuple[str, int]:
    """The head of a note without the heading 'Content', and where its content starts.

    The head ends at the first blank line after its fields; without fields it is the title.
    """
    title = _TITLE.search(text)
    after = title.end() if title is not None and not text[: title.start()].strip() else 0
    heading = _ANY_HEADING.search(text, after)
    limit = heading.start() if heading else len(text)
    last = after
    for match in _FIELD.finditer(text, after, limit):
        if match["name"] in FIELDS:
            blank = re.compile(r"\n[ \t]*\n|\Z").search(text, match.end(), limit)
            last = blank.start() if blank else limit
    return text[:last], last


def _fields(head: str) -> dict[str, tuple[str, int]]:
    """The raw value of each known field with its offset; the first of a name counts.

    An unknown field ends the one before it only where its name is in lower case, so that
    a summary may go on with 'Note: ...' in its next line.
    """
    title = _TITLE.search(head)
    marks = [
        match
        for match in _FIELD.finditer(head, title.end() if title else 0)
        if match["name"] in FIELDS or match["name"].islower()
    ]
    fields: dict[str, tuple[str, int]] = {}
    skipped_to = 0
    for place, match in enumerate(marks):
        if match.start() < skipped_to:
            continue
        end = marks[place + 1].start() if place + 1 < len(marks) else len(head)
        value = head[match.end() : end]
        if match["name"] in _LISTS and value.lstrip().startswith("["):
            # A field's name inside a bracketed list is an item, not the next field.
            whole = head[match.end() :]
            length = _closing(whole)
            if length is not None and match.end() + length > end:
                value, skipped_to = whole[:length], match.end() + length
        if match["name"] in FIELDS and match["name"] not in fields:
            value = _BLOCK.sub(lambda mark: " " * len(mark[0]), value)
            fields[match["name"]] = (value, match.start())
    return {name: (value, _value_start(head, offset)) for name, (value, offset) in fields.items()}


def _value_start(head: str, offset: int) -> int:
    return head.index(":", offset) + 1


def _closing(text: str) -> int | None:
    """The length of the bracketed list that the text begins with, None where it never closes."""
    quote, last, place = "", "[", text.index("[") + 1
    while place < len(text):
        letter = text[place]
        if quote:
            if letter == "\\" and quote == '"':
                place += 1
            elif letter == quote:
                quote = ""
        elif letter in "\"'" and last in "[,":
            quote = letter
        elif letter == "]":
            return place + 1
        last = last if letter.isspace() else letter
        place += 1
    return None


def read_list(value: str) -> tuple[list[tuple[str, int]], bool]:
    r"""The items of a list with their offsets, and whether it was closed properly.

    >>> read_list('["a, b", c.md]')
    ([('a, b', 1), ('c.md', 9)], True)
    >>> read_list("- one\n- two")
    ([('one', 2), ('two', 8)], True)
    """
    start = len(value) - len(value.lstrip())
    if value[start : start + 1] == "[":
        return _bracketed(value, start + 1)
    if value.strip().casefold() in _NONE:
        return [], True
    if re.match(r"\s*[-*+][ \t]", value):
        found = [
            (unquoted(match[1]), match.start(1))
            for match in re.finditer(r"^[ \t]*[-*+][ \t]+(.+(?:\n[ \t]+[^-*+\s].*)*)", value, re.M)
        ]
        return [(item, place) for item, place in found if item], True
    return _bracketed(value + "]", start)


def _bracketed(value: str, place: int) -> tuple[list[tuple[str, int]], bool]:
    items: list[tuple[str, int]] = []
    word: list[str] = []
    begun, quote, was_quoted = place, "", False

    def add() -> None:
        text = "".join(word)
        if was_quoted or text.strip():
            items.append((text if was_quoted else text.strip(), begun))

    while place < len(value):
        letter = value[place]
        if quote:
            if letter == "\\" and quote == '"' and place + 1 < len(value):
                place += 1
                word.append(_ESCAPES.get(value[place], value[place]))
            elif letter == quote and value[place + 1 : place + 2] == "'" == quote:
                word.append(letter)
                place += 1
            elif letter == quote:
                quote = ""
            else:
                word.append(letter)
        elif letter in "\"'" and not "".join(word).strip() and not was_quoted:
            word, quote, was_quoted, begun = [], letter, True, place
        elif letter in ",]":
            add()
            if letter == "]":
                return items, True
            word, was_quoted = [], False
        elif not (was_quoted and letter.isspace()):
            if not word and not letter.isspace():
                begun = place
            if word or not letter.isspace():
                word.append(letter)
        place += 1
    add()
    return items, False


def unquoted(value: str) -> str:
    """A plain value without surrounding blanks and quotes."""
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        body = value[1:-1]
        return body.replace('\\"', '"').replace("\\\\", "\\") if value[0] == '"' else body
    return value
