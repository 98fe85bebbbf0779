"""The pictures of a report as SVG: no script, no file, colours from the page's style sheet.

Every method has a colour, a symbol and its name beside it, so that none is told by colour alone.
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tracert.evaluation.metrics import Estimate
from tracert.methods.registry import methods
from tracert.render.compare_looks import look
from tracert.render.evaluation import Series, spread
from tracert.render.palette import Theme

_WIDE, _HIGH = 580, 340
_LEFT, _RIGHT, _TOP, _FOOT = 46, 186, 14, 42
_NAME: Final = 24
_DASHES: Final = ("", "7 4", "2 3", "9 3 2 3")
#: A marker about the origin, by the shape's name.
_SHAPES: Final = {
    "circle": "M0-5a5 5 0 1 0 .01 0Z",
    "square": "M-4.5-4.5h9v9h-9Z",
    "diamond": "M0-6 6 0 0 6-6 0Z",
    "star": "M0-6.5 1.7-2.2 6.2-2 2.7.9 3.9 5.3 0 2.8-3.9 5.3-2.7.9-6.2-2-1.7-2.2Z",
    "triangle": "M0-6 5.5 4h-11Z",
    "hexagon": "M-3-5.2h6L6 0 3 5.2h-6L-6 0Z",
    "pentagon": "M0-6 5.7-1.9 3.5 4.9h-7L-5.7-1.9Z",
}


@dataclass(frozen=True, slots=True)
class Gain:
    """A method's difference of recall to plain search in pairs."""

    label: str
    method: str
    difference: Estimate


def colours(theme: Theme) -> dict[str, str]:
    """The methods' colours, by the class that draws in them and the property that holds them."""
    return {_property(name): look(name).colour(theme) for name in (*methods(), "other")}


def curves(series: Sequence[Series]) -> str:
    """Mean recall after 1, 2, ... passages, a line a method."""
    most = max(len(one.curve) for one in series)
    low, high = _range([value for one in series for value in one.curve])
    axes = _Axes((1, max(most, 2)), (low, high))
    names = spread([one.recall[0] for one in series], 0.06 * (high - low), low, high)
    parts = [axes.frame("passages", "recall", _whole(1, most))]
    for one, height, dash in zip(series, names, _dashes(series), strict=True):
        line = " ".join(
            f"{axes.x(place):.1f},{axes.y(value):.1f}"
            for place, value in enumerate(one.curve, start=1)
        )
        end = axes.x(len(one.curve)), axes.y(one.curve[-1])
        parts.append(
            f'<g class="{_property(one.method)}">'
            f'<polyline class="line" points="{line}" stroke-dasharray="{dash}"/>'
            + "".join(
                _marker(one.method, axes.x(place), axes.y(value), 0.7)
                for place, value in enumerate(one.curve, start=1)
            )
            + _name(one, end[0] + 10, axes.y(height), one.method)
            + "</g>"
        )
    return _svg(parts, _HIGH)


def costs(series: Sequence[Series]) -> str:
    """Recall against the median milliseconds of a question, on a logarithmic axis."""
    timed = [(one, one.ms) for one in series if one.ms is not None and one.ms[0] > 0]
    if not timed:
        return '<p class="faint">No times were taken.</p>'
    low, high = _range([value for one, _ in timed for value in one.recall])
    times = [ms for _, pair in timed for ms in pair]
    left, right = math.log10(min(times)) - 0.15, math.log10(max(times)) + 0.15
    axes = _Axes((left, right), (low, high))
    ticks = [
        (math.log10(value), f"{value:g}")
        for power in range(math.floor(left), math.ceil(right) + 1)
        for value in (10.0**power, 3 * 10.0**power)
        if left <= math.log10(value) <= right
    ]
    parts = [axes.frame("milliseconds, median to 95th percentile", "recall", ticks)]
    heights = spread([one.recall[0] for one, _ in timed], 0.06 * (high - low), low, high)
    for (one, pair), height in zip(timed, heights, strict=True):
        x, late, y = axes.x(math.log10(pair[0])), axes.x(math.log10(pair[1])), axes.y(one.recall[0])
        parts.append(
            f'<g class="{_property(one.method)}">'
            f'<path class="whisker" d="M{x:.1f} {y:.1f}H{late:.1f}'
            f'M{x:.1f} {axes.y(one.recall[1]):.1f}V{axes.y(one.recall[2]):.1f}"/>'
            + _marker(one.method, x, y)
            + _name(one, _WIDE - _RIGHT + 10, axes.y(height), one.method)
            + "</g>"
        )
    return _svg(parts, _HIGH)


