"""The limits of reading: how large a file may be, and what reading it may take."""

from __future__ import annotations

import streamlit as st

from tracert.corpus.loaders import Limits
from tracert.corpus.loaders.limits import LIMITS, set_by, value
from tracert.errors import TracertError
from tracert.ui.limits import keep, limits
from tracert.ui.safe import literal


def show(*, key: str) -> None:
    """The form; limits that the host set are shown and cannot be changed."""
    st.subheader("Reading files", anchor=False)
    st.caption(
        "Each file is read in a process of its own that is ended when it takes too much, so that "
        "one bad file stops nothing. These limits hold for this browser session."
    )
    try:
        now = limits()
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    fixed = set_by()
    serial = st.session_state.get(f"{key}:serial", 0)
    with st.form(f"{key}:form"):
        columns = st.columns(4)
        typed = {}
        for at, (name, limit) in enumerate(LIMITS.items()):
            with columns[at % len(columns)]:
                typed[name] = st.number_input(
                    limit.words[0].upper() + limit.words[1:],
                    1,
                    limit.most,
                    value(now, name),
                    key=f"{key}:{name}:{serial}",
                    disabled=name in fixed,
                    help="Set by the host of this app." if name in fixed else None,
                )
        with st.container(horizontal=True):
            use = st.form_submit_button("Use these limits", type="primary")
            usual = st.form_submit_button("Back to the usual limits")
    if use:
        keep({name: str(number) for name, number in typed.items() if name not in fixed})
        st.toast("These limits are in force.", icon=":material/check:")
    if usual:
        st.session_state[f"{key}:serial"] = serial + 1
        keep({name: str(value(Limits(), name)) for name in LIMITS if name not in fixed})
        st.rerun()
