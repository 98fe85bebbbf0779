"""The difference of two runs in words, as tables, as JSON and as one picture.

On the picture the moves that both made are solid, those of A alone dashed and those of B alone
dotted, each in a colour and with a shape of its own. It lies on the map where both runs were
placed on one map; else the two walks run side by side from left to right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tracert.difference import Changed, Difference, Fate, Pair, StepPair
from tracert.render import tree
from tracert.render.frames import frame, last
from tracert.render.network import moves_of
from tracert.render.numbers import count, plain
from tracert.render.palette import PALETTES, Palette, Theme
from tracert.render.plotted import hover_text, map_backdrop
from tracert.render.words import called, place, quoted, title, words_for
from tracert.render.words.base import unit
from tracert.trace import Candidate, Node, NodeKind, Step, Trace, Value

SCHEMA: Final = "tracert.difference/1"
HEIGHT: Final = 430
#: A walk alone in its place beside the other, in the picture without a map.
_ABOVE: Final = 1.0

Strand = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Strands:
    """The moves of two runs: of both, of A alone, of B alone."""

    both: tuple[Strand, ...]
    only_a: tuple[Strand, ...]
    only_b: tuple[Strand, ...]


def strands(found: Difference) -> Strands:
    """The moves of both runs, parted."""
    ours, theirs = (dict.fromkeys(moves_of(trace)) for trace in (found.a, found.b))
    return Strands(
        tuple(move for move in ours if move in theirs),
        tuple(move for move in ours if move not in theirs),
        tuple(move for move in theirs if move not in ours),
    )


# --- in words -----------------------------------------------------------------------------


def node_of(found: Difference, id: str) -> Node:
    """The node of that id in either run."""
    try:
        return found.b.node(id)
    except KeyError:
        return found.a.node(id)


def in_words(found: Difference) -> list[str]:
    """The difference in a few sentences, the most telling first."""
    what = unit(found.b)
    said = list(found.notes)
    if found.settings:
        said.append(
            "Asked otherwise: "
            + ", ".join(f"{one.name} {told(one.a)} → {told(one.b)}" for one in found.settings)
            + "."
        )
    elif not found.notes:
        said.append("Both were asked the same with the same settings.")
    said.append(_parting(found))
    if found.same_walk:
        both = count(len(found.both), what)
        said.append(f"Both found the same {both}." if found.both else f"Neither found a {what}.")
    else:
        said.append(
            f"Both found {count(len(found.both), what)}; A alone "
            f"{len(found.only_a)}, B alone {len(found.only_b)}."
        )
    if found.turned:
        said.append(
            f"At the same node, {count(len(found.turned), 'candidate')} "
            f"{'was' if len(found.turned) == 1 else 'were'} kept by one and not by the other."
        )
    if found.stop is not None:
        said.append(
            f"The end of A: {found.a.result.stop.message} The end of B: "
            f"{found.b.result.stop.message}"
        )
    return said


def _parting(found: Difference) -> str:
    if found.parted is None:
        other = [pair for pair in found.steps if pair.kind is Pair.NUMBERS]
        if not other:
            return "The walks are the same, step by step."
        return f"The walks move alike; in {count(len(other), 'step')} the numbers differ."
    pair = found.steps[found.parted]
    return (
        f"They part at step {pair.index + 1}: A {_did(found.a, pair.a)}, B {_did(found.b, pair.b)}."
    )


def _did(trace: Trace, step: Step | None) -> str:
    if step is None:
        return "has already stopped"
    at = frame(trace, step.index + 1)
    here = called(trace, at, step.source)
    if tree.branches(trace) or step.target is None:
        kept = sum(item.kept for item in step.candidates)
        return f"keeps {count(kept, unit(trace))} from {here}"
    if step.target == step.source:
        return f"stays at {here}"
    passage = trace.node(step.target).kind in (NodeKind.CHUNK, NodeKind.NOTE)
    # Both may call another passage their first, so it is named by its words.
    there = quoted(trace, step.target) if passage else called(trace, at, step.target)
    return f"goes from {here} to {there}"


def told(value: Value) -> str:
    """A value as a person reads it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else plain(value)


# --- as tables ----------------------------------------------------------------------------


