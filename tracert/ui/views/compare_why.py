"""Why not this passage: where it fell in each method, and the smallest change that keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

from tracert.comparing.budget import Entry, entry, most, own
from tracert.comparing.change import Search, smallest_change
from tracert.comparing.fate import CANDIDATES, Fate, Reach, fate, named, reaches
from tracert.comparing.unasked import Unasked
from tracert.errors import TracertError
from tracert.knowledge.opened import OpenGraph
from tracert.methods.first_stage import rank
from tracert.methods.registry import method
from tracert.methods.trailgraph.scoring import base as scoring
from tracert.methods.trailgraph.scoring.offline import OfflineScorer
from tracert.render import compare_words as words
from tracert.render.compare_looks import short
from tracert.render.words import place, title
from tracert.trace import NodeKind, Value
from tracert.ui import components, controls, redraw
from tracert.ui.safe import literal
from tracert.ui.session import View, theme
from tracert.ui.views import compare_strip
from tracert.ui.views.compare_found import nodes
from tracert.ui.views.compare_runs import Compared

#: Seconds that one method's search may take, and that it goes on after a change is found.
PATIENCE, MORE = 15.0, 1.0
#: A search that takes longer than this says how far it is.
_QUIET: Final = 1.0
#: Passages that a search by words offers, and searches for changes that a session keeps.
_OFFERED: Final = 6
_SEARCHES: Final = 60
#: The setting that changes what a trace names.
_NAMED: Final = "candidates_kept"


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What became of the passage in one method: the run that names it, and how it fell."""

    entry: Entry
    fate: Fate
    reach: tuple[Reach, ...] = ()
    offered_by: tuple[str, ...] = ()


def show(compared: Compared, view: View, *, key: str, root: str = "") -> None:
    """What became of the selected passage, method by method.

    `root` is the key of the page's controls, where a change can be made; '' where there are none.
    """
    _find(compared, view, key=key)
    id = view.node
    node = None if id is None else nodes(compared)(id)
    if id is None or node is None or node.kind not in (NodeKind.CHUNK, NodeKind.NOTE):
        st.caption(
            f"Select a {compared.unit} on the map or in the list, or search for one by its words."
        )
        return
    st.text(f"“{title(node)}” · {place(node)}")
    try:
        cases = [_case(compared, one, id) for one in compared.entries]
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    found: dict[Any, Search] = st.session_state.setdefault(f"{key}:searches", {})
    results, spot = st.container(), st.empty()
    missing = [
        case for case in cases if case.fate.kept is None and _of(compared, case) not in found
    ]
    if missing and spot.button(
        "Find the smallest change that keeps it",
        icon=":material/search_insights:",
        key=f"{key}:search",
        help="Each setting of each method that missed it is varied, alone, over its range, until "
        f"the {compared.unit} is kept. Every change shown was run.",
    ):
        spot.empty()
        for case in missing:
            _search(compared, case, found)
    with results:
        for case in cases:
            _told(case, found.get(_of(compared, case)), key=key, root=root)
    _steps(cases, key=key)


# --- any passage, by its words --------------------------------------------------------------------


def _find(compared: Compared, view: View, *, key: str) -> None:
    text = st.text_input(
        f"Find a {compared.unit} by its words",
        key=f"{key}:find",
        placeholder=f"Why not this {compared.unit}? Type some of its words",
        label_visibility="collapsed",
        icon=":material/search:",
        max_chars=300,
    )
    if not text.strip():
        return
    known = {id: nodes(compared)(id) for id in _like(compared, text.strip())}
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
        redraw.fragment()


def _like(compared: Compared, text: str) -> list[str]:
    """The passages or notes that are most like some words, best first."""
    embed, over = compared.live.embed, compared.over
    if embed is None:
        return []
    vector = embed([text])[0]
    if isinstance(over, OpenGraph):
        return OfflineScorer(over).rank(scoring.Asked(text, vector), _OFFERED)
    return [over.ids[row] for row in rank(over, text, vector, "hybrid", _OFFERED).rows]


# --- what became of it ----------------------------------------------------------------------------


def _case(compared: Compared, one: Entry, id: str) -> Case:
    """The fate, from a run with more candidates where the page's own does not name the passage."""
    if not named(one.trace, id) and _names_more(compared, one):
        values = {**compared.chosen.of(one.method), _NAMED: CANDIDATES}
        trace = compared.again(Unasked(one.method), values, one.budget)
        one = replace(one, trace=trace, hops=entry(trace, one.budget).hops)
    told = fate(one, id)
    if told.kept is not None or told.cut is not None or told.chances:
        return Case(one, told)
    over = compared.over
    if isinstance(over, OpenGraph):
        return Case(one, told, offered_by=_linking(over, id))
    if over.ids.row(id) is None:
        return Case(one, told)
    return Case(one, told, reach=reaches(one.trace, id, over.ids, over.matrix))


