"""One map with a path a method, or a stage a method; one selection, one player."""

from __future__ import annotations

from typing import Final, cast

import streamlit as st

from tracert.render import compare_map
from tracert.render.compare_looks import look, short
from tracert.render.map import selected_ids
from tracert.render.palette import Theme
from tracert.ui.session import View, theme
from tracert.ui.session import view as view_of
from tracert.ui.views import stage
from tracert.ui.views.compare_runs import Compared

ALL: Final = "All"


def show(compared: Compared, view: View, *, key: str) -> None:
    """The shared map with the player of all methods."""
    last = compare_map.last_hop(compared.entries)
    hop = _player(last, key=key)
    names = [one.method for one in compared.entries]
    strong = st.segmented_control(
        "Draw strong",
        [ALL, *names],
        default=ALL,
        required=True,
        format_func=lambda name: name if name == ALL else short(name),
        key=f"{key}:strong:{'-'.join(names)}",
        label_visibility="collapsed",
    )
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
    st.caption(
        f"{kind.upper()} map, the same for all: a marker inside another means that both methods "
        "found the passage. Question, goal and moved queries are placed on it afterwards, so "
        f"approximate. {compared.live.map_note}"
    )


def _player(last: int, *, key: str) -> int:
    """The hop up to which every path is drawn; one slider drives them all."""
    if last < 1:
        return last
    return int(
        st.slider(
            "Hop",
            0,
            last,
            last,
            key=f"{key}:hop:{last}",
            help="Hop 1 is what the question finds by itself; each further hop starts at what was "
            "found before. The slider moves all paths together.",
        )
    )


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
                    st.rerun(scope="fragment")
