"""Taking a run along: its tables, its questions, and all of it."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from tracert.evaluation.export import table_csv, to_csv
from tracert.evaluation.run import Head
from tracert.evaluation.summary import Evaluation
from tracert.render.evaluation_tables import Measured, method_rows
from tracert.render.report import report_html


def show(head: Head, measured: Sequence[Measured], *, key: str) -> None:
    """The buttons; each file is made on the click."""
    with st.container(horizontal=True, gap="small"):
        for label, ending, kind, icon, help, made in (
            (
                "Report for the browser",
                ".html",
                "text/html",
                "article",
                "One page that needs nothing else: words, tables and pictures with data, settings, "
                "versions and seeds.",
                lambda: report_html(measured, title=head.title, made=_when(head)),
            ),
            (
                "Methods as CSV",
                "-methods.csv",
                "text/csv",
                "table",
                "The table of the methods.",
                lambda: table_csv(method_rows(measured)),
            ),
            (
                "Questions as CSV",
                "-questions.csv",
                "text/csv",
                "list",
                "A line a method and question, with every measure.",
                lambda: to_csv([_labelled(one) for one in measured]),
            ),
            (
                "All as JSON",
                ".json",
                "application/json",
                "data_object",
                "Data, settings, versions, seeds, every measure, and every question's passages.",
                lambda: to_json(head, measured),
            ),
        ):
            st.download_button(
                label,
                partial(_bytes, made),
                f"evaluation-{head.id}{ending}",
                kind,
                key=f"{key}:{ending}",
                icon=f":material/{icon}:",
                help=help,
                on_click="ignore",
            )


def _bytes(made: Callable[[], str]) -> bytes:
    """The file; half a surrogate pair, which JSON may hold, is no text that one could."""
    return made().encode("utf-8", "replace")


def _when(head: Head) -> str:
    return datetime.datetime.fromtimestamp(head.created).strftime("%d %b %Y, %H:%M")


def _labelled(one: Measured) -> Evaluation:
    """An evaluation under its label, since two may be of one method."""
    setup = replace(one.evaluation.setup, method=one.label)
    return Evaluation(setup, one.evaluation.details)


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