def _names_more(compared: Compared, one: Entry) -> bool:
    """Whether a setting changes what the trace names and nothing else.

    Over notes it also changes how many are scored.
    """
    if isinstance(compared.over, OpenGraph):
        return False
    return _NAMED in controls.names(method(one.method).settings_type)


def _linking(opened: OpenGraph, id: str) -> tuple[str, ...]:
    """The titles of the notes that offer this one."""
    return tuple(
        opened.note(path).title
        for path in opened.paths
        if id in (*opened.note(path).children, *opened.note(path).related)
    )


def _told(case: Case, search: Search | None, *, key: str, root: str) -> None:
    one = case.entry
    said = words.what_became(case.fate, one.trace, reach=case.reach, offered_by=case.offered_by)
    badge = ":green-badge[found]" if case.fate.kept is not None else ":orange-badge[not found]"
    st.markdown(f"**{short(one.method)}** {badge} {literal(said)}")
    if search is None:
        return
    change = search.smallest
    said = words.search_words(search, case.fate, most(method(one.method).settings_type))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        icon = "block" if change is None else "build"
        st.markdown(f":material/{icon}: {literal(said)}", width="content")
        if change is not None and root and compare_strip.can_make(one.method, change):
            made = st.button(
                "Make this change",
                key=f"{key}:apply:{one.method}",
                type="tertiary",
                icon=":material/arrow_forward:",
            )
            if made:
                compare_strip.later(one.method, change, key=root)
                st.rerun()  # controls and runs are outside of this fragment
    also = words.also_words(search)
    if also:
        st.caption(literal(also))


def _steps(cases: list[Case], *, key: str) -> None:
    weighed = [case for case in cases if case.fate.chances]
    if not weighed:
        return
    with st.expander("Every step that weighed it", icon=":material/format_list_numbered:"):
        for case in weighed:
            name = short(case.entry.method)
            st.markdown(f"**{name}**")
            st.dataframe(
                words.chance_rows(case.fate, case.entry.trace),
                key=f"{key}:steps:{case.entry.method}",
                hide_index=True,
                placeholder="–",
                alt=f"The steps of {name} that weighed it and did not take it.",
            )


# --- the smallest change --------------------------------------------------------------------------


def _of(compared: Compared, case: Case) -> tuple[Any, ...]:
    """What a search depends on: nothing of the other methods."""
    one, chosen = case.entry, compared.chosen
    values = tuple(sorted(chosen.of(one.method).items(), key=lambda item: item[0]))
    over = compared.over.info.fingerprint
    return over, compared.question, one.method, one.budget, values, case.fate.id


def _search(compared: Compared, case: Case, found: dict[Any, Search]) -> None:
    one, id = case.entry, case.fate.id
    silent, values = Unasked(one.method), compared.chosen.of(one.method)
    quick: dict[str, Value] = {_NAMED: 1} if _names_more(compared, one) else {}

    def keeps(values: Mapping[str, Value], budget: int) -> bool:
        return id in own(compared.again(silent, {**values, **quick}, budget), budget)

    bar = st.empty()
    begun = time.perf_counter()
    keeps(values, one.budget)
    each = max(time.perf_counter() - begun, 1e-4)
    found[_of(compared, case)] = smallest_change(
        method(one.method).settings_type,
        values,
        one.trace.settings,
        one.budget,
        keeps,
        most_runs=_runs(PATIENCE, each),
        more_runs=_runs(MORE, each),
        on_progress=_progress(one.method, begun, bar),
    )
    bar.empty()
    while len(found) > _SEARCHES:
        found.pop(next(iter(found)))


def _runs(seconds: float, each: float) -> int:
    return max(20, min(3000, int(seconds / each)))


def _progress(name: str, begun: float, bar: Any) -> Callable[[int], None]:
    """Says how far the search is once it takes longer than a moment."""

    def tell(runs: int) -> None:
        spent = time.perf_counter() - begun
        if spent > _QUIET and runs % 25 == 0:
            bar.progress(
                min(1.0, spent / PATIENCE),
                text=f"{short(name)}: {runs:,} runs with another setting, {spent:.0f} s",
            )

    return tell
