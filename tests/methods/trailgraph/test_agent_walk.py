"""A model walks, over HTTP against a scripted server; whatever it does wrong ends clearly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.methods.trailgraph.graphs import trace_of, tree
from tests.servers import ChatServer, completion
from tracert.knowledge.opened import OpenGraph
from tracert.language.budget import Budget
from tracert.language.client import OpenAIChat
from tracert.language.record import Recorder, Recording, Replayer
from tracert.render.frames import frame
from tracert.render.words import words_for
from tracert.trace import StopReason, Trace

SMALL = {"e": "a b", "a": "c d", "b": "f"}
ENTRY = "entry_points/e.md"
KEY = "sk-k3ymark-very-secret"


@pytest.fixture
def opened(tmp_path: Path) -> OpenGraph:
    return tree(tmp_path / "g", SMALL)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def chat(server: ChatServer, **more) -> OpenAIChat:
    return OpenAIChat("tiny", server.url, KEY, retries=0, timeout=more.pop("timeout", 10), **more)


def arguments(node: str, score: float = 70, **more) -> str:
    return json.dumps({"node": node, "score": score, "reason": f"looks right: {node}", **more})


def caption(trace: Trace, index: int) -> str:
    return words_for(trace.method).caption(trace, frame(trace, index))


def calls(server: ChatServer, *given: tuple[str, float]) -> None:
    """One reply a call."""
    for place, (node, score) in enumerate(given):
        call = (f"call_{place}", "get_knowledge_context", arguments(node, score))
        server.json(completion(None, calls=[call]))


def ask(opened: OpenGraph, model, **more) -> Trace:
    trace = trace_of(opened, "What is in c?", model, split="false", **more)
    assert Trace.from_json(trace.to_json()).to_json() == trace.to_json()
    assert KEY not in trace.to_json()
    return trace


def test_a_walk_down_to_an_opened_note(opened: OpenGraph, server: ChatServer) -> None:
    calls(server, (ENTRY, 70), ("a.md", 80), ("c.md", 98))
    trace = ask(opened, chat(server), entry="fixed")
    assert [(step.action, step.source, step.target) for step in trace.steps] == [
        ("entry", "query", ENTRY),
        ("explore", ENTRY, "a.md"),
        ("focus", "a.md", "c.md"),
    ]
    assert trace.result.stop.reason is StopReason.ANSWERED
    assert trace.result.evidence[0] == "c.md"
    assert trace.result.path == ("query", ENTRY, "a.md", "c.md")
    assert trace.node("c.md").text == "Content of c."
    assert [step.values["score"] for step in trace.steps] == [70, 80, 98]
    assert trace.steps[1].values["reason"] == "looks right: a.md"
    # Why the other child was not taken, and what the model was shown, stand in the trace.
    assert {item.id: item.rule for item in trace.steps[1].candidates} == {
        "a.md": "chosen",
        "b.md": "lower_score",
    }
    assert "Summary of c." in str(trace.steps[1].values["shown"])
    assert (trace.cost.model_calls, trace.cost.prompt_tokens) == (3, 36)


def test_the_model_sees_the_local_view_alone(opened: OpenGraph, server: ChatServer) -> None:
    calls(server, (ENTRY, 70), ("a.md", 80), ("c.md", 98))
    ask(opened, chat(server), entry="fixed")
    sent = [json.dumps(request.body) for request in server.calls]
    assert "Summary of e." in sent[0] and "Summary of a." not in sent[0]
    assert "Summary of a." in sent[1] and "Summary of c." not in sent[1]
    assert "Summary of c." in sent[2] and "Summary of f." not in sent[2]
    assert not any("Content of" in text for text in sent)


@pytest.mark.parametrize(
    ("script", "reason", "closest"),
    [
        ([(ENTRY, 40)], StopReason.FALLBACK, ENTRY),
        ([(ENTRY, 70), ("zz.md", 80)], StopReason.FALLBACK, ENTRY),
        ([(ENTRY, 70), ("b.md", 80), ("f.md", 85)], StopReason.DEAD_END, "f.md"),
        ([(ENTRY, 70), ("a.md", 75), ("b.md", 72)], StopReason.MAX_HOPS, "a.md"),
    ],
)
def test_what_leads_to_the_fallback(
    opened: OpenGraph, server: ChatServer, script, reason: StopReason, closest: str
) -> None:
    calls(server, *script)
    trace = ask(opened, chat(server), entry="fixed", max_hops=3)
    assert trace.result.stop.reason is reason
    assert "Did you mean that?" in trace.result.stop.message
    assert trace.result.evidence[0] == closest
    assert trace.steps[-1].action == "fallback"
    assert len(server.calls) == len(script)


def test_an_invented_path_is_recorded_as_not_offered(opened: OpenGraph, server: ChatServer) -> None:
    calls(server, (ENTRY, 70), ("../../etc/passwd", 100))
    trace = ask(opened, chat(server), entry="fixed")
    step = trace.steps[1]
    assert step.target is None
    assert step.candidates[-1].id == "../../etc/passwd"
    assert step.candidates[-1].rule == "not_offered"
    assert caption(trace, 2) == (
        "The model asks for “../../etc/passwd”, none of the 2 notes on offer."
    )
    assert "'../../etc/passwd'" in trace.result.stop.message


def test_malformed_arguments_unknown_tools_and_several_calls_are_survived(
    opened: OpenGraph, server: ChatServer
) -> None:
    tool = "get_knowledge_context"
    server.json(completion(None, calls=[("1", tool, "{not json"), ("2", "rm_rf", "{}")]))
    server.json(completion(None, calls=[("3", tool, "[1]"), ("4", tool, arguments(ENTRY))]))
    server.json(
        completion(None, calls=[("5", tool, arguments("a.md")), ("6", tool, arguments("c.md", 97))])
    )
    trace = ask(opened, chat(server), entry="fixed")
    assert trace.result.stop.reason is StopReason.ANSWERED
    assert trace.result.evidence[0] == "c.md"
    # Every call got its answer, as the protocol wants it.
    last = server.calls[-1].body["messages"]
    asked = [call["id"] for message in last for call in message.get("tool_calls") or ()]
    assert [m["tool_call_id"] for m in last if m["role"] == "tool"] == asked == ["1", "2", "3", "4"]
    assert sum(step.target is None for step in trace.steps) == 3
    # And a person reads what was wrong with each.
    assert [caption(trace, index) for index in (1, 2)] == [
        "The model's call cannot be used. The arguments are not JSON. Send one JSON object.",
        "The model's call cannot be used. There is no tool 'rm_rf'. Tools: get_knowledge_context.",
    ]


def test_a_model_that_never_ends_is_stopped_after_its_rounds(
    opened: OpenGraph, server: ChatServer
) -> None:
    calls(server, (ENTRY, 70))
    trace = ask(opened, chat(server), entry="fixed", max_rounds=4)
    assert len(server.calls) == 4
    assert trace.result.stop.reason is StopReason.MAX_HOPS
    again = [item.rule for step in trace.steps[1:4] for item in step.candidates if item.id == ENTRY]
    assert again == ["visited"] * 3


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "tools are not supported by this model"),
        (500, "tools param requires --jinja flag"),
    ],
)
def test_a_provider_without_tools_gets_the_protocol_as_json(
    opened: OpenGraph, server: ChatServer, status: int, words: str
) -> None:
    server.fail(status, words)
    for node, score in ((ENTRY, 70), ("a.md", 80), ("c.md", 96)):
        call = {"tool": "get_knowledge_context", "arguments": json.loads(arguments(node, score))}
        server.say(f"I go on.\n```json\n{json.dumps(call)}\n```")
    trace = ask(opened, chat(server), entry="fixed")
    assert trace.result.stop.reason is StopReason.ANSWERED
    assert trace.result.evidence[0] == "c.md"
    second = server.calls[1].body
    assert "tools" not in second
    assert "get_knowledge_context" in second["messages"][0]["content"]
    assert {message["role"] for message in server.calls[3].body["messages"]} == {
        "system",
        "user",
        "assistant",
    }


def test_a_model_that_ignores_tools_gets_the_protocol_as_json(
    opened: OpenGraph, server: ChatServer
) -> None:
    server.say("Hello, how can I help?")
    call = {"tool": "get_knowledge_context", "arguments": json.loads(arguments(ENTRY, 20))}
    server.say(json.dumps(call))
    trace = ask(opened, chat(server), entry="fixed")
    assert trace.steps[0].target == ENTRY
    assert trace.result.stop.reason is StopReason.FALLBACK


def test_a_model_that_only_talks_ends_with_the_closest_by_search(
    opened: OpenGraph, server: ChatServer
) -> None:
    server.say("I will not call anything.")
    trace = ask(opened, chat(server))
    assert trace.result.stop.reason is StopReason.FALLBACK
    assert "called no tool. It said: “I will not call anything.”" in trace.result.stop.message
    assert trace.result.evidence


@pytest.mark.parametrize("kind", ["empty", "refusal", "down", "nonsense", "hang"])
def test_what_a_provider_does_wrong_ends_in_a_clear_stop(
    opened: OpenGraph, server: ChatServer, kind: str
) -> None:
    calls(server, (ENTRY, 70))
    if kind == "empty":
        server.say("")
    elif kind == "refusal":
        server.json(completion(None, refusal="I cannot do that."))
    elif kind == "down":
        server.fail(503)
    elif kind == "nonsense":
        server.json({"hello": 1})
    else:
        from tests.servers import Scripted

        server.add(Scripted(hang=True))
    trace = ask(opened, chat(server, timeout=1), entry="fixed")
    assert trace.result.stop.reason is StopReason.FALLBACK
    assert trace.result.evidence[0] == ENTRY
    assert trace.result.stop.remedy
    assert "Traceback" not in trace.result.stop.message


def test_a_budget_that_runs_out_is_a_stop(opened: OpenGraph, server: ChatServer) -> None:
    calls(server, (ENTRY, 70), ("a.md", 80), ("c.md", 98))
    trace = ask(opened, chat(server, budget=Budget(calls=2)), entry="fixed")
    assert trace.result.stop.reason is StopReason.BUDGET
    assert trace.result.evidence[0] == "a.md"
    assert len(server.calls) == 2


def test_a_recorded_walk_replays_without_a_key(opened: OpenGraph, server: ChatServer) -> None:
    calls(server, (ENTRY, 70), ("a.md", 80), ("c.md", 98))
    recorder = Recorder(chat(server))
    first = ask(opened, recorder, entry="fixed")
    recording = Recording.from_json(recorder.recording.to_json())
    again = ask(opened, Replayer(recording), entry="fixed")
    assert again.steps[-1].target == "c.md"
    assert [step.values for step in again.steps] == [step.values for step in first.steps]
    assert len(server.calls) == 3


def test_a_model_may_score_what_our_walk_offers(opened: OpenGraph, server: ChatServer) -> None:
    def scores(*given: float) -> None:
        listed = [{"note": n, "score": s, "reason": "r"} for n, s in enumerate(given, 1)]
        server.say(json.dumps({"scores": listed}))

    scores(70)
    scores(80, 30)
    scores(97, 60)
    trace = ask(opened, chat(server), scoring="model", plain="true")
    assert trace.result.stop.reason is StopReason.ANSWERED
    assert trace.result.path == ("query", ENTRY, "a.md", "c.md")
    assert trace.steps[2].candidates[0].values["score"] == 97
    assert "Content of" not in json.dumps([request.body for request in server.calls])


@pytest.mark.parametrize("scoring", ["model", "mean"])
def test_a_model_that_gives_no_scores_ends_with_the_closest_by_search(
    opened: OpenGraph, server: ChatServer, scoring: str
) -> None:
    server.say("All of these notes are lovely.")
    trace = ask(opened, chat(server), scoring=scoring)
    assert trace.result.stop.reason is StopReason.FALLBACK
    assert "gave no scores" in trace.result.stop.message
    assert "by search" in trace.result.stop.message
    assert [step.action for step in trace.steps] == ["fallback"]
    assert trace.result.evidence[0] == trace.steps[0].target


def test_scores_that_stop_coming_end_with_the_closest_so_far(
    opened: OpenGraph, server: ChatServer
) -> None:
    server.say('{"scores": [{"note": 1, "score": 70}]}')
    server.fail(500, "out of memory")
    trace = ask(opened, chat(server), scoring="model", plain="true")
    assert trace.result.stop.reason is StopReason.FALLBACK
    assert "out of memory" in trace.result.stop.message
    assert trace.result.evidence[0] == ENTRY == trace.steps[-1].target
    assert trace.steps[-1].action == "fallback"


def test_without_a_model_agent_scoring_says_what_to_do(opened: OpenGraph) -> None:
    from tracert.errors import SettingError

    for scoring in ("agent", "model"):
        with pytest.raises(SettingError, match="needs a language model"):
            trace_of(opened, "What?", scoring=scoring)
