"""A run with a model runs again without it, by the replies that its trace carries."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from tracert.difference import Pair, difference
from tracert.errors import ModelError, TraceError
from tracert.language.base import Message, Reply, ToolCall
from tracert.language.record import Recorder, Replayer, replayer
from tracert.trace import ModelReply, Replies, Trace
from tracert.workspace import Workspace

KEY = "sk-k3ymark-0123456789"


class Model:
    """A model that says what it is told to, in turn, and counts its calls."""

    name = "scripted"

    def __init__(self, *said: Reply) -> None:
        self.said, self.calls = list(said), 0

    def complete(self, messages, *, tools=(), max_tokens=800, on_text=None):
        self.calls += 1
        return self.said.pop(0) if len(self.said) > 1 else self.said[0]


GOAL = Reply("Category: chemistry\nConcept: the pile\nExplanation: Volta's pile gave a current.")


@pytest.fixture(scope="module")
def space(tmp_path_factory, builtin) -> Workspace:
    made = Workspace(tmp_path_factory.mktemp("replay"))
    made.load_builtin()
    return made


def ask(space, model, **more):
    return space.ask(
        "Who made the first pile?",
        corpus="The Long Spark",
        method="tracert_rag",
        model=model,
        with_map=False,
        **more,
    )


def test_the_trace_carries_what_the_model_said(space):
    model = Model(GOAL, Reply("Volta made it [1].", (), 70, 9))
    trace = ask(space, model)
    assert trace.replies.model == "scripted"
    assert [one.text for one in trace.replies.replies] == [GOAL.text, "Volta made it [1]."]
    back = Trace.from_json(trace.to_json())
    assert back.replies == trace.replies
    assert trace.result.answer.source == "scripted"


def test_a_run_replays_without_the_model(space, monkeypatch):
    model = Model(GOAL, Reply("Volta made it [1].", (), 70, 9))
    first = Trace.from_json(ask(space, model).to_json())
    asked = model.calls
    again = ask(space, Replayer(first.replies))
    assert model.calls == asked
    found = difference(first, again)
    assert found.same_walk
    assert {pair.kind for pair in found.steps} == {Pair.SAME}
    assert again.result.answer == first.result.answer
    assert again.replies == first.replies
    assert (again.cost.model_calls, again.cost.prompt_tokens) == (
        first.cost.model_calls,
        first.cost.prompt_tokens,
    )


def test_another_setting_of_the_same_question_keeps_the_goal_s_reply(space):
    model = Model(GOAL, Reply("Volta [1]."))
    ask(space, model, answer=False)
    calls = model.calls
    moved = ask(space, model, answer=False, settings={"alpha": 0.9})
    assert model.calls == calls  # what was prepared is kept
    assert [one.text for one in moved.replies.replies] == [GOAL.text]


def test_a_reply_used_again_from_what_was_kept_is_in_the_trace(space):
    """Iterative rewriting keeps its rewrites; a second run with them replays all the same."""
    model = Model(Reply("What did Volta stack?"))

    def run(model, rewrites):
        return space.ask(
            "Who made the first pile?",
            corpus="The Long Spark",
            method="iterative_rewrite",
            settings={"rewrites": rewrites},
            model=model,
            answer=False,
            with_map=False,
        )

    run(model, 1)
    calls = model.calls
    second = run(model, 1)
    assert model.calls == calls
    assert second.replies is not None
    again = run(Replayer(second.replies), 1)
    assert difference(second, again).same_walk


def test_a_run_that_asked_no_model_has_no_replies(space):
    assert ask(space, None).replies is None


def test_replies_of_tools_come_back():
    call = ToolCall("c1", "get_knowledge_context", '{"node": "a"}')
    heard = Recorder(Model(Reply("", (call,), 3, 4, "tool_calls")))
    said = heard.complete([Message("user", "Go.")])
    assert Replayer(heard.replies).complete([Message("user", "Go.")]) == said


def test_a_trace_of_replies_is_a_recording_to_replay(space):
    trace = ask(space, Model(GOAL, Reply("Volta [1].")))
    for indent in (None, 2):
        assert replayer(trace.to_json(indent=indent)).name == "scripted"
        assert replayer(trace.to_json(indent=indent).encode()).name == "scripted"


def test_a_trace_without_replies_says_so(space):
    with pytest.raises(ModelError, match="no model was asked"):
        replayer(ask(space, None).to_json())


@pytest.mark.parametrize(
    "strange",
    [
        [], "x", 3, {"model": "m"}, {"model": 1, "replies": []}, {"model": "m", "replies": [1]},
        {"model": "m", "replies": [{"key": "k"}]},
        {"model": "m", "replies": [{"key": "k", "text": "t", "calls": [["a"]], "prompt_tokens": 1,
                                    "completion_tokens": 1, "finish": "stop"}]},
        {"model": "m", "replies": [{"key": "k", "text": "t", "calls": [], "prompt_tokens": 10**20,
                                    "completion_tokens": 1, "finish": "stop"}]},
    ],
)  # fmt: skip
def test_replies_that_are_none_are_refused(strange):
    path = Path(__file__).resolve().parents[1] / "toy_traces.py"
    spec = importlib.util.spec_from_file_location("toy_traces", path)
    toys = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toys)
    data = json.loads(toys.walk_trace().to_json(vectors=False)) | {"replies": strange}
    with pytest.raises(TraceError):
        Trace.from_json(json.dumps(data))


def test_replies_are_added_after_those_that_are_there():
    one, two = ModelReply("k", "one"), ModelReply("k", "two")
    path = Path(__file__).resolve().parents[1] / "toy_traces.py"
    spec = importlib.util.spec_from_file_location("toy_traces", path)
    toys = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toys)
    trace = toys.walk_trace().with_replies(Replies("m", (one,))).with_replies(Replies("m", (two,)))
    assert trace.replies.replies == (one, two)
    assert trace.with_replies(Replies("m", ())).replies == trace.replies
