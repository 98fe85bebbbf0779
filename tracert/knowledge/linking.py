"""From what each file says to notes among notes: references followed, the tree made whole."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import PurePosixPath

from tracert.knowledge.dialects.base import Dialect, Names, Resolved
from tracert.knowledge.dialects.places import is_unsafe
from tracert.knowledge.model import Draft, Fault, Linked, Note, Reference

#: In a graph above this size no name is guessed for a link that leads nowhere.
_GUESSES = 300


class _Count:
    """Links as they are followed."""

    def __init__(self) -> None:
        self.links = self.unresolved = self.root = self.note = 0

    def add(self, found: Resolved) -> None:
        if found.path is None and found.ignored:
            return
        self.links += 1
        self.unresolved += found.path is None
        self.root += found.base == "root" and found.path is not None
        self.note += found.base == "note" and found.path is not None


def link(dialect: Dialect, drafts: Mapping[str, Draft], hashes: Mapping[str, str]) -> Linked:
    """The notes of the drafts.

    The children of a note are those that it lists and then those that name it as parent. A
    note that names no parent gets the first note that lists it. A link to the note itself,
    and a related link to its parent or a child, say nothing new and are dropped.
    """
    names = dialect.names(drafts)
    count = _Count()
    faults: list[Fault] = []
    parents: dict[str, str] = {}
    listed: dict[str, list[str]] = {}
    related: dict[str, list[str]] = {}
    guesses = _Guesses(drafts)
    for path, draft in drafts.items():
        faults += draft.faults
        named = names.parent(draft)
        if named is not None:
            count.add(named[1])
            if named[1].path is None:
                faults.append(guesses.missing(path, named[0], "missing_parent"))
            else:
                parents[path] = named[1].path
        listed[path] = _follow(draft, draft.children, names, count, faults, guesses)
        related[path] = _follow(draft, draft.related, names, count, faults, guesses)
    if dialect.lists_children:
        faults += _disagreements(drafts, parents, listed)
    for path, below in listed.items():
        for child in below:
            parents.setdefault(child, path)
    _cut_cycles(parents, drafts, faults)
    children = {path: list(listed[path]) for path in drafts}
    for path in sorted(parents, key=lambda path: _order(drafts[path])):
        siblings = children[parents[path]]
        if path not in siblings:
            siblings.append(path)
    notes = {
        path: _note(draft, parents.get(path), children[path], related[path], hashes[path])
        for path, draft in drafts.items()
    }
    return Linked(notes, tuple(faults), count.links, count.unresolved, count.root, count.note)


def _note(
    draft: Draft, parent: str | None, children: list[str], related: list[str], hash: str
) -> Note:
    below = [path for path in dict.fromkeys(children) if path not in (draft.path, parent)]
    own = {draft.path, parent, *below}
    return Note(
        path=draft.path,
        title=draft.title,
        summary=draft.summary,
        parent=parent,
        children=tuple(below),
        related=tuple(path for path in dict.fromkeys(related) if path not in own),
        key_points=draft.key_points,
        start=draft.start,
        end=draft.end,
        hash=hash,
        lines=draft.lines,
        tags=draft.tags,
        made=draft.made,
    )


def _follow(
    draft: Draft,
    references: tuple[Reference, ...],
    names: Names,
    count: _Count,
    faults: list[Fault],
    guesses: _Guesses,
) -> list[str]:
    paths: list[str] = []
    for reference in references:
        found = names.resolve(draft, reference)
        count.add(found)
        if found.path is not None:
            paths.append(found.path)
        elif not found.ignored:
            faults.append(guesses.missing(draft.path, reference, "dangling_link"))
    return paths


def _disagreements(
    drafts: Mapping[str, Draft], parents: Mapping[str, str], listed: Mapping[str, list[str]]
) -> list[Fault]:
    faults: list[Fault] = []
    for path, children in listed.items():
        for child in children:
            named = parents.get(child)
            if child == path or named == path or drafts[child].parent is None:
                continue
            line = drafts[path].lines.get("children", 0)
            other = named or "a note that is not there"
            message = f"{child} is listed as a child but names {other} as its parent."
            fix = f"Write 'parent: {path}' in {child}, or take it off the list."
            faults.append(Fault(path, line, "child_disagrees", message, fix))
    for path, parent in parents.items():
        if path != parent and path not in listed[parent]:
            line = drafts[path].lines.get("parent", 0)
            message = f"{parent} is named as the parent but does not list this note as a child."
            fix = f"Add {path} to the children of {parent}, or name another parent."
            faults.append(Fault(path, line, "child_disagrees", message, fix))
    return faults


def _cut_cycles(parents: dict[str, str], drafts: Mapping[str, Draft], faults: list[Fault]) -> None:
    """Each cycle of parents is cut at its first note in order of path, which becomes a root."""
    done: set[str] = set()
    for start in sorted(parents):
        trail: dict[str, None] = {}
        path = start
        while path in parents and path not in done and path not in trail:
            trail[path] = None
            path = parents[path]
        if path in trail:
            order = list(trail)
            ring = order[order.index(path) :]
            first = min(ring)
            turned = ring[ring.index(first) :] + ring[: ring.index(first)]
            line = drafts[first].lines.get("parent", 0)
            message = f"The parents run in a circle: {' to '.join([*turned, first])}."
            fix = "Give one of these notes a parent outside the circle, or none."
            faults.append(Fault(first, line, "cycle", message, fix))
            del parents[first]
        done.update(trail)


def _order(draft: Draft) -> tuple[float, str]:
    return (draft.order if draft.order is not None else float("inf"), draft.path)


class _Guesses:
    """The fault of a link that leads nowhere, with the note that may have been meant."""

    def __init__(self, drafts: Mapping[str, Draft]) -> None:
        self._by_fold = {path.casefold(): path for path in drafts}
        self._by_name: dict[str, str] = {}
        for path in drafts:
            self._by_name.setdefault(PurePosixPath(path).name.casefold(), path)
        self._paths = list(drafts) if len(drafts) <= _GUESSES else []
        self._known: dict[str, str | None] = {}

    def missing(self, path: str, reference: Reference, kind: str) -> Fault:
        written = reference.written
        shown = f"{written}]]" if written.startswith("[[") else written
        role = "parent" if kind == "missing_parent" else "linked note"
        if is_unsafe(written) and ".." in written.split("/"):
            message = f"The {role} {shown!r} is not in the folder; nothing outside is read."
        else:
            message = f"The {role} {shown!r} is not there."
        guess = self._guess(written)
        fix = f"Write {guess} if that is meant." if guess else "Add the note or take the link out."
        return Fault(path, reference.line, kind, message, fix)

    def _guess(self, written: str) -> str | None:
        if written not in self._known:
            fold = written.casefold()
            name = PurePosixPath(fold).name
            found = self._by_fold.get(fold) or self._by_name.get(name)
            if found is None and self._paths and len(written) < 200:
                close = get_close_matches(written, self._paths, 1, 0.85)
                found = close[0] if close else None
            self._known[written] = found
        return self._known[written]
