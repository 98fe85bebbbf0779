"""Who found which passages: the passages by the set of methods that found them.

This is the table behind an UpSet plot: Lex, Gehlenborg, Strobelt, Vuillemot and Pfister, 'UpSet:
Visualization of Intersecting Sets', IEEE TVCG 2014. It stays readable where Venn diagrams do not,
from four sets on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tracert.comparing.budget import Entry


@dataclass(frozen=True, slots=True)
class Group:
    """The passages that exactly these methods found. `methods` in the order of the entries."""

    methods: tuple[str, ...]
    passages: tuple[str, ...]


def groups(entries: Sequence[Entry]) -> tuple[Group, ...]:
    """The passages by who found them: found by most methods first, then the larger groups.

    Within a group the passages stand by their best rank, then by the sum of their ranks. What
    plain top-k only filled in counts for nobody.
    """
    finders: dict[str, tuple[str, ...]] = {}
    for id in dict.fromkeys(id for entry in entries for id in entry.own):
        finders[id] = tuple(entry.method for entry in entries if id in entry.own)
    members: dict[tuple[str, ...], list[str]] = {}
    for id, methods in finders.items():
        members.setdefault(methods, []).append(id)
    order = {entry.method: place for place, entry in enumerate(entries)}
    made = [
        Group(methods, tuple(sorted(ids, key=lambda id: _ranks(id, entries))))
        for methods, ids in members.items()
    ]
    return tuple(
        sorted(
            made,
            key=lambda group: (
                -len(group.methods),
                -len(group.passages),
                [order[name] for name in group.methods],
            ),
        )
    )


def alone(entries: Sequence[Entry]) -> dict[str, int]:
    """How many passages each method found that no other did."""
    counts = {entry.method: 0 for entry in entries}
    for group in groups(entries):
        if len(group.methods) == 1:
            counts[group.methods[0]] += len(group.passages)
    return counts


@dataclass(frozen=True, slots=True)
class GoldFound:
    """How a method did on one gold passage.

    `id` is the chunk that it found of it, None where it missed it; `hop` the hop of that; `filled`
    tells that plain top-k filled it in, which is no finding of the method's.
    """

    id: str | None
    hop: int | None
    filled: bool


def gold_found(entry: Entry, gold: Sequence[Collection[str]]) -> tuple[GoldFound, ...]:
    """For each gold passage, given as the ids of all chunks that hold it, when it was found."""
    return tuple(_one(entry, chunks) for chunks in gold)


def _one(entry: Entry, chunks: Collection[str]) -> GoldFound:
    found = [id for id in entry.own if id in chunks]
    if found:
        best = min(found, key=lambda id: entry.hops.get(id, len(entry.own) + 1))
        return GoldFound(best, entry.hops.get(best), False)
    return GoldFound(None, None, any(id in chunks for id in entry.filled))


def _ranks(id: str, entries: Sequence[Entry]) -> tuple[int, int, str]:
    held: Mapping[str, int] = {
        entry.method: rank for entry in entries if (rank := entry.rank(id)) is not None
    }
    return min(held.values()), sum(held.values()), id
