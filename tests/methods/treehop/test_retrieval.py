"""TreeHop's retrieval: by hand, by its properties, and against a plain brute force."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracert.methods.treehop.gates import ForgetRule
from tracert.methods.treehop.record import stop
from tracert.methods.treehop.retrieval import Found, places, retrieve
from tracert.methods.treehop.settings import TreeHopSettings

PLAIN = TreeHopSettings(
    k_per_hop=2, path_score=0.0, spawn=0, leave_comparisons=False, model="forget_rule"
)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def rules(found: Found) -> list[list[tuple[int, str]]]:
    return [[(hit.row, hit.rule) for hit in hits] for hits in found.hits]


# --- by hand ------------------------------------------------------------------------------

#: Passages at these angles in degrees; the question lies at 0. With gamma 0 the next query after
#: a passage is the passage itself, so that every cosine is that of a difference of angles.
ANGLES = [5, -11, 22, 33, -25]


def circle(angles: list[int]) -> np.ndarray:
    radians = np.deg2rad(np.array(angles, dtype=np.float64))
    return unit(np.stack([np.cos(radians), np.sin(radians)], axis=1))


def hop(**changes) -> Found:
    chosen = replace(PLAIN, **changes)
    return retrieve(ForgetRule(0.0), circle([0]), circle(ANGLES), chosen)[0]


def test_the_paper_by_hand() -> None:
    # Hop 1, question at 0: rows 0 (5 away) and 1 (11). Hop 2: the query at 5 finds row 0 again (0)
    # and row 1 (16; row 2 is 17 away), both retrieved before, so these branches end. The query at
    # -11 finds row 1 again and row 4 (14; row 0 is 16 away), which is new.
    found = hop()
    assert rules(found) == [
        [(0, "kept"), (1, "kept")],
        [(0, "redundant"), (1, "redundant")],
        [(1, "redundant"), (4, "kept")],
    ]
    assert found.rows == (0, 1, 4)


def test_three_a_hop_by_hand() -> None:
    # Hop 1: rows 0, 1, 2. Hop 2 from 5: rows 0, 1, 2 at 0, 16, 17. From -11: rows 1, 4, 0 at 0,
    # 14, 16. From 22: rows 2, 3, 0 at 0, 11, 17. New are row 3 at 11 and row 4 at 14.
    found = hop(k_per_hop=3)
    assert found.rows == (0, 1, 2, 3, 4)
    assert [query.rows for query in found.queries] == [(), (0,), (1,), (2,)]
    # Where only the first two spawn, nothing leads to row 3.
    assert hop(k_per_hop=3, spawn=2).rows == (0, 1, 2, 4)


def test_layer_pruning_keeps_the_best_over_all_queries() -> None:
    # Of 4 places one is kept for hop 2; new there are row 3, 11 from the query at 22, and row 4,
    # 14 from the query at -11. Row 3 is nearer.
    found = hop(k_per_hop=None, k=4, later_places=0.25)
    assert found.rows == (0, 1, 2, 3)
    last = {rule for hits in rules(found)[1:] for row, rule in hits if row == 4}
    assert last == {"layer_top_k"}


def test_the_path_score_prefers_the_better_parent() -> None:
    # As above, but the path counts: row 4 comes after row 1 (11 from the question), row 3 after
    # row 2 (22). The two are equal at cos 14 + w cos 11 = cos 11 + w cos 22.
    cos = {angle: np.cos(np.deg2rad(angle)) for angle in (11, 14, 22)}
    turn = (cos[11] - cos[14]) / (cos[11] - cos[22])
    assert hop(k_per_hop=None, k=4, later_places=0.25, path_score=turn - 0.01).rows[-1] == 3
    assert hop(k_per_hop=None, k=4, later_places=0.25, path_score=turn + 0.01).rows[-1] == 4


def test_few_spawn() -> None:
    found = hop(k_per_hop=3, spawn=1)
    assert [query.rows for query in found.queries] == [(), (0,)]
    assert rules(found)[0] == [(0, "kept"), (1, "not_spawned"), (2, "not_spawned")]
    assert all(hit.kept for hit in found.hits[0])


def test_without_redundancy_pruning_a_branch_goes_on() -> None:
    # Hop 2 finds rows 0 and 1 again, at no distance from the queries that they made, and the layer
    # keeps these two before row 4; both spawn again, though no passage counts twice. With the
    # pruning only row 4 goes on.
    off = hop(redundancy_pruning=False, hops=3)
    assert [query.rows for query in off.queries] == [(), (0,), (1,), (0,), (1,)]
    assert off.rows == (0, 1)
    on = hop(hops=3)
    assert [query.rows for query in on.queries] == [(), (0,), (1,), (4,)]


def test_without_layer_pruning_places_stay_free_for_later_hops() -> None:
    # Of 4 places 2 are kept: hop 1 takes rows 0 and 1. In hop 2 the query at -11 finds row 4 at 14
    # and the query at 5 finds row 2 at 17; both places are taken, and none is left in hop 3.
    found = hop(k_per_hop=None, k=4, later_places=0.5, hops=3, layer_pruning=False)
    assert found.rows == (0, 1, 4, 2)
    assert {rule for hits in rules(found)[3:] for _, rule in hits} == {"redundant", "budget"}


def test_growth_without_layer_pruning() -> None:
    # n queries of n passages each: 1, n, n^2 queries; with layer pruning 1, n, n.
    rng = np.random.default_rng(0)
    matrix, question = unit(rng.normal(size=(400, 32))), unit(rng.normal(size=(1, 32)))
    free = replace(PLAIN, k_per_hop=3, hops=3, redundancy_pruning=False, layer_pruning=False)
    found = retrieve(ForgetRule(0.3), question, matrix, free)[0]
    assert [sum(query.hop == n for query in found.queries) for n in (1, 2, 3)] == [1, 3, 9]
    bound = retrieve(ForgetRule(0.3), question, matrix, replace(free, layer_pruning=True))[0]
    assert [sum(query.hop == n for query in bound.queries) for n in (1, 2, 3)] == [1, 3, 3]


def test_growth_ends_at_the_bound_and_says_so() -> None:
    # 17 queries of 17 passages each would make 289 of hop 3; the best 256 are searched with.
    rng = np.random.default_rng(0)
    matrix, question = unit(rng.normal(size=(400, 32))), unit(rng.normal(size=(1, 32)))
    free = replace(PLAIN, k_per_hop=17, hops=3, redundancy_pruning=False, layer_pruning=False)
    found = retrieve(ForgetRule(0.3), question, matrix, free)[0]
    assert [sum(query.hop == n for query in found.queries) for n in (1, 2, 3)] == [1, 17, 256]
    assert found.cut
    best = sorted((hit.score for hits in found.hits[1:18] for hit in hits), reverse=True)[:256]
    spawned = [hit.score for hits in found.hits[1:18] for hit in hits if hit.rule == "kept"]
    assert sorted(spawned, reverse=True) == best
    assert "256 queries" in stop(found, free, len(matrix), alone=False).message


@pytest.mark.parametrize(
    ("k", "hops", "expected"),
    [
        (5, 2, [4, 1]),
        (8, 2, [6, 2]),
        (10, 2, [8, 2]),
        (10, 3, [8, 1, 1]),
        (10, 1, [10]),
        (1, 2, [1, 0]),
        (5, 4, [4, 1, 0, 0]),
    ],
)
def test_places(k: int, hops: int, expected: list[int]) -> None:
    assert places(TreeHopSettings(k=k), hops) == expected


def test_an_empty_corpus_brings_nothing() -> None:
    found = retrieve(ForgetRule(), circle([0]), np.empty((0, 2), np.float32), TreeHopSettings())[0]
    assert found.rows == ()
    assert len(found.queries) == 1


def test_places_that_no_hop_takes_are_filled_by_the_first() -> None:
    # Two passages in the whole corpus, two places, one of them kept for hop 2: the query after
    # row 0 finds rows 0 and 1, and row 1 is new. With all passages equal it is new as well. But
    # where only k passages exist nothing is left over.
    found = retrieve(
        ForgetRule(0.0), circle([0]), circle([5, -10]), TreeHopSettings(k=2, later_places=0.5)
    )[0]
    assert sorted(found.rows) == [0, 1]
    # Novelty of at least 1 is impossible here, so hop 2 brings nothing and hop 1 fills.
    filled = retrieve(
        ForgetRule(0.0),
        circle([0]),
        circle([5, -10]),
        TreeHopSettings(k=2, later_places=0.5, min_novelty=1.0),
    )[0]
    assert filled.rows == (0, 1)
    assert filled.filled == 1
    assert "low_novelty" in {hit.rule for hits in filled.hits for hit in hits}


def test_novelty_is_against_the_query_and_what_is_kept() -> None:
    # The question at 0 keeps rows 0 (at 5) and 1 (at -11); the query at -11 finds row 1 again and
    # row 4 (at -25). Row 4 is nearest to row 1 among the kept, 14 away, which is also its query.
    # Where gamma moves the query on, to norm(c - q), it lies nearer to row 4 than row 1 does.
    known = {hit.row: hit for hits in hop(novelty=0.5).hits[1:] for hit in hits}
    new = 1 - np.cos(np.deg2rad(14))
    assert known[4].novelty == pytest.approx(new)
    assert known[4].score == pytest.approx(known[4].similarity + 0.5 * new)
    moved = retrieve(ForgetRule(0.3), circle([0]), circle(ANGLES), replace(PLAIN, novelty=0.5))[0]
    hits = [hit for hits in moved.hits[1:] for hit in hits if hit.row == 4]
    assert all(hit.novelty <= 1 - hit.similarity + 1e-12 for hit in hits)
    assert any(hit.similarity > np.cos(np.deg2rad(14)) for hit in hits)
    # Where no setting asks for it, there is none to be told; nor in hop 1, which is plain top-k.
    assert {hit.novelty for hits in hop().hits for hit in hits} == {None}
    assert {hit.novelty for hit in hop(novelty=0.5).hits[0]} == {None}


@given(st.integers(0, 10_000), st.floats(0.1, 5.0))
@settings(max_examples=25, deadline=None)
def test_novelty_ranks_greedily(seed: int, weight: float) -> None:
    # By brute force: again and again the best of those left, each against all that is kept.
    rng = np.random.default_rng(seed)
    matrix, question = unit(rng.normal(size=(30, 4))), unit(rng.normal(size=(1, 4)))
    chosen = replace(PLAIN, k_per_hop=6, novelty=weight)
    found = retrieve(ForgetRule(0.3), question, matrix, chosen)[0]
    kept = [hit.row for hit in found.hits[0]]
    left = {(hit.row, hit.query): hit for hits in found.hits[1:] for hit in hits}
    for row in found.rows[6:]:
        worth = {
            place: hit.similarity
            + weight * (1 - max(hit.similarity, *(matrix[place[0]] @ matrix[kept].T)))
            for place, hit in left.items()
            if place[0] not in kept
        }
        best = max(worth, key=worth.__getitem__)
        assert worth[best] == pytest.approx(max(v for k, v in worth.items() if k[0] == row))
        kept.append(row)


def test_synthesis_makes_one_query_of_a_layer() -> None:
    found = hop(k_per_hop=3, synthesis="replace")
    assert [query.rows for query in found.queries] == [(), (0, 1, 2)]
    assert sum(found.queries[1].shares) == pytest.approx(1.0)
    # The nearer a passage is to the query, the more of it is in the context.
    assert list(found.queries[1].shares) == sorted(found.queries[1].shares, reverse=True)
    both = hop(k_per_hop=3, synthesis="add")
    assert [len(query.rows) for query in both.queries] == [0, 1, 1, 1, 3]


def test_breadth_follows_the_entropy() -> None:
    # One passage at the question and the rest far away: all the weight is on one. Four passages
    # alike: as uncertain as four.
    chosen = TreeHopSettings(k=5, spawn=4, adaptive_breadth=True)
    apart = circle([0, 80, 81, 82, 83, 84])
    alike = circle([10, -10, 10, -10, 80, 81])
    counts = [
        len(retrieve(ForgetRule(), circle([0]), matrix, chosen)[0].queries) - 1
        for matrix in (apart, alike)
    ]
    assert counts == [1, 4]


# --- properties ---------------------------------------------------------------------------


@st.composite
def cases(draw) -> tuple[np.ndarray, np.ndarray, TreeHopSettings]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size, dimension = draw(st.integers(1, 40)), draw(st.integers(2, 12))
    matrix = unit(rng.normal(size=(size, dimension)))
    if draw(st.booleans()):  # duplicates
        matrix = matrix[rng.integers(0, size, size)]
    questions = unit(rng.normal(size=(draw(st.integers(1, 4)), dimension)))
    values: Mapping[str, object] = {
        "k": draw(st.integers(1, 12)),
        "hops": draw(st.integers(1, 4)),
        "k_per_hop": draw(st.none() | st.integers(1, 4)),
        "path_score": draw(st.sampled_from([0.0, 2.0])),
        "later_places": draw(st.sampled_from([0.0, 0.2, 0.6])),
        "spawn": draw(st.integers(0, 3)),
        "redundancy_pruning": draw(st.booleans()),
        "layer_pruning": draw(st.booleans()),
        "synthesis": draw(st.sampled_from(["off", "replace", "add"])),
        "novelty": draw(st.sampled_from([0.0, 1.0])),
        "min_novelty": draw(st.sampled_from([0.0, 0.1])),
        "adaptive_breadth": draw(st.booleans()),
    }
    return questions, matrix, TreeHopSettings(**values)  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(cases())
def test_no_passage_twice_and_budgets_kept(case) -> None:
    questions, matrix, chosen = case
    for found in retrieve(ForgetRule(), questions, matrix, chosen):
        assert len(set(found.rows)) == len(found.rows)
        if chosen.k_per_hop is None:
            # Distinct passages may be fewer than rows only where rows are duplicates; rows count.
            assert len(found.rows) == min(chosen.k, len(matrix))
        elif chosen.layer_pruning:
            assert len(found.rows) <= chosen.k_per_hop * chosen.hops
        kept = {hit.row for hits in found.hits for hit in hits if hit.kept}
        assert kept == set(found.rows)
        assert len(found.hits) == len(found.queries)
        if chosen.redundancy_pruning:
            rows = [hit.row for hits in found.hits for hit in hits if hit.kept]
            assert len(set(rows)) == len(rows)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_a_batch_equals_one_by_one(case) -> None:
    questions, matrix, chosen = case
    together = retrieve(ForgetRule(), questions, matrix, chosen)
    for question, found in zip(questions, together, strict=True):
        alone = retrieve(ForgetRule(), question[None], matrix, chosen)[0]
        if near_tie(found):
            continue
        assert alone.rows == found.rows
        for one, many in zip(alone.queries, found.queries, strict=True):
            np.testing.assert_allclose(one.vector, many.vector, atol=1e-6)
        for one, many in zip(alone.hits, found.hits, strict=True):
            assert [hit.rule for hit in one] == [hit.rule for hit in many]


@settings(max_examples=40, deadline=None)
@given(cases(), st.integers(0, 2**32 - 1))
def test_permuting_the_corpus_changes_nothing_up_to_ties(case, seed: int) -> None:
    questions, matrix, chosen = case
    matrix = np.unique(matrix, axis=0)
    order = np.random.default_rng(seed).permutation(len(matrix))
    here = retrieve(ForgetRule(), questions, matrix, chosen)
    there = retrieve(ForgetRule(), questions, matrix[order], chosen)
    for one, other in zip(here, there, strict=True):
        if near_tie(one):
            continue
        assert list(one.rows) == [int(order[row]) for row in other.rows]


@settings(max_examples=40, deadline=None)
@given(cases())
def test_one_hop_is_plain_top_k(case) -> None:
    questions, matrix, chosen = case
    chosen = replace(chosen, hops=1, k_per_hop=None)
    for question, found in zip(
        questions, retrieve(ForgetRule(), questions, matrix, chosen), strict=True
    ):
        exact = matrix.astype(np.float64)
        exact /= np.linalg.norm(exact, axis=1, keepdims=True)
        similarity = exact @ (question.astype(np.float64) / np.linalg.norm(question.astype(float)))
        kept = similarity[list(found.rows)]
        expected = np.sort(similarity)[::-1][: chosen.k]
        np.testing.assert_allclose(kept, expected, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(cases())
def test_the_first_hop_is_a_beginning_of_plain_top_k(case) -> None:
    questions, matrix, chosen = case
    one = retrieve(ForgetRule(), questions, matrix, replace(chosen, hops=1))
    more = retrieve(ForgetRule(), questions, matrix, chosen)
    for single, found in zip(one, more, strict=True):
        first = [hit.row for hit in found.hits[0]]
        assert first == [hit.row for hit in single.hits[0]]


def near_tie(found: Found, gap: float = 1e-5) -> bool:
    """Whether a rounding could have turned a decision: two scores or similarities all but equal."""
    by_hop: dict[int, list[float]] = {}
    for query, hits in zip(found.queries, found.hits, strict=True):
        by_hop.setdefault(query.hop, []).extend(hit.score for hit in hits)
        similar = sorted(hit.similarity for hit in hits)
        if any(b - a < gap for a, b in itertools.pairwise(similar)):
            return True
    scores = [sorted(each) for each in by_hop.values()]
    return any(b - a < gap for each in scores for a, b in itertools.pairwise(each))


# --- brute force --------------------------------------------------------------------------


def brute_force(
    question: np.ndarray, matrix: np.ndarray, k: int, hops: int, gamma: float
) -> list[int]:
    """The paper's retrieval for one question, written plainly in float64."""
    matrix = matrix.astype(np.float64)
    layer, kept = [question.astype(np.float64)], []
    for _ in range(hops):
        found: list[tuple[float, int, int]] = []
        for place, query in enumerate(layer):
            similarity = matrix @ query
            best = np.argsort(-similarity, kind="stable")[:k]
            found += [(float(similarity[row]), int(row), place) for row in best]
        found.sort(key=lambda entry: (-entry[0], entry[1]))
        following = []
        for _, row, place in found:
            if row in kept or len(following) == k:
                continue
            kept.append(row)
            moved = matrix[row] - gamma * layer[place]
            following.append(moved / np.linalg.norm(moved))
        layer = following
    return kept


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
def test_the_paper_equals_brute_force(seed: int, k: int, hops: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, question = unit(rng.normal(size=(60, 8))), unit(rng.normal(size=(1, 8)))
    found = retrieve(ForgetRule(0.3), question, matrix, replace(PLAIN, k_per_hop=k, hops=hops))[0]
    if not near_tie(found):
        assert list(found.rows) == brute_force(question[0], matrix, k, hops, 0.3)
