"""The cache of the last few values: what goes first, and what threads that miss at once do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from tracert.recent import Recent


def test_the_value_longest_unused_goes_first() -> None:
    kept: Recent[int] = Recent(2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.peek("a") == 1  # 'a' is used now, so 'b' is the oldest
    kept.put("c", 3)
    assert [kept.peek(key) for key in "abc"] == [1, None, 3]
    assert kept.get("b", lambda: 4) == 4
    assert [kept.peek(key) for key in "abc"] == [None, 4, 3]


def test_a_value_is_made_once_even_if_it_is_none() -> None:
    kept: Recent[int | None] = Recent(2)
    made: list[int] = []
    for _ in range(3):
        assert kept.get("a", lambda: made.append(1)) is None  # type: ignore[func-returns-value]
    assert made == [1]


def test_forget_drops_one_and_clear_all() -> None:
    kept: Recent[int] = Recent(3)
    for number, key in enumerate("abc"):
        kept.put(key, number)
    kept.forget("a")
    kept.forget("not there")
    assert [kept.peek(key) for key in "abc"] == [None, 1, 2]
    kept.clear()
    assert kept.peek("c") is None


def test_threads_that_miss_at_once_make_the_value_once() -> None:
    kept: Recent[object] = Recent(4)
    made: list[object] = []
    together, slow = Barrier(8), Event()

    def make() -> object:
        slow.wait(0.05)  # long enough that all others have missed, too
        made.append(object())
        return made[-1]

    def one(_: int) -> object:
        together.wait()
        return kept.get("key", make)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(one, range(8)))
    assert len(made) == 1
    assert {id(value) for value in found} == {id(made[0])}
    assert kept._making == {}


def test_another_key_does_not_wait() -> None:
    kept: Recent[str] = Recent(4)
    begun, other_done = Event(), Event()

    def slow() -> str:
        begun.set()
        assert other_done.wait(30)
        return "slow"

    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(kept.get, "slow", slow)
        assert begun.wait(30)
        assert kept.get("quick", lambda: "quick") == "quick"
        other_done.set()
        assert waiting.result(30) == "slow"


def test_what_fails_is_not_kept_and_who_waited_tries_again() -> None:
    kept: Recent[int] = Recent(4)
    tries: list[int] = []
    first_in, second_waits = Event(), Event()

    def make() -> int:
        tries.append(1)
        if len(tries) == 1:
            first_in.set()
            second_waits.wait(0.05)
            raise ValueError("the first fails")
        return 7

    with ThreadPoolExecutor(2) as pool:
        fails = pool.submit(kept.get, "key", make)
        assert first_in.wait(30)
        waited = pool.submit(kept.get, "key", make)
        with pytest.raises(ValueError, match="first"):
            fails.result(30)
        assert waited.result(30) == 7
    assert len(tries) == 2
    assert kept._making == {}


def test_making_a_value_may_ask_for_another() -> None:
    kept: Recent[int] = Recent(4)
    assert kept.get("outer", lambda: kept.get("inner", lambda: 2) + 1) == 3