def changed_rows(changes: Sequence[Changed]) -> dict[str, list[str]]:
    """Changed values as columns."""
    return {
        "What": [one.name for one in changes],
        "A": [told(one.a) for one in changes],
        "B": [told(one.b) for one in changes],
    }


_KINDS: Final = {
    Pair.SAME: "the same",
    Pair.NUMBERS: "other numbers",
    Pair.MOVE: "another move",
    Pair.ONLY_A: "A alone",
    Pair.ONLY_B: "B alone",
}


def step_rows(found: Difference) -> dict[str, list[Any]]:
    """The steps side by side, each with what differs in it."""
    return {
        "Step": [pair.index + 1 for pair in found.steps],
        "Is": [_KINDS[pair.kind] for pair in found.steps],
        "A": [_target(found.a, pair.a) for pair in found.steps],
        "B": [_target(found.b, pair.b) for pair in found.steps],
        "Numbers": [_numbers(pair) for pair in found.steps],
    }


def _target(trace: Trace, step: Step | None) -> str:
    if step is None:
        return "–"
    kept = [item.id for item in step.candidates if item.kept]
    ids = [step.target] if step.target is not None else kept
    return "; ".join(title(trace.node(id)) for id in ids[:4] if id is not None) or "nowhere"


def _numbers(pair: StepPair) -> str:
    return ", ".join(f"{one.name} {told(one.a)} → {told(one.b)}" for one in pair.values[:6])


def turned_rows(found: Difference) -> dict[str, list[Any]]:
    """The candidates that one walk kept and the other did not, with both rules and numbers."""
    return {
        "id": [one.id for one in found.turned],
        unit(found.b).capitalize(): [title(node_of(found, one.id), 90) for one in found.turned],
        "From": [title(node_of(found, one.source)) for one in found.turned],
        "In A": [verdict(found.a, one.a) for one in found.turned],
        "In B": [verdict(found.b, one.b) for one in found.turned],
    }


def verdict(trace: Trace, item: Candidate | None) -> str:
    """A verdict in one line: the rule, and the numbers that the method's table shows."""
    if item is None:
        return "not among the candidates"
    words = words_for(trace.method)
    rule = next((rule.label for rule in words.rules if rule.name == item.rule), item.rule)
    numbers = [
        f"{column.label.lower()} {plain(item.values[column.key], column.digits)}"
        for column in words.columns
        if item.values.get(column.key) is not None
    ]
    return f"{rule}: {', '.join(numbers)}" if numbers else rule


def fate_of(trace: Trace, fate: Fate | None) -> str:
    """What a walk last said of a passage."""
    if fate is None:
        return f"the walk never weighed this {unit(trace)}"
    said = verdict(trace, fate.verdict)
    return f"step {fate.step + 1}, {said[:1].lower()}{said[1:]}"


# --- as JSON ------------------------------------------------------------------------------


def to_dict(found: Difference) -> dict[str, Any]:
    """The difference as JSON, schema `tracert.difference/1`."""
    return {
        "schema": SCHEMA,
        "method": found.a.method,
        "same": found.same_walk and not found.settings and not found.turned,
        "words": in_words(found),
        "notes": list(found.notes),
        "settings": _changes(found.settings),
        "parted": found.parted,
        "steps": [
            {
                "index": pair.index,
                "kind": pair.kind.value,
                "a": None if pair.a is None else [pair.a.source, pair.a.target],
                "b": None if pair.b is None else [pair.b.source, pair.b.target],
                "values": _changes(pair.values),
            }
            for pair in found.steps
        ],
        "turned": [
            {
                "id": one.id,
                "source": one.source,
                "step_a": one.step_a,
                "step_b": one.step_b,
                "a": _verdict(one.a),
                "b": _verdict(one.b),
            }
            for one in found.turned
        ],
        "evidence": {
            "both": list(found.both),
            "only_a": [_alone(found, id) for id in found.only_a],
            "only_b": [_alone(found, id) for id in found.only_b],
        },
        "stop": None if found.stop is None else {"a": found.stop.a, "b": found.stop.b},
        "cost": _changes(found.costs),
    }


def _changes(changes: Sequence[Changed]) -> list[dict[str, Value]]:
    return [{"name": one.name, "a": one.a, "b": one.b} for one in changes]


