"""`ask` says how often a model may be asked before an index is made with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers import ChatServer
from tracert.cli import main

TEXT = "Michael Faraday wound two coils. Humphry Davy had taught Michael Faraday.\n"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> str:
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    assert main(["index", str(tmp_path / "text.txt"), "--corpus", "Coils"]) == 0
    capsys.readouterr()
    return "Coils"


def test_the_calls_of_an_index_are_told_first(corpus, capsys):
    ask = ["ask", "Who taught Michael Faraday?", "--corpus", corpus, "--method", "graph_rag"]
    with ChatServer() as server:
        server.say("Humphry Davy [1].")
        assert main([*ask, "--model", "tiny", "--base-url", server.url]) == 0
        # One block of passages to read, forty summaries at most, one answer.
        assert 1 <= len(server.calls) <= 42
    told = "tiny is asked up to 42 times, 41 of them for an index of the corpus, which is kept."
    assert told in capsys.readouterr().err


def test_the_few_calls_of_a_question_are_not_worth_a_word(corpus, capsys):
    ask = ["ask", "Who taught Michael Faraday?", "--corpus", corpus, "--method", "native_rag"]
    with ChatServer() as server:
        server.say("Humphry Davy [1].")
        assert main([*ask, "--model", "tiny", "--base-url", server.url]) == 0
        assert len(server.calls) == 1
    assert capsys.readouterr().err == ""


def test_nothing_is_told_where_nothing_is_asked(corpus, capsys):
    ask = ["ask", "Who taught Michael Faraday?", "--corpus", corpus, "--method", "graph_rag"]
    assert main(ask) == 0
    assert capsys.readouterr().err == ""
