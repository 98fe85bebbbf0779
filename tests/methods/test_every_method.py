"""What holds for every method over a corpus; a new one in the registry inherits it all."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.methods.toy import ToyCorpus, ToyEmbedder
from tracert.errors import CorpusError, SettingError
from tracert.methods.base import Question, Resources, collect, parse_settings, settings_values
from tracert.methods.registry import method, methods
from tracert.trace import StopReason, Trace

NAMES = [name for name, one in methods().items() if one.needs == "corpus"]
WORDS = st.sampled_from(["amber", "Volta", "the pile", "wire", "Faraday's ring", "<b>bold</b>"])


@st.composite
def corpora(draw):
    dimension = draw(st.integers(2, 5))
    number = st.one_of(st.integers(-2, 2), st.floats(-1, 1, width=32))
    vector = st.lists(number, min_size=dimension, max_size=dimension).filter(
        lambda v: np.linalg.norm(v) > 1e-3
    )
    vectors = draw(st.lists(vector, max_size=14))
    vectors += draw(st.lists(st.sampled_from(vectors), max_size=3)) if vectors else []
    texts = [" ".join(draw(st.lists(WORDS, min_size=1, max_size=6))) for _ in vectors]
    known = {"question": draw(vector), "goal": draw(vector)}
    return (
        ToyCorpus(np.array(vectors, dtype=float).reshape(-1, dimension), texts),
        ToyEmbedder(known, dimension),
    )


def trace_of(name: str, corpus: ToyCorpus, embed: ToyEmbedder, goal: str | None = None, **given_):
    chosen = method(name)
    resources = Resources(embed, corpus)
    prepared = chosen.prepare(Question("question", goal), resources)
    walk = chosen.walk(prepared, parse_settings(chosen.settings_type, given_), resources)
    return collect(walk, method=name, question="question", prepared=prepared.cost)


def essence(trace: Trace) -> str:
    """The trace as JSON without the seconds, which differ from run to run."""
    return trace.to_json().replace(repr(trace.cost.seconds), "").split('"cost"')[0]


@pytest.mark.parametrize("name", NAMES)
@given(corpora(), st.sampled_from([None, "goal"]))
@settings(max_examples=60, deadline=None)
def test_trace_explains_itself(name, made, goal):
    corpus, embed = made
    trace = trace_of(name, corpus, embed, goal)
    named = [node.id for node in trace.nodes]
    assert len(set(named)) == len(named)
    known = set(named)
    for place, step in enumerate(trace.steps):
        assert step.index == place
        ids = [candidate.id for candidate in step.candidates]
        assert len(set(ids)) == len(ids), "a candidate is both kept and rejected"
        assert {step.source, *ids, *([step.target] if step.target else [])} <= known
        assert all(count >= 0 for count in step.counts.values())
        for rule in {candidate.rule for candidate in step.candidates}:
            listed = sum(candidate.rule == rule for candidate in step.candidates)
            assert step.counts[rule] >= listed
        assert all(candidate.reason for candidate in step.candidates)
    result = trace.result
    assert result.path[0] == "query"
    assert {*result.path, *result.evidence} <= known
    assert len(set(result.evidence)) == len(result.evidence)
    assert set(result.evidence) <= set(corpus.ids)
    assert isinstance(result.stop.reason, StopReason)
    assert result.stop.message.endswith(".")
    for node in trace.nodes:
        if node.kind == "chunk":
            row = corpus.ids.index(node.id)
            assert node.text == corpus.chunks([row])[0].text
            assert node.vector.tolist() == corpus.matrix[row].tolist()


@pytest.mark.parametrize("name", NAMES)
@given(corpora())
@settings(max_examples=25, deadline=None)
def test_trace_survives_json_and_is_the_same_again(name, made):
    corpus, embed = made
    trace = trace_of(name, corpus, embed)
    assert Trace.from_json(trace.to_json()).to_json() == trace.to_json()
    assert essence(trace_of(name, corpus, embed)) == essence(trace)


@pytest.mark.parametrize("name", NAMES)
def test_card_and_settings_can_be_shown(name):
    chosen = method(name)
    assert chosen.name == name
    assert chosen.title
    assert chosen.summary.endswith(".")
    for field in fields(chosen.settings_type):
        assert field.metadata["help"].endswith("."), field.name
        low, high = field.metadata["low"], field.metadata["high"]
        if field.default is not None and low is not None:
            assert field.default >= low
        if field.default is not None and high is not None:
            assert field.default <= high
    # The defaults, written as text as on a command line, read back as they were.
    defaults = settings_values(chosen.settings_type())
    written = {key: "none" if value is None else str(value) for key, value in defaults.items()}
    assert settings_values(parse_settings(chosen.settings_type, written)) == defaults


@pytest.mark.parametrize("name", NAMES)
def test_settings_in_force_cover_those_of_the_method(name):
    corpus = ToyCorpus(np.eye(3))
    trace = trace_of(name, corpus, ToyEmbedder({}, 3))
    known = {field.name for field in fields(method(name).settings_type)}
    assert set(trace.settings) >= known


@pytest.mark.parametrize("name", NAMES)
def test_without_a_corpus_it_says_what_to_do(name):
    chosen = method(name)
    embed = ToyEmbedder({}, 2)
    with pytest.raises(CorpusError):
        resources = Resources(embed)
        prepared = chosen.prepare(Question("question"), resources)
        list(chosen.walk(prepared, chosen.settings_type(), resources))


@pytest.mark.parametrize("name", NAMES)
def test_corpus_is_not_written_to(name):
    corpus = ToyCorpus(np.random.default_rng(1).normal(size=(30, 4)))
    corpus.matrix.flags.writeable = False
    before = corpus.matrix.copy()
    trace_of(name, corpus, ToyEmbedder({}, 4))
    assert (corpus.matrix == before).all()


def test_unknown_method_names_those_that_exist():
    with pytest.raises(SettingError, match=", ".join(methods())):
        method("magic")


def test_registry_begins_with_the_baseline():
    assert next(iter(methods())) == "native_rag"
    assert all(one.name == name for name, one in methods().items())
