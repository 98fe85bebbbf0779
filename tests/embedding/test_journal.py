"""The vectors kept from an attempt before: for a week, within bounds, shared by processes."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from tracert.embedding import journal as module
from tracert.embedding.journal import Journal


def vectors(*texts: str, size: int = 4) -> dict[str, np.ndarray]:
    return {text: np.full(size, len(text), np.float32) for text in texts}


def test_what_was_put_is_got(tmp_path: Path) -> None:
    Journal("a", tmp_path).put(vectors("x", "yy"))
    found = Journal("a", tmp_path).get(["yy", "zzz", "x"])
    assert set(found) == {"x", "yy"}
    np.testing.assert_array_equal(found["yy"], [2, 2, 2, 2])
    assert found["x"].dtype == np.float32
    assert Journal("b", tmp_path).get(["x"]) == {}
    assert Journal("a", tmp_path).get([]) == {}


def test_many_texts_are_asked_for_in_parts(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(1_203)]
    Journal("a", tmp_path).put(vectors(*texts))
    assert set(Journal("a", tmp_path).get(texts)) == set(texts)


def test_entries_last_a_week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000.0
    monkeypatch.setattr(module.time, "time", lambda: now)
    kept = Journal("a", tmp_path)
    kept.put(vectors("x"))
    now += 7 * 86_400 - 1
    assert set(kept.get(["x"])) == {"x"}
    now += 2
    assert kept.get(["x"]) == {}
    kept.put(vectors("y"))
    now -= 10
    assert set(kept.get(["x", "y"])) == {"y"}, "the old one is gone from the file too"


def test_the_older_half_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_BYTES", 200_000)
    kept = Journal("a", tmp_path)
    now = 1_000_000.0
    monkeypatch.setattr(module.time, "time", lambda: now)
    texts = [f"text {number}" for number in range(40)]
    for text in texts:
        now += 1
        kept.put(vectors(text, size=2_500))  # 10 KB each: 40 are twice what is allowed
    left = [text for text in texts if text in kept.get(texts)]
    assert 5 <= len(left) <= 20
    assert left == texts[-len(left) :], "the newest"


def test_clear(tmp_path: Path) -> None:
    kept = Journal("a", tmp_path)
    kept.put(vectors("x"))
    kept.clear()
    assert kept.get(["x"]) == {}


def test_threads_write_at_once(tmp_path: Path) -> None:
    def write(number: int) -> None:
        Journal("a", tmp_path).put(vectors(*(f"{number} {each}" for each in range(20))))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [f"{number} {each}" for number in range(8) for each in range(20)]
    assert len(Journal("a", tmp_path).get(texts)) == 160


def test_a_folder_that_cannot_be_written_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    kept = Journal("a", tmp_path / "file" / "folder")
    kept.put(vectors("x"))
    assert kept.get(["x"]) == {}
