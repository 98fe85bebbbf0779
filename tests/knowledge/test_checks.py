"""Every kind of fault, with file, line and what to do; and the command that lists them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.knowledge.trees import CRM, note, write
from tracert.cli import main
from tracert.knowledge.checks import KINDS
from tracert.knowledge.graph import open_graph
from tracert.knowledge.model import Fault


def faults(folder: Path) -> list[Fault]:
    return list(open_graph(folder).faults)


def of_kind(folder: Path, kind: str) -> list[Fault]:
    return [fault for fault in faults(folder) if fault.kind == kind]


def test_a_sound_graph_has_none(tmp_path: Path) -> None:
    assert faults(write(tmp_path / "g", CRM)) == []


def test_missing_parent(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", {**CRM, "x.md": note("X", parent="sales/sales.md")})
    [fault] = of_kind(folder, "missing_parent")[:1]
    # Line 4: title, blank, summary, parent. The fix names the note that differs by case alone.
    assert (fault.file, fault.line) == ("x.md", 4)
    assert "sales/Sales.md" in fault.fix


def test_child_that_disagrees(tmp_path: Path) -> None:
    changed = {
        **CRM,
        "service/Service.md": note("Service", parent="sales/Sales.md"),
    }
    found = of_kind(write(tmp_path / "g", changed), "child_disagrees")
    # CRM lists Service, which names Sales; and Sales does not list it.
    assert {(fault.file, fault.line) for fault in found} == {
        ("entry_points/CRM.md", 5),
        ("service/Service.md", 4),
    }


def test_dangling_link(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g", {**CRM, "entry_points/S2.md": note("S2", related="no.md, zz.md")}
    )
    found = of_kind(folder, "dangling_link")
    assert [(fault.file, fault.line) for fault in found] == [("entry_points/S2.md", 6)] * 2
    assert open_graph(folder).report.unresolved == 2


def test_cycle(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {
            "a.md": note("A", parent="c.md", children="b.md"),
            "b.md": note("B", parent="a.md", children="c.md"),
            "c.md": note("C", parent="b.md", children="a.md"),
        },
    )
    [fault] = of_kind(folder, "cycle")
    assert (fault.file, fault.line) == ("a.md", 4)
    assert "a.md to c.md to b.md to a.md" in fault.message
    # The circle is cut, so that walks up the tree end.
    assert len(open_graph(folder).ancestors_of("c.md")) == 2


@pytest.mark.parametrize("fields", [{"parent": "y.md"}, {"children": "y.md"}])
def test_a_note_that_is_its_own_parent_is_a_cycle_and_nothing_else(
    tmp_path: Path, fields: dict[str, str]
) -> None:
    folder = write(tmp_path / "g", {"x.md": note("X", related="y.md"), "y.md": note("Y", **fields)})
    [fault] = faults(folder)
    assert (fault.file, fault.kind) == ("y.md", "cycle")
    assert open_graph(folder).note("y.md").parent is None


def test_duplicate_title(tmp_path: Path) -> None:
    folder = write(tmp_path / "g", {**CRM, "entry_points/Z.md": note("lead")})
    [fault] = of_kind(folder, "duplicate_title")
    assert {"sales/Lead.md", "entry_points/Z.md"} == {fault.file, fault.message.split()[-1][:-1]}


def test_island(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {**CRM, "i/a.md": note("IA", related="i/b.md"), "i/b.md": note("IB", parent="i/a.md")},
    )
    [fault] = of_kind(folder, "island")
    assert fault.file == "i/a.md"
    assert "1 more" in fault.message
    assert open_graph(folder).report.islands == 1


def test_empty_and_large_notes(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {
            **CRM,
            "entry_points/E.md": note("E", content=""),
            "entry_points/L.md": note("L", content="word " * 6_000),
        },
    )
    assert [fault.file for fault in of_kind(folder, "empty_note")] == ["entry_points/E.md"]
    assert [fault.file for fault in of_kind(folder, "large_note")] == ["entry_points/L.md"]


def test_every_kind_is_explained_and_every_fault_says_what_to_do(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "g",
        {
            **CRM,
            "x.md": note("X", parent="no.md", related="../y.md", content=""),
            "y.md": note("CRM", children="x.md", points='"open'),
        },
    )
    found = faults(folder)
    assert len({fault.kind for fault in found}) >= 4
    for fault in found:
        assert fault.kind in KINDS
        assert fault.message.endswith(".") and fault.fix.endswith(".")


def test_the_command_says_so_by_its_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = write(tmp_path / "sound", CRM)
    assert main(["check-knowledge", str(sound)]) == 0
    assert "No faults" in capsys.readouterr().out
    broken = write(tmp_path / "broken", {**CRM, "x.md": note("X", parent="no.md")})
    assert main(["check-knowledge", str(broken)]) == 1
    assert "x.md:4" in capsys.readouterr().out
    assert main(["check-knowledge", str(tmp_path / "absent")]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("tracert: ") and said.err.count("\n") == 1


def test_the_command_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "g", {**CRM, "x.md": note("X", parent="no.md", related="gone.md")})
    assert main(["check-knowledge", str(folder), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "tracert.knowledge/1"
    assert (data["notes"], data["unresolved"], data["islands"]) == (7, 2, 1)
    assert {(f["file"], f["line"], f["kind"]) for f in data["faults"]} >= {
        ("x.md", 4, "missing_parent"),
        ("x.md", 6, "dangling_link"),
        ("x.md", 1, "island"),
    }
    assert all(set(f) == {"file", "line", "kind", "message", "fix"} for f in data["faults"])
