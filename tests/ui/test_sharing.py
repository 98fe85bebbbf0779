"""Links, exports, held runs and opened traces on the pages, without a browser."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from tracert import workspace
from tracert.indexing import File
from tracert.trace import ModelReply, Replies, Trace
from tracert.ui import resources
from tracert.ui.views import again, builtin

ROOT = Path(__file__).resolve().parents[2]
CORPUS = "The Long Spark"


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    """A data folder with the built-in corpus, indexed once."""
    path = tmp_path_factory.mktemp("sharing")
    workspace.Workspace(path).ensure_builtin()
    return path


@pytest.fixture
def home(filled, monkeypatch):
    monkeypatch.setenv("TRACERT_HOME", str(filled))
    return filled


def visit(page: str = "tracert_rag", **query: str) -> AppTest:
    """A session that a link opens: its first run is that of the page."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240)
    for name, value in query.items():
        at.query_params[name.replace("__", ".")] = value
    at = at.switch_page(f"pages/{page}.py") if page != "tracert_rag" else at
    at.run()
    assert not at.exception
    return at


def component(at: AppTest, name: str) -> dict:
    for element in at.get("bidi_component"):
        if element.proto.component_name == name:
            return json.loads(element.proto.json)
    raise AssertionError(f"there is no {name}")


def link(at: AppTest) -> dict[str, list[str]]:
    return parse_qs(component(at, "tracert_link")["query"])


def texts(at: AppTest) -> str:
    kinds = (at.text, at.caption, at.markdown, at.info, at.warning, at.error)
    return "\n".join(element.value for kind in kinds for element in kind)


def trace_of(at: AppTest, key: str = "tracert_rag") -> Trace:
    return at.session_state[f"{key}:run"][1]


# --- links ------------------------------------------------------------------------------------


def test_a_page_as_it_opens_says_nothing_of_settings(home):
    said = link(visit())
    assert set(said) == {"corpus", "at", "question", "method"}
    assert said["corpus"] == [CORPUS]


def test_a_link_opens_question_settings_and_step(home):
    at = visit(question="Who made the first pile?", set__alpha="0.8", set__delta="0.7", step="1")
    assert at.text_input(key="question").value == "Who made the first pile?"
    assert at.slider(key="tracert_rag:alpha").value == 0.8
    assert at.toggle(key="tracert_rag:delta:auto").value is False
    assert trace_of(at).settings["delta"] == 0.7
    assert component(at, "tracert_stage")["step"] == 1
    said = link(at)
    assert (said["set.alpha"], said["set.delta"], said["step"]) == (["0.8"], ["0.7"], ["1"])
    assert not at.warning


def test_a_link_of_what_a_link_opened_opens_the_same(home):
    first = visit(set__alpha="0.9", set__max_hops="3", step="2")
    again_ = visit(**{name.replace(".", "__"): value[0] for name, value in link(first).items()})
    assert link(again_) == link(first)
    assert trace_of(again_).result == trace_of(first).result


def test_the_address_says_no_more_what_no_longer_holds(home):
    at = visit(set__alpha="0.8", step="1")
    assert at.query_params["set.alpha"] in ("0.8", ["0.8"])
    at.slider(key="tracert_rag:alpha").set_value(0.2).run()
    assert not {"set.alpha", "step"} & set(at.query_params)
    assert link(at)["set.alpha"] == ["0.2"]


def test_a_hostile_link_is_refused_in_words_and_the_page_works(home):
    at = visit(
        set__alpha="99",
        set__radius_scale="1e9",
        set__nothing="<script>alert(1)</script>",
        set__strict="[x](javascript:alert(1))",
        step="999999999",
        at="<b>",
        other="x",
        question="q" * 100_000,
    )
    assert len(trace_of(at).steps) >= 0
    assert len(at.text_input(key="question").value) == 2000
    (warning,) = at.warning
    assert "out of range" in warning.value
    assert "more parts of the link" in warning.value
    assert "<script>" not in warning.value.replace("\\<script", "")
    at.button(key="tracert_rag:link:close").click().run()
    assert not at.warning


