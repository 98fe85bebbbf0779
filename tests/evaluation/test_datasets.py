"""Questions and passages are read, and what is wrong with a line is said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tracert.errors import DatasetError
from tracert.evaluation.datasets import (
    Passage,
    gold_rows,
    read_items,
    read_passages,
    rows_by_passage,
)


def row(**changes: Any) -> dict[str, Any]:
    paragraphs = [
        {"title": name, "text": f"Text of {name}.", "is_supporting": name != "D"} for name in "ABCD"
    ]
    return {
        "id": "1",
        "dataset": "musique",
        "question": "Who?",
        "answer": "C",
        "type": "3hop",
        "n_hops": 3,
        "hops": [],
        "support_order": [0, 1, 2],
        "order_source": "official_decomposition",
        "paragraphs": paragraphs,
        **changes,
    }


def read(tmp_path: Path, *rows: Any):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return read_items(path)


def hops(*pairs: tuple[str, int]) -> list[dict[str, Any]]:
    return [{"question": text, "answer": "x", "paragraph_index": at} for text, at in pairs]


def test_edges_follow_references(tmp_path: Path) -> None:
    # The third hop needs the first two: a join, not a chain.
    (item,) = read(tmp_path, row(hops=hops(("who", 0), ("where", 1), ("#1 and #2", 2))))
    assert item.edges() == ((0, 2), (1, 2))
    assert item.depths() == {0: 1, 1: 1, 2: 2}


def test_edges_follow_the_order_where_no_hop_refers(tmp_path: Path) -> None:
    (item,) = read(tmp_path, row())
    assert item.edges() == ((0, 1), (1, 2))
    assert item.depths() == {0: 1, 1: 2, 2: 3}


def test_a_bridge_comparison_is_two_chains(tmp_path: Path) -> None:
    paragraphs = [{"title": n, "text": n, "is_supporting": True} for n in "ABXY"]
    (item,) = read(
        tmp_path,
        row(type="bridge_comparison", support_order=[0, 1, 2, 3], paragraphs=paragraphs),
    )
    assert item.edges() == ((0, 2), (1, 3))
    assert item.depths() == {0: 1, 1: 1, 2: 2, 3: 2}


@pytest.mark.parametrize(
    "changes", [{"type": "comparison"}, {"order_source": "unknown"}, {"support_order": []}]
)
def test_no_order_no_edges(tmp_path: Path, changes: dict[str, Any]) -> None:
    (item,) = read(tmp_path, row(**changes))
    assert item.edges() == ()
    assert set(item.depths().values()) == {1}


def test_a_circle_ends(tmp_path: Path) -> None:
    (item,) = read(tmp_path, row(support_order=[0, 1, 0]))
    assert set(item.depths()) == {0, 1, 2}


def test_gold_is_by_title_and_text(tmp_path: Path) -> None:
    (item,) = read(tmp_path, row())
    pool = [
        Passage("B", "Another text."),
        Passage("B", "Text of B."),
        Passage("D", "Text of D."),
        Passage("A", "Text of A."),
        Passage("A", "Text of A."),
    ]
    # B counts only with its text, D is not gold, C is not in the pool, A stands twice.
    assert gold_rows(item, rows_by_passage(pool)) == {0: 3, 1: 1}


def test_gzip_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write('{"title": "T", "text": "é\\u2028x"}\n\n{"text": "y"}\n')
    assert read_passages(path) == [Passage("T", "é\u2028x"), Passage("", "y")]
    assert [passage.embedded for passage in read_passages(path)] == ["T\né\u2028x", "y"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2 is not JSON"),
        ("[]", "line 2 is not a JSON object"),
        (json.dumps(row(question=" ")), "line 2: 'question'"),
        (json.dumps(row(paragraphs="x")), "line 2: 'paragraphs'"),
        (json.dumps(row(paragraphs=[{"title": 3, "text": "x"}])), "line 2: a passage"),
        (json.dumps(row(support_order=[4])), "4 is no index of one of its 4"),
        (json.dumps(row(hops=[3])), "line 2: a hop"),
        (json.dumps(row(n_hops="two")), "n_hops"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(row()) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        read_items(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        read_items(tmp_path / "absent.jsonl")
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8brubbish")
    with pytest.raises(DatasetError, match="cannot be read"):
        read_items(tmp_path / "broken.gz")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DatasetError, match="no passage"):
        read_passages(tmp_path / "empty.jsonl")
