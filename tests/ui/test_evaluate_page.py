"""The Evaluate page in each of its states, without a browser."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from threading import Event

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tracert.embedding.registry import embedder
from tracert.errors import CancelledError
from tracert.evaluation.datasets import Passage
from tracert.evaluation.gold_chain import GoldChain, GoldSets, to_jsonl
from tracert.evaluation.run import MethodPlan, State
from tracert.evaluation.runs import Runs
from tracert.evaluation.work import go_on
from tracert.ui import evaluating
from tracert.ui.model import ModelSettings
from tracert.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
EVIL = "<img src=x onerror=alert(1)> **bold** [a](javascript:1) :smile: $x$"
PASSAGES = [
    Passage("coils", "Faraday wound two coils of wire on a ring of iron."),
    Passage("chemist", "Humphry Davy taught the young Faraday at the Royal Institution."),
    Passage("frogs", "Galvani saw the legs of a frog twitch under a spark."),
    Passage("pile", "Volta piled discs of silver and zinc."),
    Passage("cable", "The Atlantic cable carried words under the sea."),
    Passage(EVIL, f"{EVIL} Edison burned a thread of carbon in a bulb."),
]


def chain(question: str, *places: int, type: str = "bridge") -> GoldChain:
    gold = tuple(PASSAGES[place] for place in places)
    return GoldChain(question, gold, EVIL, type, tuple(PASSAGES))


CHAINS = [
    chain("Who taught the man who wound coils on a ring?", 0, 1),
    chain("Whose frog twitched?", 2, type="single"),
    chain(f"Which thread burned? {EVIL}", 5, type=EVIL),
]
DATA = to_jsonl(CHAINS, "mine").encode()


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr("tracert.workspace.Workspace._begin_fit", lambda self, snapshot: None)
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Path:
    """A data folder with the built-in corpus, indexed once; no run is kept in it."""
    path = tmp_path_factory.mktemp("evaluate-built")
    Workspace(path).ensure_builtin()
    return path


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A data folder of this test's own, with one small corpus."""
    path = tmp_path / "home"
    text = tmp_path / "sparks.md"
    text.write_text("\n\n".join(one.text for one in PASSAGES[:5]))
    Workspace(path).index([text], "Sparks", embedder="wordllama")
    monkeypatch.setenv("TRACERT_HOME", str(path))
    return path


def opened(**state) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    for name, value in state.items():
        at.session_state[name.replace("__", ":")] = value
    at.switch_page("pages/evaluate.py").run()
    assert not at.exception
    return at


def texts(at: AppTest) -> str:
    """All that the page says, as a person reads it: without the marks that keep text text."""
    kinds = (at.text, at.caption, at.markdown, at.info, at.warning, at.error, at.success)
    said = "\n".join(element.value for kind in kinds for element in kind)
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", said).replace("\u2060", "")


def table(at: AppTest, name: str):
    return next(one.value for one in at.dataframe if name in one.value)


def kept_run(home: Path, *, stop_after: int | None = None, data: bytes = DATA, methods=None):
    """A run of the small file, whole or stopped."""
    runs = Runs(home / "evaluations")
    plans = methods or [
        MethodPlan("Plain top-k", "native_rag", {}),
        MethodPlan("TreeHop", "treehop", {}),
    ]
    head = runs.begin(
        title="Mine",
        methods=plans,
        k=3,
        embedder="wordllama",
        ground={"kind": "pool"},
        seeds={"bootstrap": 0},
        files={"data": ("mine.jsonl", data)},
    )
    space = Workspace(home)

    def stopped() -> bool:
        return stop_after is not None and len(runs.done(head, dict).details) >= stop_after

    try:
        go_on(runs, head, space, embedder("wordllama"), None, stopped=stopped)
    except CancelledError:
        assert stop_after is not None
    return runs, head


# --- a new run ------------------------------------------------------------------------------


