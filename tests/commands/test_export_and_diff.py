"""`export` and `diff`: saved runs as files for others, and two runs laid over each other."""

from __future__ import annotations

import importlib.util
import io
import json
import sys
from pathlib import Path

import networkx as nx
import pytest

from tracert.cli import main


def module_of(name: str):
    path = Path(__file__).resolve().parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def toys():
    return module_of("toy_traces")


@pytest.fixture
def saved(toys, tmp_path) -> Path:
    path = tmp_path / "a.json"
    path.write_text(toys.walk_trace().to_json(), encoding="utf-8")
    return path


def test_a_trace_is_written_in_every_format(saved, tmp_path, capsys):
    files = {name: tmp_path / f"run.{name}" for name in ("html", "markdown", "graphml")}
    asked = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    assert main(["export", str(saved), *asked]) == 0
    assert capsys.readouterr().out.count("Wrote ") == 3
    assert files["html"].read_text("utf-8").startswith("<!doctype html>")
    assert files["markdown"].read_text("utf-8").startswith("# What did Davy's apprentice")
    assert nx.read_graphml(files["graphml"]).number_of_nodes() == 50


def test_a_trace_comes_by_standard_input_too(saved, tmp_path, monkeypatch):
    class In:
        buffer = io.BytesIO(saved.read_bytes())

    monkeypatch.setattr(sys, "stdin", In)
    assert main(["export", "-", "--markdown", str(tmp_path / "run.md")]) == 0


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        (None, ["--html", "x.html"], "cannot be read"),
        ("{}", ["--html", "x.html"], "schema"),
        ("[" * 100_000, ["--html", "x.html"], "JSON"),
        ("walk", [], "Pass --html"),
        ("walk", ["--html", "/nowhere/at/all.html"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_line(toys, tmp_path, capsys, content, arguments, said):
    path = tmp_path / "t.json"
    if content is not None:
        path.write_text(toys.walk_trace().to_json() if content == "walk" else content, "utf-8")
    assert main(["export", str(path), *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_two_runs_are_laid_over_each_other(toys, saved, tmp_path, capsys):
    other = tmp_path / "b.json"
    other.write_text(toys.walk_trace(alpha=0.0).to_json(), encoding="utf-8")
    assert main(["diff", str(saved), str(other)]) == 0
    out = capsys.readouterr().out
    assert "alpha 0.600 → 0.000" in out
    assert "They part at step" in out
    assert main(["diff", str(saved), str(other), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["settings"] == [{"name": "alpha", "a": 0.6, "b": 0.0}]
    assert main(["diff", str(saved), str(saved)]) == 0
    assert "the same, step by step" in capsys.readouterr().out


def test_a_hostile_trace_commands_no_terminal(toys, tmp_path, capsys):
    paths = []
    for name, alpha in (("a", 0.6), ("b", 0.0)):
        text = "\x1b[2J\x1b]0;owned\x07 " + toys.HOSTILE
        trace = toys.walk_trace(text=text, document=text, question=text, alpha=alpha)
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(trace.to_json(), encoding="utf-8")
    assert main(["diff", *map(str, paths)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_run_with_a_model_is_asked_again_by_its_own_trace(tmp_path, capsys, builtin):
    """Over real HTTP on loopback; the second time there is no server, no key and no name."""
    servers = module_of("servers")
    text = tmp_path / "pile.md"
    text.write_bytes((builtin / "document" / "03-frogs-and-piles.md").read_bytes())
    assert main(["index", str(text), "--corpus", "Piles"]) == 0
    capsys.readouterr()
    question = ["ask", "Who made the first pile?", "--corpus", "Piles", "--method", "tracert_rag"]
    with servers.ChatServer() as server:
        server.say("Category: physics\nConcept: Volta's pile\nExplanation: Discs in a pile.")
        server.say("Volta made it [1].")
        assert main([*question, "--json", "--model", "tiny", "--base-url", server.url]) == 0
    run, again = tmp_path / "run.json", tmp_path / "again.json"
    run.write_text(capsys.readouterr().out, encoding="utf-8")
    assert len(json.loads(run.read_text("utf-8"))["replies"]["replies"]) == 2
    assert main([*question, "--json", "--replay", str(run)]) == 0
    again.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["diff", str(run), str(again), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["same"] is True
    ours, theirs = (json.loads(path.read_text("utf-8")) for path in (run, again))
    assert ours["result"] == theirs["result"]
    assert ours["replies"] == theirs["replies"]
    # A trace in which no model was asked has nothing to replay.
    assert main([*question, "--json"]) == 0
    run.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main([*question, "--replay", str(run)]) == 2
    assert "no model was asked" in capsys.readouterr().err


def test_two_methods_are_refused(toys, saved, tmp_path, capsys):
    data = json.loads(saved.read_text("utf-8")) | {"method": "native_rag"}
    other = tmp_path / "b.json"
    other.write_text(json.dumps(data), encoding="utf-8")
    assert main(["diff", str(saved), str(other)]) == 2
    assert "two runs of one method" in capsys.readouterr().err
