"""Why not this passage: where it fell in each method, and the smallest change that keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import streamlit as st

from tracert.comparing.budget import Entry, entry, most, own
from tracert.comparing.change import Search, smallest_change
from tracert.comparing.fate import CANDIDATES, Fate, Reach, fate, named, reaches
from tracert.errors import TracertError
from tracert.methods.first_stage import rank
from tracert.methods.registry import method
from tracert.render import compare_words as words
from tracert.render.compare_looks import short
from tracert.render.words import place, title
from tracert.trace import Trace, Value
from tracert.ui import components, controls
from tracert.ui.safe import literal
from tracert.ui.session import View, theme
from tracert.ui.views import compare_strip
from tracert.ui.views.compare_found import nodes
from tracert.ui.views.compare_runs import Compared, Unasked, ask, model_of
from tracert.workspace import Workspace

#: Seconds that one method's search may take, and that it goes on after a change is found.
PATIENCE, MORE = 15.0, 1.0
#: A search that takes longer than this says how far it is.
_QUIET: Final = 1.0
#: Passages that a search by words offers.
_OFFERED: Final = 6


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What became of the passage in one method: the run that names it, and how it fell."""

    entry: Entry
    fate: Fate
    reach: tuple[Reach, ...]


def show(space: Workspace, compared: Compared, view: View, *, key: str) -> None:
    """What became of the selected passage, method by method."""
    _find(space, compared, view, key=key)
    id = view.node
    node = None if id is None else nodes(compared)(id)
    if id is None or node is None or node.source is None:
        st.caption("Select a passage on the map or in the list, or search for one by its words.")
        return
    st.text(f"“{title(node)}” · {place(node)}")
    try:
        cases = [_case(space, compared, one, id) for one in compared.entries]
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    found: dict[Any, Search] = st.session_state.setdefault(f"{key}:searches", {})
    lost = [case for case in cases if case.fate.kept is None]
    for case in cases:
        _told(case, found.get(_of(case, view)), key=key)
    missing = [case for case in lost if _of(case, view) not in found]
    if missing and st.button(
        "Find the smallest change that keeps it",
        icon=":material/search_insights:",
        key=f"{key}:search",
        help="Each setting of each method that missed it is varied, alone, over its range, until "
        "the passage is kept. Every change shown was run.",
    ):
        for case in missing:
            _search(space, compared, case, found, view)
        st.rerun(scope="fragment")
    _steps(cases, key=key)


def _find(space: Workspace, compared: Compared, view: View, *, key: str) -> None:
    """Search a passage by its words."""
    text = st.text_input(
        "Find a passage by its words",
        key=f"{key}:find",
        placeholder="Why not this passage? Type some of its words",
        label_visibility="collapsed",
        icon=":material/search:",
        max_chars=300,
    )
    if not text.strip() or compared.live.embed is None:
        return
    snapshot = space.open(compared.asked.record.name)
    vector = compared.live.embed([text])[0]
    ids = [snapshot.ids[row] for row in rank(snapshot, text, vector, "hybrid", _OFFERED).rows]
    known = {id: nodes(compared)(id) for id in ids}
    items = [
        {"id": id, "title": title(node), "where": place(node)}
        for id, node in known.items()
        if node is not None
    ]
    data = {
        "dark": theme() == "dark",
        "selected": view.node,
        "groups": [{"heading": "", "items": items, "empty": "Nothing is like these words."}],
    }
    if view.pick(components.cards(data, key=f"{key}:offered")):
        st.rerun(scope="fragment")


# --- what became of it ----------------------------------------------------------------------------


def _case(space: Workspace, compared: Compared, one: Entry, id: str) -> Case:
    """The fate, from a run with more candidates where the page's own does not name the passage."""
    kind = method(one.method).settings_type
    if not named(one.trace, id) and "candidates_kept" in controls.names(kind):
        trace = _again(space, compared, one, {"candidates_kept": CANDIDATES}, one.budget)
        wider = entry(trace, one.budget)
        one = Entry(one.method, trace, one.budget, one.own, one.filled, wider.hops)
    told = fate(one, id)
    reach: tuple[Reach, ...] = ()
    if told.kept is None and told.cut is None and not told.chances:
        snapshot = space.open(compared.asked.record.name)
        if snapshot.ids.row(id) is not None:
            reach = reaches(one.trace, id, list(snapshot.ids), snapshot.matrix)
    return Case(one, told, reach)


