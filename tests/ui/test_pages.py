"""Every page in each state, without a browser."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tracert import workspace
from tracert.evaluation.quoted import read_questions
from tracert.ui import resources
from tracert.ui.views import builtin

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-k3ymark-0123456789"


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A data folder with the built-in corpus, indexed once."""
    from tracert.workspace import Workspace

    path = tmp_path_factory.mktemp("app")
    Workspace(path).ensure_builtin()
    return path


@pytest.fixture
def app(home, monkeypatch):
    monkeypatch.setenv("TRACERT_HOME", str(home))
    return _app()


@pytest.fixture
def empty(monkeypatch):
    """A data folder with no corpus and no built-in document."""
    # All that take the function by name are imported before it is replaced.
    for module in (resources, builtin, workspace):
        monkeypatch.setattr(module, "builtin_folder", lambda: None)
    return _app()


def _app() -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    assert not at.exception
    return at


def go(at: AppTest, page: str) -> AppTest:
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception
    return at


def texts(at: AppTest) -> str:
    kinds = (at.text, at.caption, at.markdown, at.info, at.warning, at.error, at.success)
    return "\n".join(element.value for kind in kinds for element in kind)


def stage(at: AppTest) -> dict:
    for element in at.get("bidi_component"):
        if element.proto.component_name == "tracert_stage":
            return json.loads(element.proto.json)
    raise AssertionError("there is no stage")


# --- Tracert --------------------------------------------------------------------------------


def test_it_opens_on_a_walk_of_the_built_in_document(app):
    assert app.selectbox(key="corpus").value == "The Long Spark"
    assert app.text_input(key="question").value
    assert len(stage(app)["frames"]) > 2
    assert "Extract" in texts(app)


def test_the_opening_shows_what_a_walk_is_for(app):
    """The walk arrives over passages of the text itself and finds gold that plain top-k misses."""
    _, trace, live = app.session_state["tracert_rag:run"]
    assert trace.result.stop.reason.value == "goal_reached"
    assert len(trace.result.evidence) >= 3
    asked = read_questions(ROOT / "knowledge" / "opening.jsonl")
    row = next(row for row in asked if row.question == trace.question)

    def held(one):
        texts = [one.node(id).text for id in one.result.evidence]
        return {
            number
            for number, passage in enumerate(row.passages)
            if any(passage.text[:60] in text for text in texts)
        }

    assert held(trace) > held(live.plain)
    # Nothing of it is a list of books.
    for id in trace.result.evidence:
        node = trace.node(id)
        assert "## Sources" not in node.text
        assert "Sources" not in node.source.heading_path


def test_nothing_is_measured_on_the_question_that_was_chosen_to_open_with():
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / "knowledge/document").iterdir()}
    opening, measured = (
        read_questions(ROOT / "knowledge" / name) for name in ("opening.jsonl", "questions.jsonl")
    )
    assert not {row.question for row in opening} & {row.question for row in measured}
    for row in opening:
        assert len(row.passages) == row.hops
        assert all(texts[each.document].count(each.text) == 1 for each in row.passages)


@pytest.mark.parametrize(
    ("page", "said"),
    [("tracert_rag", "walk through a text"), ("treehop", "vector"), ("trailgraph", "agent")],
)
def test_a_page_says_in_one_sentence_what_it_shows(empty, page, said):
    line = go(empty, page).caption[0].value
    assert said in line
    assert line.count(".") == 1


def test_a_setting_moved_walks_again_and_prepares_nothing(app, monkeypatch):
    from tracert.methods.tracert_rag import TracertRag

    def never(*_):
        raise AssertionError("the question was prepared again")

    monkeypatch.setattr(TracertRag, "prepare", never)
    before = stage(app)["revision"]
    app.slider(key="tracert_rag:alpha").set_value(1.5).run()
    assert not app.exception
    assert stage(app)["revision"] != before


