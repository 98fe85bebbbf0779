"""Which documents a corpus has once files were added: whose place each takes, and its name.

A file is known again by its source (see `tracert.inputs.Given`), not by its name: two files
called 'a.md' are two documents, and one that comes again with another content takes its own
place, whatever came along with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from tracert.inputs import numbered


class Entry(Protocol):
    """A document of a corpus: what it is called, which file it came from, what it holds."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def source(self) -> str:
        """Which file it came from, '' where that is not known."""
        ...

    @property
    def fingerprint(self) -> str:
        """What it holds."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A document in the list: its name, its file, and the fingerprint of what it holds."""

    name: str
    source: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document that comes in; `names` are what it may be called, the best first."""

    names: tuple[str, ...]
    source: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The documents after it, in order, and for each arrival a sentence where there is need."""

    places: tuple[Place, ...]
    messages: tuple[str, ...]


def merge(entries: Sequence[Entry], arrivals: Sequence[Arrival]) -> Merged:
    """The list of documents with the arrivals in it.

    Names and texts are unique in the result, every arrival's text is in it, and so is every
    entry whose file did not come again with another text. Entries of a store from before
    sources were kept are known by their names.

    Args:
        entries: the documents that are there, of different names and fingerprints.
        arrivals: the documents that come, each of another source.
    """
    homes = _homes(entries, arrivals)
    moved = {
        home
        for home, arrival in zip(homes, arrivals, strict=True)
        if home is not None and entries[home].fingerprint != arrival.fingerprint
    }
    slots = {
        slot: Place(entry.name, entry.source, entry.fingerprint)
        for slot, entry in enumerate(entries)
        if slot not in moved
    }
    slot_of = {place.fingerprint: slot for slot, place in slots.items()}
    used = {entry.name for entry in entries}
    behind = count()
    messages = []
    for home, arrival in zip(homes, arrivals, strict=True):
        slot = slot_of.get(arrival.fingerprint)
        if slot is not None:
            held = slots[slot]
            if slot == home:
                slots[slot] = Place(held.name, arrival.source, held.fingerprint)
            messages.append(
                "" if slot == home else _same(held.name, None if home is None else entries[home])
            )
            continue
        if home is not None:
            name, slot = entries[home].name, home
            messages.append(f"Took the place of the earlier {name!r}.")
        else:
            first = arrival.names[0]
            free = (name for name in arrival.names if name not in used)
            name = next(free, "") or numbered(first, used)
            slot = len(entries) + next(behind)
            messages.append(
                "" if name == first else f"Called {name!r}, since there is another {first!r}."
            )
        slots[slot] = Place(name, arrival.source, arrival.fingerprint)
        slot_of[arrival.fingerprint] = slot
        used.add(name)
    return Merged(tuple(slots[slot] for slot in sorted(slots)), tuple(messages))


def _homes(entries: Sequence[Entry], arrivals: Sequence[Arrival]) -> list[int | None]:
    """The place of each arrival's file as it was before, None for a new file."""
    by_source = {entry.source: slot for slot, entry in enumerate(entries) if entry.source}
    by_name = {entry.name: slot for slot, entry in enumerate(entries) if not entry.source}
    homes: list[int | None] = []
    for arrival in arrivals:
        home = by_source.get(arrival.source)
        if home is None:
            home = next((by_name.pop(name) for name in arrival.names if name in by_name), None)
        homes.append(home)
    return homes


def _same(name: str, earlier: Entry | None) -> str:
    said = f"The same text is in the corpus as {name!r}."
    return said if earlier is None else f"{said} The earlier {earlier.name!r} was taken out."
