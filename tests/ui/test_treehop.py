"""The TreeHop page in each state: its theatre on traces made by hand, and the page itself."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from tests.hop_traces import hop_trace

PAGE = "pages/treehop.py"
STATES = {
    "many hops": {},
    "one hop": {"hops": 1},
    "fused": {"synthesis": "replace"},
    "fewer chunks than k": {"rows": 2},
    "nothing": {"rows": 0},
    "no map": {"with_map": False},
}


def _replay(trace):
    from tracert.ui import components
    from tracert.ui.views import treehop

    components.load()
    treehop.replay(trace)


def replay(trace) -> AppTest:
    at = AppTest.from_function(_replay, kwargs={"trace": trace}, default_timeout=60).run()
    assert not at.exception
    return at


def texts(at: AppTest) -> str:
    kinds = (at.text, at.caption, at.markdown, at.info, at.warning, at.error, at.subheader)
    return "\n".join(element.value for kind in kinds for element in kind)


def data(at: AppTest, name: str) -> list[dict]:
    found = [element.proto for element in at.get("bidi_component")]
    return [json.loads(one.json) for one in found if one.component_name == name]


def charts(at: AppTest) -> list[dict]:
    return [json.loads(element.proto.spec) for element in at.get("plotly_chart")]


def table(at: AppTest, column: str):
    return next(one.value for one in at.dataframe if column in one.value)


# --- an opened trace --------------------------------------------------------------------------


@pytest.mark.parametrize("state", STATES)
def test_every_state_of_a_trace_replays_without_a_corpus(state):
    trace = hop_trace(**STATES[state])
    at = replay(trace)
    (stage,) = data(at, "tracert_stage")
    assert stage["branches"] is True
    assert len(stage["frames"]) == len(trace.steps) + 1
    assert trace.result.stop.message in stage["frames"][-1]["say"]
    assert ("without a map" in texts(at)) == (state == "no map")
    if trace.result.stop.remedy:
        assert trace.result.stop.remedy.split()[0] in texts(at)


def test_the_gates_show_how_the_query_that_found_the_passage_was_made():
    at = replay(hop_trace())
    # Opened on toy:3, which q3 found; q3 was made of the question and toy:2, passage 3.
    assert "q is the question, c is passage 3" in texts(at)
    assert "searched with it as q3" in texts(at)
    strips = next(chart for chart in charts(at) if len(chart["data"]) == 4)
    assert [one["name"] for one in strips["data"]] == ["q", "− Forget", "+ Update", "q′"]
    assert "passages whose vectors are nearest" in texts(at)  # the toy embedder has no words
    assert "Approximate" in texts(at)


def test_the_pair_of_the_finder_and_its_passage_is_one_click_away():
    at = replay(hop_trace())
    control = at.segmented_control[0]
    assert control.options == ["How q3 was made", "q3 with passage 4"]
    control.set_value(1).run()
    assert not at.exception
    assert "q is query q3, c is passage 4" in texts(at)
    assert "made no next query" in texts(at)


def test_the_pairs_follow_the_selection():
    from tracert.ui.session import View
    from tracert.ui.views.treehop_gates import pairs_of

    def pairs(trace, step, node):
        return [(one.query, one.passage) for one in pairs_of(trace, View("r", step, node))]

    trace = hop_trace()
    assert pairs(trace, 4, "hop:2") == [("hop:0", "toy:1")]
    assert pairs(trace, 4, "toy:1") == [("hop:0", "toy:1")]
    assert pairs(trace, 4, "toy:3") == [("hop:0", "toy:2"), ("hop:3", "toy:3")]
    # Nobody kept toy:4: the question found it first, and q2 again in its own search.
    assert pairs(trace, 4, "toy:4") == [("hop:0", "toy:4")]
    assert pairs(trace, 3, "toy:4") == [("hop:0", "toy:1"), ("hop:2", "toy:4")]
    assert pairs(trace, 0, "query") == [("hop:0", "toy:0")]
    assert pairs(hop_trace(synthesis="replace"), 2, "hop:1") == []
    assert pairs(hop_trace(rows=0), 1, None) == []


def test_only_words_that_can_be_read_here_stand_under_the_gates():
    import numpy as np

    from tracert.ui.views.treehop_gates import readable

    words, vectors = readable(["doctor", "дія", "Curaçao", "電池"], np.eye(4))
    assert words == ["doctor", "Curaçao"]
    np.testing.assert_array_equal(vectors, np.eye(4)[[0, 2]])


def test_a_trace_without_vectors_says_so():
    from tracert.trace import Trace

    at = replay(Trace.from_json(hop_trace().to_json(vectors=False)))
    assert "saved without vectors" in texts(at)


def test_weights_of_a_file_are_not_followed_from_a_trace():
    from dataclasses import replace

    trace = hop_trace()
    odd = replace(trace, settings={**trace.settings, "model": "/etc/passwd"})
    at = replay(odd)
    assert "passwd" in texts(at)
    assert "Run it again" in texts(at)


def test_similarities_and_plain_top_k_stand_beside():
    at = replay(hop_trace())
    assert list(table(at, "Found by")["Found by"]) == ["question", "question", "question", "q3"]
    groups = next(one["groups"] for one in data(at, "tracert_cards") if len(one["groups"]) == 3)
    assert [group["heading"] for group in groups] == [
        "Both found",
        "Only the hops found",
        "Only plain top-k found",
    ]
    assert [[item["id"] for item in group["items"]] for group in groups] == [
        ["toy:0", "toy:1", "toy:2"],
        ["toy:3"],
        ["toy:4"],
    ]


# --- the page ---------------------------------------------------------------------------------


def run_of(at: AppTest):
    assert not at.exception
    return at.session_state["treehop:run"][1]


def test_it_opens_on_hops_that_find_what_plain_top_k_misses(page):
    trace = run_of(page)
    assert len({step.values["hop"] for step in trace.steps}) == 2
    ours, plain = (float(metric.value) for metric in page.metric)
    assert ours > plain
    assert "built-in questions: recall" in texts(page)
    assert "words whose vectors are nearest" in texts(page)


def test_the_papers_settings_are_one_click_away_and_the_defaults_said(page):
    from tracert.methods.treehop import PAPER, TreeHopSettings
    from tracert.methods.treehop.settings import TreeHopSettings as Settings

    assert page.button(key="treehop:measured").disabled
    assert f"Path score: {Settings().path_score:g}, paper 0" in texts(page)
    page.button(key="treehop:paper").click().run()
    settings = run_of(page).settings
    assert {name: settings[name] for name in PAPER} == dict(PAPER)
    assert page.button(key="treehop:paper").disabled
    page.button(key="treehop:measured").click().run()
    default = TreeHopSettings()
    assert all(run_of(page).settings[name] == getattr(default, name) for name in PAPER)


def test_what_the_papers_budget_leaves_unused_cannot_be_moved(page):
    unused = ("treehop:k", "treehop:later_places")
    assert not any(page.slider(key=name).disabled for name in unused)
    page.button(key="treehop:paper").click().run()
    assert all(page.slider(key=name).disabled for name in unused)
    assert not page.slider(key="treehop:k_per_hop").disabled
    page.toggle(key="treehop:k_per_hop:on").set_value(False).run()
    assert not any(page.slider(key=name).disabled for name in unused)
    assert run_of(page).settings["k_per_hop"] is None


def test_a_setting_moved_hops_again_and_embeds_nothing(page, monkeypatch):
    from tracert.methods.treehop import TreeHop

    def never(*_):
        raise AssertionError("the question was prepared again")

    monkeypatch.setattr(TreeHop, "prepare", never)
    page.slider(key="treehop:hops").set_value(3).run()
    assert len({step.values["hop"] for step in run_of(page).steps}) == 3


def test_the_forget_rule_and_every_improvement_can_be_chosen(page):
    page.selectbox(key="treehop:model").set_value("forget_rule")
    page.selectbox(key="treehop:synthesis").set_value("add")
    page.checkbox(key="treehop:adaptive_breadth").set_value(True)
    page.selectbox(key="treehop:first_stage").set_value("hybrid").run()
    settings = run_of(page).settings
    chosen = ("model", "synthesis", "adaptive_breadth", "first_stage")
    assert [settings[name] for name in chosen] == ["forget_rule", "add", True, "hybrid"]
    assert "Forget rule" in texts(page)


def test_a_file_of_weights_that_is_not_there_is_one_sentence(page):
    page.selectbox(key="treehop:model").set_value("file").run()
    assert not page.exception
    assert "Type a path" in texts(page)
    page.text_input(key="treehop:model:path").set_value("/nowhere/<b>x.safetensors").run()
    assert not page.exception
    assert page.error[0].value
    assert "<b>" not in page.error[0].value


def test_a_comparison_is_left_alone_and_says_so(page):
    question = "Who was born first, Alessandro Volta or Luigi Galvani?"
    page.text_input(key="question").set_value(question).run()
    assert len(run_of(page).steps) == 1
    assert "compares two things" in texts(page)
    assert not page.metric  # no gold is known for it


def test_question_and_settings_stay_from_page_to_page(page):
    page.text_input(key="question").set_value("Who taught Faraday?").run()
    page.slider(key="treehop:k").set_value(5).run()
    page.switch_page("pages/tracert_rag.py").run()
    assert page.text_input(key="question").value == "Who taught Faraday?"
    assert page.session_state["tracert_rag:run"][1].question == "Who taught Faraday?"
    page.switch_page(PAGE).run()
    trace = run_of(page)
    assert (trace.question, trace.settings["k"]) == ("Who taught Faraday?", 5)


def test_with_nothing_loaded_it_leads_to_the_library(open_page, monkeypatch):
    monkeypatch.setattr("tracert.workspace.builtin_folder", lambda: None)
    monkeypatch.setattr("tracert.ui.resources.builtin_folder", lambda: None)
    assert "There is no corpus yet" in texts(open_page())


def test_a_trace_opens_and_closes(page):
    page.session_state["treehop:opened"] = hop_trace()
    page.run()
    assert "Shown from the file alone" in texts(page)
    (stage,) = data(page, "tracert_stage")
    assert len(stage["frames"]) == 5
    page.button(key="treehop:close").click().run()
    assert page.text_input(key="question").value
