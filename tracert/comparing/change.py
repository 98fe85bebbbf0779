"""The smallest change of one setting that would have kept a passage, found by running it.

A change sets one setting to another value and leaves all others as they are. Its size is the
share of the setting's range that it crosses:

    size(setting: a -> b) = |b - a| / (high - low)

so that a step of alpha and a step of the budget can be compared; another value of a list, or a
switch turned, is a change of size 1, the whole range. Values are those on which the setting's own
control can stand: low, low + step, ..., high. Where the method finds a value by itself (delta),
the change starts at what it found. A setting without a given end ends at `ENDS`. 'budget' stands
for the number of passages, in place of the settings that it governs (`budget.governed`).

Changes are tried in the order of their size, whatever the setting, so the first that keeps the
passage is the smallest. Each is verified: it is the value with which the method was run and kept
the passage, and the value one step nearer was run and did not. The first `CLOSE` values of each
direction are all tried; beyond them the steps grow by a quarter, and where one keeps the passage,
halving finds the nearest value between it and the last that did not. There, and only there, a
value that keeps the passage between two that do not may be missed.

Left out are settings whose values are not a range or a list (a file of weights), an open number
that stands for another kind of budget (`k_per_hop`), how much a trace names, and how much a
language model reads when an index is made.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from itertools import count
from typing import Any, Final

from tracert.comparing.budget import governed, most
from tracert.errors import SettingError
from tracert.trace import Value

BUDGET: Final = "budget"
#: Ends of settings that have no upper one.
ENDS: Final = 3.0
#: The nearest values of a direction that are all tried, and by how much the steps grow then.
CLOSE, GROWTH = 40, 1.25
_LEFT_OUT: Final = frozenset({"candidates_kept", "reading_calls", "summary_calls", "k_per_hop"})

#: Whether a method keeps the passage with these settings at this budget.
Keeps = Callable[[Mapping[str, Value], int], bool]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Change:
    """One setting, from one value to another; see the module's docstring for `size`."""

    setting: str
    label: str
    before: Value
    after: Value
    size: float


@dataclass(frozen=True, slots=True)
class Search:
    """What a search brought.

    `changes`: of each setting the smallest change that keeps the passage, the smallest of all
    first; of the settings after the first only those that were reached before the search ended.
    `tried` are the labels of all settings that were varied; `refused` counts values with which
    the method does not run as it is (a scoring without its model). `whole` is False where the
    search ended before all values were tried, which matters where `changes` is empty.
    """

    changes: tuple[Change, ...]
    runs: int
    tried: tuple[str, ...]
    refused: int
    whole: bool

    @property
    def smallest(self) -> Change | None:
        """The smallest change that keeps the passage; None if none does."""
        return self.changes[0] if self.changes else None


@dataclass(frozen=True, slots=True)
class Dial:
    """A setting that can be varied: where it stands, and its values in each direction.

    `ways` are lists of values by growing distance from `now`; `span` is the length of its range,
    or 0 where each value is a change of size 1.
    """

    setting: str
    label: str
    now: Value
    span: float
    ways: tuple[tuple[Value, ...], ...]

    def size(self, value: Value) -> float:
        """The share of the range that a change to this value crosses."""
        if not self.span:
            return 1.0
        return abs(float(str(value)) - float(str(self.now))) / self.span


def dials(
    kind: type[Any], values: Mapping[str, Value], in_force: Mapping[str, Value], budget: int
) -> tuple[Dial, ...]:
    """What can be varied of a method.

    Args:
        kind: its settings dataclass.
        values: what it was asked with; what is missing is at its default.
        in_force: what the trace says was in force.
        budget: the passages asked for.
    """
    found = [_numbers(BUDGET, "Passages", budget, 1, max(most(kind), budget), 1, whole=True)]
    for each in adjustable(kind):
        default: Any = each.default
        now = values.get(each.name, default)
        if now is None:
            now = in_force.get(each.name)
        dial = _dial(each, now)
        if dial is not None:
            found.append(dial)
    return tuple(dial for dial in found if any(dial.ways))


def adjustable(kind: type[Any]) -> tuple[Field[Any], ...]:
    """The settings of a method that can be varied beside the budget, in their order."""
    set_by_budget = governed(kind)
    return tuple(
        each
        for each in fields(kind)
        if each.name not in _LEFT_OUT
        and each.name not in set_by_budget
        and (each.metadata["choices"] or not str(each.type).startswith("str"))
    )


