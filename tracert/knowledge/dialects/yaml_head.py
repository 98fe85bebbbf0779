"""YAML front matter: read by PyYAML, every scalar as the text that it is written as.

`BaseLoader` makes texts, lists and mappings and nothing else, so that neither a tag in
a note can make an object nor a title such as `2021` or `No` turn into a number or a truth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from tracert.knowledge.model import Fault

_HEAD: Final = re.compile(r"\A---[ \t]*\n(?P<body>.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
_LINE: Final = re.compile(r"^(?P<name>[A-Za-z_][\w-]*)[ \t]*:[ \t]*(?P<value>.*)$", re.MULTILINE)
#: A longer head is no front matter, in characters.
_LONGEST: Final = 50_000
_Loader: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True, slots=True)
class Head:
    """Front matter: its fields, their lines, and where the text below it starts."""

    fields: Mapping[str, Any]
    lines: Mapping[str, int]
    end: int
    faults: tuple[Fault, ...] = ()

    def text(self, name: str) -> str:
        """A field as one line of text, '' where it is absent or no text."""
        value = self.fields.get(name)
        return " ".join(value.split()) if isinstance(value, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """A field as a list of texts; one text counts as a list of it, split at commas."""
        value = self.fields.get(name)
        if isinstance(value, str):
            value = value.split(",")
        if not isinstance(value, list):
            return ()
        return tuple(item.strip() for item in value if isinstance(item, str) and item.strip())

    def number(self, name: str) -> float | None:
        """A field as a number, None where it is none."""
        try:
            value = float(self.text(name))
        except ValueError:
            return None
        return value if abs(value) < 1e12 else None


def read_head(path: str, text: str) -> Head:
    """The front matter of a note; fields that YAML cannot read are read line by line."""
    match = _HEAD.match(text)
    if match is None or len(match["body"]) > _LONGEST:
        return Head({}, {}, 0)
    body = match["body"]
    found = {line["name"]: line["value"].strip() for line in reversed([*_LINE.finditer(body)])}
    lines = {
        line["name"]: 2 + body.count("\n", 0, line.start())
        for line in reversed([*_LINE.finditer(body)])
    }
    faults: tuple[Fault, ...] = ()
    try:
        fields: Any = yaml.load(body, Loader=_Loader)  # noqa: S506 BaseLoader makes texts alone
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = 2 + (mark.line if mark is not None else 0)
        what = getattr(error, "problem", None) or "it is nested too deeply"
        message = f"The front matter is no YAML ({what}); it was read line by line."
        faults = (Fault(path, line, "syntax", message, "Put the value into quotes."),)
        fields = {name: value.strip("\"'") for name, value in found.items()}
    if not isinstance(fields, dict):
        fields = {}
    return Head(
        {name: value for name, value in fields.items() if isinstance(name, str)},
        lines,
        match.end(),
        faults,
    )
