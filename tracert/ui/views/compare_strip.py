"""What is compared: the methods, the one budget, each method's settings, and the map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import streamlit as st

from tracert.comparing.change import BUDGET, Change, adjustable
from tracert.errors import SettingError
from tracert.methods.registry import method, methods
from tracert.render.compare_looks import short
from tracert.trace import Value
from tracert.ui import controls
from tracert.ui.model import chat_model
from tracert.ui.safe import literal
from tracert.ui.views import studio
from tracert.ui.views.compare_runs import Chosen

#: What the page opens with, and the budgets that can be chosen.
DEFAULT: Final = ("native_rag", "tracert_rag", "treehop")
OPENING, LEAST, LARGEST = 8, 1, 50
_BUDGET_HELP: Final = (
    "So many passages at most for every method. Those that have a number of passages among their "
    "settings are asked for it; Tracert walks until it has so many or reaches its goal. What a "
    "method leaves free is filled up with plain top-k in an evaluation; here the fill-up is drawn "
    "hollow and counts for no method."
)
_MODEL_HELP: Final = (
    "Off: every method runs offline, with its stand-in where it would ask a model. On: the model "
    "predicts the goal and rewrites the question; Graph RAG lets it read the whole text once, "
    "which can take hundreds of calls. The session's budget of calls holds."
)


def corpus_methods() -> list[str]:
    """The methods that walk a corpus, in the registry's order."""
    return [name for name, one in methods().items() if one.needs == "corpus"]


def show(*, key: str) -> Chosen:
    """Draw the controls; the methods come back in the registry's order."""
    names = corpus_methods()
    st.session_state.setdefault(f"{key}:budget", OPENING)
    _make(key=key)
    st.session_state.setdefault(f"{key}:methods", [name for name in DEFAULT if name in names])
    left, middle, right = st.columns([4.2, 2, 2.2], gap="medium", vertical_alignment="bottom")
    with left:
        picked = st.pills(
            "Methods",
            names,
            selection_mode="multi",
            format_func=short,
            key=f"{key}:methods",
            persist_state="session",
            wrap=True,
            help="\n\n".join(f"**{short(name)}**: {methods()[name].summary}" for name in names),
        )
    with middle:
        budget = st.slider(
            "Passages for each",
            LEAST,
            LARGEST,
            step=1,
            key=f"{key}:budget",
            help=_BUDGET_HELP,
            persist_state="session",
        )
    chosen = tuple(name for name in names if name in picked)
    with (
        right,
        st.container(horizontal=True, horizontal_alignment="right", wrap=False, gap="small"),
    ):
        plane = studio.plane(key=key)
        with st.popover("Settings", icon=":material/tune:", key=f"{key}:more"):
            _settings(chosen or tuple(names), key=key)
    model = chat_model()
    with_model = model is not None and st.toggle(
        f"Let {literal(model.name)} take part",
        key=f"{key}:model",
        persist_state="session",
        help=_MODEL_HELP,
    )
    return Chosen(chosen, int(budget), values(key=key), plane, with_model)


def values(*, key: str) -> dict[str, dict[str, Value]]:
    """The settings of each method as they were left; a method that was not touched has none."""
    found: dict[str, dict[str, Value]] = st.session_state.setdefault(f"{key}:values", {})
    return found


def can_make(name: str, change: Change) -> bool:
    """Whether the page's control can stand where the change puts it."""
    if change.setting == BUDGET:
        return LEAST <= int(str(change.after)) <= LARGEST
    try:
        controls.fits(method(name).settings_type, change.setting, change.after)
    except SettingError:
        return False
    return True


def later(name: str, change: Change, *, key: str) -> None:
    """Make a change of one setting when the controls are drawn next.

    A control holds what it is set to only if that is done in the run that draws it.
    """
    st.session_state[f"{key}:pending"] = (name, change)


def _make(*, key: str) -> None:
    name, change = st.session_state.pop(f"{key}:pending", (None, None))
    if name is None:
        return
    if change.setting == BUDGET:
        st.session_state[f"{key}:budget"] = int(str(change.after))
        return
    held = values(key=key)
    held[name] = {**held.get(name, {}), change.setting: change.after}
    controls.preset(method(name).settings_type, held[name], key=_of(name, key))


def reset(name: str, *, key: str) -> None:
    """Bring a method's settings back to its defaults; to be called from a callback."""
    values(key=key).pop(name, None)
    controls.preset(method(name).settings_type, {}, key=_of(name, key))


def changed(name: str, held: Mapping[str, Value]) -> list[str]:
    """The labels of a method's settings that are not at their defaults."""
    kind = method(name).settings_type
    return [
        str(each.metadata["label"] or each.name)
        for each in adjustable(kind)
        if each.name in held and held[each.name] != each.default
    ]


def _of(name: str, key: str) -> str:
    return f"{key}:{name}"


def _settings(names: tuple[str, ...], *, key: str) -> None:
    """The controls of one method at a time; the others keep theirs."""
    name = st.segmented_control(
        "Settings of",
        names,
        default=names[0],
        required=True,
        format_func=short,
        key=f"{key}:settings-of:{'-'.join(names)}",
    )
    if name is None:
        return
    kind: Any = method(name).settings_type
    held: dict[str, Value] = {}
    for each in adjustable(kind):
        if "None" in str(each.type):
            held[each.name] = controls.open_control(kind, each.name, key=_of(name, key)).value
        else:
            held[each.name] = controls.control(kind, each.name, key=_of(name, key))
    values(key=key)[name] = held
    st.button(
        "Back to the defaults",
        icon=":material/restart_alt:",
        disabled=not changed(name, held),
        key=f"{key}:reset:{name}",
        on_click=reset,
        args=(name,),
        kwargs={"key": key},
    )
