"""One map with a path a method, or a stage a method; one selection, one player."""

from __future__ import annotations

import time
from typing import Final, cast

import streamlit as st

from tracert.render import compare_map
from tracert.render.compare_looks import look, short
from tracert.render.map import selected_ids
from tracert.render.palette import Theme
from tracert.ui import redraw
from tracert.ui.session import View, theme
from tracert.ui.session import view as view_of
from tracert.ui.views import stage
from tracert.ui.views.compare_runs import Compared

ALL: Final = "All"
#: Seconds a hop of the player.
PACE: Final = 1.1


def show(compared: Compared, view: View, *, key: str) -> None:
    """The shared map with the player of all methods.

    While it plays, the map is a fragment of its own that moves by itself; a click on Stop, and the
    last hop, hand it back to the page.
    """
    if not st.session_state.get(_playing(key)):
        _draw(compared, view, key=key)
        return

    @st.fragment(run_every=PACE)
    def moving() -> None:
        if not _moves_on(compare_map.last_hop(compared.entries), key=key):
            st.rerun()
        _draw(compared, view, key=key)

    moving()


def _draw(compared: Compared, view: View, *, key: str) -> None:
    hop = _player(compare_map.last_hop(compared.entries), key=key)
    names = [one.method for one in compared.entries]
    strong: str | None = ALL
    if len(names) > 1:
        strong = st.segmented_control(
            "Draw strong",
            [ALL, *names],
            default=ALL,
            required=True,
            format_func=lambda name: name if name == ALL else short(name),
            key=f"{key}:strong:{'-'.join(names)}",
            label_visibility="collapsed",
        )
    st.text(compare_map.said(compared.entries, hop, compared.gold, compared.unit))
    chart = f"{key}:map"
    ground = compared.live.ground
    made = compare_map.figure(
        compared.entries,
        hop,
        theme=cast(Theme, theme()),
        ground=ground,
        gold=compared.gold,
        selected=view.node,
        highlighted=None if strong in (None, ALL) else strong,
    )

    def selected() -> None:
        for one in compared.entries:
            ids = selected_ids(st.session_state.get(chart), one.trace, ground)
            if ids:
                view.select(ids[0])
                return

    st.plotly_chart(
        made,
        key=chart,
        theme=None,
        on_select=selected,
        selection_mode="points",
        config={"scrollZoom": True, "displaylogo": False, "displayModeBar": "hover"},
        alt=compare_map.text_of_map(compared.entries, hop),
    )
    kind = next((one.trace.map.kind for one in compared.entries if one.trace.map), "")
    nested = (
        "the same for all: a marker inside another means that both methods found the "
        f"{compared.unit}. "
        if len(names) > 1
        else ""
    )
    st.caption(
        f"{kind.upper()} map{', ' + nested if nested else '. '}Question, goal and moved queries "
        f"are placed on it afterwards, so approximate. {compared.live.map_note}"
    )


# --- the player -----------------------------------------------------------------------------------


def _playing(key: str) -> str:
    return f"{key}:playing"


def _player(last: int, *, key: str) -> int:
    """The hop up to which every path is drawn; one slider drives them all."""
    if last < 1:
        return last
    name = f"{key}:hop:{last}"
    st.session_state.setdefault(name, last)
    playing = bool(st.session_state.get(_playing(key)))

    def pressed() -> None:
        st.session_state[_playing(key)] = not playing
        st.session_state[f"{key}:moved"] = time.monotonic()
        if not playing:
            st.session_state[name] = 0

    left, right = st.columns([1, 4.4], gap="medium", vertical_alignment="bottom", wrap=False)
    with left:
        st.button(
            "Stop" if playing else "Play",
            icon=":material/stop:" if playing else ":material/play_arrow:",
            key=f"{key}:play",
            on_click=pressed,
        )
    with right:
        return int(
            st.slider(
                "Hop",
                0,
                last,
                step=1,
                key=name,
                help="Hop 1 is what the question finds by itself; each further hop starts at what "
                "was found before. The slider moves all paths together.",
            )
        )


def _moves_on(last: int, *, key: str) -> bool:
    """One hop further if its time has come; False once it is over."""
    name = f"{key}:hop:{last}"
    if not st.session_state.get(_playing(key)):
        return False
    now = time.monotonic()
    if now - st.session_state.get(f"{key}:moved", now) < 0.8 * PACE:
        return True
    if st.session_state.get(name, last) >= last:
        st.session_state[_playing(key)] = False
        return False
    st.session_state[name] += 1
    st.session_state[f"{key}:moved"] = now
    return True


def stages(compared: Compared, view: View, *, key: str) -> None:
    """Each method's own graph with its own player, two in a row."""
    entries = compared.entries
    for start in range(0, len(entries), 2):
        columns = st.columns(2, gap="medium")
        for column, one in zip(columns, entries[start : start + 2], strict=False):
            with column:
                st.markdown(
                    f"**{short(one.method)}**", help=f"Drawn as a {look(one.method).shape}."
                )
                own = view_of(f"{key}:{one.method}", one.trace)
                if own.node != view.node and any(node.id == view.node for node in one.trace.nodes):
                    own.select(view.node)
                before = own.node
                stage.show(one.trace, own, key=f"{key}:{one.method}")
                if own.node != before and own.node is not None:
                    view.select(own.node)
                    redraw.fragment()
