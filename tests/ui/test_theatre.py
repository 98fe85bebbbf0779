"""The theatre in each state of a trace, without a corpus: what an opened trace shows."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

STATES = {
    "many hops": {},
    "one hop": {"max_hops": 1},
    "dead end": {"delta": 0.05},
    "empty corridor": {"scale": 0.01},
    "no map": {"with_map": False},
}


def _show(trace):
    from tracert.ui import components
    from tracert.ui.live import Live
    from tracert.ui.views import theatre

    components.load()
    theatre.show(trace, Live(), key="t")


def run(trace) -> AppTest:
    at = AppTest.from_function(_show, kwargs={"trace": trace}, default_timeout=60).run()
    assert not at.exception
    return at


def data(at: AppTest, name: str) -> list[dict]:
    """What the components of that name were given."""
    found = [element.proto for element in at.get("bidi_component")]
    return [json.loads(one.json) for one in found if one.component_name == name]


def words(at: AppTest) -> str:
    return "\n".join(
        [e.value for kind in (at.text, at.caption, at.markdown, at.info) for e in kind]
    )


@pytest.mark.parametrize("state", STATES)
def test_every_state_of_a_trace_is_shown(toys, state):
    trace = toys.walk_trace(**STATES[state])
    at = run(trace)
    (stage,) = data(at, "tracert_stage")
    assert len(stage["frames"]) == len(trace.steps) + 1
    assert trace.result.stop.message in stage["frames"][-1]["say"]
    charts = at.get("plotly_chart")
    assert len(charts) == (0 if state == "no map" else 1)
    if state == "no map":
        assert "without a map" in words(at)
    if trace.result.evidence:
        assert "Extract" in words(at)
    else:
        assert "no answer" in words(at)


def test_the_formula_and_the_table_are_those_of_the_last_step(toys):
    trace = toys.walk_trace()
    at = run(trace)
    cost = trace.steps[-1].candidates[0].values["cost"]
    assert any(f"{cost:.3f}" in latex.value for latex in at.latex)
    table = at.dataframe[0].value
    assert len(table) == len(trace.steps[-1].candidates)
    assert next(iter(table["Rule"])) == "Chosen"


def test_the_map_has_the_path_of_the_frame(toys):
    trace = toys.walk_trace()
    spec = json.loads(run(trace).get("plotly_chart")[0].proto.spec)
    path = next(layer for layer in spec["data"] if layer.get("name") == "Path")
    assert [one[0] for one in path["customdata"]] == list(trace.result.evidence)


def test_hostile_text_is_text_everywhere(toys):
    trace = toys.walk_trace(text=toys.HOSTILE, document=toys.HOSTILE, question=toys.HOSTILE)
    at = run(trace)
    for element in at.get("markdown") + at.get("heading"):
        assert "<script" not in element.value
    assert not any(element.allow_html for element in at.markdown)
    (passage,) = data(at, "tracert_passage")
    assert "<script>" in "".join(text for _, text in passage["pieces"])


def test_an_answer_with_an_invented_citation_marks_it(toys):
    from dataclasses import replace

    from tracert.trace import Answer, Sentence

    trace = toys.walk_trace()
    answer = Answer((Sentence("So it was.", (trace.result.evidence[0],), ("9",)),), "tiny")
    at = run(replace(trace, result=replace(trace.result, answer=answer)))
    cards = [one for one in data(at, "tracert_cards") if "prose" in one]
    (sentence,) = cards[0]["prose"]
    assert sentence["unknown"] == ["9"]
    assert [cite["number"] for cite in sentence["cites"]] == ["1"]
    assert "Written by tiny" in words(at)
