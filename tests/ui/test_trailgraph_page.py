"""The TrailGraph page in each of its states, without a browser."""

from __future__ import annotations

import importlib.util
import io
import json
import zipfile
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tracert.errors import ModelError
from tracert.language.base import Reply, ToolCall
from tracert.trace import StopReason, Trace
from tracert.ui.model import ModelSettings
from tracert.ui.notes import BUILTIN, Source

ROOT = Path(__file__).resolve().parents[2]
FALLBACK = "zebra umbrella"
ANSWERED = "Whose pigeons covered the gap between Aachen and Brussels?"
LEAF = "telegraph/Paul_Reuter.md"
ENTRY = "entry_points/Telegraph.md"
HUB = "telegraph/Writers_wires_and_news.md"


def _load(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tests" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A data folder with the built-in corpus, indexed once."""
    from tracert.workspace import Workspace

    path = tmp_path_factory.mktemp("trail")
    Workspace(path).ensure_builtin()
    return path


@pytest.fixture
def page(home, monkeypatch):
    monkeypatch.setenv("TRACERT_HOME", str(home))
    return go()


@pytest.fixture
def bare(monkeypatch):
    """A data folder without a corpus, and no built-in notes."""
    _without_builtin(monkeypatch)
    return go


def _without_builtin(monkeypatch) -> None:
    for module in ("tracert.workspace", "tracert.ui.resources", "tracert.ui.notes"):
        monkeypatch.setattr(f"{module}.builtin_folder", lambda: None)


def go(**state) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    for key, value in state.items():
        at.session_state[key.replace("__", ":")] = value
    at.switch_page("pages/trailgraph.py").run()
    assert not at.exception
    return at


def sound(at: AppTest) -> AppTest:
    assert not at.exception
    return at


def texts(at: AppTest) -> str:
    kinds = (at.text, at.caption, at.markdown, at.info, at.warning, at.error, at.success)
    return "\n".join(element.value for kind in kinds for element in kind)


def data(at: AppTest, name: str) -> list[dict]:
    found = [element.proto for element in at.get("bidi_component")]
    return [json.loads(one.json) for one in found if one.component_name == f"tracert_{name}"]


def trace_of(at: AppTest) -> Trace:
    return at.session_state["trailgraph:run"][1]


def ask(at: AppTest, question: str) -> AppTest:
    return sound(at.text_input(key="trailgraph:question").set_value(question).run())


def folder(path: Path, **notes: str) -> Source:
    for name, text in notes.items():
        place = path / f"{name}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return Source(path.name, path)


# --- what is there ----------------------------------------------------------------------------


def test_it_opens_on_an_answered_walk_of_the_built_in_notes(page):
    assert page.selectbox(key="trailgraph:notes").value == BUILTIN
    (stage,) = data(page, "stage")
    trace = trace_of(page)
    assert trace.result.stop.reason is StopReason.ANSWERED
    assert len(stage["frames"]) == len(trace.steps) + 1
    assert len(stage["layouts"]["tree"]) == 81  # 80 notes and the question
    assert "Extract" in texts(page)
    assert len(page.get("plotly_chart")) == 2  # ladder and map


def test_the_answer_cites_notes(page):
    prose = next(one for one in data(page, "cards") if "prose" in one)
    cited = {cite["id"] for sentence in prose["prose"] for cite in sentence["cites"]}
    assert cited
    assert cited <= set(trace_of(page).result.evidence)


def test_with_nothing_loaded_it_says_how_to_load(bare):
    at = bare()
    assert "There are no notes yet" in texts(at)
    assert not data(at, "stage")


def test_a_question_that_is_empty_shows_the_way_on(page):
    assert "Type a question" in texts(ask(page, "  "))


def test_broken_notes_are_walked_and_their_faults_listed(bare, tmp_path):
    source = folder(
        tmp_path / "broken",
        Start="# Start\n\nsummary: Where lamps begin\nparent:\nchildren: [Lamp.md, Gone.md]\n"
        "related: []\nkey_points: []\n\n## Content\n\nLamps begin here.\n",
        Lamp="# Lamp\n\nsummary: The lamp of Swan\nparent: Start.md\nchildren: []\n"
        "related: []\nkey_points: []\n\n## Content\n\nSwan made the lamp. <script>x</script>\n",
        Alone="# Alone\n\nsummary: Nothing\nparent: Nowhere.md\nchildren: []\nrelated: []\n"
        "key_points: []\n\n## Content\n",
    )
    at = bare(trailgraph__shelf={source.name: source})
    table = next(frame.value for frame in at.dataframe if "What to do" in frame.value)
    assert {"dangling link", "missing parent", "empty note"} <= set(table["Kind"])
    assert all(table["What to do"])
    at = ask(at, "Who made the lamp?")
    assert trace_of(at).result.evidence[0] == "Lamp.md"
    assert not any(element.allow_html for element in at.markdown)


def test_a_folder_without_notes_gets_a_sentence(bare, tmp_path):
    (tmp_path / "void").mkdir()
    at = bare(trailgraph__shelf={"void": Source("void", tmp_path / "void")})
    assert "holds no note" in at.error[0].value


def test_a_folder_is_loaded_by_its_path(page, tmp_path):
    folder(tmp_path / "mine", Lamp="# Lamp\n\nSwan made the first lamp.\n")
    page.text_input(key="trailgraph:folder").set_value(str(tmp_path / "mine")).run()
    sound(page.button(key="trailgraph:open-folder").click().run())
    assert page.selectbox(key="trailgraph:notes").value == "mine"
    page.text_input(key="trailgraph:folder").set_value(str(tmp_path / "absent")).run()
    sound(page.button(key="trailgraph:open-folder").click().run())
    assert "cannot be read" in "".join(error.value for error in page.error)


# --- walks ------------------------------------------------------------------------------------


def test_a_walk_of_one_hop(page):
    page.slider(key="trailgraph:max_hops").set_value(1)
    page.slider(key="trailgraph:beam").set_value(1)
    at = sound(page.run())
    assert {step.values["hop"] for step in trace_of(at).steps} == {1.0}


def test_the_plain_walk_is_one_click_away(page):
    at = sound(page.toggle(key="trailgraph:plain").set_value(True).run())
    assert trace_of(at).settings["beam"] == 1
    assert trace_of(at).settings["entry"] == "fixed"


def test_a_fallback_asks_and_yes_opens_the_closest(page):
    at = ask(page, FALLBACK)
    trace = trace_of(at)
    assert trace.result.stop.reason is not StopReason.ANSWERED
    assert "Did you mean" in texts(at)
    at = sound(at.button(key="trailgraph:yes-button").click().run())
    opened = trace_of(at)
    assert opened.result.stop.reason is StopReason.ANSWERED
    assert opened.steps[-1].target == trace.result.evidence[0]
    assert "Opened by the walk" in texts(at)
    assert "Did you mean that" not in texts(ask(at, ANSWERED))


def test_a_dead_end_says_so(bare, tmp_path):
    source = folder(tmp_path / "one", Lamp="# Lamp\n\nSwan made the lamp in Newcastle.\n")
    at = bare(trailgraph__shelf={"one": source})
    at = ask(at, FALLBACK)
    assert trace_of(at).result.stop.reason is StopReason.DEAD_END
    assert "neither children nor related" in at.warning[0].value


def test_a_trace_replays_without_its_notes(page, monkeypatch):
    trace = Trace.from_json(trace_of(page).to_json())
    _without_builtin(monkeypatch)
    at = go(trailgraph__opened=trace)
    assert "Shown from the file alone" in texts(at)
    (stage,) = data(at, "stage")
    assert len(stage["layouts"]["tree"]) == 81
    assert len(at.get("plotly_chart")) == 2


def test_hostile_notes_show_as_text(bare, tmp_path):
    bad = "<script>window.pwned = 1</script> ![x](http://evil/x.png) [go](javascript:alert(1))"
    source = folder(
        tmp_path / "bad", Lamp=f"# {bad}\n\nsummary: lamp {bad}\n\n## Content\n\nThe lamp. {bad}\n"
    )
    at = ask(bare(trailgraph__shelf={"bad": source}), "the lamp")
    for element in at.markdown:
        assert not element.allow_html
        assert "![" not in element.value
        assert "](javascript" not in element.value


# --- by hand ----------------------------------------------------------------------------------


def _step(at: AppTest, path_title: str, score: int) -> AppTest:
    radio = next(one for one in at.radio if one.key.startswith("trailgraph:hand:next"))
    at = radio.set_value(next(o for o in _paths(radio) if path_title in o)).run()
    slider = next(one for one in at.slider if one.key.startswith("trailgraph:hand:score"))
    at = slider.set_value(score).run()
    return sound(at.button(key="trailgraph:hand:go").click().run())


def _paths(radio) -> list[str]:
    """The options as the page passed them: paths, whatever they are called."""
    from tracert.ui.resources import workspace

    opened = workspace().open_notes(ROOT / "knowledge" / "notes", name=BUILTIN)
    return list(opened.paths)


def test_a_person_walks_and_sees_both_trails(page):
    at = ask(page, "Who sent news by pigeon?")
    at = sound(at.segmented_control(key="trailgraph:who").set_value("You are the agent").run())
    assert not data(at, "stage")  # nothing of the graph is given away
    at = _step(at, ENTRY, 80)
    assert "Telegraph" in [one.value for one in at.subheader]
    at = _step(at, HUB, 80)
    at = _step(at, LEAF, 98)
    (stage,) = data(at, "stage")
    assert stage["overlay"]["moves"] == [["query", ENTRY], [ENTRY, HUB], [HUB, LEAF]]
    assert "You took 3 hops" in texts(at)
    at = sound(at.button(key="trailgraph:hand:again").click().run())
    assert "You stand at the question" in [one.value for one in at.subheader]


def test_a_person_may_stop(page):
    at = sound(page.segmented_control(key="trailgraph:who").set_value("You are the agent").run())
    at = sound(at.button(key="trailgraph:hand:stop").click().run())
    assert "You took 0 hops" in texts(at)


# --- a model ----------------------------------------------------------------------------------


def _call(node: str, score: int) -> Reply:
    arguments = json.dumps({"node": node, "score": score, "reason": "it seems so"})
    return Reply("", (ToolCall("1", "get_knowledge_context", arguments),), 10, 5)


def _model(*script):
    made = _load("scripted_model").ScriptedModel(*script, name="tiny")
    return {"model__settings": ModelSettings(model="tiny"), "model__client": made}


@pytest.fixture
def home_again(home, monkeypatch):
    monkeypatch.setenv("TRACERT_HOME", str(home))


def test_a_model_is_asked_on_a_click_alone_and_its_walk_is_kept(home_again):
    state = _model(_call(ENTRY, 80), _call(HUB, 80), _call(LEAF, 98), "He did [1].")
    at = go(**state)
    assert state["model__client"].asked == []
    at = ask(at, "Who sent news by pigeon?")
    assert "the offline walk" in texts(at)
    at = sound(at.button(key="trailgraph:model").click().run())
    assert trace_of(at).result.path == ("query", ENTRY, HUB, LEAF)
    asked = len(state["model__client"].asked)
    assert trace_of(at).result.answer.source == "tiny"
    at = sound(at.run())
    assert len(state["model__client"].asked) == asked
    transcript = next(
        one for one in data(at, "cards") if any("call" in g for g in one.get("groups", []))
    )
    assert f'"{LEAF}", view="focused", score=98' in transcript["groups"][-1]["call"]


def test_a_model_that_fails_leaves_the_offline_walk(home_again):
    at = go(**_model(*[ModelError("The model is away. Start it.")] * 4))
    before = trace_of(at).result.path
    at = sound(at.button(key="trailgraph:model").click().run())
    assert "is away" in texts(at)
    assert "offline walk is shown" in texts(at)
    assert trace_of(at).result.path == before


# --- notes of a document ----------------------------------------------------------------------


def test_notes_are_made_edited_saved_and_walked(page):
    at = sound(page.selectbox(key="trailgraph:make:document").select_index(0).run())
    at = sound(at.button(key="trailgraph:make:go").click().run())
    made = at.session_state["trailgraph:made"]
    assert len(made) > 3
    title = next(field for field in at.text_input if field.label == "Title")
    title.set_value("Another title")
    at = sound(next(b for b in at.button if b.label == "Keep the changes").click().run())
    assert at.session_state["trailgraph:made"][0].title == "Another title"

    from tracert.knowledge.make import to_zip

    with zipfile.ZipFile(io.BytesIO(to_zip(at.session_state["trailgraph:made"]))) as archive:
        assert len(archive.namelist()) == len(made)
    at = sound(at.button(key="trailgraph:make:walk").click().run())
    assert at.selectbox(key="trailgraph:notes").value == "Another title (notes)"
