"""The Baselines page in each state: three methods, the graph made, agreed to, stopped, replayed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.graph_traces import baseline_trace
from tests.servers import ChatServer
from tracert.methods.graph_rag.index import forget_graphs
from tracert.ui import model as session_model

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("native_rag", "iterative_rewrite", "graph_rag")


def texts(at: AppTest) -> str:
    kinds = (at.text, at.caption, at.markdown, at.info, at.warning, at.error, at.subheader)
    return "\n".join(element.value for kind in kinds for element in kind)


def data(at: AppTest, name: str) -> list[dict]:
    found = [element.proto for element in at.get("bidi_component")]
    return [json.loads(one.json) for one in found if one.component_name == name]


# --- opened traces ----------------------------------------------------------------------------


def _replay(name, trace):
    from tracert.ui import components
    from tracert.ui.views import graph_rag, iterative_rewrite, native_rag

    components.load()
    views = {one.NAME: one for one in (graph_rag, iterative_rewrite, native_rag)}
    views[name].replay(trace)


STATES = {
    "plain": ("native_rag", {}),
    "words": ("native_rag", {"first_stage": "bm25"}),
    "both": ("native_rag", {"first_stage": "hybrid"}),
    "few passages": ("native_rag", {"first_stage": "bm25", "k": 20}),
    "one rewrite": ("iterative_rewrite", {}),
    "no rewrite": ("iterative_rewrite", {"rewrites": 0}),
    "three rewrites": ("iterative_rewrite", {"rewrites": 3, "k": 5}),
    "local": ("graph_rag", {}),
    "within": ("graph_rag", {"within": True}),
    "no neighbours": ("graph_rag", {"neighbours": 0}),
    "global": ("graph_rag", {"search": "global"}),
    "no map": ("graph_rag", {"with_map": False}),
}


@pytest.mark.parametrize("state", STATES)
def test_every_trace_replays_without_a_corpus(state):
    name, more = STATES[state]
    trace = baseline_trace(name, **more)
    at = AppTest.from_function(_replay, kwargs={"name": name, "trace": trace}, default_timeout=60)
    at.run()
    assert not at.exception
    (stage,) = data(at, "tracert_stage")
    assert len(stage["frames"]) == len(trace.steps) + 1
    assert bool(stage["groups"]) == (name == "graph_rag")
    if trace.result.stop.remedy:
        assert trace.result.stop.remedy.split()[0] in texts(at)
    if name == "graph_rag":
        assert "The graph: 5 entities" in texts(at)
        assert "with 0 model calls" in texts(at)
    if name == "iterative_rewrite":
        first = next(one for one in data(at, "tracert_cards") if one["groups"][0].get("items"))
        assert first["groups"][0]["items"][0]["title"] == trace.question


def test_a_hostile_trace_is_text():
    from dataclasses import replace

    evil = "<img src=x onerror=alert(1)> **bold** [x](javascript:1) :red[x]"
    trace = baseline_trace("graph_rag", search="global")
    nodes = tuple(replace(node, label=evil, text=evil) for node in trace.nodes)
    first = trace.steps[0]
    steps = (replace(first, values={**first.values, "rating_note": evil, "index_note": evil}),)
    odd = replace(trace, nodes=nodes, steps=(*steps, *trace.steps[1:]))
    at = AppTest.from_function(
        _replay, kwargs={"name": "graph_rag", "trace": odd}, default_timeout=60
    ).run()
    assert not at.exception
    for element in (*at.caption, *at.markdown, *at.warning):
        assert re.search(r"(?<!\\)(<img|\*\*bold|\]\(javascript)", element.value) is None


# --- the page ---------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr("tracert.workspace.Workspace._begin_fit", lambda self, snapshot: None)
    st.cache_resource.clear()
    st.cache_data.clear()
    forget_graphs()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    from tracert.workspace import Workspace

    path = tmp_path_factory.mktemp("baselines")
    Workspace(path).ensure_builtin()
    return path


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


def open_page(home, monkeypatch, name: str, server: ChatServer | None = None, **budget) -> AppTest:
    monkeypatch.setenv("TRACERT_HOME", str(home))
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    if server is not None:
        at.session_state["model:settings"] = session_model.ModelSettings(
            base_url=server.url, model="tiny", key="k", retries=0, **budget
        )
    at.session_state["baselines:method"] = name
    at.switch_page("pages/baselines.py").run()
    assert not at.exception
    return settled(at)


def settled(at: AppTest) -> AppTest:
    """The page once no graph is being made any more."""
    key = "graph_rag:making"
    if key in at.session_state:
        at.session_state[key].wait(60)
        at.run()
    assert not at.exception
    return at


def run_of(at: AppTest, name: str):
    assert not at.exception
    return at.session_state[f"{name}:run"][1]


def button(at: AppTest, label: str):
    return next(one for one in at.button if one.label.startswith(label))


@pytest.mark.parametrize("name", NAMES)
def test_each_baseline_answers_the_opening_question(home, monkeypatch, name):
    at = open_page(home, monkeypatch, name)
    trace = run_of(at, name)
    assert trace.method == name
    assert len(trace.result.evidence) == 5
    assert trace.result.answer.sentences
    assert trace.result.answer.source == "extract"
    assert trace.cost.model_calls == 0
    assert "Extract" in texts(at)


def test_the_switch_goes_from_one_to_the_next(home, monkeypatch):
    at = open_page(home, monkeypatch, "native_rag")
    switch = next(one for one in at.segmented_control if one.label == "Baseline")
    assert switch.options == ["Plain top-k", "Iterative rewriting", "Graph RAG"]
    switch.set_value("iterative_rewrite").run()
    assert "written anew" in texts(at)
    assert run_of(at, "iterative_rewrite").method == "iterative_rewrite"


def test_a_link_opens_the_baseline_that_it_names(home, monkeypatch):
    monkeypatch.setenv("TRACERT_HOME", str(home))
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    at.query_params["method"] = "iterative_rewrite"
    at.switch_page("pages/baselines.py").run()
    assert not at.exception
    assert at.session_state["baselines:method"] == "iterative_rewrite"


@pytest.mark.parametrize("stage", ["dense", "bm25", "hybrid"])
def test_plain_top_k_by_each_first_stage(home, monkeypatch, stage):
    at = open_page(home, monkeypatch, "native_rag")
    next(one for one in at.segmented_control if one.label == "First stage").set_value(stage).run()
    trace = run_of(at, "native_rag")
    assert trace.settings["first_stage"] == stage
    deciding = {"dense": "similarity", "bm25": "bm25", "hybrid": "fused"}[stage]
    assert deciding in trace.steps[0].candidates[0].values


def test_rewrites_by_a_model_are_shown_with_what_they_cost(home, monkeypatch, server):
    server.say("Who founded the journal of natural philosophy?")
    at = open_page(home, monkeypatch, "iterative_rewrite", server)
    trace = run_of(at, "iterative_rewrite")
    assert trace.cost.model_calls == len(server.calls) == 1
    titles = [
        item["title"]
        for one in data(at, "tracert_cards")
        for group in one.get("groups", ())
        for item in group["items"]
    ]
    assert "Who founded the journal of natural philosophy?" in titles
    calls = next(one for one in at.metric if one.label == "Model calls")
    assert calls.value == "1"
    # With more passages to read the model is asked anew; back at five nothing is asked again.
    for passages, asked in ((8, 2), (5, 2)):
        next(one for one in at.slider if one.label == "Passages").set_value(passages).run()
        assert len(run_of(at, "iterative_rewrite").result.evidence) == passages
        assert len(server.calls) == asked


def test_a_model_that_cannot_rewrite_is_said(home, monkeypatch, server):
    server.fail(500, "down")
    at = open_page(home, monkeypatch, "iterative_rewrite", server)
    assert "could not" in texts(at)
    assert len(run_of(at, "iterative_rewrite").result.evidence) == 5


def test_the_graph_shows_what_it_cost_and_what_it_cannot(home, monkeypatch):
    at = open_page(home, monkeypatch, "graph_rag")
    figures = {one.label: one.value for one in at.metric}
    assert figures["Model calls"] == "0"
    assert figures["Tokens"] == "0"
    assert "Making it took" in figures
    assert int(figures["Entities"].replace(",", "")) > 100
    assert "capitalised name" in texts(at)
    (stage,) = data(at, "tracert_stage")
    assert stage["groups"]


def test_levels_and_searches_of_the_graph(home, monkeypatch):
    at = open_page(home, monkeypatch, "graph_rag")
    level = next(one for one in at.segmented_control if one.label.startswith("Level"))
    assert len(level.options) > 1
    level.set_value(1).run()
    assert run_of(at, "graph_rag").settings["level"] == 1
    next(one for one in at.segmented_control if one.label == "Search").set_value("global").run()
    trace = run_of(at, "graph_rag")
    assert [step.action for step in trace.steps] == ["communities", "members", "passages"]
    chosen = [item for item in trace.steps[0].candidates if item.kept]
    assert len(chosen) == 3
    heads = [g["heading"] for one in data(at, "tracert_cards") for g in one.get("groups", ())]
    assert "Chosen by their summaries" in heads
    assert any(one.label.startswith("Rated lower") for one in at.expander)
    assert not at.exception


def test_no_model_is_asked_before_a_person_agrees(home, monkeypatch, server):
    server.say("entity | Michael Faraday | He bound books.")
    at = open_page(home, monkeypatch, "graph_rag", server, calls=300)
    assert len(server.calls) == 0
    next(one for one in at.toggle if "read" in one.label).set_value(True).run()
    next(one for one in at.number_input if one.label == "Calls for reading").set_value(2).run()
    next(one for one in at.number_input if one.label == "Calls for summaries").set_value(1).run()
    settled(at)
    assert len(server.calls) == 0
    assert "is called up to 3 times" in texts(at)
    assert "offline is searched" in texts(at)
    assert run_of(at, "graph_rag").steps[0].values["extraction"] == "offline"
    button(at, "Make the graph with up to 3 calls").click().run()
    settled(at)
    assert len(server.calls) == 3
    figures = {one.label: one.value for one in at.metric}
    assert figures["Model calls"] == "3"
    assert figures["Tokens"] == str(3 * 17)
    assert "The model read" in texts(at)
    trace = run_of(at, "graph_rag")
    assert "a model read" in str(trace.steps[0].values["extraction"])
    # Made once: asking again, or moving a setting, takes no call.
    next(one for one in at.slider if one.label == "Entities").set_value(5).run()
    assert len(server.calls) == 3


def test_a_budget_too_small_is_said_beforehand(home, monkeypatch, server):
    at = open_page(home, monkeypatch, "graph_rag", server, calls=5)
    next(one for one in at.toggle if "read" in one.label).set_value(True).run()
    settled(at)
    assert "Your budget is 5 calls" in texts(at)
    assert server.calls == []


def test_a_model_that_fails_leaves_the_graph_made_offline(home, monkeypatch, server):
    server.fail(500, "down")
    at = open_page(home, monkeypatch, "graph_rag", server)
    next(one for one in at.toggle if "read" in one.label).set_value(True).run()
    settled(at)
    button(at, "Make the graph with").click().run()
    settled(at)
    assert "The model stopped before its end" in texts(at)
    assert run_of(at, "graph_rag").steps[0].values["extraction"] == "offline"


def test_a_making_can_be_stopped_and_begun_again(tmp_path, monkeypatch):
    from tracert.errors import CancelledError
    from tracert.ui.views import graph_rag_index
    from tracert.workspace import Workspace

    Workspace(tmp_path).ensure_builtin()
    real = graph_rag_index.graph_of

    def stopped(*args, **more):
        raise CancelledError("stopped")

    monkeypatch.setattr(graph_rag_index, "graph_of", stopped)
    at = open_page(tmp_path, monkeypatch, "graph_rag")
    assert "was stopped" in texts(at)
    monkeypatch.setattr(graph_rag_index, "graph_of", real)
    button(at, "Make the graph").click().run()
    settled(at)
    assert run_of(at, "graph_rag").result.evidence


def test_without_a_corpus_there_is_a_way_on(tmp_path, monkeypatch):
    from tracert import workspace
    from tracert.ui import resources
    from tracert.ui.views import builtin

    for module in (resources, builtin, workspace):
        monkeypatch.setattr(module, "builtin_folder", lambda: None)
    for name in NAMES:
        at = open_page(tmp_path, monkeypatch, name)
        assert "There is no corpus yet" in texts(at)
