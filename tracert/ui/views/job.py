"""What any job shows while it works: a bar, and the button that stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import streamlit as st

from tracert.render.numbers import seconds
from tracert.ui.jobs import WAITING, Job


class Counted(Protocol):
    """How far a job is, counted; `seconds_left` is None before there is a pace."""

    @property
    def done(self) -> int:
        """How many are done."""
        ...

    @property
    def total(self) -> int:
        """Of how many."""
        ...

    @property
    def seconds_left(self) -> float | None:
        """The seconds still needed."""
        ...

    @property
    def item(self) -> str:
        """What is worked on, '' where it has no name."""
        ...


P = TypeVar("P", bound=Counted)


def counted(job: Job[P, Any], stage: Callable[[P], str]) -> None:
    """The bar of a job that counts, with the name of its stage, the time left and the item."""
    progress = job.progress
    if progress is None:
        beginning(job)
        return
    said = f"{stage(progress)} · {progress.done:,} of {progress.total:,}"
    if progress.seconds_left is not None and progress.seconds_left >= 1:
        said += f" · about {seconds(progress.seconds_left)} left"
    share = progress.done / progress.total if progress.total else 0.0
    st.progress(min(1.0, max(0.0, share)), said)
    if progress.item:
        st.text(progress.item)


def beginning(job: Job[Any, Any]) -> None:
    """The bar of a job that has told nothing yet."""
    st.progress(0.0, WAITING if job.waiting else "Beginning…")


def stop(job: Job[Any, Any], label: str, *, key: str, help: str | None = None) -> None:
    """The button that asks a job to stop."""
    st.button(
        "Stopping…" if job.cancelling else label,
        key=key,
        on_click=job.cancel,
        disabled=job.cancelling,
        icon=":material/stop_circle:",
        help=help,
    )
