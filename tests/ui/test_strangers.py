"""A sceptic in a public app: every page is opened at another visitor's things.

What was loaded by Ada holds a word that stands nowhere else; whatever Ben opens, by whatever
name, the word must not come to the browser in any element or component.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tracert.evaluation.datasets import Passage
from tracert.evaluation.gold_chain import GoldChain, to_jsonl
from tracert.evaluation.run import MethodPlan
from tracert.hosting import person_owner
from tracert.indexing import File
from tracert.trace import Trace
from tracert.ui import evaluating, visitor
from tracert.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
WORD = "zqsecretword"
TEXT = f"The lamp was lit by Ingrid Falk. Its oil was called {WORD}. " * 12
SHARED = "The lamp was lit by Ingrid Falk. Its oil came from Bergen. " * 12
NAME = "Ada's lamp"
ADA, BEN = person_owner("https://id", "ada"), person_owner("https://id", "ben")
QUESTION = "What was the oil of the lamp called?"


@pytest.fixture(autouse=True)
def _hosted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracert.workspace.Workspace._begin_fit", lambda self, snapshot: None)
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TRACERT_PUBLIC", "1")
    st.cache_resource.clear()
    st.cache_data.clear()
    Workspace().index([File("shared.txt", SHARED.encode())], "Shared")
    Workspace().owned_by(ADA).index([File("ada.txt", TEXT.encode())], NAME)


def be(who: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor, "owner", lambda: who)


def seen(page: str, query: Mapping[str, str], state: Mapping[str, Any] | None = None) -> str:
    """Everything that comes to the browser, as the messages that carry it."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)
    at.session_state["frame:in"] = True
    for name, value in (state or {}).items():
        at.session_state[name] = value
    for name, value in query.items():
        at.query_params[name] = value
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception, at.exception[0].value
    return "\n".join(str(getattr(each, "proto", "")) for each in at._tree)


PAGES = ["tracert_rag", "treehop", "baselines", "compare", "inspect", "library"]


@pytest.mark.parametrize("page", PAGES)
def test_no_page_shows_anothers_corpus_by_any_name(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Workspace().owned_by(ADA).corpus(NAME)
    if page not in ("library", "compare"):
        be(ADA, monkeypatch)
        own = seen(page, {"corpus": NAME, "question": QUESTION})
        assert WORD in own, "its owner sees it, so the search means something"
    be(BEN, monkeypatch)
    for name in (NAME, record.id, record.fingerprint):
        query = {"corpus": name, "at": record.fingerprint[:16], "question": QUESTION}
        assert WORD not in seen(page, query)


def test_a_trace_that_names_anothers_corpus_shows_what_it_holds_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    space = Workspace().owned_by(ADA)
    whole = space.ask(QUESTION, corpus=NAME, method="tracert_rag")
    # As an enemy would make it: all of the trace but the texts.
    made = Trace.from_json(whole.to_json().replace(WORD, "unknown"))
    be(BEN, monkeypatch)
    said = seen("tracert_rag", {}, {"tracert_rag:opened": made})
    assert "Opened trace" in said
    assert WORD not in said
    assert "Run it again here" not in said


def test_no_link_opens_anothers_evaluation_or_gold_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    be(ADA, monkeypatch)
    chain = GoldChain(f"What is {WORD}?", (Passage("Oil", f"The oil was {WORD}."),))
    evaluating.gold_sets().add(f"Set of {WORD}", chain)
    head = evaluating.runs().begin(
        title=f"Run of {WORD}",
        methods=[MethodPlan(f"Top-k {WORD}", "native_rag", {})],
        k=3,
        embedder="wordllama",
        ground={"kind": "pool"},
        seeds={},
        files={"data": ("q.jsonl", to_jsonl([chain], "q").encode())},
    )
    assert WORD in seen("evaluate", {"run": head.id})
    be(BEN, monkeypatch)
    assert WORD not in seen("evaluate", {"run": head.id})
    for way in (f"../visitors/{ADA.replace(':', '-')}/evaluations/{head.id}", "..", head.id + "/"):
        assert WORD not in seen("evaluate", {"run": way})