def _verdict(item: Candidate | None) -> dict[str, Any] | None:
    if item is None:
        return None
    return {
        "kept": item.kept,
        "rule": item.rule,
        "reason": item.reason,
        "values": dict(item.values),
    }


def _alone(found: Difference, id: str) -> dict[str, Any]:
    ours, theirs = found.fates[id]
    return {
        "id": id,
        "a": None if ours is None else {"step": ours.step, **(_verdict(ours.verdict) or {})},
        "b": None if theirs is None else {"step": theirs.step, **(_verdict(theirs.verdict) or {})},
    }


# --- the picture --------------------------------------------------------------------------


def figure(found: Difference, *, theme: Theme = "light") -> Any:
    """Both walks on one picture, as a `plotly.graph_objects.Figure`."""
    import plotly.graph_objects as go

    palette = PALETTES[theme]
    positions, ground = _positions(found)
    parted = strands(found)
    layers = []
    if ground is not None:
        layers.append(
            go.Scatter(
                x=ground[:, 0],
                y=ground[:, 1],
                mode="markers",
                marker={"size": 4, "color": palette.faint, "opacity": 0.3},
                hoverinfo="skip",
                showlegend=False,
            )
        )
    # Each strand has a colour, a dash, a width and a shape of its own.
    looks = (
        ("Both", parted.both, palette.ink, "solid", 4.5),
        ("A alone", parted.only_a, palette.goal, "dash", 3.0),
        ("B alone", parted.only_b, palette.path, "dot", 3.0),
    )
    for name, moves, colour, dash, width in looks:
        layers.append(_lines(go, name, moves, positions, colour, dash, width))
    layers += _marks(go, found, positions, palette)
    layers += _ends(go, found, positions, palette)
    made = go.Figure([layer for layer in layers if layer is not None])
    made.update_layout(**_layout(palette, mapped=ground is not None))
    if ground is not None:
        _look_at(made, found, positions)
    return made


def _look_at(made: Any, found: Difference, positions: Mapping[str, tuple[float, float]]) -> None:
    """Open on the two walks, with room around them, not on the whole map."""
    parted = strands(found)
    named = {
        id for moves in (parted.both, parted.only_a, parted.only_b) for pair in moves for id in pair
    }
    points = [
        positions[id]
        for id in (*named, *found.a.result.evidence, *found.b.result.evidence)
        if id in positions
    ]
    if not points:
        return
    for axis, values in zip(("xaxis", "yaxis"), zip(*points, strict=True), strict=True):
        room = max(max(values) - min(values), 1e-6) * 0.25 + 1e-3
        made.update_layout({axis: {"range": [min(values) - room, max(values) + room]}})


def text_of(found: Difference) -> str:
    """What the picture shows, for those who do not see it."""
    parted = strands(found)
    return (
        f"Two walks on one picture: {len(parted.both)} moves of both, {len(parted.only_a)} of A "
        f"alone, {len(parted.only_b)} of B alone."
    )


def _positions(found: Difference) -> tuple[dict[str, tuple[float, float]], Any]:
    a, b = found.a.map, found.b.map
    if (
        a is not None
        and b is not None
        and a.kind == b.kind
        and found.a.corpus.fingerprint == found.b.corpus.fingerprint
    ):
        return {**a.positions, **b.positions}, b.background
    return _tracks(found), None


def _tracks(found: Difference) -> dict[str, tuple[float, float]]:
    """Both walks from left to right; what both named lies between what one alone did."""
    ours, theirs = (_order(trace) for trace in (found.a, found.b))
    placed: dict[str, tuple[float, float]] = {}
    for id, x in {**ours, **theirs}.items():
        side = 0.0 if id in ours and id in theirs else _ABOVE if id in ours else -_ABOVE
        placed[id] = (float(x), side)
    return placed


def _order(trace: Trace) -> dict[str, int]:
    """The nodes of a walk, each with the column in which it is reached."""
    columns: dict[str, int] = {}
    for number, id in enumerate(trace.result.path):
        columns.setdefault(id, number)
    for source, target in moves_of(trace):
        columns.setdefault(source, 0)
        columns.setdefault(target, columns[source] + 1)
    return columns


