"""Budgets, moves, hops and overlap, by hand on a circle where every cosine is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hop_traces import CIRCLE, hop_trace
from tests.methods.test_every_method import corpora, trace_of
from tests.methods.toy import ToyCorpus, run
from tests.note_traces import note_trace
from tracert.comparing import budget as budgets
from tracert.comparing.budget import entry, governed, settings_at
from tracert.comparing.moves import Move, hops, moves
from tracert.comparing.overlap import alone, gold_found, groups
from tracert.methods.base import parse_settings
from tracert.methods.registry import method, methods

CORPUS_METHODS = [name for name, one in methods().items() if one.needs == "corpus"]


def circle(*degrees: float) -> ToyCorpus:
    angles = np.deg2rad(np.array(degrees))
    return ToyCorpus(np.stack([np.cos(angles), np.sin(angles)], axis=1))


def at(degrees: float) -> np.ndarray:
    return np.array([np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))])


# --- the budget ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", methods())
@pytest.mark.parametrize("budget", [1, 2, 8, 50])
def test_every_method_takes_the_settings_of_every_budget(name, budget):
    kind = method(name).settings_type
    asked = settings_at(kind, {}, budget)
    assert governed(kind) >= set(asked)
    parse_settings(kind, asked)


def test_methods_with_a_number_of_passages_are_asked_for_the_budget():
    for name in ("native_rag", "treehop", "iterative_rewrite", "graph_rag"):
        assert settings_at(method(name).settings_type, {"k": 3}, 7) == {"k": 7}
    # TrailGraph answers from at most 20 notes, its setting's end.
    assert settings_at(method("trailgraph").settings_type, {}, 30) == {"evidence": 20}


def test_a_walk_gets_one_move_more_than_passages_so_that_it_can_still_enter_the_goal():
    kind = method("tracert_rag").settings_type
    assert settings_at(kind, {"alpha": 0.2}, 4) == {"alpha": 0.2, "max_hops": 5}
    # From the best of top-k: 3 seeds, the first of them the start, then 1 passage and the goal.
    best = {"start": "best", "seed_passages": 3}
    assert settings_at(kind, best, 4) == {"start": "best", "seed_passages": 3, "max_hops": 2}
    # One place is left to the walk at least.
    assert settings_at(kind, {"start": "best"}, 4)["seed_passages"] == 3


def test_a_walk_is_cut_in_the_order_of_walking_and_the_fill_up_is_kept_apart():
    # Question at 0, goal at 90 degrees, a passage each 20 degrees: the walk takes them in turn.
    corpus = circle(20, 40, 60, 80, 350)
    trace = run("tracert_rag", corpus, at(0), at(90), max_hops=9, min_passages=9)
    assert trace.result.evidence[:3] == ("toy:0", "toy:1", "toy:2")
    short = entry(trace, 2, ["toy:4", "toy:0", "toy:3"])
    assert short.own == ("toy:0", "toy:1")
    assert short.filled == ()
    one = entry(run("tracert_rag", corpus, at(0), at(90), max_hops=1), 3, ["toy:4", "toy:0"])
    # Of plain top-k's order what the walk found itself fills no second place.
    assert (one.own, one.filled) == (("toy:0",), ("toy:4",))
    assert (one.rank("toy:0"), one.rank("toy:4")) == (1, None)


@pytest.mark.parametrize("name", CORPUS_METHODS)
@given(corpora(), st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_no_method_is_credited_with_more_than_the_budget(name, made, budget):
    corpus, embed = made
    given_ = settings_at(method(name).settings_type, {}, budget)
    one = entry(trace_of(name, corpus, embed, "goal", **given_), budget, corpus.ids)
    assert len(one.own) <= budget
    assert not set(one.own) & set(one.filled)
    assert len(one.own) + len(one.filled) == min(budget, len(corpus.ids))
    # Whatever a method returns it reached by moves from the question.
    assert set(one.hops) == set(one.own)
    assert all(hop >= 1 for hop in one.hops.values())


# --- moves and hops -------------------------------------------------------------------------------


def test_plain_top_k_finds_everything_at_hop_1():
    trace = run("native_rag", circle(5, 10, 40), at(0), k=2)
    assert moves(trace) == (Move("query", "toy:0", 1), Move("query", "toy:1", 1))


def test_a_walk_finds_its_passages_one_hop_after_the_other():
    trace = run("tracert_rag", circle(20, 40, 60), at(0), at(70), max_hops=6)
    assert moves(trace) == (
        Move("query", "toy:0", 1),
        Move("toy:0", "toy:1", 2),
        Move("toy:1", "toy:2", 3),
        Move("toy:2", "goal", 4),
    )


def test_a_walk_from_the_best_finds_all_its_seeds_at_hop_1():
    trace = run("tracert_rag", circle(5, 350, 25, 45), at(0), at(60), start="best", seed_passages=2)
    reached = hops(trace)
    assert (reached["toy:0"], reached["toy:1"]) == (1, 1)
    assert reached["toy:2"] == 2  # from toy:0, the nearest seed


def test_the_hops_of_treehop_are_its_searches():
    # k 4 with one place for hop 2: rows 0, 1, 2 at hop 1, and row 3, which q3 finds from row 2.
    trace = hop_trace()
    reached = hops(trace)
    assert [reached[f"toy:{row}"] for row in (0, 1, 2, 3)] == [1, 1, 1, 2]
    assert Move("query", "hop:3", 1) in moves(trace)
    assert Move("hop:3", "toy:3", 2) in moves(trace)
    # The hop that searches with the question itself is the question.
    assert "hop:0" not in reached


def test_a_note_that_was_seen_but_not_entered_counts_one_hop_more():
    reached = hops(note_trace())
    assert [reached[path] for path in ("hub.md", "a.md", "leaf.md")] == [1, 2, 3]


# --- who found what -------------------------------------------------------------------------------


def entries(*found: tuple[str, tuple[int, ...]]):
    """Runs that found these rows of six, best first: top-k over rows in such an order."""
    made = []
    for name, rows in found:
        order = {row: place for place, row in enumerate(rows)}
        # The row that is to be best lies nearest to the question, and so on.
        corpus = circle(*(10 * order.get(row, 17) for row in range(6)))
        trace = run("native_rag", corpus, at(0), k=len(rows))
        assert trace.result.evidence == tuple(f"toy:{row}" for row in rows)
        one = entry(trace, len(rows))
        made.append(budgets.Entry(name, one.trace, one.budget, one.own, one.filled, one.hops))
    return made


def test_passages_stand_by_who_found_them_those_of_most_methods_first():
    a, b, c = entries(("a", (0, 1, 2)), ("b", (1, 0, 3)), ("c", (0, 4, 5)))
    found = [(group.methods, group.passages) for group in groups([a, b, c])]
    assert found == [
        (("a", "b", "c"), ("toy:0",)),
        (("a", "b"), ("toy:1",)),
        (("c",), ("toy:4", "toy:5")),  # larger than the other groups of one method
        (("a",), ("toy:2",)),
        (("b",), ("toy:3",)),
    ]
    assert alone([a, b, c]) == {"a": 1, "b": 1, "c": 2}


def test_a_group_is_ordered_by_best_rank_then_by_the_sum_of_ranks():
    a, b = entries(("a", (0, 1, 2)), ("b", (2, 1, 0)))
    # Best ranks 1, 2, 1; sums 4, 4, 4: rows 0 and 2 tie and stand by their ids.
    assert groups([a, b])[0].passages == ("toy:0", "toy:2", "toy:1")


def test_gold_is_found_at_the_earliest_hop_of_any_chunk_that_holds_it():
    one = entry(hop_trace(), 4, [f"toy:{row}" for row in range(6)])
    gold = [{"toy:3", "toy:2"}, {"toy:3"}, {"toy:5"}, set()]
    found = gold_found(one, gold)
    assert [(each.id, each.hop, each.filled) for each in found] == [
        ("toy:2", 1, False),
        ("toy:3", 2, False),
        (None, None, False),
        (None, None, False),
    ]


def test_a_fill_up_is_no_finding():
    one = entry(run("native_rag", circle(5, 10), at(0), k=1), 2, ["toy:0", "toy:1"])
    (found,) = gold_found(one, [{"toy:1"}])
    assert (found.id, found.hop, found.filled) == (None, None, True)
    assert [group.passages for group in groups([one])] == [("toy:0",)]


def test_the_circle_of_the_hops_is_what_these_tests_take_it_for():
    assert len(CIRCLE) == 6
