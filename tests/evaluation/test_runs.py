"""Runs on disk: what was asked stays, half lines and damage are survived, two processes agree."""

from __future__ import annotations

import json
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.errors import DatasetError
from tracert.evaluation.run import Head, MethodPlan, State
from tracert.evaluation.runs import Runs

TOP = MethodPlan("Plain top-k", "native_rag", {})
HOP = MethodPlan("TreeHop", "treehop", {"hops": 3, "spawn": 2})


def begun(folder: Path, *, questions: int = 4, files=None) -> tuple[Runs, Head]:
    runs = Runs(folder)
    head = runs.begin(
        title="Mine",
        methods=[TOP, HOP],
        k=5,
        embedder="wordllama",
        ground={"kind": "pool", "corpus": None},
        seeds={"bootstrap": 0},
        files=files,
    )
    runs.settle(head, State(questions, ({"method": "a"}, {"method": "b"})))
    return runs, head


def line_file(folder: Path, head: Head) -> Path:
    return folder / head.id / "done.jsonl"


def asked(runs: Runs, head: Head) -> dict:
    return dict(runs.done(head, dict).details)


def test_a_run_reads_back_as_it_was_begun(tmp_path):
    runs, head = begun(tmp_path)
    assert runs.head(head.id) == head
    assert head.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert runs.state(head) == State(4, ({"method": "a"}, {"method": "b"}))
    assert runs.kept()[0].total == 8
    assert asked(runs, head) == {}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"questions": 4, "setups": []}', '{"questions": -1}']
)
def test_without_a_sound_setup_nothing_counts_as_asked(tmp_path, text):
    """Which questions the lines mean is known only once the data were open."""
    runs, head = begun(tmp_path)
    with runs.writer(head) as writer:
        writer.add(0, 0, {})
    (tmp_path / head.id / "setup.json").write_text(text)
    assert runs.state(head) is None
    assert asked(runs, head) == {}
    (kept,) = runs.kept()
    assert (kept.lines, kept.total, kept.finished) == (1, None, False)


def test_what_is_asked_is_there_before_the_run_ends(tmp_path):
    runs, head = begun(tmp_path)
    with runs.writer(head) as writer:
        writer.add(0, 0, {"recall": 0.5})
        assert asked(runs, head) == {(0, 0): {"recall": 0.5}}
        writer.add(1, 0, {"recall": 1.0})
    with runs.writer(head) as writer:
        writer.add(0, 1, {"recall": 0.0})
    assert set(asked(runs, head)) == {(0, 0), (1, 0), (0, 1)}
    (kept,) = runs.kept()
    assert (kept.lines, kept.finished) == (3, False)


def test_the_list_counts_anew_as_lines_come(tmp_path):
    runs, head = begun(tmp_path)
    with runs.writer(head) as writer:
        for number in range(4):
            writer.add(0, number, {"x": "y" * 300_000})
            assert runs.kept()[0].lines == number + 1
    assert Runs(tmp_path).kept()[0].lines == 4


def test_a_run_is_finished_when_every_method_was_asked_everything(tmp_path):
    runs, head = begun(tmp_path, questions=1)
    with runs.writer(head) as writer:
        writer.add(0, 0, {})
        assert not runs.kept()[0].finished
        writer.add(1, 0, {})
    assert runs.kept()[0].finished


def test_of_a_question_asked_twice_the_later_counts(tmp_path):
    runs, head = begun(tmp_path)
    with runs.writer(head) as writer:
        writer.add(0, 0, {"recall": 0.0})
        writer.add(0, 0, {"recall": 1.0})
    assert asked(runs, head) == {(0, 0): {"recall": 1.0}}


