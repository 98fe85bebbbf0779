from __future__ import annotations

import json

import pytest

from tracert.corpus.model import Chunk
from tracert.errors import DatasetError
from tracert.evaluation.quoted import (
    Quotation,
    QuotedQuestion,
    found_of,
    gold_of,
    known_gold,
    read_questions,
)

TEXT = "aaaaaaaaaa" + "0123456789" + "bbbbbbbbbb"


def chunk(start: int, end: int, document: str = "a.md") -> Chunk:
    return Chunk(f"x:{start}", TEXT[start:end], document, "x", 0, None, (), start, end)


def asked(quote: str, document: str = "a.md") -> QuotedQuestion:
    return QuotedQuestion("A01", "q", "a", 2, (Quotation(document, quote),))


def test_a_chunk_is_gold_where_it_holds_most_of_the_quotation():
    # The quotation stands at 10 to 20. [0, 15) holds half of it, [0, 16) six of ten letters.
    chunks = [chunk(0, 15), chunk(4, 16), chunk(13, 30), chunk(9, 21, "b.md")]
    assert gold_of(asked("0123456789"), {"a.md": TEXT}, chunks) == (frozenset({"x:4", "x:13"}),)


def test_a_quotation_that_is_not_there_is_no_gold():
    assert gold_of(asked("9876"), {"a.md": TEXT}, [chunk(0, 30)]) is None
    assert gold_of(asked("0123", "c.md"), {"a.md": TEXT}, [chunk(0, 30)]) is None
    assert known_gold(asked("0123"), {"a.md": TEXT}, [chunk(0, 30)]) == (frozenset({"x:0"}),)
    with pytest.raises(DatasetError, match="quotations of A01"):
        known_gold(asked("9876"), {"a.md": TEXT}, [chunk(0, 30)])


def test_one_chunk_of_a_gold_passage_is_enough():
    gold = (frozenset({"1", "2"}), frozenset({"3"}), frozenset())
    assert found_of(gold, ["2", "9"]) == pytest.approx(1 / 3)
    assert found_of(gold, ["1", "2", "3"]) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="gold"):
        found_of((), ["1"])


def test_the_questions_are_read(tmp_path):
    row = {
        "id": "A01",
        "question": "Who?",
        "answer": "Volta",
        "hops": 2,
        "passages": [{"document": "a.md", "quote": "0123"}],
    }
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(row) + "\n\n", encoding="utf-8")
    (one,) = read_questions(path)
    assert one == QuotedQuestion("A01", "Who?", "Volta", 2, (Quotation("a.md", "0123"),))
