"""`index PATH... --corpus NAME`: files into a corpus."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tracert.commands.say import clean, progress_line, say
from tracert.corpus.chunking import Chunking
from tracert.home import home
from tracert.indexing import IndexReport
from tracert.workspace import Workspace

#: Nothing was indexed and nothing was there already.
REFUSED = 2


def add(commands: Any) -> None:
    """Add the command to the sub-parsers."""
    parser = commands.add_parser(
        "index",
        help="read files into a corpus",
        description="Read PDF, Markdown and plain text into a corpus: chunk, embed, store. "
        "Files that are in already change nothing; one that cannot be read stops no other.",
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", type=Path, help="a file or a folder")
    parser.add_argument("--corpus", required=True, metavar="NAME", help="the corpus; free text")
    parser.add_argument(
        "--chunk-size", type=int, metavar="N", help="characters a chunk (500, or as the corpus is)"
    )
    parser.add_argument(
        "--overlap", type=int, metavar="N", help="characters that chunks share (100)"
    )
    parser.add_argument("--sentences", action="store_true", help="end chunks at sentences")
    parser.add_argument("--embedder", metavar="NAME", help="wordllama unless named otherwise")
    parser.add_argument(
        "--replace", action="store_true", help="let these files be the whole corpus"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Index, report, and say whether anything came of it."""
    with progress_line(sys.stderr) as show:
        report = Workspace(home()).index(
            given.paths,
            name=given.corpus,
            chunking=_chunking(given),
            embedder=given.embedder,
            replace=given.replace,
            on_progress=lambda at: show(
                f"{at.stage}: {at.done:,} of {at.total:,}"
                + (f", {at.seconds_left:.0f} s left" if at.seconds_left else "")
            ),
        )
    if given.json:
        print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        _tell(report)
    if report.ok:
        return 0
    why = next((file.message for file in report.files), "No file was named.")
    print(f"tracert: nothing was indexed. {clean(why)}", file=sys.stderr)
    return REFUSED


def _chunking(given: argparse.Namespace) -> Chunking | None:
    """The chunking asked for; None leaves it to the corpus."""
    asked = {"size": given.chunk_size, "overlap": given.overlap}
    named = {name: value for name, value in asked.items() if value is not None}
    if not named and not given.sentences:
        return None
    return replace(Chunking(sentences=given.sentences), **named)


def _tell(report: IndexReport) -> None:
    for file in report.files:
        pages = f", {file.pages} pages" if file.pages else ""
        what = f"{file.chunks:,} chunks ({file.kind}{pages})" if file.kind else ""
        path, message = file.path, file.message
        # A sentence that begins with the file's name says it once, with its folder.
        for name in (path, Path(path).name):
            if name and message.startswith(f"{name} "):
                path, message = "", path + message.removeprefix(name)
                break
        say(" ".join(part for part in (f"{file.status}:", path, what, message) if part))
    if not report.chunks:
        return
    spent = sum(report.seconds.values())
    say(
        f"The corpus {report.corpus!r} has {report.chunks:,} chunks ({report.embedder}); "
        f"{spent:.1f} s."
    )
