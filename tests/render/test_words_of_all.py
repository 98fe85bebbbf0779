"""Every method of the registry can be told: a new one that has no words fails here."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.methods.toy import ToyCorpus, ToyEmbedder
from tracert.commands.trail import print_trail
from tracert.methods.base import Question, Resources, collect, parse_settings
from tracert.methods.registry import method, methods
from tracert.render.frames import frame, last
from tracert.render.words import words_for
from tracert.trace import NodeKind

TEXTS = [
    "Humphry Davy taught Michael Faraday in London. Davy met Alessandro Volta in Milan.",
    "Michael Faraday wrote to James Maxwell. Maxwell read Faraday in Aberdeen.",
    "Heinrich Hertz proved James Maxwell right in Karlsruhe.",
    "Alessandro Volta built a pile in Como. Luigi Galvani lived in Bologna.",
    "Luigi Galvani wrote to Alessandro Volta about frogs.",
    "A cable lay under the sea.",
]


def run(name, texts=TEXTS, **given):
    angles = np.radians(np.linspace(5, 80, len(texts)))
    corpus = ToyCorpus(np.stack([np.cos(angles), np.sin(angles)], axis=1), texts)
    chosen = method(name)
    goal = "goal" if name == "tracert_rag" else None
    resources = Resources(ToyEmbedder({"goal": [0, 1]}, 2), corpus)
    text = "Whom did Humphry Davy teach?"
    prepared = chosen.prepare(Question(text, goal), resources)
    walk = chosen.walk(prepared, parse_settings(chosen.settings_type, given), resources)
    return collect(walk, method=name, question=text, prepared=prepared.cost)


CASES = [
    ("graph_rag", {"search": "global"}),
    ("iterative_rewrite", {"rewrites": 2, "k": 4}),
    ("tracert_rag", {"start": "best", "seed_passages": 2}),
    *((name, {}) for name, one in methods().items() if one.needs == "corpus"),
]


@pytest.mark.parametrize("name", list(methods()))
def test_every_method_has_words(name):
    words = words_for(name)
    assert words.chapters.endswith(".")
    assert len({rule.name for rule in words.rules}) == len(words.rules)


@pytest.mark.parametrize(("name", "given"), CASES)
def test_every_frame_is_told_and_every_rule_is_known(name, given, capsys):
    trace = run(name, **given)
    words = words_for(name)
    known = {rule.name for rule in words.rules}
    for index in range(last(trace) + 1):
        said = words.caption(trace, frame(trace, index))
        assert said.endswith((".", "…”"))
        assert "None" not in said
        assert "n/a" not in said
    for step in trace.steps:
        assert {item.rule for item in step.candidates} | set(step.counts) <= known
    print_trail(trace)
    # The terminal breaks lines.
    assert trace.result.stop.message in " ".join(capsys.readouterr().out.split())


def test_the_steps_of_a_local_search_name_what_they_keep():
    trace = run("graph_rag")
    words = words_for("graph_rag")
    said = [words.caption(trace, frame(trace, index)) for index in range(last(trace) + 1)]
    assert "made offline, has" in said[0]
    # What the paper holds against it: the price before the first question.
    assert re.search(r"Making it took \S+ m?s and no call of a model, once\.", said[0])
    first = next(item for item in trace.steps[0].candidates if item.kept)
    kept = trace.steps[0].counts["kept"]
    assert f"{kept} entities, “{trace.node(first.id).label}”" in said[1]
    # Entities are no passages: a number belongs to a passage alone.
    numbered = frame(trace, last(trace)).order
    assert {trace.node(id).kind for id in numbered} == {NodeKind.CHUNK}


def test_a_rewritten_search_is_told_with_its_text():
    trace = run("iterative_rewrite", k=4)
    said = words_for("iterative_rewrite").caption(trace, frame(trace, 2))
    assert trace.steps[1].action == "rewrite"
    assert f"written offline: “{trace.node('hop:1').text}”" in said


# --- Tracert where there is no move, or none yet -------------------------------------------------


def caption(trace, index):
    return words_for("tracert_rag").caption(trace, frame(trace, index))


def test_an_empty_corridor_counts_no_goal_and_names_no_delta():
    trace = run("tracert_rag", strict=True, radius_scale=0.0)
    assert "holds none of the 6 passages" in caption(trace, 0)
    said = caption(trace, 1)
    assert "the corridor holds no passage" in said
    assert "candidate" not in said


@pytest.mark.parametrize(
    ("number", "told"), [(1, "1 unvisited passage is left"), (3, "3 unvisited passages are left")]
)
def test_a_dead_end_counts_passages_without_the_goal(number, told):
    # delta 0 joins nothing to the question, whose own place no passage has.
    trace = run("tracert_rag", TEXTS[:number], delta=0.0)
    said = caption(trace, 1)
    assert f"{told}, farther than delta 0.000" in said


def test_a_corridor_walked_to_its_end_says_that_all_is_visited():
    # The one passage is taken, and the goal may be entered after two alone.
    trace = run("tracert_rag", TEXTS[:1], delta=2.0, min_passages=2)
    assert "every passage of the corridor is visited" in caption(trace, 2)


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        (2, "Plain top-k takes the 2 passages nearest to the question. The walk goes on from"),
        (1, "Plain top-k takes the passage nearest to the question, "),
    ],
)
def test_a_start_from_the_best_is_told_as_such(seeds, told):
    trace = run("tracert_rag", start="best", seed_passages=seeds)
    assert "starts with passages of plain top-k" in caption(trace, 0)
    said = caption(trace, 1)
    assert said.startswith(told)
    assert "neighbours" not in said
