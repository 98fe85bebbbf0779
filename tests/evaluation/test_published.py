"""The published files of the data sets are read as they are; rows worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tracert.errors import DatasetError
from tracert.evaluation.datasets import Item, read_items


def titled(**changes: Any) -> dict[str, Any]:
    return {
        "_id": "x",
        "question": "Who is the mother of the director of the film?",
        "answer": "Eve",
        "type": "compositional",
        "supporting_facts": [["Film", 0], ["Director", 1]],
        "context": [
            ["Other", ["Nothing."]],
            ["Director", ["A person.", " Child of Eve."]],
            ["Film", ["Made by Director."]],
        ],
        **changes,
    }


def read(tmp_path: Path, *rows: dict[str, Any]) -> list[Item]:
    path = tmp_path / "train.json"
    path.write_text(json.dumps(list(rows)), encoding="utf-8")
    return read_items(path)


def test_2wiki_takes_its_order_from_the_evidences(tmp_path: Path) -> None:
    evidences = [["Film", "director", "Director"], ["Director", "mother", "Eve"]]
    (item,) = read(tmp_path, titled(evidences=evidences))
    assert item.dataset == "2wikimultihopqa"
    assert item.edges() == ((2, 1),)
    assert [hop.answer for hop in item.hops] == ["Director", "Eve"]
    assert item.paragraphs[1].text == "A person. Child of Eve."
    assert item.supporting == (1, 2)


def test_2wiki_bridge_comparison_is_two_chains(tmp_path: Path) -> None:
    context = [[name, [f"{name}."]] for name in ("X", "B", "Y", "A")]
    evidences = [["A", "by", "X"], ["X", "born", "1"], ["B", "by", "Y"], ["Y", "born", "2"]]
    facts = [[name, 0] for name in "ABXY"]
    row = titled(
        type="bridge_comparison", context=context, evidences=evidences, supporting_facts=facts
    )
    (item,) = read(tmp_path, row)
    # A is paragraph 3 and leads to X, 0; B is 1 and leads to Y, 2.
    assert item.edges() == ((3, 0), (1, 2))


def test_an_evidence_without_its_paragraph_gives_no_order(tmp_path: Path) -> None:
    (item,) = read(
        tmp_path, titled(evidences=[["Film", "director", "D."], ["D.", "mother", "Eve"]])
    )
    assert item.edges() == ()


@pytest.mark.parametrize(
    ("changes", "edges"),
    [
        ({"type": "bridge"}, ((2, 1),)),
        ({"type": "bridge", "answer": "a"}, ()),
        ({"type": "comparison"}, ()),
    ],
)
def test_hotpot_takes_the_passage_with_the_answer_last(
    tmp_path: Path, changes: dict[str, Any], edges: tuple[tuple[int, int], ...]
) -> None:
    # 'Eve' is in Director alone; 'a' is in both, so that no order is known.
    (item,) = read(tmp_path, titled(**changes))
    assert item.dataset == "hotpotqa"
    assert item.edges() == edges


def test_musique_takes_its_decomposition(tmp_path: Path) -> None:
    row = {
        "id": "2hop__1_2",
        "question": "Where was the author born?",
        "answer": "Rome",
        "paragraphs": [
            {"idx": 0, "title": "P", "paragraph_text": "In Rome.", "is_supporting": True},
            {"idx": 1, "title": "B", "paragraph_text": "By P.", "is_supporting": True},
        ],
        "question_decomposition": [
            {"id": 1, "question": "B >> author", "answer": "P", "paragraph_support_idx": 1},
            {
                "id": 2,
                "question": "Where was #1 born?",
                "answer": "Rome",
                "paragraph_support_idx": 0,
            },
        ],
    }
    path = tmp_path / "musique.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (item,) = read_items(path)
    assert (item.type, item.n_hops, item.edges()) == ("2hop", 2, ((1, 0),))


def test_damaged_rows_are_named(tmp_path: Path) -> None:
    row = titled()
    del row["type"]
    with pytest.raises(DatasetError, match="line 1: the row is damaged near"):
        read(tmp_path, row)
    path = tmp_path / "numbers.json"
    path.write_text("[1, 2]")
    with pytest.raises(DatasetError, match="line 1 is not a JSON object"):
        read_items(path)
