"""The last few values by key, shared by threads: for what is costly and can be made anew."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock, RLock
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """At most `most` values; the one longest unused goes first.

    Two threads that miss the same key at once wait for one another, so that a costly value is
    made once; a thread that makes one may ask for others meanwhile.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._making: dict[Hashable, tuple[RLock, int]] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of that key, made by `make` if it is not there.

        What `make` raises goes on to the caller and nothing is kept; who waited tries again.
        """
        with self._lock:
            if key in self._values:
                return self._touched(key)
        with self._alone(key):
            with self._lock:
                if key in self._values:
                    return self._touched(key)
            value = make()
            self.put(key, value)
            return value

    def peek(self, key: Hashable) -> T | None:
        """The value of that key, or None where there is none."""
        with self._lock:
            return self._touched(key) if key in self._values else None

    def put(self, key: Hashable, value: T) -> None:
        """Keep a value, in place of the one that is there."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    def forget(self, key: Hashable) -> None:
        """Drop the value of that key, if there is one."""
        with self._lock:
            self._values.pop(key, None)

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._values.clear()

    def _touched(self, key: Hashable) -> T:
        self._values.move_to_end(key)
        return self._values[key]

    @contextmanager
    def _alone(self, key: Hashable) -> Iterator[None]:
        """One thread at a time for each key; its lock is there as long as anyone waits for it."""
        with self._lock:
            making, waiting = self._making.get(key, (RLock(), 0))
            self._making[key] = (making, waiting + 1)
        try:
            with making:
                yield
        finally:
            with self._lock:
                _, waiting = self._making[key]
                if waiting == 1:
                    del self._making[key]
                else:
                    self._making[key] = (making, waiting - 1)
