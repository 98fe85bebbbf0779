"""One map for several methods: the same passages, the same projection, one path a colour.

A passage that several methods found carries all their markers, one inside the other, and lines
that run the same way lie side by side, so that nothing hides. Positions of the question, of the
goal and of moved queries were placed into a map that was fitted without them, and are approximate.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tracert.comparing.budget import Entry
from tracert.comparing.moves import Move, moves
from tracert.render.compare_looks import look, short
from tracert.render.map import GL_FROM, Ground
from tracert.render.palette import PALETTES, Palette, Theme
from tracert.render.plotted import hover_text, map_backdrop
from tracert.render.words import place, title
from tracert.trace import Node, NodeKind

HEIGHT: Final = 560
#: Size in pixels of the innermost marker, and how much larger each further one is.
_INNER, _RING = 12, 7
#: How far apart parallel lines lie, as a share of the map's width.
_BESIDE: Final = 0.0045

Point = tuple[float, float]


def last_hop(entries: Sequence[Entry]) -> int:
    """The farthest hop that any of the methods makes."""
    return max((move.hop for entry in entries for move in moves(entry.trace)), default=0)


def figure(
    entries: Sequence[Entry],
    hop: int,
    *,
    theme: Theme,
    ground: Ground | None,
    gold: Sequence[Collection[str]] = (),
    selected: str | None = None,
    highlighted: str | None = None,
) -> Any:
    """The map with all moves up to a hop, as a `plotly.graph_objects.Figure`.

    `highlighted` is the method that is drawn strong while the others stand back. Each point that
    names a passage carries its id as `customdata[0]`.
    """
    import plotly.graph_objects as go

    palette = PALETTES[theme]
    places = _places(entries, ground)
    layers = _ground(go, ground, palette)
    layers += _gold(go, gold, places)
    width = _width(places.values())
    for slot, entry in enumerate(entries):
        faint = highlighted is not None and highlighted != entry.method
        layers += _path(go, entry, slot, len(entries), hop, theme, places, width, faint=faint)
    layers += _question(go, entries, palette)
    if selected in places:
        x, y = places[str(selected)]
        ring = {"symbol": "circle-open", "size": 48, "color": palette.ink, "line": {"width": 2.5}}
        layers.append(
            go.Scatter(x=[x], y=[y], mode="markers", name="Selected", marker=ring, hoverinfo="skip")
        )
    made = go.Figure(layers)
    plane = next((entry.trace.map for entry in entries if entry.trace.map is not None), None)
    kind = "" if plane is None else plane.kind
    fingerprint = entries[0].trace.corpus.fingerprint if entries else ""
    made.update_layout(**_layout(palette, f"{kind}:{fingerprint}", places))
    return made


def text_of_map(entries: Sequence[Entry], hop: int) -> str:
    """What the map shows, for those who do not see it."""
    parts = []
    for entry in entries:
        reached = [id for id in entry.own if entry.hops.get(id, 0) <= hop]
        parts.append(f"{short(entry.method)} has found {len(reached)}")
    return f"Map of the passages with one path a method. Up to hop {hop}: {', '.join(parts)}."


def said(
    entries: Sequence[Entry], hop: int, gold: Sequence[Collection[str]], unit: str = "passage"
) -> str:
    """What each method finds at this hop, in one line; gold passages by their numbers."""
    if hop < 1:
        return f"Hop 0: the question is placed, and no {unit} is found yet."
    parts = []
    for entry in entries:
        new = [id for id in entry.own if entry.hops.get(id) == hop]
        hit = [
            str(number)
            for number, chunks in enumerate(gold, start=1)
            if not set(chunks).isdisjoint(new)
        ]
        star = f" (gold {', '.join(hit)})" if hit else ""
        parts.append(f"{short(entry.method)} +{len(new)}{star}")
    return f"Hop {hop} finds: {' · '.join(parts)}"


# --- where things lie -----------------------------------------------------------------------------


def _places(entries: Sequence[Entry], ground: Ground | None) -> dict[str, Point]:
    """The positions of all passages; nodes that are no passages are each trace's own."""
    places: dict[str, Point] = {}
    if ground is not None:
        pairs = zip(ground.ids, ground.positions.tolist(), strict=False)
        places = {id: (x, y) for id, (x, y) in pairs}
    for entry in entries:
        if entry.trace.map is not None:
            passages = {
                node.id
                for node in entry.trace.nodes
                if node.kind in (NodeKind.CHUNK, NodeKind.NOTE)
            }
            for id in passages & entry.trace.map.positions.keys():
                places.setdefault(id, entry.trace.map.positions[id])
    return places


def _width(places: Iterable[Point]) -> float:
    xs = [x for x, _ in places]
    return max(xs) - min(xs) if xs else 1.0