def test_it_opens_on_a_new_run_of_the_built_in_questions(built, monkeypatch):
    monkeypatch.setenv("TRACERT_HOME", str(built))
    at = opened()
    assert "40 questions: 26 bridge" in texts(at)
    assert at.button(key="evaluate:start").disabled is False
    assert "40 questions × 4 methods: 160 questions asked" in texts(at)


def test_the_notes_are_walked_by_trailgraph_alone(built, monkeypatch):
    monkeypatch.setenv("TRACERT_HOME", str(built))
    at = opened()
    at.button_group(key="evaluate:data:builtin:where").set_value("The notes").run()
    assert not at.exception
    chosen = at.button_group(key="evaluate:methods:chosen:knowledge")
    assert list(chosen.options) == ["TrailGraph", "TrailGraph, plain"]


def test_without_the_built_in_files_a_file_is_asked_for(home, monkeypatch):
    monkeypatch.setattr("tracert.ui.resources.builtin_folder", lambda: None)
    at = opened()
    assert "A line is one question" in texts(at)
    assert not [one for one in at.button if one.key == "evaluate:start"]


def test_where_the_built_in_text_is_gone_it_is_offered(home):
    at = opened()
    assert "The built-in text is not in the Library." in texts(at)


def run_of_file(home: Path, data: bytes = DATA) -> AppTest:
    return opened(
        evaluate__data__source="A file", evaluate__data__file__data__kept=("mine.jsonl", data)
    )


def test_a_file_is_detected_and_wrong_rows_are_named(home):
    at = run_of_file(home, DATA + b'{"question": ""}\nnot json\n')
    said = texts(at)
    assert "3 questions: 1 bridge, 1 single" in said
    assert "mine.jsonl, line 4" in said
    assert "mine.jsonl, line 5 is not JSON" in said
    assert at.button(key="evaluate:start").disabled is False


def test_a_file_of_a_published_set_is_told_by_its_rows(home):
    row = {
        "_id": "1",
        "question": "Who?",
        "answer": "Davy",
        "type": "bridge",
        "supporting_facts": [["coils", 0], ["chemist", 0]],
        "context": [[one.title, [one.text]] for one in PASSAGES],
    }
    at = run_of_file(home, json.dumps([row]).encode())
    assert "HotpotQA" in texts(at)
    assert "6 paragraphs of all questions are searched" in texts(at)


def test_a_file_without_a_question_is_refused_in_a_sentence(home):
    at = run_of_file(home, b"nothing\n")
    assert at.error
    assert "mine.jsonl, line 1 is not JSON" in texts(at)


def test_questions_can_be_searched_in_a_corpus_or_a_second_file(home):
    at = run_of_file(home)
    where = "evaluate:data:file:where:The paragraphs of the questions"
    at.button_group(key=where).set_value("A corpus of the Library").run()
    assert at.selectbox(key="evaluate:data:file:corpus").value == "Sparks"
    at.button_group(key=where).set_value("A second file").run()
    assert not at.exception
    assert not [one for one in at.button if one.key == "evaluate:start"]


def test_a_path_that_is_no_file_is_said(home):
    at = opened(evaluate__data__source="A file")
    at.text_input(key="evaluate:data:file:data:path").set_value("/nowhere/x.jsonl").run()
    at.button(key="evaluate:data:file:data:take").click().run()
    assert "is no file. Check the path" in texts(at)


def test_a_path_is_read(home, tmp_path):
    (tmp_path / "q.jsonl").write_bytes(DATA)
    at = opened(evaluate__data__source="A file")
    at.text_input(key="evaluate:data:file:data:path").set_value(str(tmp_path / "q.jsonl")).run()
    at.button(key="evaluate:data:file:data:take").click().run()
    assert "3 questions" in texts(at)


def test_without_a_method_nothing_starts(home):
    at = run_of_file(home)
    at.button_group(key="evaluate:methods:chosen:corpus").set_value([]).run()
    assert at.button(key="evaluate:start").disabled
    assert "Choose a method at least." in texts(at)


