"""A note's markdown made safe for `st.markdown`: nothing is fetched, no link leads astray.

Images would be fetched from a network, and a relative link would leave the app: images become
links or text, and a link to another note becomes its bold text; the view offers the notes
that it leads to as buttons. HTML is shown as text by Streamlit itself.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

_JOINER: Final = "\u2060"
_CODE: Final = re.compile(r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`)", re.DOTALL)
_WIKI: Final = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]+))?\]\]")
_LINK: Final = re.compile(
    r"\[([^\[\]\n]*)\]\(\s*<?([^()<>\s]*(?:\([^()\s]*\)[^()<>\s]*)*)>?[^()\n]*\)"
)
_DEFINITION: Final = re.compile(r"^( {0,3})\[([^\]\n]+)\]:", re.MULTILINE)
_DIRECTIVE: Final = re.compile(r"(?<=:)(?=[\w+-]+[\[:/])|(?<=[-=<])(?=[->])")
_CONTROL: Final = re.compile(r"[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]")

#: Finds the note that a written link means, by its path and by its title; None if none.
Resolve = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Safe:
    """Markdown to show, and the notes that its links lead to."""

    text: str
    links: tuple[str, ...]


def safe_markdown(text: str, resolve: Resolve) -> Safe:
    """The markdown of a note with its links taken out and everything else that acts."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n"))
    # Wherever it stands, also where code seems to begin: nothing may be fetched.
    text = text.replace("![", f"!{_JOINER}[")
    found: dict[str, None] = {}
    parts = _CODE.split(text)
    shown = [part if i % 2 else _prose(part, resolve, found) for i, part in enumerate(parts)]
    return Safe("".join(shown), tuple(found))


def _prose(text: str, resolve: Resolve, found: dict[str, None]) -> str:
    def link(label: str, target: str) -> str:
        note = resolve(target)
        if note is not None:
            found[note] = None
            return f"**{label or target}**"
        if urlsplit(target).scheme in ("http", "https"):
            return f"[{label}]({target})"
        return label or target

    def wiki(match: re.Match[str]) -> str:
        return link(match[2] or match[1].partition("#")[0], match[1])

    def inline(match: re.Match[str]) -> str:
        try:
            return link(match[1], match[2])
        except ValueError:  # an address that cannot be taken apart
            return match[1]

    text = _DEFINITION.sub(r"\1\\[\2]:", text)
    text = _LINK.sub(inline, _WIKI.sub(wiki, text))
    return _DIRECTIVE.sub(_JOINER, text.replace("$", "\\$"))


def resolver(path: str, titles: dict[str, str]) -> Resolve:
    """Finds notes by links written in the note at `path`; `titles` are all notes by path."""
    by_name: dict[str, str] = {}
    for other, title in titles.items():
        stem = posixpath.splitext(posixpath.basename(other))[0]
        for name in (title, stem, stem.replace("_", " ")):
            by_name.setdefault(name.casefold(), other)

    def resolve(written: str) -> str | None:
        target = unquote(written.split("#")[0]).strip()
        if not target or "://" in target:
            return None
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        for candidate in (target, beside, f"{target}.md", f"{beside}.md"):
            if candidate in titles:
                return candidate
        return by_name.get(target.casefold()) or by_name.get(
            posixpath.splitext(posixpath.basename(target))[0].casefold()
        )

    return resolve


def marked(text: str, sentence: str) -> str:
    """The markdown with one sentence of it on a coloured ground, if it stands there plainly."""
    flat = sentence.strip()
    if not flat or any(sign in flat for sign in "[]`\n") or text.count(flat) != 1:
        return text
    return text.replace(flat, f":orange-background[{flat}]")