def _aside(source: Point, target: Point, slot: int, of: int, width: float) -> tuple[Point, Point]:
    """The line moved sideways, so that those of several methods lie beside one another."""
    dx, dy = target[0] - source[0], target[1] - source[1]
    length = float(np.hypot(dx, dy)) or 1.0
    by = (slot - (of - 1) / 2) * _BESIDE * width
    ox, oy = -dy / length * by, dx / length * by
    return (source[0] + ox, source[1] + oy), (target[0] + ox, target[1] + oy)


# --- the layers -----------------------------------------------------------------------------------


def _ground(go: Any, ground: Ground | None, palette: Palette) -> list[Any]:
    if ground is None:
        return []
    kind = go.Scattergl if len(ground.positions) > GL_FROM else go.Scatter
    labels = ground.labels or {}
    return [
        kind(
            x=ground.positions[:, 0],
            y=ground.positions[:, 1],
            mode="markers",
            name="Passages",
            showlegend=False,
            customdata=[[id] for id in ground.ids] or None,
            text=[hover_text(labels.get(id, id)) for id in ground.ids] or None,
            hovertemplate="%{text}<extra></extra>" if ground.ids else None,
            hoverinfo=None if ground.ids else "skip",
            marker={
                "size": 7 if len(ground.positions) < 1500 else 4,
                "color": palette.rejected,
                "opacity": 0.38,
            },
            unselected={"marker": {"opacity": 0.38}},
        )
    ]


def _gold(go: Any, gold: Sequence[Collection[str]], places: Mapping[str, Point]) -> list[Any]:
    points = [
        (*places[id], id, number)
        for number, chunks in enumerate(gold, start=1)
        for id in sorted(chunks)
        if id in places
    ]
    if not points:
        return []
    return [
        go.Scatter(
            x=[point[0] for point in points],
            y=[point[1] for point in points],
            mode="markers",
            name="Gold",
            marker={
                "symbol": "star",
                "size": 40,
                "color": "#f2c230",
                "opacity": 0.55,
                "line": {"width": 1.5, "color": "#a07800"},
            },
            customdata=[[point[2]] for point in points],
            text=[f"Gold passage {point[3]}" for point in points],
            hovertemplate="%{text}<extra></extra>",
            unselected={"marker": {"opacity": 0.55}},
        )
    ]


def _path(
    go: Any,
    entry: Entry,
    slot: int,
    of: int,
    hop: int,
    theme: Theme,
    places: Mapping[str, Point],
    width: float,
    *,
    faint: bool,
) -> list[Any]:
    style, nodes = look(entry.method), {node.id: node for node in entry.trace.nodes}
    colour, opacity = style.colour(theme), 0.12 if faint else 1.0
    own = entry.trace.map.positions if entry.trace.map is not None else {}
    at = {**own, **places}
    wanted = _leading(entry, nodes)
    taken = [move for move in moves(entry.trace) if move.hop <= hop and move in wanted]
    layers = []
    lines = [move for move in taken if move.source in at and move.target in at]
    if lines:
        layers.append(_lines_of(go, lines, at, slot, of, width, style.dash, colour, opacity))
    between = [move.target for move in lines if nodes[move.target].kind not in _PASSAGES]
    if between:
        goals = [id for id in between if nodes[id].kind is NodeKind.GOAL]
        others = [id for id in between if id not in goals]
        layers += [
            _between(go, entry, ids, at, nodes, colour, opacity) for ids in (others, goals) if ids
        ]
    found = [id for id in entry.own if id in at and entry.hops.get(id, 0) <= hop]
    nowhere: list[Any] = [None]  # a layer without points would have no line in the legend
    layers.append(
        go.Scatter(
            x=[at[id][0] for id in found] or nowhere,
            y=[at[id][1] for id in found] or nowhere,
            mode="markers",
            name=short(entry.method),
            marker={
                "symbol": f"{style.symbol}-open",
                "size": _INNER + _RING * slot,
                "color": colour,
                "opacity": opacity,
                "line": {"width": 2.6},
            },
            customdata=[[id] for id in found],
            text=[_hover(entry, id, nodes.get(id)) for id in found],
            hovertemplate="%{text}<extra></extra>",
            unselected={"marker": {"opacity": opacity}},
        )
    )
    return layers


_PASSAGES: Final = (NodeKind.CHUNK, NodeKind.NOTE)


def _leading(entry: Entry, nodes: Mapping[str, Node]) -> set[Move]:
    """The moves that lead to what the method is credited with, and those between its queries."""
    made = moves(entry.trace)
    before: dict[str, list[Move]] = {}
    for move in made:
        before.setdefault(move.target, []).append(move)
    wanted: set[Move] = set()
    ends = [*entry.own, *(id for id, node in nodes.items() if node.kind in _ENDS)]
    queue = [id for id in ends if id in before]
    while queue:
        for move in before.get(queue.pop(), ()):
            if move not in wanted:
                wanted.add(move)
                queue.append(move.source)
    return wanted


