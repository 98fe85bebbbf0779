"""The map of a trace as a plotly figure: the corpus as ground, the walk drawn over it.

Positions of the question and the goal are approximate (they were placed into a map that was
fitted without them) and drawn hollow. True cosines are on hover. Text of documents is
escaped, since plotly reads a little markup in hover texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tracert.render import groups, hop_map, tree
from tracert.render.frames import Frame, frame
from tracert.render.outline import revealed
from tracert.render.palette import PALETTES, Palette, Theme
from tracert.render.plotted import hover_text, map_backdrop
from tracert.render.words import called, place, title
from tracert.render.words.base import unit
from tracert.trace import Map, NodeKind, Trace

Colour = Literal["position", "similarity", "kept"]
#: More points than this are drawn by WebGL.
GL_FROM = 4000
HEIGHT = 530


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """The points of the corpus, by row: what lies under the walk.

    `positions` (n, 2); `similarity` (n,) cosines to the question; `kept` (n,) the share of
    each point's ten nearest neighbours that the map keeps; `inside` (n,) whether the corridor
    holds it. What is not known is None. `ids` may be empty where the trace alone is there.
    """

    positions: npt.NDArray[np.float32]
    ids: Sequence[str] = ()
    labels: Mapping[str, str] | None = None
    similarity: npt.NDArray[np.float32] | None = None
    kept: npt.NDArray[np.float32] | None = None
    inside: npt.NDArray[np.bool_] | None = None

    def colours(self) -> tuple[Colour, ...]:
        """The ways in which these points can be coloured."""
        known: list[Colour] = ["position"]
        if self.similarity is not None:
            known.append("similarity")
        if self.kept is not None:
            known.append("kept")
        return tuple(known)


#: What a colour of the ground means, and the two ends of its scale.
COLOUR_WORDS: dict[Colour, tuple[str, str, str]] = {
    "position": ("Position in the text", "start", "end"),
    "similarity": ("Cosine to the question", "far", "near"),
    "kept": ("Neighbours that the map keeps", "none", "all"),
}


def ground_of(trace: Trace) -> Ground | None:
    """The ground that the trace itself carries; None where it has no map."""
    if trace.map is None:
        return None
    return Ground(positions=trace.map.background)


def figure(
    trace: Trace,
    at: int,
    *,
    theme: Theme = "light",
    ground: Ground | None = None,
    colour: Colour = "position",
    selected: str | None = None,
    plain: Sequence[str] = (),
) -> Any:
    """The map at a frame, as a `plotly.graph_objects.Figure`; the trace must have a map.

    Where the query moves, `plain` are the passages of plain top-k, to be seen beside. Every
    point that names a passage carries its id as `customdata[0]`. `uirevision` is the map's kind
    and corpus, so that zoom and place survive a step and a setting.
    """
    import plotly.graph_objects as go

    if trace.map is None:
        raise ValueError("the trace has no map")
    ground = ground or Ground(positions=trace.map.background)
    palette = PALETTES[theme]
    now = frame(trace, at)
    plane = trace.map
    layers = _ground(go, ground, palette, colour, f"{unit(trace).capitalize()}s")
    branching = tree.branches(trace)
    marks = partial(_marks, go, trace, plane)
    if branching:
        places = dict(zip(ground.ids, ground.positions.tolist(), strict=False))
        beside = [plane.positions.get(id) or places.get(id) for id in plain]
        layers += hop_map.layers(go, marks, trace, now, palette, [at for at in beside if at])
    else:
        layers += _corridor(go, trace, plane, now, ground, palette)
        layers += _neighbours(go, trace, plane, now, palette)
    layers += _rings(go, plane, now, palette, selected)
    layers += _walk(go, trace, plane, now, palette)
    if branching:
        layers += hop_map.queries(go, marks, trace, now, palette, selected)
    layers += _ends(go, trace, plane, palette)
    made = go.Figure(layers)
    made.update_layout(
        **_layout(plane, trace.corpus.fingerprint, palette),
        annotations=_arrows(
            plane, _moves(trace, now), palette.query if branching else palette.path
        ),
    )
    return made


def selected_ids(event: Any, trace: Trace, ground: Ground | None) -> list[str]:
    """The passages that a selection in the figure names, each checked to exist.

    `event` is what the chart returned: untrusted, since it comes from the browser.
    """
    selection = event.get("selection") if isinstance(event, Mapping) else None
    points = selection.get("points", ()) if isinstance(selection, Mapping) else ()
    known = {node.id for node in trace.nodes} | set(ground.ids if ground is not None else ())
    ids: list[str] = []
    for point in points if isinstance(points, Sequence) else ():
        data = point.get("customdata") if isinstance(point, Mapping) else None
        id = data[0] if isinstance(data, list | tuple) and data else data
        if isinstance(id, str) and id in known and id not in ids:
            ids.append(id)
    return ids


# --- the layers, from the ground up -----------------------------------------------------------


def _ground(go: Any, ground: Ground, palette: Palette, colour: Colour, name: str) -> list[Any]:
    """The corpus: points of the corridor as discs, the others as faint crosses, where known."""
    count = len(ground.positions)
    inside = ground.inside
    if inside is None or not ground.ids:
        faint = not ground.ids
        rows = np.arange(count)
        opacity = 0.45 if faint else 0.85
        return [_dots(go, ground, rows, palette, colour, opacity=opacity, name=name)]
    layers = [_crosses(go, ground, np.flatnonzero(~inside), palette)]
    layers.append(
        _dots(go, ground, np.flatnonzero(inside), palette, colour, opacity=0.9, name="Corridor")
    )
    return layers


def _dots(
    go: Any,
    ground: Ground,
    rows: npt.NDArray[np.intp],
    palette: Palette,
    colour: Colour,
    *,
    opacity: float,
    name: str,
) -> Any:
    count = len(ground.positions)
    heading, low, high = COLOUR_WORDS[colour]
    values: npt.NDArray[Any] = np.linspace(0, 1, count)
    bounds = (0.0, 1.0)
    if colour == "similarity" and ground.similarity is not None:
        values = ground.similarity
        bounds = (float(values.min()), float(values.max()))
    elif colour == "kept" and ground.kept is not None:
        values = ground.kept
    scale = [[i / (len(palette.scale) - 1), hue] for i, hue in enumerate(palette.scale)]
    kind = go.Scattergl if count > GL_FROM else go.Scatter
    texts, data = _hover(ground, rows)
    return kind(
        x=ground.positions[rows, 0],
        y=ground.positions[rows, 1],
        mode="markers",
        name=name,
        customdata=data,
        text=texts,
        hovertemplate="%{text}<extra></extra>" if texts else None,
        hoverinfo=None if texts else "skip",
        marker={
            "size": 8 if count < 1500 else 4,
            "color": values[rows],
            "cmin": bounds[0],
            "cmax": bounds[1],
            "colorscale": scale,
            "opacity": opacity,
            "line": {"width": 0.6, "color": palette.faint},
            "colorbar": {
                "title": {"text": heading, "side": "top", "font": {"size": 12}},
                "orientation": "h",
                "thickness": 8,
                "len": 0.45,
                "x": 1.0,
                "xanchor": "right",
                "y": -0.01,
                "yanchor": "top",
                "tickvals": list(bounds),
                "ticktext": [low, high],
                "outlinewidth": 0,
            },
        },
        unselected={"marker": {"opacity": opacity}},
    )


def _crosses(go: Any, ground: Ground, rows: npt.NDArray[np.intp], palette: Palette) -> Any:
    kind = go.Scattergl if len(ground.positions) > GL_FROM else go.Scatter
    texts, data = _hover(ground, rows)
    return kind(
        x=ground.positions[rows, 0],
        y=ground.positions[rows, 1],
        mode="markers",
        name="Outside",
        customdata=data,
        text=texts,
        hovertemplate="%{text}<extra></extra>",
        marker={"symbol": "x-thin", "size": 6, "line": {"width": 1, "color": palette.rejected}},
        unselected={"marker": {"opacity": 1}},
    )


def _hover(
    ground: Ground, rows: npt.NDArray[np.intp]
) -> tuple[list[str] | None, list[list[str]] | None]:
    if not ground.ids:
        return None, None
    texts, ids = [], []
    labels = ground.labels or {}
    for row in rows.tolist():
        id = ground.ids[row]
        ids.append([id])
        lines = [hover_text(labels.get(id, id))]
        if ground.similarity is not None:
            lines.append(f"cosine to the question {ground.similarity[row]:.3f}")
        if ground.kept is not None:
            lines.append(f"the map keeps {ground.kept[row]:.0%} of its 10 neighbours")
        texts.append("<br>".join(lines))
    return texts, ids


def _points(plane: Map, ids: Sequence[str]) -> tuple[list[float], list[float], list[str]]:
    there = [id for id in ids if id in plane.positions]
    xs = [plane.positions[id][0] for id in there]
    ys = [plane.positions[id][1] for id in there]
    return xs, ys, there


def _texts(trace: Trace, ids: Sequence[str]) -> list[str]:
    vectors = {node.id: node.vector for node in trace.nodes}
    query = next((node.vector for node in trace.nodes if node.kind is NodeKind.QUERY), None)
    texts = []
    for id in ids:
        node = trace.node(id)
        lines = [hover_text(title(node))]
        if where := place(node):
            lines.append(hover_text(where))
        vector = vectors[id]
        if vector is not None and query is not None and node.kind is not NodeKind.QUERY:
            lines.append(f"cosine to the question {float(vector @ query):.3f}")
        if node.kind in (NodeKind.QUERY, NodeKind.GOAL, NodeKind.HOP):
            lines.append("placed on the map, so approximate")
        texts.append("<br>".join(lines))
    return texts


def _marks(
    go: Any,
    trace: Trace,
    plane: Map,
    ids: Sequence[str],
    name: str,
    marker: dict[str, Any],
    **more: Any,
) -> list[Any]:
    xs, ys, there = _points(plane, ids)
    if not there:
        return []
    return [
        go.Scatter(
            x=xs,
            y=ys,
            mode=more.pop("mode", "markers"),
            name=name,
            marker=marker,
            customdata=[[id] for id in there],
            text=_texts(trace, there),
            hovertemplate="%{text}<extra></extra>",
            unselected={"marker": {"opacity": 1}},
            **more,
        )
    ]


def _corridor(
    go: Any, trace: Trace, plane: Map, now: Frame, ground: Ground, palette: Palette
) -> list[Any]:
    """The corridor as far as the trace names it; with the corpus at hand the ground shows it."""
    if (ground.inside is not None and ground.ids) or groups.layered(trace):
        return []
    if unit(trace) == "note":
        seen = [id for step in trace.steps[: now.index] for id in revealed(trace, step)]
        marker = {
            "symbol": "circle-open",
            "size": 13,
            "color": palette.kept,
            "line": {"width": 2},
        }
        return _marks(go, trace, plane, list(dict.fromkeys(seen)), "Revealed", marker)
    within = {
        item.id
        for step in trace.steps
        for item in step.candidates
        if item.rule not in ("outside_radius", "below_k")
    }
    ends = {node.id for node in trace.nodes if node.kind in (NodeKind.QUERY, NodeKind.GOAL)}
    marker = {
        "symbol": "circle",
        "size": 8,
        "color": palette.scale[2],
        "opacity": 0.85,
        "line": {"width": 0.6, "color": palette.faint},
    }
    return _marks(go, trace, plane, sorted(within - ends), "Corridor", marker)


def _neighbours(go: Any, trace: Trace, plane: Map, now: Frame, palette: Palette) -> list[Any]:
    if now.step is None:
        return []
    near = [item.id for item in now.step.candidates if item.rule == "dearer"][:40]
    marker = {
        "symbol": "circle-open",
        "size": 13,
        "color": palette.kept,
        "line": {"width": 2},
    }
    return _marks(go, trace, plane, near, "Weighed", marker)


def _walk(go: Any, trace: Trace, plane: Map, now: Frame, palette: Palette) -> list[Any]:
    ids = list(now.order)
    marker = {
        "symbol": "circle",
        "size": 19,
        "color": palette.path,
        "line": {"width": 1.5, "color": palette.paper},
    }
    name = "Kept" if tree.branches(trace) or groups.layered(trace) else "Path"
    made = _marks(go, trace, plane, ids, name, marker, mode="markers")
    xs, ys, there = _points(plane, ids)
    if there:
        made.append(
            go.Scatter(
                x=xs,
                y=ys,
                mode="text",
                text=[f"<b>{now.order[id]}</b>" for id in there],
                textfont={"color": palette.paper, "size": 12},
                hoverinfo="skip",
                showlegend=False,
            )
        )
    return made


def _ends(go: Any, trace: Trace, plane: Map, palette: Palette) -> list[Any]:
    made: list[Any] = []
    looks = {
        NodeKind.QUERY: ("Question ≈", "diamond-open", palette.query, 17),
        NodeKind.GOAL: ("Goal ≈", "star-open", palette.goal, 20),
    }
    for node in trace.nodes:
        if node.kind in looks:
            name, symbol, colour, size = looks[node.kind]
            marker = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 3}}
            id = tree.root(trace) if node.id == tree.hidden(trace) else node.id
            made += _marks(go, trace, plane, [id or node.id], name, marker)
    return made


def _rings(go: Any, plane: Map, now: Frame, palette: Palette, selected: str | None) -> list[Any]:
    made: list[Any] = []
    rings = (
        (now.in_hand, "In hand", 30, 2.0, "circle-open"),
        (selected, "Selected", 27, 2.5, "circle-open-dot"),
    )
    for id, name, size, width, symbol in rings:
        if id is None:
            continue
        xs, ys, there = _points(plane, [id])
        if there:
            made.append(
                go.Scatter(
                    x=xs,
                    y=ys,
                    mode="markers",
                    name=name,
                    marker={
                        "symbol": symbol,
                        "size": size,
                        "color": palette.ink,
                        "line": {"width": width},
                    },
                    hoverinfo="skip",
                )
            )
    return made


def _moves(trace: Trace, now: Frame) -> list[tuple[str, str]]:
    """The moves that are arrows: from passage to passage, or from query to query."""
    if tree.branches(trace):
        return hop_map.moves(trace, now)
    if groups.layered(trace):
        return [(a, b) for a, b in groups.kept_moves(trace, now.index) if b in now.order]
    moves = list(now.trail)
    if now.step is not None and now.step.target is not None:
        moves.append((now.step.source, now.step.target))
    return moves


def _arrows(plane: Map, moves: Sequence[tuple[str, str]], colour: str) -> list[dict[str, Any]]:
    positions = plane.positions
    arrows = []
    for number, (source, target) in enumerate(moves, start=1):
        if source == target or source not in positions or target not in positions:
            continue
        (ax, ay), (x, y) = positions[source], positions[target]
        arrows.append(
            {
                "x": x,
                "y": y,
                "ax": ax,
                "ay": ay,
                "xref": "x",
                "yref": "y",
                "axref": "x",
                "ayref": "y",
                "showarrow": True,
                "arrowhead": 2,
                "arrowsize": 1,
                "arrowwidth": 3.5 if number == len(moves) else 2.2,
                "arrowcolor": colour,
                "opacity": 1 if number == len(moves) else 0.75,
                "standoff": 10,
                "startstandoff": 10,
                "text": "",
            }
        )
    return arrows


def _layout(plane: Map, fingerprint: str, palette: Palette) -> dict[str, Any]:
    axis = {"visible": False, "fixedrange": False}
    return {
        "height": HEIGHT,
        "margin": {"l": 4, "r": 4, "t": 4, "b": 52},
        **map_backdrop(palette),
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.0,
            "yanchor": "bottom",
            "font": {"size": 12},
            "itemwidth": 30,
            "entrywidthmode": "pixels",
            "entrywidth": 62,
            "itemclick": False,
            "itemdoubleclick": False,
            "itemsizing": "constant",
        },
        "xaxis": axis,
        "yaxis": {**axis, "scaleanchor": "x", "scaleratio": 1},
        "dragmode": "pan",
        "clickmode": "event+select",
        "uirevision": f"{plane.kind}:{fingerprint}",
        "selectionrevision": "none",
    }


def text_of_map(trace: Trace, at: int) -> str:
    """What the map shows, for those who do not see it."""
    now = frame(trace, at)
    size = len(trace.map.background) if trace.map else 0
    if tree.branches(trace):
        return f"Map of {size} passages: {hop_map.text(trace, now)}"
    names = [called(trace, now, id) for id in ("query", *now.order) if _known(trace, id)]
    return f"Map of {size} {unit(trace)}s with the path drawn over it: {', then '.join(names)}."


def _known(trace: Trace, id: str) -> bool:
    return any(node.id == id for node in trace.nodes)
