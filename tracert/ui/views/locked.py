"""Files that wait for their password: asked for file by file, and kept nowhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from tracert.indexing import File, IndexReport
from tracert.ui.jobs import Job
from tracert.ui.safe import literal

#: Starts the indexing of files with passwords by the file's path.
Begin = Callable[[Sequence[File], Mapping[str, str]], None]


@dataclass(frozen=True, slots=True)
class Batch:
    """What an indexing was given, so that those that were locked can be handed in again."""

    files: tuple[File, ...]
    begin: Begin


def remember(batch: Batch, *, key: str) -> None:
    """Keep a batch that begins, in the session, until nothing of it waits."""
    st.session_state[f"{key}:batch"] = batch


def show(job: Job[Any, Any] | None, *, key: str) -> None:
    """A field for the password of each file that the job could not open."""
    batch: Batch | None = st.session_state.get(f"{key}:batch")
    report = job.report if job is not None and not job.running else None
    if batch is None or job is None or job.running:
        return
    locked = _locked(report)
    if not locked:
        del st.session_state[f"{key}:batch"]
        return
    # Of all that was handed in only what waits is kept.
    waiting = tuple(file for file in batch.files if _of(file, locked))
    st.session_state[f"{key}:batch"] = replace(batch, files=waiting)
    serial = st.session_state.get(f"{key}:locked-serial", 0)
    with st.form(f"{key}:locked:{serial}"):
        st.markdown("**:material/lock: " + _count(locked) + "**")
        st.caption("The password is used to read the file and is not kept.")
        typed = {}
        for number, (path, message) in enumerate(locked.items()):
            # A name in the label would be markdown, and its escapes be read out with it.
            st.text(path)
            typed[path] = st.text_input(
                "Password" if len(locked) == 1 else f"Password of file {number + 1}",
                type="password",
                key=f"{key}:password:{serial}:{number}",
                help=literal(message),
                autocomplete="off",
            )
        with st.container(horizontal=True):
            go = st.form_submit_button("Read with the password", type="primary")
            leave = st.form_submit_button("Leave out")
    if go and any(typed.values()):
        # Other fields next time, so that no typed password stays in the page's state.
        _forget(key, serial, len(locked))
        passwords = {path: word for path, word in typed.items() if word}
        batch.begin([f for f in waiting if _of(f, passwords)], passwords)
        st.rerun()
    if leave:
        _forget(key, serial, len(locked))
        del st.session_state[f"{key}:batch"]
        st.rerun()


def _forget(key: str, serial: int, count: int) -> None:
    st.session_state[f"{key}:locked-serial"] = serial + 1
    for number in range(count):
        st.session_state.pop(f"{key}:password:{serial}:{number}", None)


def _locked(report: object) -> dict[str, str]:
    """The files that wait, by path, with the sentence on each."""
    if not isinstance(report, IndexReport):
        return {}
    return {file.path: file.message for file in report.files if file.locked}


def _of(file: File, paths: Mapping[str, str]) -> bool:
    """Whether one of these paths is the file, or lies in it."""
    return any(path == file.name or path.startswith(f"{file.name}/") for path in paths)


def _count(locked: dict[str, str]) -> str:
    if len(locked) == 1:
        return "A file is protected by a password"
    return f"{len(locked)} files are protected by a password"
