"""The snapshot: the corpus as files, the same as its chunks whatever order they came in."""

from __future__ import annotations

import hashlib
import random
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toy_embedder import ToyEmbedder
from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.model import Chunk, Document, Mark
from tracert.errors import CorpusError, StoreError
from tracert.snapshot import Ids, Snapshot, build, folder_of, open_snapshot, refresh, text_of
from tracert.store.records import CorpusRecord, DocumentRecord, Page
from tracert.store.store import Store

texts = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=160
).filter(lambda text: not text.isspace())
chunkings = st.integers(1, 30).flatmap(
    lambda size: st.builds(Chunking, st.just(size), st.integers(0, size - 1), st.booleans())
)


def document(text: str, number: int) -> Document:
    half = len(text) // 2
    marks = (Mark(0, 1, ("A",)), Mark(half, 2, ("A", "B"))) if half else (Mark(0, None, ()),)
    print_ = hashlib.sha256(f"{number}:{text}".encode()).hexdigest()
    return Document(f"d{number}.txt", "text", text, marks, print_, 2)


def record_of(documents: list[Document], chunking: Chunking) -> CorpusRecord:
    entries = tuple(
        DocumentRecord(
            each.name, each.kind, each.fingerprint, len(chunk(each, chunking)),
            len(each.text), each.pages, "part",
        )
        for each in documents
    )  # fmt: skip
    return CorpusRecord("id", "Texts", "toy", "toy-1/16", 16, chunking, entries, 0.0, 0.0)


def rows_of(documents: list[Document], chunking: Chunking) -> list[Chunk]:
    return [each for doc in documents for each in chunk(doc, chunking)]


def pages_of(chunks: list[Chunk], size: int) -> list[Page]:
    return [
        Page(some, ToyEmbedder().embed([each.text for each in some]), [() for _ in some])
        for first in range(0, len(chunks), size)
        for some in [chunks[first : first + size]]
    ]


@settings(max_examples=40, deadline=None)
@given(st.lists(texts, min_size=1, max_size=4), chunkings, st.randoms(), st.integers(1, 9))
def test_every_row_is_its_chunk_whatever_the_order_of_arrival(
    tmp_path_factory: pytest.TempPathFactory,
    contents: list[str],
    chunking: Chunking,
    shuffler: random.Random,
    page: int,
) -> None:
    documents = [document(text, number) for number, text in enumerate(contents)]
    expected = rows_of(documents, chunking)
    arrived = list(expected)
    shuffler.shuffle(arrived)
    root = tmp_path_factory.mktemp("snapshots")
    record = record_of(documents, chunking)
    build(record, pages_of(arrived, page), root)
    snapshot = Snapshot(record, folder_of(root, record.fingerprint))

    assert list(snapshot.ids) == [each.id for each in expected]
    assert snapshot.chunks(range(len(expected))) == expected
    np.testing.assert_array_equal(
        snapshot.matrix, ToyEmbedder().embed([each.text for each in expected])
    )
    assert [snapshot.ids.row(each.id) for each in expected] == list(range(len(expected)))
    for each in documents:
        assert snapshot.document_text(each.fingerprint) == each.text


@settings(max_examples=60, deadline=None)
@given(texts, chunkings)
def test_a_text_is_put_together_from_its_chunks(text: str, chunking: Chunking) -> None:
    assert text_of(chunk(document(text, 1), chunking)) == text


def test_rows_are_given_in_the_order_asked_and_may_repeat(tmp_path: Path) -> None:
    documents = [document("abcdefghij", 1)]
    record = record_of(documents, Chunking(3, 1))
    expected = rows_of(documents, Chunking(3, 1))
    build(record, pages_of(expected, 2), tmp_path)
    snapshot = Snapshot(record, folder_of(tmp_path, record.fingerprint))
    assert snapshot.chunks([3, 0, 3]) == [expected[3], expected[0], expected[3]]
    assert snapshot.chunks([]) == []


def test_ids_know_their_rows_and_no_others() -> None:
    # Two documents of three and two chunks: rows 0 to 2 and 3 to 4.
    ids = Ids(["a" * 64, "b" * 64], [0, 3], 5)
    a, b = "a" * 12, "b" * 12
    assert list(ids) == [f"{a}:0", f"{a}:1", f"{a}:2", f"{b}:0", f"{b}:1"]
    assert ids[-1] == f"{b}:1"
    assert ids[1:4] == [f"{a}:1", f"{a}:2", f"{b}:0"]
    assert [ids.row(id) for id in (f"{b}:1", f"{a}:3", f"{b}:2", "query", "a:0", f"{a}:x")] == [
        4, None, None, None, None, None,
    ]  # fmt: skip
    with pytest.raises(IndexError):
        ids[5]


