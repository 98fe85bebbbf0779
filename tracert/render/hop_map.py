"""A walk whose query moves, drawn over the map: the queries, their arrows, what they found.

An arrow runs from a query to each query that was made of it, for every branch that survives; a
branch whose query kept nothing is a dotted line. Thin lines lead from a query to what it kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tracert.render import tree
from tracert.render.frames import Frame
from tracert.render.palette import Palette
from tracert.trace import Map, Trace

#: Draws points of these ids under this name with this marker, if the map has any of them.
Marks = Callable[..., list[Any]]
#: Passages of this step that a rule ended, as far as they are drawn.
ENDED = 40


def layers(
    go: Any,
    marks: Marks,
    trace: Trace,
    now: Frame,
    palette: Palette,
    plain: Sequence[Sequence[float]],
) -> list[Any]:
    """The layers under the kept passages; `plain` is where those of plain top-k lie."""
    plane = trace.map
    if plane is None:
        return []
    made: list[Any] = []
    if plain:
        made.append(
            go.Scatter(
                x=[x for x, _ in plain],
                y=[y for _, y in plain],
                mode="markers",
                name="Top-k",
                marker={
                    "symbol": "square-open",
                    "size": 27,
                    "color": palette.kept,
                    "line": {"width": 2},
                },
                hoverinfo="skip",
                unselected={"marker": {"opacity": 1}},
            )
        )
    if now.step is not None:
        ended = [item.id for item in now.step.candidates if not item.kept][:ENDED]
        ring = {"symbol": "circle-open", "size": 9, "color": palette.faint, "line": {"width": 2}}
        made += marks([id for id in ended if id not in now.order], "Ended", ring)
    lost = [(one.parent, one.id) for one in _made(trace, now) if not _survives(trace, now, one)]
    found = [
        (one.id, id)
        for one in tree.queries(trace)[: now.index]
        for id in tree.kept(trace.steps[one.step])
    ]
    made += _lines(go, plane, found, palette.path, 1.2, "solid", 0.55)
    made += _lines(go, plane, lost, palette.query, 1.6, "dot", 0.7)
    return made


def queries(
    go: Any, marks: Marks, trace: Trace, now: Frame, palette: Palette, selected: str | None
) -> list[Any]:
    """The moved queries as hollow triangles with their names."""
    plane = trace.map
    shown = [one for one in _made(trace, now) if plane is not None and one.id in plane.positions]
    if plane is None or not shown:
        return []
    marker = {
        "symbol": ["triangle-up" if one.id == selected else "triangle-up-open" for one in shown],
        "size": 15,
        "color": palette.query,
        "line": {"width": 2.5},
    }
    made = marks([one.id for one in shown], "Moved q ≈", marker)
    made.append(
        go.Scatter(
            x=[plane.positions[one.id][0] for one in shown],
            y=[plane.positions[one.id][1] for one in shown],
            mode="text",
            text=[f"<b>{one.name}</b>" for one in shown],
            textposition="top center",
            textfont={"color": palette.query, "size": 14},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    return made


def moves(trace: Trace, now: Frame) -> list[tuple[str, str]]:
    """From query to query, for every branch that survives in this frame."""
    return [
        (one.parent, one.id)
        for one in _made(trace, now)
        if one.parent is not None and _survives(trace, now, one)
    ]


def text(trace: Trace, now: Frame) -> str:
    """What the layers show, for those who do not see them."""
    names = [one.name for one in _made(trace, now)]
    said = f"the question moved to {', '.join(names)}" if names else "the question, not yet moved"
    return f"{said}; kept so far: {len(now.order)} passages."


def _made(trace: Trace, now: Frame) -> Iterator[tree.Query]:
    """The moved queries that this frame has: all of its own hop and of the hops before."""
    known = tree.queries(trace)
    hop = known[now.index - 1].hop if now.index else 0
    return (one for one in known[1:] if one.hop <= hop and one.parent is not None)


def _survives(trace: Trace, now: Frame, query: tree.Query) -> bool:
    """Whether a branch goes on: its query has not searched yet, or kept something."""
    return query.step >= now.index or bool(tree.kept(trace.steps[query.step]))


def _lines(
    go: Any,
    plane: Map,
    pairs: Sequence[tuple[str | None, str]],
    colour: str,
    width: float,
    dash: str,
    opacity: float,
) -> list[Any]:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for source, target in pairs:
        if source is not None and source in plane.positions and target in plane.positions:
            (ax, ay), (bx, by) = plane.positions[source], plane.positions[target]
            xs += [ax, bx, None]
            ys += [ay, by, None]
    if not xs:
        return []
    return [
        go.Scatter(
            x=xs,
            y=ys,
            mode="lines",
            line={"color": colour, "width": width, "dash": dash},
            opacity=opacity,
            hoverinfo="skip",
            showlegend=False,
        )
    ]
