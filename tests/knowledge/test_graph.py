"""Opening a folder: links, entry points, what is parsed again, what several processes may do."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.knowledge.trees import CRM, note, write
from tracert.errors import KnowledgeError
from tracert.knowledge.graph import open_graph


def test_links_of_the_article(tmp_path: Path) -> None:
    graph = open_graph(write(tmp_path / "g", CRM))
    assert graph.report.dialect == "trailgraph"
    assert graph.entry_points == ("entry_points/CRM.md", "entry_points/Security.md")
    sales = graph.note("sales/Sales.md")
    # 'Lead.md' is no path from the root, so it is meant relative to the note.
    assert sales.children == ("sales/Lead.md", "sales/Opportunity.md")
    assert graph.note("sales/Opportunity.md").parent == "sales/Sales.md"
    assert [item.title for item in graph.ancestors_of("sales/Lead.md")] == ["Sales", "CRM"]
    # 8 links in all: 2 + 2 children, 4 parents, 1 related; 'Lead.md' and 'Sales.md' by the note.
    report = graph.report
    assert (report.links, report.unresolved) == (9, 0)
    assert (report.relative_to_root, report.relative_to_note) == (7, 2)
    assert graph.content("sales/Lead.md") == "Some content here."


def test_without_entry_points_the_roots_are_the_entry_points(tmp_path: Path) -> None:
    graph = open_graph(
        write(
            tmp_path / "g", {"a.md": note("A", children="b.md"), "b.md": note("B", parent="a.md")}
        )
    )
    assert graph.entry_points == ("a.md",)
    assert graph.report.entry_rule == "the notes without a parent"


def test_a_child_that_names_its_parent_is_its_child(tmp_path: Path) -> None:
    graph = open_graph(write(tmp_path / "g", {"a.md": note("A"), "b.md": note("B", parent="a.md")}))
    assert graph.note("a.md").children == ("b.md",)
    assert graph.note("b.md").parent == "a.md"


def test_only_a_changed_file_is_parsed_again(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", CRM)
    assert open_graph(folder).report.parsed == 6
    again = open_graph(folder)
    assert again.report.parsed == 0
    lead = folder / "sales/Lead.md"
    lead.write_text(note("Lead", parent="sales/Sales.md", summary="New words."), encoding="utf-8")
    changed = open_graph(folder)
    assert changed.report.parsed == 1
    assert changed.note("sales/Lead.md").summary == "New words."
    assert changed.fingerprint != again.fingerprint
    lead.unlink()
    gone = open_graph(folder)
    assert gone.report.parsed == 0
    assert "sales/Lead.md" not in gone.notes
    assert "sales/Lead.md" not in gone.note("sales/Sales.md").children


def test_a_file_that_was_only_touched_is_not_parsed(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", CRM)
    first = open_graph(folder)
    os.utime(folder / "sales/Lead.md", ns=(10**18, 10**18))
    second = open_graph(folder)
    assert second.report.parsed == 0
    assert second.fingerprint == first.fingerprint


def test_what_comes_from_the_index_is_what_was_parsed(tmp_path: Path, builtin: Path) -> None:
    first = open_graph(builtin / "notes", data=tmp_path)
    second = open_graph(builtin / "notes", data=tmp_path)
    assert second.report.parsed == 0
    assert dict(second.notes) == dict(first.notes)
    assert (second.faults, second.entry_points) == (first.faults, first.entry_points)


def test_a_note_changed_under_an_open_graph_is_read_as_it_is_now(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", CRM)
    graph = open_graph(folder)
    longer = note("Lead", summary="A much longer summary than before.", content="New content.")
    (folder / "sales/Lead.md").write_text(longer, encoding="utf-8")
    assert graph.content("sales/Lead.md") == "New content."


def test_the_folder_of_notes_is_never_written(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", CRM)
    before = sorted(str(path) for path in folder.rglob("*"))
    open_graph(folder)
    assert sorted(str(path) for path in folder.rglob("*")) == before


def test_the_content_is_not_in_the_index(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", {"a.md": note("A", content="Unmistakable sentence of content.")})
    graph = open_graph(folder)
    with sqlite3.connect(graph.index.place / "notes.sqlite") as db:
        rows = db.execute("SELECT * FROM notes").fetchall()
    assert "Unmistakable sentence" not in repr(rows)


def test_a_broken_note_stops_no_other(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", CRM)
    (folder / "sales/bad.md").write_bytes(bytes(range(256)) * 40)
    graph = open_graph(folder)
    assert len(graph.notes) == 6
    assert [(fault.file, fault.kind) for fault in graph.faults] == [("sales/bad.md", "unreadable")]
    assert open_graph(folder).report.parsed == 0


def test_a_head_steers_no_terminal_and_turns_no_line(tmp_path: Path) -> None:
    notes = {
        "a.md": note(
            "\x1b[31mRed\x07", summary="An \x9bA evil\u202e line", points='"a\x08b", "\x1b"'
        ),
        "b.md": note("\x1b", parent="a.md"),
    }
    graph = open_graph(write(tmp_path / "g", notes))
    first = graph.note("a.md")
    assert (first.title, first.summary) == ("[31mRed", "An A evil line")
    assert first.key_points == ("ab",)
    # Nothing is left of this title, so the note is called by its file.
    assert graph.note("b.md").title == "b"


def test_a_folder_without_notes_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match=r"Pass a folder with \.md files"):
        open_graph(tmp_path)
    with pytest.raises(KnowledgeError, match="There is no folder"):
        open_graph(tmp_path / "absent")


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", CRM)
    place = open_graph(folder).index.place
    with sqlite3.connect(place / "notes.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    assert open_graph(folder).report.parsed == 6


def test_several_processes_open_one_folder_at_once(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", {f"n{i}.md": note(f"N{i}") for i in range(60)})
    code = (
        "import sys; from tracert.knowledge.graph import open_graph; "
        "print(len(open_graph(sys.argv[1]).notes))"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for process in running:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out.strip(), err) == (0, b"60", b"")
