"""The script of the paper's own tables: on a short text, offline and by a scripted model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import source_tables
from tests.servers import ChatServer
from tracert.language.judge import CRITERIA
from tracert.methods.graph_rag.index import forget_graphs

TEXT = """Elizabeth Bennet met Mr. Darcy at Meryton. Mr. Wickham spoke ill of Mr. Darcy to
Elizabeth Bennet. A letter of Mr. Darcy told Elizabeth Bennet of Mr. Wickham and of Georgiana.

Charlotte Lucas married Mr. Collins at Hunsford. Lady Catherine came to Longbourn in anger.

Lydia Bennet went to Brighton and left it with Mr. Wickham. Mr. Bingley came back to Netherfield.
"""


@pytest.fixture(autouse=True)
def _fresh():
    forget_graphs()


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text(TEXT * 6, encoding="utf-8")
    return path


def test_there_are_five_multi_hop_questions():
    lines = source_tables.QUESTIONS.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len({row["question"] for row in rows}) == 5
    assert all(row["hops"] > 1 and row["question"].endswith("?") for row in rows)


def test_the_published_figures_are_those_of_the_paper():
    # Table 1's overall is the mean of its four criteria, Table 2's last column a fifth of the one
    # before: so a slip of the pen shows.
    for _, (*scores, overall) in source_tables.PUBLISHED_SCORES.values():
        assert sum(scores) / 4 == pytest.approx(overall, abs=0.051)
    for _, five, one in source_tables.PUBLISHED_SECONDS.values():
        assert five / 5 == pytest.approx(one, abs=0.02)


@pytest.mark.shared
def test_the_published_figures_stand_in_the_source(shared):
    text = (shared / "seeds" / "tracert-rag.txt").read_text(encoding="utf-8")
    for index, five, one in source_tables.PUBLISHED_SECONDS.values():
        assert f"{index:.2f}\t{five:.2f}\t~{one:g}" in text
    for wins, scores in source_tables.PUBLISHED_SCORES.values():
        written = "\t".join(
            f"{score:.2f}" if place == 4 else f"{score:.1f}" for place, score in enumerate(scores)
        )
        assert f"{wins}\t{written}" in text


def test_without_a_model_it_times_and_says_that_none_was_set(book, capsys, tmp_path):
    out = tmp_path / "tables.md"
    assert source_tables.main([str(book), "--repeats", "1", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert text == capsys.readouterr().out
    assert "No model was set" in text
    for name in ("Graph RAG", "Tracert-RAG", "TreeHop", "Native RAG"):
        assert f"| {name}" in text
    assert "11,788.01" in text
    assert "not in the paper" in text
    assert "8.05" in text


def test_with_a_model_the_judge_fills_its_table(book, capsys):
    letters = "ABCD"
    marks = {letter: dict.fromkeys(CRITERIA, 5 + place) for place, letter in enumerate(letters)}
    with ChatServer() as server:
        # One reply for all: no goal and no rewrite, but an answer and a judgement.
        server.say(json.dumps(marks | {"best": "D"}))
        model = ["--model", "tiny", "--base-url", server.url]
        limits = ["--reading-calls", "1", "--summary-calls", "1"]
        assert source_tables.main([str(book), "--repeats", "1", *model, *limits]) == 0
        text = capsys.readouterr().out
        assert "Judged by tiny" in text
        # Whoever is last is the best in each round, so the rounds never agree.
        assert "two winners at 100% of them" in text
        assert "unknown price" in text
        assert "key" not in text.lower()
        assert len(server.calls) > 10


def test_a_judge_that_gives_nothing_is_said(book, capsys):
    with ChatServer() as server:
        server.say("I cannot judge.")
        model = ["--model", "tiny", "--base-url", server.url]
        limits = ["--reading-calls", "0", "--summary-calls", "0"]
        assert source_tables.main([str(book), "--repeats", "1", *model, *limits]) == 0
    assert "gave no judgement on any of the questions" in capsys.readouterr().out
