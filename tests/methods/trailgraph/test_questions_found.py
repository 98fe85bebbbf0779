"""The built-in questions and those about the real trees: how often the first note is gold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tracert.embedding.registry import embedder
from tracert.knowledge.opened import OpenGraph, open_for_walk
from tracert.methods.base import Question, Resources, collect, parse_settings
from tracert.methods.trailgraph import TrailGraph
from tracert.trace import StopReason, Trace

TREES = {
    "just-the-docs": "just-the-docs",
    "rust-book": "rust-book/src",
    "dendron-site": "dendron-site/vault",
}


def ask(opened: OpenGraph, question: str, **given: object) -> Trace:
    method = TrailGraph()
    resources = Resources(embedder("wordllama").embed, knowledge=opened)
    prepared = method.prepare(Question(question), resources)
    settings = parse_settings(method.settings_type, given)
    return collect(
        method.walk(prepared, settings, resources), method=method.name, question=question
    )


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def share(opened: OpenGraph, questions: list[dict], **given: object) -> float:
    hits = [
        ask(opened, row["question"], **given).result.evidence[0] in row["notes"]
        for row in questions
    ]
    return sum(hits) / len(hits)


@pytest.fixture(scope="module")
def notes() -> OpenGraph:
    return open_for_walk(ROOT / "knowledge" / "notes", embedder("wordllama"))


def test_the_first_note_is_gold_for_at_least_eight_of_ten(notes: OpenGraph) -> None:
    questions = rows(ROOT / "knowledge" / "questions.jsonl")
    found = share(notes, questions)
    assert found >= 0.8
    # The plain walk over the same scores is what search, beam and fallback are measured against.
    assert share(notes, questions, plain=True) < found


def test_it_is_on_a_graph_that_nothing_was_tuned_on() -> None:
    place = ROOT / "benchmarks"
    opened = open_for_walk(place / "trailgraph_notes" / "larkmoor", embedder("wordllama"))
    questions = rows(place / "trailgraph_questions" / "larkmoor.jsonl")
    assert all(path in opened.row for row in questions for path in row["notes"])
    assert not opened.graph.faults
    assert share(opened, questions) >= 0.8


def test_a_trace_holds_what_explains_it(notes: OpenGraph) -> None:
    for row in rows(ROOT / "knowledge" / "questions.jsonl")[::4]:
        trace = ask(notes, row["question"])
        again = Trace.from_json(trace.to_json())
        assert again.corpus == notes.info
        known = {node.id for node in trace.nodes}
        assert known <= {"query", *notes.paths}
        for step in trace.steps:
            assert {"hop", "score", "view"} <= set(step.values)
            assert all(item.reason for item in step.candidates)
        first = trace.node(trace.result.evidence[0])
        if trace.result.stop.reason is StopReason.ANSWERED:
            assert first.text == notes.graph.content(first.id)
            assert first.source is not None
            assert first.source.end - first.source.start == len(first.text)
        opened = [node for node in trace.nodes if node.source is not None]
        assert len(opened) == sum(step.action == "focus" for step in trace.steps)


@pytest.mark.parametrize("tree", TREES)
def test_the_questions_about_the_trees_are_sound(tree: str) -> None:
    questions = rows(ROOT / "benchmarks" / "trailgraph_questions" / f"{tree}.jsonl")
    assert len(questions) == len({row["question"] for row in questions}) == 10
    assert all(row["notes"] and row["answer"] for row in questions)


@pytest.mark.shared
@pytest.mark.parametrize("tree", TREES)
def test_the_trees_are_walked(shared: Path, tree: str) -> None:
    opened = open_for_walk(shared / "data" / "knowledge" / TREES[tree], embedder("wordllama"))
    questions = rows(ROOT / "benchmarks" / "trailgraph_questions" / f"{tree}.jsonl")
    assert all(path in opened.row for row in questions for path in row["notes"])
    # The measured shares are in the README; this guards against a walk that stopped working.
    assert share(opened, questions) >= 0.3
