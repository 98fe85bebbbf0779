"""An evaluation as tables of plain values and as sentences: what pages and reports show.

Recalls are shares from 0 to 1; differences are in points, hundredths of a share. What is compared
is always compared at the same number of passages, question by question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from tracert.evaluation.detail import BASELINE, BM25, DENSE, Detail
from tracert.evaluation.metrics import Estimate, recall_of
from tracert.evaluation.summary import CUTOFFS, Evaluation, Group, Summary
from tracert.methods.native_rag import NativeRag
from tracert.render.evaluation import Series
from tracert.render.numbers import count, seconds

Lot = Literal["type", "hops", "depth"]
#: What plain search is called where it stands as a reference.
TOP_K: Final = "Plain top-k"
WORDS: Final = "BM25"
#: Plain search beside the methods, as it is called.
REFERENCES: Final = ((DENSE, TOP_K), (BM25, WORDS))
#: The methods that ask a model for every question, if they have one.
_ASKING: Final = frozenset({"tracert_rag", "trailgraph"})
#: The share of passages that plain top-k filled in from which on it is said.
_FILLED: Final = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A method as it is called, what it gave, and what making its index cost, if it has one."""

    label: str
    evaluation: Evaluation
    making: Mapping[str, Any]

    @property
    def summary(self) -> Summary:
        """Its measures."""
        return self.evaluation.summary

    @property
    def stage(self) -> str:
        """Its first stage."""
        return str(self.evaluation.setup.settings.get("first_stage", DENSE))

    @property
    def plain(self) -> bool:
        """Whether it is plain search itself, of whatever stage."""
        return self.evaluation.setup.method == NativeRag.name

    @property
    def against(self) -> str:
        """What moving is measured against: its own first stage; vectors for plain search."""
        return DENSE if self.plain else BASELINE


def points(value: float) -> str:
    """A difference of shares as points with its sign: '+2.3', '−0.4'."""
    rounded = round(100 * value, 1) + 0.0
    return f"{'−' if rounded < 0 else '+'}{abs(rounded):.1f}"


def interval(one: Estimate) -> str:
    """The interval of a difference in points."""
    return f"{points(one.low)} to {points(one.high)}"


def share(one: Estimate) -> str:
    """The interval of a share."""
    return f"{one.low:.3f} to {one.high:.3f}"


# --- the methods --------------------------------------------------------------------------


def method_rows(measured: Sequence[Measured]) -> dict[str, list[Any]]:
    """A row a method, then plain top-k and BM25 where none of the methods is that already."""
    rows: list[dict[str, Any]] = []
    for one in measured:
        summary = one.summary
        against = summary.differences[one.against]["recall"]
        every = summary.latency["all"]
        rows.append(
            {
                "Method": one.label,
                **_list_measures(summary.measures),
                "vs top-k": None if is_reference(one, DENSE) else 100 * against.mean,
                "vs top-k, 95%": None if is_reference(one, DENSE) else interval(against),
                "Passages": summary.measures["passages"].mean,
                "Filled up": _filled(summary),
                "ms p50": every.p50.mean,
                "ms p95": every.p95.mean,
                "Model calls": summary.measures["model_calls"].mean,
                "Tokens": summary.measures["tokens"].mean,
            }
        )
    for reference, label in REFERENCES:
        if any(is_reference(one, reference) for one in measured):
            continue
        measures = measured[0].summary.references[reference]
        row = {"Method": f"{label} (reference)", **_list_measures(measures)}
        if reference == BM25:
            row |= _bm25_difference(measured)
        row["Passages"] = measured[0].summary.measures["passages"].mean
        rows.append(row)
    names = [name for name in rows[0] if any(row.get(name) is not None for row in rows)]
    if not any(row.get("Model calls") for row in rows):
        names = [name for name in names if name not in ("Model calls", "Tokens")]
    return {name: [row.get(name) for row in rows] for name in names}


def _list_measures(measures: Mapping[str, Estimate]) -> dict[str, Any]:
    def mean(name: str) -> float | None:
        return measures[name].mean if name in measures else None

    return {
        "Recall": mean("recall"),
        "Recall, 95%": share(measures["recall"]),
        "All found": mean("all_found"),
        "Precision": mean("precision"),
        "MRR": mean("mrr"),
        "nDCG": mean("ndcg"),
    }


def _bm25_difference(measured: Sequence[Measured]) -> dict[str, Any]:
    """BM25 against plain top-k over the same questions."""
    found = measured[0].summary.between["recall"]
    return {"vs top-k": 100 * found.mean, "vs top-k, 95%": interval(found)}


def is_reference(one: Measured, reference: str) -> bool:
    """Whether a method is the reference itself."""
    return one.plain and one.stage == reference


def _filled(summary: Summary) -> float:
    passages = summary.measures["passages"].mean
    return summary.measures["filled"].mean / passages if passages else 0.0


