"""Two pictures of an evaluation: recall against passages used, and against milliseconds.

Every method has a colour, a symbol and a line of its own and its name at its end, so that none is
told by colour alone; the whiskers are 95% intervals over questions.
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tracert.render.compare_looks import look
from tracert.render.palette import PALETTES, Palette, Theme
from tracert.render.plotted import backdrop

HEIGHT: Final = 380
#: Characters of a name that stand beside a point; the rest is in the hover.
_NAME: Final = 20
#: The size in pixels that names are placed for: a plot in half a window, and a letter.
_PLOT: Final = (440.0, 310.0)
_LETTER: Final = (7.4, 17.0)
#: The least distance of two names, as a share of the axis.
_GAP: Final = 0.075
#: Of plotly's symbols, the letter that looks like it, filled and open.
_LETTERS: Final = {
    "circle": "●○",
    "square": "■□",
    "diamond": "◆◇",
    "star": "★☆",
    "triangle-up": "▲△",
    "hexagon2": "⬢⬡",
    "pentagon": "⬟⬠",
}
#: How the second, third, ... line of one method is told from the first.
_VARIANTS: Final = (("", ""), ("-open", "dot"), ("-dot", "dashdot"), ("-open-dot", "longdashdot"))


@dataclass(frozen=True, slots=True)
class Series:
    """A method of an evaluation, as it is drawn.

    Attributes:
        label: its name.
        curve: mean recall after 1, 2, ... passages.
        recall: at the whole budget: mean, lower and upper end of the interval.
        passages: how many it used, on average.
        ms: milliseconds of a question, median and 95th percentile; None where none were taken.
        method: the method's name, which gives it its colour and symbol.
    """

    label: str
    curve: tuple[float, ...]
    recall: tuple[float, float, float]
    passages: float
    ms: tuple[float, float] | None
    method: str


def by_passages(series: Sequence[Series], *, theme: Theme = "light") -> Any:
    """Recall after so many passages, a line a method, as a `plotly.graph_objects.Figure`."""
    import plotly.graph_objects as go

    palette = PALETTES[theme]
    made = go.Figure()
    low, high = _range(series)
    looks = _looks(series, theme)
    longest = max((len(one.curve) for one in series), default=1)
    apart = 0.028 * longest
    for place, one in enumerate(series):
        colour = looks[place].colour
        name = html.escape(one.label)
        reads = list(range(1, len(one.curve) + 1))
        made.add_scatter(
            x=reads,
            y=one.curve,
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 2.5, "dash": looks[place].dash},
            marker={"symbol": looks[place].symbol, "size": 8, "color": colour},
            hovertemplate=f"{name}<br>%{{y:.3f}} of the gold after %{{x}} passages<extra></extra>",
        )
        mean, below, above = one.recall
        # Whiskers of neighbours stand a little apart, so that both can be read.
        made.add_scatter(
            x=[len(one.curve) + apart * (place + 1)],
            y=[mean],
            mode="markers",
            error_y=_whisker(below - mean, above - mean, colour),
            marker={"symbol": "line-ew", "size": 7, "line": {"color": colour, "width": 2}},
            hovertemplate=f"{name}<br>{mean:.3f}, 95% interval {below:.3f} to {above:.3f}"
            "<extra></extra>",
        )
    end = longest + apart * (len(series) + 1)
    heights = spread([one.recall[0] for one in series], _GAP * (high - low), low, high)
    for place, (one, height) in enumerate(zip(series, heights, strict=True)):
        made.add_annotation(
            x=1.0,
            xref="paper",
            y=height,
            xanchor="left",
            xshift=6,
            showarrow=False,
            text=f"{looks[place].letter} {_short(one.label)}",
            font={"color": looks[place].colour, "size": 13},
        )
    made.update_layout(**_layout(palette, (low, high)))
    widest = max((min(len(one.label), _NAME) for one in series), default=0)
    made.update_layout(margin={"r": 34 + int(_LETTER[0] * widest)})
    made.update_xaxes(
        title={"text": "passages used"},
        tickvals=[1, *range(_tick(longest), longest + 1, _tick(longest))],
        range=[0.7, end],
        zeroline=False,
    )
    return made


def by_time(series: Sequence[Series], *, theme: Theme = "light") -> Any | None:
    """Recall and the median milliseconds of a question, a point a method; None without times."""
    import plotly.graph_objects as go

    timed = [(place, one, one.ms) for place, one in enumerate(series) if one.ms is not None]
    if not timed:
        return None
    palette = PALETTES[theme]
    made = go.Figure()
    low, high = _range([replace(one, curve=()) for one in series])
    left = math.log10(min(max(ms[0], _LEAST) for _, _, ms in timed))
    right = math.log10(max(max(ms[1], _LEAST) for _, _, ms in timed))
    air = 0.14 * max(right - left, 1.0)
    left, right = left - air, right + air
    looks = _looks(series, theme)
    for place, one, (median, slow) in timed:
        colour = looks[place].colour
        mean, below, above = one.recall
        name = html.escape(one.label)
        made.add_scatter(
            x=[max(median, _LEAST)],
            y=[mean],
            mode="markers",
            name=name,
            marker={"symbol": looks[place].symbol, "size": 13, "color": colour},
            error_y=_whisker(below - mean, above - mean, colour),
            error_x=_whisker(0.0, slow - median, colour),
            hovertemplate=f"{name}<br>recall {mean:.3f}, median {median:,.1f} ms, 95th percentile "
            f"{slow:,.1f} ms<extra></extra>",
        )
    points = [
        (math.log10(max(median, _LEAST)), math.log10(max(slow, _LEAST)), one.recall)
        for _, one, (median, slow) in timed
    ]
    names = [_short(one.label) for _, one, _ in timed]
    places = _beside(points, [len(name) for name in names], (left, right), (low, high))
    for (place, _, _), name, where in zip(timed, names, places, strict=True):
        made.add_annotation(
            **where,
            showarrow=False,
            text=name,
            font={"color": looks[place].colour, "size": 13},
        )
    made.update_layout(**_layout(palette, (low, high)))
    made.update_xaxes(
        type="log",
        title={"text": "ms a question: median, to 95th percentile"},
        range=[left, right],
        dtick=1,
        zeroline=False,
    )
    return made


def text_of(series: Sequence[Series]) -> str:
    """What both pictures show, for those who do not see them."""
    rows = []
    for one in series:
        mean, low, high = one.recall
        took = "" if one.ms is None else f", {one.ms[0]:,.1f} ms in the median"
        rows.append(
            f"{one.label}: recall {mean:.3f} ({low:.3f} to {high:.3f}) with {one.passages:.1f} "
            f"passages{took}"
        )
    return f"Recall of each method. {'; '.join(rows)}."


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights as near to the wanted ones as they can be, at least `gap` apart, in their order.

    Groups that are too near are centred on the mean of what they want (pool adjacent violators),
    and moved into `low` to `high`; where the range is too small for all, the gap shrinks.
    """
    count = len(wanted)
    if count > 1:
        gap = min(gap, (high - low) / (count - 1))
    order = sorted(range(count), key=lambda place: (wanted[place], place))
    groups: list[tuple[list[int], float]] = []
    for place in order:
        members, start = [place], min(max(wanted[place], low), max(low, high))
        while groups and groups[-1][1] + gap * len(groups[-1][0]) > start:
            before, _ = groups.pop()
            members = before + members
            # Of members at start, start + gap, ... the start that lies nearest to all.
            start = sum(wanted[one] - gap * at for at, one in enumerate(members)) / len(members)
            start = min(max(start, low), max(low, high - gap * (len(members) - 1)))
        groups.append((members, start))
    heights = [0.0] * count
    for members, start in groups:
        for at, place in enumerate(members):
            heights[place] = start + gap * at
    return heights


