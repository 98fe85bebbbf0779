"""The judge, the costs and the table of prices as a person sees them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.graph_traces import baseline_trace
from tests.servers import ChatServer
from tracert.errors import SettingError
from tracert.home import home
from tracert.language.judge import CRITERIA
from tracert.language.prices import LISTED, Price, load, save
from tracert.trace import Answer, Cost, Sentence
from tracert.ui import model as session_model
from tracert.ui.prices import written
from tracert.ui.views.costs import rows
from tracert.ui.views.prices import table_of

ROOT = Path(__file__).resolve().parents[2]


def answered(name: str, text: str, source: str = "extract", **cost):
    trace = baseline_trace(name, with_map=False)
    answer = Answer((Sentence(text, ()),), source)
    spent = Cost({"walk": 0.5, "map": 9.0, "open": 9.0, "answer": 0.25}, **cost)
    return replace(trace, result=replace(trace.result, answer=answer), cost=spent)


def reply(best: str, a: int, b: int) -> str:
    marks = {"A": dict.fromkeys(CRITERIA, a), "B": dict.fromkeys(CRITERIA, b)}
    return json.dumps(marks | {"best": best})


def texts(at: AppTest) -> str:
    kinds = (at.text, at.caption, at.markdown, at.info, at.success, at.warning, at.error)
    return "\n".join(element.value for kind in kinds for element in kind)


# --- costs ------------------------------------------------------------------------------------


def test_costs_are_tokens_times_price_or_said_to_be_unknown():
    table = {"big": Price(2.0, 8.0)}
    traces = {
        "a": answered("native_rag", "x"),
        "b": answered(
            "native_rag", "x", "big", model_calls=1, prompt_tokens=1000, completion_tokens=500
        ),
        "c": answered("native_rag", "x", "small", model_calls=1, prompt_tokens=9),
        "d": answered("native_rag", "x", model_calls=2, prompt_tokens=1_000_000),
    }
    made = rows(traces, table, "big", str.upper)
    assert made["Method"] == ["A", "B", "C", "D"]
    # b: 1,000 * 2 / 1e6 + 500 * 8 / 1e6 = 0.006; d asked the session's model, 'big': 2 dollars.
    assert made["Cost"] == ["nothing", "$0.006", "unknown price", "$2.00"]
    assert made["Model"] == [None, "big", "small", "big"]
    # The map and the opening of the corpus are no part of the work.
    assert made["Seconds"] == [0.75] * 4
    assert made["Of it the answer"] == [0.25] * 4
    assert made["Calls"] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (None, "unknown price"),
        (0.0, "nothing"),
        (1.5, "$1.50"),
        (0.0012, "$0.0012"),
        (1e-6, "$0.000001"),
    ],
)
def test_dollars_as_text(dollars, text):
    assert written(dollars) == text


def _view(traces, settings=None):
    import streamlit as st

    from tracert.ui.views import costs, judge

    if settings is not None and "model:settings" not in st.session_state:
        st.session_state["model:settings"] = settings
    costs.show(traces, key="t")
    judge.show(traces, key="t")


def view(traces, server: ChatServer | None = None, **more) -> AppTest:
    settings = None
    if server is not None:
        settings = session_model.ModelSettings(
            base_url=server.url, model="tiny", key="k", retries=0, **more
        )
    at = AppTest.from_function(
        _view, kwargs={"traces": traces, "settings": settings}, default_timeout=60
    ).run()
    assert not at.exception
    return at


TWO = {
    "a": answered("native_rag", "Davy taught him."),
    "b": answered("graph_rag", "A man of science."),
}


def test_without_a_model_the_views_say_what_to_do():
    at = view(TWO)
    assert "No model was asked" in texts(at)
    assert "Name one in Settings" in texts(at)
    assert not at.button


def test_one_answer_cannot_be_compared():
    assert "two at least" in texts(view({"a": TWO["a"]}))
    silent = replace(TWO["b"], result=replace(TWO["b"].result, answer=None))
    assert "two at least" in texts(view({"a": TWO["a"], "b": silent}))


def test_a_judge_that_agrees_with_itself():
    with ChatServer() as server:
        server.say(reply("A", 8, 6), reply("B", 6, 8))
        at = view(TWO, server)
        assert server.calls == []
        at.button[0].click().run()
        assert not at.exception
        assert len(server.calls) == 2
        assert "Both rounds name" in at.success[0].value
        scores = next(one.value for one in at.dataframe if "Overall" in one.value)
        assert list(scores["Overall"]) == [8.0, 6.0]
        assert list(scores["Named the best"]) == ["in both rounds", ""]
        assert "moved by 0.00 points" in texts(at)
        # The server counts 12 tokens sent and 5 written a call; 'tiny' has no price.
        assert "The judge took 2 calls, 24 tokens sent, 10 written" in texts(at)
        assert "cost: unknown price" in texts(at)
        at.run()
        assert len(server.calls) == 2, "what was said is kept"


def test_a_judge_that_likes_the_first_is_shown_to_disagree():
    with ChatServer() as server:
        server.say(reply("A", 9, 7), reply("A", 9, 7))
        at = view(TWO, server)
        at.button[0].click().run()
        assert "The rounds disagree" in at.warning[0].value
        moved = next(one.value for one in at.dataframe if "Place, first round" in one.value)
        assert sorted(moved["Depth"]) == ["7 → 9", "9 → 7"]
        assert "moved by 2.00 points" in texts(at)


def test_a_judge_that_cannot_be_read_is_said_and_may_be_asked_again():
    with ChatServer() as server:
        server.say("I liked both.")
        at = view(TWO, server)
        at.button[0].click().run()
        assert "twice" in at.error[0].value
        assert at.button[0].label.startswith("Let")


def test_the_judge_keeps_to_the_budget():
    with ChatServer() as server:
        server.say(reply("A", 8, 6))
        at = view(TWO, server, calls=1)
        at.button[0].click().run()
        assert "budget" in at.error[0].value
        assert len(server.calls) == 1


def test_answers_of_the_judge_and_extracts_are_not_compared_unsaid():
    with ChatServer() as server:
        mixed = {**TWO, "c": answered("native_rag", "Mine.", "tiny", model_calls=1)}
        assert "the judge's own" in texts(view(mixed, server))
        assert "the judge's own" not in texts(view(TWO, server))


def test_hostile_names_and_answers_stay_text():
    evil = "<img src=x onerror=alert(1)> **bold** :red[x]"
    with ChatServer() as server:
        server.say(reply("A", 9, 7))
        at = view({evil: TWO["a"], "b": answered("native_rag", evil)}, server)
        at.button[0].click().run()
        assert not at.exception
        for element in (*at.success, *at.warning, *at.caption):
            assert "**bold**" not in element.value


# --- prices -----------------------------------------------------------------------------------


def test_the_editors_rows_become_prices():
    columns = {
        "Model": ["  a   model ", None, "", "free"],
        "Sent": [1.5, None, math.nan, 0.0],
        "Written": [3.0, None, None, math.nan],
        "As of": ["2026-11", None, None, None],
    }
    assert table_of(columns) == {"a model": Price(1.5, 3.0, "2026-11"), "free": Price(0.0)}
    with pytest.raises(SettingError, match="twice"):
        table_of({**columns, "Model": ["a", "a ", "", "b"]})
    with pytest.raises(SettingError, match="missing"):
        table_of({**columns, "Sent": [None, None, None, 1.0]})


def settings_page() -> AppTest:
    st.cache_resource.clear()
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    at.switch_page("pages/settings.py").run()
    assert not at.exception
    return at


def press(at: AppTest, label: str) -> AppTest:
    next(one for one in at.button if one.label == label).click().run()
    assert not at.exception
    return at


def test_prices_are_edited_kept_and_set_back(monkeypatch):
    monkeypatch.setattr("tracert.workspace.Workspace.ensure_builtin", lambda self: None)
    at = settings_page()
    assert "Back to the listed prices" not in [one.label for one in at.button]
    press(at, "Keep these prices")
    assert "The prices are kept" in texts(at)
    assert load(home()) == dict(LISTED)
    save({"my model": Price(1.0, 2.0, "2026-11")}, home())
    at.run()
    press(at, "Back to the listed prices")
    assert load(home()) == dict(LISTED)


def test_a_damaged_table_of_prices_is_said(monkeypatch):
    monkeypatch.setattr("tracert.workspace.Workspace.ensure_builtin", lambda self: None)
    (home() / "prices.json").write_text("{")
    at = settings_page()
    assert "Delete it" in texts(at)
    assert "Delete it" in texts(view(TWO))
    press(at, "Keep these prices")
    assert load(home()) == dict(LISTED)