@given(st.integers(0, 200))
def test_a_file_cut_anywhere_loses_at_most_its_last_line(tmp_path_factory, cut):
    """A killed process may leave any prefix: whole lines count, the next writer goes on cleanly."""
    folder = tmp_path_factory.mktemp("runs")
    runs, head = begun(folder)
    with runs.writer(head) as writer:
        for question in range(4):
            writer.add(0, question, {"recall": 0.25 * question})
    path = line_file(folder, head)
    data = path.read_bytes()
    path.write_bytes(data[:cut])
    whole = data[:cut].count(b"\n")
    done = runs.done(head, dict)
    assert (len(done.details), done.damaged) == (whole, 0)
    with runs.writer(head) as writer:
        writer.add(1, 3, {"recall": 1.0})
    done = runs.done(head, dict)
    assert (len(done.details), done.damaged) == (whole + 1, 0)


def test_half_a_line_longer_than_a_block_is_cut_off(tmp_path):
    runs, head = begun(tmp_path)
    with runs.writer(head) as writer:
        writer.add(0, 0, {"a": 1})
    with line_file(tmp_path, head).open("ab") as file:
        file.write(b'{"method": 0, "question": 1, "detail": {"x": "' + b"y" * 200_000)
    with runs.writer(head) as writer:
        writer.add(0, 2, {"a": 2})
    assert set(asked(runs, head)) == {(0, 0), (0, 2)}


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"not json\n",
        b"[]\n",
        b"null\n",
        b"\xff\xfe\n",
        b'{"method": 0}\n',
        b'{"method": 2, "question": 0, "detail": {}}\n',
        b'{"method": 0, "question": 4, "detail": {}}\n',
        b'{"method": -1, "question": 0, "detail": {}}\n',
        b'{"method": true, "question": 0, "detail": {}}\n',
        b'{"method": 0.0, "question": 0, "detail": {}}\n',
        b'{"method": 0, "question": 0, "detail": 5}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_a_damaged_line_counts_as_not_asked_and_is_said(tmp_path, line):
    runs, head = begun(tmp_path)
    with runs.writer(head) as writer:
        writer.add(0, 1, {"a": 1})
    with line_file(tmp_path, head).open("ab") as file:
        file.write(line)
    done = runs.done(head, dict)
    assert set(done.details) == {(0, 1)}
    assert done.damaged == 1
    assert done.message.startswith("1 line of this run could not be read and is left out.")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: {}, "damaged"),
        (lambda data: data | {"schema": "tracert.run/9"}, "another version"),
        (lambda data: data | {"methods": []}, "no methods"),
        (lambda data: data | {"methods": [{"label": 5}]}, "damaged"),
        (lambda data: data | {"k": -1}, "damaged"),
        (lambda data: data | {"id": "../../etc"}, "damaged"),
        (lambda data: data | {"files": {"data": {"name": "x", "sha256": "../x", "size": 1}}}, "da"),
        (lambda data: [data], "damaged"),
    ],
)
def test_a_damaged_head_is_listed_with_a_sentence_and_can_be_deleted(tmp_path, change, said):
    runs, head = begun(tmp_path)
    path = tmp_path / head.id / "head.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    (kept,) = runs.kept()
    assert kept.head is None
    assert said in kept.fault
    with pytest.raises(DatasetError, match=head.id):
        runs.head(head.id)
    runs.delete(head.id)
    assert runs.kept() == []


@pytest.mark.parametrize("id", ["..", "../../etc", "", "runs", "20260101-000000-zzzzzz"])
def test_no_name_leads_out_of_the_folder(tmp_path, id):
    runs, _ = begun(tmp_path / "runs")
    with pytest.raises(DatasetError, match="names no run"):
        runs.head(id)
    with pytest.raises(DatasetError, match="names no run"):
        runs.delete(id)
    assert len(runs.kept()) == 1


def test_no_folder_is_no_run(tmp_path):
    runs = Runs(tmp_path / "none")
    assert runs.kept() == []
    with pytest.raises(DatasetError, match="There is no run"):
        runs.head("20260101-000000-abcdef")


# --- the files that a run reads -----------------------------------------------------------


