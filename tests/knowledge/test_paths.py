"""Nothing outside the folder is ever read, whatever names it: one test for each way out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.knowledge.trees import CRM, note, write
from tracert.errors import KnowledgeError
from tracert.knowledge.graph import open_graph
from tracert.knowledge.paths import NoteFolder, checked_name

OUTSIDE = "The secret outside."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A graph beside a file that must never be read."""
    (tmp_path / "secret.md").write_text(OUTSIDE, encoding="utf-8")
    return write(tmp_path / "g", CRM)


@pytest.mark.parametrize(
    "name",
    [
        "../secret.md",
        "sales/../../secret.md",
        "./../secret.md",
        "sales/..",
        "..",
        ".",
        "",
        "sales//Lead.md",
        ".. /secret.md",
        "... /secret.md",
        "/etc/passwd",
        "//server/share/secret.md",
        "C:/secret.md",
        "c:secret.md",
        "..\\secret.md",
        "sales\\Lead.md",
        "\\\\server\\share\\secret.md",
        "sales/Lead.md\x00.txt",
        "sales/Le\nad.md",
        "．．/secret.md",  # full-width dots
        "‥/secret.md",  # a two-dot leader
        "․․/secret.md",  # one-dot leaders
        "…/secret.md",
        "..／secret.md",  # a full-width slash
        "..∕secret.md",  # a division slash
        "..⁄secret.md",  # a fraction slash
        "..＼secret.md",  # a full-width backslash
    ],
)
def test_a_name_that_could_leave_the_folder_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(KnowledgeError):
        checked_name(name)
    with pytest.raises(KnowledgeError):
        NoteFolder(folder).data(name)


@pytest.mark.parametrize(
    "name",
    [
        "sales/lead.md",
        "SALES/Lead.md",
        "sales/Lead.MD",
        "sаles/Lead.md",  # a Cyrillic a
        "sales/Lеad.md",  # a Cyrillic e
        "sales/\u200bLead.md",  # a zero-width space
        "sales/Lead.md ",
        "sales/Lead",
        "sales",
    ],
)
def test_another_spelling_is_no_note(folder: Path, name: str) -> None:
    with pytest.raises(KnowledgeError, match="There is no note"):
        NoteFolder(folder).data(name)


def test_a_composed_and_a_decomposed_name_are_the_same_note(tmp_path: Path) -> None:
    # Some file systems keep 'é' as two characters; the graph's id is the one of one character.
    folder = write(tmp_path / "g", {"Re\u0301sume\u0301.md": note("R", content="Found.")})
    assert "Found." in NoteFolder(folder).text("R\u00e9sum\u00e9.md")
    assert "Found." in NoteFolder(folder).text("Re\u0301sume\u0301.md")


def test_a_link_to_a_file_outside_is_reported_and_not_read(folder: Path, tmp_path: Path) -> None:
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "up.md").symlink_to("../secret.md")
    graph = open_graph(folder)
    assert not {"link.md", "up.md"} & set(graph.notes)
    assert {fault.file for fault in graph.faults if fault.kind == "outside"} == {"link.md", "up.md"}


def test_a_link_to_a_folder_outside_is_not_entered(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "other", {"x.md": note("X")})
    (folder / "door").symlink_to(tmp_path / "other")
    graph = open_graph(folder)
    assert not [path for path in graph.notes if path.startswith("door")]
    assert [fault.file for fault in graph.faults if fault.kind == "outside"] == ["door"]


def test_a_file_exchanged_for_a_link_after_listing_is_not_read(
    folder: Path, tmp_path: Path
) -> None:
    opened = NoteFolder(folder)
    (folder / "sales/Lead.md").unlink()
    (folder / "sales/Lead.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(KnowledgeError, match="leads outside"):
        opened.data("sales/Lead.md")


def test_a_folder_exchanged_for_a_link_after_listing_is_not_read(
    folder: Path, tmp_path: Path
) -> None:
    opened = NoteFolder(folder)
    write(tmp_path / "other", {"Lead.md": OUTSIDE})
    (folder / "sales").rename(tmp_path / "away")
    (folder / "sales").symlink_to(tmp_path / "other")
    with pytest.raises(KnowledgeError, match="leads outside"):
        opened.data("sales/Lead.md")


def test_a_link_inside_the_folder_is_a_note(folder: Path) -> None:
    (folder / "alias.md").symlink_to(folder / "sales/Lead.md")
    assert NoteFolder(folder).data("alias.md") == NoteFolder(folder).data("sales/Lead.md")


def test_a_circle_of_links_ends(folder: Path) -> None:
    (folder / "round").symlink_to(folder)
    (folder / "a.md").symlink_to(folder / "b.md")
    (folder / "b.md").symlink_to(folder / "a.md")
    assert len(open_graph(folder).notes) == len(CRM)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_called_md_does_not_hang(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    graph = open_graph(folder)
    assert "pipe.md" not in graph.notes
    assert [fault.kind for fault in graph.faults if fault.file == "pipe.md"] == ["unreadable"]


@pytest.mark.parametrize("field", ["parent", "children", "related"])
@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "..%2Fsecret.md"])
def test_a_path_in_a_note_leads_nowhere(folder: Path, field: str, path: str) -> None:
    write(folder, {"evil.md": note("Evil", **{field: path})})
    graph = open_graph(folder)
    evil = graph.note("evil.md")
    assert (evil.parent, evil.children, evil.related) == (None, (), ())
    kinds = {fault.kind for fault in graph.faults if fault.file == "evil.md"}
    assert kinds & {"missing_parent", "dangling_link"}


def test_a_file_too_large_to_be_a_note_is_reported(folder: Path) -> None:
    (folder / "big.md").write_bytes(b"x" * 5_000_001)
    graph = open_graph(folder)
    assert "big.md" not in graph.notes
    assert [fault.kind for fault in graph.faults if fault.file == "big.md"] == ["unreadable"]


@given(st.text(max_size=60))
def test_what_is_let_through_stays_inside(name: str) -> None:
    try:
        checked = checked_name(name)
    except KnowledgeError:
        return
    root = Path("/notes")
    assert Path(os.path.normpath(root / checked)).is_relative_to(root)
    assert Path(os.path.normpath(root / checked)) != root
