"""Notes from zips and uploads: what an archive says is not believed."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest

from tests.knowledge.trees import CRM, note
from tracert.errors import KnowledgeError
from tracert.knowledge.archive import Room, from_files, from_zip, unpacked
from tracert.knowledge.graph import open_graph


def zipped(files: dict[str, str | bytes], **infos: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = infos.get(name, 0o100644) << 16
            out.writestr(entry, content)
    return buffer.getvalue()


def test_a_zip_is_the_folder_that_was_packed(tmp_path: Path) -> None:
    folder, faults = from_zip(zipped(dict(CRM)), "crm.zip", tmp_path)
    assert faults == ()
    assert sorted(open_graph(folder).notes) == sorted(CRM)


def test_the_one_folder_around_everything_is_taken_off(tmp_path: Path) -> None:
    packed = zipped({f"my notes/{path}": text for path, text in CRM.items()})
    folder, _faults = from_zip(packed, "crm.zip", tmp_path)
    graph = open_graph(folder)
    assert graph.entry_points[0] == "entry_points/CRM.md"
    assert graph.report.unresolved == 0


def test_entry_points_alone_are_no_shell(tmp_path: Path) -> None:
    folder, _faults = from_zip(zipped({"entry_points/A.md": note("A")}), "a.zip", tmp_path)
    assert open_graph(folder).entry_points == ("entry_points/A.md",)


@pytest.mark.parametrize(
    "name",
    [
        "../out.md",
        "a/../../out.md",
        "/out.md",
        "C:/out.md",
        "..\\out.md",
        "．．/out.md",
        "a/..／out.md",
    ],
)
def test_an_entry_that_would_be_written_outside_is_left_out(tmp_path: Path, name: str) -> None:
    data = tmp_path / "data"
    folder, faults = from_zip(zipped({"a.md": note("A"), name: "evil"}), "x.zip", data)
    assert [fault.kind for fault in faults] == ["outside"]
    assert not [path for path in tmp_path.rglob("*out*") if path.is_file()]
    assert sorted(open_graph(folder).notes) == ["a.md"]


def test_a_link_in_an_archive_is_left_out(tmp_path: Path) -> None:
    packed = zipped({"a.md": note("A"), "l.md": "/etc/passwd"}, **{"l.md": stat.S_IFLNK | 0o777})
    folder, faults = from_zip(packed, "x.zip", tmp_path)
    assert [(fault.file, fault.kind) for fault in faults] == [("'l.md'", "outside")]
    assert sorted(open_graph(folder).notes) == ["a.md"]


def test_names_that_a_file_system_may_confuse_are_not_both_written(tmp_path: Path) -> None:
    _folder, faults = from_zip(zipped({"A.md": note("A"), "a.md": note("B")}), "x.zip", tmp_path)
    assert [fault.kind for fault in faults] == ["duplicate_file"]


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = zipped({"a.md": b"\0" * 4_000_000})
    assert len(bomb) < 10_000
    with pytest.raises(KnowledgeError, match="bomb"):
        from_zip(bomb, "bomb.zip", tmp_path)


def test_many_files_together_are_bounded(tmp_path: Path) -> None:
    files = {f"{i}.md": note(f"N{i}", content="word " * 50) for i in range(9)}
    with pytest.raises(KnowledgeError, match="Pass a part of it"):
        from_zip(zipped(dict(files)), "many.zip", tmp_path, Room(upload=1_000))
    # Nothing half-made is left behind.
    assert not list((tmp_path / "knowledge" / "unpacked").iterdir())


def test_what_is_no_zip_or_holds_no_note_says_so(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="no zip that can be read"):
        from_zip(b"PK\x03\x04 not really", "x.zip", tmp_path)
    with pytest.raises(KnowledgeError, match="no note"):
        from_zip(zipped({"a.txt": "x"}), "x.zip", tmp_path)
    with pytest.raises(KnowledgeError, match="cannot be read"):
        unpacked(tmp_path / "absent.zip", tmp_path)


def test_a_damaged_zip_says_so(tmp_path: Path) -> None:
    whole = bytearray(zipped({"a.md": note("A", content="word " * 400)}))
    whole[60:90] = bytes(30)
    with pytest.raises(KnowledgeError):
        from_zip(bytes(whole), "x.zip", tmp_path)


def test_uploads_are_a_graph_and_the_same_ones_one_folder(tmp_path: Path) -> None:
    files = {path: text.encode() for path, text in CRM.items()}
    folder, faults = from_files({**files, "../x.md": b"evil", "pic.png": b"x"}, tmp_path)
    assert [fault.kind for fault in faults] == ["outside"]
    assert sorted(open_graph(folder).notes) == sorted(CRM)
    assert from_files({**files, "../x.md": b"evil", "pic.png": b"x"}, tmp_path)[0] == folder


def test_the_room_for_an_upload_and_for_all_of_them_is_bounded(tmp_path: Path) -> None:
    room = Room(upload=100, together=150)
    with pytest.raises(KnowledgeError, match="more than"):
        from_files({"A.md": b"a" * 101}, tmp_path, room)
    from_files({"A.md": b"a" * 90}, tmp_path, room)
    with pytest.raises(KnowledgeError, match="used up"):
        from_files({"B.md": b"b" * 61}, tmp_path, room)
    # What is there already takes no more room, and 90 + 60 are just the 150.
    from_files({"A.md": b"a" * 90}, tmp_path, room)
    from_files({"B.md": b"b" * 60}, tmp_path, room)
