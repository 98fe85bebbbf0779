"""Walks that keep several things a step: plain top-k, and entities, communities and passages.

Such a walk is drawn from left to right: the question, the entities that it chose with their
communities as circles around them, and the passages, those kept in a column by rank. Every
kept thing hangs on the one it was reached from (the value parent). A trace may come from
a file, so parents and communities are taken only where they name a node of the trace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tracert.render import tree
from tracert.trace import Node, NodeKind, Trace

Positions = dict[str, tuple[float, float]]
Move = tuple[str, str]

#: The rule that keeps several candidates of a step.
KEPT: Final = "kept"
#: Drawn at most: entities beside those kept, entities of a community, passages beside those kept.
OTHERS, MEMBERS, PASSAGES = 16, 12, 14
#: Pixels: between entities of a community that something was kept of, and of another; around
#: them; between circles.
APART, CLOSE, EDGE, GAP = 54.0, 26.0, 30.0, 34.0
#: Between the question, the circles, the kept passages and the others.
ASIDE, ROW, COLUMN, SMALL = 150.0, 92.0, 470.0, 46.0
#: Width to height of the circles together: the question and the passages stand beside them.
ASPECT: Final = 1.0


@dataclass(frozen=True, slots=True)
class Group:
    """A community drawn as a circle: its node's id and title, centre and radius in pixels."""

    id: str
    title: str
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class Grouped:
    """Where the nodes lie, and the circles under them."""

    positions: Positions
    groups: tuple[Group, ...]


def layered(trace: Trace) -> bool:
    """Whether the steps of this walk keep several things each, and its query does not move."""
    if tree.branches(trace):
        return False
    return any(item.rule == KEPT for step in trace.steps for item in step.candidates)


def kept_moves(trace: Trace, before: int) -> tuple[Move, ...]:
    """What the steps below that index kept, each with what it was reached from."""
    known = {node.id for node in trace.nodes}
    moves: dict[Move, None] = {}
    for step in trace.steps[:before]:
        for item in step.candidates:
            if item.kept:
                parent = _known(item.values.get("parent"), known) or step.source
                if parent != item.id:
                    moves[parent, item.id] = None
    return tuple(moves)


def parents(trace: Trace, index: int) -> dict[str, str]:
    """From what each kept candidate of a step was reached, where that is not the step's source."""
    known = {node.id for node in trace.nodes}
    step = trace.steps[index]
    found = {}
    for item in step.candidates:
        parent = _known(item.values.get("parent"), known)
        if item.kept and parent is not None and parent != step.source:
            found[item.id] = parent
    return found


def shown(trace: Trace, limit: int) -> list[str]:
    """The nodes to draw: all that was kept, then the best of what was not, of each kind."""
    kinds = {node.id: node.kind for node in trace.nodes}
    ids = dict.fromkeys(node.id for node in trace.nodes if node.kind is NodeKind.QUERY)
    ids.update(dict.fromkeys(id for step in trace.steps for id in tree.kept(step)))
    ids.update(dict.fromkeys(trace.result.evidence))
    room = {NodeKind.ENTITY: OTHERS, NodeKind.COMMUNITY: OTHERS, NodeKind.CHUNK: PASSAGES}
    members: dict[str, int] = {}
    for step in trace.steps:
        for item in step.candidates:
            kind = kinds[item.id]
            if item.id in ids or not room.get(kind, 0):
                continue
            group = str(item.values.get("community"))
            members[group] = members.get(group, 0) + 1
            if kind is NodeKind.ENTITY and members[group] > MEMBERS:
                continue
            room[kind] -= 1
            ids[item.id] = None
    held = communities(trace)
    around = dict.fromkeys(held[id] for id in ids if id in held)
    return [*dict.fromkeys([*ids, *around])][:limit]


@lru_cache(maxsize=8)
def communities(trace: Trace) -> Mapping[str, str]:
    """The community of each entity that the steps tell one of, by id."""
    known = {node.id: node.kind for node in trace.nodes}
    found: dict[str, str] = {}
    for step in trace.steps:
        for item in step.candidates:
            group = item.values.get("community")
            if (
                isinstance(group, str)
                and known.get(group) is NodeKind.COMMUNITY
                and known.get(item.id) is NodeKind.ENTITY
            ):
                found.setdefault(item.id, group)
    return found