# --- inner --------------------------------------------------------------------------------

#: Milliseconds that the axis begins with at the least, since it is logarithmic.
_LEAST: Final = 0.01


def _beside(
    points: Sequence[tuple[float, float, tuple[float, float, float]]],
    lengths: Sequence[int],
    across: tuple[float, float],
    up: tuple[float, float],
) -> list[dict[str, Any]]:
    """Where each name stands, as plotly has it: by its point, covering least of the others.

    Args:
        points: x, the end of its whisker in x, and recall with its interval.
        lengths: letters of each name.
        across: the range of x.
        up: the range of y.
    """
    sx, sy = _PLOT[0] / (across[1] - across[0]), _PLOT[1] / (up[1] - up[0])
    taken: list[_Box] = []
    for x, end, (mean, below, above) in points:
        px, py = (x - across[0]) * sx, (mean - up[0]) * sy
        taken.append((px - 8, py - 8, px + 8, py + 8))
        taken.append((px, py - 2, (end - across[0]) * sx, py + 2))
        taken.append((px - 2, (below - up[0]) * sy, px + 2, (above - up[0]) * sy))
    found = []
    for (x, end, (mean, below, above)), letters in zip(points, lengths, strict=True):
        tall = _LETTER[1] / 2 + 3
        tries = [
            _Try(x, above, "center", 0, tall),
            _Try(x, below, "center", 0, -tall),
            _Try(end, mean, "left", 7, 0),
            _Try(x, mean, "right", -11, 0),
            _Try(x, mean, "left", 9, tall),
            _Try(x, mean, "left", 9, -tall),
            _Try(x, above, "center", 0, 3 * tall),
            _Try(x, below, "center", 0, -3 * tall),
        ]
        boxes = [one.box(letters, (one.x - across[0]) * sx, (one.y - up[0]) * sy) for one in tries]
        best = min(range(len(tries)), key=lambda at: _covers(boxes[at], taken))
        taken.append(boxes[best])
        one = tries[best]
        found.append(
            {"x": one.x, "y": one.y, "xanchor": one.anchor, "xshift": one.dx, "yshift": one.dy}
        )
    return found