def test_runs_over_one_file_share_it_and_the_last_takes_it_along(tmp_path):
    runs, first = begun(tmp_path, files={"data": ("q.jsonl", b"one")})
    _, second = begun(tmp_path, files={"data": ("q2.jsonl", b"one")})
    assert len(list((tmp_path / "data").iterdir())) == 1
    assert runs.file(first, "data").read_bytes() == b"one"
    runs.delete(first.id)
    assert runs.file(second, "data").read_bytes() == b"one"
    runs.delete(second.id)
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("change", ["gone", "other"])
def test_a_file_that_is_not_what_it_was_is_refused(tmp_path, change):
    runs, head = begun(tmp_path, files={"data": ("q.jsonl", b"one")})
    path = runs.file(head, "data")
    if change == "gone":
        path.unlink()
    else:
        path.write_bytes(b"two")
    with pytest.raises(DatasetError, match=r"q\.jsonl"):
        runs.file(head, "data")
    with pytest.raises(DatasetError, match="passages"):
        runs.file(head, "passages")


@pytest.mark.parametrize(
    "name", ["../../x", "..", "", "a\0b", "C:\\a|b", "<b>.jsonl", "x" * 300, "é ü (1).jsonl", ". "]
)
def test_any_name_of_a_file_stays_in_the_folder(tmp_path, name):
    runs, head = begun(tmp_path / "runs", files={"data": (name, b"one")})
    path = runs.file(head, "data")
    assert path.read_bytes() == b"one"
    assert path.parent.parent == tmp_path / "runs" / "data"
    assert runs.head(head.id).files["data"].name == name


# --- two at once ----------------------------------------------------------------------------


def test_a_run_in_hand_is_busy_and_cannot_be_taken_or_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr("tracert.evaluation.runs._WAIT", 0.05)
    runs, head = begun(tmp_path)
    assert not runs.busy(head.id)
    with runs.writer(head):
        assert runs.busy(head.id)
        with pytest.raises(DatasetError, match="being worked on"), Runs(tmp_path).writer(head):
            pass
        with pytest.raises(DatasetError, match="being worked on"):
            Runs(tmp_path).delete(head.id)
    assert not runs.busy(head.id)
    with runs.writer(head) as writer:
        writer.add(0, 0, {})
    assert len(asked(runs, head)) == 1


def test_a_deleted_run_is_not_written_again(tmp_path):
    runs, head = begun(tmp_path)
    runs.delete(head.id)
    with pytest.raises(DatasetError, match="was deleted"), runs.writer(head):
        pass
    assert runs.kept() == []


def _work(folder: str, id: str, begun_, go) -> None:
    runs = Runs(Path(folder))
    with runs.writer(runs.head(id)) as writer:
        writer.add(0, 0, {"recall": 1.0})
        begun_.set()
        go.wait(120)


def test_a_killed_process_gives_the_run_back(tmp_path):
    """The lock is the system's, so it goes with the process; what was written stays."""
    runs, head = begun(tmp_path)
    context = get_context("spawn")
    told, go = context.Event(), context.Event()
    worker = context.Process(target=_work, args=(str(tmp_path), head.id, told, go))
    worker.start()
    assert told.wait(120)
    assert runs.busy(head.id)
    worker.kill()
    worker.join(120)
    assert not runs.busy(head.id)
    with runs.writer(head) as writer:
        writer.add(0, 1, {})
    assert set(asked(runs, head)) == {(0, 0), (0, 1)}


def _begin_many(folder: str) -> None:
    for _ in range(8):
        runs, head = begun(Path(folder), files={"data": ("q", b"shared")})
        runs.file(head, "data")
        runs.delete(head.id)


def test_two_processes_begin_and_delete_beside_each_other(tmp_path):
    context = get_context("spawn")
    workers = [context.Process(target=_begin_many, args=(str(tmp_path),)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert Runs(tmp_path).kept() == []


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "runs").write_text("a file stands where the folder should")
    with pytest.raises(DatasetError, match="TRACERT_HOME"):
        begun(tmp_path / "runs")
