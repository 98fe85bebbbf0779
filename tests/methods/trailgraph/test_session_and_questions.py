"""What follows an answer, and several questions in one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.knowledge.trees import note, write
from tests.methods.trailgraph.graphs import EMBEDDER, trace_of, tree
from tests.scripted_model import ScriptedModel
from tracert.errors import KnowledgeError, ModelError
from tracert.knowledge.opened import OpenGraph, open_for_walk
from tracert.methods.base import Question, Resources
from tracert.methods.trailgraph import TrailGraph
from tracert.methods.trailgraph.questions import may_be_several, split, split_by_model
from tracert.methods.trailgraph.session import Session, confirmed, is_yes, pending
from tracert.trace import StopReason, Trace


@pytest.fixture
def opened(tmp_path: Path) -> OpenGraph:
    return tree(tmp_path / "g", {"e": "a b", "a": "c d"})


def test_yes_opens_the_closest_note(opened: OpenGraph) -> None:
    first = trace_of(opened, "summary of d?", answer_threshold=100)
    assert first.result.stop.reason is not StopReason.ANSWERED
    closest = pending(first)
    assert closest is not None
    assert first.node(closest).text != opened.graph.content(closest)
    after = confirmed(first, opened)
    assert after.result.stop.reason is StopReason.ANSWERED
    assert after.result.evidence == first.result.evidence
    assert after.node(closest).text == opened.graph.content(closest)
    assert after.steps[:-1] == first.steps
    assert (after.steps[-1].action, after.steps[-1].target) == ("focus", closest)
    assert after.steps[-1].index == len(first.steps)
    assert Trace.from_json(after.to_json()).to_json() == after.to_json()


def test_a_new_question_starts_clean(opened: OpenGraph) -> None:
    asked: list[str] = []

    def ask(text: str) -> Trace:
        asked.append(text)
        return trace_of(opened, text, answer_threshold=100)

    session = Session(ask, opened)
    session.say("summary of d?")
    assert session.say("Yes, please!").result.stop.reason is StopReason.ANSWERED
    # Nothing is pending any more: 'yes' is now a question like any other.
    session.say("yes")
    session.say("summary of d?")
    session.say("summary of c?")
    # The closest note of the question before is forgotten; the yes is about the last one.
    assert pending(session.say("ok")) is None
    assert asked == ["summary of d?", "yes", "summary of d?", "summary of c?"]


def test_an_answered_walk_leaves_nothing_pending(opened: OpenGraph) -> None:
    trace = trace_of(opened, "summary of d?", answer_threshold=0)
    assert trace.result.stop.reason is StopReason.ANSWERED
    assert pending(trace) is None
    assert confirmed(trace, opened) is trace


@pytest.mark.parametrize("text", ["yes", "Yes!", " YES ", "ok", "that's it", "Ja", "oui", "sí"])
def test_ways_to_say_yes(text: str) -> None:
    assert is_yes(text)


@pytest.mark.parametrize("text", ["", "no", "yes, but who was Volta?", "yesterday", "Who?"])
def test_what_is_no_yes(text: str) -> None:
    assert not is_yes(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Who built the pile? When did Volta die?", ("Who built the pile?", "When did Volta die?")),
        (
            "Who built the pile and when was the jar found?",
            ("Who built the pile?", "when was the jar found?"),
        ),
        ("What is amber; where is it found?", None),  # 'it' leans on the first
        ("Who built the pile, and what did he use?", None),
        ("Who taught Faraday and Hertz?", None),  # no question word after 'and'
        ("Which is older, the pile or the jar?", None),
        ("Tell me about amber and how wires work.", None),  # the first asks nothing
        ("Why and how?", None),  # too short to stand alone
        ("Who?", None),
        ("Wer war Volta und wann lebte er?", None),
    ],
)
def test_the_rule_that_parts_questions(text: str, parts: tuple[str, ...] | None) -> None:
    assert split(text) == (parts or (text,))


def test_a_model_parts_questions() -> None:
    reply = json.dumps({"questions": ["Who built the pile?", "What did Volta use?"]})
    assert split_by_model("Who built the pile and what did he use?", ScriptedModel(reply)) == (
        "Who built the pile?",
        "What did Volta use?",
    )
    for useless in ("no", "{}", '{"questions": "x"}', '{"questions": ["only one?"]}'):
        assert split_by_model("A and B?", ScriptedModel(useless)) == ("A and B?",)


def test_each_part_is_walked_and_the_answer_has_both(tmp_path: Path) -> None:
    opened = open_for_walk(
        write(
            tmp_path / "g",
            {
                "entry_points/e.md": note("Start", children="v.md, j.md"),
                "v.md": note("Volta", summary="Volta built the pile.", parent="entry_points/e.md"),
                "j.md": note("Jar", summary="Kleist found the jar.", parent="entry_points/e.md"),
            },
        ),
        EMBEDDER,
    )
    trace = trace_of(opened, "Who built the pile and who found the jar?")
    assert trace.result.evidence[:2] == ("v.md", "j.md")
    assert [step.index for step in trace.steps] == list(range(len(trace.steps)))
    assert sum(step.action == "entry" for step in trace.steps) == 2
    assert "Who built the pile?" in trace.result.stop.message
    whole = trace_of(opened, "Who built the pile and who found the jar?", split="false")
    assert sum(step.action == "entry" for step in whole.steps) == 1


def test_a_model_that_fails_to_part_leaves_it_to_the_rule(opened: OpenGraph) -> None:
    model = ScriptedModel(ModelError("down"))
    trace = trace_of(opened, "What is in c and what is in d?", model, scoring="offline")
    assert sum(step.action == "entry" for step in trace.steps) == 2


def test_without_a_graph_the_method_says_what_to_do() -> None:
    with pytest.raises(KnowledgeError, match="Name a folder"):
        TrailGraph().prepare(Question("What?"), Resources(EMBEDDER.embed))


def test_a_model_is_asked_only_where_the_rule_would_cut() -> None:
    assert may_be_several("Who built the pile, and what did he use?")
    assert may_be_several("Who? When?")
    assert not may_be_several("Who taught Faraday and Hertz?")
    assert not may_be_several("How does lead qualification work?")
