"""Taking a run along: its tables, its questions, and all of it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from tracert.evaluation.runs import Head
from tracert.render.evaluation_tables import Measured, method_rows, question_rows


def show(head: Head, measured: Sequence[Measured], *, key: str) -> None:
    """The buttons; each file is made on the click."""
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Methods as CSV",
            lambda: to_csv(method_rows(measured)),
            f"evaluation-{head.id}.csv",
            "text/csv",
            key=f"{key}:csv",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            "Questions as CSV",
            lambda: to_csv(question_rows(measured, 0)),
            f"evaluation-{head.id}-questions.csv",
            "text/csv",
            key=f"{key}:questions-csv",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            "All as JSON",
            lambda: to_json(head, measured),
            f"evaluation-{head.id}.json",
            "application/json",
            key=f"{key}:json",
            icon=":material/data_object:",
            help="Data, settings, versions, seeds, every measure, and every question's passages.",
            on_click="ignore",
        )


def to_csv(rows: Mapping[str, Sequence[Any]]) -> str:
    """A table as CSV. A text that a spreadsheet would take for a formula gets a mark before it."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_cell(name) for name in rows])
    for values in zip(*rows.values(), strict=True):
        writer.writerow([_cell(value) for value in values])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value


def to_json(head: Head, measured: Sequence[Measured]) -> str:
    """All that a run is and gave."""
    data = {
        "schema": "tracert.evaluation-run/1",
        "run": head.to_dict(),
        "methods": [
            {
                "label": one.label,
                "making": dict(one.making),
                **one.evaluation.to_dict(),
                "details": [detail.to_dict() for detail in one.evaluation.details],
            }
            for one in measured
        ],
    }
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
