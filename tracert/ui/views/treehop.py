"""The studio of TreeHop: its settings with the paper's beside, and the theatre under them.

It is a fragment: moving a setting walks again and redraws this, and nothing else of the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import streamlit as st

from tracert.errors import TracertError
from tracert.evaluation.quoted import Gold
from tracert.methods.base import parse_settings
from tracert.methods.treehop import PAPER, TreeHopSettings, model_for
from tracert.methods.treehop.gates import QueryModel
from tracert.methods.treehop.settings import AUTO, FORGET_RULE
from tracert.render.hop_table import plain_of
from tracert.trace import StopReason, Trace, Value
from tracert.ui import controls, visitor
from tracert.ui.glossary import explain
from tracert.ui.gold import Recall, known, recall
from tracert.ui.live import Live
from tracert.ui.running import Asked, run
from tracert.ui.safe import literal
from tracert.ui.session import View
from tracert.ui.views import studio, theatre, treehop_found, treehop_gates
from tracert.ui.views.theatre import Panel
from tracert.workspace import Workspace

NAME: Final = "treehop"
#: The examples that lead, by id: there the hops find a gold passage that plain top-k misses.
FIRST: Final = ("A16", "A10", "A19")
_STRIP: Final = ("k", "hops", "spawn", "path_score")
_FORM: Final = (*_STRIP, "k_per_hop", "model", "gamma")
#: What moves the query, as a person chooses it.
_MODELS: Final = {
    AUTO: "Trained weights, as shipped",
    FORGET_RULE: "The forget rule, untrained",
    "file": "A file of weights…",
}
#: What may move the query of a link: no file.
WORDS: Final = {"model": (AUTO, FORGET_RULE)}
#: Passages a hop that the switch to the paper's budget starts with.
_PAPER_K: Final = 5


@st.fragment
def show(space: Workspace, asked: Asked, *, key: str = NAME) -> None:
    """Settings and theatre for what was asked."""
    strip = st.container(border=True, gap="small")
    values, plane = _settings(strip, key=key)
    try:
        trace, live = run(space, asked, NAME, values, kind=plane, key=key)
        model = _model(trace)
        gold, overall = _gold(space, asked, live, values)
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    with strip:
        said(trace)
    panels = [*_panels(model, key=key)]
    if gold is not None:
        panels.append(
            Panel(
                "The gold passages",
                explain("gold"),
                "map",
                lambda trace, view, live: treehop_found.gold(
                    trace, view, live, gold, overall, key=key
                ),
            )
        )
    theatre.show(trace, live, key=key, panels=panels)
    studio.foot(space, asked, trace, plane, key=key)


def replay(trace: Trace, *, key: str = NAME) -> None:
    """The theatre of an opened trace; its first hop is plain top-k, if it looked far enough."""
    said(trace)
    live = Live(plain=plain_of(trace))
    theatre.show(trace, live, key=f"{key}:replay", panels=_panels(None, key=f"{key}:replay"))


def said(trace: Trace) -> None:
    """What moved the query, and how the walk ended where it ended before its hops."""
    moved = trace.steps[0].values.get("model") if trace.steps else None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if moved:
            rule = str(moved).startswith("forget rule")
            st.badge(
                "Forget rule, untrained" if rule else "Trained gates",
                icon=":material/rule:" if rule else ":material/school:",
                color="gray" if rule else "violet",
            )
            st.text(str(moved), width="content")
    stop = trace.result.stop
    if stop.reason is not StopReason.HOPS_DONE or stop.remedy:
        ending = literal(f"{stop.message} {stop.remedy}".strip())
        st.markdown(f":orange-badge[:material/info: Note] {ending}")


def _panels(model: QueryModel | None, *, key: str) -> list[Panel]:
    def gates(trace: Trace, view: View, live: Live) -> None:
        treehop_gates.show(trace, view, live, model, key=key)

    def similar(trace: Trace, view: View, live: Live) -> None:  # noqa: ARG001
        treehop_found.similarities(trace, view, key=key)

    return [
        Panel("The gates", explain("gates"), "stage", gates),
        Panel("The kept passages beside q, q′ and c", explain("cosine"), "stage", similar),
    ]


def _model(trace: Trace) -> QueryModel:
    settings = parse_settings(TreeHopSettings, trace.settings)
    return model_for(settings, trace.corpus.embedder, trace.corpus.dimension)


def _gold(
    space: Workspace, asked: Asked, live: Live, values: Mapping[str, Value]
) -> tuple[Gold | None, Recall | None]:
    """The gold of this question, and the recall over all; None where it is not known."""
    if live.embed is None:
        return None, None
    snapshot = space.open(asked.record.name)
    these = known(snapshot, live.embed)
    gold = None if these is None else these.of(asked.question)
    if these is None or gold is None:
        return None, None
    return gold, recall(snapshot, these, values)


# --- the settings -------------------------------------------------------------------------


def _settings(strip: Any, *, key: str) -> tuple[dict[str, Value], studio.Plane]:
    kind = TreeHopSettings
    values: dict[str, Value] = {}
    by_hop = bool(st.session_state.get(f"{key}:k_per_hop:on"))
    with strip:
        columns = st.columns([1, 1, 1, 1, 1.5], gap="medium", vertical_alignment="bottom")
        for column, name in zip(columns, _STRIP, strict=False):
            with column:
                unused = by_hop and name == "k"
                values[name] = controls.control(kind, name, key=key, disabled=unused)
        with (
            columns[4],
            st.container(horizontal=True, horizontal_alignment="right", wrap=False, gap="small"),
        ):
            plane = studio.plane(key=key)
            with st.popover("More", icon=":material/tune:", key=f"{key}:more"):
                values["k_per_hop"] = controls.optional(kind, "k_per_hop", _PAPER_K, key=key)
                values |= _moved_by(key=key)
                for name in controls.names(kind):
                    if name not in _FORM:
                        unused = by_hop and name == "later_places"
                        values[name] = controls.control(kind, name, key=key, disabled=unused)
        _presets(values, key=key)
    return values, plane


def _presets(values: Mapping[str, Value], *, key: str) -> None:
    """The two sets of settings that have a name, each one click away."""
    measured = _like(values, {})
    paper = _like(values, PAPER)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Measured best",
            icon=":material/check:" if measured else ":material/speed:",
            key=f"{key}:measured",
            disabled=measured,
            on_click=partial(controls.preset, TreeHopSettings, {}, key=key),
            help="The defaults: what measured best on multi-hop questions of 2Wiki, HotpotQA "
            "and MuSiQue, at the same number of passages as plain top-k.",
        )
        st.button(
            "As in the paper",
            icon=":material/check:" if paper else ":material/article:",
            key=f"{key}:paper",
            disabled=paper,
            on_click=partial(controls.preset, TreeHopSettings, PAPER, key=key),
            help="So many passages a hop, all of them spawn, and a later hop is ranked by its own "
            "cosine alone.",
        )
        st.caption(_beside())


def _beside() -> str:
    """The defaults that differ from the paper, with both values."""
    parts = []
    for name, paper in PAPER.items():
        field = controls.field_named(TreeHopSettings, name)
        label = str(field.metadata["label"]).replace(" (paper)", "")
        best: Any = field.default
        parts.append(f"{label}: {_told(name, best)}, paper {_told(name, paper)}")
    return "Measured best at equal budget, and the paper. " + "; ".join(parts) + "."


def _told(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "shared out"
    if name == "spawn" and value == 0:
        return "all"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _like(values: Mapping[str, Value], named: Mapping[str, Value]) -> bool:
    """Whether the settings in force are the defaults with these changes."""
    for name in controls.names(TreeHopSettings):
        default = controls.field_named(TreeHopSettings, name).default
        if name in values and values[name] != named.get(name, default):
            return False
    return True


def _moved_by(*, key: str) -> dict[str, Value]:
    """What moves the query: shipped weights, the forget rule, or a file."""
    field = controls.field_named(TreeHopSettings, "model")
    name = f"{key}:model"
    st.session_state.setdefault(name, AUTO)
    chosen = st.selectbox(
        str(field.metadata["label"]),
        [name for name in _MODELS if name != "file" or not visitor.public()],
        format_func=_MODELS.__getitem__,
        key=name,
        help=field.metadata["help"],
        persist_state="session",
    )
    values: dict[str, Value] = {"model": chosen}
    if chosen == "file":
        path = st.text_input(
            "Path of a .safetensors or .pt file",
            key=f"{name}:path",
            help="Weights that 'train-treehop' wrote, or a published checkpoint. They must be for "
            "the vectors of this corpus's embedder.",
            persist_state="session",
        )
        if not path.strip():
            st.caption("Type a path; until then the shipped weights move the query.")
        values["model"] = path.strip() or AUTO
    values["gamma"] = controls.control(TreeHopSettings, "gamma", key=key)
    return values