def layout(trace: Trace, ids: Sequence[str]) -> Grouped:
    """Positions of the shown nodes, and the circles of the communities among them."""
    nodes = {node.id: node for node in trace.nodes}
    there = [nodes[id] for id in ids]
    kept = {id for step in trace.steps for id in tree.kept(step)}
    circles = _circles(trace, there, kept)
    _pack(circles)
    positions: Positions = {}
    groups = []
    for circle in circles:
        positions |= circle.places()
        if circle.node is not None:
            title, at = circle.node.label, (circle.x, circle.y)
            groups.append(Group(circle.node.id, title, *at, circle.radius))
    left = min((c.x - c.radius for c in circles), default=0.0)
    right = max((c.x + c.radius for c in circles), default=0.0)
    asked = [node.id for node in there if node.kind is NodeKind.QUERY]
    for row, id in enumerate(asked):
        positions[id] = (left - ASIDE, row * ROW)
    start = right + ASIDE if circles else left + ASIDE
    high = max((c.y + c.radius for c in circles), default=0.0)
    high -= min((c.y - c.radius for c in circles), default=0.0)
    chunks = [node.id for node in there if node.kind is NodeKind.CHUNK]
    positions |= _passages(trace, chunks, start, high)
    for id in (id for id in ids if id not in positions):
        positions[id] = (left - ASIDE, ROW)
    return Grouped(positions, tuple(groups))


# --- the circles ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Circle:
    """A community with its entities, or one entity by itself; the kept entities come first."""

    node: Node | None
    members: list[str]
    kept: int
    x: float = 0.0
    y: float = 0.0

    @property
    def apart(self) -> float:
        """Pixels between its members."""
        return APART if self.kept else CLOSE

    @property
    def radius(self) -> float:
        """Its members and some room around them."""
        many = len(self.members)
        if not many:
            return EDGE * 0.7
        return EDGE + (self.apart * math.sqrt(many - 0.55) if many > 1 else 0.0)

    def places(self) -> Positions:
        """The members on a spiral from the centre on, the community's node on the rim above."""
        found: Positions = {}
        many = len(self.members)
        for place, id in enumerate(self.members):
            far = 0.0 if many == 1 else self.apart * math.sqrt(place + 0.45)
            # Steps of the golden angle spread points evenly over a disc.
            angle = 2.399963 * place - math.pi / 2
            found[id] = (self.x + far * math.cos(angle), self.y + far * math.sin(angle))
        if self.node is not None:
            found[self.node.id] = (self.x, self.y - self.radius * bool(many))
        return found


def _circles(trace: Trace, there: Iterable[Node], kept: set[str]) -> list[_Circle]:
    held = communities(trace)
    members: dict[str, list[str]] = {}
    alone: list[str] = []
    for node in there:
        if node.kind is NodeKind.ENTITY:
            group = held.get(node.id)
            if group is None:
                alone.append(node.id)
            else:
                members.setdefault(group, []).append(node.id)
    made = []
    for node in there:
        if node.kind is NodeKind.COMMUNITY:
            inside = sorted(members.get(node.id, []), key=lambda id: id not in kept)
            count = sum(id in kept for id in inside) + 100 * (node.id in kept)
            made.append(_Circle(node, inside, count))
    made += [_Circle(None, [id], int(id in kept)) for id in alone]
    return sorted(made, key=lambda one: (-one.kept, -one.radius))


def _pack(circles: Sequence[_Circle]) -> None:
    """Put circle after circle on the first free spot of a spiral that is wider than high."""
    placed: list[_Circle] = []
    for circle in circles:
        turn = 0
        while True:
            far = 9.0 * math.sqrt(turn)
            angle = 2.399963 * turn
            circle.x, circle.y = far * ASPECT * math.cos(angle), far * math.sin(angle)
            if all(
                math.hypot(circle.x - one.x, circle.y - one.y) >= circle.radius + one.radius + GAP
                for one in placed
            ):
                break
            turn += 1
        placed.append(circle)


# --- the passages -----------------------------------------------------------------------------


def _passages(trace: Trace, ids: Sequence[str], x: float, high: float) -> Positions:
    """The kept in a column as high as what is beside it, best on top; then the others."""
    rank = {id: place for place, id in enumerate(trace.result.evidence)}
    kept = sorted((id for id in ids if id in rank), key=rank.__getitem__)
    others = [id for id in ids if id not in rank]
    tall = min(max(ROW, 0.8 * high / max(len(kept), 1)), 2 * ROW)
    found = {id: (x, (place - (len(kept) - 1) / 2) * tall) for place, id in enumerate(kept)}
    most = max(4, round(max(len(kept) * tall, 300.0) / SMALL))
    for place, id in enumerate(others):
        column, row = divmod(place, most)
        rows = min(most, len(others) - column * most)
        at = x + (COLUMN if kept else 0.0) + column * SMALL
        found[id] = (at, (row - (rows - 1) / 2) * SMALL)
    return found


def _known(value: object, known: set[str]) -> str | None:
    return value if isinstance(value, str) and value in known else None
