"""Reading a saved trace for a command, from a file or from standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from tracert.errors import TraceError
from tracert.render.opened import open_trace
from tracert.trace import MAX_BYTES, Trace


def read_trace(path: Path) -> Trace:
    """The trace in that file; '-' is standard input.

    Raises:
        TraceError: the file cannot be read, is no trace, or cannot be shown.
    """
    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TraceError(
            f"The trace {path} cannot be read ({error.strerror}). Check the path."
        ) from error
    return open_trace(data)