def wait(at: AppTest) -> AppTest:
    for job in evaluating.shared().jobs.values():
        job.wait(120)
    return at.run()


def test_start_asks_in_the_background_and_shows_what_came(home):
    at = run_of_file(home)
    at.slider(key="evaluate:k").set_value(3).run()
    at.button(key="evaluate:start").click().run()
    assert at.session_state["evaluate:view"] == "Results"
    wait(at)
    assert not at.exception
    assert "Finished" in texts(at)
    rows = table(at, "vs top-k")
    assert list(rows["Method"]) == ["Plain top-k", "BM25", "Tracert", "TreeHop"]
    assert len(at.get("plotly_chart")) == 2
    assert "at the same 3 passages" in texts(at)
    (kept,) = Runs(home / "evaluations").kept()
    assert kept.finished
    assert kept.head.methods[1].settings == {"first_stage": "bm25"}
    # Another session, or this one after a reload, finds it.
    again = opened(evaluate__view="Results")
    assert "Finished" in texts(again)


def test_a_presets_settings_are_the_methods_own_but_for_what_it_names(home):
    at = run_of_file(home)
    at.button_group(key="evaluate:methods:chosen:corpus").set_value(
        ["Tracert", "TreeHop", "TreeHop, paper", "Graph RAG, global", "Rewriting"]
    ).run()
    assert not at.exception
    at.button(key="evaluate:start").click().run()
    wait(at)
    assert not at.exception
    plans = {one.label: one.settings for one in Runs(home / "evaluations").kept()[0].head.methods}
    assert plans["Tracert"] == {}
    assert plans["TreeHop"] == {}
    assert plans["TreeHop, paper"]["spawn"] == 0
    assert plans["Graph RAG, global"] == {"search": "global"}
    assert "made its graph" in texts(at)


def test_a_method_that_was_left_out_for_a_while_comes_back_as_it_is_named(home):
    at = run_of_file(home)
    chosen = at.button_group(key="evaluate:methods:chosen:corpus")
    chosen.set_value(["TreeHop"]).run()
    at.button_group(key="evaluate:view").set_value("Results").run()
    at.button_group(key="evaluate:view").set_value("New run").run()
    at.button_group(key="evaluate:methods:chosen:corpus").set_value(
        ["BM25", "Hybrid", "TreeHop, paper"]
    ).run()
    at.button(key="evaluate:start").click().run()
    wait(at)
    assert not at.exception
    plans = {one.label: one.settings for one in Runs(home / "evaluations").kept()[0].head.methods}
    assert plans["BM25"] == {"first_stage": "bm25"}
    assert plans["Hybrid"] == {"first_stage": "hybrid"}
    assert plans["TreeHop, paper"]["spawn"] == 0


# --- a language model -----------------------------------------------------------------------


def with_model(calls: int = 50) -> AppTest:
    settings = ModelSettings("llama.cpp", "http://127.0.0.1:9/v1", "toy", calls=calls)
    return opened(
        model__settings=settings,
        evaluate__data__source="A file",
        evaluate__data__file__data__kept=("mine.jsonl", DATA),
    )


def test_a_model_is_asked_only_after_its_calls_were_agreed_to(home):
    at = with_model()
    assert at.button(key="evaluate:start").disabled is False
    at.toggle(key="evaluate:asks").set_value(True).run()
    # Of the methods chosen at first only Tracert asks: one goal a question.
    assert "About 3 calls of the model at most: Tracert 3." in texts(at)
    assert at.button(key="evaluate:start").disabled
    at.checkbox(key="evaluate:agreed").check().run()
    assert at.button(key="evaluate:start").disabled is False


def test_a_budget_that_is_too_small_is_told_beforehand(home):
    at = with_model(calls=2)
    at.toggle(key="evaluate:asks").set_value(True).run()
    assert "The session's budget is 2 calls" in texts(at)


def test_a_run_that_is_not_agreed_to_asks_nothing(home):
    at = with_model()
    at.button(key="evaluate:start").click().run()
    wait(at)
    (kept,) = Runs(home / "evaluations").kept()
    assert kept.head.asks_model is False


