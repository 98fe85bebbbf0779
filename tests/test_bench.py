"""The benchmark: that it measures what it says. No figure is judged here."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tracert.bench
from tracert.bench import Plain, bench, in_words, made_up, peak_memory, plain_delta, plain_run
from tracert.errors import CorpusError, TracertError
from tracert.workspace import Workspace

QUESTIONS = (
    "Who taught Michael Faraday?",
    "Which cable failed, and who mended it?",
    "What did Volta pile up?",
    "Why did the needle move when the current was switched on?",
)


def unit_rows(seed: int, count: int, dimension: int = 6) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@given(st.integers(0, 10_000), st.integers(1, 7))
def test_plain_delta_is_the_smallest_threshold_that_connects(seed, count):
    """Against a search of what is connected at each distance that occurs."""
    passages, ends = unit_rows(seed, count), unit_rows(seed + 1, 2)
    nodes = np.vstack([ends[:1], passages, ends[1:]])
    distances = 1 - nodes @ nodes.T
    # There is no edge from the question straight to the goal.
    distances[0, -1] = distances[-1, 0] = np.inf

    def connected(delta: float) -> bool:
        reached, grown = {0}, True
        while grown:
            more = {j for i in reached for j in range(len(nodes)) if distances[i, j] <= delta}
            grown = not more <= reached
            reached |= more
        return len(nodes) - 1 in reached

    expected = min(delta for delta in distances[np.isfinite(distances)] if connected(delta))
    found = plain_delta(passages, 1 - passages @ ends[0], 1 - passages @ ends[1])
    assert found == pytest.approx(expected, abs=1e-6)


def test_plain_delta_of_nothing():
    none = np.empty(0, dtype=np.float32)
    assert plain_delta(np.empty((0, 3), dtype=np.float32), none, none) == np.inf


def test_the_plain_run_walks_where_tracert_walks(tmp_path: Path, builtin: Path):
    """The same arithmetic: on the built-in text both find the same passages."""
    workspace = Workspace(tmp_path)
    workspace.index([builtin / "document"], "Book")
    snapshot = workspace.open("Book")
    lengths = []
    for question in QUESTIONS:
        trace = workspace.ask(question, corpus="Book", answer=False, with_map=False)
        query, goal = (trace.node(id).vector for id in ("query", "goal"))
        assert query is not None
        assert goal is not None
        walked = [id for id in trace.result.path if id not in ("query", "goal")]
        rows = plain_run(snapshot.matrix, query, goal, Plain.of(trace, None))
        assert [snapshot.ids[row] for row in rows] == walked
        lengths.append(len(walked))
    assert max(lengths) > 2


def test_the_whole_measurement(tmp_path: Path):
    book = tmp_path / "book.txt"
    book.write_text(made_up(30_000), encoding="utf-8")
    lines: list[str] = []
    report = bench(book, runs=1, large=1000, on_progress=lines.append)
    data = json.loads(json.dumps(report.to_dict()))
    assert data["schema"] == "tracert.bench/1"
    assert set(data["machine"]) == {"cpu", "cores", "system", "python", "numpy"}
    assert data["book"] == "book.txt"
    for part in ("indexing", "ask", "large"):
        figure = data[part]
        assert figure["ratio"] == pytest.approx(figure["seconds"] / figure["numpy_seconds"])
        assert figure["seconds"] > 0
        assert figure["stages"]
    assert data["indexing"]["about"]["chunks"] == data["chunks"] == data["ask"]["about"]["passages"]
    assert data["large"]["about"]["passages"] == 1000
    assert data["large"]["about"]["steps"] >= 1
    assert lines
    told = in_words(report)
    assert data["machine"]["cpu"] in told
    assert "1,000 passages" in told


def test_a_large_corpus_that_cannot_be_measured_is_one_sentence(tmp_path: Path, monkeypatch):
    book = tmp_path / "book.txt"
    book.write_text(made_up(5_000), encoding="utf-8")
    monkeypatch.setattr(tracert.bench.sys, "executable", shutil.which("false"))
    with pytest.raises(TracertError, match="large corpus failed"):
        bench(book, runs=1, large=100)


def test_peak_memory_is_at_least_what_is_held():
    held = np.ones(5_000_000)
    peak = peak_memory()
    assert peak is None or peak > held.nbytes


def test_the_made_up_text_is_the_same_each_time_and_of_the_length_asked():
    text = made_up(20_000)
    assert text == made_up(20_000)
    assert text != made_up(20_000, seed=8)
    assert 20_000 <= len(text) < 21_000


def test_a_book_that_is_not_there(tmp_path: Path):
    with pytest.raises(CorpusError, match="cannot be read"):
        bench(tmp_path / "absent.txt")


def test_a_book_without_text(tmp_path: Path):
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n", encoding="utf-8")
    with pytest.raises(CorpusError, match="no text"):
        bench(empty, runs=1, large=100)