def test_an_empty_corridor_and_a_dead_end_say_what_to_change(app):
    app.checkbox(key="tracert_rag:strict").set_value(True)
    app.slider(key="tracert_rag:radius_scale").set_value(0.0).run()
    assert not app.exception
    assert "Goal not reached" in texts(app)
    app.slider(key="tracert_rag:radius_scale").set_value(1.0)
    app.toggle(key="tracert_rag:delta:auto").set_value(False).run()
    app.slider(key="tracert_rag:delta:value").set_value(0.01).run()
    assert not app.exception
    ending = next(one.value for one in app.markdown if "Goal not reached" in one.value)
    assert "delta" in ending.lower()


def test_a_goal_written_by_hand_is_walked_to(app):
    box = next(one for one in app.text_area if one.label == "Explanation")
    box.set_value("A lighthouse sends sparks to a ship far out at sea.")
    next(one for one in app.button if one.label == "Walk to this goal").click().run()
    assert not app.exception
    trace = app.session_state["tracert_rag:run"][1]
    assert trace.steps[0].values["goal_source"] == "typed"
    assert "lighthouse" in trace.node("goal").text
    next(one for one in app.button if one.label == "Predict the goal again").click().run()
    trace = app.session_state["tracert_rag:run"][1]
    assert trace.steps[0].values["goal_source"] == "offline"


def test_all_three_parts_of_the_goal_are_seen_without_a_click(app):
    parts = {"Category": "Person", "Concept": "a lighthouse", "Explanation": "It sends sparks."}
    for label, said in parts.items():
        fields = [*app.text_input, *app.text_area]
        next(one for one in fields if one.label == label).set_value(said)
    next(one for one in app.button if one.label == "Walk to this goal").click().run()
    assert "Person · a lighthouse · It sends sparks." in [one.value for one in app.text]
    # A goal that is an essay is cut at a word; the form beside it has the whole.
    next(one for one in app.text_area if one.label == "Explanation").set_value("spark " * 200)
    next(one for one in app.button if one.label == "Walk to this goal").click().run()
    assert not app.exception
    (cut,) = [one.value for one in app.text if one.value.startswith("Person · a lighthouse")]
    assert cut.endswith("spark…")
    assert len(cut) <= 400


def test_emptied_fields_give_the_goal_back_to_the_predictor(app):
    for label in ("Category", "Concept"):
        next(one for one in app.text_input if one.label == label).set_value("")
    next(one for one in app.text_area if one.label == "Explanation").set_value("  ")
    next(one for one in app.button if one.label == "Walk to this goal").click().run()
    assert not app.exception
    trace = app.session_state["tracert_rag:run"][1]
    assert trace.steps[0].values["goal_source"] == "offline"
    assert "Explanation:" not in trace.node("goal").text


def test_a_corridor_without_passages_shows_no_delta(app):
    app.checkbox(key="tracert_rag:strict").set_value(True)
    app.slider(key="tracert_rag:radius_scale").set_value(0.0).run()
    assert app.text_input(key="tracert_rag:delta:none").value == "none found"
    app.slider(key="tracert_rag:radius_scale").set_value(1.0).run()
    assert not app.exception
    assert app.slider(key="tracert_rag:delta:found").value > 0


def test_delta_shows_what_was_found_and_can_be_taken_over(app):
    found = app.session_state["tracert_rag:run"][1].settings["delta"]
    assert app.slider(key="tracert_rag:delta:found").value == pytest.approx(found)
    app.toggle(key="tracert_rag:delta:auto").set_value(False).run()
    assert not app.exception
    assert app.slider(key="tracert_rag:delta:value").value == pytest.approx(found, abs=0.001)


def test_plain_top_k_stands_beside_at_the_same_number_of_passages(app):
    _, trace, live = app.session_state["tracert_rag:run"]
    assert len(live.plain.result.evidence) == len(trace.result.evidence)


def test_an_example_is_asked_by_a_click(app):
    choices = app.radio(key="tracert_rag:examples:all").options
    app.radio(key="tracert_rag:examples:all").set_value(choices[4]).run()
    assert not app.exception
    assert len(stage(app)["frames"]) >= 1
    assert app.text_input(key="question").value.startswith(choices[4][:10].replace("\\", ""))


def test_an_empty_question_shows_the_way_on(app):
    app.text_input(key="question").set_value("  ").run()
    assert not app.exception
    assert "Type a question" in texts(app)


