"""Every measure of an evaluation with its interval, and its difference to plain search in pairs.

`evaluation_tables` has the tables that read at a glance; these are the ones to look something up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tracert.evaluation.detail import BM25, DENSE
from tracert.evaluation.metrics import Estimate
from tracert.evaluation.summary import CUTOFFS
from tracert.render.evaluation_tables import REFERENCES, Measured, interval, is_reference, share

#: The measures of a list, which plain search has too, and those of the way and of the cost.
_OF_LISTS: Final[Mapping[str, str]] = {
    "recall": "Recall",
    **{f"recall@{k}": f"Recall@{k}" for k in CUTOFFS},
    "precision": "Precision",
    "all_found": "All found",
    "mrr": "MRR",
    "ndcg": "nDCG",
}
_OF_WALKS: Final[Mapping[str, str]] = {
    "in_order": "Gold in order",
    "hops": "Hops",
    "wasted_hops": "Wasted hops",
    "too_early": "Stopped too early",
    "too_late": "Stopped too late",
    "late_hops": "Hops too many",
    "passages": "Passages",
    "filled": "Filled up, passages",
}
_OF_MODELS: Final[Mapping[str, str]] = {"model_calls": "Model calls", "tokens": "Tokens"}
_COLUMNS: Final = (
    *("Measure", "Method", "Mean", "95%"),
    *("vs top-k", "vs top-k, 95%", "vs BM25", "vs BM25, 95%"),
)


def measure_rows(measured: Sequence[Measured]) -> dict[str, list[Any]]:
    """A row a measure and method: its mean, the differences in points, each with its interval.

    'vs top-k' is the difference to plain top-k of the method's own first stage, 'vs BM25' that to
    BM25, both question by question at the same number of passages. Plain search stands below the
    methods where it is none of them.
    """
    rows: list[dict[str, Any]] = []
    asked = any(one.summary.measures["model_calls"].mean for one in measured)
    for name, called in {**_OF_LISTS, **_OF_WALKS, **(_OF_MODELS if asked else {})}.items():
        for one in measured:
            found = one.summary.measures.get(name)
            if found is not None:
                rows.append({"Measure": called, "Method": one.label, **_mean(found)})
                rows[-1] |= _against(one, name)
        for reference, label in REFERENCES:
            theirs = measured[0].summary.references[reference].get(name)
            if theirs is not None and not any(is_reference(one, reference) for one in measured):
                called_too = f"{label} (reference)"
                rows.append({"Measure": called, "Method": called_too, **_mean(theirs)})
                if reference == BM25:
                    rows[-1] |= _difference("top-k", measured[0].summary.between.get(name))
    names = [name for name in _COLUMNS if any(name in row for row in rows)]
    return {name: [row.get(name) for row in rows] for name in names}


def stage_rows(measured: Sequence[Measured]) -> dict[str, list[Any]]:
    """Milliseconds a question, a row a method and stage: median and 95th percentile."""
    rows: dict[str, list[Any]] = {
        "Method": [],
        "Stage": [],
        "ms p50": [],
        "p50, 95%": [],
        "ms p95": [],
        "p95, 95%": [],
    }
    for one in measured:
        for stage, spent in one.summary.latency.items():
            for name, value in zip(
                rows,
                (
                    one.label,
                    stage,
                    spent.p50.mean,
                    _milliseconds(spent.p50),
                    spent.p95.mean,
                    _milliseconds(spent.p95),
                ),
                strict=True,
            ):
                rows[name].append(value)
    return rows


def _mean(found: Estimate) -> dict[str, Any]:
    return {"Mean": found.mean, "95%": share(found)}


def _against(one: Measured, measure: str) -> dict[str, Any]:
    """The differences to plain top-k and to BM25, but for plain search to itself."""
    out: dict[str, Any] = {}
    for reference, against, called in ((DENSE, one.against, "top-k"), (BM25, BM25, "BM25")):
        if not is_reference(one, reference):
            out |= _difference(called, one.summary.differences[against].get(measure))
    return out


def _difference(called: str, found: Estimate | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {f"vs {called}": 100 * found.mean, f"vs {called}, 95%": interval(found)}


def _milliseconds(one: Estimate) -> str:
    return f"{one.low:,.1f} to {one.high:,.1f}"
