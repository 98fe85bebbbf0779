"""The answer stage behind every method of the registry: offline and by a model, in Python, on the
command line and on the pages. TreeHop is the fast scout: its model is asked for the answer alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.servers import ChatServer
from tracert.cli import main
from tracert.language.client import OpenAIChat
from tracert.language.record import Recorder, Replayer
from tracert.methods.graph_rag.index import forget_graphs
from tracert.methods.registry import methods
from tracert.trace import Trace
from tracert.ui.model import ModelSettings
from tracert.workspace import BUILTIN, Workspace

ROOT = Path(__file__).resolve().parent.parent
NOTES = ROOT / "knowledge" / "notes"
QUESTION = "Who taught the man who wound two coils on a ring?"
#: A reply that serves as an answer and as nothing else: the walks fall back on their offline parts.
REPLY = "Humphry Davy taught him [1]. Nobody else did [9999]."
#: What keeps the making of the graph of entities short where a model is there.
FEW = {"graph_rag": {"reading_calls": 1, "summary_calls": 0}}
#: The page of each method, and the name under which it keeps its run.
PAGES = {
    "tracert_rag": ("pages/tracert_rag.py", "tracert_rag"),
    "treehop": ("pages/treehop.py", "treehop"),
    "native_rag": ("pages/baselines.py", "native_rag"),
    "iterative_rewrite": ("pages/baselines.py", "iterative_rewrite"),
    "graph_rag": ("pages/baselines.py", "graph_rag"),
}
NAMES = tuple(methods())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the built-in text in it."""
    path = tmp_path_factory.mktemp("answers")
    Workspace(path).ensure_builtin()
    return path


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracert.workspace.Workspace._begin_fit", lambda self, snapshot: None)
    st.cache_resource.clear()
    forget_graphs()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        running.say(REPLY)
        yield running


def over(name: str) -> dict[str, object]:
    return {"knowledge": NOTES} if methods()[name].needs == "knowledge" else {"corpus": BUILTIN}


def ask(space: Workspace, name: str, model=None, **more) -> Trace:
    settings = FEW.get(name, {})
    return space.ask(
        QUESTION, method=name, settings=settings, model=model, with_map=False, **over(name), **more
    )


def check(trace: Trace, source: str) -> None:
    answer = trace.result.answer
    assert answer is not None
    assert answer.sentences
    assert answer.source == source
    assert trace.cost.seconds["answer"] > 0
    for sentence in answer.sentences:
        assert set(sentence.citations) <= set(trace.result.evidence)


def test_every_method_has_a_page_here():
    assert set(NAMES) == {*PAGES, "trailgraph"}, "a new method wants a row in PAGES"


@pytest.mark.parametrize("name", NAMES)
def test_offline_every_method_answers_with_an_extract(built, name):
    trace = ask(Workspace(built), name)
    check(trace, "extract")
    assert trace.cost.model_calls == 0


@pytest.mark.parametrize("name", NAMES)
def test_with_a_model_every_method_answers_by_it(built, server, name):
    model = OpenAIChat("tiny", server.url, "key", retries=0)
    trace = ask(Workspace(built), name, model)
    check(trace, "tiny")
    first, second = trace.result.answer.sentences
    assert first.citations == (trace.result.evidence[0],)
    assert second.unknown == ("9999",)
    assert trace.cost.model_calls >= 1
    asked = server.calls[-1].body["messages"]
    assert asked[-1]["content"].endswith(f"Question: {QUESTION}")
    shown = asked[-1]["content"].count("<passage number=")
    assert shown == min(len(trace.result.evidence), 20)


def test_treehop_is_the_scout_and_the_model_is_asked_once(built, server):
    model = OpenAIChat("tiny", server.url, "key", retries=0)
    trace = ask(Workspace(built), "treehop", model)
    assert len(trace.steps) > 1, "it hopped"
    assert trace.cost.model_calls == len(server.calls) == 1
    assert (trace.cost.prompt_tokens, trace.cost.completion_tokens) == (12, 5)
    plain = ask(Workspace(built), "treehop")
    assert plain.result.evidence == trace.result.evidence


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_is_away_leaves_an_extract_that_says_so(built, name):
    with ChatServer() as server:
        server.fail(500, "down")
        trace = ask(Workspace(built), name, OpenAIChat("tiny", server.url, "key", retries=0))
    check(trace, "extract")
    assert trace.result.answer.note


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_answer_is_replayed_without_the_model(built, tmp_path, server, name):
    recorder = Recorder(OpenAIChat("tiny", server.url, "key", retries=0))
    live = ask(Workspace(built), name, recorder)
    forget_graphs()
    calls = len(server.calls)
    again = ask(Workspace(built), name, Replayer(recorder.recording))
    assert len(server.calls) == calls
    assert again.result.answer == live.result.answer


@pytest.mark.parametrize("with_model", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_answers_by_every_method(
    built, server, monkeypatch, capsys, name, with_model
):
    monkeypatch.setenv("TRACERT_HOME", str(built))
    where = ["--knowledge", str(NOTES)] if name == "trailgraph" else ["--corpus", BUILTIN]
    more = [f"{key}={value}" for key, value in FEW.get(name, {}).items()]
    sets = [part for text in more for part in ("--set", text)]
    model = ["--model", "tiny", "--base-url", server.url] if with_model else []
    asked = ["ask", QUESTION, *where, "--method", name, *sets, *model]
    assert main([*asked, "--json", "--no-vectors"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["result"]["answer"]["source"] == ("tiny" if with_model else "extract")
    assert data["result"]["answer"]["sentences"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    if with_model:
        assert "Humphry Davy taught him" in said


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_page_writes_the_answer_on_a_click(built, server, monkeypatch, name):
    monkeypatch.setenv("TRACERT_HOME", str(built))
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    at.session_state["model:settings"] = ModelSettings(
        base_url=server.url, model="tiny", key="k", retries=0
    )
    at.session_state["baselines:method"] = name if PAGES[name][0].endswith("baselines.py") else ""
    at.session_state["question"] = QUESTION
    at.switch_page(PAGES[name][0]).run()
    if "graph_rag:making" in at.session_state:
        at.session_state["graph_rag:making"].wait(60)
        at.run()
    assert not at.exception

    def answer():
        return at.session_state[f"{PAGES[name][1]}:run"][1].result.answer

    assert answer().source == "extract", "no answer is paid for before a person asks for it"
    next(one for one in at.button if one.label.startswith("Write the answer")).click().run()
    assert not at.exception
    assert answer().source == "tiny"
    assert answer().sentences[0].text == "Humphry Davy taught him."
