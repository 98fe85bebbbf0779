"""What the dialects without fields of their own share: a markdown page as a draft."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from tracert.knowledge.dialects.yaml_head import Head
from tracert.knowledge.digest import completed, cut
from tracert.knowledge.markup import headings, plain_line
from tracert.knowledge.model import Draft, Reference

#: The longest summary that a page gives itself, in characters.
_SUMMARY = 300


def page(
    path: str,
    text: str,
    head: Head,
    related: Sequence[Reference],
    *,
    title: str = "",
    parent: Reference | None = None,
    children: Sequence[Reference] = (),
    extra: Mapping[str, str] | None = None,
) -> Draft:
    """A draft of a page with front matter, its summary and key points made where they lack."""
    start, end = _content(text, head.end)
    first = next(iter(headings(text, head.end)), None)
    name = title or plain_line(head.text("title")) or (first[2] if first else "")
    name = name or re.sub(r"[_-]+", " ", PurePosixPath(path).stem)
    summary = next(
        (head.text(field) for field in ("summary", "desc", "description") if head.text(field)), ""
    )
    points = head.texts("key_points") if isinstance(head.fields.get("key_points"), list) else ()
    summary, points, made = completed(text[:end], start, name, summary, points)
    return Draft(
        path=path,
        title=name,
        summary=cut(plain_line(summary), _SUMMARY),
        key_points=points,
        parent=parent,
        children=tuple(children),
        related=tuple(related),
        start=start,
        end=end,
        lines={**head.lines, "content": 1 + text.count("\n", 0, start)},
        aliases=(*head.texts("aliases"), *head.texts("alias")),
        tags=head.texts("tags"),
        order=head.number("nav_order"),
        made=made,
        extra=extra or {},
        faults=head.faults,
    )


def _content(text: str, start: int) -> tuple[int, int]:
    """The content below the front matter, without blank edges."""
    while start < len(text) and text[start].isspace():
        start += 1
    return start, max(start, len(text.rstrip()))