def test_with_nothing_loaded_it_leads_to_the_library(empty):
    assert "There is no corpus yet" in texts(empty)


def test_an_error_is_shown_as_its_sentence(app, monkeypatch):
    from tracert.errors import EmbedderError

    def broken(self, *args, **more):
        raise EmbedderError("The <b>embedder</b> is away. Start it.")

    monkeypatch.setattr("tracert.workspace.Workspace.ask", broken)
    app.text_input(key="question").set_value("Who was Volta?").run()
    assert not app.exception
    assert "is away" in app.error[0].value
    assert "<b>" not in app.error[0].value


def test_a_trace_opens_without_its_corpus(empty, toys):
    """What `files.open_` puts into the session takes the page."""
    empty.session_state["tracert_rag:opened"] = toys.walk_trace()
    empty.run()
    assert not empty.exception
    assert "Shown from the file alone" in texts(empty)
    assert len(stage(empty)["frames"]) == 6
    empty.button(key="tracert_rag:close").click().run()
    assert "There is no corpus yet" in texts(empty)


@pytest.mark.parametrize("page", ["tracert_rag", "library"])
def test_a_deleted_built_in_text_comes_back_by_a_click(page):
    """The data folder of each test is its own; the app fills it with the built-in text."""
    at = _app()
    _workspace().delete("The Long Spark")
    at = go(at, page)
    key = "tracert_rag" if page == "tracert_rag" else "shelf"
    at.button(key=f"{key}:builtin").click().run()
    assert not at.exception
    assert [one.name for one in _workspace().corpora()] == ["The Long Spark"]
    assert all(one.label != "Load the built-in text" for one in at.button)
    at = go(at, "tracert_rag")
    assert len(stage(at)["frames"]) > 2


# --- Library ----------------------------------------------------------------------------------


def _job_done(at: AppTest) -> AppTest:
    at.session_state["library:job"].wait(120)
    return at.run()


def test_a_text_is_pasted_indexed_renamed_and_deleted(empty):
    at = go(empty, "library")
    assert "There is none yet" in texts(at)
    name = "library:0"
    at.text_area(key=f"{name}:text").set_value("Volta stacked silver and zinc. " * 40).run()
    at.text_input(key=f"{name}:corpus:Pasted text").set_value("Piles <b>").run()
    at.button(key="library:index").click().run()
    assert not at.exception
    at = _job_done(at)
    assert "Piles" in at.success[0].value
    assert "<b>" not in at.success[0].value
    record = _workspace().corpora()[0]
    assert (record.name, record.chunking.size) == ("Piles <b>", 500)

    at.text_input(key=f"shelf:{record.id}:rename-new").set_value("Batteries")
    button = next(b for b in at.button if b.label == "Rename")
    button.click().run()
    assert [one.name for one in _workspace().corpora()] == ["Batteries"]
    at.button(key=f"shelf:{record.id}:delete").click().run()
    assert _workspace().corpora() == []


def test_asking_a_corpus_leads_to_an_example_of_it_on_every_page(app):
    """Of the built-in text each page has a question; one that was typed is gone."""
    app.text_input(key="question").set_value("Who was Volta?").run()
    at = go(app, "library")
    next(button for button in at.button if button.label == "Ask").click().run()
    assert not at.exception
    for page in ("tracert_rag", "treehop", "baselines"):
        at = go(at, page)
        assert at.text_input(key="question").value not in ("", "Who was Volta?")


def _workspace():
    from tracert.workspace import Workspace

    return Workspace()


def test_an_indexing_under_way_shows_its_stage_and_can_be_cancelled(empty):
    from threading import Event

    from tracert.errors import CancelledError
    from tracert.indexing import Progress
    from tracert.ui.jobs import Job

    told = Event()

    def work(tell, stop):
        tell(Progress("embed", 30, 120, 8.0))
        told.set()
        while not stop():
            pass
        raise CancelledError("stopped")

    at = go(empty, "library")
    at.session_state["library:job"] = job = Job("Indexing into c", work)
    assert told.wait(10)
    at.run()
    assert not at.exception
    bar = at.get("progress")[0].proto
    assert bar.value == 25
    assert "3 of 4 · Embedding · 30 of 120 · about 8.0 s left" in bar.text
    at.button(key="library:cancel").click().run()
    at = _job_done(at)
    assert job.cancelling
    assert "Nothing was kept" in at.warning[0].value


