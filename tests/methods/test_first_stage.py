"""The first stages: rankings worked by hand, and fusion against plain sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods.toy import ToyCorpus, run
from tracert.errors import SettingError
from tracert.methods.first_stage import RRF_K, STAGES, fuse, rank
from tracert.trace import StopReason

#: By vector 0 is nearest to the question (1, 0), then 1, 2, 3. By words only 2 and 3 share
#: 'amber', and 2 is the shorter of the two.
CORPUS = ToyCorpus(
    [(1, 0), (3, 1), (2, 1), (1, 1)],
    ["a frog jumps", "a frog sits", "amber glass", "amber glass wire pile"],
)
QUESTION = np.array([1.0, 0.0], dtype=np.float32)


def test_dense_ranks_by_cosine() -> None:
    ranking = rank(CORPUS, "amber", QUESTION, "dense", 4)
    assert ranking.rows.tolist() == [0, 1, 2, 3]
    assert [set(values) for values in ranking.values] == [{"similarity"}] * 4
    assert ranking.values[3]["similarity"] == pytest.approx(1 / np.sqrt(2))


def test_bm25_ranks_by_words_and_leaves_out_who_shares_none() -> None:
    ranking = rank(CORPUS, "amber", QUESTION, "bm25", 4)
    assert ranking.rows.tolist() == [2, 3]
    assert [values["bm25_rank"] for values in ranking.values] == [1.0, 2.0]
    assert ranking.values[0]["similarity"] == pytest.approx(2 / np.sqrt(5))


def test_hybrid_by_hand() -> None:
    # Dense ranks 0, 1, 2, 3 are 1 to 4; BM25 has 2 and 3 on its ranks 1 and 2. So the sums are
    # 2: 1/63 + 1/61, 3: 1/64 + 1/62, 0: 1/61, 1: 1/62.
    ranking = rank(CORPUS, "amber", QUESTION, "hybrid", 4)
    assert ranking.rows.tolist() == [2, 3, 0, 1]
    expected = [1 / 63 + 1 / 61, 1 / 64 + 1 / 62, 1 / 61, 1 / 62]
    assert ranking.scores.tolist() == pytest.approx(expected, abs=1e-15)
    ranks = [(values["dense_rank"], values["bm25_rank"]) for values in ranking.values]
    assert ranks == [(3.0, 1.0), (4.0, 2.0), (1.0, None), (2.0, None)]


def test_without_a_shared_word_hybrid_is_dense() -> None:
    hybrid = rank(CORPUS, "telegraph", QUESTION, "hybrid", 4)
    assert hybrid.rows.tolist() == [0, 1, 2, 3]
    assert len(rank(CORPUS, "telegraph", QUESTION, "bm25", 4).rows) == 0


@given(st.lists(st.permutations(range(6)).map(lambda order: order[:4]), min_size=1, max_size=3))
def test_fusion_equals_the_sum_over_rankings(rankings: list[list[int]]) -> None:
    sums = {}
    for ranking in rankings:
        for place, row in enumerate(ranking, 1):
            sums[row] = sums.get(row, 0.0) + 1 / (RRF_K + place)
    rows, scores = fuse([np.array(ranking, dtype=np.intp) for ranking in rankings], 100)
    assert dict(zip(rows.tolist(), scores.tolist(), strict=True)) == pytest.approx(sums)
    assert (np.diff(scores) <= 1e-9).all()


def test_fusing_nothing_gives_nothing() -> None:
    assert fuse([], 5)[0].tolist() == []


def test_an_unknown_stage_is_named_with_those_that_exist() -> None:
    with pytest.raises(SettingError, match="dense, bm25, hybrid"):
        rank(CORPUS, "amber", QUESTION, "sparse", 4)


@pytest.mark.parametrize("stage", STAGES)
def test_ties_go_to_the_passage_that_stands_first(stage: str) -> None:
    corpus = ToyCorpus(np.tile([1.0, 0.0], (5, 1)), ["amber"] * 5)
    assert rank(corpus, "amber", QUESTION, stage, 3).rows.tolist() == [0, 1, 2]


# --- as a setting of plain top-k ------------------------------------------------------------


def test_native_rag_shows_the_numbers_of_its_first_stage() -> None:
    corpus = ToyCorpus(CORPUS.matrix, ["question of amber", "a frog", "a frog", "question"])
    trace = run("native_rag", corpus, (1, 0), k=2, first_stage="hybrid")
    # Dense 1, 2, 3, 4 for rows 0 to 3; the shorter passage 3 is BM25's first, 0 its second.
    assert trace.result.evidence == ("toy:0", "toy:3")
    best = trace.steps[0].candidates[0]
    assert best.values["fused"] == pytest.approx(1 / 61 + 1 / 62)
    assert best.reason == f"fused score at least {1 / 64 + 1 / 61:.4f}"
    assert trace.settings["first_stage"] == "hybrid"


def test_native_rag_by_bm25_keeps_only_who_shares_a_word() -> None:
    corpus = ToyCorpus(CORPUS.matrix, ["a frog", "a frog", "a frog", "question"])
    trace = run("native_rag", corpus, (1, 0), k=2, first_stage="bm25")
    assert trace.result.evidence == ("toy:3",)
    assert trace.steps[0].counts == {"kept": 1, "below_k": 3}
    assert trace.result.stop.reason is StopReason.NOTHING_NEW
    assert trace.result.stop.remedy
