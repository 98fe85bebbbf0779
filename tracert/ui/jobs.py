"""Work that takes longer than a run of a page: on a thread of its own, watched, cancelled.

The thread knows nothing of Streamlit, and waits for its turn where visitors share the machine. A
page starts a job, keeps it in its session, and looks at it from a fragment that runs again every
half second.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Final, Generic, TypeVar

from tracert.errors import CancelledError, TracertError
from tracert.ui import visitor
from tracert.ui.turns import turn

#: What a job tells while it runs, and what comes of it.
P = TypeVar("P")
R = TypeVar("R")
Work = Callable[[Callable[[P], None], Callable[[], bool]], R]

#: What each stage is called while it runs.
STAGES: Final = {
    "read": "Reading",
    "chunk": "Cutting into passages",
    "embed": "Embedding",
    "store": "Storing",
}
#: What is said of a job that has not begun.
WAITING: Final = "Waiting for its turn: the app is working for others, or on something of yours."


class Job(Generic[P, R]):
    """Work under way or done. `progress`, `report` and `message` may be read any time."""

    def __init__(
        self, title: str, work: Work[P, R], *, cancelled: str = "Cancelled. Nothing was kept of it."
    ) -> None:
        """Begin at once; `work` gets where to report and whether to stop.

        `cancelled` is the message of a job that was stopped.
        """
        self.title = title
        self._turn = turn(visitor.owner(), visitor.hosted())
        self._cancelled = cancelled
        self._lock = Lock()
        self._stop = Event()
        self._begun = Event()
        self._progress: P | None = None
        self._report: R | None = None
        self._message = ""
        self._thread = Thread(target=self._run, args=(work,), name="job", daemon=True)
        self._thread.start()

    def _run(self, work: Work[P, R]) -> None:
        report, message = None, ""
        try:
            with self._turn(self._stop.is_set):
                self._begun.set()
                report = work(self._tell, self._stop.is_set)
        except CancelledError:
            message = self._cancelled
        except TracertError as error:
            message = str(error)
        finally:
            with self._lock:
                self._report = report
                self._message = message or ("" if report else "The work ended unexpectedly.")

    def _tell(self, progress: P) -> None:
        with self._lock:
            self._progress = progress

    @property
    def running(self) -> bool:
        """Whether the thread still works."""
        return self._thread.is_alive()

    @property
    def waiting(self) -> bool:
        """Whether it has not begun, since others work now."""
        return self.running and not self._begun.is_set()

    @property
    def progress(self) -> P | None:
        """How far it is, as last told."""
        with self._lock:
            return self._progress

    @property
    def report(self) -> R | None:
        """What came of it; None while it runs and where it failed."""
        with self._lock:
            return self._report

    @property
    def message(self) -> str:
        """Why there is no report, as a sentence."""
        with self._lock:
            return self._message

    @property
    def cancelling(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def cancel(self) -> None:
        """Ask it to stop; it does between two pieces of work."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it is done, at most so long."""
        self._thread.join(seconds)