def gains(found: Sequence[Gain]) -> str:
    """Differences in points with their intervals, a line a method, beside a line at 0."""
    low = min(0.0, *(100 * one.difference.low for one in found)) - 0.5
    high = max(0.0, *(100 * one.difference.high for one in found)) + 0.5
    tall = _TOP + _FOOT + 34 * len(found)
    axes = _Axes((low, high), (0.0, float(len(found))), tall)
    step = _step(low, high)
    ticks = [
        (value * step, f"{value * step:+g}".replace("-", "−") if value else "0")
        for value in range(math.ceil(low / step), math.floor(high / step) + 1)
    ]
    zero = axes.x(0.0)
    parts = [
        axes.frame("points of recall over plain top-k", "", ticks),
        f'<path class="zero" d="M{zero:.1f} {_TOP}V{tall - _FOOT}"/>',
    ]
    for place, one in enumerate(found):
        y = axes.y(len(found) - place - 0.5)
        each = one.difference
        parts.append(
            f'<g class="{_property(one.method)}">'
            f'<path class="whisker" d="M{axes.x(100 * each.low):.1f} {y:.1f}'
            f'H{axes.x(100 * each.high):.1f}"/>'
            + _marker(one.method, axes.x(100 * each.mean), y)
            + _label(one.label, _WIDE - _RIGHT + 10, y)
            + "</g>"
        )
    return _svg(parts, tall)


# --- pieces -------------------------------------------------------------------------------


class _Axes:
    """A plane from data to pixels."""

    def __init__(
        self, across: tuple[float, float], up: tuple[float, float], tall: int = _HIGH
    ) -> None:
        self._across, self._up, self._tall = across, up, tall

    def x(self, value: float) -> float:
        low, high = self._across
        return _LEFT + (value - low) / (high - low) * (_WIDE - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        low, high = self._up
        return self._tall - _FOOT - (value - low) / (high - low) * (self._tall - _TOP - _FOOT)

    def frame(self, below: str, beside: str, ticks: Sequence[tuple[float, str]]) -> str:
        """Grid, ticks and names of the axes; the one upwards has a scale where it has a name."""
        foot = self._tall - _FOOT
        parts = [f'<path class="axis" d="M{_LEFT} {_TOP}V{foot}H{_WIDE - _RIGHT}"/>']
        for value, text in ticks:
            parts.append(
                f'<text class="tick" text-anchor="middle" x="{self.x(value):.1f}" '
                f'y="{foot + 16}">{text}</text>'
            )
        if beside:
            low, high = self._up
            step = _step(low, high)
            for place in range(math.ceil(low / step), math.floor(high / step) + 1):
                y = self.y(place * step)
                parts.append(
                    f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDE - _RIGHT}"/>'
                    f'<text class="tick" text-anchor="end" x="{_LEFT - 7}" y="{y + 4:.1f}">'
                    f"{place * step:.2f}</text>"
                )
        middle = (_LEFT + _WIDE - _RIGHT) / 2
        parts.append(
            f'<text class="tick" text-anchor="middle" x="{middle:.0f}" y="{self._tall - 6}">'
            f"{html.escape(below)}</text>"
        )
        return "".join(parts)


def _svg(parts: Sequence[str], tall: int) -> str:
    return f'<svg viewBox="0 0 {_WIDE} {tall}" role="img">{"".join(parts)}</svg>'


def _marker(method: str, x: float, y: float, scale: float = 1.0) -> str:
    shape = _SHAPES[look(method).shape]
    return f'<path class="mark" d="{shape}" transform="translate({x:.1f} {y:.1f}) scale({scale})"/>'


def _name(one: Series, x: float, y: float, method: str) -> str:
    return _marker(method, x + 4, y, 0.8) + _label(one.label, x + 14, y)


def _label(text: str, x: float, y: float) -> str:
    short = text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"
    return f'<text class="name" x="{x:.1f}" y="{y + 4:.1f}">{html.escape(short)}</text>'


def _property(method: str) -> str:
    return f"m-{method.replace('_', '-')}" if method in methods() else "m-other"


def _dashes(series: Sequence[Series]) -> list[str]:
    """A line style of its own for the second, third, ... line of one method."""
    seen: Counter[str] = Counter()
    out = []
    for one in series:
        out.append(_DASHES[seen[one.method] % len(_DASHES)])
        seen[one.method] += 1
    return out


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = max(0.04, 0.08 * (high - low))
    return max(0.0, low - room), min(1.0, high + room)


def _step(low: float, high: float) -> float:
    """About five even steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(each * power for each in (1.0, 2.0, 5.0, 10.0) if each * power >= rough - 1e-12)


def _whole(low: int, high: int) -> list[tuple[float, str]]:
    step = max(1, round((high - low) / 9))
    return [(float(value), str(value)) for value in range(low, high + 1, step)]