def test_without_a_model_it_is_said_that_the_stand_ins_work(home):
    assert "None is named on the Settings page" in texts(run_of_file(home))


# --- results --------------------------------------------------------------------------------


def test_without_a_run_the_results_lead_to_one(home):
    at = opened(evaluate__view="Results")
    assert "There is no run yet." in texts(at)


def test_a_stopped_run_shows_what_is_there_and_can_be_resumed(home):
    kept_run(home, stop_after=3)
    at = opened(evaluate__view="Results")
    said = texts(at)
    assert "Stopped" in said
    assert "Over the 1 of 3 questions that every method was asked so far" in said
    at.button(key="evaluate:resume").click().run()
    wait(at)
    assert "Finished" in texts(at)
    assert "Over the" not in texts(at)


def test_a_run_that_was_stopped_at_once_has_no_figures(home):
    kept_run(home, stop_after=0)
    at = opened(evaluate__view="Results")
    assert "No question has been asked of every method yet." in texts(at)


def test_a_finished_run_is_not_offered_to_be_resumed(home):
    kept_run(home)
    at = opened(evaluate__view="Results")
    assert not [one for one in at.button if one.key == "evaluate:resume"]


def test_damaged_lines_are_said(home):
    runs, head = kept_run(home)
    path = runs.folder / head.id / "done.jsonl"
    path.write_bytes(path.read_bytes() + b"damaged\n")
    at = opened(evaluate__view="Results")
    assert "1 line of this run could not be read" in texts(at)


def test_a_damaged_run_is_said_and_can_be_deleted(home):
    runs, head = kept_run(home)
    (runs.folder / head.id / "head.json").write_text("{}")
    at = opened(evaluate__view="Results")
    assert "is damaged" in texts(at)
    at.button(key="evaluate:delete").click().run()
    assert not at.exception
    assert "There is no run yet." in texts(at)
    assert runs.kept() == []


def test_runs_are_chosen_and_deleted(home):
    runs, first = kept_run(home)
    _, second = kept_run(home)
    at = opened(evaluate__view="Results")
    box = at.selectbox(key="evaluate:run")
    assert len(box.options) == 2
    box.set_value(first.id).run()
    assert not at.exception
    at.button(key="evaluate:delete").click().run()
    assert [one.id for one in runs.kept()] == [second.id]
    assert at.selectbox(key="evaluate:run").value == second.id


def test_the_open_run_stays_open_while_one_looks_elsewhere(home):
    """Also where runs were begun in the same minute under the same title."""
    _, first = kept_run(home)
    _, second = kept_run(home)
    at = opened(evaluate__view="Results")
    box = at.selectbox(key="evaluate:run")
    assert len(set(box.options)) == 2
    # The browser tells a choice by its label.
    older = min(first.id, second.id)
    box.set_value(older).run()
    for view in ("New run", "Gold chains", "Results"):
        at.button_group(key="evaluate:view").set_value(view).run()
        assert not at.exception
    assert at.selectbox(key="evaluate:run").value == older
    at.switch_page("pages/settings.py").run()
    at.switch_page("pages/evaluate.py").run()
    assert at.selectbox(key="evaluate:run").value == older


def test_a_run_that_the_address_names_and_that_is_gone_is_said(home):
    kept_run(home)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    at.session_state["evaluate:run"] = "20200101-000000-abcdef"
    at.session_state["evaluate:view"] = "Results"
    at.switch_page("pages/evaluate.py").run()
    assert "is not here any more" in texts(at)


def test_a_run_that_asks_a_model_is_not_resumed_without_one(home):
    runs, _ = kept_run(home, stop_after=1)
    (kept,) = runs.kept()
    path = runs.folder / kept.id / "head.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"asks_model": True}))
    at = opened(evaluate__view="Results")
    at.button(key="evaluate:resume").click().run()
    assert "none is named in this session" in texts(at)