def stand_ins(one: Measured) -> str:
    """A sentence where a language model was to be asked and some questions went without it."""
    setup, details = one.evaluation.setup, one.evaluation.details
    asked = sum(detail.model_calls > 0 for detail in details)
    if not setup.model or asked == len(details) or (not asked and setup.method not in _ASKING):
        return ""
    return (
        f"{one.label} asked {setup.model} in {asked:,} of {count(len(details), 'question')}; in "
        "the others nothing was asked, or the offline stand-in stepped in."
    )


def said_of_making(one: Measured) -> str:
    """What was made before the first question and what that cost; '' where nothing was."""
    if not one.making:
        return ""
    calls = int(one.making.get("calls", 0))
    asked = f" and {count(calls, 'call')} of a model" if calls else ""
    spent = seconds(float(one.making.get("seconds", 0.0)))
    return (
        f"Before its first question {one.label} made its graph: {spent}{asked}. The times of the "
        "questions leave this out."
    )


# --- by type, by hops, by depth -------------------------------------------------------------


def group_rows(
    measured: Sequence[Measured], lot: Lot, measure: str = "recall"
) -> dict[str, list[Any]]:
    """A measure by the question's type or hops, or recall by the depth of the gold passage.

    A column a method, and its difference in points beside it where it is no plain search. Plain
    search that is none of the methods stands beside them where recall is shown.
    """
    groups = _groups(measured[0], lot)
    names = list(groups)
    rows: dict[str, list[Any]] = {
        _LOTS[lot][0]: [name or "none" for name in names],
        _LOTS[lot][1]: [groups[name].count for name in names],
    }
    if measure == "recall":
        dense = next((one for one in measured if one.plain or one.stage == DENSE), None)
        if dense is not None and not any(is_reference(one, DENSE) for one in measured):
            rows[TOP_K] = [_groups(dense, lot)[name].baseline.mean for name in names]
        if not any(is_reference(one, BM25) for one in measured):
            rows[WORDS] = [groups[name].bm25.mean for name in names]
    for one in measured:
        found = [_of_group(_groups(one, lot)[name], measure) for name in names]
        rows[one.label] = [None if own is None else own.mean for own, _ in found]
        if not one.plain:
            less = [difference for _, difference in found]
            rows[f"{one.label}, points"] = [None if one is None else 100 * one.mean for one in less]
            rows[f"{one.label}, 95%"] = [None if one is None else interval(one) for one in less]
    return rows


def _of_group(group: Group, measure: str) -> tuple[Estimate | None, Estimate | None]:
    """A measure of a group and its difference to the baseline; None where it is not defined."""
    if measure == "recall":
        return group.recall, group.difference
    return group.measures.get(measure), group.differences.get(measure)


_LOTS: Final[Mapping[Lot, tuple[str, str]]] = {
    "type": ("Type", "Questions"),
    "hops": ("Hops of the question", "Questions"),
    "depth": ("Hops to the passage", "Gold passages"),
}


def _groups(one: Measured, lot: Lot) -> Mapping[str, Group]:
    return {
        "type": one.summary.by_type,
        "hops": one.summary.by_hops,
        "depth": one.summary.by_depth,
    }[lot]


# --- the way ------------------------------------------------------------------------------


def walk_rows(measured: Sequence[Measured]) -> dict[str, list[Any]]:
    """How the methods that move went; empty where none does."""
    moving = [one for one in measured if "hops" in one.summary.measures]

    def column(name: str) -> list[float | None]:
        found = [one.summary.measures.get(name) for one in moving]
        return [None if each is None else each.mean for each in found]

    if not moving:
        return {}
    return {
        "Method": [one.label for one in moving],
        "Gold in order": column("in_order"),
        "Hops": column("hops"),
        "Wasted hops": column("wasted_hops"),
        "Stopped too early": column("too_early"),
        "Stopped too late": column("too_late"),
        "Hops too many": column("late_hops"),
        "Stops": [
            ", ".join(f"{reason.replace('_', ' ')} {number:,}" for reason, number in stops.items())
            for stops in (one.summary.stops for one in moving)
        ],
    }


def cutoff_rows(measured: Sequence[Measured]) -> dict[str, list[Any]]:
    """Recall after so many passages, as far as the lists go; plain search below the methods."""
    first = measured[0].summary
    cutoffs = [k for k in CUTOFFS if f"recall@{k}" in first.measures]
    found = [(one.label, one.summary.measures) for one in measured]
    for reference, label in REFERENCES:
        if not any(is_reference(one, reference) for one in measured):
            found.append((f"{label} (reference)", first.references[reference]))
    rows: dict[str, list[Any]] = {"Method": [label for label, _ in found]}
    for k in cutoffs:
        estimates = [measures.get(f"recall@{k}") for _, measures in found]
        rows[f"Recall@{k}"] = [None if one is None else one.mean for one in estimates]
    return rows


# --- the questions ------------------------------------------------------------------------

#: How a question went against plain top-k.
OUTCOMES: Final = ("Won", "Lost", "Tied")


def outcome(one: Measured, detail: Detail) -> str:
    """Whether the method found more of the gold than plain top-k, less, or as much."""
    difference = detail.recall - recall_of(detail.references[one.against], detail.gold)
    if math.isclose(difference, 0.0, abs_tol=1e-9):
        return "Tied"
    return "Won" if difference > 0 else "Lost"


