"""A talk at the terminal after a walk that opened no note."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.knowledge.trees import CRM, write
from tracert.cli import main

CLOSEST = "Which paint was used on the ceiling of the chapel?"


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Ask at a terminal and give the answers; what was printed."""
    folder = write(tmp_path / "g", CRM)

    def run(*answers: str, terminal: bool = True) -> str:
        given: Iterator[str] = iter(answers)

        def said(_prompt: str = "") -> str:
            try:
                return next(given)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", said)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: terminal, raising=False)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
        arguments = ["ask", CLOSEST, "--knowledge", str(folder), "--method", "trailgraph"]
        assert main(arguments) == 0
        assert next(given, None) is None, "not every answer was asked for"
        return capsys.readouterr().out

    return run


def test_yes_opens_the_closest_note(talk) -> None:
    first, second = talk("yes").split("Type yes to open it")
    assert "was opened, since the person said yes" not in first
    assert "was opened, since the person said yes" in second
    assert "Some content here." in second
    assert "Did you mean" not in second


def test_another_question_starts_clean(talk) -> None:
    other = "How tall is the tower of Pisa in winter?"
    out = talk(other, "")
    assert f"Question  {other}" in out
    assert "said yes" not in out


@pytest.mark.parametrize("answers", [(), ("",)])
def test_nothing_said_ends_it(talk, answers: tuple[str, ...]) -> None:
    assert talk(*answers).count("Question  ") == 1


def test_nobody_is_asked_where_nobody_reads(talk) -> None:
    assert "Type yes to open it" not in talk(terminal=False)


def test_a_zip_of_notes_is_walked_as_the_folder_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "g", CRM)
    packed = Path(shutil.make_archive(str(tmp_path / "notes"), "zip", tmp_path, "g"))
    traces = []
    for place in (folder, packed):
        arguments = ["ask", CLOSEST, "--knowledge", str(place), "--method", "trailgraph"]
        assert main([*arguments, "--json", "--no-vectors"]) == 0
        traces.append(json.loads(capsys.readouterr().out))
    assert traces[0]["steps"] == traces[1]["steps"]
    assert [trace["corpus"]["name"] for trace in traces] == ["g", "notes.zip"]
