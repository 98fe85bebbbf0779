"""MultiHop-RAG in its published form, on a small file of the project's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toy_embedder import ToyEmbedder
from tracert.corpus.chunking import Chunking
from tracert.errors import DatasetError
from tracert.evaluation.articles import Facts, cut
from tracert.evaluation.datasets import read_data, read_pool
from tracert.evaluation.evaluate import Run, finish
from tracert.evaluation.ground import pool_ground
from tracert.methods.registry import method

DATA = Path(__file__).parent / "data"
QUESTIONS, CORPUS = DATA / "multihop_rag.json", DATA / "multihop_rag_corpus.json"


def article(body: str, title: str = "T") -> tuple[dict[str, str], str]:
    return {"title": title, "body": body}, "line 1"


def test_the_questions_are_read_as_they_are() -> None:
    first, second, null = read_data(QUESTIONS).items
    assert first.dataset == "multihop-rag"
    assert (first.type, first.n_hops, first.answer) == ("inference", 2, "Grey Skerry")
    assert [each.title for each in first.paragraphs] == [
        "A lamp for Grey Skerry",
        "The keeper goes ashore",
    ]
    assert second.type == "comparison"
    assert first.edges() == second.edges() == ()
    assert null.supporting == ()


def test_articles_become_passages_of_500_with_100_of_overlap() -> None:
    pool = read_pool(CORPUS)
    bodies = {each["title"]: each["body"] for each in json.loads(CORPUS.read_text("utf-8"))}
    for one in pool.articles:
        rows = pool.passages[one.first : one.first + len(one.spans)]
        assert [row.text for row in rows] == [bodies[one.title][a:b] for a, b in one.spans]
        assert all(len(row.text) <= 500 for row in rows)
        assert all(row.title == one.title for row in rows)
    assert [len(each.spans) for each in pool.articles] == [2, 1, 1]


def test_gold_are_the_passages_that_hold_the_facts(tmp_path: Path) -> None:
    # In the corpus a line is broken inside the first fact. It stands near the beginning of its
    # article, in the first passage; the fact of who paid stands at the end, in the second. The
    # question about Mars needs nothing that is there.
    ground = pool_ground(QUESTIONS, CORPUS, ToyEmbedder(), tmp_path)
    assert ground.left_out == 1
    first, second = ground.items
    assert [each.ids for each in first.gold] == [("passage:0",), ("passage:2",)]
    assert [each.ids for each in second.gold] == [("passage:1",), ("passage:2",)]
    assert ground.text("passage:1")[0] == "A lamp for Grey Skerry"
    report = finish(Run(ground, method("native_rag"), k=4))
    assert report.to_dict()["results"]["recall"] == 1.0  # four passages are all there are


def test_without_the_articles_the_facts_are_the_pool(tmp_path: Path) -> None:
    ground = pool_ground(QUESTIONS, None, ToyEmbedder(), tmp_path)
    assert ground.size == 4
    assert [len(each.gold) for each in ground.items] == [2, 2]


def test_a_fact_between_two_passages_belongs_to_the_one_with_more_of_it() -> None:
    # Windows of ten every eight: 0-10, 8-18, 16-20. 'fghijk' is 5-11: five of six are in the
    # first. 'ghijklm', 6-13, has four of seven in the first and five in the second: both.
    passages, articles = cut([article("abcdefghijklmnopqrst")], Chunking(10, 2))
    assert [each.text for each in passages] == ["abcdefghij", "ijklmnopqr", "qrst"]
    facts = Facts(articles)
    assert facts.rows("T", "fghijk") == (0,)
    assert facts.rows("T", "ghijklm") == (0, 1)
    assert facts.rows(" T ", "q r\ns t") == (2,)
    assert facts.rows("T", "xyz") == facts.rows("U", "abc") == facts.rows("T", " ") == ()


@given(st.text("ab \n", min_size=1, max_size=60), st.integers(0, 59), st.integers(1, 30), st.data())
def test_some_passage_holds_more_than_half_of_what_is_in_the_article(body, start, size, data):
    fact = body[start : start + size]
    if not fact.strip():
        return
    overlap = 10
    _, articles = cut([article(body)], Chunking(20, overlap))
    # Windows of 20 that overlap by 10 hold any stretch of 10 whole, so a fact of at most 10
    # characters stands in one of them.
    if len(fact) <= overlap:
        assert Facts(articles).rows("T", fact)


def test_an_article_without_a_body_is_named(tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_text('[{"title": "A", "body": "x"}, {"title": "B", "body": 3}]')
    with pytest.raises(DatasetError, match=r"corpus.json, line 2: an article needs"):
        read_pool(path)
