"""The outline of a graph of notes: who stands below whom, and what is related to what.

A trace names the notes that a walk considered, not the links between all of them. The page
writes the outline into the first step of the trace, so that a replay draws the same tree. A
trace that was made without one gets the outline that its own steps reveal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tracert.knowledge.graph import KnowledgeGraph
from tracert.trace import NodeKind, Step, Trace

#: The most notes that an outline holds; those that the trace names come first.
MOST: Final = 400
_NAME: Final = "outline"


@dataclass(frozen=True, slots=True)
class Outline:
    """Titles by path in the order of the tree, the parent of each, and pairs that are related."""

    titles: Mapping[str, str]
    parents: Mapping[str, str | None]
    related: tuple[tuple[str, str], ...] = ()

    def links(self) -> list[tuple[str, str, bool]]:
        """Every link as (from, to, whether it is only a related one)."""
        tree = [(parent, path, False) for path, parent in self.parents.items() if parent]
        return tree + [(one, other, True) for one, other in self.related]


def outline(graph: KnowledgeGraph, first: Iterable[str] = ()) -> Outline:
    """The outline of a graph, cut to `MOST` notes: `first` and what is above them, then the rest.

    The order is that of the tree, depth first.
    """
    kept: dict[str, None] = {}
    for path in first:
        while path in graph.notes and path not in kept:
            kept[path] = None
            path = graph.notes[path].parent or ""
    for path in graph.notes:
        if len(kept) >= MOST:
            break
        kept[path] = None
    parents = {path: _kept(graph.notes[path].parent, kept) for path in kept}
    order = _depth_first(parents, {path: graph.notes[path].children for path in kept}, graph.notes)
    pairs: dict[tuple[str, str], None] = {}
    for path in order:
        for other in graph.notes[path].related:
            if other in kept and other != path and (other, path) not in pairs:
                pairs[path, other] = None
    return Outline(
        {path: graph.notes[path].title for path in order},
        {path: parents[path] for path in order},
        tuple(pairs),
    )


def _kept(path: str | None, kept: Mapping[str, None]) -> str | None:
    return path if path in kept else None


def _depth_first(
    parents: Mapping[str, str | None],
    children: Mapping[str, Sequence[str]],
    order: Iterable[str],
) -> list[str]:
    """All paths, each behind its parent; children as their parent lists them, then the others."""
    below: dict[str | None, dict[str, None]] = {path: {} for path in (None, *parents)}
    for path in parents:
        for child in children.get(path, ()):
            if parents.get(child) == path:
                below[path][child] = None
    for path in order:
        if path in parents:
            below[parents[path]][path] = None
    found: dict[str, None] = {}
    open_ = [*reversed(below[None])]
    while open_:
        path = open_.pop()
        if path not in found:
            found[path] = None
            open_ += reversed(below[path])
    # Notes that are each other's parents hang on nothing; they are named last.
    return [*found, *(path for path in parents if path not in found)]


def with_outline(trace: Trace, made: Outline) -> Trace:
    """The trace with the outline in the values of its first step."""
    if not trace.steps:
        return trace
    number = {path: place for place, path in enumerate(made.titles)}
    related: dict[str, list[int]] = {}
    for one, other in made.related:
        related.setdefault(one, []).append(number[other])
    rows = [
        [path, title, number.get(made.parents[path] or "", -1), related.get(path, [])]
        for path, title in made.titles.items()
    ]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    first = replace(trace.steps[0], values={**trace.steps[0].values, _NAME: text})
    return replace(trace, steps=(first, *trace.steps[1:]))


def outline_of(trace: Trace) -> Outline:
    """The outline that the trace carries, else what its steps reveal.

    A trace file may come from anyone, so a text that is no outline counts as none.
    """
    text = trace.steps[0].values.get(_NAME) if trace.steps else None
    if isinstance(text, str):
        try:
            return _read(json.loads(text))
        except (ValueError, TypeError, IndexError, RecursionError):
            pass
    return _revealed(trace)


def _read(rows: Any) -> Outline:
    if not isinstance(rows, list) or len(rows) > MOST:
        raise ValueError("no outline")
    paths: list[str] = []
    titles: dict[str, str] = {}
    for path, title, _parent, _related in rows:
        if not isinstance(path, str) or not isinstance(title, str):
            raise TypeError("no outline")
        paths.append(path)
        titles[path] = title
    parents: dict[str, str | None] = {}
    related: list[tuple[str, str]] = []
    for place, (path, _title, parent, others) in enumerate(rows):
        at = int(parent)
        parents[path] = paths[at] if 0 <= at < len(paths) and at != place else None
        related += [(path, paths[int(other)]) for other in others if int(other) >= 0]
    return Outline(titles, parents, tuple(related))


def _revealed(trace: Trace) -> Outline:
    titles = {node.id: node.label for node in trace.nodes if node.kind is NodeKind.NOTE}
    parents: dict[str, str | None] = {}
    related: list[tuple[str, str]] = []
    for step in trace.steps:
        if step.action != "explore" or step.source not in titles:
            continue
        parents.setdefault(step.source, None)
        for item in step.candidates:
            if item.id == step.source:
                continue
            if item.id in parents:
                related.append((step.source, item.id))
            else:
                parents[item.id] = step.source
    return Outline(titles, {path: parents.get(path) for path in titles}, tuple(related))


def revealed(trace: Trace, step: Step) -> list[str]:
    """The notes that this step shows: the one in hand and its local view.

    Where a search found the entry point, every note was scored, but only the best of them
    were offered.
    """
    offered = [item.id for item in step.candidates]
    if step.action in ("entry", "turn_back") and trace.settings.get("entry") == "search":
        tried = trace.settings.get("entries")
        offered = offered[: tried if isinstance(tried, int) else 3]
    if step.action in ("focus", "fallback"):
        offered = []
    kinds = {node.id: node.kind for node in trace.nodes}
    ids = (step.source, *([step.target] if step.target is not None else ()), *offered)
    return [id for id in dict.fromkeys(ids) if kinds.get(id) is NodeKind.NOTE]


def scores(step: Step) -> dict[str, float]:
    """The scores that this step gives, by note."""
    found: dict[str, float] = {}
    for item in step.candidates:
        value = item.values.get("score")
        if isinstance(value, int | float):
            found[item.id] = float(value)
    own = step.values.get("score")
    if isinstance(own, int | float) and step.target is not None:
        found.setdefault(step.target, float(own))
    return found
