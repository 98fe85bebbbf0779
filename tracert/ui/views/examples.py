"""Questions that can be clicked: a few as buttons, all of them one click further."""

from __future__ import annotations

import streamlit as st

from tracert.render.numbers import count
from tracert.ui.resources import Example
from tracert.ui.safe import literal

#: Characters of a question on a button.
_SHORT = 50


def show(examples: list[Example], shown: int, field: str, about: str, *, key: str) -> None:
    """The first `shown` as buttons and all in a list; a click writes one into the `field`.

    `field` is the name of the session's value that holds the question, `about` the title of the
    list.
    """
    name = f"{key}:examples"

    def taken(widget: str) -> None:
        if st.session_state[widget]:
            st.session_state[field] = st.session_state[widget]

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.pills(
            "Examples",
            [one.text for one in examples[:shown]],
            format_func=_short,
            key=name,
            label_visibility="collapsed",
            on_change=taken,
            args=(name,),
        )
        with st.popover("All examples", icon=":material/list:", type="tertiary"):
            hops = {one.text: one.hops for one in examples}
            st.radio(
                about,
                list(hops),
                index=None,
                format_func=lambda text: f"{literal(text)} ({count(hops[text], 'hop')})",
                key=f"{name}:all",
                on_change=taken,
                args=(f"{name}:all",),
            )


def _short(text: str) -> str:
    cut = text if len(text) <= _SHORT else text[: _SHORT - 1].rsplit(" ", 1)[0] + "…"
    return literal(cut)