def test_a_step_that_the_walk_does_not_have_is_said(home):
    at = visit(step="400")
    assert "asks for step 400" in texts(at)
    assert component(at, "tracert_stage")["step"] == len(trace_of(at).steps)


def test_a_corpus_that_is_not_here_is_named_and_the_ways_on_are_there(home):
    at = visit(corpus="Moby <b>Dick</b>", at="ab" * 8, question="Who is Ahab?")
    assert "not here" in at.subheader[0].value
    assert "Moby" in texts(at)
    assert "abababab" in texts(at)
    assert "<b>" not in texts(at).replace("\\<b", "")
    assert "Who is Ahab?" in texts(at)
    assert at.file_uploader  # a trace can be opened
    way = at.get("page_link")[0].proto
    assert parse_qs(way.query_string)["name"] == ["Moby <b>Dick</b>"]
    at.button(key="tracert_rag:link:here").click().run()
    assert at.selectbox(key="corpus").value == CORPUS
    assert at.text_input(key="question").value == "Who is Ahab?"


def test_the_library_proposes_the_name_that_a_link_asked_for(home):
    at = visit("library", name="Piles " * 40)
    name = next(box for box in at.text_input if box.label == "Name of the corpus")
    assert name.value == ("Piles " * 40)[:120]


def test_a_corpus_that_was_loaded_meanwhile_is_the_one_that_is_asked(home):
    at = visit(corpus="Piles", question="What did Volta stack?", set__max_hops="3")
    assert "not here" in at.subheader[0].value
    space = workspace.Workspace(home)
    text = "Volta stacked discs of silver and zinc. The current was steady. " * 60
    space.index([File("piles.txt", text.encode())], "Piles")
    try:
        at.run()
        assert not at.exception
        assert at.selectbox(key="corpus").value == "Piles"
        assert trace_of(at).question == "What did Volta stack?"
        assert trace_of(at).settings["max_hops"] == 3
    finally:
        space.delete("Piles")


def test_another_state_of_the_corpus_is_said(home):
    at = visit(corpus=CORPUS, at="0123456789abcdef")
    assert "another state" in at.warning[0].value
    assert len(trace_of(at).steps) > 1


def test_a_corpus_under_another_name_is_known_by_its_fingerprint(home):
    mark = workspace.Workspace(home).corpus(CORPUS).fingerprint[:16]
    at = visit(corpus="Renamed", at=mark)
    assert "is called" in at.warning[0].value
    assert at.selectbox(key="corpus").value == CORPUS


def test_a_typed_goal_goes_along(home):
    at = visit(
        corpus=CORPUS, question="Who made the first pile?", goal="Concept: Volta's pile of discs"
    )
    assert trace_of(at).steps[0].values["goal_source"] == "typed"
    assert "Volta" in link(at)["goal"][0]


def test_no_link_opens_a_file_of_weights(home):
    at = visit("treehop", set__model="/etc/passwd", set__hops="3")
    assert "may name a file" in at.warning[0].value
    assert trace_of(at, "treehop").settings["hops"] == 3
    assert "set.model" not in link(at)
    assert link(visit("treehop", set__model="forget_rule"))["set.model"] == ["forget_rule"]


def test_a_link_opens_notes_with_their_settings(home):
    at = visit(
        "trailgraph", question="Who was Galvani?", set__beam="2", set__plain="true", step="1"
    )
    assert at.text_input(key="trailgraph:question").value == "Who was Galvani?"
    assert at.toggle(key="trailgraph:plain").value is True
    assert link(at)["set.beam"] == ["2"]
    at = visit("trailgraph", corpus="Elsewhere", question="Why?")
    assert "not here" in at.subheader[0].value


def test_a_link_opens_a_baseline_by_its_method(home):
    at = visit("baselines", method="native_rag", set__k="3")
    assert len(trace_of(at, "native_rag").result.evidence) == 3
    assert link(at)["method"] == ["native_rag"]


