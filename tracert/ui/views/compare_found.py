"""Who found what: the cards, the matrix of passages, and the same as a table."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from tracert.comparing.change import adjustable
from tracert.methods.registry import method
from tracert.render import compare_found as found
from tracert.render.compare_words import told
from tracert.render.palette import Theme
from tracert.trace import Node
from tracert.ui import components, redraw
from tracert.ui.live import node_of
from tracert.ui.session import View, theme
from tracert.ui.views.compare_runs import Compared


def nodes(compared: Compared) -> found.NodeOf:
    """Any passage of the corpus, by its id."""

    def node(id: str) -> Node | None:
        return next(
            (known for one in compared.entries if (known := node_of(one.trace, compared.live, id))),
            None,
        )

    return node


def board(compared: Compared, view: View, *, key: str) -> None:
    """A card a method; a gold passage that is clicked is selected everywhere."""
    data: dict[str, Any] = {
        "kind": "board",
        "dark": theme() == "dark",
        "selected": view.node,
        "methods": found.board(
            compared.entries,
            compared.gold,
            nodes(compared),
            theme=cast(Theme, theme()),
            unit=compared.unit,
            changed={one.method: _changed(compared, one.method) for one in compared.entries},
        ),
    }
    if view.pick(components.compare(data, key=f"{key}:board")):
        redraw.fragment()


def _changed(compared: Compared, name: str) -> str:
    """'Alpha 0.05, Start best' for a method whose settings are not its defaults."""
    held = compared.chosen.of(name)
    return ", ".join(
        f"{each.metadata['label'] or each.name} {told(held[each.name])}"
        for each in adjustable(method(name).settings_type)
        if each.name in held and held[each.name] != each.default
    )


def matrix(compared: Compared, view: View, *, key: str) -> None:
    """Passages by methods with ranks, grouped by who found them."""
    made = found.matrix(
        compared.entries,
        compared.gold,
        nodes(compared),
        theme=cast(Theme, theme()),
        unit=compared.unit,
    )
    data = {"kind": "matrix", "dark": theme() == "dark", "selected": view.node, **made}
    if view.pick(components.compare(data, key=f"{key}:matrix")):
        redraw.fragment()
    said = "The number is the rank in each method's own order."
    if any(one.filled for one in compared.entries):
        said += (
            " Hollow: filled up with plain top-k, as an evaluation at equal budget does; the "
            "method did not find it, so it counts for nothing here."
        )
    st.caption(said)


def table(compared: Compared, view: View, *, key: str) -> None:
    """The same as a table that can be sorted and saved; a row selects its passage."""
    rows = found.table(compared.entries, compared.gold, nodes(compared))
    ids = rows.pop("id")
    name = f"{key}:table:{view.revision}"

    def selected() -> None:
        chosen = st.session_state[name].selection.rows
        if chosen and 0 <= chosen[0] < len(ids):
            view.select(ids[chosen[0]])

    st.dataframe(
        rows,
        key=name,
        hide_index=True,
        placeholder="–",
        on_select=selected,
        selection_mode="single-row",
        alt="Passages by methods, with the rank of each passage in each method.",
    )


def cost(compared: Compared, *, key: str) -> None:
    """Milliseconds by stage."""
    rows = found.cost_rows(compared.entries)
    most = max((value for value in rows["All ms"] if value), default=1.0)
    columns: dict[str, Any] = {
        name: st.column_config.NumberColumn(format="%.1f") for name in rows if name.endswith(" ms")
    }
    columns["Index, once (s)"] = st.column_config.NumberColumn(format="%.1f")
    columns["All ms"] = st.column_config.ProgressColumn(
        format="%.1f ms", min_value=0.0, max_value=most
    )
    st.dataframe(
        rows,
        key=f"{key}:cost",
        hide_index=True,
        placeholder="–",
        column_config=columns,
        alt="The milliseconds of each method by stage.",
    )
    st.caption(
        "Milliseconds on this machine, of the method alone: neither the map nor the answer counts. "
        "What was embedded or asked once for this question is shown with what it cost then; an "
        "index of the whole text is made once for all questions."
    )
