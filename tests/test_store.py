"""The store: what is committed shows, what is not does not, whoever dies in between."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chromadb.api.client import Client

from tests.chroma_server import ChromaServer
from tests.toy_embedder import ToyEmbedder
from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import load_document
from tracert.corpus.model import Mark
from tracert.errors import CancelledError, CorpusError, StoreError
from tracert.inputs import source_of
from tracert.store import collections
from tracert.store.manifest import read_manifest, write_manifest
from tracert.store.records import CorpusRecord, DocumentRecord, Page, check_name, fingerprint
from tracert.store.store import Store

CHUNKING = Chunking(40, 10)


@pytest.fixture
def store(tmp_path: Path, everywhere: str) -> Store:
    return Store(tmp_path)


def page_of(text: str, name: str = "a.txt") -> Page:
    document = load_document(text.encode(), name)
    chunks = chunk(document, CHUNKING)
    vectors = ToyEmbedder().embed([each.text for each in chunks])
    marks: list[tuple[Mark, ...]] = [() for _ in chunks]
    marks[0] = document.marks
    return Page(chunks, vectors, marks)


def record_of(name: str, *parts: tuple[str, Page]) -> CorpusRecord:
    documents = tuple(
        DocumentRecord(
            name=page.chunks[0].document,
            kind="text",
            fingerprint=page.chunks[0].document_fingerprint,
            chunks=len(page.chunks),
            characters=page.chunks[-1].end,
            pages=None,
            part=part,
        )
        for part, page in parts
    )
    return CorpusRecord("", name, "toy", "toy-1/16", 16, CHUNKING, documents, 0.0, 0.0)


def write(store: Store, name: str, text: str) -> CorpusRecord:
    page = page_of(text)
    with store.session() as session:
        return session.commit(record_of(name, (session.fill(page), page)))


TEXT = "The lamp was lit by a pile of discs. " * 12


def test_a_corpus_shows_when_it_is_committed_and_not_before(store: Store) -> None:
    page = page_of(TEXT)
    with store.session() as session:
        part = session.fill(page)
        assert store.corpora() == []
        record = session.commit(record_of("Lamps", (part, page)))
    assert [each.name for each in store.corpora()] == ["Lamps"]
    assert store.corpus("Lamps") == record
    assert record.size == len(page.chunks)


def test_chunks_vectors_and_marks_come_back_as_they_went_in(store: Store) -> None:
    page = page_of(TEXT)
    with store.session() as session:
        record = session.commit(record_of("Lamps", (session.fill(page), page)))
        pages = list(session.pages(record))
    found = {
        each.id: (each, vector, marks)
        for page_ in pages
        for each, vector, marks in zip(page_.chunks, page_.vectors, page_.marks, strict=True)
    }
    assert len(found) == len(page.chunks)
    for each, vector, marks in zip(page.chunks, page.vectors, page.marks, strict=True):
        assert found[each.id][0] == each
        np.testing.assert_array_equal(found[each.id][1], vector)
        assert found[each.id][2] == marks


def test_a_part_that_no_commit_named_is_swept_by_the_next_write(store: Store) -> None:
    with store.session() as session:
        orphan = session.fill(page_of(TEXT))
    write(store, "Lamps", TEXT)
    with store.session() as session, pytest.raises(StoreError):
        list(session.pages(record_of("ghost", (orphan, page_of(TEXT)))))


def test_a_replaced_part_is_deleted_with_its_index(tmp_path: Path) -> None:
    store = Store(tmp_path)
    record = write(store, "Lamps", TEXT)
    other = page_of("Another text altogether, on frogs. " * 12)
    before = {path.name for path in (store.path / "store").iterdir() if path.is_dir()}
    with store.session() as session:
        part = session.fill(other)
        session.commit(replace(record, documents=record_of("x", (part, other)).documents))
        with pytest.raises(StoreError):
            list(session.pages(record))
    after = {path.name for path in (store.path / "store").iterdir() if path.is_dir()}
    # One corpus with one part, before and after: one folder of an index each time, another one.
    assert len(before) == len(after) == 1
    assert before != after


def test_a_document_that_the_manifest_dropped_is_not_read(store: Store) -> None:
    one, two = page_of(TEXT), page_of("Frogs' legs twitched. " * 9, "b.txt")
    both = Page(
        [*one.chunks, *two.chunks],
        np.concatenate([one.vectors, two.vectors]),
        [*one.marks, *two.marks],
    )
    with store.session() as session:
        part = session.fill(both)
        record = session.commit(record_of("Both", (part, one), (part, two)))
        fewer = session.commit(replace(record, documents=record.documents[1:]))
        left = [each.id for page in session.pages(fewer) for each in page.chunks]
    assert sorted(left) == sorted(each.id for each in two.chunks)


def test_cancelling_while_storing_leaves_nothing(store: Store) -> None:
    with store.session() as session, pytest.raises(CancelledError):
        session.fill(page_of(TEXT), cancelled=lambda: True)
    assert store.corpora() == []


def test_names_are_free_text_and_unique(store: Store) -> None:
    write(store, "Καφές & co. / 2026: «draft» 🐸", TEXT)
    write(store, "b", TEXT)
    with pytest.raises(CorpusError, match="already"):
        store.rename("b", "Καφές & co. / 2026: «draft» 🐸")
    store.rename("b", "  c ")
    assert {each.name for each in store.corpora()} == {"Καφές & co. / 2026: «draft» 🐸", "c"}


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "\x00", "x" * 201])
def test_a_name_that_cannot_be_shown_is_refused(store: Store, name: str) -> None:
    write(store, "a", TEXT)
    with pytest.raises(CorpusError, match="name"):
        store.rename("a", name)


def test_a_missing_corpus_is_an_error_that_names_the_others(store: Store) -> None:
    write(store, "Lamps", TEXT)
    with pytest.raises(CorpusError, match="'Lamps'"):
        store.corpus("lamp")


def test_the_fingerprint_depends_on_embedder_chunking_and_the_order_of_documents() -> None:
    prints = {
        fingerprint("e", CHUNKING, ["a", "b"]),
        fingerprint("e", CHUNKING, ["b", "a"]),
        fingerprint("f", CHUNKING, ["a", "b"]),
        fingerprint("e", Chunking(40, 11), ["a", "b"]),
        fingerprint("e", CHUNKING, ["a"]),
        fingerprint("e", Chunking(40, 10, sentences=True), ["a", "b"]),
    }
    assert len(prints) == 6
    assert fingerprint("e", Chunking(40, 10), ["a", "b"]) in prints


def test_a_manifest_of_a_thousand_documents_is_one_commit(store: Store) -> None:
    page = page_of(TEXT)
    with store.session() as session:
        part = session.fill(page)
        one = record_of("Many", (part, page))
        many = tuple(
            replace(one.documents[0], name=f"{i}-" + "n" * 80, fingerprint=f"{i:064x}")
            for i in range(1_000)
        )
        record = session.commit(replace(one, documents=many))
    assert Store(store.path).corpus("Many") == record


def test_a_folder_that_is_no_store_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("not a folder")
    with pytest.raises(StoreError, match="TRACERT_HOME"):
        Store(tmp_path).corpora()


def test_a_server_that_is_down_is_an_error_without_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMA_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("CHROMA_API_KEY", "sesame-123")
    with pytest.raises(StoreError, match="CHROMA_URL") as caught:
        Store(tmp_path).corpora()
    assert "sesame" not in str(caught.value)


# --- a server -----------------------------------------------------------------------------


def test_two_that_share_a_server_see_the_same(on_server: ChromaServer, tmp_path: Path) -> None:
    here, there = Store(tmp_path / "a"), Store(tmp_path / "b")
    record = write(here, "Lamps", TEXT)
    assert there.corpus("Lamps") == record
    assert not (tmp_path / "a" / "store").exists()
    page = page_of(TEXT)
    with there.session() as session:
        found = {each.id: each for page in session.pages(record) for each in page.chunks}
        assert found == {each.id: each for each in page.chunks}
    there.rename("Lamps", "Lights")
    assert [each.name for each in here.corpora()] == ["Lights"]
    with here.session() as session:
        session.delete(here.corpus("Lights"))
    assert there.corpora() == []


def test_on_a_server_what_another_machine_is_writing_is_not_swept(
    on_server: ChromaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = Store(tmp_path / "a"), Store(tmp_path / "b")
    page = page_of(TEXT)
    # Another machine has another lock and another owner; its part is filled, not yet committed.
    with monkeypatch.context() as other:
        other.setattr(collections, "_PROCESS", "another machine")
        with theirs.session() as session:
            part = session.fill(page)
    write(mine, "Mine", TEXT)
    with theirs.session() as session:
        session.commit(record_of("Theirs", (part, page)))
        assert sum(len(each.chunks) for each in session.pages(theirs.corpus("Theirs"))) > 0


def test_a_manifest_from_before_sources_were_kept_is_read() -> None:
    record = record_of("Old", ("part", page_of(TEXT)))
    data = json.loads(write_manifest(record))
    assert [document.pop("source") for document in data["documents"]] == [""]
    assert read_manifest("", json.dumps(data)) == record


def test_a_manifest_with_whole_paths_is_read_without_them() -> None:
    record = record_of("Old", ("part", page_of(TEXT)))
    for path in ("/home/ada/lamps/a.txt", "C:\\Users\\ada\\lamps\\a.txt"):
        document = replace(record.documents[0], source=path)
        read = read_manifest("", write_manifest(replace(record, documents=(document,))))
        assert read.documents[0].source == source_of(path)
        assert read.documents[0].source.startswith("a.txt#")
        assert "ada" not in write_manifest(read)
    upload = replace(record.documents[0], source="a.txt")
    assert read_manifest("", write_manifest(replace(record, documents=(upload,)))).documents == (
        upload,
    )


def test_a_name_is_one_however_its_letters_are_composed(store: Store) -> None:
    # 'é' as one character, and as 'e' with an accent behind it, which some systems type.
    whole, apart = "Caf\u00e9", "Cafe\u0301"
    assert check_name(apart) == whole
    write(store, whole, TEXT)
    assert store.corpus(apart).name == whole
    assert store.find(f" {apart} ") is not None
    assert store.rename(apart, apart).name == whole


def test_a_manifest_that_goes_while_it_is_read_is_read_anew(
    on_server: ChromaServer, cloud_quotas: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = Store(tmp_path / "a"), Store(tmp_path / "b")
    write(mine, "Lamps", TEXT)
    read = theirs._collections._apart
    asked: list[str] = []

    def renamed_meanwhile(client: Client, name: str) -> str:
        asked.append(name)
        if len(asked) == 1:
            mine.rename("Lamps", "Lights")  # a commit: the manifest that was named is swept
        return read(client, name)

    monkeypatch.setattr(theirs._collections, "_apart", renamed_meanwhile)
    assert [each.name for each in theirs.corpora()] == ["Lights"]
    assert len(set(asked)) == 2
    # What is known is not asked for again, as long as the head names it.
    assert [each.name for each in theirs.corpora()] == ["Lights"]
    assert len(asked) == 2


def test_a_store_that_cannot_be_opened_says_so_each_time_and_opens_once_it_can_be(
    tmp_path: Path,
) -> None:
    file = tmp_path / "store" / "chroma.sqlite3"
    file.parent.mkdir()
    file.write_bytes(b"no database at all" * 100)
    for _attempt in range(3):
        with pytest.raises(StoreError, match="cannot be used"):
            Store(tmp_path).corpora()
    file.unlink()
    assert Store(tmp_path).corpora() == []
