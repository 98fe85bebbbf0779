"""Indexing: what a file becomes, what stays, what a cancel or a refusal leaves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toy_embedder import ToyEmbedder
from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import load_document
from tracert.errors import CancelledError, CorpusError
from tracert.indexing import (
    File,
    IndexReport,
    Input,
    Progress,
    delete,
    index,
    reindex,
    remove_document,
)
from tracert.snapshot import open_snapshot
from tracert.store.records import CorpusRecord, Page
from tracert.store.session import Session
from tracert.store.store import Store

CUT = Chunking(60, 20)
LAMP = "The lamp was lit by a pile of discs.\n" * 8
FROG = "# Frogs\n\nA frog's leg twitched.\n\n## Why\n\nTwo metals met in it.\n" * 3
MARKUP = "<script>alert(1)</script> & <b>bold</b>\n" * 4


@pytest.fixture
def store(tmp_path: Path, everywhere: str) -> Store:
    return Store(tmp_path / "home")


def add(store: Store, *files: Input, **more: object) -> IndexReport:
    options: dict[str, object] = {"embedder": ToyEmbedder(), "chunking": CUT, "name": "Lab"}
    return index(files, store=store, **(options | more))  # type: ignore[arg-type]


def lamp(text: str = LAMP, name: str = "lamp.txt") -> File:
    return File(name, text.encode())


def frog() -> File:
    return File("frog.md", FROG.encode())


def rows(store: Store, name: str = "Lab") -> list[tuple[str, str]]:
    snapshot = open_snapshot(store, name)
    return [(each.id, each.text) for each in snapshot.chunks(range(len(snapshot.ids)))]


def expected(*files: File, cut: Chunking = CUT) -> list[tuple[str, str]]:
    return [
        (each.id, each.text)
        for file in files
        for each in chunk(load_document(file.data, file.name), cut)
    ]


def statuses(report: IndexReport) -> list[str]:
    return [file.status for file in report.files]


# --- what goes in -------------------------------------------------------------------------


def test_a_corpus_is_its_files_in_order(store: Store) -> None:
    report = add(store, lamp(), frog(), File("markup.txt", MARKUP.encode()))
    assert statuses(report) == ["indexed", "indexed", "indexed"]
    assert [file.kind for file in report.files] == ["text", "markdown", "text"]
    assert rows(store) == expected(lamp(), frog(), File("markup.txt", MARKUP.encode()))
    assert report.chunks == sum(file.chunks for file in report.files) == len(rows(store))


def test_the_report_as_json_is_as_documented(store: Store) -> None:
    data = add(store, lamp(), File("x.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)))).to_dict()
    assert data["schema"] == "tracert.index/1"
    assert set(data) == {"schema", "corpus", "embedder", "chunks", "files", "seconds"}
    assert set(data["files"][0]) == {"path", "status", "kind", "pages", "chunks", "message"}
    assert set(data["seconds"]) == {"read", "chunk", "embed", "store"}
    assert (data["corpus"], data["embedder"]) == ("Lab", "toy")
    refused = data["files"][1]
    assert (refused["status"], refused["chunks"]) == ("refused", 0)
    assert refused["message"]


def test_vectors_are_the_embedders_row_by_row(store: Store) -> None:
    add(store, lamp(), frog())
    snapshot = open_snapshot(store, "Lab")
    np.testing.assert_array_equal(
        snapshot.matrix, ToyEmbedder().embed([text for _, text in rows(store)])
    )


def test_paths_and_folders_and_what_two_files_of_one_name_are_called(
    store: Store, tmp_path: Path
) -> None:
    for place, text in (("a/notes.txt", LAMP), ("b/notes.txt", FROG), ("b/.hidden.txt", LAMP)):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text)
    report = add(store, tmp_path / "a", str(tmp_path / "b"), tmp_path / "none.txt")
    assert statuses(report) == ["indexed", "indexed", "refused"]
    assert [d.name for d in store.corpus("Lab").documents] == ["a/notes.txt", "b/notes.txt"]
    add(store, lamp("one text " * 9), lamp("two texts " * 9), name="Uploads")
    names = [d.name for d in store.corpus("Uploads").documents]
    assert names == ["lamp.txt", "lamp (2).txt"]


def test_what_cannot_be_read_is_refused_and_the_others_go_on(store: Store) -> None:
    report = add(store, File("empty.txt", b""), lamp(), File("blank.txt", b" \n \n"))
    assert statuses(report) == ["refused", "indexed", "refused"]
    assert all(file.message for file in report.files if file.status == "refused")
    assert report.ok


def test_a_file_with_a_part_that_could_not_be_read_is_partial_and_says_why(store: Store) -> None:
    data = ("word " * 200).encode() + b"\xff\xfe\x81" + ("wört " * 100).encode()
    report = add(store, File("odd.txt", data))
    assert statuses(report) == ["partial"]
    assert "UTF-8" in report.files[0].message
    assert report.chunks > 0


def test_nothing_that_can_be_read_makes_no_corpus_and_replaces_none(store: Store) -> None:
    assert not add(store, File("empty.txt", b"")).ok
    assert store.corpora() == []
    add(store, lamp())
    add(store, File("empty.txt", b""), replace=True)
    assert rows(store) == expected(lamp())


# --- what is in already -------------------------------------------------------------------


def test_the_same_file_again_changes_nothing_and_embeds_nothing(store: Store) -> None:
    add(store, lamp(), frog())
    before = store.corpus("Lab")
    embedder = ToyEmbedder()
    report = add(store, lamp(), embedder=embedder)
    assert statuses(report) == ["unchanged"]
    assert store.corpus("Lab") == before
    assert embedder.texts == 0
    assert report.chunks == before.size


def test_the_same_text_under_another_name_is_there_already_and_says_so(store: Store) -> None:
    add(store, lamp())
    report = add(store, lamp(name="copy.txt"))
    assert statuses(report) == ["unchanged"]
    assert "lamp.txt" in report.files[0].message
    assert rows(store) == expected(lamp())


def test_a_new_version_takes_the_place_of_the_old(store: Store) -> None:
    add(store, lamp(), frog())
    new = lamp(LAMP.replace("discs", "jars"))
    assert statuses(add(store, new)) == ["indexed"]
    assert rows(store) == expected(new, frog())


def test_another_file_of_the_same_name_takes_no_place(store: Store, tmp_path: Path) -> None:
    first, second = (tmp_path / folder / "a.txt" for folder in "xy")
    for path, text in ((first, LAMP), (second, MARKUP)):
        path.parent.mkdir()
        path.write_text(text)
    add(store, first)
    report = add(store, second)
    assert report.files[0].message == "Called 'y/a.txt', since there is another 'a.txt'."
    assert [d.name for d in store.corpus("Lab").documents] == ["a.txt", "y/a.txt"]
    assert rows(store) == expected(lamp(), File("a.txt", MARKUP.encode()))


def test_a_file_of_a_folder_takes_its_own_place_when_it_comes_alone(
    store: Store, tmp_path: Path
) -> None:
    for place, text in (("x/a.txt", LAMP), ("y/a.txt", MARKUP)):
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).write_text(text)
    add(store, tmp_path)
    (tmp_path / "x" / "a.txt").write_text(FROG)
    report = add(store, tmp_path / "x" / "a.txt")
    assert report.files[0].message == "Took the place of the earlier 'x/a.txt'."
    assert [d.name for d in store.corpus("Lab").documents] == ["x/a.txt", "y/a.txt"]
    assert rows(store) == expected(lamp(FROG), lamp(MARKUP))


def test_a_file_keeps_its_place_after_the_corpus_is_cut_anew(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(LAMP)
    add(store, path)
    reindex(store=store, name="Lab", embedder=ToyEmbedder(), chunking=Chunking(33, 8))
    path.write_text(MARKUP)
    report = add(store, path, chunking=None)
    assert report.files[0].message == "Took the place of the earlier 'a.txt'."
    assert len(store.corpus("Lab").documents) == 1


def test_two_files_of_one_text_are_one_document_and_the_second_says_so(store: Store) -> None:
    report = add(store, lamp(), lamp(name="copy.txt"))
    assert statuses(report) == ["indexed", "unchanged"]
    assert "'lamp.txt'" in report.files[1].message
    assert rows(store) == expected(lamp())


def test_a_second_index_adds_at_the_end(store: Store) -> None:
    add(store, lamp())
    report = add(store, frog())
    assert rows(store) == expected(lamp(), frog())
    assert report.chunks == len(rows(store))


def test_adding_reads_only_the_new_out_of_the_store(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = lamp(LAMP * 4)
    add(store, long)
    read: list[str] = []
    pages = Session.pages

    def watched(self: Session, record: CorpusRecord) -> Iterator[Page]:
        read.extend(document.name for document in record.documents)
        return pages(self, record)

    monkeypatch.setattr(Session, "pages", watched)
    add(store, frog())
    assert read == ["frog.md"]
    assert rows(store) == expected(long, frog())
    np.testing.assert_array_equal(
        open_snapshot(store, "Lab").matrix,
        ToyEmbedder().embed([text for _, text in rows(store)]),
    )


def test_another_chunking_or_embedder_is_an_error_unless_replaced(store: Store) -> None:
    add(store, lamp())
    other = Chunking(30, 5)
    with pytest.raises(CorpusError, match=r"60 characters.*30 characters.*replace"):
        add(store, frog(), chunking=other)
    with pytest.raises(CorpusError, match="replace"):
        add(store, frog(), embedder=ToyEmbedder(version="2"))
    assert rows(store) == expected(lamp())
    add(store, frog(), chunking=other, replace=True)
    assert rows(store) == expected(frog(), cut=other)


def test_settings_that_are_not_given_are_the_corpus_own(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = ToyEmbedder()
    add(store, lamp())
    monkeypatch.setattr("tracert.indexing.embedder_by_name", {"toy": toy}.__getitem__)
    add(store, frog(), chunking=None, embedder=None)
    assert rows(store) == expected(lamp(), frog())
    assert toy.texts == len(expected(frog()))


def test_replacing_by_the_same_files_keeps_what_is_there(store: Store) -> None:
    add(store, lamp(), frog())
    before = store.corpus("Lab")
    embedder = ToyEmbedder()
    report = add(store, lamp(), frog(), replace=True, embedder=embedder)
    assert statuses(report) == ["unchanged", "unchanged"]
    assert embedder.texts == 0
    assert store.corpus("Lab") == before


def test_replacing_by_fewer_files_drops_the_others(store: Store) -> None:
    add(store, lamp(), frog())
    add(store, frog(), replace=True)
    assert rows(store) == expected(frog())


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_added_to_one_by_one_a_corpus_has_few_parts_and_all_rows(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int]
) -> None:
    store = Store(tmp_path_factory.mktemp("home"))
    cut = Chunking(10, 0)
    files = [lamp(f"{number:09d}," * size, f"{number}.txt") for number, size in enumerate(sizes)]
    for file in files:
        add(store, file, chunking=cut)
    assert rows(store) == expected(*files, cut=cut)
    # Each part is larger than all smaller ones together, so there are at most log2(n) + 1.
    record = store.corpus("Lab")
    assert len(record.parts) <= math.log2(record.size) + 1


# --- progress and cancel ------------------------------------------------------------------


def test_progress_goes_through_the_stages_and_ends_each_whole(store: Store) -> None:
    seen: list[Progress] = []
    add(store, lamp(), frog(), on_progress=seen.append)
    assert list(dict.fromkeys(each.stage for each in seen)) == ["read", "chunk", "embed", "store"]
    for stage in ("read", "chunk", "embed", "store"):
        steps = [each for each in seen if each.stage == stage]
        assert [each.done for each in steps] == sorted(each.done for each in steps)
        assert steps[-1].done == steps[-1].total
        assert steps[0].seconds_left is None
        assert steps[-1].seconds_left == 0


@pytest.mark.parametrize("stage", ["read", "chunk", "embed", "store"])
def test_cancel_in_any_stage_leaves_the_corpus_as_it_was(store: Store, stage: str) -> None:
    add(store, lamp())
    before = store.corpus("Lab")
    reached: list[str] = []

    def cancelled() -> bool:
        return stage in reached

    with pytest.raises(CancelledError):
        add(
            store,
            frog(),
            on_progress=lambda progress: reached.append(progress.stage),
            cancelled=cancelled,
            embedder=ToyEmbedder(block=1),
        )
    assert store.corpora() == [before]
    assert rows(store) == expected(lamp())
    assert statuses(add(store, frog())) == ["indexed"]


def test_cancel_is_heard_while_another_write_is_awaited(store: Store) -> None:
    reached: list[str] = []
    with store.session(), pytest.raises(CancelledError):
        add(
            store,
            lamp(),
            on_progress=lambda progress: reached.append(progress.stage),
            cancelled=lambda: "store" in reached,
        )
    assert store.corpora() == []


# --- changing what is there ---------------------------------------------------------------


def test_reindexing_gives_what_indexing_the_files_anew_would(store: Store) -> None:
    add(store, lamp(), frog())
    other = Chunking(33, 8, sentences=True)
    report = reindex(store=store, name="Lab", chunking=other, embedder=ToyEmbedder(version="2"))
    assert statuses(report) == ["indexed", "indexed"]
    again = open_snapshot(store, "Lab")
    add(store, lamp(), frog(), chunking=other, embedder=ToyEmbedder(version="2"), name="Anew")
    anew = open_snapshot(store, "Anew")
    every = range(len(anew.ids))
    # Chunks are equal in page and heading path, too: the documents' marks survive.
    assert again.chunks(every) == anew.chunks(every)
    assert len(again.ids) == len(anew.ids)
    np.testing.assert_array_equal(again.matrix, anew.matrix)
    assert again.info.fingerprint == anew.info.fingerprint


def test_reindexing_to_the_same_settings_changes_nothing(store: Store) -> None:
    add(store, lamp())
    before = store.corpus("Lab")
    report = reindex(store=store, name="Lab", embedder=ToyEmbedder())
    assert statuses(report) == ["unchanged"]
    assert store.corpus("Lab") == before


def test_a_document_can_be_taken_out_but_not_the_last(store: Store) -> None:
    add(store, lamp(), frog())
    first = store.corpus("Lab").documents[0].fingerprint
    remove_document(first, store=store, name="Lab")
    assert rows(store) == expected(frog())
    with pytest.raises(CorpusError, match="no such document"):
        remove_document(first, store=store, name="Lab")
    with pytest.raises(CorpusError, match="last"):
        remove_document(store.corpus("Lab").documents[0].fingerprint, store=store, name="Lab")


def test_deleting_leaves_no_snapshot_of_the_text(store: Store) -> None:
    add(store, lamp("sesame opens " * 30))
    delete(store=store, name="Lab")
    assert store.corpora() == []
    kept = [path for path in (store.path / "snapshots").rglob("*") if path.is_file()]
    assert kept == []
    with pytest.raises(CorpusError):
        delete(store=store, name="Lab")