def smallest_change(
    kind: type[Any],
    values: Mapping[str, Value],
    in_force: Mapping[str, Value],
    budget: int,
    keeps: Keeps,
    *,
    most_runs: int = 2000,
    more_runs: int = 600,
    on_progress: Progress = lambda _runs: None,
) -> Search:
    """Search all settings of a method for the smallest change that keeps a passage.

    Args:
        kind: the method's settings dataclass.
        values: the settings that it was asked with, without those that the budget governs.
        in_force: the settings in force according to the trace.
        budget: the passages asked for.
        keeps: runs the method; may raise `SettingError` for a value that it does not run with.
        most_runs: after so many runs the search is given up.
        more_runs: so many runs more look at the other settings once a change is found.
        on_progress: gets the number of runs so far, before each.
    """
    search = _Searching(values, budget, keeps, on_progress, most_runs)
    all_ = dials(kind, values, in_force, budget)
    heap: list[tuple[float, int, _Way | Change]] = []
    ticket = count()
    for dial in all_:
        for way in dial.ways:
            if way:
                cursor = _Way(dial, way)
                heapq.heappush(heap, (cursor.bound(), next(ticket), cursor))
    found: dict[str, Change] = {}
    while heap:
        _, _, item = heapq.heappop(heap)
        if isinstance(item, Change):
            if not found:
                search.most = min(search.most, search.runs + more_runs)
            found.setdefault(item.setting, item)
            continue
        if item.dial.setting in found:
            continue
        if search.spent:
            continue
        change = item.advance(search)
        if change is not None:
            heapq.heappush(heap, (change.size, -1, change))
        elif not item.done:
            heapq.heappush(heap, (item.bound(), next(ticket), item))
    return Search(
        tuple(found.values()),
        search.runs,
        tuple(dial.label for dial in all_),
        search.refused,
        not search.spent,
    )


@dataclass(slots=True)
class _Searching:
    values: Mapping[str, Value]
    budget: int
    keeps: Keeps
    on_progress: Progress
    most: int
    runs: int = 0
    refused: int = 0

    @property
    def spent(self) -> bool:
        return self.runs >= self.most

    def keep(self, dial: Dial, value: Value) -> bool:
        self.on_progress(self.runs)
        self.runs += 1
        try:
            if dial.setting == BUDGET:
                return self.keeps(self.values, int(str(value)))
            return self.keeps({**self.values, dial.setting: value}, self.budget)
        except SettingError:
            self.refused += 1
            return False


@dataclass(slots=True)
class _Way:
    """One direction of one dial, from near to far."""

    dial: Dial
    values: Sequence[Value]
    failed: int = field(default=-1)

    @property
    def done(self) -> bool:
        return self.failed >= len(self.values) - 1

    def bound(self) -> float:
        """The least size that a change found in this direction can still have."""
        return self.dial.size(self.values[self.failed + 1])

    def advance(self, search: _Searching) -> Change | None:
        """Try the next value; the nearest that keeps the passage if it does."""
        last = len(self.values) - 1
        at = self.failed + 1
        if at >= CLOSE:
            at = min(last, math.floor(at * GROWTH))
        if not search.keep(self.dial, self.values[at]):
            self.failed = at
            return None
        low, high = self.failed, at
        while high - low > 1:
            middle = (low + high) // 2
            if search.keep(self.dial, self.values[middle]):
                high = middle
            else:
                low = middle
        value = self.values[high]
        dial = self.dial
        return Change(dial.setting, dial.label, dial.now, value, dial.size(value))


# --- the values of a setting ----------------------------------------------------------------------


def _dial(each: Any, now: Value) -> Dial | None:
    label = str(each.metadata["label"] or each.name)
    choices, kind = each.metadata["choices"], str(each.type)
    if choices:
        others = tuple(choice for choice in choices if choice != now)
        return Dial(each.name, label, now, 0.0, (others,))
    if kind.startswith("bool"):
        return Dial(each.name, label, now, 0.0, ((not now,),))
    if isinstance(now, str) or now is None:
        return None
    whole = kind.startswith("int")
    low = each.metadata["low"]
    high = each.metadata["high"]
    return _numbers(
        each.name,
        label,
        now,
        0.0 if low is None else low,
        ENDS if high is None else high,
        each.metadata["step"] or (1 if whole else 0.01),
        whole=whole,
    )


def _numbers(
    name: str, label: str, now: float, low: float, high: float, step: float, *, whole: bool
) -> Dial:
    high = max(high, now)
    last = math.floor((high - low) / step + 1e-9)
    grid = [low + place * step for place in range(last + 1)]
    if grid[-1] < high - 1e-9:
        grid.append(high)
    values: list[int | float] = [round(x) if whole else round(float(x), 10) for x in grid]
    up = tuple(value for value in values if value > now + 1e-9)
    down = tuple(value for value in reversed(values) if value < now - 1e-9)
    return Dial(name, label, now, float(high - low), (up, down))