def _lines(
    go: Any,
    name: str,
    moves: Sequence[Strand],
    positions: Mapping[str, tuple[float, float]],
    colour: str,
    dash: str,
    width: float,
) -> Any:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for source, target in moves:
        if source in positions and target in positions:
            (ax, ay), (bx, by) = positions[source], positions[target]
            xs += [ax, bx, None]
            ys += [ay, by, None]
    if not xs:
        return None
    return go.Scatter(
        x=xs,
        y=ys,
        mode="lines",
        name=name,
        line={"color": colour, "dash": dash, "width": width},
        opacity=0.85,
        hoverinfo="skip",
    )


def _marks(
    go: Any, found: Difference, positions: Mapping[str, tuple[float, float]], palette: Palette
) -> list[Any]:
    """The passages that were found, numbered as in the run that found them."""
    ours, theirs = (_numbers_of(trace) for trace in (found.a, found.b))
    walked = dict.fromkeys([*ours, *theirs])
    groups = (
        (
            "Found by both",
            [id for id in walked if id in ours and id in theirs],
            "circle",
            palette.ink,
        ),
        ("Found by A alone", [id for id in walked if id not in theirs], "diamond", palette.goal),
        ("Found by B alone", [id for id in walked if id not in ours], "square", palette.path),
    )
    made = []
    for name, ids, symbol, colour in groups:
        there = [id for id in ids if id in positions]
        if not there:
            continue
        numbers = [_number(ours.get(id), theirs.get(id)) for id in there]
        made.append(
            go.Scatter(
                x=[positions[id][0] for id in there],
                y=[positions[id][1] for id in there],
                mode="markers+text",
                name=name,
                marker={
                    "symbol": symbol,
                    "size": [24 if len(number) < 3 else 31 for number in numbers],
                    "color": colour,
                    # Markers of several sizes would else be drawn half transparent.
                    "opacity": 1,
                    "line": {"width": 1.5, "color": palette.paper},
                },
                text=[f"<b>{number}</b>" for number in numbers],
                textfont={"color": palette.paper, "size": 11},
                customdata=[[id] for id in there],
                hovertext=[_hover(node_of(found, id)) for id in there],
                hovertemplate="%{hovertext}<extra></extra>",
                unselected={"marker": {"opacity": 1}},
            )
        )
    return made


def _hover(node: Node) -> str:
    """A node's title and place for plotly, which reads a little markup: escaped, in short lines."""
    lines = (hover_text(title(node)), hover_text(place(node), most=2))
    return "<br>".join(line for line in lines if line)


def _numbers_of(trace: Trace) -> dict[str, int]:
    order = dict(frame(trace, last(trace)).order)
    for id in trace.result.evidence:
        order.setdefault(id, len(order) + 1)
    return order


def _number(ours: int | None, theirs: int | None) -> str:
    if ours is None or theirs is None or ours == theirs:
        return str(ours if theirs is None else theirs)
    return f"{ours}|{theirs}"


def _ends(
    go: Any, found: Difference, positions: Mapping[str, tuple[float, float]], palette: Palette
) -> list[Any]:
    looks = {
        NodeKind.QUERY: ("Question", "diamond-open", palette.query, 17),
        NodeKind.GOAL: ("Goal", "star-open", palette.query, 19),
    }
    made, seen = [], set()
    for node in (*found.b.nodes, *found.a.nodes):
        if node.kind not in looks or node.id in seen or node.id not in positions:
            continue
        seen.add(node.id)
        name, symbol, colour, size = looks[node.kind]
        x, y = positions[node.id]
        made.append(
            go.Scatter(
                x=[x],
                y=[y],
                mode="markers",
                name=name,
                marker={"symbol": symbol, "size": size, "color": colour, "line": {"width": 3}},
                hoverinfo="name",
            )
        )
    return made


def _layout(palette: Palette, *, mapped: bool) -> dict[str, Any]:
    axis = {"visible": False, "zeroline": False, "showgrid": False}
    return {
        "height": HEIGHT,
        "margin": {"l": 6, "r": 6, "t": 6, "b": 6},
        **map_backdrop(palette),
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "xaxis": axis,
        "yaxis": {**axis, "scaleanchor": "x"} if mapped else {**axis, "range": [-1.6, 1.6]},
        "dragmode": "pan",
        "uirevision": "difference",
    }