def test_the_matrix_cannot_be_written(tmp_path: Path) -> None:
    documents = [document("abcdefghij", 1)]
    record = record_of(documents, Chunking(3, 1))
    build(record, pages_of(rows_of(documents, Chunking(3, 1)), 2), tmp_path)
    snapshot = Snapshot(record, folder_of(tmp_path, record.fingerprint))
    with pytest.raises(ValueError, match="read-only"):
        snapshot.matrix[0, 0] = 1.0


def test_chunks_that_are_missing_make_no_snapshot(tmp_path: Path) -> None:
    documents = [document("abcdefghij", 1)]
    record = record_of(documents, Chunking(3, 1))
    with pytest.raises(StoreError, match="replace"):
        build(record, pages_of(rows_of(documents, Chunking(3, 1))[1:], 2), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_who_build_the_same_both_find_it(tmp_path: Path) -> None:
    documents = [document("abcdefghij" * 40, 1)]
    record = record_of(documents, Chunking(3, 1))
    pages = pages_of(rows_of(documents, Chunking(3, 1)), 50)
    together = threading.Barrier(4)
    errors: list[StoreError] = []

    def run() -> None:
        together.wait()
        try:
            build(record, pages, tmp_path)
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [path.name for path in tmp_path.iterdir()] == [
        folder_of(tmp_path, record.fingerprint).name
    ]
    assert len(Snapshot(record, folder_of(tmp_path, record.fingerprint)).ids) == record.size


def test_a_damaged_snapshot_says_what_to_do(tmp_path: Path) -> None:
    documents = [document("abcdefghij", 1)]
    record = record_of(documents, Chunking(3, 1))
    build(record, pages_of(rows_of(documents, Chunking(3, 1)), 2), tmp_path)
    folder = folder_of(tmp_path, record.fingerprint)
    (folder / "numbers.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(StoreError, match="snapshots"):
        Snapshot(record, folder)


def stored(store: Store, text: str) -> CorpusRecord:
    documents = [document(text, 1)]
    page = pages_of(rows_of(documents, Chunking(3, 1)), 10_000)[0]
    with store.session() as session:
        record = record_of(documents, Chunking(3, 1))
        part = session.fill(page)
        found = store.find("Texts")
        return session.commit(
            replace(
                record,
                id=found.id if found else "",
                documents=(replace(record.documents[0], part=part),),
            )
        )


def test_opening_builds_what_is_missing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    stored(store, "abcdefghij")
    assert not (tmp_path / "snapshots").exists()
    snapshot = open_snapshot(store, "Texts")
    assert snapshot.document_text(document("abcdefghij", 1).fingerprint) == "abcdefghij"
    with pytest.raises(CorpusError, match="open"):
        snapshot.document_text("02" * 32)


@pytest.mark.parametrize(
    "name", ["matrix.npy", "numbers.npy", "lengths.npy", "texts.bin", "headings.json"]
)
@pytest.mark.parametrize("content", [None, b"", b"[]", b"\x93NUMPY"])
def test_a_damaged_snapshot_is_made_again(tmp_path: Path, name: str, content: bytes | None) -> None:
    store = Store(tmp_path)
    record = stored(store, "abcdefghij")
    open_snapshot(store, "Texts")
    damaged = folder_of(tmp_path / "snapshots", record.fingerprint) / name
    if content is None:
        damaged.unlink()
    else:
        damaged.write_bytes(content)
    snapshot = open_snapshot(store, "Texts")
    assert snapshot.document_text(document("abcdefghij", 1).fingerprint) == "abcdefghij"
    assert snapshot.matrix.shape == (record.size, 16)


def test_snapshots_of_no_corpus_are_removed_and_open_ones_go_on(tmp_path: Path) -> None:
    store = Store(tmp_path)
    stored(store, "abcdefghij")
    old = open_snapshot(store, "Texts")
    (tmp_path / "snapshots" / ".making-of-a-crash").mkdir()
    changed = stored(store, "abcdefghijklm")
    with store.session() as session:
        refresh(store, session, "Texts")
    names = [path.name for path in (tmp_path / "snapshots").iterdir()]
    assert names == [folder_of(tmp_path, changed.fingerprint).name]
    assert old.document_text(document("abcdefghij", 1).fingerprint) == "abcdefghij"
