"""A run while somebody works on it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from tracert.evaluation.run import Kept
from tracert.render.numbers import count
from tracert.ui import evaluating
from tracert.ui.evaluating import Evaluating
from tracert.ui.safe import literal
from tracert.ui.views import job as job_view

_STAGES: Final = {
    "open": "Opening the data",
    "embed": "Embedding the passages",
    "make": "Making the graph",
    "ask": "Asking",
}


def show(kept: Kept, job: Evaluating | None, *, key: str) -> None:
    """Progress with what is left, looked at while the run goes on; the page is drawn anew after.

    Nothing looks any more once nobody works on the run.
    """
    if job is not None and job.running:
        _watch(job, key)
    elif evaluating.runs().busy(kept.id):
        _watch_other(kept, key)
    elif job is not None and job.message and not kept.finished:
        st.warning(literal(job.message), icon=":material/pause_circle:")


@st.fragment(run_every=0.5)
def _watch(job: Evaluating, key: str) -> None:
    if not job.running:
        st.rerun()
    with st.container(border=True):
        job_view.counted(job, lambda progress: _STAGES[progress.stage])
        with st.container(horizontal=True, gap="small"):
            job_view.stop(
                job,
                "Stop",
                key=f"{key}:stop",
                help="What was asked is kept. The run can be resumed.",
            )
            if st.button("Show what is there", key=f"{key}:look", icon=":material/refresh:"):
                st.rerun()


@st.fragment(run_every=2.0)
def _watch_other(kept: Kept, key: str) -> None:
    """A run in the hands of another process."""
    store = evaluating.runs()
    if not store.busy(kept.id):
        st.rerun()
    now = next((one for one in store.kept() if one.id == kept.id), kept)
    of = f" of {now.total:,}" if now.total else ""
    with st.container(border=True):
        st.text(
            f"Another process works on this run: {count(now.lines, 'question')}{of} asked. Stop it "
            "there."
        )
        if st.button("Show what is there", key=f"{key}:look-other", icon=":material/refresh:"):
            st.rerun()
