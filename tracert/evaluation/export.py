"""Evaluations as files for others: one JSON of all methods, and a table of questions as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tracert.errors import DatasetError
from tracert.evaluation.detail import BASELINE, BM25, DENSE, Detail
from tracert.evaluation.metrics import of_list, recall_of
from tracert.evaluation.summary import Evaluation

SCHEMA: Final = "tracert.evaluations/1"
#: A cell that begins so is a formula to a spreadsheet.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
COLUMNS: Final = (
    "method",
    "embedder",
    "id",
    "question",
    "type",
    "n_hops",
    "recall",
    "precision",
    "all_found",
    "mrr",
    "ndcg",
    "baseline_recall",
    "top_k_recall",
    "bm25_recall",
    "gold",
    "passages",
    "filled",
    "hops",
    "stop",
    "ms",
    "model_calls",
    "tokens",
)


def to_json(
    evaluations: Sequence[Evaluation],
    labels: Sequence[str] = (),
    makings: Sequence[Mapping[str, Any]] = (),
) -> str:
    """One report as `Evaluation.to_dict` has it; of several, a list of them under one schema.

    `labels` are what the evaluations are called, '' by their method's name; one that has a label
    says it beside its method. `makings` are what an index cost each, {} without one.
    """
    costs = makings or [{}] * len(evaluations)
    reports = [
        {
            **one.to_dict(),
            **({"label": label} if label else {}),
            **({"making": dict(making)} if making else {}),
        }
        for (one, label), making in zip(_labelled(evaluations, labels), costs, strict=True)
    ]
    data: Any = reports[0] if len(reports) == 1 else {"schema": SCHEMA, "evaluations": reports}
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)


def to_csv(evaluations: Sequence[Evaluation], labels: Sequence[str] = ()) -> str:
    """A line a method and question, with the columns of `COLUMNS`; a label stands for the method.

    Texts of the data that a spreadsheet would take for a formula begin with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one, label in _labelled(evaluations, labels):
        for detail in one.details:
            writer.writerow([_cell(value) for value in _row(one, label, detail)])
    return out.getvalue()


def table_csv(rows: Mapping[str, Sequence[Any]]) -> str:
    """A table by columns, its texts as in `to_csv`; what is absent is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(name) for name in rows])
    for values in zip(*rows.values(), strict=True):
        writer.writerow(["" if value is None else _cell(value) for value in values])
    return out.getvalue()


def save_details(evaluations: Sequence[Evaluation], path: Path, labels: Sequence[str] = ()) -> None:
    """One JSON a question and line; of several methods each line names its own, by its label.

    Raises:
        DatasetError: the file cannot be written.
    """
    several = len(evaluations) > 1
    lines = []
    for one, label in _labelled(evaluations, labels):
        method = label or one.setup.method
        named = {"method": method, "embedder": one.setup.embedder} if several else {}
        lines += [
            json.dumps({**named, **detail.to_dict()}, ensure_ascii=False) for detail in one.details
        ]
    save(path, "".join(line + "\n" for line in lines))


def save(path: Path, text: str) -> None:
    """Write a file.

    Raises:
        DatasetError: it cannot be written.
    """
    try:
        # Half a surrogate pair, which JSON may hold, is no text that a file could.
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be written ({error.strerror}). Name another file."
        ) from error


def _labelled(
    evaluations: Sequence[Evaluation], labels: Sequence[str]
) -> list[tuple[Evaluation, str]]:
    return list(zip(evaluations, labels or [""] * len(evaluations), strict=True))


def _row(one: Evaluation, label: str, detail: Detail) -> list[Any]:
    measures = of_list(detail.evidence, detail.gold)
    ndcg = measures["ndcg"]
    return [
        label or one.setup.method,
        one.setup.embedder,
        detail.id,
        detail.question,
        detail.type,
        detail.n_hops,
        measures["recall"],
        measures["precision"],
        int(measures["all_found"]),
        measures["mrr"],
        "" if ndcg != ndcg else ndcg,
        *(recall_of(detail.references[name], detail.gold) for name in (BASELINE, DENSE, BM25)),
        len(detail.gold),
        len(detail.evidence),
        detail.filled,
        len(detail.hops),
        detail.stop,
        1e3 * detail.seconds["all"],
        detail.model_calls,
        detail.tokens,
    ]


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return round(value, 6) if isinstance(value, float) else value
