"""Vectors that a file brings: used where the embedder makes the same, made anew elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from tests.toy_embedder import ToyEmbedder
from tracert.corpus.chunking import LONGEST, Chunking, chunk
from tracert.corpus.loaders import load_document
from tracert.embedding.base import CostEstimate
from tracert.indexing import File, index, reindex
from tracert.store.store import Store
from tracert.vectoring import Vectored, vectors_of

TEXTS = ["two coils on a ring", "a needle moves", "frogs twitch", "a spark is long", "gold"]


class PricedToy(ToyEmbedder):
    """One that costs money, so that it is not asked to compare."""

    def estimate(self, texts: Sequence[str]) -> CostEstimate:
        return CostEstimate(len(texts), 0, None, "")


def rows(
    vectors: npt.NDArray[np.float32], texts: Sequence[str] = TEXTS, **more: str
) -> list[dict[str, object]]:
    return [
        {"text": text, "vector": vector.tolist(), **more}
        for text, vector in zip(texts, vectors, strict=True)
    ]


def made(given: Sequence[object], embedder: ToyEmbedder) -> tuple[Vectored, list[str]]:
    """The vectors of such a file, and its passages."""
    data = "\n".join(json.dumps(row) for row in given).encode()
    document = load_document(data, "a.jsonl")
    chunks = chunk(document, Chunking(500, 0))
    found = vectors_of([document], [chunks], embedder, lambda _: None)
    assert found.rows.shape == (len(chunks), embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(found.rows, axis=1), 1, atol=1e-6)
    return found, [each.text for each in chunks]


def said(found: Vectored) -> str:
    (sentence,) = found.said.values()
    return sentence


def test_what_will_be_sent_out_is_told_before_it_is() -> None:
    document = load_document("\n".join(json.dumps({"text": text}) for text in TEXTS).encode(), "a")
    chunks = [chunk(document, Chunking(500, 0))]
    told: list[tuple[str, int]] = []
    priced = PricedToy()
    vectors_of(
        [document],
        chunks,
        priced,
        lambda _: None,
        lambda cost: told.append((cost.sentence, priced.texts)),
    )
    said = "5 passages with about 0 tokens will be sent out. "
    # At that moment nothing has been embedded.
    assert told == [(said + "What that costs at this address is not known here.", 0)]
    assert priced.texts == 5
    # One that runs on this machine has nothing to tell.
    vectors_of([document], chunks, ToyEmbedder(), lambda _: None, lambda _: pytest.fail("told"))
    # Nor has one that finds all vectors in the file.
    brought = "\n".join(map(json.dumps, rows(ToyEmbedder().embed(TEXTS), embedder=priced.name)))
    document = load_document(brought.encode(), "a.jsonl")
    chunks = [chunk(document, Chunking(500, 0))]
    vectors_of([document], chunks, priced, lambda _: None, lambda _: pytest.fail("told"))


@pytest.mark.parametrize(
    ("dollars", "said"),
    [
        (None, "What that costs at this address is not known here."),
        (0.0, "That costs nothing."),
        (0.02, "That costs about $0.0200 (prices of 2026-07)."),
    ],
)
def test_a_cost_is_a_sentence(dollars: float | None, said: str) -> None:
    cost = CostEstimate(1_200, 150_000, dollars, "2026-07")
    assert cost.sentence == (f"1,200 passages with about 150,000 tokens will be sent out. {said}")


def test_vectors_that_the_embedder_would_make_are_used() -> None:
    toy = ToyEmbedder()
    # Three times as long: what counts is the direction.
    own = 3 * toy.embed(TEXTS)
    toy.texts = 0
    found, _ = made(rows(own), toy)
    np.testing.assert_allclose(found.rows, own / 3, atol=1e-6)
    assert "5 vectors were used" in said(found)
    # Five of a sample, with titles and without; there are no titles here.
    assert toy.texts == 10


def test_with_a_title_both_ways_of_embedding_count() -> None:
    toy = ToyEmbedder()
    titled = [f"Title {text}\n{text}" for text in TEXTS]
    for own in (toy.embed(titled), toy.embed(TEXTS)):
        given = [
            {"title": f"Title {text}", "text": text, "vector": vector.tolist()}
            for text, vector in zip(TEXTS, own, strict=True)
        ]
        found, _ = made(given, toy)
        assert "were used" in said(found)
        np.testing.assert_allclose(found.rows, own, atol=1e-6)
    # Without vectors a passage is embedded with its title.
    found, _ = made([{"title": f"Title {text}", "text": text} for text in TEXTS], toy)
    np.testing.assert_allclose(found.rows, toy.embed(titled), atol=1e-6)
    assert found.said == {}


@pytest.mark.parametrize(
    ("vectors", "more", "word"),
    [
        (ToyEmbedder(version="2").embed(TEXTS), {}, "gives others"),
        (ToyEmbedder(8).embed(TEXTS), {}, "8 numbers, those of toy 16"),
        (ToyEmbedder().embed(TEXTS), {"embedder": "another"}, "of another, not of toy"),
    ],
)
def test_vectors_of_another_embedder_are_made_anew(
    vectors: npt.NDArray[np.float32], more: dict[str, str], word: str
) -> None:
    toy = ToyEmbedder()
    found, texts = made(rows(vectors, **more), toy)
    assert word in said(found)
    assert "made anew" in said(found)
    np.testing.assert_array_equal(found.rows, toy.embed(texts))


@pytest.mark.parametrize("name", ["toy", "toy-1/16"])
def test_a_priced_embedder_is_believed_by_its_name_alone(name: str) -> None:
    priced = PricedToy()
    own = priced.embed(TEXTS)
    priced.texts = 0
    found, _ = made(rows(own, embedder=name), priced)
    assert priced.texts == 0
    assert "not checked" in said(found)
    found, _ = made(rows(own), priced)
    assert "not said" in said(found)
    assert priced.texts == len(TEXTS)


def test_rows_without_a_vector_and_cut_rows_are_embedded() -> None:
    toy = ToyEmbedder()
    long = "word " * (LONGEST // 4)
    texts = [*TEXTS, long]
    given = rows(toy.embed(texts), texts)
    del given[1]["vector"]
    toy.texts = 0
    found, passages = made(given, toy)
    assert passages[:5] == TEXTS
    assert len(passages) > 6
    np.testing.assert_allclose(found.rows, toy.embed(passages), atol=1e-6)
    assert "4 vectors were used" in said(found)


def test_indexing_says_it_and_keeps_the_passages_through_a_reindex() -> None:
    store, toy = Store(), ToyEmbedder()
    data = "\n".join(json.dumps(row) for row in rows(toy.embed(TEXTS))).encode()
    report = index([File("a.jsonl", data)], store=store, name="Rows", embedder=toy)
    (file,) = report.files
    assert (file.status, file.kind, file.chunks) == ("indexed", "jsonl", 5)
    assert "5 vectors were used" in file.message
    again = index([File("a.jsonl", data)], store=store, name="Rows", embedder=toy)
    assert [(each.status, each.message) for each in again.files] == [("unchanged", "")]
    anew = reindex(store=store, name="Rows", embedder=toy, chunking=Chunking(7, 2))
    assert anew.chunks == 5
    with store.session() as session:
        page = next(iter(session.pages(store.corpus("Rows"))))
    assert [each.text for each in page.chunks] == TEXTS
