"""Taking turns: in a public app one job a visitor at once, and so many of all visitors.

A private app has no turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import lru_cache
from threading import BoundedSemaphore, Lock
from weakref import WeakValueDictionary

from tracert.errors import CancelledError
from tracert.hosting import Hosting

Stopped = Callable[[], bool]
Turn = Callable[[Stopped], AbstractContextManager[None]]

#: Seconds between two looks at whether who waits was stopped.
_LOOK_SECONDS = 0.2
#: Seconds for which a page waits with its reader.
_PATIENCE = 30.0


class _Own:
    """The turn of one visitor."""

    def __init__(self) -> None:
        self.semaphore = BoundedSemaphore(1)


_own: WeakValueDictionary[str, _Own] = WeakValueDictionary()
_guard = Lock()


@lru_cache(maxsize=8)
def _of_all(jobs: int) -> BoundedSemaphore:
    return BoundedSemaphore(jobs)


def turn(owner: str, hosted: Hosting) -> Turn:
    """What a job of that owner enters before it works; it asks now and then whether to stop.

    Entering raises CancelledError where the job was stopped while it waited.
    """
    if not hosted.public:
        return lambda _stopped: nullcontext()
    with _guard:
        own = _own.setdefault(owner, _Own())

    @contextmanager
    def entered(stopped: Stopped) -> Iterator[None]:
        with ExitStack() as held:
            # One's own first: who waits for oneself keeps nobody else waiting.
            for semaphore in (own.semaphore, _of_all(hosted.jobs)):
                while not semaphore.acquire(timeout=_LOOK_SECONDS):
                    if stopped():
                        raise CancelledError("Stopped before it began.")
                held.callback(semaphore.release)
            yield

    return entered


@contextmanager
def soon(owner: str, hosted: Hosting) -> Iterator[None]:
    """The turn for work that a page itself does while its reader waits.

    Raises:
        CancelledError: no turn came within half a minute.
    """
    until = time.monotonic() + _PATIENCE
    with ExitStack() as held:
        try:
            held.enter_context(turn(owner, hosted)(lambda: time.monotonic() > until))
        except CancelledError as error:
            raise CancelledError("Others are at work here now. Try again in a minute.") from error
        yield
