"""What became of a passage, and what would have kept it, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tracert.comparing.change import BUDGET, Change, Search
from tracert.comparing.fate import Chance, Fate, Reach
from tracert.render.frames import frame, last
from tracert.render.numbers import count, plain
from tracert.render.words import called, words_for
from tracert.trace import NodeKind, Trace, Value

#: How a number that decided is called, and what its limit is.
_LIMITS: Final = {
    "dearer": ("its cost", "the chosen move cost"),
    "no_edge": ("its distance", "an edge may have"),
    "outside_radius": ("its distance to the question", "the radius is"),
    "low_novelty": ("its novelty", "asked for is"),
    "budget": ("its score", "the last that was kept has"),
    "layer_top_k": ("its score", "the last that was kept has"),
    "below_k": ("its score", "the last that was kept has"),
    "below_threshold": ("its score", "followed is from"),
    "lower_score": ("its score", "the chosen one has"),
    "other_community": ("its similarity to the question", ""),
}
_KEYS: Final = {
    "similarity": "its similarity",
    "bm25": "its BM25 score",
    "fused": "its fused score",
}


def what_became(
    fate: Fate, trace: Trace, *, reach: Sequence[Reach] = (), offered_by: Sequence[str] = ()
) -> str:
    """One or two sentences: kept, or where it fell, by which rule and numbers.

    `reach` is for a passage that no query looked at; `offered_by` names the notes that would have
    offered a note that the walk never saw.
    """
    if fate.kept is not None:
        hop = "" if fate.hop is None else f" at hop {fate.hop}"
        return f"Found{hop}, rank {fate.kept}."
    filled = " Plain top-k fills it in, which counts for no method." if fate.filled else ""
    if fate.cut is not None:
        return f"Found, but as number {fate.cut}: beyond the budget.{filled}"
    chance = fate.closest
    if chance is not None:
        return f"{_fell(chance, trace)}{filled}"
    if reach:
        return f"{_out_of_reach(reach, trace)}{filled}"
    if offered_by:
        names = ", ".join(f"“{name}”" for name in offered_by[:3])
        more = " and others" if len(offered_by) > 3 else ""
        return f"Never offered: only {names}{more} link to it, and the walk was at none of them."
    return f"No step of the walk saw it.{filled}"


def rule_label(method: str, rule: str) -> str:
    """What a rule is called on the page."""
    rules = {one.name: one.label for one in words_for(method).rules}
    return rules.get(rule, rule.replace("_", " "))


def _fell(chance: Chance, trace: Trace) -> str:
    label = rule_label(trace.method, chance.rule)
    where = _from(chance.source, trace)
    said = f"{label} at hop {chance.hop}{where}"
    what, bound = _LIMITS.get(chance.rule, ("", ""))
    what = _KEYS.get(chance.key, what) if chance.rule == "below_k" else what
    if chance.value is None or not what:
        return f"{said}: {chance.reason}."
    if chance.limit is None:
        said += f": {what} is {_digits(chance.value)}; {chance.reason}."
        return said
    digits = _apart(chance.value, chance.limit)
    said += f": {what} is {chance.value:.{digits}f}, {bound} {chance.limit:.{digits}f}"
    said += " at most" if chance.rule in ("no_edge",) else ""
    if chance.rank is not None and chance.rule not in ("outside_radius", "no_edge"):
        said += f". It ranks {_ordinal(chance.rank)} of {chance.of:,}"
    return said + "."


def _from(source: str, trace: Trace) -> str:
    node = trace.node(source)
    if node.kind is NodeKind.QUERY:
        return ""
    name = called(trace, frame(trace, last(trace)), source)
    return "" if name == "the question" else f", from {name}"


def _out_of_reach(reach: Sequence[Reach], trace: Trace) -> str:
    best = reach[0]
    name = called(trace, frame(trace, last(trace)), best.query)
    said = (
        f"No query looked at it. It lies nearest to {name} at hop {best.hop}: "
        f"{_ordinal(best.rank)} by cosine ({best.cosine:.3f}), and "
        f"{best.looked_at} are looked at"
    )
    first = next((one for one in reach if one.hop == 1 and one is not best), None)
    if first is not None:
        said += f"; for the question it is {_ordinal(first.rank)} ({first.cosine:.3f})"
    return said + "."


def _digits(value: float) -> str:
    return plain(value, 1 if abs(value) >= 10 else 3)


def _apart(one: float, other: float) -> int:
    """The fewest decimals, one or three at least, that tell two numbers apart."""
    digits = 1 if max(abs(one), abs(other)) >= 10 else 3
    while digits < 9 and f"{one:.{digits}f}" == f"{other:.{digits}f}" and one != other:
        digits += 1
    return digits


# --- what would have kept it ------------------------------------------------------------------


def change_words(change: Change) -> str:
    """'Alpha from 0.5 to 0.62'."""
    return f"{change.label} from {told(change.before)} to {told(change.after)}"


def search_words(search: Search, fate: Fate, most: int) -> str:
    """The smallest change, or that there is none, with how much was tried."""
    change = search.smallest
    runs = f"{search.runs:,} runs"
    if change is None:
        if not search.whole:
            return f"No change was found in {runs}; not all values were tried."
        said = f"No single setting keeps it ({runs}, every setting over its range)."
        chance = fate.closest
        if chance is not None and chance.rule == "below_k" and (chance.rank or 0) > most:
            said += f" It ranks {_ordinal(chance.rank or 0)}; a budget ends at {most}."
        return said + _refused(search)
    said = change_words(change)
    chance = fate.closest
    if change.setting == BUDGET and chance is not None and chance.rank == change.after:
        said += f": it ranks {_ordinal(int(str(change.after)))}"
    less = "" if isinstance(change.after, bool | str) else "; one step less does not keep it"
    return f"{said}. Verified by running it{less} ({runs}).{_refused(search)}"


def _refused(search: Search) -> str:
    """What was left out, since trying a setting asks no model."""
    if not search.refused:
        return ""
    number = count(search.refused, "value")
    return f" Left out: {number} with which a model would have to be asked."


def also_words(search: Search) -> str:
    """The other settings that would do, each with its own smallest change; '' if none."""
    others = [change_words(change) for change in search.changes[1:]]
    return f"Also: {'; '.join(others)}." if others else ""


def told(value: Value) -> str:
    """A setting's value as a person reads it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number:,}th"
    return f"{number:,}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def chance_rows(fate: Fate, trace: Trace) -> dict[str, list[Any]]:
    """Every step that weighed the passage, the nearest miss first, as columns."""
    now = frame(trace, last(trace))
    chances = fate.chances
    return {
        "Hop": [one.hop for one in chances],
        "From": [called(trace, now, one.source) for one in chances],
        "Rule": [rule_label(trace.method, one.rule) for one in chances],
        "Number": [one.key.replace("_", " ") for one in chances],
        "Its own": [one.value for one in chances],
        "Limit": [one.limit for one in chances],
        "Rank": [one.rank for one in chances],
        "Of": [one.of for one in chances],
        "Why": [one.reason for one in chances],
    }
