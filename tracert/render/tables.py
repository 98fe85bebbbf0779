"""Tables of a trace as columns of plain values: candidates, comparison, the path in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tracert.render.frames import Frame, frame, last
from tracert.render.numbers import count, plain, seconds
from tracert.render.words import Words, called, place, title
from tracert.render.words.base import unit, upright
from tracert.trace import Trace


def candidate_rows(trace: Trace, at: int, words: Words) -> dict[str, list[Any]]:
    """The candidates of a frame, best first: id, rule, numbers, passage, place.

    A number that no candidate has, since no setting asks for it, has no column.
    """
    now = frame(trace, at)
    items = () if now.step is None else now.step.candidates
    rules = {rule.name: rule.label for rule in words.rules}
    nodes = {node.id: node for node in trace.nodes}
    rows: dict[str, list[Any]] = {
        "id": [item.id for item in items],
        "Rule": [rules.get(item.rule, item.rule) for item in items],
    }
    for column in words.columns:
        numbers = [_number(item.values.get(column.key)) for item in items]
        if not items or any(number is not None for number in numbers):
            rows[column.label] = numbers
    rows[unit(trace).capitalize()] = [title(nodes[item.id], 120) for item in items]
    rows["Place"] = [place(nodes[item.id]) for item in items]
    rows["Why"] = [item.reason for item in items]
    return rows


def _number(value: float | str | None) -> float | None:
    return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Passages by who found them, each list in the finder's own order."""

    both: tuple[str, ...]
    only_path: tuple[str, ...]
    only_plain: tuple[str, ...]


def compare(path: Sequence[str], plain_ids: Sequence[str]) -> Comparison:
    """What the walk and plain top-k both found, and what each alone."""
    ours, theirs = set(path), set(plain_ids)
    return Comparison(
        tuple(id for id in path if id in theirs),
        tuple(id for id in path if id not in theirs),
        tuple(id for id in plain_ids if id not in ours),
    )


def path_in_words(trace: Trace, words: Words) -> list[str]:
    """The whole walk as sentences, one a frame: what the graph shows, without seeing it."""
    frames = (frame(trace, index) for index in range(last(trace) + 1))
    return [upright(words.caption(trace, each)) for each in frames]


def path_rows(trace: Trace) -> list[tuple[str, str, str]]:
    """The nodes of the path in order: what it is called, its first words, where it stands."""
    now: Frame = frame(trace, last(trace))
    rows = []
    for id in trace.result.path:
        node = trace.node(id)
        rows.append((called(trace, now, id), title(node), place(node)))
    return rows


def cost_line(trace: Trace) -> str:
    """What the run cost, in one line."""
    parts = [f"{stage} {seconds(spent)}" for stage, spent in trace.cost.seconds.items()]
    if trace.cost.model_calls:
        tokens = trace.cost.prompt_tokens + trace.cost.completion_tokens
        parts.append(count(trace.cost.model_calls, "model call"))
        parts.append(count(tokens, "token"))
    return " · ".join(parts)


def settings_line(trace: Trace) -> str:
    """The settings in force, after any widening."""
    return " · ".join(f"{name} {plain(_plain(value))}" for name, value in trace.settings.items())


def _plain(value: str | int | float | bool | None) -> float | str | None:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "auto" if value is None else value
