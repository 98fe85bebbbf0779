"""`export TRACE.json`: a saved run as a web page, as Markdown, as GraphML."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tracert.commands.traces import read_trace
from tracert.errors import SettingError, TraceError
from tracert.render.export.graphml import to_graphml
from tracert.render.export.markdown import to_markdown
from tracert.render.export.page import to_page
from tracert.trace import Trace

_WRITERS: Final[dict[str, tuple[Callable[[Trace], str], str]]] = {
    "html": (to_page, "one web page that needs no network, player included"),
    "markdown": (to_markdown, "the path, the passages and the answer as Markdown"),
    "graphml": (to_graphml, "the graph for Gephi, yEd, Cytoscape or networkx"),
}


def add(commands: Any) -> None:
    """Add the command to the sub-parsers."""
    parser = commands.add_parser(
        "export",
        help="write a saved run as a web page, Markdown or GraphML",
        description="Write a trace that 'ask --json' or 'Save trace' wrote in other formats. It "
        "needs no corpus, no key and no network.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "trace", metavar="TRACE.json", type=Path, help="a trace, '-' for standard input"
    )
    for name, (_, about) in _WRITERS.items():
        parser.add_argument(f"--{name}", metavar="FILE", type=Path, help=about)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write each file that was asked for."""
    wanted = [name for name in _WRITERS if getattr(given, name) is not None]
    if not wanted:
        raise SettingError("Nothing is to be written. Pass --html, --markdown or --graphml FILE.")
    trace = read_trace(given.trace)
    for name in wanted:
        path: Path = getattr(given, name)
        text = _WRITERS[name][0](trace)
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise TraceError(
                f"The file {path} cannot be written ({error.strerror}). Name another file."
            ) from error
        print(f"Wrote {path} ({len(text.encode()):,} bytes).")
    return 0