def _again(
    space: Workspace, compared: Compared, one: Entry, more: dict[str, Value], budget: int
) -> Trace:
    values = {**compared.chosen.values.get(one.method, {}), **more}
    return ask(
        space,
        compared.asked,
        Unasked(one.method),
        values,
        budget,
        model=model_of(compared.chosen),
    )


def _told(case: Case, search: Search | None, *, key: str) -> None:
    one = case.entry
    said = words.what_became(case.fate, one.trace, reach=case.reach)
    badge = ":green-badge[found]" if case.fate.kept is not None else ":orange-badge[not found]"
    st.markdown(f"**{short(one.method)}** {badge} {literal(said)}")
    if search is None:
        return
    kind = method(one.method).settings_type
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        icon = "block" if search.smallest is None else "build"
        st.markdown(
            f":material/{icon}: {literal(words.search_words(search, case.fate, most(kind)))}",
            width="content",
        )
        if search.smallest is not None:
            st.button(
                "Make this change",
                key=f"{key}:apply:{one.method}",
                on_click=partial(compare_strip.apply, one.method, search.smallest, key=_root(key)),
                type="tertiary",
                icon=":material/arrow_forward:",
            )
    also = words.also_words(search)
    if also:
        st.caption(literal(also))


def _root(key: str) -> str:
    """The key of the page's controls."""
    return key.split(":", 1)[0]


def _steps(cases: list[Case], *, key: str) -> None:
    with st.expander("Every step that weighed it", icon=":material/format_list_numbered:"):
        shown = False
        for case in cases:
            if case.fate.chances:
                shown = True
                st.markdown(f"**{short(case.entry.method)}**")
                st.dataframe(
                    words.chance_rows(case.fate, case.entry.trace),
                    key=f"{key}:steps:{case.entry.method}",
                    hide_index=True,
                    placeholder="–",
                    alt=f"The steps of {short(case.entry.method)} that weighed the passage.",
                )
        if not shown:
            st.caption("No step of a method weighed it and turned it down.")


# --- the smallest change --------------------------------------------------------------------------


def _of(case: Case, view: View) -> tuple[str, str, str | None]:
    return view.revision, case.entry.method, view.node


def _search(
    space: Workspace,
    compared: Compared,
    case: Case,
    found: dict[Any, Search],
    view: View,
) -> None:
    one, id = case.entry, case.fate.id
    begun = time.perf_counter()
    quick = _quick(one.method)

    def keeps(values: Any, budget: int) -> bool:
        trace = ask(
            space,
            compared.asked,
            Unasked(one.method),
            {**values, **quick},
            budget,
            model=model_of(compared.chosen),
        )
        return id in own(trace, budget)

    keeps(compared.chosen.values.get(one.method, {}), one.budget)
    each = max(time.perf_counter() - begun, 1e-4)
    found[_of(case, view)] = smallest_change(
        method(one.method).settings_type,
        compared.chosen.values.get(one.method, {}),
        one.trace.settings,
        one.budget,
        keeps,
        most_runs=_runs(PATIENCE, each),
        more_runs=_runs(MORE, each),
        on_progress=_progress(one.method, begun),
    )
    while len(found) > 60:
        found.pop(next(iter(found)))


def _runs(seconds: float, each: float) -> int:
    return max(60, min(3000, int(seconds / each)))


def _quick(name: str) -> dict[str, Value]:
    """Fewer candidates in the trace, where that changes nothing but the trace."""
    there = "candidates_kept" in controls.names(method(name).settings_type)
    return {"candidates_kept": 1} if there else {}


def _progress(name: str, begun: float) -> Callable[[int], None]:
    """Says how far the search is once it takes longer than a moment."""
    place: Any = st.empty()

    def tell(runs: int) -> None:
        spent = time.perf_counter() - begun
        if spent > _QUIET and runs % 25 == 0:
            place.progress(
                min(1.0, spent / PATIENCE),
                text=f"{short(name)}: {runs:,} runs with another setting, {spent:.0f} s",
            )

    return tell
