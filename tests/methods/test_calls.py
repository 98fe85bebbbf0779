"""What a method says of its calls of a language model before it makes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.methods.toy import ToyCorpus, ToyEmbedder
from tests.scripted_model import ScriptedModel
from tracert.methods.base import (
    AsksModel,
    Calls,
    Question,
    Resources,
    calls_of,
    collect,
    parse_settings,
)
from tracert.methods.registry import method, methods

OVER_PASSAGES = [name for name, one in methods().items() if one.needs == "corpus"]
#: Settings with which each method asks most, where the defaults ask less.
MORE = {"iterative_rewrite": {"rewrites": 3}, "graph_rag": {"search": "global"}}
TEXTS = [
    "Michael Faraday wound two coils. Humphry Davy had taught Michael Faraday.",
    "Humphry Davy was born in Penzance. Thomas Beddoes hired Humphry Davy.",
    "Thomas Beddoes worked in Bristol. Alessandro Volta wrote to Joseph Banks.",
    "Joseph Banks presided in London. Alessandro Volta made the pile in Como.",
]


@pytest.mark.parametrize("name", OVER_PASSAGES)
def test_a_method_asks_no_more_often_than_it_said(name, tmp_path: Path):
    chosen = method(name)
    corpus = ToyCorpus(np.eye(4), TEXTS)
    model = ScriptedModel(*(f"Look for text {number}" for number in range(300)), name=f"m-{name}")
    settings = parse_settings(chosen.settings_type, MORE.get(name, {}))
    told = calls_of(chosen, settings, corpus)
    resources = Resources(ToyEmbedder({}, 4), corpus, model, folder=tmp_path)
    prepared = chosen.prepare(Question("Who taught Michael Faraday?"), resources)
    walk = chosen.walk(prepared, settings, resources)
    collect(walk, method=name, question="?", prepared=prepared.cost)
    assert len(model.asked) <= told.of(1)
    # One that says nothing of calls makes none, and one that does makes some here.
    assert bool(model.asked) == isinstance(chosen, AsksModel)


def test_calls_of_several_questions_make_the_index_once():
    assert Calls(question=2, index=7).of(10) == 27
    assert Calls().of(10) == 0


def test_without_its_corpus_the_limits_of_the_settings_count():
    chosen = method("graph_rag")
    settings = parse_settings(chosen.settings_type, {"reading_calls": 9, "summary_calls": 4})
    assert calls_of(chosen, settings, None).index == 13
    # Four short passages are one block to read.
    assert calls_of(chosen, settings, ToyCorpus(np.eye(4), TEXTS)).index == 5
