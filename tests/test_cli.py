"""The command line: what it prints, its exit statuses, and that nothing goes out unasked."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import ChatServer, Scripted
from tracert.cli import main
from tracert.trace import SCHEMA, Trace

ROOT = Path(__file__).resolve().parent.parent
KEY = "sk-k3ymark-4f1e9a77c0ffee"
QUESTION = "Who taught the man who wound two coils on a ring?"
GOAL = "Category: History Concept: a teacher (Explanation: Davy took on Faraday as an assistant.)"

RING = """# The ring

Humphry Davy took on a bookbinder's apprentice in 1813. The apprentice was Michael Faraday, and
Davy taught him chemistry at the Royal Institution.

## Coils

Michael Faraday wound two coils on opposite sides of an iron ring in 1831. When he joined the
first coil to a battery, the needle beside the second coil jerked and came to rest.

## A reader

James Clerk Maxwell read Faraday's papers at Cambridge and turned the lines of force into
a theory of a field. Heinrich Hertz tested that theory with sparks in a lecture hall.
"""
OTHER = "The frog's leg twitched when two metals touched it, and Galvani wrote a book about it.\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "ring.md").write_text(RING, encoding="utf-8")
    (tmp_path / "frog.txt").write_text(OTHER * 12, encoding="utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is no PDF")
    return tmp_path


@pytest.fixture
def corpus(files: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """An indexed corpus; its name is free text."""
    name = "The ring: coils & needles / 1831"
    arguments = [str(files / "ring.md"), str(files / "frog.txt"), "--corpus", name]
    assert main(["index", *arguments, "--chunk-size", "200", "--overlap", "40"]) == 0
    capsys.readouterr()
    return name


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Status, standard output and standard error of a command."""
    try:
        status = main(arguments)
    except SystemExit as left:
        status = int(left.code or 0)
    said = capsys.readouterr()
    return status, said.out, said.err


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line of a command that ends in an error."""
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("tracert: ")
    return err


# --- index --------------------------------------------------------------------------------


def test_index_as_json(capsys, files):
    paths = [str(files / name) for name in ("ring.md", "frog.txt", "broken.pdf", "absent.txt")]
    status, out, err = run(capsys, "index", *paths, "--corpus", "Lab", "--json")
    report = json.loads(out)
    assert (status, err) == (0, "")
    assert set(report) == {"schema", "corpus", "embedder", "chunks", "files", "seconds"}
    assert report["schema"] == "tracert.index/1"
    assert (report["corpus"], report["embedder"]) == ("Lab", "wordllama")
    assert [file["status"] for file in report["files"]] == [
        "indexed",
        "indexed",
        "refused",
        "refused",
    ]
    assert all(
        set(file) == {"path", "status", "kind", "pages", "chunks", "message"}
        for file in report["files"]
    )
    assert [file["path"] for file in report["files"]] == paths
    assert report["chunks"] == sum(file["chunks"] for file in report["files"])
    assert all(file["message"] for file in report["files"][2:])


def test_index_again_changes_nothing(capsys, files):
    arguments = ("index", str(files / "ring.md"), "--corpus", "Lab", "--json")
    first = json.loads(run(capsys, *arguments)[1])
    status, out, _ = run(capsys, *arguments)
    again = json.loads(out)
    assert status == 0
    assert again["files"][0]["status"] == "unchanged"
    assert again["chunks"] == first["chunks"]


def test_index_of_nothing_usable(capsys, files):
    arguments = ("index", str(files / "broken.pdf"), "--corpus", "Lab")
    status, out, err = run(capsys, *arguments, "--json")
    (file,) = json.loads(out)["files"]
    assert status == 2
    assert file["status"] == "refused"
    assert err == f"tracert: nothing was indexed. {file['message']}\n"
    status, out, err = run(capsys, *arguments)
    assert (status, err.count("\n")) == (2, 1)
    # There is no such corpus, so nothing is said of its size.
    assert "The corpus" not in out


def test_a_file_and_its_name_are_told_once(capsys, files):
    (files / "blank.md").write_bytes(b"")
    (files / "empty").mkdir()
    paths = [str(files / name) for name in ("blank.md", "ring.md", "empty")]
    status, out, _ = run(capsys, "index", *paths, "--corpus", "Lab")
    said = " ".join(out.split())
    assert status == 0
    assert f"refused: {paths[0]} is empty." in said
    assert f"refused: {paths[2]} holds no file that can be read." in said
    assert said.count("blank.md") == 1


def test_a_path_that_names_no_home_is_refused(capsys):
    status, out, err = run(capsys, "index", "~nosuchuser/x", "--corpus", "Lab")
    assert status == 2
    assert "refused: ~nosuchuser/x" in out
    assert "Pass the whole path" in err


def test_index_tells_a_person_what_became_of_each_file(capsys, files):
    paths = [str(files / "ring.md"), str(files / "broken.pdf")]
    status, out, _ = run(capsys, "index", *paths, "--corpus", "Lab")
    assert status == 0
    assert "indexed:" in out
    assert "refused:" in out
    assert "The corpus 'Lab' has" in " ".join(out.split())


def test_another_chunking_is_an_error_unless_replaced(capsys, files, corpus):
    arguments = ["index", str(files / "ring.md"), "--corpus", corpus, "--chunk-size", "300"]
    assert "replace" in fails(capsys, *arguments)
    status, out, _ = run(capsys, *arguments, "--replace", "--json")
    assert status == 0
    assert [file["status"] for file in json.loads(out)["files"]] == ["indexed"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--chunk-size", "0"],
        ["--chunk-size", "50", "--overlap", "50"],
        ["--overlap", "-1"],
        ["--chunk-size", "many"],
        ["--embedder", "nonsense"],
    ],
)
def test_index_settings_out_of_range(capsys, files, arguments):
    fails(capsys, "index", str(files / "ring.md"), "--corpus", "Lab", *arguments)


# --- ask ----------------------------------------------------------------------------------


def test_ask_as_json_is_a_trace(capsys, corpus):
    status, out, err = run(
        capsys, "ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag", "--json"
    )
    assert (status, err) == (0, "")
    data = json.loads(out)
    assert set(data) == {
        "schema",
        "method",
        "question",
        "settings",
        "seed",
        "corpus",
        "nodes",
        "steps",
        "result",
        "map",
        "cost",
    }
    assert (data["schema"], data["method"], data["question"]) == (SCHEMA, "tracert_rag", QUESTION)
    assert data["corpus"]["name"] == corpus
    assert {"alpha", "delta", "radius_scale", "strict", "min_candidates", "max_hops"} <= set(
        data["settings"]
    )
    assert data["map"]["kind"] in ("pca", "umap")
    assert data["result"]["path"][0] == "query"
    assert data["result"]["answer"]["source"] == "extract"
    assert data["cost"]["model_calls"] == 0
    vectors = [node for node in data["nodes"] if "vector" in node]
    assert {node["kind"] for node in vectors} >= {"query", "goal", "chunk"}
    assert Trace.from_json(out).question == QUESTION


def test_vectors_and_map_can_be_left_out(capsys, corpus):
    options = ("--json", "--no-vectors", "--no-map")
    _, out, _ = run(
        capsys, "ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag", *options
    )
    data = json.loads(out)
    assert data["map"] is None
    assert all("vector" not in entry for entry in data["nodes"] + data["steps"])


def test_the_trail_for_a_person(capsys, corpus):
    status, out, err = run(capsys, "ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag")
    assert (status, err) == (0, "")
    order = ["Question ", "Method ", "Goal ", "\nTrail\n", "\nEvidence\n", "\nAnswer (extract)\n"]
    places = [out.index(part) for part in [*order, "\nCost "]]
    assert places == sorted(places)
    assert "  0. " in out
    assert "  1. " in out
    assert " [1] ring.md, The ring" in out
    assert "no model was asked" in " ".join(out.split())
    # Every sentence of the answer cites a number that the evidence has.
    evidence, answer = out.split("\nEvidence\n")[1].split("\nAnswer (extract)\n")
    assert "[1]" in answer or "[2]" in answer
    assert "[1] " in evidence


def test_settings_and_a_goal_of_ones_own(capsys, corpus):
    options = ["--set", "max_hops=1", "--set", "alpha = 0.5", "--goal", "a teacher", "--json"]
    _, out, _ = run(
        capsys, "ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag", *options
    )
    data = json.loads(out)
    assert (data["settings"]["max_hops"], data["settings"]["alpha"]) == (1, 0.5)
    assert len(data["steps"]) == 1
    (goal,) = [node for node in data["nodes"] if node["kind"] == "goal"]
    assert "a teacher" in goal["text"]


def test_a_walk_that_does_not_arrive_is_no_error(capsys, corpus):
    options = ["--set", "delta=0.0001", "--json"]
    status, out, _ = run(
        capsys, "ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag", *options
    )
    stop = json.loads(out)["result"]["stop"]
    assert status == 0
    assert stop["reason"] == "dead_end"
    assert stop["message"]
    assert stop["remedy"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "nonsense"], "Supported: "),
        (["--method", "tracert_rag", "--set", "nonsense=1"], "Supported: "),
        (["--method", "tracert_rag", "--set", "alpha"], "KEY=VALUE"),
        (["--method", "tracert_rag", "--set", "=1"], "KEY=VALUE"),
        (["--method", "tracert_rag", "--set", "alpha=x"], "alpha"),
        (["--method", "tracert_rag", "--set", "alpha=9"], "out of range"),
        (["--method", "tracert_rag", "--set", "alpha=0", "--set", "alpha=1"], "twice"),
        (["--method", "native_rag", "--set", "k=0"], "out of range"),
        ([], "--method"),
        (["--method", "native_rag", "--nonsense"], "--nonsense"),
        (["--method", "native_rag", "--knowledge", "."], "not allowed with"),
        (["--method", "native_rag", "--timeout", "0", "--model", "tiny"], "time-out"),
        (["--method", "native_rag", "--record", "x.json"], "--model"),
        (["--method", "native_rag", "--replay", "absent.json"], "absent.json"),
        (["--method", "native_rag", "--model", "tiny", "--base-url", "ftp://x"], "base URL"),
    ],
)
def test_errors_are_one_line_that_says_what_to_do(capsys, corpus, arguments, said):
    assert said in fails(capsys, "ask", QUESTION, "--corpus", corpus, *arguments)


def test_a_key_that_no_header_can_carry(capsys, corpus, monkeypatch, server):
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}…")
    options = ("--method", "native_rag", "--model", "tiny", "--base-url", server.url)
    said = fails(capsys, "ask", QUESTION, "--corpus", corpus, *options)
    assert "no key has" in said
    assert KEY not in said


def test_a_corpus_that_is_not_there(capsys, corpus):
    said = fails(capsys, "ask", QUESTION, "--corpus", "Nothing", "--method", "native_rag")
    assert corpus in said


def test_an_empty_question(capsys, corpus):
    assert "empty" in fails(capsys, "ask", " ", "--corpus", corpus, "--method", "native_rag")


def test_passages_for_a_method_that_walks_them(capsys):
    said = fails(capsys, "ask", QUESTION, "--knowledge", ".", "--method", "native_rag")
    assert "--corpus" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask", "x", "\x1b[2J\nsecond line"],
        ["\x1b]0;title\x07"],
        ["ask", "x", "--corpus", "\x1b[2J\n", "--method", "\x9b2J"],
    ],
)
def test_an_error_commands_the_terminal_nothing(capsys, arguments):
    said = fails(capsys, *arguments)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", said)


def test_the_trail_says_who_wrote_the_goal_and_what_the_walk_says_of_itself(capsys, corpus):
    arguments = ("ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag")
    out = " ".join(run(capsys, *arguments)[1].split())
    assert "(offline predictor)" in out
    narrow = (*arguments, "--set", "radius_scale=0.2")
    first = json.loads(run(capsys, *narrow, "--json")[1])["steps"][0]["values"]
    told = " ".join(run(capsys, *narrow)[1].split())
    # Within a fifth of the radius lie fewer passages than the walk wants, so it is widened.
    assert first["radius_note"]
    assert all(f"Note {first[name]}" in told for name in first if name.endswith("_note"))
    out = " ".join(run(capsys, *arguments, "--goal", GOAL)[1].split())
    told = "Goal History · a teacher · Davy took on Faraday as an assistant. (typed by hand)"
    assert told in out


def test_the_trail_of_a_model_that_fails_does_not_say_that_none_was_asked(capsys, corpus, server):
    server.fail(500, "out of memory")
    options = ("--method", "tracert_rag", "--model", "tiny", "--base-url", server.url)
    status, out, _ = run(capsys, "ask", QUESTION, "--corpus", corpus, *options)
    said = " ".join(out.split())
    assert status == 0
    assert "Note The offline predictor made the goal, since the model could not" in said
    assert "no model answered" in said
    assert "no model was asked" not in said


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["ask"], ["index"]])
def test_an_unfinished_command_line(capsys, arguments):
    assert "--help" in fails(capsys, *arguments)


def test_help_exists_for_every_command(capsys):
    status, out, _ = run(capsys, "--help")
    assert status == 0
    commands = re.findall(r"^    ([a-z][\w-]*)", out, re.MULTILINE)
    assert {"index", "ask", "bench"} <= set(commands)
    for command in commands:
        status, out, _ = run(capsys, command, "--help")
        assert status == 0
        assert "usage: tracert" in out


def test_nothing_in_a_document_commands_the_terminal(capsys, tmp_path):
    text = "The \x1b[2J\x1b]0;owned\x07 battery \u202e was built by Volta in the year 1800.\n"
    (tmp_path / "evil\x1b[31m.txt").write_text(text * 9, encoding="utf-8")
    assert main(["index", str(tmp_path), "--corpus", "Lab\x1b"]) in (0, 2)
    main(["index", str(tmp_path), "--corpus", "Lab"])
    main(["ask", "Who built the \x1b[2J battery?", "--corpus", "Lab", "--method", "native_rag"])
    said = capsys.readouterr()
    for character in ("\x1b", "\x07", "\u202e"):
        assert character not in said.out + said.err
    assert "battery" in said.out


# --- the model ----------------------------------------------------------------------------


def test_without_a_model_nothing_goes_out(capsys, corpus, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("TRACERT_BASE_URL", server.url)
    status, _, _ = run(capsys, "ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag")
    assert status == 0
    assert server.requests == []


def test_a_model_writes_goal_and_answer(capsys, corpus, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.say(GOAL, "Humphry Davy taught him [1]. So it is said [7].")
    options = ["--model", "tiny", "--base-url", server.url, "--json"]
    status, out, err = run(
        capsys, "ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag", *options
    )
    data = json.loads(out)
    assert (status, err) == (0, "")
    assert data["result"]["answer"]["source"] == "tiny"
    first, second = data["result"]["answer"]["sentences"]
    assert first["citations"] == [data["result"]["evidence"][0]]
    assert second["unknown"] == ["7"]
    assert data["cost"]["model_calls"] == 2
    assert data["cost"]["prompt_tokens"] == 2 * 12
    (goal,) = [node for node in data["nodes"] if node["kind"] == "goal"]
    assert "Davy took on Faraday" in goal["text"]
    assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in out


def test_model_and_endpoint_from_the_environment(capsys, corpus, server, monkeypatch):
    monkeypatch.setenv("TRACERT_MODEL", "tiny")
    monkeypatch.setenv("TRACERT_BASE_URL", server.root)
    server.say(GOAL, "Davy [1].")
    status, out, _ = run(capsys, "ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag")
    assert status == 0
    assert "\nAnswer (written by tiny)\n" in out
    assert "2 model calls" in " ".join(out.split())


def test_a_model_that_fails_is_replaced_and_the_run_succeeds(capsys, corpus, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.fail(401, f"Incorrect API key provided: {KEY}")
    options = ["--model", "tiny", "--base-url", server.url]
    status, out, err = run(
        capsys, "ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag", *options
    )
    assert status == 0
    assert "\nAnswer (extract)\n" in out
    assert "refuses the key" in " ".join(out.split())
    assert KEY not in out + err


def test_a_run_is_recorded_and_replayed_without_key_or_endpoint(
    capsys, corpus, server, monkeypatch, tmp_path
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.say(GOAL, "Humphry Davy taught him [1].")
    record = tmp_path / "run.json"
    ask = ["ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag", "--json"]
    options = ["--model", "tiny", "--base-url", server.url, "--record", str(record)]
    first = json.loads(run(capsys, *ask, *options)[1])
    assert KEY not in record.read_text(encoding="utf-8")
    monkeypatch.delenv("OPENAI_API_KEY")
    sent = len(server.requests)
    again = json.loads(run(capsys, *ask, "--replay", str(record))[1])
    assert len(server.requests) == sent
    assert again["result"] == first["result"]
    assert "Pass --replay alone" in fails(capsys, *ask, "--replay", str(record), "--model", "tiny")


# --- the process --------------------------------------------------------------------------


def process(*arguments: str, **more) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tracert", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def test_the_module_runs_and_leaves_with_the_status(corpus):
    done = process("ask", QUESTION, "--corpus", "Nothing", "--method", "native_rag")
    out, err = done.communicate(timeout=60)
    assert (done.returncode, out) == (2, b"")
    assert err.count(b"\n") == 1


def test_a_terminal_that_knows_ascii_alone(corpus):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = process("ask", QUESTION, "--corpus", corpus, "--method", "native_rag", env=environment)
    out, err = done.communicate(timeout=60)
    assert (done.returncode, err) == (0, b"")
    assert out.isascii()


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["help", "text", "json"])
def test_a_reader_that_leaves_early_is_no_accident(corpus, command, unbuffered):
    # What is smaller than a buffer may meet the closed end only when the process ends.
    ask = ["ask", QUESTION, "--corpus", corpus, "--method", "native_rag"]
    arguments = {"help": ["--help"], "text": ask, "json": [*ask, "--set", "k=20", "--json"]}
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = process(*arguments[command], env=environment)
    assert done.stdout is not None
    assert done.stderr is not None
    done.stdout.close()
    err = done.stderr.read()
    done.stderr.close()
    # The help, unbuffered, is written by argparse, which takes no notice of a closed end.
    assert done.wait(timeout=60) in ((0, 141) if command == "help" else (141,))
    assert err == b""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way there")
def test_ctrl_c_ends_a_command_cleanly(corpus, server):
    server.add(Scripted(hang=True))
    options = ["--model", "tiny", "--base-url", server.url]
    done = process("ask", QUESTION, "--corpus", corpus, "--method", "tracert_rag", *options)
    deadline = time.monotonic() + 60
    while not server.calls and done.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server.calls, "the command waits for the model"
    done.send_signal(signal.SIGINT)
    _, err = done.communicate(timeout=60)
    assert done.returncode == 130
    assert b"Traceback" not in err
    assert err.count(b"\n") == 1
