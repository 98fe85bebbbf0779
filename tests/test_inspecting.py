"""What the inspector works out: by hand, against brute force, and bounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.toy_embedder import ToyEmbedder
from tracert import inspecting
from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import load_document
from tracert.embedding.registry import embedder
from tracert.indexing import File, index
from tracert.inspecting import alike, beside, cut, lengths, nearest, same, seconds_to_index
from tracert.snapshot import Snapshot, open_snapshot
from tracert.store.store import Store

CUT = Chunking(60, 20)
LAMP = "".join(f"The lamp number {n} was lit by a pile of discs.\n" for n in range(12))
FROG = "".join(f"The leg of frog {n} twitched at the touch of metal.\n" for n in range(9))


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    store = Store(tmp_path)
    files = [File("lamp.txt", LAMP.encode()), File("frog.txt", FROG.encode())]
    index(files, store=store, name="Lab", chunking=CUT, embedder=ToyEmbedder())
    return open_snapshot(store, "Lab")


def texts(snapshot: Snapshot) -> list[str]:
    return [each.text for each in snapshot.chunks(range(len(snapshot.ids)))]


# --- lengths ------------------------------------------------------------------------------


def test_lengths_are_counted_as_python_counts_them() -> None:
    found = lengths(["two words", "", "αβγ"], ToyEmbedder())
    assert found.characters.tolist() == [9, 0, 3]
    assert found.words.tolist() == [2, 0, 1]
    assert found.tokens is None
    assert found.cut_off == 0


def test_an_embedder_that_counts_tells_tokens_and_what_it_does_not_read() -> None:
    long = "word " * 300
    small = embedder("minilm-int8")
    found = lengths(["word", long], small)
    # One token a word, and the two that frame a text.
    assert found.tokens is not None
    assert found.tokens.tolist() == [3, 302]
    assert (found.most_tokens, found.cut_off) == (256, 1)
    # What is beyond the 256 changes nothing of the vector.
    one, other = small.embed([long, long + "and quite another end"])
    np.testing.assert_allclose(one, other, atol=1e-6)
    everything = lengths([long], embedder("wordllama"))
    assert everything.tokens is not None
    assert everything.tokens[0] >= 300
    assert (everything.most_tokens, everything.cut_off) == (None, 0)


# --- neighbours ---------------------------------------------------------------------------


def test_the_nearest_are_those_of_a_full_sort(snapshot: Snapshot) -> None:
    cosines = snapshot.matrix @ snapshot.matrix[3]
    order = sorted((-cosine, row) for row, cosine in enumerate(cosines.tolist()) if row != 3)
    found = nearest(snapshot, 3, 5)
    assert [each.row for each in found] == [row for _, row in order[:5]]
    assert [each.cosine for each in found] == pytest.approx([-c for c, _ in order[:5]])
    assert len(nearest(snapshot, 0, 10_000)) == len(snapshot.ids) - 1


def test_beside_a_passage_are_those_of_its_own_document(snapshot: Snapshot) -> None:
    lamp, frog = snapshot.record.documents
    assert beside(snapshot, 0)[0] is None
    assert beside(snapshot, lamp.chunks - 1)[1] is None
    assert beside(snapshot, lamp.chunks)[0] is None
    assert beside(snapshot, lamp.chunks + frog.chunks - 1)[1] is None
    before, after = beside(snapshot, 4)
    assert before is not None
    assert after is not None
    assert (before.row, after.row) == (3, 5)
    assert before.cosine == pytest.approx(float(snapshot.matrix[3] @ snapshot.matrix[4]))


# --- passages alike -----------------------------------------------------------------------


@pytest.mark.parametrize("overlapping", [True, False])
@pytest.mark.parametrize("threshold", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("block", [3, 1_024])
def test_pairs_are_those_of_two_loops(
    snapshot: Snapshot,
    threshold: float,
    overlapping: bool,
    block: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inspecting, "_BLOCK", block)
    chunks = snapshot.chunks(range(len(snapshot.ids)))
    expected = set()
    for left in range(len(chunks)):
        for right in range(left + 1, len(chunks)):
            one, other = chunks[left], chunks[right]
            shared = one.document == other.document and other.start < one.end
            near = float(snapshot.matrix[left] @ snapshot.matrix[right]) >= threshold
            if near and (overlapping or not shared):
                expected.add((left, right))
    found = alike(snapshot, threshold, overlapping=overlapping, most=10_000)
    assert {(pair.left, pair.right) for pair in found.pairs} == expected
    assert found.found == len(expected)
    cosines = [pair.cosine for pair in found.pairs]
    assert cosines == sorted(cosines, reverse=True)
    best = alike(snapshot, threshold, overlapping=overlapping, most=3)
    assert [pair.cosine for pair in best.pairs] == pytest.approx(cosines[:3])
    assert best.found == len(expected)


def test_of_a_large_corpus_some_are_compared_and_it_says_how_many(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspecting, "MOST_COMPARED", 5)
    found = alike(snapshot, -1.0, overlapping=True)
    assert (found.compared, found.passages) == (5, len(snapshot.ids))
    assert found.found == 10  # 5 * 4 / 2
    rows = {row for pair in found.pairs for row in (pair.left, pair.right)}
    assert {0, len(snapshot.ids) - 1} <= rows


def test_equal_texts_are_found_whatever_their_white_space() -> None:
    found = same(["a b", "c", "a\n b ", "d", "c", "a b"])
    assert found == [(0, 2, 5), (1, 4)]
    assert same(["a", "b"]) == []


# --- another cut --------------------------------------------------------------------------


@pytest.mark.parametrize("other", [Chunking(60, 20), Chunking(150, 0), Chunking(90, 30, True)])
def test_the_preview_is_what_the_cut_would_be(snapshot: Snapshot, other: Chunking) -> None:
    made = cut(snapshot, other)
    files = (("lamp.txt", LAMP), ("frog.txt", FROG))
    real = [c for name, text in files for c in chunk(load_document(text.encode(), name), other)]
    assert (made.passages, made.share) == (len(real), 1.0)
    assert made.characters.tolist() == [len(each.text) for each in real]
    assert set(made.sample) <= {each.text for each in real}
    assert made.sample


def test_of_a_large_corpus_a_part_is_cut_and_the_number_reckoned(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspecting, "MOST_CUT", 300)
    made = cut(snapshot, CUT)
    assert 0 < made.share < 1
    assert int(made.characters.sum()) < 600
    real = len(snapshot.ids)
    assert made.passages == pytest.approx(real, rel=0.35)


def test_the_time_grows_with_the_number_of_passages(snapshot: Snapshot) -> None:
    counted = ToyEmbedder()
    made = cut(snapshot, Chunking(20, 0))
    assert seconds_to_index(made, counted) >= made.passages / inspecting.STORED_A_SECOND
    # A first text to read what is read once, and the sample; never the whole corpus.
    assert counted.texts == 1 + len(made.sample)
