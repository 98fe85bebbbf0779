"""Which methods are measured, with which settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

import streamlit as st

from tracert.evaluation.run import MethodPlan
from tracert.methods.registry import method
from tracert.methods.treehop import PAPER
from tracert.methods.treehop.settings import AUTO, FORGET_RULE
from tracert.trace import Value
from tracert.ui import controls

#: The settings that the budget sets, that change no result, or that are a file's path.
_LEFT_OUT: Final = frozenset({"k", "evidence", "candidates_kept", "model"})


@dataclass(frozen=True, slots=True)
class Preset:
    """A method with settings that have a name."""

    label: str
    method: str
    settings: Mapping[str, Value]
    help: str = ""


PRESETS: Final = (
    Preset("Plain top-k", "native_rag", {"first_stage": "dense"}),
    Preset(
        "BM25",
        "native_rag",
        {"first_stage": "bm25"},
        "Takes the passages that share most words with the question, rare words counting more.",
    ),
    Preset(
        "Hybrid",
        "native_rag",
        {"first_stage": "hybrid"},
        "Takes the passages that stand high in the ranking by vectors and in that by words.",
    ),
    Preset("Tracert", "tracert_rag", {}),
    Preset("TreeHop", "treehop", {}),
    Preset(
        "TreeHop, paper",
        "treehop",
        PAPER,
        "All passages spawn a query and a later hop is ranked by its own cosine alone.",
    ),
    Preset("Rewriting", "iterative_rewrite", {}),
    Preset("Graph RAG", "graph_rag", {"search": "local"}),
    Preset(
        "Graph RAG, global",
        "graph_rag",
        {"search": "global"},
        "Rates the communities of the graph by their summaries and takes passages of the best.",
    ),
    Preset("TrailGraph", "trailgraph", {}),
    Preset("TrailGraph, plain", "trailgraph", {"plain": True}, "The walk as first published."),
)
#: What is chosen at first, by what the data need.
_FIRST: Final = {
    "corpus": ["Plain top-k", "BM25", "Tracert", "TreeHop"],
    "knowledge": ["TrailGraph", "TrailGraph, plain"],
}


def show(needs: Literal["corpus", "knowledge"], *, key: str) -> list[MethodPlan]:
    """The choice of the methods that walk this, each with its settings behind a button."""
    fit = {one.label: one for one in PRESETS if method(one.method).needs == needs}
    st.session_state.setdefault(f"{key}:chosen:{needs}", _FIRST[needs])
    chosen = st.pills(
        "Methods",
        list(fit),
        selection_mode="multi",
        key=f"{key}:chosen:{needs}",
        persist_state="session",
        help="\n\n".join(f"**{one.label}**: {_about(one)}" for one in fit.values())
        + "\n\nPlain top-k and BM25 stand in the results in any case; chosen, their time is "
        "measured too.",
    )
    plans = []
    with st.container(horizontal=True, gap="small"):
        for preset in fit.values():
            if preset.label in chosen:
                with st.popover(preset.label, icon=":material/tune:", type="tertiary"):
                    plans.append(_plan(preset, key=f"{key}:{preset.label}"))
    return plans


def _about(preset: Preset) -> str:
    return preset.help or method(preset.method).summary


def _plan(preset: Preset, *, key: str) -> MethodPlan:
    """The method's settings, at its own defaults but for what the preset names."""
    chosen = method(preset.method)
    st.caption(_about(preset))
    kind = chosen.settings_type
    # Controls that were not drawn for a while may have lost what they held.
    plain = [one for one in fields(kind) if one.name not in _LEFT_OUT and "None" not in one.type]
    if any(f"{key}:{one.name}" not in st.session_state for one in plain):
        controls.preset(kind, preset.settings, key=key)
    values: dict[str, Value] = {}
    for field in fields(kind):
        if field.name not in _LEFT_OUT:
            values[field.name] = _control(kind, field, key=key)
        elif field.name == "model":
            values["model"] = _weights(field, key=key)
    defaults: dict[str, Any] = {field.name: field.default for field in fields(kind)}
    settings = {name: value for name, value in values.items() if value != defaults[name]}
    return MethodPlan(preset.label, preset.method, settings)


def _control(kind: type[Any], field: Any, *, key: str) -> Value:
    if str(field.type).startswith("int") and "None" in str(field.type):
        return controls.optional(kind, field.name, int(field.metadata["low"] or 1), key=key)
    if "None" in str(field.type):
        return controls.open_control(kind, field.name, key=key).value
    return controls.control(kind, field.name, key=key)


def _weights(field: Any, *, key: str) -> Value:
    """What moves TreeHop's query; a file of weights is the command line's."""
    chosen: str = st.selectbox(
        str(field.metadata["label"]),
        [AUTO, FORGET_RULE],
        format_func={
            AUTO: "Trained weights, as shipped",
            FORGET_RULE: "The forget rule, untrained",
        }.__getitem__,
        key=f"{key}:model",
        persist_state="session",
    )
    return chosen
