"""`index` with passwords, limits and zips: what it prints, and what it keeps to itself."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.corpus.pdfs import pdf
from tests.embedding_server import EmbeddingServer
from tracert.cli import main
from tracert.commands import index

ROOT = Path(__file__).resolve().parents[2]
WORDS = "Galvani saw the legs of a frog twitch beside the machine. " * 4
SECRET = "open-sesame-1782"


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    path = tmp_path / "locked.pdf"
    path.write_bytes(pdf([WORDS], user_password=SECRET))
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict, str]:
    status = main(["index", "--corpus", "C", "--json", *arguments])
    said = capsys.readouterr()
    return status, json.loads(said.out), said.err


def test_a_password_opens_the_file(capsys: pytest.CaptureFixture[str], locked: Path) -> None:
    status, report, err = run(capsys, str(locked))
    assert status == 2
    assert "protected by a password" in err
    status, report, err = run(capsys, str(locked), "--password", "wrong")
    assert status == 2
    assert "not the password" in err
    assert "wrong" not in err
    status, report, err = run(capsys, str(locked), "--password", SECRET)
    assert status == 0
    assert [file["status"] for file in report["files"]] == ["indexed"]
    assert SECRET not in json.dumps(report) + err


def test_an_endpoint_is_sent_nothing_before_its_cost_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "frogs.txt"
    path.write_text(WORDS)
    with EmbeddingServer() as server:
        monkeypatch.setenv("TRACERT_BASE_URL", server.url)
        status, _, err = run(capsys, str(path), "--embedder", "openai:tiny")
        assert status == 0
        assert "1 passage with about" in err
        assert "will be sent out. That costs nothing." in err
        (passage,) = server.texts
        # What is in already is not sent again, and so nothing is told.
        status, _, err = run(capsys, str(path))
        assert (status, err, server.texts.count(passage)) == (0, "", 1)


def test_a_password_is_typed_unseen(
    capsys: pytest.CaptureFixture[str], locked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "getpass", lambda prompt, stream: SECRET)
    assert run(capsys, str(locked), "--password", "-")[0] == 0

    def closed(prompt: str, stream: object) -> str:
        raise EOFError

    monkeypatch.setattr(index, "getpass", closed)
    assert main(["index", str(locked), "--corpus", "D", "--password", "-"]) == 2
    assert "No password was typed" in capsys.readouterr().err


def test_the_password_is_in_nothing_that_is_kept(locked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"

    def said_by(*arguments: str) -> bytes:
        done = subprocess.run(
            [sys.executable, "-m", "tracert", *arguments],
            cwd=ROOT,
            env=os.environ | {"TRACERT_HOME": str(home)},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    said = said_by("index", str(locked), "--corpus", "C", "--password", SECRET)
    said += said_by("ask", "Who saw it?", "--corpus", "C", "--method", "native_rag", "--json")
    kept = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert kept
    for data in (said, *kept):
        assert SECRET.encode() not in data


def test_limits_are_options(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf([WORDS, "More."]))
    _, report, _ = run(capsys, str(path), "--limit", "pages=1", "--limit", "seconds=60")
    assert report["files"][0]["status"] == "partial"
    assert "the first 1 were read" in report["files"][0]["message"]
    monkeypatch.setenv("TRACERT_LIMIT_PAGES", "1")
    _, report, _ = run(capsys, str(path), "--corpus", "D")
    assert report["files"][0]["status"] == "partial"
    # An option goes before the environment.
    _, report, _ = run(capsys, str(path), "--corpus", "E", "--limit", "pages=9")
    assert report["files"][0]["status"] == "indexed"


@pytest.mark.parametrize("given", ["pages", "pages=", "pages=0", "speed=1", "=1"])
def test_a_limit_that_is_none_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, given: str
) -> None:
    assert main(["index", str(tmp_path), "--corpus", "C", "--limit", given]) == 2
    err = capsys.readouterr().err
    assert err.startswith("tracert: ")
    assert err.count("\n") == 1


def test_a_zip_and_a_file_of_passages(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a/one.md", f"# One\n\n{WORDS}")
        archive.writestr("a/rows.csv", "title,text\nFrogs,They twitch.\n,\nWires,They carry.\n")
    (tmp_path / "all.zip").write_bytes(out.getvalue())
    status, report, _ = run(capsys, str(tmp_path / "all.zip"))
    assert status == 0
    files = {Path(file["path"]).name: file for file in report["files"]}
    assert files["one.md"]["status"] == "indexed"
    assert (files["rows.csv"]["status"], files["rows.csv"]["chunks"]) == ("partial", 2)
    assert "line 3 has no text" in files["rows.csv"]["message"]
    assert report["files"][0]["path"].endswith("all.zip/a/one.md")
