"""The communities that a walk named: rated or held, kept or not, with their summaries."""

from __future__ import annotations

from typing import Final

import streamlit as st

from tracert.render import groups
from tracert.render.numbers import count, plain
from tracert.trace import Candidate, NodeKind, Trace
from tracert.ui import components, redraw
from tracert.ui.live import Live
from tracert.ui.session import View, theme

#: Communities listed that were not kept.
_LISTED: Final = 30


def show(trace: Trace, view: View, live: Live, *, key: str) -> None:  # noqa: ARG001
    """The communities as lists that can be clicked, then the summary of the one selected."""
    titles = {node.id: node for node in trace.nodes if node.kind is NodeKind.COMMUNITY}
    if not titles:
        st.caption("This walk named no community: its entities are tied to no others.")
        return
    rated = next((step for step in trace.steps if step.action == "communities"), None)
    held = _members(trace)
    if rated is None:
        kept = [id for id in titles if any(one in held.get(id, {}) for one in _kept(trace))]
        first, second = "Communities of the entities kept", "Other communities that were met"
        numbers = {id: f"{count(len(held.get(id, {})), 'entity', 'entities')} met" for id in titles}
    else:
        kept = [item.id for item in rated.candidates if item.kept]
        first, second = "Chosen by their summaries", "Rated lower"
        numbers = {item.id: _rated(item) for item in rated.candidates}
    others = [id for id in titles if id not in kept]

    def items(ids: list[str]) -> list[dict[str, object]]:
        return [
            {
                "id": id,
                "badge": str(place),
                "path": id in kept,
                "title": titles[id].label,
                "where": numbers.get(id, ""),
            }
            for place, id in enumerate(ids, start=1 if ids is kept else len(kept) + 1)
        ]

    data = {
        "dark": theme() == "dark",
        "selected": view.node,
        "groups": [
            {"heading": first, "count": len(kept), "empty": "None.", "items": items(kept)},
        ],
    }
    if view.pick(components.cards(data, key=f"{key}:panel:chosen")):
        redraw.fragment()
    if others:
        with st.expander(f"{second} ({len(others):,})"):
            rest = {**data, "groups": [{"heading": "", "items": items(others)[:_LISTED]}]}
            if view.pick(components.cards(rest, key=f"{key}:panel:others")):
                redraw.fragment()
    _summary(trace, view, next(iter(kept), None), key=key)


def _summary(trace: Trace, view: View, first: str | None, *, key: str) -> None:
    """The summary of the community that is selected, or of the selected entity's, or the first."""
    known = {one.id: one for one in trace.nodes if one.kind is NodeKind.COMMUNITY}
    chosen = groups.communities(trace).get(view.node or "", view.node)
    node = known.get(chosen or "") or known.get(first or "")
    if node is None:
        st.caption("Select a community, here or in the graph, to read its summary.")
        return
    st.markdown("**Its summary**" if node.id == chosen else "**The summary of the first**")
    st.text(node.label)
    components.passage([("here", node.text or "It has no summary.")], key=f"{key}:summary")


def _members(trace: Trace) -> dict[str, dict[str, None]]:
    """The entities that the walk named, by community."""
    found: dict[str, dict[str, None]] = {}
    for entity, community in groups.communities(trace).items():
        found.setdefault(community, {})[entity] = None
    return found


def _kept(trace: Trace) -> set[str]:
    return {item.id for step in trace.steps for item in step.candidates if item.kept}


def _rated(item: Candidate) -> str:
    rating = item.values.get("rating")
    parts = [f"rated {plain(rating, 0)} of 100 by the model"] if rating is not None else []
    if rating is None:
        parts.append(f"score {plain(item.values.get('score'))}")
        parts.append(f"similarity {plain(item.values.get('similarity'))}")
        parts.append(f"words {plain(item.values.get('term'))}")
    members = item.values.get("members")
    if isinstance(members, int | float):
        parts.append(count(int(members), "entity", "entities"))
    return " · ".join(parts)