def question_rows(measured: Sequence[Measured], chosen: int) -> dict[str, list[Any]]:
    """A row a question: what it is, how the chosen method did against top-k, every recall."""
    details = measured[chosen].evaluation.details
    one = measured[chosen]
    plain = [recall_of(detail.references[one.against], detail.gold) for detail in details]
    rows: dict[str, list[Any]] = {
        "Question": [detail.question for detail in details],
        "Type": [detail.type for detail in details],
        "Hops": [detail.n_hops for detail in details],
        "Against top-k": [outcome(one, detail) for detail in details],
        "Points": [
            100 * (detail.recall - base) for detail, base in zip(details, plain, strict=True)
        ],
    }
    stage = DENSE if one.plain else one.stage
    if not any(is_reference(each, stage) for each in measured):
        rows[TOP_K if stage == DENSE else f"{TOP_K}, {stage}"] = plain
    for each in measured:
        rows[each.label] = [detail.recall for detail in each.evaluation.details]
    rows["ms"] = [1e3 * detail.seconds.get("all", 0.0) for detail in details]
    rows["Id"] = [detail.id for detail in details]
    return rows


# --- pictures and words -------------------------------------------------------------------


def series_of(measured: Sequence[Measured]) -> list[Series]:
    """The methods as the pictures draw them, the references first where none is that already."""
    made = []
    first = measured[0].summary
    for reference, label in REFERENCES:
        if not any(is_reference(one, reference) for one in measured):
            found = first.references[reference]["recall"]
            made.append(
                Series(
                    label,
                    tuple(first.curve[reference]),
                    (found.mean, found.low, found.high),
                    first.measures["passages"].mean,
                    None,
                    NativeRag.name,
                )
            )
    for one in measured:
        found, every = one.summary.measures["recall"], one.summary.latency["all"]
        made.append(
            Series(
                one.label,
                tuple(one.summary.curve["method"]),
                (found.mean, found.low, found.high),
                one.summary.measures["passages"].mean,
                (every.p50.mean, every.p95.mean),
                one.evaluation.setup.method,
            )
        )
    return made


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said of a method: whether it gains on plain top-k, loses, or neither is clear.

    `more` says where it is otherwise, and what else has to be known.
    """

    kind: Literal["gain", "loss", "open"]
    label: str
    text: str
    more: str


def verdicts(measured: Sequence[Measured]) -> list[Verdict]:
    """A verdict on each method that is not plain top-k itself."""
    return [_verdict(one) for one in measured if not is_reference(one, DENSE)]


def _verdict(one: Measured) -> Verdict:
    summary = one.summary
    difference = summary.differences[one.against]["recall"]
    own = summary.measures["recall"].mean
    base = summary.references[one.against]["recall"].mean
    against = _against(one)
    same = f"at the same {_number(summary.measures['passages'].mean)} {_units(one)}"
    figures = (
        f"recall {own:.3f} against {base:.3f}, {points(difference.mean)} points "
        f"(95% interval {interval(difference)}, {count(difference.count, 'question')})"
    )
    kind: Literal["gain", "loss", "open"]
    if difference.low > 0:
        kind, said = "gain", f"finds more than {against} {same}: {figures}."
    elif difference.high < 0:
        kind, said = "loss", f"loses to {against} {same}: {figures}."
    else:
        kind, said = "open", f"shows no clear difference from {against} {same}: {figures}."
    return Verdict(kind, one.label, said, " ".join(_more(one, kind)))


def _units(one: Measured) -> str:
    return "notes" if one.evaluation.setup.kind == "notes" else "passages"


def _number(value: float) -> str:
    return f"{value:.0f}" if math.isclose(value, round(value)) else f"{value:.1f}"


def _against(one: Measured) -> str:
    stage = one.stage
    if one.plain or stage == DENSE:
        return "plain top-k"
    return f"plain top-k by {'BM25' if stage == BM25 else stage}, its own first stage,"


def _more(one: Measured, kind: str) -> list[str]:
    said = []
    found = {
        "loses": lambda group: group.difference.high < 0,
        "gains": lambda group: group.difference.low > 0,
    }
    for word, clear in found.items():
        if (word, kind) in (("loses", "loss"), ("gains", "gain")) or one.plain:
            continue
        parts = _where(one, clear)
        if parts:
            said.append(f"It {word} on {', '.join(parts)}.")
    share_ = _filled(one.summary)
    if share_ >= _FILLED:
        said.append(
            f"Of its {_units(one)} {share_:.0%} were filled up with plain top-k, since it returned "
            "fewer."
        )
    return said


def _where(one: Measured, clear: Callable[[Group], bool]) -> list[str]:
    parts = []
    for name, group in one.summary.by_type.items():
        if name and clear(group):
            parts.append(f"type {name} ({points(group.difference.mean)} points)")
    for name, group in one.summary.by_hops.items():
        if clear(group):
            parts.append(f"questions of {name} hops ({points(group.difference.mean)})")
    return parts
