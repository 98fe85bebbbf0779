"""The command line: `python -m tracert COMMAND`, the same library without a browser.

Results go to standard output, progress and errors to standard error. An expected error is one
line that says what to do, with exit status 2 and no traceback. A command is a module of
`tracert.commands` with a function `add` that `COMMANDS` names.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from tracert.commands import (
    ask,
    bench,
    check_knowledge,
    diff,
    evaluate,
    export,
    index,
    train_treehop,
)
from tracert.commands.say import clean
from tracert.errors import TracertError

#: Exit statuses beside a command's own: an error, stopped by Ctrl-C, reader gone.
ERROR, INTERRUPTED, BROKEN_PIPE = 2, 130, 141

#: Each adds its parser to the sub-parsers and sets the default `run`: (arguments) -> status.
COMMANDS: Final[tuple[Callable[[Any], None], ...]] = (
    index.add,
    ask.add,
    export.add,
    diff.add,
    evaluate.add,
    train_treehop.add,
    check_knowledge.add,
    bench.add,
)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where the help is, and leave with status 2."""
        self.exit(ERROR, f"tracert: {clean(message)}; see '{self.prog} --help'.\n")


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    root = _Parser(
        prog="tracert",
        description="Watch multi-hop retrieval move through a document or a graph of notes.",
        allow_abbrev=False,
    )
    commands = root.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_Parser
    )
    for add in COMMANDS:
        add(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status.

    Args:
        arguments: without the program's name; None takes those of the process.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character of a document shows its code instead.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(arguments)
    except TracertError as error:
        print(f"tracert: {clean(str(error))}", file=sys.stderr)
        return ERROR
    except KeyboardInterrupt:
        print("tracert: stopped; nothing half-made was kept.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, a closed pager) has what it wants. Standard output is pointed
        # elsewhere so that the interpreter's last flush does not fail too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


def _run(arguments: Sequence[str] | None) -> int:
    try:
        given = parser().parse_args(arguments)
        status: int = given.run(given)
        return status
    finally:
        # Now, also after the help, so that a reader who has gone is noticed where it is handled.
        sys.stdout.flush()
