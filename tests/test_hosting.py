"""Who owns what in a public app, how much of it, and for how long."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tracert.corpus.chunking import Chunking
from tracert.embedding.registry import embedder as named
from tracert.errors import CorpusError, DatasetError, KnowledgeError, SettingError
from tracert.evaluation.ground import pool_ground
from tracert.hosting import (
    Hosting,
    Room,
    expire_folders,
    expires,
    folder_of,
    hosting,
    person_owner,
    session_owner,
    today,
)
from tracert.indexing import File
from tracert.knowledge.archive import from_files
from tracert.snapshot import folder_of as folder_of_snapshot
from tracert.snapshot import root_of
from tracert.workspace import Workspace

ADA, BEN = session_owner("one"), person_owner("https://id.example", "ben")
TEXT = "The lamp was lit by Ingrid Falk. The keeper of the lamp wrote a letter home. " * 20


def paper(name: str = "lamp.txt", text: str = TEXT) -> File:
    return File(name, text.encode())


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    """A host with one shared corpus."""
    one = Workspace(tmp_path)
    one.index([paper("shared.txt"), paper("other.txt", TEXT + "Other.")], "Shared")
    return one


# --- the setting --------------------------------------------------------------------------


def test_an_app_is_private_unless_told() -> None:
    assert hosting({}) == Hosting()
    assert not hosting({"TRACERT_PUBLIC": "0"}).public
    assert hosting({}).room is None


def test_one_setting_makes_it_public_and_others_bound_it() -> None:
    found = hosting({"TRACERT_PUBLIC": "1", "TRACERT_PUBLIC_PASSAGES": "50"})
    assert found == Hosting(public=True, passages=50)
    assert found.room == Room(found.corpora, 50, found.all_passages)


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "1.5"])
def test_a_wrong_bound_is_said(wrong: str) -> None:
    with pytest.raises(SettingError, match="TRACERT_PUBLIC_JOBS"):
        hosting({"TRACERT_PUBLIC": "yes", "TRACERT_PUBLIC_JOBS": wrong})


def test_owners_are_told_apart_and_name_nobody() -> None:
    assert len({ADA, BEN, session_owner("two"), person_owner("https://id.example", "ada")}) == 4
    assert "ben" not in BEN
    # Issuer and subject are two things: run together, these two would be one.
    assert person_owner("https://a", "b/c") != person_owner("https://a/b", "c")
    assert expires(ADA)
    assert not expires(BEN)


def test_a_day_begins_at_midnight_utc() -> None:
    assert today(86_399.0) == 0
    assert today(86_400.0) == 1


# --- whose a corpus is --------------------------------------------------------------------


def test_a_visitor_sees_what_is_shared_and_ones_own(space: Workspace) -> None:
    ada, ben = space.owned_by(ADA), space.owned_by(BEN)
    ada.index([paper()], "Lamp")
    assert [each.name for each in ada.corpora()] == ["Lamp", "Shared"]
    assert [each.name for each in ben.corpora()] == ["Shared"]
    assert [each.name for each in space.corpora()] == ["Shared"]
    assert ada.corpus("Lamp").owner == ADA


def test_a_strangers_corpus_is_not_there_by_name_by_fingerprint_or_by_id(space: Workspace) -> None:
    ada, ben = space.owned_by(ADA), space.owned_by(BEN)
    ada.index([paper()], "Lamp")
    record = ada.corpus("Lamp")
    for name in ("Lamp", record.fingerprint, record.id, *record.parts):
        with pytest.raises(CorpusError) as there:
            ben.ask("Who lit the lamp?", corpus=name, method="native_rag")
        with pytest.raises(CorpusError) as nowhere:
            ben.ask("Who lit the lamp?", corpus="x" + name, method="native_rag")
        # The same sentence as for what nobody has, so that it tells nothing.
        assert str(there.value) == str(nowhere.value).replace("x" + name, name)
        for act in (
            lambda name=name: ben.open(name),
            lambda name=name: ben.delete(name),
            lambda name=name: ben.rename(name, "Mine now"),
            lambda name=name: ben.reindex(name, chunking=Chunking(300, 50)),
            lambda name=name: ben.projection(name),
            lambda name=name: ben.document_text(name, record.documents[0].fingerprint),
            lambda name=name: ben.remove_document(name, record.documents[0].fingerprint),
        ):
            with pytest.raises(CorpusError, match="There is no corpus"):
                act()
    assert ada.corpus("Lamp") == record


def test_two_visitors_may_use_one_name(space: Workspace) -> None:
    ada, ben = space.owned_by(ADA), space.owned_by(BEN)
    ada.index([paper(text="Ada's lamp stood on the northern rock. " * 20)], "Lamp")
    ben.index([paper(text="Ben's lamp hung in a cellar by the river. " * 20)], "Lamp")
    assert "northern rock" in ada.open("Lamp").chunks([0])[0].text
    assert "cellar" in ben.open("Lamp").chunks([0])[0].text
    ben.delete("Lamp")
    assert "northern rock" in ada.open("Lamp").chunks([0])[0].text


def test_the_same_document_of_two_visitors_outlives_one_of_them(space: Workspace) -> None:
    """Snapshots are kept by fingerprint, which two who load the same share."""
    ada, ben = space.owned_by(ADA), space.owned_by(BEN)
    ada.index([paper()], "Mine")
    ben.index([paper()], "My own")
    assert ada.corpus("Mine").fingerprint == ben.corpus("My own").fingerprint
    ada.delete("Mine")
    assert ben.ask("Who lit the lamp?", corpus="My own", method="native_rag").result.evidence


def test_what_the_host_shares_is_read_and_not_changed(space: Workspace) -> None:
    ada = space.owned_by(ADA)
    before = space.corpus("Shared")
    assert ada.ask("Who lit the lamp?", corpus="Shared", method="native_rag").result.evidence
    for act in (
        lambda: ada.index([paper("more.txt", TEXT + "More.")], "Shared"),
        lambda: ada.index([paper("more.txt", TEXT + "More.")], "Shared", replace=True),
        lambda: ada.reindex("Shared", chunking=Chunking(300, 50)),
        lambda: ada.rename("Shared", "Mine"),
        lambda: ada.delete("Shared"),
        lambda: ada.remove_document("Shared", before.documents[0].fingerprint),
    ):
        with pytest.raises(CorpusError, match="belongs to the host"):
            act()
    assert space.corpus("Shared") == before


def test_a_visitor_names_no_path(space: Workspace, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(TEXT)
    ada = space.owned_by(ADA)
    with pytest.raises(CorpusError, match="Upload"):
        ada.index([secret], "Lamp")
    with pytest.raises(CorpusError, match="Upload"):
        ada.adopt(tmp_path, "any", "Lamp")


# --- how much ------------------------------------------------------------------------------


def test_the_room_of_a_visitor_is_bounded_by_corpora_and_by_passages(space: Workspace) -> None:
    # 1,560 characters in windows of 500 that move by 400 are four passages.
    ada = space.owned_by(ADA, Room(corpora=2, passages=9, all_passages=100))
    ada.index([paper()], "One")
    assert ada.corpus("One").size == 4
    ada.index([paper("b.txt", TEXT + "b")], "Two")
    with pytest.raises(CorpusError, match="2 corpora"):
        ada.index([paper("c.txt", TEXT + "c")], "Three")
    with pytest.raises(CorpusError, match="9 passages"):
        ada.index([paper("d.txt", TEXT + "d")], "Two")
    assert [each.name for each in ada.corpora()] == ["One", "Shared", "Two"]
    ada.delete("One")
    ada.index([paper("d.txt", TEXT + "d")], "Two")
    assert ada.corpus("Two").size == 8


def test_all_visitors_together_are_bounded_and_the_host_is_not(space: Workspace) -> None:
    room = Room(corpora=5, passages=100, all_passages=7)
    space.owned_by(BEN, room).index([paper()], "One")
    with pytest.raises(CorpusError, match="used up"):
        space.owned_by(ADA, room).index([paper()], "Two")
    space.index([paper("e.txt", TEXT + "e"), paper("f.txt", TEXT + "f")], "Host's own")


def test_who_has_too_much_may_still_make_it_less(space: Workspace) -> None:
    space.owned_by(ADA).index([paper(), paper("b.txt", TEXT + "b")], "Lamp")
    ada = space.owned_by(ADA, Room(corpora=1, passages=2, all_passages=2))
    record = ada.corpus("Lamp")
    ada.rename("Lamp", "Light")
    ada.remove_document("Light", record.documents[0].fingerprint)
    assert len(ada.corpus("Light").documents) == 1


# --- how long ------------------------------------------------------------------------------


def test_what_a_browser_session_made_expires_and_nothing_else(space: Workspace) -> None:
    ada, ben = space.owned_by(ADA), space.owned_by(BEN)
    for visitor in (ada, ben):
        visitor.index([paper()], "Lamp")
    space.expire(before=ada.corpus("Lamp").changed)
    assert [each.name for each in ada.corpora()] == ["Lamp", "Shared"]
    # Texts and vectors lie in files beside the store, too; Ben's are other ones.
    ada.index([paper("own.txt", "Ada alone wrote this of the lamp. " * 20)], "Ada's own")
    ada.open("Ada's own")
    files = folder_of_snapshot(root_of(space.store), ada.corpus("Ada's own").fingerprint)
    assert files.is_dir()
    space.expire(before=time.time() + 1)
    assert not files.exists()
    assert [each.name for each in ada.corpora()] == ["Shared"]
    assert [each.name for each in ben.corpora()] == ["Lamp", "Shared"]
    assert ben.ask("Who lit the lamp?", corpus="Lamp", method="native_rag").result.evidence


def test_uploaded_notes_expire_with_their_index_unless_they_were_loaded_again(
    space: Workspace,
) -> None:
    old, _ = from_files({"Lamp.md": b"The lamp is lit at dusk."}, space.path)
    again, _ = from_files({"Keeper.md": b"The keeper wrote a letter."}, space.path)
    opened = {folder: space.open_notes(folder) for folder in (old, again)}
    for folder in (old, again):
        for path in (*folder.rglob("*"), folder):
            os.utime(path, (1_000.0, 1_000.0))
    assert from_files({"Keeper.md": b"The keeper wrote a letter."}, space.path)[0] == again
    space.expire(before=2_000.0)
    assert not old.exists()
    assert not opened[old].graph.index.place.exists()
    assert again.exists()
    assert opened[again].graph.index.place.exists()
    with pytest.raises(KnowledgeError):
        space.open_notes(old)


def test_folders_of_sessions_expire_by_what_was_last_written_in_them(tmp_path: Path) -> None:
    old, fresh = folder_of(tmp_path, ADA), folder_of(tmp_path, session_owner("fresh"))
    person = folder_of(tmp_path, BEN)
    for folder in (old, fresh, person):
        (folder / "evaluations").mkdir(parents=True)
        (folder / "evaluations" / "run.jsonl").write_text("{}")
    for folder in (old, person, fresh):
        for path in (folder, *folder.rglob("*")):
            os.utime(path, (1_000.0, 1_000.0))
    os.utime(fresh / "evaluations" / "run.jsonl", (3_000.0, 3_000.0))
    expire_folders(tmp_path, before=2_000.0)
    assert not old.exists()
    assert fresh.exists()
    assert person.exists()


def test_vectors_of_pools_and_notes_of_uploads_expire_and_the_hosts_things_do_not(
    tmp_path: Path,
) -> None:
    old = [
        tmp_path / "evaluation" / "pool.npy",
        tmp_path / "knowledge" / "unpacked" / "abc" / "note.md",
        tmp_path / "evaluations" / "run.jsonl",
        tmp_path / "prices.json",
    ]
    for path in old:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    fresh = tmp_path / "evaluation" / "fresh.npy"
    fresh.write_text("x")
    for path in tmp_path.rglob("*"):
        if path != fresh:
            os.utime(path, (1_000.0, 1_000.0))
    expire_folders(tmp_path, before=2_000.0)
    assert [path.exists() for path in old] == [False, False, True, True]
    assert not (tmp_path / "knowledge" / "unpacked" / "abc").exists()
    assert fresh.exists()


def test_a_visitors_pool_is_bounded_like_a_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"title": f"T{n}", "text": f"Text {n}.", "is_supporting": n == 0} for n in range(4)]
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"id": "1", "question": "Which?", "paragraphs": rows}))
    embedder = named("wordllama")
    assert len(pool_ground(data, None, embedder, tmp_path).items) == 1
    monkeypatch.setenv("TRACERT_PUBLIC", "1")
    monkeypatch.setenv("TRACERT_PUBLIC_PASSAGES", "3")
    with pytest.raises(DatasetError, match="own machine"):
        pool_ground(data, None, embedder, tmp_path)


def test_the_hosts_folder_is_the_data_folder(tmp_path: Path) -> None:
    assert folder_of(tmp_path, "") == tmp_path
    assert folder_of(tmp_path, ADA).is_relative_to(tmp_path / "visitors")
