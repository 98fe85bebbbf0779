"""What Word's styles and lists say of a paragraph: a heading's level, an item's number."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tracert.corpus.loaders.office import attribute, child, is_on, kind_of

if TYPE_CHECKING:
    from lxml import etree

#: What headings are called by programs that name styles in the language of their user. Word
#: itself always writes 'heading 1' as the name; ids lose letters beyond ASCII.
_HEADING: Final = re.compile(
    r"(?:heading|[üu]?berschrift|titre|t[íi]tulo|titolo|kop|rubrik|overskrift|otsikko"
    r"|nag[łl][óo]wek|заголовок|заглавие|标题|標題|見出し|제목|ba[şs]l[ıi]k|nadpis|c[íi]msor"
    r"|encabezado|cabe[çc]alho|επικεφαλίδα|כותרת|titlu|naslov)\s*([1-9])"
)
_TITLES: Final = frozenset({"title", "titel", "titre", "título", "titolo", "заголовок", "标题"})
_CONTENTS: Final = re.compile(r"(?:toc|contents|verzeichnis|table of figures|index)\s*\d*")
_CHAIN: Final = 20
#: Characters of an item's sign at most.
_MAX_SIGN: Final = 40
_MAX_LEVEL: Final = 9
_ROMAN: Final = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"))
_ROMAN_LOW: Final = ((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    base: str
    outline: int | None
    number: str | None
    level: int | None
    hidden: bool


class Styles:
    """The styles of a document."""

    def __init__(self, root: etree._Element | None) -> None:
        self._styles: dict[str, _Style] = {}
        self._default = ""
        for each in root if root is not None else ():
            if kind_of(each) == "w:style":
                key = attribute(each, "styleId") or ""
                self._styles[key] = _style(each)
                if attribute(each, "type") == "paragraph" and attribute(each, "default") == "1":
                    self._default = key

    def heading(self, style: str, properties: etree._Element | None) -> int | None:
        """The level of a paragraph as a heading: 0 for the title, from 1 for others, or None.

        An outline level of its own comes first, then the styles that it is based on, each by its
        outline level or its name.
        """
        own = _outline(properties)
        if own is not None:
            return own + 1 if own < _MAX_LEVEL else None
        for key, each in self._chain(style):
            if each.outline is not None:
                return each.outline + 1 if each.outline < _MAX_LEVEL else None
            for name in (each.name, key.lower()):
                found = _HEADING.fullmatch(name)
                if found is not None:
                    return int(found[1])
                if name in _TITLES:
                    return 0
        return None

    def is_contents(self, style: str) -> bool:
        """Whether a paragraph is an entry of a table of contents."""
        return any(_CONTENTS.fullmatch(each.name) for _, each in self._chain(style))

    def is_hidden(self, style: str) -> bool:
        """Whether text in this style is not shown."""
        return any(each.hidden for _, each in self._chain(style))

    def numbering(self, style: str) -> tuple[str | None, int | None]:
        """The list that a style puts its paragraphs in, and the level there, None where unsaid."""
        level = None
        for _, each in self._chain(style):
            level = each.level if level is None else level
            if each.number is not None:
                return each.number, level
        return None, None

    def _chain(self, style: str) -> list[tuple[str, _Style]]:
        """The style and those that it is based on; a style that is not defined by its id alone."""
        style = style or self._default
        if style and style not in self._styles:
            return [(style, _Style(style.lower(), "", None, None, None, hidden=False))]
        chain: list[tuple[str, _Style]] = []
        while style in self._styles and len(chain) < _CHAIN:
            chain.append((style, self._styles[style]))
            style = self._styles[style].base
        return chain


def _style(element: etree._Element) -> _Style:
    properties = child(element, "w:pPr")
    return _Style(
        name=(attribute(child(element, "w:name"), "val") or "").strip().lower(),
        base=attribute(child(element, "w:basedOn"), "val") or "",
        outline=_outline(properties),
        number=attribute(child(properties, "w:numPr", "w:numId"), "val"),
        level=whole(attribute(child(properties, "w:numPr", "w:ilvl"), "val")),
        hidden=is_on(child(element, "w:rPr", "w:vanish")),
    )


def _outline(properties: etree._Element | None) -> int | None:
    return whole(attribute(child(properties, "w:outlineLvl"), "val"))


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    form: str
    text: str
    plain: bool


@dataclass(slots=True)
class _Scheme:
    """An abstract list: its levels, the style that stands for it, and the styles of levels."""

    levels: dict[int, _Level] = field(default_factory=dict)
    link: str = ""
    styles: dict[str, int] = field(default_factory=dict)


class Lists:
    """The lists of a document; it counts, so items are asked for in the order of the text."""

    def __init__(self, root: etree._Element | None, styles: Styles) -> None:
        self._styles = styles
        self._schemes: dict[str, _Scheme] = {}
        self._numbers: dict[str, str] = {}
        self._starts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._begun: set[tuple[str, int]] = set()
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        for each in root if root is not None else ():
            if kind_of(each) == "w:abstractNum":
                self._schemes[attribute(each, "abstractNumId") or ""] = _scheme(each)
            elif kind_of(each) == "w:num":
                self._number(each)

    def item(self, style: str, properties: etree._Element | None) -> tuple[int, str] | None:
        """The level of a paragraph in its list, from 0, and its sign; None for one in no list."""
        own = child(properties, "w:numPr")
        number = attribute(child(own, "w:numId"), "val")
        level = whole(attribute(child(own, "w:ilvl"), "val"))
        styled, styled_level = self._styles.numbering(style)
        if number is None:
            number = styled
            level = styled_level if level is None else level
        if number is None or number == "0":
            return None
        key, scheme = self._scheme(number)
        if scheme is None:
            return (level or 0, "-")
        if level is None:
            level = scheme.styles.get(style, 0)
        level = min(max(level, 0), _MAX_LEVEL - 1)
        return level, self._label(number, key, scheme, level)

    def _number(self, element: etree._Element) -> None:
        number = attribute(element, "numId") or ""
        self._numbers[number] = attribute(child(element, "w:abstractNumId"), "val") or ""
        for each in element:
            start = whole(attribute(child(each, "w:startOverride"), "val"))
            level = whole(attribute(each, "ilvl"))
            if kind_of(each) == "w:lvlOverride" and start is not None and level is not None:
                self._starts[number][level] = start

    def _scheme(self, number: str) -> tuple[str, _Scheme | None]:
        key = self._numbers.get(number, "")
        scheme = self._schemes.get(key)
        if scheme is not None and scheme.link:
            # A list that is defined by a style: that style names the list with the levels.
            linked = self._styles.numbering(scheme.link)[0]
            key = self._numbers.get(linked or "", key)
            scheme = self._schemes.get(key)
        return key, scheme

    def _label(self, number: str, key: str, scheme: _Scheme, level: int) -> str:
        counts = self._counts[key]
        here = scheme.levels.get(level)
        restart = self._starts[number].get(level)
        if restart is not None and (number, level) not in self._begun:
            self._begun.add((number, level))
            counts[level] = restart
        elif level in counts:
            counts[level] += 1
        else:
            counts[level] = here.start if here is not None else 1
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        if here is None or here.form == "bullet":
            return "-"

        def count(found: re.Match[str]) -> str:
            wanted = int(found[1]) - 1
            at = scheme.levels.get(wanted)
            value = counts.get(wanted, at.start if at is not None else 1)
            return _counted(value, "decimal" if here.plain or at is None else at.form)

        return re.sub(r"%([1-9])", count, here.text[:_MAX_SIGN]).strip()[:_MAX_SIGN]


def _scheme(element: etree._Element) -> _Scheme:
    scheme = _Scheme(link=attribute(child(element, "w:numStyleLink"), "val") or "")
    for each in element:
        level = whole(attribute(each, "ilvl"))
        if kind_of(each) != "w:lvl" or level is None:
            continue
        start = whole(attribute(child(each, "w:start"), "val"))
        scheme.levels[level] = _Level(
            start=1 if start is None else start,
            form=attribute(child(each, "w:numFmt"), "val") or "decimal",
            text=attribute(child(each, "w:lvlText"), "val") or "",
            plain=is_on(child(each, "w:isLgl")),
        )
        style = attribute(child(each, "w:pStyle"), "val")
        if style is not None:
            scheme.styles[style] = level
    return scheme


def _counted(value: int, form: str) -> str:
    """A count as a list shows it; forms of other scripts as plain numbers."""
    if form == "none":
        return ""
    if form in {"lowerLetter", "upperLetter"} and value > 0:
        # After z comes aa, then bb: the letter again, once more a round.
        text = chr(ord("a") + (value - 1) % 26) * min((value - 1) // 26 + 1, _MAX_SIGN)
        return text if form == "lowerLetter" else text.upper()
    if form in {"lowerRoman", "upperRoman"}:
        text = roman(value)
        return text if form == "lowerRoman" else text.upper()
    return f"{value:02}" if form == "decimalZero" else str(value)


def roman(value: int) -> str:
    """A Roman numeral in small letters; the plain number where there is none."""
    if not 0 < value < 4000:
        return str(value)
    text = ""
    for size, sign in (*_ROMAN, *_ROMAN_LOW):
        text += sign * (value // size)
        value %= size
    return text


def whole(text: str | None) -> int | None:
    """A whole number out of an attribute, None where it is none."""
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,9}", text) else None
