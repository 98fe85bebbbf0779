"""Evaluations of this process: the kept runs, who works on them, and their data while open.

A run belongs to the data folder and not to a browser session, so a page that is loaded again
finds it, and so does another window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

import streamlit as st

from tracert.evaluation.gold_chain import GoldSets
from tracert.evaluation.ground import Ground
from tracert.evaluation.run import Head
from tracert.evaluation.runs import Runs
from tracert.evaluation.work import Progress, Results, go_on, open_ground, results
from tracert.recent import Recent
from tracert.render.evaluation_tables import Measured
from tracert.ui import visitor
from tracert.ui.jobs import Job
from tracert.ui.model import chat_model, named_embedder
from tracert.workspace import Workspace

Evaluating = Job[Progress, None]
STOPPED = "Stopped. What was asked is kept; resume the run when you like."


@dataclass(slots=True, eq=False)
class _Shared:
    """What all sessions share."""

    jobs: dict[str, Evaluating] = field(default_factory=dict)
    grounds: Recent[Ground] = field(default_factory=lambda: Recent(2))
    lock: Lock = field(default_factory=Lock)


@st.cache_resource(max_entries=200, show_spinner=False)
def _shared(path: str) -> _Shared:  # noqa: ARG001 the key
    return _Shared()


def shared() -> _Shared:
    """What belongs to the data folder, or in a public app to one visitor's."""
    return _shared(str(visitor.folder()))


def runs() -> Runs:
    """The runs that are kept."""
    return Runs(visitor.folder() / "evaluations")


def gold_sets() -> GoldSets:
    """The sets of gold chains that are kept."""
    return GoldSets(visitor.folder() / "gold")


def job_of(id: str) -> Evaluating | None:
    """The work on a run that this process began, running or done; None where it did not."""
    return shared().jobs.get(id)


def running() -> list[str]:
    """The runs that this process works on, the newest first."""
    return sorted((id for id, job in shared().jobs.items() if job.running), reverse=True)


def start(space: Workspace, head: Head) -> Evaluating:
    """Work on a run from now on, or the job that does already.

    Raises:
        TracertError: the embedder or the model cannot be used.
    """
    here = shared()
    embedder = named_embedder(head.embedder)
    model = chat_model() if head.asks_model else None
    kept = runs()
    with here.lock:
        known = here.jobs.get(head.id)
        if known is not None and known.running:
            return known

        def work(tell: Callable[[Progress], None], stopped: Callable[[], bool]) -> None:
            go_on(kept, head, space, embedder, model, tell, stopped)

        job: Evaluating = Job(head.title, work, cancelled=STOPPED)
        here.jobs[head.id] = job
    return job


def ground_of(space: Workspace, head: Head) -> Ground:
    """The data of a run, open; the last two are kept.

    Raises:
        TracertError: they are gone or have changed.
    """
    embedder = named_embedder(head.embedder)
    return shared().grounds.get(head.id, lambda: open_ground(runs(), head, space, embedder))


def measured(head: Head, lines: int) -> tuple[list[Measured], Results] | None:
    """What a run gives so far; None before its first question.

    Args:
        head: the run.
        lines: how many it has, so that what was read is read again when there are more.

    Raises:
        DatasetError: what the run says of its data is damaged.
    """
    return _measured(str(visitor.folder()), head.id, lines, head)


@st.cache_resource(max_entries=6, show_spinner="Summing up…")
def _measured(
    home: str,  # noqa: ARG001 the key
    id: str,  # noqa: ARG001 the key
    lines: int,  # noqa: ARG001 the key
    _head: Head,
) -> tuple[list[Measured], Results] | None:
    found = results(runs(), _head)
    if found is None:
        return None
    made: list[Measured] = []
    for plan, evaluation, making in zip(
        _head.methods, found.evaluations, found.making, strict=True
    ):
        made.append(Measured(plan.label, evaluation, making))
    return made, found
