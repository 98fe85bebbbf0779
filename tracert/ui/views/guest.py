"""What a visitor of a public app should know: whose things are, how long they stay, signing in."""

from __future__ import annotations

import streamlit as st

from tracert.language.allowance import spent
from tracert.render.numbers import count
from tracert.ui import visitor
from tracert.ui.model import calls_file, settings
from tracert.ui.safe import literal


def show(*, key: str) -> None:
    """Whose the things made here are, and signing in or out; nothing in a private app."""
    hosted = visitor.hosted()
    if not hosted.public:
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        if visitor.signed_in() is not None:
            st.markdown(f"**{_name()}**, what you load here is yours alone.", width="stretch")
            if st.button("Sign out", key=f"{key}:out", icon=":material/logout:"):
                st.logout()
            return
        st.markdown(
            "What you load here belongs to **this browser tab** alone. It is gone when you reload "
            f"or close the tab, and deleted {count(hosted.hours, 'hour')} after its last change.",
            width="stretch",
        )
        if visitor.can_sign_in() and st.button(
            "Sign in to keep it", key=f"{key}:in", icon=":material/login:"
        ):
            st.login()


def _name() -> str:
    name = st.user.get("name") or st.user.get("email")
    return literal(name) if isinstance(name, str) else "Signed in"


def model() -> None:
    """The host's model, and what is left of its calls today."""
    st.subheader("Language model", anchor=False)
    name, hosted = settings().model.strip(), visitor.hosted()
    if not name:
        st.markdown("The host of this app set no model: goals and answers are made on its machine.")
        return
    left = max(0, hosted.calls - spent(calls_file()))
    st.markdown(f"The host of this app lends **{literal(name)}**.")
    st.progress(left / hosted.calls, f"{left:,} of {hosted.calls:,} calls are left today, for all")
