"""The command `evaluate`: what it prints and writes, and what it refuses."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from tracert.cli import main
from tracert.commands.evaluate import _print
from tracert.evaluation.asked import GoldPassage
from tracert.evaluation.detail import REFERENCES, Detail
from tracert.evaluation.summary import Evaluation, Setup
from tracert.render.evaluation_tables import Measured

TEXTS = {
    "Ada": "Ada wrote notes on the engine.",
    "Babbage": "Babbage made the engine.",
    "Brunel": "Brunel dug a tunnel.",
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path / "home"))
    lines = [{"title": title, "text": text} for title, text in TEXTS.items()]
    pool, data = tmp_path / "pool.jsonl", tmp_path / "data.jsonl"
    pool.write_text("".join(json.dumps(each) + "\n" for each in lines))
    gold = [{**each, "is_supporting": each["title"] != "Brunel"} for each in lines]
    good = {"id": "q", "question": "Who made the engine?", "type": "bridge", "paragraphs": gold}
    data.write_text("\n".join([json.dumps(good), "{broken", json.dumps({"question": ""})]))
    return data, pool


def kept(group: str) -> Evaluation:
    detail = Detail(
        id="1",
        question="Who?",
        type=group,
        n_hops=1,
        gold=(GoldPassage(("passage:0",), 1),),
        edges=(),
        evidence=("passage:0",),
        filled=0,
        references=dict.fromkeys(REFERENCES, ("passage:1",)),
        hops=(("passage:0",),),
        stop="hops_done",
        seconds={"all": 0.001, "walk": 0.001},
    )
    setup = Setup("questions.jsonl", "p", "pool", 2, "", "native_rag", {}, 1, "toy")
    return Evaluation(setup, (detail,))


def test_the_name_of_a_group_commands_the_terminal_nothing(capsys):
    _print(Measured("native_rag", kept("\x1b[2Jbridge\n"), {}))
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "[2Jbridge" in out


def test_several_methods_and_every_file(files, tmp_path, capsys):
    data, pool = files
    written = {name: tmp_path / f"out.{name}" for name in ("csv", "html", "details")}
    arguments = ["evaluate", str(data), "--passages", str(pool), "-k", "2"]
    arguments += ["--method", "native_rag", "--method", "treehop", "--hops", "2"]
    arguments += ["--set", "treehop.model=forget_rule", "--set", "first_stage=hybrid"]
    assert (
        main([*arguments, *(part for n, p in written.items() for part in (f"--{n}", str(p)))]) == 0
    )
    out = capsys.readouterr().out
    assert "data.jsonl, line 2 is not JSON" in out
    assert "data.jsonl, line 3" in out
    assert "treehop, wordllama" in out
    rows = list(csv.DictReader(written["csv"].open(encoding="utf-8")))
    assert [row["method"] for row in rows] == ["native_rag", "treehop"]
    assert {row["question"] for row in rows} == {"Who made the engine?"}
    lines = [json.loads(line) for line in written["details"].read_text().splitlines()]
    assert [(each["method"], each["id"]) for each in lines] == [
        ("native_rag", "q"),
        ("treehop", "q"),
    ]
    assert written["html"].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "tracert.evaluations/1"
    first, second = report["evaluations"]
    assert (first["method"], second["method"]) == ("native_rag", "treehop")
    assert second["settings"]["model"] == "forget_rule"
    assert first["settings"]["first_stage"] == second["settings"]["first_stage"] == "hybrid"
    assert len(first["setup"]["faults"]) == 2


def test_every_measure_is_printed_with_its_interval_and_differences(files, capsys):
    data, pool = files
    arguments = ["evaluate", str(data), "--passages", str(pool), "--method", "treehop", "-k", "2"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    for name in ("Recall", "Precision", "All found", "MRR", "nDCG"):
        (line,) = [each for each in lines if each.startswith(f"  {name} ")]
        # Of one question each draw is the same: an interval without width, three times.
        assert re.search(r"(\d\.\d{3})  \1 to \1   \S+ \(\S+ to \S+\)  +\S+ \(\S+ to \S+\)", line)
    # A sentence is broken where the line ends, which the length of its numbers decides.
    assert re.search(r"\(by stage: (\w+ \S+ and \S+, )*\w+ \S+ and \S+\)\.", " ".join(out.split()))


def test_one_method_stands_twice_under_labels_with_settings_of_its_own(files, tmp_path, capsys):
    data, pool = files
    written = {name: tmp_path / f"out.{name}" for name in ("csv", "html", "details")}
    arguments = ["evaluate", str(data), "--passages", str(pool), "-k", "2"]
    arguments += ["--method", "native_rag", "--method", "By words=native_rag"]
    arguments += ["--set", "By words.first_stage=bm25"]
    asked = [*arguments, *(part for n, p in written.items() for part in (f"--{n}", str(p)))]
    assert main(asked) == 0
    out = capsys.readouterr().out
    assert "  By words, wordllama" in out
    assert "By words on 1 question of data.jsonl" in out
    rows = csv.DictReader(written["csv"].open(encoding="utf-8"))
    assert [row["method"] for row in rows] == ["native_rag", "By words"]
    lines = [json.loads(line) for line in written["details"].read_text().splitlines()]
    assert [each["method"] for each in lines] == ["native_rag", "By words"]
    assert "By words" in written["html"].read_text(encoding="utf-8")
    assert main([*arguments, "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["evaluations"]
    assert (first["method"], second["method"]) == ("native_rag", "native_rag")
    assert "label" not in first
    assert second["label"] == "By words"
    assert first["settings"]["first_stage"] == "dense"
    assert second["settings"]["first_stage"] == "bm25"


def test_the_calls_of_a_model_are_told_before_they_are_made(files, monkeypatch, capsys):
    """Nobody answers at that address: the rewriting goes on offline, after it was told."""
    data, pool = files
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    arguments = ["evaluate", str(data), "--passages", str(pool), "-k", "2"]
    arguments += ["--method", "iterative_rewrite", "--set", "rewrites=2"]
    assert main([*arguments, "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]) == 0
    assert "m is asked up to 2 times." in capsys.readouterr().err
    assert main(arguments) == 0
    assert "is asked" not in capsys.readouterr().err


def test_a_graph_is_made_before_the_first_question_and_its_price_is_told(files, tmp_path, capsys):
    data, pool = files
    arguments = ["evaluate", str(data), "--passages", str(pool), "--method", "graph_rag"]
    page = tmp_path / "out.html"
    assert main([*arguments, "--html", str(page)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Before its first question graph_rag made its graph: " in out
    # No question's time holds a part of it.
    assert "index_" not in out
    assert "Before its first question Graph RAG made its graph: " in page.read_text("utf-8")
    assert main([*arguments, "--json"]) == 0
    making = json.loads(capsys.readouterr().out)["making"]
    assert making["seconds"] > 0
    assert (making["calls"], making["tokens"]) == (0, 0)


def test_two_embedders_are_two_reports(files, capsys):
    data, pool = files
    arguments = ["evaluate", str(data), "--passages", str(pool), "--method", "native_rag", "--json"]
    assert main([*arguments, "--embedder", "wordllama", "--embedder", "wordllama"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "tracert.evaluation/1"


def test_without_a_pool_the_questions_bring_it(files, capsys):
    data, _ = files
    assert main(["evaluate", str(data), "--method", "native_rag", "-k", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["setup"]["size"] == 3
    assert report["passages_file"] == "the paragraphs of data.jsonl"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--set", "treehop.k=2"], "Add --method treehop"),
        (["--method", "=treehop"], "is not of the form LABEL=NAME"),
        (["--method", "a=nothing"], "There is no method 'nothing'"),
        (["--method", "native_rag=treehop"], "Two methods are called 'native_rag'"),
        (["--method", "tracert_rag", "--set", "nothing=1"], "None of the methods has a setting"),
        (["--set", "nothing=1"], "There is no setting"),
        (["--corpus", "nowhere"], "no corpus 'nowhere'"),
        (["--csv", "/dev/null/no/file"], "cannot be written"),
        (["--method", "trailgraph"], "walks notes"),
    ],
)
def test_what_cannot_be_is_said(files, capsys, more, said):
    data, _ = files
    assert main(["evaluate", str(data), "--method", "native_rag", *more]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_a_method_of_the_wrong_kind_is_refused_before_anything_is_embedded(
    files, monkeypatch, capsys
):
    def embedded(*_args, **_more):
        raise AssertionError("the passages were opened")

    monkeypatch.setattr("tracert.commands.evaluate.pool_ground", embedded)
    data, pool = files
    methods = ["--method", "native_rag", "--method", "trailgraph"]
    assert main(["evaluate", str(data), "--passages", str(pool), *methods]) == 2
    assert "'trailgraph' walks notes" in capsys.readouterr().err


def test_notes_are_measured_too(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path / "home"))
    notes = tmp_path / "notes"
    notes.mkdir()
    for title, text in TEXTS.items():
        (notes / f"{title}.md").write_text(f"# {title}\n\n{text}\n")
    data = tmp_path / "data.jsonl"
    asked = {
        "id": "n",
        "question": "Who dug a tunnel?",
        "passages": [{"document": "x", "quote": "Brunel dug"}],
        "notes": ["Brunel.md"],
    }
    data.write_text(json.dumps(asked))
    arguments = ["evaluate", str(data), "--knowledge", str(notes), "--method", "trailgraph"]
    assert main([*arguments, "-k", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["setup"]["kind"] == "notes"
    assert report["results"]["recall"] == 1.0
    assert report["results"]["references"]["bm25"]["recall"]["mean"] == 1.0
    assert main([*arguments[:4], "--method", "native_rag"]) == 2
    assert "walks a corpus" in capsys.readouterr().err
