"""`check-knowledge DIR`: what is wrong with a folder of notes, where, and what to do."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from tracert.commands.say import say
from tracert.home import home
from tracert.knowledge.archive import unpacked
from tracert.knowledge.checks import KINDS
from tracert.knowledge.graph import KnowledgeGraph, open_graph

SCHEMA: Final = "tracert.knowledge/1"
#: Exit statuses: no fault, faults; what cannot be read at all is an error (2).
SOUND, FAULTS = 0, 1


def add(commands: Any) -> None:
    """Add the command to the sub-parsers."""
    parser = commands.add_parser(
        "check-knowledge",
        help="check a folder of notes",
        description="Read a folder (or a zip) of markdown notes and list what is wrong, each with "
        "file, line and what to do. Status 0: sound, 1: faults, 2: unreadable.",
        allow_abbrev=False,
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="the folder of notes, or a zip")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Check, report, and say by the status whether the graph is sound."""
    folder, more = unpacked(given.folder, home())
    graph = open_graph(folder, name=given.folder.name)
    faults = [*more, *graph.faults]
    if given.json:
        report = {
            "schema": SCHEMA,
            "dialect": graph.report.dialect,
            "entry_points": list(graph.entry_points),
            "notes": graph.report.notes,
            "links": graph.report.links,
            "resolved": graph.report.resolved,
            "unresolved": graph.report.unresolved,
            "islands": graph.report.islands,
            "relative_to_root": graph.report.relative_to_root,
            "relative_to_note": graph.report.relative_to_note,
            "faults": [
                {
                    "file": fault.file,
                    "line": fault.line,
                    "kind": fault.kind,
                    "message": fault.message,
                    "fix": fault.fix,
                }
                for fault in faults
            ],
        }
        print(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        _tell(graph)
        for fault in faults:
            where = f"{fault.file}:{fault.line}" if fault.line else fault.file
            say(f"{fault.kind}: {fault.message} {fault.fix}", first=f"{where}  ", indent="    ")
        kinds = Counter(fault.kind for fault in faults)
        for kind, count in kinds.most_common():
            say(f"{count} {kind}: {KINDS[kind]}.")
        if not faults:
            say("No faults.")
    return FAULTS if faults else SOUND


def _tell(graph: KnowledgeGraph) -> None:
    say(f"{graph.name}: {graph.report.sentence}")
