"""The evaluation worked by hand on a small pool, and its report through the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tracert.cli import main
from tracert.errors import DatasetError, SettingError
from tracert.evaluation.datasets import read_items
from tracert.evaluation.evaluate import evaluate
from tracert.evaluation.pool import vectors
from tracert.evaluation.summary import Evaluation
from tracert.methods.registry import method


class Angles:
    """An embedder that reads a text's last word as an angle in degrees."""

    name = "angles"
    identity = "angles:1"
    dimension = 2

    def __init__(self) -> None:
        self.embedded = 0

    def embed(self, texts: Sequence[str], *, progress=None) -> np.ndarray:
        self.embedded += len(texts)
        angles = np.deg2rad([float(text.split()[-1]) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


#: Passage i of the pool lies at this angle. The first question is at 0 and its gold are 0 and 3.
POOL = [5, -11, 22, 33, -25]


def question(id: str, at: int, gold: Sequence[int], kind: str) -> dict:
    paragraphs = [
        {"title": "P", "text": f"at {angle}", "is_supporting": row in gold}
        for row, angle in enumerate(POOL)
    ]
    return {
        "id": id,
        "question": f"What is at {at}",
        "type": kind,
        "n_hops": len(gold),
        "support_order": list(gold),
        "paragraphs": paragraphs,
    }


def rows(*lines: int) -> tuple[str, ...]:
    """The ids of these lines of the pool."""
    return tuple(f"passage:{line}" for line in lines)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    data, pool = tmp_path / "data.jsonl", tmp_path / "pool.jsonl"
    stray = {
        "question": "What is at 1",
        "paragraphs": [{"title": "", "text": "at 0", "is_supporting": True}],
    }
    rows = [question("a", 0, [0, 3], "bridge"), question("b", 0, [1], "one"), stray]
    data.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    lines = [{"title": "P", "text": f"at {angle}"} for angle in POOL]
    pool.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return data, pool


def measured(files: tuple[Path, Path], name: str = "treehop", **changes) -> Evaluation:
    data, pool = files
    values = {"model": "forget_rule", "gamma": 0.0, "path_score": 0.0, "spawn": 0}
    settings = {**values, "later_places": 0.25} if name == "treehop" else {}
    given = {"k": 4, "settings": settings, **changes}
    return evaluate(data, pool, method(name), Angles(), data.parent / "kept", **given)


def test_by_hand(files: tuple[Path, Path]) -> None:
    # Plain top-4 of a question at 0: rows 0 (5), 1 (11), 2 (22), 4 (25). TreeHop keeps one place,
    # which goes to row 3 (see tests/methods/treehop). So question a gains row 3: recall 1 against
    # 1/2; question b has row 1 in both. The third question has no gold in the pool.
    report = measured(files)
    a, b = report.details
    assert a.evidence == rows(0, 1, 2, 3)
    assert a.baseline_evidence == rows(0, 1, 2, 4)
    assert (a.recall, a.baseline_recall) == (1.0, 0.5)
    assert (b.recall, b.baseline_recall) == (1.0, 1.0)
    data = report.to_dict()
    results = data["results"]
    assert data["questions"] == 2
    assert data["left_out"] == 1
    assert results["recall"] == 1.0
    assert results["baseline"]["recall"] == 3 / 4
    assert results["all_found"] == 1.0
    assert results["passages"] == results["baseline"]["passages"] == 4
    assert results["filled"] == 0.0
    assert results["paired_difference"][0] == 1 / 4
    assert results["by_type"]["bridge"]["difference"] == 1 / 2
    # Row 3 is the second of question a's chain, rows 0 and 1 are first ones.
    first = results["by_hop"]["1"]
    assert (first["count"], first["recall"], first["baseline"]) == (2, 1.0, 1.0)
    assert (first["difference"], first["interval"]) == (0.0, [0.0, 0.0])
    assert results["by_hop"]["2"]["recall"] == 1.0
    assert results["by_hop"]["2"]["baseline"] == 0.0
    json.dumps(data, allow_nan=False)


def test_native_rag_equals_its_own_baseline(files: tuple[Path, Path]) -> None:
    report = measured(files, "native_rag")
    assert all(each.evidence == each.baseline_evidence for each in report.details)
    assert report.to_dict()["results"]["paired_difference"] == [0.0, 0.0, 0.0]


def test_the_papers_budget_is_what_it_used(files: tuple[Path, Path]) -> None:
    # Two a hop: rows 0, 1 and then row 4 alone is new: three passages; top-3 is the baseline.
    values = {"model": "forget_rule", "gamma": 0.0, "path_score": 0.0, "spawn": 0, "k_per_hop": 2}
    report = measured(files, settings=values)
    assert report.details[0].evidence == rows(0, 1, 4)
    assert report.details[0].baseline_evidence == rows(0, 1, 2)
    assert report.to_dict()["results"]["filled"] == 0.0


def test_a_passage_on_two_lines_is_found_by_either(files: tuple[Path, Path]) -> None:
    # Passage 0 stands a second time at the end. Plain top-2 of a question at 5 is both lines, and
    # the question's chain begins at 0: found once, whatever line it is found on.
    data, pool = files
    lines = pool.read_text(encoding="utf-8").splitlines()
    pool.write_text("\n".join([lines[1], lines[0], lines[0]]), encoding="utf-8")
    data.write_text(json.dumps(question("a", 5, [0, 1], "bridge")), encoding="utf-8")
    report = measured(files, "native_rag", k=2)
    (only,) = report.details
    assert [passage.ids for passage in only.gold] == [rows(0), rows(1, 2)]
    assert (only.evidence, only.recall) == (rows(1, 2), 1 / 2)
    hops = report.to_dict()["results"]["by_hop"]
    assert (hops["1"]["recall"], hops["2"]["recall"]) == (1.0, 0.0)


def test_a_blank_at_the_end_of_a_question_is_none_of_it(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({**question("a", 0, [0], "one"), "question": " Who? "}))
    (item,) = read_items(path)
    assert item.question == "Who?"


def test_a_baseline_by_words_is_given_as_many_passages(files: tuple[Path, Path]) -> None:
    # No passage shares a word with the question, so that BM25 ranks none: vectors stand in, for
    # the method's filling and for the baseline alike.
    data, _ = files
    row = {**question("a", 0, [0, 3], "bridge"), "question": "Where 0"}
    data.write_text(json.dumps(row), encoding="utf-8")
    report = measured(files, "native_rag", k=3, settings={"first_stage": "bm25"})
    (only,) = report.details
    assert only.evidence == only.baseline_evidence == rows(0, 1, 2)
    assert only.filled == 3


def test_vectors_are_embedded_once(tmp_path: Path) -> None:
    embedder = Angles()
    first = vectors(["x 1", "x 2"], embedder, tmp_path)
    again = vectors(["x 1", "x 2"], embedder, tmp_path)
    assert embedder.embedded == 2
    np.testing.assert_array_equal(first, again)
    # Another text, another key: texts that only join differently are not the same.
    vectors(["x 1 x 2", "3"], embedder, tmp_path)
    assert embedder.embedded == 4


def test_what_cannot_be_measured(files: tuple[Path, Path], tmp_path: Path) -> None:
    data, _ = files
    other = tmp_path / "other.jsonl"
    other.write_text('{"title": "Q", "text": "at 5"}\n')
    with pytest.raises(DatasetError, match="No question"):
        measured((data, other))
    with pytest.raises(SettingError, match="no setting 'hops'"):
        measured(files, "native_rag", hops=2)
    with pytest.raises(SettingError, match="out of range"):
        measured(files, k=0)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, pool, details = (tmp_path / name for name in ("d.jsonl", "p.jsonl", "out.jsonl"))
    texts = [("Ada", "Ada wrote notes on the engine."), ("Babbage", "Babbage made the engine.")]
    lines = [{"title": title, "text": text} for title, text in texts]
    pool.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    gold = [{**each, "is_supporting": True} for each in lines]
    data.write_text(json.dumps({"id": "q", "question": "Who made the engine?", "paragraphs": gold}))
    arguments = ["evaluate", str(data), "--passages", str(pool), "--method", "treehop", "-k", "2"]
    assert main([*arguments, "--hops", "2", "--json", "--details", str(details)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "tracert.evaluation/1"
    assert report["results"]["recall"] == 1.0
    assert report["settings"]["k"] == 2
    (line,) = details.read_text().splitlines()
    detail = json.loads(line)
    assert detail["gold"] == [0, 1]
    assert sorted(detail["evidence"]) == [0, 1]
    assert set(detail) >= {"id", "baseline_evidence", "recall", "baseline_recall", "filled"}
    assert main(arguments) == 0
    assert "Recall 1.000 with 2.0 passages" in capsys.readouterr().out
    assert main([*arguments[:1], str(tmp_path / "none"), *arguments[2:]]) == 2
    assert "cannot be read" in capsys.readouterr().err
