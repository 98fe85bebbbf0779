"""Everything that talks to a model, with a real one of 135 million parameters.

So small a model talks nonsense. What it says is therefore not tested, but that whatever it says
is read, counted, recorded and ended in a sentence: the protocol, not the wit.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import CALLS, PLAIN, Brief, ModelServer
from tests.knowledge.trees import note, write
from tracert.cli import main
from tracert.errors import BudgetError, ModelError
from tracert.language.base import Message, Tool
from tracert.language.budget import Budget
from tracert.language.client import OpenAIChat
from tracert.language.connection import check_connection
from tracert.language.goal import predict_goal
from tracert.language.record import Recorder, Recording, Replayer
from tracert.trace import Answer, StopReason, Trace
from tracert.workspace import Workspace

QUESTION = "Who taught the man who wound two coils on a ring?"
#: A port on which nothing listens: what is replayed must not need the server.
NOWHERE = "http://127.0.0.1:9/v1"

#: How a walk of TrailGraph may end; 'cancelled' and the ends of other methods may not come.
ENDS = {
    StopReason.ANSWERED,
    StopReason.FALLBACK,
    StopReason.DEAD_END,
    StopReason.MAX_HOPS,
    StopReason.BUDGET,
}
RULES = {"chosen", "lower_score", "visited", "below_threshold", "not_offered"}


@pytest.fixture(scope="session")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of six notes."""
    faraday = note(
        "Faraday",
        summary="Michael Faraday wound two coils on an iron ring.",
        parent="entry_points/Electricity.md",
        children="people/Davy.md, things/Ring.md",
        content="Michael Faraday was taught by Humphry Davy.",
    )
    return write(
        tmp_path_factory.mktemp("notes"),
        {
            "entry_points/Electricity.md": note(
                "Electricity",
                summary="People and things of early electricity.",
                children="people/Faraday.md, people/Volta.md",
            ),
            "entry_points/Security.md": note("Security", summary="Locks and keys."),
            "people/Faraday.md": faraday,
            "people/Volta.md": note(
                "Volta",
                summary="Alessandro Volta built the pile.",
                parent="entry_points/Electricity.md",
            ),
            "people/Davy.md": note(
                "Davy",
                summary="Humphry Davy taught Michael Faraday chemistry.",
                parent="people/Faraday.md",
                content="Humphry Davy took on Faraday in 1813.",
            ),
            "things/Ring.md": note(
                "Ring", summary="An iron ring with two coils.", parent="people/Faraday.md"
            ),
        },
    )


def sound(trace: Trace) -> Trace:
    """The trace, after what holds for each: it reads back as it was, and says why it ended."""
    text = trace.to_json()
    assert Trace.from_json(text).to_json() == text
    said = f"{trace.result.stop.message} {trace.result.stop.remedy}"
    assert trace.result.stop.message.endswith((".", "?"))
    assert "Traceback" not in said and "Error(" not in said
    known = {node.id for node in trace.nodes}
    assert set(trace.result.path) <= known
    assert set(trace.result.evidence) <= known
    return trace


def counted(trace: Trace, *stages: str) -> None:
    """Calls, tokens and seconds of the model are in the trace's cost."""
    cost = trace.cost
    assert cost.model_calls > 0
    assert cost.prompt_tokens > cost.model_calls
    assert cost.completion_tokens > 0
    for stage in stages:
        assert cost.seconds[stage] > 0


def cites(answer: Answer, trace: Trace, writer: str) -> None:
    """A model's answer cites what is there and marks the rest; an extract says why it stands in."""
    evidence = trace.result.evidence
    assert answer.sentences
    for sentence in answer.sentences:
        assert set(sentence.citations) <= set(evidence)
        assert all(
            not number.isdigit() or not 1 <= int(number) <= len(evidence)
            for number in sentence.unknown
        )
    if answer.source == "extract":
        assert answer.note and all(sentence.citations for sentence in answer.sentences)
        return
    assert answer.source == writer
    unknown = sum(bool(sentence.unknown) for sentence in answer.sentences)
    assert (f"does not exist: {unknown} of" in answer.note) == bool(unknown)
    bare = sum(not sentence.citations for sentence in answer.sentences)
    assert (f"cite no passage: {bare} of" in answer.note) == bool(bare)


def comparable(trace: Trace) -> dict[str, object]:
    """A trace without the seconds, which no two runs share."""
    data = json.loads(trace.to_json())
    del data["cost"]["seconds"]
    return data


# --- the client -----------------------------------------------------------------------------


def test_the_connection_is_checked(model_server: ModelServer) -> None:
    assert check_connection(model_server.chat()) == (
        f"The model {PLAIN!r} at {model_server.url} answers."
    )


def test_a_wrong_name_and_a_wrong_address_are_told_apart(model_server: ModelServer) -> None:
    with pytest.raises(ModelError, match=f"has no model named 'gpt-9'; it offers: .*{PLAIN}"):
        check_connection(OpenAIChat("gpt-9", model_server.url, retries=0))
    with pytest.raises(ModelError, match="cannot be reached"):
        check_connection(OpenAIChat(PLAIN, NOWHERE, retries=0))