def test_a_paid_embedder_tells_its_cost_before_anything_is_sent(empty):
    at = go(empty, "library")
    at.text_area(key="library:0:text").set_value("Volta stacked silver and zinc. " * 40).run()
    at.selectbox(key="library:embedder").set_value("openai").run()
    assert not at.exception
    assert "tokens will be sent out" in at.info[0].value


def test_a_file_that_cannot_be_read_gets_a_sentence(empty):
    from tracert.indexing import File
    from tracert.ui.jobs import Job

    at = go(empty, "library")
    space = _workspace()
    files = [File("good.txt", b"Volta stacked silver and zinc. " * 9), File("bad.pdf", b"%PDF-1.7")]
    at.session_state["library:job"] = Job(
        "t",
        lambda tell, stop: space.index(files, "mixed", on_progress=tell, cancelled=stop),
    )
    at = _job_done(at)
    table = at.dataframe[0].value
    assert list(table["Result"]) == ["Indexed", "Not read"]
    assert table["What to know"][1]


def test_a_text_in_another_language_is_warned_of(empty):
    text = "Der Strom floss durch den Draht und die Nadel bewegte sich nicht mehr als zuvor. " * 30
    from tracert.indexing import File

    _workspace().index([File("strom.txt", text.encode())], "Strom")
    at = go(empty, "library")
    assert "not to be in English" in at.warning[0].value


# --- Settings ---------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def servers():
    spec = importlib.util.spec_from_file_location("servers", ROOT / "tests" / "servers.py")
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["servers"] = module
    spec.loader.exec_module(module)
    return module


def _use(at: AppTest, url: str, *, key: str = KEY) -> AppTest:
    at.segmented_control(key="settings:provider").set_value("llama.cpp, vLLM or another").run()
    preset = "llama.cpp, vLLM or another"
    at.text_input(key=f"settings:url:{preset}").set_value(url)
    at.text_input(key=f"settings:model:{preset}").set_value("tiny")
    at.text_input(key="settings:key:0").set_value(key)
    next(b for b in at.button if b.label == "Use these settings").click().run()
    assert not at.exception
    return at


def test_the_key_is_never_shown_again(empty):
    at = _use(go(empty, "settings"), "http://localhost:9/v1")
    assert KEY not in texts(at)
    assert all(field.value != KEY for field in at.text_input)
    assert "kept for this session" in texts(at)


def test_the_connection_is_checked(empty, servers):
    with servers.ChatServer() as server:
        server.say("yes")
        at = _use(go(empty, "settings"), server.url)
        at.button(key="settings:check").click().run()
        assert not at.exception
        assert "answers" in at.success[0].value
        assert KEY not in texts(at)


def test_a_connection_that_fails_says_what_is_wrong(empty):
    at = _use(go(empty, "settings"), "http://127.0.0.1:9/v1")
    at.button(key="settings:check").click().run()
    assert not at.exception
    assert at.error[0].value
    assert KEY not in texts(at)


def test_an_unusable_address_is_refused(empty):
    at = _use(go(empty, "settings"), "ftp://nowhere")
    assert "base URL" in at.error[0].value
    # The key that was typed with it is gone from the page, and the address is still there.
    assert all(field.value != KEY for field in at.text_input)
    assert any(field.value == "ftp://nowhere" for field in at.text_input)
    assert not at.run().error


def test_a_key_that_no_header_can_carry_is_refused(empty):
    at = _use(go(empty, "settings"), "http://localhost:9/v1", key=f"{KEY}…")
    assert "no key has" in at.error[0].value
    assert KEY not in texts(at)


def test_a_model_that_fails_leaves_the_page_whole(app):
    at = _use(go(app, "settings"), "http://127.0.0.1:9/v1")
    at = go(at, "tracert_rag")
    assert len(stage(at)["frames"]) > 1
    assert "offline" in texts(at).lower()
    assert KEY not in texts(at)
    trace = at.session_state["tracert_rag:run"][1]
    assert KEY not in trace.to_json()
