"""What is wrong with a graph as a whole; faults of single files and links come from parsing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from tracert.knowledge.model import Fault, Note

#: A content longer than this, in characters, is too much for one focused view.
LARGE: Final = 24_000

#: The kinds of fault, each with what it means.
KINDS: Final[Mapping[str, str]] = {
    "missing_parent": "the parent that a note names is not there, or it should name one",
    "child_disagrees": "a note lists a child that names another parent, or the other way round",
    "dangling_link": "a link leads to no note",
    "cycle": "notes are each other's parents",
    "duplicate_title": "two notes have one title",
    "island": "no entry point leads to these notes",
    "empty_note": "a note has no content",
    "large_note": "a note is too long for one view",
    "syntax": "a field cannot be read as it stands",
    "unreadable": "a file cannot be read",
    "outside": "a name or a link leads outside the folder",
    "duplicate_file": "two files have names that read the same",
}


def entry_points(notes: Mapping[str, Note]) -> tuple[tuple[str, ...], str]:
    """Where a walk may start, and the rule by which: the folder `entry_points`, else the roots."""
    fixed = tuple(path for path in notes if "entry_points" in path.split("/")[:-1])
    if fixed:
        return fixed, "the folder entry_points"
    roots = [note for note in notes.values() if note.parent is None]
    roots.sort(key=lambda note: not note.children)
    return tuple(note.path for note in roots), "the notes without a parent"


def islands(notes: Mapping[str, Note], entries: Sequence[str], fixed: bool) -> list[list[str]]:
    """Connected groups, in any direction of the links, that nothing leads to.

    With fixed entry points these are the groups without one; else all but the largest.
    """
    groups = _groups(notes)
    if fixed:
        known = set(entries)
        return [group for group in groups if not known.intersection(group)]
    groups.sort(key=len, reverse=True)
    return groups[1:]


def check(
    notes: Mapping[str, Note], entries: Sequence[str], fixed: bool, lists_children: bool
) -> list[Fault]:
    """The faults that show only in the whole graph."""
    found: list[Fault] = []
    titles: dict[str, list[Note]] = defaultdict(list)
    for note in notes.values():
        titles[note.title.casefold()].append(note)
        if note.start >= note.end:
            line = note.lines.get("content", 1)
            fix = "Write something below its heading, or remove the note."
            found.append(Fault(note.path, line, "empty_note", "The note has no content.", fix))
        if note.end - note.start > LARGE:
            message = f"The content has {note.end - note.start:,} characters, over {LARGE:,}."
            fix = "Split it into a note with children."
            found.append(Fault(note.path, note.lines.get("content", 1), "large_note", message, fix))
        if fixed and lists_children and note.parent is None and note.path not in entries:
            fix = "Name its parent, or move it to the folder entry_points."
            message = "The note names no parent and no note lists it as a child."
            found.append(
                Fault(note.path, note.lines.get("parent", 1), "missing_parent", message, fix)
            )
    for same in titles.values():
        for note in same[1:]:
            message = f"The title {note.title!r} is also that of {same[0].path}."
            fix = "Give one of the two another title."
            found.append(
                Fault(note.path, note.lines.get("title", 1), "duplicate_title", message, fix)
            )
    for group in islands(notes, entries, fixed):
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        message = f"No link connects {group[0]}{more} with the rest of the graph."
        fix = "Name a parent in it, or link it from another note."
        found.append(Fault(group[0], 1, "island", message, fix))
    return found


def _groups(notes: Mapping[str, Note]) -> list[list[str]]:
    beside: dict[str, set[str]] = {path: set() for path in notes}
    for note in notes.values():
        for other in (*note.children, *note.related, *((note.parent,) if note.parent else ())):
            beside[note.path].add(other)
            beside[other].add(note.path)
    groups: list[list[str]] = []
    seen: set[str] = set()
    for path in notes:
        if path in seen:
            continue
        seen.add(path)
        group, open_ = [path], [path]
        while open_:
            for other in beside[open_.pop()]:
                if other not in seen:
                    seen.add(other)
                    group.append(other)
                    open_.append(other)
        groups.append(sorted(group))
    return groups
