"""`bench`: how fast it is here, beside plain NumPy doing the same arithmetic."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tracert import bench_treehop
from tracert.bench import bench, in_words
from tracert.commands.say import progress_line


def add(commands: Any) -> None:
    """Add the command to the sub-parsers."""
    parser = commands.add_parser(
        "bench",
        help="measure the speed on this machine",
        description="Measure indexing, a run and a run on 100,000 passages, each beside plain "
        "NumPy doing the same arithmetic. Nothing of it is kept.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--book",
        type=Path,
        metavar="FILE",
        help="a text to index; without one a made-up text of the size of Pride and Prejudice",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Measure and print."""
    with progress_line() as show:
        report = bench(given.book, on_progress=show)
        show("TreeHop")
        treehop = bench_treehop.measure()
    if given.json:
        print(json.dumps({**report.to_dict(), "treehop": treehop.to_dict()}, indent=2))
    else:
        print(in_words(report))
        print(bench_treehop.in_words(treehop))
    return 0
