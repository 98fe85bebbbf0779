"""A job while it runs and what came of it."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from tracert.indexing import STAGES as ORDER
from tracert.indexing import IndexReport, Progress
from tracert.render.numbers import count, seconds
from tracert.render.words.base import upright
from tracert.ui.jobs import STAGES, Job
from tracert.ui.safe import literal
from tracert.ui.views import job as job_view

Indexing = Job[Progress, IndexReport]

#: Files whose sentence stands above the table.
_SAID = 12

_STATUS = {
    "indexed": "Indexed",
    "partial": "Indexed in part",
    "unchanged": "Was there already",
    "refused": "Not read",
}


def show(job: Indexing, *, key: str) -> None:
    """The job's progress, looked at every half second, then its report."""
    if job.running:
        _watch(job, key)
    elif job.report is not None:
        report(job.report, key=key)
    else:
        st.warning(literal(job.message), icon=":material/block:")


@st.fragment(run_every=0.5)
def _watch(job: Indexing, key: str) -> None:
    if not job.running:
        st.rerun()
    with st.container(border=True):
        st.markdown(f"**{literal(job.title)}**")
        job_view.counted(job, _stage)
        job_view.stop(job, "Cancel", key=f"{key}:cancel")


def _stage(progress: Progress) -> str:
    return f"{ORDER.index(progress.stage) + 1} of {len(ORDER)} · {STAGES[progress.stage]}"


def report(made: IndexReport, *, key: str) -> None:
    """What became of each file, with a sentence where it needs one."""
    tally = Counter(_STATUS[file.status].lower().removeprefix("was ") for file in made.files)
    said = ", ".join(f"{number} {status}" for status, number in tally.items())
    if made.ok:
        st.success(
            f"{literal(made.corpus)} now has {count(made.chunks, 'passage')}. Files: {said}; "
            f"{seconds(sum(made.seconds.values()))}.",
            icon=":material/check_circle:",
        )
    else:
        st.error("No file could be read; see below what to do.", icon=":material/error:")
    _sentences(made)
    st.dataframe(
        {
            "File": [upright(file.path) for file in made.files],
            "Result": [_STATUS[file.status] for file in made.files],
            "Kind": [file.kind or "" for file in made.files],
            "Pages": [file.pages for file in made.files],
            "Passages": [file.chunks for file in made.files],
            "What to know": [upright(file.message) for file in made.files],
        },
        hide_index=True,
        key=f"{key}:report",
        column_config={"What to know": st.column_config.TextColumn(width="large")},
        alt="What became of each file.",
        placeholder="",
    )


def _sentences(made: IndexReport) -> None:
    """The sentence on each file that is not here whole: a cell of the table would cut it off."""
    said = [file for file in made.files if file.message and file.status in ("refused", "partial")]
    if not said:
        return
    with st.container(border=True, gap="small"):
        for file in said[:_SAID]:
            icon = "block" if file.status == "refused" else "warning"
            named = file.path.rsplit("/", 1)[-1] in file.message
            said_of = "" if named else f"**{literal(file.path)}** · "
            st.markdown(f":material/{icon}: {said_of}{literal(file.message)}")
        if len(said) > _SAID:
            st.caption(f"{count(len(said) - _SAID, 'more file')} with a sentence in the table.")
