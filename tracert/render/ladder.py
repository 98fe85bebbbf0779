"""The ladder of scores: every note that was weighed by hop and score, with both thresholds."""

from __future__ import annotations

import html
from typing import Any, Final

from tracert.render.frames import frame
from tracert.render.palette import PALETTES, Palette, Theme
from tracert.render.plotted import backdrop
from tracert.trace import Trace

HEIGHT: Final = 300
_SYMBOLS: Final = {
    "chosen": ("circle", "Chosen", 13),
    "lower_score": ("circle-open", "Lower score", 9),
    "visited": ("square-open", "Visited", 8),
    "below_threshold": ("line-ew", "Below threshold", 9),
    "not_offered": ("x-thin", "Not offered", 9),
}
_COLOURS: Final = {"chosen": "path", "lower_score": "kept"}


def rungs(trace: Trace, at: int) -> list[tuple[float, float, str, str]]:
    """What was weighed up to a frame: (hop, score, id, rule), each note once a hop.

    The entry points stand at hop 1; what the note of hop h offers stands at hop h + 1.
    """
    found: dict[tuple[float, str], tuple[float, float, str, str]] = {}
    for step in trace.steps[: frame(trace, at).index]:
        hop = step.values.get("hop")
        if not isinstance(hop, int | float):
            continue
        by_model = step.values.get("asked_view") is not None
        ahead = 1.0 if step.action == "explore" and not by_model else 0.0
        for item in step.candidates:
            score = item.values.get("score")
            if not isinstance(score, int | float):
                continue
            if step.action in ("focus", "fallback") and item.rule != "chosen":
                continue
            key = (hop + ahead, item.id)
            if key not in found or item.rule == "chosen":
                found[key] = (hop + ahead, float(score), item.id, item.rule)
    return list(found.values())


def figure(trace: Trace, at: int, *, theme: Theme = "light", selected: str | None = None) -> Any:
    """The ladder at a frame, as a `plotly.graph_objects.Figure`; ids are in `customdata`."""
    import plotly.graph_objects as go

    palette = PALETTES[theme]
    weighed = rungs(trace, at)
    names = {node.id: node.label for node in trace.nodes}
    layers = [_rail(go, weighed, palette)]
    for rule, (symbol, label, size) in _SYMBOLS.items():
        rows = [row for row in weighed if row[3] == rule]
        if rows:
            colour = palette.colour(_COLOURS.get(rule, "rejected"))
            layers.append(
                go.Scatter(
                    x=[row[0] for row in rows],
                    y=[row[1] for row in rows],
                    mode="markers",
                    name=label,
                    customdata=[[row[2]] for row in rows],
                    text=[html.escape(names.get(row[2], row[2])) for row in rows],
                    hovertemplate="%{text}<br>hop %{x:.0f}, score %{y:.1f}<extra></extra>",
                    marker={
                        "symbol": symbol,
                        "size": size,
                        "color": colour,
                        "line": {"width": 2, "color": colour},
                    },
                )
            )
    ring = [row for row in weighed if row[2] == selected]
    if ring:
        layers.append(
            go.Scatter(
                x=[row[0] for row in ring],
                y=[row[1] for row in ring],
                mode="markers",
                name="Selected",
                hoverinfo="skip",
                marker={
                    "symbol": "circle-open",
                    "size": 22,
                    "color": palette.ink,
                    "line": {"width": 2.5},
                },
            )
        )
    made = go.Figure(layers)
    _thresholds(made, trace, palette)
    last = max((row[0] for row in weighed), default=1.0)
    made.update_layout(**_layout(last, palette))
    return made


def _rail(go: Any, weighed: list[tuple[float, float, str, str]], palette: Palette) -> Any:
    """The line through the best note chosen at each hop."""
    best: dict[float, float] = {}
    for hop, score, _, rule in weighed:
        if rule == "chosen":
            best[hop] = max(best.get(hop, 0.0), score)
    hops = sorted(best)
    return go.Scatter(
        x=hops,
        y=[best[hop] for hop in hops],
        mode="lines",
        name="Trail",
        showlegend=False,
        hoverinfo="skip",
        line={"color": palette.path, "width": 3},
    )


def _thresholds(made: Any, trace: Trace, palette: Palette) -> None:
    for name, label, dash in (
        ("explore_threshold", "follow from", "dot"),
        ("answer_threshold", "open from", "dash"),
    ):
        value = trace.settings.get(name)
        if isinstance(value, int | float):
            made.add_hline(
                y=value,
                line={"color": palette.ink, "width": 1.5, "dash": dash},
                annotation={
                    "text": f"{label} {value:g}",
                    "font": {"color": palette.ink, "size": 12},
                    "xanchor": "right",
                    "yanchor": "top" if name == "explore_threshold" else "bottom",
                },
            )


def _layout(last: float, palette: Palette) -> dict[str, Any]:
    return {
        "height": HEIGHT,
        "margin": {"l": 44, "r": 8, "t": 8, "b": 40},
        **backdrop(palette),
        "hoverlabel": {"bgcolor": palette.paper, "font": {"color": palette.ink}},
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "font": {"size": 12},
            "itemclick": False,
            "itemdoubleclick": False,
        },
        "xaxis": {
            "title": {"text": "hop"},
            "dtick": 1,
            "range": [0.6, last + 0.8],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        "yaxis": {
            "title": {"text": "score"},
            "range": [-4, 106],
            "gridcolor": palette.panel,
            "zeroline": False,
            "fixedrange": True,
        },
        "clickmode": "event+select",
        "selectionrevision": "none",
    }


def text_of_ladder(trace: Trace, at: int) -> str:
    """What the ladder shows, for those who do not see it."""
    best: dict[float, tuple[float, str]] = {}
    for hop, score, id, rule in rungs(trace, at):
        if rule == "chosen" and score >= best.get(hop, (0.0, ""))[0]:
            best[hop] = (score, id)
    names = {node.id: node.label for node in trace.nodes}
    rows = [f"hop {hop:g}: {names.get(best[hop][1])} at {best[hop][0]:.0f}" for hop in sorted(best)]
    return f"Ladder of scores by hop. {'; '.join(rows) or 'Nothing was weighed yet'}."
