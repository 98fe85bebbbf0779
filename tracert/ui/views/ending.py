"""How a walk ended, and what its steps remark, in a line each."""

from __future__ import annotations

import streamlit as st

from tracert.trace import StopReason, Trace
from tracert.ui.safe import literal


def show(trace: Trace, remark: str = "") -> None:
    """The end where it is otherwise than with all passages; what the steps say under `remark`."""
    stop = trace.result.stop
    if stop.reason is not StopReason.HOPS_DONE or stop.remedy:
        st.caption(f":material/info: {literal(f'{stop.message} {stop.remedy}'.strip())}")
    for step in trace.steps if remark else ():
        if said := step.values.get(remark):
            st.caption(f":material/warning: {literal(str(said))}")
