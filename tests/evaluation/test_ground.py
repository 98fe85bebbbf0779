"""The three grounds: a pool, a corpus with gold by quotation, notes with gold by path."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.toy_embedder import ToyEmbedder
from tracert.corpus.chunking import Chunking
from tracert.errors import DatasetError, SettingError
from tracert.evaluation.datasets import Passage, read_data
from tracert.evaluation.evaluate import Run, finish
from tracert.evaluation.gold_chain import GoldChain, to_jsonl
from tracert.evaluation.ground import corpus_ground, notes_ground, pool_ground
from tracert.methods.registry import method
from tracert.workspace import Workspace

#: Forty letters; chunks of twenty overlap by ten: 0-20, 10-30, 20-40.
TEXT = "Ada wrote notes. Bob read them at night."


def quoted(**changes: Any) -> dict[str, Any]:
    return {
        "id": "A1",
        "question": "Who wrote what Bob read?",
        "answer": "Ada",
        "hops": 2,
        "type": "bridge",
        "passages": [
            {"document": "a.txt", "quote": "Bob read them"},
            {"document": "a.txt", "quote": "Ada wrote notes"},
        ],
        "notes": ["Bob.md", "Ada.md"],
        **changes,
    }


def written(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    (tmp_path / "a.txt").write_text(TEXT)
    space = Workspace(tmp_path / "home")
    space.index([tmp_path / "a.txt"], "Small", chunking=Chunking(20, 10), embedder=ToyEmbedder())
    return space


def test_a_quotation_is_found_in_the_chunks_that_hold_most_of_it(space, tmp_path) -> None:
    # 'Bob read them' is 17-30, 13 letters: 13 of them in chunk 1, 10 in chunk 2, 3 in chunk 0.
    # 'Ada wrote notes' is 0-15: 15 in chunk 0, 5 in chunk 1.
    path = written(tmp_path / "q.jsonl", quoted())
    ground = corpus_ground(space.open("Small"), path, ToyEmbedder(), space.path)
    (item,) = ground.items
    names = [[id.rpartition(":")[2] for id in each.ids] for each in item.gold]
    assert names == [["1", "2"], ["0"]]
    assert [each.depth for each in item.gold] == [1, 2]
    assert item.edges == ((0, 1),)
    assert ground.text(item.gold[1].ids[0]) == ("a.txt", TEXT[:20])
    report = finish(Run(ground, method("native_rag"), k=3))
    assert report.to_dict()["results"]["recall"] == 1.0


def test_a_comparison_stands_side_by_side(space, tmp_path) -> None:
    path = written(tmp_path / "q.jsonl", quoted(type="comparison"))
    (item,) = corpus_ground(space.open("Small"), path, ToyEmbedder(), space.path).items
    assert item.edges == ()
    assert [each.depth for each in item.gold] == [1, 1]


def test_a_gold_chain_made_by_hand_is_a_quotation_too(space, tmp_path) -> None:
    chain = GoldChain(
        "Who read?", (Passage("a.txt", TEXT[10:30]), Passage("a.txt", TEXT[:20])), "Bob"
    )
    path = tmp_path / "chains.jsonl"
    path.write_text(to_jsonl([chain], "mine"))
    (item,) = corpus_ground(space.open("Small"), path, ToyEmbedder(), space.path).items
    assert [[id.rpartition(":")[2] for id in each.ids] for each in item.gold] == [["1"], ["0"]]
    assert item.edges == ((0, 1),)


def test_questions_about_another_text_are_left_out(space, tmp_path) -> None:
    stray = quoted(id="B", passages=[{"document": "b.txt", "quote": "Ada"}])
    path = written(tmp_path / "q.jsonl", quoted(), stray)
    ground = corpus_ground(space.open("Small"), path, ToyEmbedder(), space.path)
    assert (len(ground.items), ground.left_out) == (1, 1)
    with pytest.raises(DatasetError, match="holds the gold passages of no question"):
        corpus_ground(space.open("Small"), written(path, stray), ToyEmbedder(), space.path)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in {"Ada": "Ada wrote.", "Bob": "Bob read it.", "Cy": "Cy slept."}.items():
        (folder / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
    return folder


def test_notes_are_ranked_by_their_text(tmp_path, notes) -> None:
    space, embedder = Workspace(tmp_path / "home"), ToyEmbedder()
    path = written(tmp_path / "q.jsonl", quoted(), quoted(id="C", notes=["Dan.md"]))
    graph = space.open_notes(notes, embedder=embedder)
    ground = notes_ground(graph, path, embedder, space.path)
    assert (len(ground.items), ground.left_out, ground.size) == (1, 1, 3)
    (item,) = ground.items
    assert [each.ids for each in item.gold] == [("Bob.md",), ("Ada.md",)]
    vector = embedder.embed(["Cy slept."])[0]
    assert ground.nearest("Cy slept.", vector, "dense", 2)[0] == "Cy.md"
    # 'slept' stands in Cy alone; the two others share no word and follow by their vectors.
    for stage in ("bm25", "hybrid"):
        found = ground.nearest("Who slept?", vector, stage, 3)
        assert found[0] == "Cy.md"
        assert sorted(found) == ["Ada.md", "Bob.md", "Cy.md"]
    assert ground.text("Cy.md")[0] == "Cy"
    run = Run(ground, method("trailgraph"), k=2)
    assert run.budget == 2
    assert run.settings["evidence"] == 2
    detail = run.detail(0)
    assert len(detail.evidence) == 2
    assert run.trace(0).method == "trailgraph"
    assert run.baseline_trace(0, 2) is None
    with pytest.raises(SettingError, match="walks a corpus; these questions are sought in notes"):
        Run(ground, method("treehop"))


def test_a_wrong_row_is_named_and_the_rest_goes_on(tmp_path) -> None:
    path = tmp_path / "q.jsonl"
    good = json.dumps(quoted())
    damaged = json.dumps({"question": "x", "question_decomposition": [{"question": "y"}]})
    path.write_text("\n".join([good, "{", "[1]", '{"question": " "}', damaged, good]))
    read = read_data(path)
    assert len(read.items) == 2
    assert [fault.split(":")[0].split(" is ")[0] for fault in read.faults] == [
        "q.jsonl, line 2",
        "q.jsonl, line 3",
        "q.jsonl, line 4",
        "q.jsonl, line 5",
    ]
    path.write_text("{")
    with pytest.raises(DatasetError, match="line 1 is not JSON"):
        read_data(path)
    path.write_text("\n\n")
    with pytest.raises(DatasetError, match="holds no question"):
        read_data(path)


def test_a_run_that_was_stopped_goes_on_where_it_stood(space, tmp_path) -> None:
    path = written(tmp_path / "q.jsonl", quoted(), quoted(id="A2", question="Who reads at night?"))
    ground = corpus_ground(space.open("Small"), path, ToyEmbedder(), space.path)
    whole = finish(Run(ground, method("treehop"), k=2, settings={"model": "forget_rule"}))
    run = Run(ground, method("treehop"), k=2, settings={"model": "forget_rule"})
    again = [type(one).from_dict(one.to_dict()) for one in [run.detail(0)]]
    again.append(run.detail(1))
    results = [run.evaluation(again).to_dict()["results"], whole.to_dict()["results"]]
    for each in results:
        del each["latency_ms"]
    assert results[0] == results[1]
    trace = run.baseline_trace(0, 2)
    assert trace is not None
    assert trace.result.evidence == whole.details[0].baseline_evidence


def test_the_paragraphs_of_the_questions_are_pooled_once(tmp_path) -> None:
    paragraphs = [{"title": "A", "text": "Ada wrote.", "is_supporting": True}]
    other = [{"title": "B", "text": "Bob read.", "is_supporting": True}]
    rows = [
        {"id": "1", "question": "Who wrote?", "paragraphs": paragraphs + other},
        {"id": "2", "question": "Who read?", "paragraphs": other},
    ]
    ground = pool_ground(written(tmp_path / "q.jsonl", *rows), None, ToyEmbedder(), tmp_path)
    assert ground.size == 2
    assert [[each.ids for each in item.gold] for item in ground.items] == [
        [("passage:0",), ("passage:1",)],
        [("passage:1",)],
    ]


def test_groups_have_every_measure(tmp_path) -> None:
    rows = [
        {
            "id": kind,
            "question": f"Who {kind}?",
            "type": kind,
            "paragraphs": [{"title": kind, "text": kind, "is_supporting": True}],
        }
        for kind in ("wrote", "read")
    ]
    ground = pool_ground(written(tmp_path / "q.jsonl", *rows), None, ToyEmbedder(), tmp_path)
    summary = finish(Run(ground, method("native_rag"), k=2)).summary
    group = summary.by_type["read"]
    assert group.count == 1
    assert {"recall", "precision", "all_found", "mrr", "ndcg", "recall@2"} <= set(group.measures)
    assert group.measures["precision"].mean == 1 / 2
    assert group.differences["ndcg"].mean == 0.0
    assert summary.by_depth["1"].count == 2