def test_a_changed_corpus_is_said_when_a_run_is_resumed(home):
    runs, head = kept_run(home, stop_after=1)
    state = runs.state(head)
    runs.settle(
        head, State(state.questions, tuple({**one, "fingerprint": "x"} for one in state.setups))
    )
    at = opened(evaluate__view="Results")
    at.button(key="evaluate:resume").click().run()
    wait(at)
    assert "has changed since this run began" in texts(at)


def test_progress_is_watched_while_a_run_goes_on_and_it_can_be_stopped(home, monkeypatch):
    begun, go = Event(), Event()

    def slow(runs, head, space, embedder, model, tell, stopped):
        from tracert.evaluation.work import Progress

        tell(Progress("ask", 2, 8, 65.0, f"What now? {EVIL}"))
        begun.set()
        assert go.wait(60)
        if stopped():
            raise CancelledError("stopped")

    monkeypatch.setattr(evaluating, "go_on", slow)
    at = run_of_file(home)
    at.button(key="evaluate:start").click().run()
    assert begun.wait(60)
    at.run()
    # A page that is loaded anew opens on the run that goes on.
    other = opened()
    assert other.session_state["evaluate:view"] == "Results"
    assert "Running" in texts(other)
    assert "No question had been asked of every method when this was drawn" in texts(other)
    (bar,) = other.get("progress")
    assert bar.proto.text == "Asking · 2 of 8 · about 1 min 5 s left"
    assert f"What now? {EVIL}" in [one.value for one in other.text]
    other.button(key="evaluate:stop").click().run()
    go.set()
    wait(other)
    assert "Stopped. What was asked is kept" in texts(other)
    assert not other.get("progress")


def test_a_run_in_the_hands_of_another_process_is_watched_and_left_alone(home):
    runs, head = kept_run(home, stop_after=2)
    with runs.writer(head):
        at = opened(evaluate__view="Results")
        assert "Another process works on this run: 2 questions of 6 asked" in texts(at)
        # The figures stand still meanwhile, and say so.
        said = "Over the 1 of 3 questions that every method had been asked when this was drawn"
        assert said in texts(at)
        assert not [one for one in at.button if one.key in ("evaluate:resume", "evaluate:delete")]
    at.run()
    assert "Another process" not in texts(at)


def test_the_questions_are_filtered_by_how_they_went(home):
    _, head = kept_run(home)
    at = opened(evaluate__view="Results")
    assert len(table(at, "Against top-k")) == 3
    at.button_group(key=f"evaluate:{head.id}:filter").set_value("Lost").run()
    assert not at.exception
    assert "No question went so." in texts(at) or len(table(at, "Against top-k")) < 3


def test_the_figures_can_be_looked_at_by_type_hops_and_depth(home):
    _, head = kept_run(home)
    at = opened(evaluate__view="Results")
    assert EVIL in list(table(at, "Questions")["Type"])
    for lot, name in (("hops", "Hops of the question"), ("depth", "Hops to the passage")):
        at.button_group(key=f"evaluate:{head.id}:lot").set_value(lot).run()
        assert not at.exception
        assert len(table(at, name)) == 2


def test_every_measure_can_be_looked_up_with_its_interval(home):
    kept_run(home)
    at = opened(evaluate__view="Results")
    measures = table(at, "Measure")
    for name in ("Recall", "Precision", "All found", "MRR", "nDCG", "Recall@1"):
        mine = measures[(measures["Measure"] == name) & (measures["Method"] == "TreeHop")]
        assert len(mine) == 1
        assert all(" to " in mine[column].iloc[0] for column in ("95%", "vs top-k, 95%"))
    stages = table(at, "Stage")
    assert {"ms p50", "p50, 95%", "ms p95", "p95, 95%"} <= set(stages)
    assert {"all", "embed", "walk"} <= set(stages["Stage"])


