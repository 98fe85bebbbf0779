"""Links to the page Compare: the corpus, the question, the methods, the budget, the settings."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import streamlit as st

from tracert.methods.registry import method
from tracert.ui import arrival, components, controls
from tracert.ui.link import Link, Several, query_of_several
from tracert.ui.running import Asked
from tracert.ui.views import missing
from tracert.ui.views.compare_runs import Chosen
from tracert.ui.views.compare_strip import LARGEST, LEAST, corpus_methods, values
from tracert.workspace import Workspace


def _kinds() -> dict[str, type[Any]]:
    return {name: method(name).settings_type for name in corpus_methods()}


def missing_or_told(space: Workspace, *, key: str) -> bool:
    """Take the link that opened this page; True where its corpus is missing, which is then said."""
    shelf = arrival.shelf_of(space.corpora())
    asked = arrival.arrive_to_compare(_kinds(), shelf, (LEAST, LARGEST), key=key)
    if asked is not None:
        if asked.methods:
            st.session_state[f"{key}:methods"] = list(asked.methods)
        if asked.budget is not None:
            st.session_state[f"{key}:budget"] = asked.budget
        for name, held in asked.settings.items():
            values(key=key)[name] = dict(held)
            controls.preset(method(name).settings_type, held, key=f"{key}:{name}")
    if missing.show(shelf, key=key, method=None):
        return True
    arrival.notices(key=key)
    return False


def show(asked: Asked, chosen: Chosen, *, key: str) -> None:
    """The link to this comparison."""
    link = Link(asked.record.name, asked.record.fingerprint, asked.question)
    several = Several(link, chosen.methods, chosen.budget, chosen.values)
    address = query_of_several(several, _kinds())
    arrival.keep_true(dict(parse_qsl(address)))
    with (
        st.container(horizontal=True, horizontal_alignment="right"),
        st.popover("Share", icon=":material/ios_share:", key=f"{key}:share"),
    ):
        st.markdown("**A link to this comparison**")
        components.link(address, key=f"{key}:link")
        st.caption(
            "It names corpus, question, methods, budget and changed settings. Whoever opens it "
            "needs the same corpus."
        )
