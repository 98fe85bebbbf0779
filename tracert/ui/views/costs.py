"""What the answers of several methods cost, side by side: calls, tokens, seconds, dollars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import streamlit as st

from tracert.errors import SettingError
from tracert.language.prices import Price, dollars
from tracert.trace import Trace
from tracert.ui.model import chat_model
from tracert.ui.prices import prices, written
from tracert.ui.safe import literal

#: Stages that are no part of the work itself.
_BESIDE: Final = frozenset({"map", "open"})


def show(traces: Mapping[str, Trace], *, key: str, called: Callable[[str], str] = str) -> None:
    """One row a method; a run whose model has no known price says so.

    Args:
        traces: the runs with their answers, by method.
        key: of the table.
        called: the name of a method as it is shown.
    """
    try:
        table = prices()
    except SettingError as error:
        st.warning(literal(str(error)), icon=":material/payments:")
        table = {}
    session = chat_model()
    st.dataframe(
        rows(traces, table, session.name if session is not None else None, called),
        key=f"{key}:costs",
        hide_index=True,
        placeholder="–",
        column_config={
            "Seconds": st.column_config.NumberColumn(format="%.3f", help=_SECONDS),
            "Of it the answer": st.column_config.NumberColumn(format="%.3f"),
            "Cost": st.column_config.TextColumn(help=_COST),
        },
        alt="Calls, tokens, seconds and dollars of each method with its answer.",
    )
    if any(trace.cost.model_calls for trace in traces.values()):
        st.caption("Cost: tokens times price. The prices can be changed in Settings.")
    else:
        st.caption("No model was asked for a walk or an answer, so nothing is paid for them.")


_SECONDS: Final = "From the question to the answer, without the map, as they were spent."
_COST: Final = "Tokens times the price of the model; 'unknown price' where the table has none."


def rows(
    traces: Mapping[str, Trace],
    table: Mapping[str, Price],
    session: str | None,
    called: Callable[[str], str] = str,
) -> dict[str, list[Any]]:
    """The table as columns; `session` is the model that a run used where it does not say which."""
    made: dict[str, list[Any]] = {
        "Method": [],
        "Model": [],
        "Calls": [],
        "Tokens sent": [],
        "Tokens written": [],
        "Seconds": [],
        "Of it the answer": [],
        "Cost": [],
    }
    for name, trace in traces.items():
        cost = trace.cost
        model = model_of(trace, session)
        seconds = [value for stage, value in cost.seconds.items() if stage not in _BESIDE]
        row = (
            called(name),
            model if cost.model_calls else None,
            cost.model_calls,
            cost.prompt_tokens,
            cost.completion_tokens,
            sum(seconds),
            cost.seconds.get("answer"),
            written(dollars(cost, model, table)),
        )
        for column, value in zip(made.values(), row, strict=True):
            column.append(value)
    return made


def model_of(trace: Trace, session: str | None) -> str | None:
    """The model that a run asked: the one that wrote its answer, else the session's."""
    answer = trace.result.answer
    return session if answer is None or answer.source == "extract" else answer.source
