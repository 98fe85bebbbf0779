"""Tracert: watch multi-hop retrieval move through a document or a graph of notes.

import tracert

ws = tracert.open()
ws.index(["book.txt"], "Book")
trace = ws.ask("Who taught whom?", corpus="Book", method="tracert_rag")
print(trace.result.path, trace.result.stop.message)
for step in trace.steps:
    print(step.source, "->", step.target, dict(step.counts))
for id in trace.result.evidence:
    print(trace.node(id).text)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracert.errors import TracertError
from tracert.trace import Trace

if TYPE_CHECKING:
    from tracert.workspace import Workspace

__all__ = ["Trace", "TracertError", "open"]


def open(path: Path | str | None = None) -> Workspace:
    """The workspace of a data folder: `path`, or `TRACERT_HOME`, or the platform's own.

    Raises:
        StoreError: the folder cannot be made.
    """
    from tracert.workspace import Workspace

    return Workspace(path)
