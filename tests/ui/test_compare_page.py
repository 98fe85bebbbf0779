"""The Compare page in each of its states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tracert.errors import ModelError
from tracert.language.base import Reply

ROOT = Path(__file__).resolve().parents[2]
PAGE = "pages/compare.py"
WHY = "compare:why"


def texts(at: AppTest) -> str:
    kinds = (at.text, at.caption, at.markdown, at.info, at.warning, at.error, at.subheader)
    return "\n".join(element.value for kind in kinds for element in kind)


def plain(at: AppTest) -> str:
    """The texts without the marks that keep Markdown from reading them."""
    return texts(at).replace("\\", "")


def data(at: AppTest, kind: str) -> list[dict]:
    found = [element.proto for element in at.get("bidi_component")]
    made = [json.loads(one.json) for one in found if one.component_name == "tracert_compare"]
    return [one for one in made if one["kind"] == kind]


def cards(at: AppTest) -> dict[str, dict]:
    return {card["method"]: card for board in data(at, "board") for card in board["methods"]}


def charts(at: AppTest) -> list[dict]:
    return [json.loads(element.proto.spec) for element in at.get("plotly_chart")]


def methods(at: AppTest, *names: str) -> AppTest:
    at.pills(key="compare:methods").set_value(list(names)).run()
    assert not at.exception
    return at


ALL = ("native_rag", "tracert_rag", "treehop", "iterative_rewrite", "graph_rag")


def test_it_opens_on_three_methods_that_differ_in_the_gold_they_find(page):
    found = cards(page)
    assert list(found) == ["native_rag", "tracert_rag", "treehop"]
    hits = {
        name: sum(gold["hop"] is not None for gold in card["gold"]) for name, card in found.items()
    }
    assert hits["treehop"] == 3 > hits["native_rag"] > hits["tracert_rag"]
    # The gold that plain top-k misses TreeHop finds at its second hop.
    missed = next(gold for gold in found["native_rag"]["gold"] if gold["hop"] is None)
    assert found["treehop"]["gold"][missed["number"] - 1]["hop"] == 2
    # A walk that returned less than the budget says so, and that the fill-up is not its own.
    assert found["tracert_rag"]["note"].startswith("Returned 1 of 8.")
    assert "none counts" in found["tracert_rag"]["note"]


def test_the_matrix_holds_each_passage_once_with_its_ranks(page):
    (made,) = data(page, "matrix")
    rows = [row for group in made["groups"] for row in group["rows"]]
    assert len({row["id"] for row in rows}) == len(rows)
    for place, name in enumerate(("native_rag", "tracert_rag", "treehop")):
        ranks = [row["cells"][place]["rank"] for row in rows if row["cells"][place]]
        own = sorted(rank for rank in ranks if rank)  # 0 where plain top-k filled it in
        assert own == list(range(1, len(own) + 1)), name
    # In a group those that are dotted found all its rows, the others none of them.
    for group in made["groups"]:
        for row in group["rows"]:
            held = [bool(cell and cell["rank"]) for cell in row["cells"]]
            assert held == group["dots"]


def test_one_map_holds_a_layer_of_each_method_over_the_same_passages(page):
    methods(page, *ALL)
    (chart,) = charts(page)
    names = [layer.get("name") for layer in chart["data"]]
    for name in ("Gold", "Top-k", "Tracert", "TreeHop", "Rewriting", "Graph RAG"):
        assert names.count(name) == 1
    shapes = {
        layer["marker"]["symbol"]
        for layer in chart["data"]
        if layer.get("name") in ("Top-k", "Tracert", "TreeHop", "Rewriting", "Graph RAG")
    }
    assert len(shapes) == 5  # told apart without colours
    assert len(cards(page)) == 5
    assert any("index, once" in line for line in cards(page)["graph_rag"]["lines"])


def test_the_slider_drives_all_paths(page):
    slider = page.slider(key="compare:hop:2")
    assert "Hop 2 finds: Top-k +0 · Tracert +0 · TreeHop +2 (gold 2)" in texts(page)
    slider.set_value(0).run()
    assert "no passage is found yet" in texts(page)
    found = {layer["name"]: layer["x"] for layer in charts(page)[0]["data"] if "name" in layer}
    assert found["Top-k"] == found["TreeHop"] == [None]


def test_the_player_starts_at_the_question_and_can_be_stopped(page):
    page.button(key="compare:play").click().run()
    assert not page.exception
    assert page.button(key="compare:play").label == "Stop"
    assert page.slider(key="compare:hop:2").value < 2
    page.button(key="compare:play").click().run()
    assert page.button(key="compare:play").label == "Play"


def test_a_stage_each(page):
    page.segmented_control(key="compare:how").set_value("A stage each").run()
    assert not page.exception
    found = [one.proto for one in page.get("bidi_component")]
    assert sum(one.component_name == "tracert_stage" for one in found) == 3
    assert charts(page) == []


def test_one_budget_holds_for_all(page):
    page.slider(key="compare:budget").set_value(3).run()
    assert not page.exception
    found = cards(page)
    assert "3 passages found" in found["native_rag"]["lines"][0]
    assert "3 passages found" in found["treehop"]["lines"][0]
    assert all(
        len(row["cells"]) == 3
        for group in data(page, "matrix")[0]["groups"]
        for row in group["rows"]
    )


def test_with_no_method_it_asks_for_one(page):
    methods(page)
    assert "Choose a method" in texts(page)
    assert not data(page, "board")


def test_one_method_alone_is_shown_too(page):
    methods(page, "treehop")
    assert list(cards(page)) == ["treehop"]
    assert data(page, "matrix")[0]["groups"][0]["label"] == "found by TreeHop"


def test_a_question_without_gold_is_compared_without_it(page):
    page.text_input(key="question").set_value("Who laid the cable under the sea?").run()
    assert not page.exception
    assert cards(page)["native_rag"]["gold"] == []
    assert cards(page)["native_rag"]["big"] == "8"
    assert "Gold" not in [layer.get("name") for layer in charts(page)[0]["data"]]


def test_no_question_asks_for_one(page):
    page.text_input(key="question").set_value("").run()
    assert not page.exception
    assert "Type a question" in texts(page)


def test_settings_of_one_method_change_that_method_alone(page):
    before = cards(page)
    picker = next(one for one in page.segmented_control if "settings-of" in (one.key or ""))
    picker.set_value("tracert_rag").run()
    page.selectbox(key="compare:tracert_rag:start").set_value("best").run()
    assert not page.exception
    after = cards(page)
    assert after["tracert_rag"]["big"] != before["tracert_rag"]["big"]
    assert "Start best" in after["tracert_rag"]["lines"]
    assert after["treehop"]["gold"] == before["treehop"]["gold"]
    page.button(key="compare:reset:tracert_rag").click().run()
    assert cards(page)["tracert_rag"]["big"] == before["tracert_rag"]["big"]


# --- why not this passage -------------------------------------------------------------------------


def pick(at: AppTest, id: str) -> AppTest:
    at.session_state["compare:view"].node = id
    at.run()
    assert not at.exception
    return at


def missed_by_top_k(at: AppTest) -> str:
    (made,) = data(at, "matrix")
    rows = [row for group in made["groups"] for row in group["rows"]]
    return next(row["id"] for row in rows if row["gold"] and not row["cells"][0])


def test_where_it_fell_is_told_with_rule_numbers_and_rank(page):
    pick(page, missed_by_top_k(page))
    said = plain(page)
    assert "Below k at hop 1: its similarity is 0.169, the last that was kept has 0.254" in said
    assert "It ranks 67th of 263" in said
    assert "Found at hop 2" in said


def test_a_passage_is_found_by_its_words(page):
    page.text_input(key=f"{WHY}:find").set_value("laid across the ocean by a ship").run()
    assert not page.exception
    found = [one.proto for one in page.get("bidi_component")]
    lists = [json.loads(one.json) for one in found if one.component_name == "tracert_cards"]
    offered = next(one for one in lists if one.get("groups") and "empty" in one["groups"][0])
    assert len(offered["groups"][0]["items"]) == 6


def test_the_smallest_change_is_named_made_and_keeps_it(page):
    id = missed_by_top_k(page)
    pick(page, id)
    page.button(key=f"{WHY}:search").click().run()
    assert not page.exception
    said = plain(page)
    assert "Fewest passages from 1 to 2. Verified by running it; one step less does not" in said
    assert "First stage from dense to bm25. Verified by running it" in said
    page.button(key=f"{WHY}:apply:tracert_rag").click().run()
    assert not page.exception
    (made,) = data(page, "matrix")
    row = next(row for group in made["groups"] for row in group["rows"] if row["id"] == id)
    assert row["cells"][1]["rank"]
    assert "Fewest passages 2" in cards(page)["tracert_rag"]["lines"]
    # The search of the method that did not change is still there.
    assert "First stage from dense to bm25" in plain(page)


@pytest.mark.parametrize(
    ("setting", "after", "fits"),
    [("alpha", 2.0, True), ("delta", 1.2, True), ("delta", 1.5, False), ("budget", 51, False)],
)
def test_only_what_a_control_can_show_is_offered_as_a_change(setting, after, fits):
    from tracert.comparing.change import Change
    from tracert.ui.views.compare_strip import can_make

    assert can_make("tracert_rag", Change(setting, setting, 0.5, after, 0.1)) is fits


def test_what_no_setting_keeps_is_said(page):
    from tracert.ui import resources

    methods(page, "native_rag")
    snapshot = resources.workspace().open("The Long Spark")
    ranked = page.session_state["compare:plain:run"][1].steps[0].candidates
    far = next(id for id in snapshot.ids if id not in {item.id for item in ranked})
    pick(page, far)
    page.button(key=f"{WHY}:search").click().run()
    assert "No single setting keeps it" in plain(page)
    assert "a budget ends at 50" in plain(page)


def test_another_page_leads_here_with_its_question_and_passage(home, monkeypatch):
    monkeypatch.setenv("TRACERT_HOME", str(home))
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180).run()
    trace = at.session_state["tracert_rag:run"][1]
    id = at.session_state["tracert_rag:view"].node
    at.button(key="tracert_rag:compare").click().run()
    assert not at.exception
    assert at.session_state["compare:view"].node == id
    assert at.text_input(key="question").value == trace.question
    assert data(at, "matrix")[0]["selected"] == id


# --- with a model ---------------------------------------------------------------------------------


class Model:
    """Counts what it is asked and answers one line."""

    name = "toy"

    def __init__(self, fails: bool = False) -> None:
        self.calls = 0
        self.fails = fails

    def complete(self, messages, *, tools=(), max_tokens=800, on_text=None):
        self.calls += 1
        if self.fails:
            raise ModelError("The model is away. Try again.")
        return Reply(text="What did Nicholson found in 1797?", prompt_tokens=9, completion_tokens=3)


def with_model(at: AppTest, model: Model) -> AppTest:
    from tracert.ui.model import ModelSettings

    at.session_state["model:settings"] = ModelSettings(model="toy")
    at.session_state["model:client"] = model
    at.run()
    assert not at.exception
    return at


def test_a_model_is_asked_only_where_it_may_take_part_and_never_by_a_search(page):
    model = Model()
    methods(with_model(page, model), "native_rag", "iterative_rewrite")
    assert model.calls == 0
    page.toggle(key="compare:model").set_value(True).run()
    assert not page.exception
    asked = model.calls
    assert asked > 0
    assert "1 model call" in cards(page)["iterative_rewrite"]["lines"][1]
    pick(page, missed_by_top_k(page) if data(page, "matrix") else "")
    page.button(key=f"{WHY}:search").click().run()
    assert not page.exception
    assert model.calls == asked


def test_answers_are_written_by_the_model_on_demand(page):
    model = Model()
    methods(with_model(page, model), "native_rag", "treehop")
    page.button(key="compare:write").click().run()
    assert not page.exception
    assert model.calls == 2
    assert texts(page).count("By toy.") == 2


def test_a_model_that_fails_leaves_the_extracts(page):
    model = Model(fails=True)
    methods(with_model(page, model), "native_rag", "treehop")
    page.button(key="compare:write").click().run()
    assert not page.exception
    assert texts(page).count("Extract, word for word.") == 2


# --- the document beside the notes ----------------------------------------------------------------


def test_the_same_text_as_document_and_notes(page):
    page.segmented_control(key="compare:what").set_value(
        "The same text as document and notes"
    ).run()
    assert not page.exception
    found = cards(page)
    assert list(found) == ["tracert_rag", "treehop", "trailgraph"]
    assert all(card["gold"] for card in found.values())
    assert len(charts(page)) == 2
    said = texts(page)
    assert "As a document: 263 passages" in said
    assert "As a markdown graph: 80 notes" in said
    page.slider(key="compare:pair:budget").set_value(2).run()
    assert not page.exception
    assert "2 notes found" in cards(page)["trailgraph"]["lines"][0]


def test_why_not_this_note(page):
    page.segmented_control(key="compare:what").set_value(
        "The same text as document and notes"
    ).run()
    page.session_state["compare:pair:note:view"].node = "cables/Fleeming_Jenkin.md"
    page.run()
    page.button(key="compare:pair:note:why:search").click().run()
    assert not page.exception
    said = plain(page)
    assert "Fleeming Jenkin" in said
    assert "Verified by running it" in said or "No single setting keeps it" in said


def test_with_nothing_loaded_it_leads_to_the_library(open_page, monkeypatch):
    monkeypatch.setattr("tracert.workspace.builtin_folder", lambda: None)
    monkeypatch.setattr("tracert.ui.resources.builtin_folder", lambda: None)
    monkeypatch.setattr("tracert.ui.views.builtin.builtin_folder", lambda: None)
    monkeypatch.setattr("tracert.ui.notes.builtin_folder", lambda: None)
    at = open_page()
    assert "There is no corpus yet" in texts(at)
    at.segmented_control(key="compare:what").set_value("The same text as document and notes").run()
    assert not at.exception
    assert "The built-in text is not" in texts(at)
