"""PowerPoint: slide by slide, the title as the heading, the slide's number as the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tracert.corpus.loaders.base import Content, Limits
from tracert.corpus.loaders.building import Builder, as_row, tidied
from tracert.corpus.loaders.office import (
    Package,
    attribute,
    child,
    diagram,
    kind_of,
    parts_of,
)
from tracert.corpus.loaders.word_styles import whole

if TYPE_CHECKING:
    from lxml import etree

_MAIN: Final = re.compile(r"ppt/presentation\d*\.xml")
_SLIDE: Final = re.compile(r"ppt/slides/slide(\d+)\.xml")
_TITLES: Final = frozenset({"title", "ctrTitle"})
#: Placeholders that say the same on every slide: number, date, footer, header.
_REPEATED: Final = frozenset({"sldNum", "dt", "ftr", "hdr"})
_SHAPES: Final = frozenset({"p:sp", "p:graphicFrame", "p:grpSp", "p:cxnSp"})
_NOTES: Final = "Notes"
_MAX_LEVEL: Final = 8


class PptxLoader:
    """PowerPoint presentations (.pptx, .pptm, .ppsx): the text of slides and speaker's notes."""

    kind = "pptx"
    title = "PowerPoint (.pptx)"
    suffixes = (".pptx", ".pptm", ".ppsx")

    def recognises(self, data: bytes, name: str) -> bool:
        """Whether it is a zip that holds a presentation."""
        return any(_MAIN.fullmatch(part) or _SLIDE.fullmatch(part) for part in parts_of(data, name))

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The text of the slides in their order, those hidden in the show included.

        A slide's heading path is its section and its title; what a speaker noted follows under
        'Notes', which stands before it in the text, too. Shapes come in the order of the file,
        which is the one that a screen reader takes, the title first. Left out: numbers, dates and
        footers, comments, charts, hidden shapes.
        """
        package = Package(data, name, limits)
        builder = Builder(name, limits)
        slides = _slides(package)
        if len(slides) > limits.max_pages:
            builder.warnings.append(
                f"{name} has {len(slides):,} slides; the first {limits.max_pages:,} were read."
            )
        unread = []
        for number, (part, section) in enumerate(slides[: limits.max_pages], start=1):
            root = package.xml(part)
            if root is None:
                unread.append(number)
                continue
            builder.page(number)
            builder.root(section)
            _slide(package, part, root, builder)
            if builder.full:
                break
        damage = package.damage("the slides")
        if unread:
            listed = ", ".join(map(str, unread[:10])) + (" …" if len(unread) > 10 else "")
            damage = f"{damage or f'{name} is damaged.'} Slides left out: {listed}."
        if damage:
            builder.warnings.append(damage)
        if damage and builder.empty:
            return builder.done(
                f"{name} is damaged and no slide of it can be read. Open it in PowerPoint, let "
                "that repair it, and save it anew."
            )
        return builder.done(
            f"{name} holds no text, only pictures perhaps. Save it as PDF and run that through "
            "text recognition (OCR), then load the result.",
            len(slides),
        )


def _slides(package: Package) -> list[tuple[str, str]]:
    """The parts of the slides in their order, each with the section that it is in."""
    main = package.main(
        next((name for name in package.names if _MAIN.fullmatch(name)), "ppt/presentation.xml")
    )
    root = package.xml(main)
    relations = package.relations(main)
    sections = _sections(root)
    listed = child(root, "p:sldIdLst")
    slides = []
    for each in listed if listed is not None else ():
        target = relations.get(_relation(each))
        if target is not None:
            slides.append((target.target, sections.get(each.get("id", ""), "")))
    if slides:
        return slides
    # Without the list the numbers in the names are the best order there is.
    found = [(int(match[1]), match[0]) for match in map(_SLIDE.fullmatch, package.names) if match]
    return [(part, "") for _, part in sorted(found)]


def _relation(element: etree._Element) -> str:
    """The id of the relation that an element names: `r:id`, told from its own `id`."""
    return next((str(v) for k, v in element.attrib.items() if str(k).endswith("}id")), "")


def _sections(root: etree._Element | None) -> dict[str, str]:
    """The names of sections by the ids of the slides in them."""
    found: dict[str, str] = {}
    for section in root.iter() if root is not None else ():
        if kind_of(section) == "p14:section":
            for each in section.iter():
                if kind_of(each) == "p14:sldId":
                    found[each.get("id", "")] = section.get("name", "")
    return found


def _slide(package: Package, part: str, root: etree._Element, builder: Builder) -> None:
    shapes = [(_placeholder(each), each) for each in _shapes(child(root, "p:cSld", "p:spTree"))]
    for kind, shape in shapes:
        lines = [line for line in _lines(shape) if line.strip()] if kind in _TITLES else []
        if lines:
            builder.heading(1, " ".join(lines))
            builder.block("\n".join(lines))
    for kind, shape in shapes:
        if kind not in _TITLES | _REPEATED:
            _shape(package, part, shape, builder)
    _notes(package, part, builder)


def _shape(package: Package, part: str, shape: etree._Element, builder: Builder) -> None:
    tables = [each for each in shape.iter() if kind_of(each) == "a:tbl"]
    if kind_of(shape) != "p:graphicFrame":
        builder.block("\n".join(line for line in _lines(shape) if line.strip()))
        return
    for table in tables:
        rows = [
            as_row([" ".join(" ".join(_lines(cell)).split()) for cell in row if _counts(cell)])
            for row in table
            if kind_of(row) == "a:tr"
        ]
        builder.block("\n".join(row for row in rows if row))
    for text in diagram(package, part, shape):
        builder.block(tidied(text).strip())


def _counts(cell: etree._Element) -> bool:
    """Whether this is a cell and no continuation of a wider one."""
    return kind_of(cell) == "a:tc" and cell.get("hMerge") not in {"1", "true"}


def _notes(package: Package, part: str, builder: Builder) -> None:
    """What a speaker noted for the slide."""
    target = next(
        (each.target for each in package.relations(part).values() if each.kind == "notesSlide"), ""
    )
    root = package.xml(target) if target else None
    lines = [
        line
        for shape in _shapes(child(root, "p:cSld", "p:spTree"))
        if _placeholder(shape) == "body"
        for line in _lines(shape)
        if line.strip()
    ]
    if lines:
        builder.heading(2, _NOTES)
        builder.block("\n".join((_NOTES, *lines)))


def _shapes(tree: etree._Element | None) -> Iterator[etree._Element]:
    """The shapes of a slide in the order of the file, those in groups one by one."""
    todo = list(reversed(tree)) if tree is not None else []
    while todo:
        each = todo.pop()
        kind = kind_of(each)
        if kind == "mc:AlternateContent":
            todo.extend([*each][:1])
        elif kind in {"mc:Choice", "mc:Fallback"}:
            todo.extend(reversed(each))
        elif kind in _SHAPES and not _hidden(each):
            if kind == "p:grpSp":
                todo.extend(reversed(each))
            else:
                yield each


def _hidden(shape: etree._Element) -> bool:
    """Whether a shape is set to be hidden; the properties are its first element."""
    about = next((each for each in shape.iter() if kind_of(each) == "p:cNvPr"), None)
    return about is not None and about.get("hidden") in {"1", "true"}


def _placeholder(shape: etree._Element) -> str:
    """What a shape stands for in the slide's layout, '' for nothing, 'body' where unsaid."""
    for each in shape.iter():
        if kind_of(each) == "p:ph":
            return each.get("type", "body")
        if kind_of(each) in {"p:txBody", "p:spPr"}:
            break
    return ""


def _lines(shape: etree._Element) -> Iterator[str]:
    """The paragraphs of a shape or a cell, tidied, those of deeper levels as items of a list."""
    count = 0
    for paragraph in shape.iter():
        if kind_of(paragraph) != "a:p":
            continue
        properties = child(paragraph, "a:pPr")
        text = tidied("".join(_pieces(paragraph))).strip()
        level = min(max(whole(attribute(properties, "lvl")) or 0, 0), _MAX_LEVEL)
        numbered = child(properties, "a:buAutoNum")
        if not text:
            continue
        if numbered is not None:
            count = (whole(attribute(numbered, "startAt")) or 1) if not count else count + 1
            yield f"{'  ' * level}{count}. {text}"
        elif level or child(properties, "a:buChar") is not None:
            yield f"{'  ' * level}- {text}"
        else:
            count = 0
            yield text


def _pieces(paragraph: etree._Element) -> Iterator[str]:
    for each in paragraph.iter():
        kind = kind_of(each)
        if kind in {"a:t", "m:t"}:
            field = each.getparent()
            if field is None or kind_of(field) != "a:fld" or field.get("type") != "slidenum":
                yield each.text or ""
        elif kind == "a:br":
            yield "\n"
        elif kind == "a:tab":
            yield "\t"
