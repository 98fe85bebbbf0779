"""What each method found, as data for the page's cards, matrix and table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tracert.comparing.budget import Entry
from tracert.comparing.overlap import GoldFound, alone, gold_found, groups
from tracert.render.compare_looks import look, short
from tracert.render.numbers import count, seconds
from tracert.render.palette import Theme
from tracert.render.words import place, title
from tracert.trace import Node, Trace

Gold = Sequence[frozenset[str]]
NodeOf = Callable[[str], Node | None]
#: Stages of a run's seconds that are the page's and not the method's.
_NOT_ITS_OWN = frozenset({"open", "map", "answer"})


def own_seconds(trace: Trace) -> float:
    """The seconds that the method itself took: embedding, its model and its walk."""
    return sum(spent for stage, spent in trace.cost.seconds.items() if _its_own(stage))


def _its_own(stage: str) -> bool:
    """Whether a stage is the method's work on this question; an index is made but once."""
    return stage not in _NOT_ITS_OWN and not stage.startswith("index")


def board(
    entries: Sequence[Entry],
    gold: Gold,
    node_of: NodeOf,
    *,
    theme: Theme,
    unit: str = "passage",
    changed: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """One card a method: how much of the gold it found and when, what of its own, at what cost.

    `changed` tells of a method which settings are not its defaults.
    """
    remarks = changed or {}
    only = alone(entries)
    cards = []
    for entry in entries:
        found = gold_found(entry, gold)
        hits = sum(one.id is not None for one in found)
        number = len(entry.own)
        cards.append(
            {
                "method": entry.method,
                "title": short(entry.method),
                "colour": look(entry.method).colour(theme),
                "shape": look(entry.method).shape,
                "big": f"{hits} of {len(gold)}" if gold else str(number),
                "of": f"gold {_plural(len(gold), unit)}" if gold else f"{_plural(number, unit)}",
                "gold": [
                    _chip(place_, one, chunks, node_of)
                    for place_, (one, chunks) in enumerate(zip(found, gold, strict=True), start=1)
                ],
                "lines": [
                    _own(number, only[entry.method], len(entries), unit),
                    cost(entry.trace),
                    *index_cost(entry.trace),
                    *([remarks[entry.method]] if remarks.get(entry.method) else []),
                ],
                "note": _short_of(entry, unit),
            }
        )
    return cards


def cost(trace: Trace) -> str:
    """The method's own time, calls and tokens, in one line."""
    parts = [seconds(own_seconds(trace)), count(trace.cost.model_calls, "model call")]
    tokens = trace.cost.prompt_tokens + trace.cost.completion_tokens
    if tokens:
        parts.append(count(tokens, "token"))
    return " · ".join(parts)


def index_cost(trace: Trace) -> list[str]:
    """What an index cost that the method made of the whole text, once; empty where there is none.

    The first step of such a run tells it, whenever the index was made.
    """
    spent, calls = _index(trace)
    return (
        [] if spent is None else [f"index, once: {seconds(spent)} · {count(calls, 'model call')}"]
    )


def _index(trace: Trace) -> tuple[float | None, int]:
    first = trace.steps[0].values if trace.steps else {}
    spent, calls = first.get("index_seconds"), first.get("index_model_calls")
    if not isinstance(spent, int | float):
        return None, 0
    return float(spent), int(calls) if isinstance(calls, int | float) else 0


def _plural(number: int, unit: str) -> str:
    return unit if number == 1 else f"{unit}s"


def _own(number: int, alone_: int, methods: int, unit: str) -> str:
    said = f"{count(number, unit)} found"
    return said if methods < 2 else f"{said}, {alone_} by it alone"


def _short_of(entry: Entry, unit: str) -> str:
    missing = entry.budget - len(entry.own)
    if missing <= 0:
        return ""
    said = f"Returned {len(entry.own)} of {entry.budget}. {entry.trace.result.stop.message}"
    if entry.filled:
        said += f" Plain top-k fills {count(len(entry.filled), unit)} up; none counts here."
    return said


def _chip(number: int, found: GoldFound, chunks: frozenset[str], node_of: NodeOf) -> dict[str, Any]:
    id = found.id or next(iter(sorted(chunks)), None)
    node = None if id is None else node_of(id)
    name = title(node) if node is not None else f"Gold {number}"
    how = f"found at hop {found.hop}" if found.id is not None else "missed"
    if found.filled:
        how = "missed; plain top-k fills it in"
    return {
        "number": number,
        "id": id,
        "hop": found.hop,
        "filled": found.filled,
        "title": name,
        "said": f"gold {number}, {name}, {how}",
    }


def matrix(
    entries: Sequence[Entry],
    gold: Gold,
    node_of: NodeOf,
    *,
    theme: Theme,
    unit: str = "passage",
) -> dict[str, Any]:
    """The passages by who found them, each with its rank and hop, gold marked.

    What only plain top-k filled in has no row of its own. Gold that nobody found stands last.
    """
    numbers = gold_numbers(gold)
    made = [
        {
            "label": _label(group.methods, entries),
            "dots": [entry.method in group.methods for entry in entries],
            "rows": [_row(id, entries, numbers, node_of) for id in group.passages],
        }
        for group in groups(entries)
    ]
    found = {id for entry in entries for id in entry.own}
    missed = [min(chunks) for chunks in gold if chunks and not chunks & found]
    if missed:
        made.append(
            {
                "label": f"Gold that no method found at {entries[0].budget}",
                "dots": [False] * len(entries),
                "rows": [_row(id, entries, numbers, node_of) for id in missed],
            }
        )
    return {
        "methods": [
            {
                "title": short(entry.method),
                "colour": look(entry.method).colour(theme),
                "shape": look(entry.method).shape,
            }
            for entry in entries
        ],
        "groups": made,
        "heading": f"{unit.capitalize()}, by who found it",
        "label": f"Which method found which {unit}, with ranks",
    }


def gold_numbers(gold: Gold) -> dict[str, int]:
    """The number of the gold passage that a chunk holds, from 1."""
    numbers: dict[str, int] = {}
    for number, chunks in enumerate(gold, start=1):
        for id in chunks:
            numbers.setdefault(id, number)
    return numbers


def _label(methods: Sequence[str], entries: Sequence[Entry]) -> str:
    names = [short(method) for method in methods]
    if len(entries) > 1 and len(names) == len(entries):
        return "found by both" if len(names) == 2 else f"found by all {len(names)}"
    if len(names) == 1:
        return f"only {names[0]}" if len(entries) > 1 else f"found by {names[0]}"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _row(
    id: str, entries: Sequence[Entry], numbers: Mapping[str, int], node_of: NodeOf
) -> dict[str, Any]:
    node = node_of(id)
    return {
        "id": id,
        "title": id if node is None else title(node),
        "where": "" if node is None else place(node),
        "gold": numbers.get(id),
        "cells": [_cell(entry, id) for entry in entries],
    }


def _cell(entry: Entry, id: str) -> dict[str, Any] | None:
    rank = entry.rank(id)
    if rank is not None:
        hop = entry.hops.get(id)
        said = f"rank {rank}" + (f", found at hop {hop}" if hop is not None else "")
        return {"rank": rank, "hop": hop, "filled": False, "said": said}
    if id in entry.filled:
        return {"rank": 0, "hop": None, "filled": True, "said": "filled up by plain top-k"}
    return None


def table(entries: Sequence[Entry], gold: Gold, node_of: NodeOf) -> dict[str, list[Any]]:
    """Passages by methods with ranks, as columns; '(fill-up)' where plain top-k filled it in."""
    numbers = gold_numbers(gold)
    ids = [id for group in groups(entries) for id in group.passages]
    found = set(ids)
    ids += [min(chunks) for chunks in gold if chunks and not chunks & found]
    nodes = {id: node_of(id) for id in ids}
    columns: dict[str, list[Any]] = {"id": ids}
    if gold:
        columns["Gold"] = [numbers.get(id) for id in ids]
    for entry in entries:
        columns[short(entry.method)] = [entry.rank(id) for id in ids]
    columns["Found by"] = [sum(entry.rank(id) is not None for entry in entries) for id in ids]
    for key, of in (("Passage", title), ("Place", place)):
        columns[key] = [id if (node := nodes[id]) is None else of(node) for id in ids]
    return columns


def cost_rows(entries: Sequence[Entry]) -> dict[str, list[Any]]:
    """The milliseconds of each run by stage, and what an index cost once."""
    traces = [entry.trace for entry in entries]
    stages = [
        stage
        for stage in dict.fromkeys(stage for trace in traces for stage in trace.cost.seconds)
        if _its_own(stage)
    ]
    rows: dict[str, list[Any]] = {
        "Method": [short(entry.method) for entry in entries],
    }
    for stage in stages:
        rows[f"{stage} ms"] = [
            None if stage not in trace.cost.seconds else 1e3 * trace.cost.seconds[stage]
            for trace in traces
        ]
    indexes = [_index(trace) for trace in traces]
    if any(spent is not None for spent, _ in indexes):
        rows["Index, once (s)"] = [spent for spent, _ in indexes]
        rows["Index calls"] = [None if spent is None else calls for spent, calls in indexes]
    rows["All ms"] = [1e3 * own_seconds(trace) for trace in traces]
    return rows
