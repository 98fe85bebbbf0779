"""Second vectors: where a graph has them, and that a changed note alone is embedded again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.knowledge.trees import CRM, note, write
from tests.toy_embedder import ToyEmbedder
from tracert.embedding.registry import embedder
from tracert.errors import EmbedderError
from tracert.knowledge import second
from tracert.knowledge.graph import KnowledgeGraph, open_graph
from tracert.knowledge.opened import prepared


@pytest.fixture
def graph(tmp_path: Path) -> KnowledgeGraph:
    return open_graph(write(tmp_path / "notes", dict(CRM)), data=tmp_path / "data")


def test_a_small_graph_of_wordllama_has_them(graph: KnowledgeGraph) -> None:
    opened = prepared(graph, embedder("wordllama"))
    assert opened.second is not None
    assert opened.second.embedder.name == "minilm-int8"
    assert opened.second.vectors.heads.shape == (len(graph.notes), 384)
    # The vectors that maps are fitted to stay those of the embedder that was named.
    assert opened.matrix.shape[1] == embedder("wordllama").dimension


def test_a_large_graph_has_none(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second, "TEXTS", second.texts(graph) - 1)
    assert second.second_vectors(graph, embedder("wordllama")) is None


def test_another_embedder_has_none_beside_it(graph: KnowledgeGraph) -> None:
    assert second.second_vectors(graph, ToyEmbedder()) is None


def test_without_the_package_the_first_vectors_do(
    graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> ToyEmbedder:
        class Missing(ToyEmbedder):
            def embed(self, texts, *, progress=None):
                raise EmbedderError("The embedder is not installed. Install it.")

        return Missing()

    monkeypatch.setattr(second, "embedder", missing)
    assert second.second_vectors(graph, embedder("wordllama")) is None


def test_the_number_of_texts_counts_heads_and_passages(tmp_path: Path) -> None:
    # One head each; a passage for every 500 characters begun: 1 + 1 for the short content of 9
    # characters, 1 + 3 for the long one of 1,200.
    notes = {
        "entry_points/A.md": note("A", content="Short one"),
        "entry_points/B.md": note("B", content="x" * 1_200),
    }
    graph = open_graph(write(tmp_path / "n", notes), data=tmp_path / "data")
    assert second.texts(graph) == 6
