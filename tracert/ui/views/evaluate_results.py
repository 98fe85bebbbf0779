"""What the kept runs gave: the open one with its state, tables, pictures, words and questions."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Final, Literal

import streamlit as st

from tracert.errors import TracertError
from tracert.evaluation.run import Head, Kept
from tracert.render.numbers import count
from tracert.ui import evaluating
from tracert.ui.model import chat_model
from tracert.ui.safe import literal
from tracert.ui.views import (
    evaluate_export,
    evaluate_figures,
    evaluate_progress,
    evaluate_questions,
)
from tracert.workspace import Workspace

_Colour = Literal["blue", "green", "orange", "red"]
_STATES: Final[Mapping[str, tuple[str, _Colour, str]]] = {
    "running": (":material/sync:", "blue", "Running"),
    "finished": (":material/check_circle:", "green", "Finished"),
    "stopped": (":material/pause_circle:", "orange", "Stopped"),
    "damaged": (":material/error:", "red", "Damaged"),
}
#: What is said of figures that do not move while the run goes on, so that one can read them.
_ANEW: Final = "The run goes on; *Show what is there* draws it anew."


def show(space: Workspace, *, key: str) -> None:
    """The kept runs, and the open one."""
    store = evaluating.runs()
    kept = store.kept()
    if not kept:
        st.info(
            "There is no run yet. Begin one in the view New run; the built-in questions take less "
            "than a minute.",
            icon=":material/play_circle:",
        )
        return
    one = _choose(kept, key=key)
    st.query_params["run"] = one.id
    job = evaluating.job_of(one.id)
    working = (job is not None and job.running) or store.busy(one.id)
    _header(space, one, working=working, key=key)
    if one.head is None:
        st.error(literal(one.fault), icon=":material/error:")
        return
    evaluate_progress.show(one, job, key=key)
    _figures(space, one, one.head, working=working, key=key)


def _figures(space: Workspace, kept: Kept, head: Head, *, working: bool, key: str) -> None:
    try:
        found = evaluating.measured(head, kept.lines)
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    if found is None:
        st.caption(
            f"No question had been asked of every method when this was drawn. {_ANEW}"
            if working
            else "No question has been asked of every method yet."
        )
        return
    measured, results = found
    if results.message:
        st.warning(literal(results.message), icon=":material/healing:")
    if len(results.questions) < results.total:
        done = f"the {len(results.questions):,} of {results.total:,} questions that every method"
        st.caption(
            f"Over {done} had been asked when this was drawn. {_ANEW}"
            if working
            else f"Over {done} was asked so far."
        )
    evaluate_figures.show(measured, key=f"{key}:{head.id}")
    evaluate_questions.show(space, head, measured, results, key=f"{key}:{head.id}")
    evaluate_export.show(head, measured, key=f"{key}:{head.id}")


# --- the runs -----------------------------------------------------------------------------


def _choose(kept: list[Kept], *, key: str) -> Kept:
    """The open run: the one of the session if it is there, else the newest."""
    by_id = {one.id: one for one in kept}
    name, memory = f"{key}:run", f"{key}:open"
    # The widget's own state goes when another view is shown; the memory stays.
    wanted = st.session_state.get(name) or st.session_state.get(memory)
    if wanted not in by_id:
        if wanted is not None:
            st.caption(":material/info: The run that was asked for is not here any more.")
        wanted = kept[0].id
    if st.session_state.get(name) != wanted:
        st.session_state[name] = wanted
    id = st.selectbox(
        f"Kept runs ({len(kept):,})",
        list(by_id),
        format_func=_names(kept).__getitem__,
        key=name,
    )
    st.session_state[memory] = id
    return by_id[id]


def _names(kept: list[Kept]) -> dict[str, str]:
    """What each run is called in the list; the browser tells them apart by that alone."""
    found: dict[str, str] = {}
    for one in kept:
        name = _called(one)
        found[one.id] = f"{name} · {one.id}" if name in found.values() else name
    return found


def _called(kept: Kept) -> str:
    if kept.head is None:
        return f"{kept.id} · cannot be read"
    when = datetime.datetime.fromtimestamp(kept.head.created).strftime("%d %b %Y, %H:%M")
    names = ", ".join(plan.label for plan in kept.head.methods)
    # No word on how far it is: the browser names the open run by what it is called here, and a
    # name that changes while the run goes on would be of no run any more.
    return f"{kept.head.title} · {names} · {when}"


def _far(kept: Kept) -> str:
    if kept.finished:
        return "finished"
    if kept.total is None or not kept.lines:
        return "just begun"
    return f"{kept.lines:,} of {kept.total:,}"


def _header(space: Workspace, kept: Kept, *, working: bool, key: str) -> None:
    state = (
        "damaged"
        if kept.head is None
        else "running"
        if working
        else "finished"
        if kept.finished
        else "stopped"
    )
    icon, colour, word = _STATES[state]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(word, icon=icon, color=colour)
        st.text(_about(kept, working=working), width="stretch")
        if state == "stopped" and kept.head is not None:
            _resume(space, kept.head, key=key)
        if kept.head is not None:
            _exactly(kept, kept.head, key=key)
        if not working:
            _delete(kept, key=key)
    refused = st.session_state.pop(f"{key}:refused-here", None)
    if refused:
        st.error(literal(refused), icon=":material/error:")


def _about(kept: Kept, *, working: bool) -> str:
    head = kept.head
    if head is None:
        return kept.id
    what = f"{count(len(head.methods), 'method')}, {count(head.k, 'passage')}, {head.embedder}"
    return what if working else f"{what} · {_far(kept)}"


def _resume(space: Workspace, head: Head, *, key: str) -> None:
    def resume() -> None:
        try:
            if head.asks_model and chat_model() is None:
                st.session_state[f"{key}:refused-here"] = (
                    "This run asks a language model, and none is named in this session. Name it "
                    "on the Settings page, then resume."
                )
                return
            evaluating.start(space, head)
        except TracertError as error:
            st.session_state[f"{key}:refused-here"] = str(error)

    st.button(
        "Resume",
        key=f"{key}:resume",
        on_click=resume,
        icon=":material/play_arrow:",
        type="primary",
    )


def _exactly(kept: Kept, head: Head, *, key: str) -> None:
    """Data, settings, versions and seeds: what is needed to do it again."""
    with st.popover("What was run", icon=":material/info:", type="tertiary", key=f"{key}:what"):
        when = datetime.datetime.fromtimestamp(head.created).strftime("%d %b %Y, %H:%M")
        lines = [f"Begun {when}", f"Embedder {head.embedder}, budget {head.k}"]
        lines += [
            f"{role}: {file.name} ({file.size:,} bytes, sha256 {file.sha256[:12]}…)"
            for role, file in head.files.items()
        ]
        lines += [f"{name}: {value}" for name, value in head.ground.items() if value]
        for plan in head.methods:
            given = ", ".join(f"{name}={value}" for name, value in plan.settings.items())
            lines.append(f"{plan.label}: {plan.name}, {given or 'its own defaults'}")
        lines.append(", ".join(f"{name} {value}" for name, value in head.versions.items()))
        lines.append(", ".join(f"seed of the {name} {value}" for name, value in head.seeds.items()))
        lines.append(f"Kept as {kept.id}")
        st.text("\n".join(lines))


def _delete(kept: Kept, *, key: str) -> None:
    def delete() -> None:
        try:
            evaluating.runs().delete(kept.id)
        except TracertError as error:
            st.session_state[f"{key}:refused-here"] = str(error)
            return
        evaluating.shared().jobs.pop(kept.id, None)
        for name in (f"{key}:run", f"{key}:open"):
            st.session_state.pop(name, None)
        st.query_params.pop("run", None)

    # A key of its own for each run, so that it closes and does not offer the next one.
    name = f"{key}:deleting:{kept.id}"
    with st.popover("Delete", icon=":material/delete:", type="tertiary", key=name):
        st.text(f"Delete this run with its {count(kept.lines, 'answered question')}?")
        st.button("Delete it", type="primary", key=f"{key}:delete", on_click=delete)
