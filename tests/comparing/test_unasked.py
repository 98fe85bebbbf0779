"""A method whose model is silenced: what needs no new reply walks as ever, the rest says so."""

from __future__ import annotations

import numpy as np
import pytest

from tests.methods.toy import ToyCorpus, ToyEmbedder
from tests.scripted_model import ScriptedModel
from tracert.comparing.unasked import AskedAgain, Unasked
from tracert.errors import SettingError
from tracert.methods.base import Method, Question, Resources, collect, parse_settings
from tracert.methods.registry import method
from tracert.trace import Trace

CORPUS = ToyCorpus(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], dtype=np.float32))


def walked(one: Method, model: ScriptedModel | None) -> Trace:
    resources = Resources(ToyEmbedder({"question": (1.0, 0.0)}, 2), CORPUS, model=model)
    prepared = one.prepare(Question("question", None), resources)
    walk = one.walk(prepared, parse_settings(one.settings_type, {"k": 2}), resources)
    return collect(walk, method=one.name, question="question", prepared=prepared.cost)


def test_a_walk_that_would_ask_the_model_ends_and_asks_nothing():
    model = ScriptedModel("never said")
    with pytest.raises(AskedAgain, match="scripted would be asked anew"):
        walked(Unasked("iterative_rewrite"), model)
    assert model.asked == []


def test_a_walk_that_asks_nothing_is_the_method_s_own():
    ours = walked(Unasked("native_rag"), ScriptedModel())
    theirs = walked(method("native_rag"), ScriptedModel())
    assert ours.result == theirs.result
    assert [step.candidates for step in ours.steps] == [step.candidates for step in theirs.steps]


def test_a_method_that_is_none_is_refused():
    with pytest.raises(SettingError, match="There is no method 'nothing'"):
        Unasked("nothing")
