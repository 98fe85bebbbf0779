"""BM25 against its formula; vectors kept, and made anew for changed notes alone."""

from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.knowledge.trees import CRM, note, write
from tests.toy_embedder import ToyEmbedder
from tracert.knowledge.graph import open_graph
from tracert.knowledge.lexical import K1, B, Lexicon
from tracert.knowledge.opened import open_for_walk
from tracert.knowledge.vectors import PASSAGES, note_vectors, passages

WORDS = st.lists(st.sampled_from("abcdef"), max_size=8).map(" ".join)


def plain_bm25(texts: list[str], query: list[str], row: int) -> float:
    """The formula of the docstring, term by term."""
    bags = [Counter(text.split()) for text in texts]
    mean = max(sum(sum(bag.values()) for bag in bags) / len(bags), 1.0)
    total = 0.0
    for term in set(query):
        held = sum(term in bag for bag in bags)
        idf = log(1 + (len(bags) - held + 0.5) / (held + 0.5))
        f, length = bags[row][term], sum(bags[row].values())
        if f:
            total += idf * f * (K1 + 1) / (f + K1 * (1 - B + B * length / mean))
    return total


@given(st.lists(WORDS, min_size=1, max_size=7), WORDS.map(str.split))
def test_scores_are_the_formula(texts: list[str], query: list[str]) -> None:
    lexicon = Lexicon.of(texts)
    expected = [plain_bm25(texts, query, row) for row in range(len(texts))]
    assert lexicon.scores(query) == pytest.approx(expected, abs=1e-5)
    again = Lexicon.from_arrays(lexicon.to_arrays())
    assert again.scores(query) == pytest.approx(expected, abs=1e-5)
    assert [again.weight(term) for term in "abz"] == [lexicon.weight(term) for term in "abz"]


def test_vectors_are_kept_and_a_changed_note_alone_is_embedded(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", CRM)
    embedder = ToyEmbedder()
    first = note_vectors(open_graph(folder), embedder)
    assert embedder.texts == 12  # a head and one passage for each of six notes
    again = note_vectors(open_graph(folder), embedder)
    assert embedder.texts == 12
    assert np.array_equal(again.heads, first.heads)
    (folder / "sales/Lead.md").write_text(
        note("Lead", parent="sales/Sales.md", content="Quite other content."), encoding="utf-8"
    )
    graph = open_graph(folder)
    changed = note_vectors(graph, embedder)
    assert embedder.texts == 14
    place = list(graph.notes).index("sales/Lead.md")
    assert not np.allclose(changed.passages[place], first.passages[place])
    others = [row for row in range(6) if row != place]
    assert np.array_equal(changed.heads[others], first.heads[others])


def test_another_embedder_has_vectors_of_its_own(tmp_path: Path) -> None:
    graph = open_graph(write(tmp_path / "g", CRM))
    assert note_vectors(graph, ToyEmbedder(8)).heads.shape == (6, 8)
    assert note_vectors(graph, ToyEmbedder(16)).heads.shape == (6, 16)


def test_torn_vectors_are_made_anew(tmp_path: Path) -> None:
    graph = open_graph(write(tmp_path / "g", CRM))
    first = note_vectors(graph, ToyEmbedder())
    for file in graph.index.place.glob("vectors-*.npy"):
        file.write_bytes(file.read_bytes()[:40])
    assert np.array_equal(note_vectors(graph, ToyEmbedder()).heads, first.heads)


def test_the_fingerprint_follows_from_notes_and_embedder(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", CRM)
    infos = [open_for_walk(folder, embedder).info for embedder in (ToyEmbedder(8), ToyEmbedder(16))]
    assert infos[0].fingerprint != infos[1].fingerprint
    assert (infos[0].size, infos[0].dimension, infos[0].name) == (6, 8, "g")


@given(st.lists(st.text("ab .", max_size=900), max_size=12))
def test_passages_hold_every_word_once(blocks: list[str]) -> None:
    content = "\n\n".join(blocks)
    found = passages(content)
    assert "".join("".join(found).split()) == "".join(content.split())
    assert all(piece.strip() or not content.strip() for piece in found)


def test_a_very_long_note_is_cut_into_longer_passages() -> None:
    content = "\n\n".join("word " * 90 for _ in range(1_000))
    assert len(passages(content)) <= 2 * PASSAGES