def test_hostile_words_of_a_data_set_are_text(home):
    """Markdown and HTML in questions, types, titles and answers reach no element that reads it."""
    kept_run(home)
    at = opened(evaluate__view="Results")
    kinds = (at.markdown, at.caption, at.info, at.warning, at.error, at.success)
    marked = [one.value for kind in kinds for one in kind]
    assert EVIL in list(table(at, "Questions")["Type"])
    assert not [value for value in marked if re.search(r"(?<!\\)<img", value)]


# --- one question -----------------------------------------------------------------------------


def _open(home, id, place, chosen):
    from pathlib import Path

    from tracert.evaluation.runs import Runs
    from tracert.ui import components, evaluating
    from tracert.ui.views import evaluate_questions
    from tracert.workspace import Workspace

    components.load()
    head = Runs(Path(home) / "evaluations").head(id)
    measured, results = evaluating.measured(head, 6)
    evaluate_questions._question(Workspace(home), head, measured, results, place, chosen, key="q")


def question(home: Path, head, place: int, chosen: int) -> AppTest:
    given = {"home": str(home), "id": head.id, "place": place, "chosen": chosen}
    at = AppTest.from_function(_open, kwargs=given, default_timeout=120).run()
    assert not at.exception
    return at


def test_a_question_opens_the_walk_beside_plain_top_k(home):
    _, head = kept_run(home)
    at = question(home, head, 1, 0)
    stages = [
        json.loads(one.proto.json)
        for one in at.get("bidi_component")
        if one.proto.component_name == "tracert_stage"
    ]
    assert len(stages) == 2
    gold = table(at, "Gold passage")
    assert list(gold["In"]) == ["coils", "chemist"]
    assert list(gold["Hop"]) == [1, 2]
    assert CHAINS[0].question in texts(at)


def test_a_hostile_question_opens_as_text(home):
    _, head = kept_run(home)
    at = question(home, head, 0, 2)
    assert CHAINS[2].question in [one.value for one in at.text]
    assert list(table(at, "Gold passage")["In"]) == [EVIL]


# --- gold chains ------------------------------------------------------------------------------


def test_a_chain_is_made_ordered_kept_and_measured(home):
    GoldSets(home / "gold").add("Mine", CHAINS[0])
    at = opened(evaluate__view="Gold chains")
    assert "Type a question" in texts(at)
    at.text_input(key="evaluate:chain:question").set_value("Who taught Faraday?").run()
    marks = [one for one in at.button if one.key.endswith(":mark")]
    assert marks
    # The corpus is one short text of few passages; take the first as gold.
    marks[0].click().run()
    assert "Hop 1" in texts(at)
    at.text_input(key="evaluate:chain:answer").set_value("Davy").run()
    assert at.selectbox(key="evaluate:chain:set").value == "Mine"
    at.button(key="evaluate:chain:add").click().run()
    assert not at.exception
    assert "Mine now has 2 chains." in texts(at)
    assert at.text_input(key="evaluate:chain:question").value == ""
    _, kept = GoldSets(home / "gold").read("Mine")
    assert (kept.question, kept.answer) == ("Who taught Faraday?", "Davy")
    at.button(key="evaluate:chain:evaluate").click().run()
    assert not at.exception
    assert at.session_state["evaluate:view"] == "New run"
    assert "2 questions: 2 bridge" in texts(at)
    at.button(key="evaluate:start").click().run()
    wait(at)
    assert not at.exception
    assert "Finished" in texts(at)


def _editor(passages):
    import streamlit as st

    from tracert.ui.views import evaluate_chain

    draft = st.session_state.setdefault("draft", evaluate_chain._Draft("c", list(passages)))
    evaluate_chain._chain(draft, key="k")