def test_a_link_opens_a_comparison(home):
    at = visit(
        "compare",
        methods="native_rag,treehop,nothing",
        budget="5",
        set__treehop__hops="3",
        question="Who was Galvani?",
    )
    said = link(at)
    assert said["methods"] == ["native_rag,treehop"]
    assert (said["budget"], said["set.treehop.hops"]) == (["5"], ["3"])
    assert "nothing" in at.warning[0].value


def test_no_key_is_in_a_link(home, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    at = visit()
    assert "sk-secret" not in component(at, "tracert_link")["query"]


# --- exports ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "key"),
    [("tracert_rag", "tracert_rag"), ("treehop", "treehop"), ("trailgraph", "trailgraph")],
)
def test_every_page_offers_every_format(home, page, key):
    at = visit(page)
    labels = {element.proto.label for element in at.get("download_button")}
    assert {
        "The run as a web page",
        "The path as Markdown",
        "The graph as GraphML",
        "The graph alone as a web page",
        "Save trace",
    } <= labels


# --- two runs ---------------------------------------------------------------------------------


def test_a_run_is_held_and_what_differs_is_listed(home):
    at = visit()
    at.button(key="tracert_rag:hold:this").click().run()
    assert "This run is held as A" in texts(at)
    at.slider(key="tracert_rag:alpha").set_value(1.5).run()
    assert not at.exception
    assert "Asked otherwise\\: alpha 0\\.500 → 1\\.500" in texts(at)
    for tab in ("Steps", "Settings", "Cost", "Verdicts"):
        at.segmented_control(key="tracert_rag:difference:tab").set_value(tab).run()
        assert not at.exception
    at.button(key="tracert_rag:hold:release").click().run()
    assert "Asked otherwise" not in texts(at)


def test_a_held_run_stays_while_another_question_is_asked(home):
    at = visit()
    at.button(key="tracert_rag:hold:this").click().run()
    at.text_input(key="question").set_value("Who laid the cable?").run()
    assert not at.exception
    assert "different questions" in texts(at)


def test_an_opened_trace_is_laid_under_the_run(home):
    at = visit()
    at.session_state["tracert_rag:held"] = trace_of(visit(set__alpha="1.5"))
    at.run()
    assert "alpha 1\\.500 → 0\\.500" in texts(at)


# --- opened traces ----------------------------------------------------------------------------


def test_an_opened_trace_is_run_again_without_the_model(home):
    at = visit()
    trace = trace_of(at)
    said = Replies("some-model", (ModelReply("k", "A reply <b>bold</b>."),))
    at.session_state["tracert_rag:opened"] = trace.with_replies(said)
    at.run()
    assert "A reply <b>bold</b>." in {element.value for element in at.text}
    at.button(key="tracert_rag:again").click().run()
    assert not at.exception
    assert not at.error
    assert at.session_state["tracert_rag:held"].replies == said
    assert at.session_state["tracert_rag:opened"].result.path == trace.result.path


def test_a_run_again_differs_in_no_step(home):
    """The run again is given as numbers what the first one found: delta, a widened radius."""
    at = visit()
    at.session_state["tracert_rag:opened"] = trace_of(at)
    at.run()
    at.button(key="tracert_rag:again").click().run()
    assert not at.exception
    said = texts(at).replace("\\", "")
    assert "Both were asked the same with the same settings" in said
    assert "The walks are the same, step by step" in said


def test_what_is_not_here_is_not_run_again(monkeypatch, toys):
    for module in (resources, builtin, workspace):
        monkeypatch.setattr(module, "builtin_folder", lambda: None)
    at = visit()
    at.session_state["tracert_rag:opened"] = toys.walk_trace()
    at.run()
    assert not at.exception
    assert all(button.label != "Run it again here" for button in at.button)


def test_a_setting_that_names_a_file_is_not_taken_from_a_trace(home, monkeypatch):
    from dataclasses import replace

    at = visit("treehop")
    trace = trace_of(at, "treehop")
    seen = {}
    space = workspace.Workspace(home)
    monkeypatch.setattr(space, "ask", lambda *_, **asked: seen.update(asked))
    again.walked(space, replace(trace, settings={**trace.settings, "model": "/etc/passwd"}))
    assert "model" not in seen["settings"]