#: Left, foot, right, top in pixels.
_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class _Try:
    """A place for a name: a point of the plot, which end stands there, and a shift in pixels."""

    x: float
    y: float
    anchor: str
    dx: float
    dy: float

    def box(self, letters: int, px: float, py: float) -> _Box:
        """What the name covers if its point lies at these pixels."""
        wide, tall = letters * _LETTER[0], _LETTER[1] / 2
        left = px + self.dx - {"left": 0.0, "center": wide / 2, "right": wide}[self.anchor]
        return (left, py + self.dy - tall, left + wide, py + self.dy + tall)


def _covers(box: _Box, taken: Sequence[_Box]) -> float:
    """How much of the others a box covers, and how much of it lies outside the plot."""
    inside = _shared(box, (0.0, 0.0, *_PLOT))
    outside = (box[2] - box[0]) * (box[3] - box[1]) - inside
    return 2 * outside + sum(_shared(box, other) for other in taken)


def _shared(one: _Box, other: _Box) -> float:
    """The area that two boxes (left, foot, right, top) share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    tall = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, wide) * max(0.0, tall)


def _whisker(below: float, above: float, colour: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [max(above, 0.0)],
        "arrayminus": [max(-below, 0.0)],
        "color": colour,
        "thickness": 1.5,
        "width": 3,
    }


def _range(series: Sequence[Series]) -> tuple[float, float]:
    """The recall axis: what is shown, with some air, inside 0 to 1."""
    values = [value for one in series for value in (*one.recall, *one.curve)]
    low, high = min(values, default=0.0), max(values, default=1.0)
    air = max(0.03, 0.08 * (high - low))
    return max(0.0, low - air), min(1.03, high + air)


@dataclass(frozen=True, slots=True)
class _Look:
    """A method's colour, its symbol as plotly calls it and as a letter, and its line."""

    colour: str
    symbol: str
    letter: str
    dash: str


def _looks(series: Sequence[Series], theme: Theme) -> list[_Look]:
    """The looks that the methods have on every page; of one method's variants each its own."""
    seen: Counter[str] = Counter()
    found = []
    for one in series:
        base = look(one.method)
        ending, dash = _VARIANTS[seen[one.method] % len(_VARIANTS)]
        letter = _LETTERS[base.symbol][1 if "open" in ending else 0]
        seen[one.method] += 1
        symbol = f"{base.symbol}{ending}"
        found.append(_Look(base.colour(theme), symbol, letter, dash or base.dash))
    return found


def _short(label: str) -> str:
    cut = label if len(label) <= _NAME else f"{label[: _NAME - 1]}…"
    return html.escape(cut)


def _tick(longest: int) -> int:
    return max(1, math.ceil(longest / 10))


def _layout(palette: Palette, heights: tuple[float, float]) -> dict[str, Any]:
    return {
        "height": HEIGHT,
        "margin": {"l": 48, "r": 12, "t": 12, "b": 48},
        **backdrop(palette),
        "hoverlabel": {"bgcolor": palette.paper, "font": {"color": palette.ink}},
        "showlegend": False,
        "xaxis": {"showgrid": False, "fixedrange": True, "linecolor": palette.faint},
        "yaxis": {
            "title": {"text": "recall"},
            "range": list(heights),
            "gridcolor": palette.panel,
            "zeroline": False,
            "fixedrange": True,
            "tickformat": ".2f",
        },
    }