def test_marked_passages_move_up_and_down_and_out(home):
    at = AppTest.from_function(_editor, kwargs={"passages": PASSAGES[:3]}).run()
    draft = at.session_state["draft"]
    at.button(key="k:chain:0:Down").click().run()
    assert draft.gold == [PASSAGES[1], PASSAGES[0], PASSAGES[2]]
    at.button(key="k:chain:2:Up").click().run()
    assert draft.gold == [PASSAGES[1], PASSAGES[2], PASSAGES[0]]
    at.button(key="k:chain:0:Take out").click().run()
    assert draft.gold == [PASSAGES[2], PASSAGES[0]]
    assert at.button(key="k:chain:0:Up").disabled
    assert at.button(key="k:chain:1:Down").disabled


def test_a_chain_without_a_question_or_a_set_is_refused_in_a_sentence(home):
    at = AppTest.from_function(_editor, kwargs={"passages": PASSAGES[:1]}).run()
    at.button(key="k:add").click().run()
    assert "The chain has no question" in texts(at)
    at.session_state["k:question"] = "Who?"
    at.button(key="k:add").click().run()
    assert "Give the set a name" in texts(at)


def test_sets_are_shown_changed_and_deleted(home):
    sets = GoldSets(home / "gold")
    for one in CHAINS:
        sets.add(EVIL, one)
    at = opened(evaluate__view="Gold chains")
    assert at.selectbox(key="evaluate:chain:open").value == EVIL
    assert list(table(at, "Passages")["Hops"]) == [2, 1, 1]
    assert f"Delete the set {EVIL}?" in [one.value for one in at.text]
    at.button(key="evaluate:chain:delete").click().run()
    assert not at.exception
    assert sets.names() == []


def test_without_a_corpus_the_editor_leads_to_the_library(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path))
    for name in ("tracert.ui.resources", "tracert.ui.views.builtin", "tracert.workspace"):
        monkeypatch.setattr(f"{name}.builtin_folder", lambda: None)
    at = opened(evaluate__view="Gold chains")
    assert "There is no corpus" in texts(at)


def test_without_a_set_my_gold_chains_lead_to_the_editor(home):
    at = opened(evaluate__data__source="My gold chains")
    assert "There is no set of gold chains yet" in texts(at)


# --- taking it along --------------------------------------------------------------------------


def _exports(home, id):
    from pathlib import Path

    import streamlit as st

    from tracert.evaluation.runs import Runs
    from tracert.ui import evaluating
    from tracert.ui.views import evaluate_export

    head = Runs(Path(home) / "evaluations").head(id)
    measured, _ = evaluating.measured(head, 6)
    made = {}

    def button(label, data, name, kind, **more):
        made[name] = data().decode("utf-8")

    real, st.download_button = st.download_button, button
    try:
        evaluate_export.show(head, measured, key="x")
    finally:
        st.download_button = real
    st.session_state["made"] = made


def test_every_export_is_made_and_states_what_was_run(home):
    methods = [
        MethodPlan("TreeHop", "treehop", {}),
        MethodPlan("TreeHop, paper", "treehop", {"spawn": 0}),
    ]
    _, head = kept_run(home, methods=methods)
    given = {"home": str(home), "id": head.id}
    at = AppTest.from_function(_exports, kwargs=given, default_timeout=60).run()
    assert not at.exception
    made = at.session_state["made"]
    by_ending = {name.removeprefix(f"evaluation-{head.id}"): text for name, text in made.items()}
    assert set(by_ending) == {".html", ".json", "-methods.csv", "-questions.csv"}
    data = json.loads(by_ending[".json"])
    assert data["run"] == head.to_dict()
    assert [one["label"] for one in data["methods"]] == ["TreeHop", "TreeHop, paper"]
    assert [len(one["details"]) for one in data["methods"]] == [3, 3]
    # Two forms of one method stay apart by their labels.
    lines = list(csv.DictReader(io.StringIO(by_ending["-questions.csv"])))
    assert [line["method"] for line in lines] == ["TreeHop"] * 3 + ["TreeHop, paper"] * 3
    assert by_ending["-methods.csv"].startswith("Method,Recall")
    page = by_ending[".html"]
    for words in ("TreeHop, paper", "mine.jsonl", "seed 0", head.versions["python"]):
        assert words in page
    assert "<img src=x" not in page