_ENDS: Final = (NodeKind.GOAL, NodeKind.HOP)


def _lines_of(
    go: Any,
    lines: Sequence[Move],
    at: Mapping[str, Point],
    slot: int,
    of: int,
    width: float,
    dash: str,
    colour: str,
    opacity: float,
) -> Any:
    xs: list[float | None] = []
    ys: list[float | None] = []
    sizes: list[float] = []
    for move in lines:
        start, end = _aside(at[move.source], at[move.target], slot, of, width)
        xs += [start[0], end[0], None]
        ys += [start[1], end[1], None]
        sizes += [0, 9, 0]
    return go.Scatter(
        x=xs,
        y=ys,
        mode="lines+markers",
        showlegend=False,
        hoverinfo="skip",
        opacity=0.85 * opacity,
        line={"width": 2, "color": colour, "dash": dash},
        marker={
            "symbol": "arrow",
            "angleref": "previous",
            "size": sizes,
            "color": colour,
            "standoff": 7,
        },
        unselected={"marker": {"opacity": opacity}},
    )


def _between(
    go: Any,
    entry: Entry,
    ids: Sequence[str],
    at: Mapping[str, Point],
    nodes: Mapping[str, Node],
    colour: str,
    opacity: float,
) -> Any:
    """Stations on the way that are no passages: moved queries and entities, or the goal."""
    ids = list(dict.fromkeys(ids))
    goal = all(nodes[id].kind is NodeKind.GOAL for id in ids)
    names = [f"{short(entry.method)}: {title(nodes[id])}" for id in ids]
    return go.Scatter(
        x=[at[id][0] for id in ids],
        y=[at[id][1] for id in ids],
        mode="markers",
        name=f"Goal of {short(entry.method)} ≈",
        showlegend=goal,
        marker={
            "symbol": "star" if goal else "circle",
            "size": 15 if goal else 7,
            "color": colour,
            "opacity": opacity,
        },
        text=[hover_text(name) + "<br>placed on the map, so approximate" for name in names],
        hovertemplate="%{text}<extra></extra>",
        unselected={"marker": {"opacity": opacity}},
    )


def _question(go: Any, entries: Sequence[Entry], palette: Palette) -> list[Any]:
    for entry in entries:
        query = next((node for node in entry.trace.nodes if node.kind is NodeKind.QUERY), None)
        if query is None or entry.trace.map is None or query.id not in entry.trace.map.positions:
            continue
        x, y = entry.trace.map.positions[query.id]
        return [
            go.Scatter(
                x=[x],
                y=[y],
                mode="markers+text",
                name="Question ≈",
                text=["<b>?</b>"],
                textfont={"color": palette.paper, "size": 14},
                marker={
                    "symbol": "circle",
                    "size": 24,
                    "color": palette.ink,
                    "line": {"width": 2, "color": palette.paper},
                },
                hovertext=[hover_text(query.text)],
                hovertemplate="%{hovertext}<extra></extra>",
                unselected={"marker": {"opacity": 1}},
            )
        ]
    return []


def _hover(entry: Entry, id: str, node: Node | None) -> str:
    lines = [hover_text(title(node)), hover_text(place(node))] if node is not None else []
    hop = entry.hops.get(id)
    rank = f"{html.escape(short(entry.method))}: rank {entry.rank(id)}"
    lines.append(rank if hop is None else f"{rank}, hop {hop}")
    return "<br>".join(line for line in lines if line)


def _range(values: Sequence[float]) -> list[float]:
    """The values with a margin on both sides; plotly's own margin grows with the markers."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = 0.06 * ((high - low) or 1.0)
    return [low - margin, high + margin]


def _layout(palette: Palette, revision: str, places: Mapping[str, Point]) -> dict[str, Any]:
    axis = {"visible": False, "fixedrange": False}
    xs, ys = ([point[axis_] for point in places.values()] for axis_ in (0, 1))
    return {
        "height": HEIGHT,
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        **map_backdrop(palette),
        "legend": {
            "orientation": "h",
            "x": 0,
            # Below: above it, with five methods, it would reach under the full-screen button.
            "y": 0.0,
            "yanchor": "top",
            "font": {"size": 13},
            "itemsizing": "constant",
            "itemclick": False,
            "itemdoubleclick": False,
        },
        "xaxis": {**axis, "range": _range(xs)},
        "yaxis": {**axis, "range": _range(ys), "scaleanchor": "x", "scaleratio": 1},
        "dragmode": "pan",
        "clickmode": "event+select",
        "uirevision": revision,
        "selectionrevision": "none",
    }