def test_a_plain_completion_is_counted_by_the_server(model_server: ModelServer) -> None:
    budget = Budget()
    chat = model_server.chat(budget=budget)
    reply = chat.complete([Message("user", "Say hello.")], max_tokens=12)
    assert reply.text.strip()
    assert reply.tool_calls == ()
    assert reply.prompt_tokens > 0
    assert 0 < reply.completion_tokens <= 12
    assert (budget.calls, budget.tokens) == (1, reply.prompt_tokens + reply.completion_tokens)
    assert not budget.estimated


def test_a_reply_that_is_cut_off_says_so(model_server: ModelServer) -> None:
    asked = [Message("user", "Tell the history of electricity from its beginning.")]
    reply = model_server.chat().complete(asked, max_tokens=8)
    assert reply.finish == "length"


def test_a_streamed_reply_comes_in_pieces(model_server: ModelServer) -> None:
    asked = [Message("user", "Name three colours.")]
    budget = Budget()
    pieces: list[str] = []
    streamed = model_server.chat(budget=budget).complete(
        asked, max_tokens=16, on_text=pieces.append
    )
    assert len(pieces) > 1
    assert "".join(pieces) == streamed.text
    # Whether or not the server counts a streamed reply, the budget is charged.
    assert budget.tokens > 0


def test_a_real_call_of_a_tool_comes_back_as_one(model_server: ModelServer) -> None:
    weather = Tool(
        "weather",
        "The weather of a town.",
        {
            "type": "object",
            "properties": {"town": {"type": "string", "enum": ["Como", "Pavia"]}},
            "required": ["town"],
        },
    )
    asked = [
        Message("system", "Call a function."),
        Message("user", "Call functions.weather for the town of Como."),
    ]
    reply = model_server.chat(CALLS).complete(asked, tools=[weather], max_tokens=60)
    assert [call.name for call in reply.tool_calls[:1]] == ["weather"]
    assert json.loads(reply.tool_calls[0].arguments)["town"] in ("Como", "Pavia")
    assert len({call.id for call in reply.tool_calls}) == len(reply.tool_calls)


def test_more_than_the_model_can_hold_is_said_plainly(model_server: ModelServer) -> None:
    with pytest.raises(ModelError, match="context"):
        model_server.chat().complete([Message("user", "coil " * 9000)], max_tokens=8)


def test_a_budget_stops_before_anything_is_sent(model_server: ModelServer) -> None:
    chat = model_server.chat(budget=Budget(calls=1))
    chat.complete([Message("user", "Yes?")], max_tokens=2)
    with pytest.raises(BudgetError, match="used up"):
        chat.complete([Message("user", "Yes?")], max_tokens=2)


# --- over a corpus --------------------------------------------------------------------------


def test_a_goal_is_predicted_or_refused_in_a_sentence(model_server: ModelServer) -> None:
    try:
        goal = predict_goal(QUESTION, Brief(model_server.chat()))
    except ModelError as error:
        assert "gave no goal" in str(error) and "offline predictor" in str(error)
    else:
        assert goal.source == "model"
        assert goal.concept or goal.explanation


def test_tracert_rag_with_a_model_and_its_replay(
    workspace: Workspace, model_server: ModelServer
) -> None:
    recorder = Recorder(Brief(model_server.chat()))
    heard: list[str] = []
    trace = sound(
        workspace.ask(
            QUESTION,
            corpus="ring",
            method="tracert_rag",
            settings={"max_hops": 4},
            model=recorder,
            with_map=False,
            on_text=heard.append,
        )
    )
    counted(trace, "goal", "answer")
    source = trace.steps[0].values["goal_source"]
    assert source in ("model", "offline")
    if source == "offline":
        assert "the model could not" in str(trace.steps[0].values["goal_note"])
    answer = trace.result.answer
    assert answer is not None
    cites(answer, trace, PLAIN)
    assert len(heard) > 1

    saved = Recording.from_json(recorder.recording.to_json())
    again = Workspace(workspace.path).ask(
        QUESTION,
        corpus="ring",
        method="tracert_rag",
        settings={"max_hops": 4},
        model=Replayer(saved),
        with_map=False,
    )
    assert comparable(again) == comparable(trace)


def test_iterative_rewrite_with_a_model(workspace: Workspace, model_server: ModelServer) -> None:
    recorder = Recorder(Brief(model_server.chat()))

    def ask(space: Workspace, model: Recorder | Replayer) -> Trace:
        return space.ask(
            QUESTION,
            corpus="ring",
            method="iterative_rewrite",
            settings={"k": 3, "rewrites": 2},
            model=model,
            answer=False,
            with_map=False,
        )

    trace = sound(ask(workspace, recorder))
    counted(trace, "rewrite")
    assert trace.result.stop.reason in (
        StopReason.HOPS_DONE,
        StopReason.NOTHING_NEW,
        StopReason.ANSWERED,
    )
    for step in trace.steps[1:]:
        assert step.values["rewrite_source"] in ("model", "offline")
        if step.values["rewrite_source"] == "offline":
            assert "the model could not" in str(step.values["rewrite_note"])
    saved = Recording.from_json(recorder.recording.to_json())
    assert comparable(ask(Workspace(workspace.path), Replayer(saved))) == comparable(trace)


