"""Where a passage fell, by hand: the rule, its number, the limit and the rank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.comparing.test_runs import CORPUS_METHODS, at, circle
from tests.hop_traces import CIRCLE, hop_trace
from tests.methods.test_every_method import corpora, trace_of
from tests.methods.toy import run
from tests.note_traces import note_trace
from tracert.comparing.budget import entry, settings_at
from tracert.comparing.fate import fate, named, reaches
from tracert.methods.registry import method


def test_below_k_tells_rank_number_and_limit():
    trace = run("native_rag", circle(5, 10, 20, 40), at(0), k=2)
    told = fate(entry(trace, 2), "toy:3")
    assert (told.kept, told.cut, told.filled) == (None, None, False)
    chance = told.closest
    assert (chance.rule, chance.hop, chance.rank, chance.of) == ("below_k", 1, 4, 4)
    assert chance.value == pytest.approx(np.cos(np.deg2rad(40)), abs=1e-6)
    assert chance.limit == pytest.approx(np.cos(np.deg2rad(10)), abs=1e-6)  # the second and last
    assert fate(entry(trace, 2), "toy:0").kept == 1


def test_words_decide_where_the_first_stage_counts_words():
    corpus = circle(5, 10, 20)
    trace = run("native_rag", corpus, at(0), k=1, first_stage="hybrid")
    chance = fate(entry(trace, 1), "toy:2").closest
    assert chance.key == "fused"
    assert chance.value < chance.limit


def test_a_walk_tells_the_nearest_miss_first():
    # From the question at 0 to the goal at 60: rows at 20 and 30 are open from the question,
    # and 30 costs less only where the penalty counts; alpha 0 takes the nearest, 20.
    corpus = circle(20, 30, 170)
    trace = run("tracert_rag", corpus, at(0), at(60), alpha=0.0, max_hops=1, delta=0.5)
    told = fate(entry(trace, 1), "toy:1")
    chance = told.closest
    assert (chance.rule, chance.key, chance.low) == ("dearer", "cost", True)
    assert chance.value == pytest.approx(1 - np.cos(np.deg2rad(30)), abs=1e-6)
    assert chance.limit == pytest.approx(1 - np.cos(np.deg2rad(20)), abs=1e-6)
    assert (chance.rank, chance.gap) == (2, pytest.approx(chance.value - chance.limit))


def test_delta_and_radius_are_the_limits_of_edge_and_corridor():
    corpus = circle(20, 50, 170)
    trace = run("tracert_rag", corpus, at(0), at(60), delta=0.1, max_hops=1, strict=True, alpha=0.0)
    edge = fate(entry(trace, 1), "toy:1").closest
    assert (edge.rule, edge.key, edge.limit) == ("no_edge", "distance", pytest.approx(0.1))
    assert edge.value == pytest.approx(1 - np.cos(np.deg2rad(50)), abs=1e-6)
    outside = fate(entry(trace, 1), "toy:2").closest
    assert (outside.rule, outside.key) == ("outside_radius", "distance_to_query")
    assert outside.limit == pytest.approx(1 - np.cos(np.deg2rad(60)), abs=1e-6)


def test_what_the_budget_cuts_is_told_by_its_place():
    trace = run("tracert_rag", circle(20, 40, 60), at(0), at(70), max_hops=6)
    told = fate(entry(trace, 1), "toy:2")
    assert (told.kept, told.cut, told.chances) == (None, 3, ())


def test_a_fill_up_is_told():
    trace = run("tracert_rag", circle(20, 300), at(0), at(25), max_hops=1)
    assert fate(entry(trace, 2, ["toy:0", "toy:1"]), "toy:1").filled


def test_treehop_tells_the_last_score_of_the_hop():
    # Rows 0, 1 and 2 take the three places of hop 1; row 4 is the fourth that the question sees.
    trace = hop_trace()
    told = fate(entry(trace, 4), "toy:4")
    chance = next(each for each in told.chances if each.hop == 1)
    assert (chance.rule, chance.step) == ("budget", 0)
    assert chance.value == pytest.approx(np.cos(np.deg2rad(25)), abs=1e-6)
    assert chance.limit == pytest.approx(np.cos(np.deg2rad(22)), abs=1e-6)
    # At hop 2 q2, which is row 1 at 11 degrees, sees it 14 away; row 3 lies 11 from row 2: nearer
    # to being kept than at hop 1, so told first.
    assert (told.closest.rule, told.closest.hop, told.closest.source) == (
        "layer_top_k",
        2,
        "hop:2",
    )
    assert told.closest.value == pytest.approx(np.cos(np.deg2rad(14)), abs=1e-6)
    assert told.closest.limit == pytest.approx(np.cos(np.deg2rad(11)), abs=1e-6)


def test_what_no_query_looked_at_is_told_by_its_rank_for_each_query():
    trace = hop_trace(k=2, later_places=0.5, spawn=1)
    one = entry(trace, 2)
    assert not named(trace, "toy:5")
    assert fate(one, "toy:5").chances == ()
    ids = [f"toy:{row}" for row in range(6)]
    found = reaches(trace, "toy:5", ids, CIRCLE.astype(np.float32))
    # At 60 degrees: from row 0, at 5 degrees, 55 away and the sixth of all; so for the question.
    by_query = {reach.query: reach for reach in found}
    assert by_query["hop:0"].rank == 6
    assert by_query["hop:0"].cosine == pytest.approx(0.5, abs=1e-6)
    assert by_query["hop:0"].looked_at == 2
    assert by_query["hop:1"].cosine == pytest.approx(np.cos(np.deg2rad(55)), abs=1e-6)
    assert [reach.rank for reach in found] == sorted(reach.rank for reach in found)


def test_a_note_on_offer_that_scored_less_tells_both_scores():
    trace = note_trace()
    told = fate(entry(trace, 1), "other.md")
    chance = told.closest
    assert (chance.rule, chance.value, chance.limit) == ("lower_score", 70, 80)


@pytest.mark.parametrize("name", CORPUS_METHODS)
@given(corpora())
@settings(max_examples=25, deadline=None)
def test_every_passage_of_every_method_has_a_fate(name, made):
    corpus, embed = made
    trace = trace_of(name, corpus, embed, "goal", **settings_at(method(name).settings_type, {}, 3))
    one = entry(trace, 3, corpus.ids)
    for id in corpus.ids:
        told = fate(one, id)
        assert (told.kept is not None) == (id in one.own)
        if told.kept is not None or told.cut is not None:
            assert told.chances == ()
        elif named(trace, id):
            chance = told.closest
            assert chance.rule in trace.steps[chance.step].counts
            assert chance.rank is None or 1 <= chance.rank <= max(chance.of, 1)
            gaps = [each.gap for each in told.chances if each.rule == chance.rule]
            assert gaps == sorted(gaps)
        elif name == "treehop":
            found = reaches(trace, id, corpus.ids, corpus.matrix)
            assert all(1 <= reach.rank <= len(corpus.ids) for reach in found)
            assert all(reach.rank > reach.looked_at for reach in found)