# --- over notes -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [CALLS, PLAIN])
def test_a_model_walks_the_notes(
    name: str, workspace: Workspace, notes: Path, model_server: ModelServer
) -> None:
    """CALLS makes real tool calls; PLAIN makes none and gets the protocol as JSON."""
    recorder = Recorder(Brief(model_server.chat(name)))

    def ask(space: Workspace, model: Recorder | Replayer) -> Trace:
        return space.ask(
            QUESTION,
            knowledge=notes,
            method="trailgraph",
            settings={"scoring": "agent", "max_rounds": 3},
            model=model,
            answer=False,
            with_map=False,
        )

    trace = sound(ask(workspace, recorder))
    counted(trace, "model")
    assert trace.cost.model_calls <= 4  # three rounds, and one that found no tools wanted
    assert trace.result.stop.reason in ENDS
    assert trace.result.evidence
    assert {item.rule for step in trace.steps for item in step.candidates} <= RULES
    visited = [step for step in trace.steps if "asked_view" in step.values]
    assert all(0 <= float(str(step.values["score"])) <= 100 for step in visited)
    exchanges = recorder.recording.exchanges
    assert exchanges[0].tools  # tools are offered first
    if name == CALLS:
        assert any(exchange.reply.tool_calls for exchange in exchanges)
        assert visited or any("error" in str(step.values.get("shown")) for step in trace.steps)
    elif len(exchanges) > 1:
        assert not exchanges[1].tools
        assert "get_knowledge_context" in exchanges[1].messages[0].content

    saved = Recording.from_json(recorder.recording.to_json())
    assert comparable(ask(Workspace(workspace.path), Replayer(saved))) == comparable(trace)


def test_tools_and_streaming_together(
    workspace: Workspace, notes: Path, model_server: ModelServer
) -> None:
    """As the page asks. This server cannot stream a choice of tools; the walk ends clearly."""
    heard: list[str] = []
    trace = sound(
        workspace.ask(
            QUESTION,
            knowledge=notes,
            method="trailgraph",
            settings={"scoring": "agent", "max_rounds": 2},
            model=_Heard(Brief(model_server.chat(CALLS)), heard),
            answer=False,
            with_map=False,
        )
    )
    assert trace.result.stop.reason in ENDS
    counted(trace, "model")


class _Heard:
    """A model of which every reply is streamed."""

    def __init__(self, model: Brief, heard: list[str]) -> None:
        self._model, self._heard, self.name = model, heard, model.name

    def complete(self, messages, *, tools=(), max_tokens=800, on_text=None):
        return self._model.complete(
            messages, tools=tools, max_tokens=max_tokens, on_text=self._heard.append
        )


def test_a_model_scores_what_our_walk_offers(
    workspace: Workspace, notes: Path, model_server: ModelServer
) -> None:
    trace = sound(
        workspace.ask(
            QUESTION,
            knowledge=notes,
            method="trailgraph",
            settings={"scoring": "model", "max_hops": 2, "beam": 1, "entries": 1},
            model=Brief(model_server.chat()),
            answer=False,
            with_map=False,
        )
    )
    assert trace.result.stop.reason in ENDS
    assert trace.result.evidence
    counted(trace, "model")


# --- from the command line ------------------------------------------------------------------


@pytest.mark.usefixtures("home_of_ring")
def test_recorded_on_the_command_line_and_replayed_without_the_server(
    tmp_path: Path, notes: Path, model_server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    record = str(tmp_path / "run.json")
    ask = ["ask", QUESTION, "--knowledge", str(notes), "--method", "trailgraph", "--json"]
    ask += ["--set", "max_rounds=2", "--no-map"]
    named = ["--model", PLAIN, "--base-url", model_server.url, "--timeout", "300"]
    assert main([*ask, *named, "--record", record]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    first = sound(Trace.from_json(said.out))
    counted(first, "model", "answer")
    answer = first.result.answer
    assert answer is not None
    cites(answer, first, PLAIN)

    assert main([*ask, "--base-url", NOWHERE, "--replay", record]) == 0
    assert comparable(Trace.from_json(capsys.readouterr().out)) == comparable(first)


@pytest.mark.usefixtures("home_of_ring")
def test_a_server_that_is_gone_leaves_the_offline_walk(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Needs no server: the same command when nobody listens."""
    ask = ["ask", QUESTION, "--corpus", "ring", "--method", "tracert_rag"]
    assert main([*ask, "--model", PLAIN, "--base-url", NOWHERE]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "The offline predictor made the goal" in said.out
    assert "cannot be reached" in said.out
    assert "Answer (extract)" in said.out
