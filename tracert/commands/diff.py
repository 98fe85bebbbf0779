"""`diff A.json B.json`: two runs of one method laid over each other."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tracert.commands.say import say
from tracert.commands.traces import read_trace
from tracert.difference import Difference, difference
from tracert.render.difference import (
    fate_of,
    in_words,
    node_of,
    step_rows,
    to_dict,
    told,
    turned_rows,
)
from tracert.render.words import place, title
from tracert.render.words.base import unit


def add(commands: Any) -> None:
    """Add the command to the sub-parsers."""
    parser = commands.add_parser(
        "diff",
        help="lay two saved runs of one method over each other",
        description="Print what differs between two traces of one method: settings, steps, "
        "verdicts, evidence and cost. The exit status is 0 also where they differ.",
        allow_abbrev=False,
    )
    parser.add_argument("a", metavar="A.json", type=Path, help="a trace, '-' for standard input")
    parser.add_argument("b", metavar="B.json", type=Path, help="a trace of the same method")
    parser.add_argument("--json", action="store_true", help="print the difference as JSON")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Print the difference of two traces."""
    found = difference(read_trace(given.a), read_trace(given.b))
    if given.json:
        print(json.dumps(to_dict(found), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        _print(found)
    return 0


def _print(found: Difference) -> None:
    for sentence in in_words(found):
        say(sentence)
    _steps(found)
    _verdicts(found)
    what = f"{unit(found.b).capitalize()}s"
    for heading, ids, other, side in (
        (f"{what} that A alone found", found.only_a, found.b, 1),
        (f"{what} that B alone found", found.only_b, found.a, 0),
    ):
        if ids:
            print(f"\n{heading}")
        for id in ids:
            node = node_of(found, id)
            say(title(node, 90), first="   - ")
            say(place(node), first="     at ")
            say(f"{'AB'[side]}: {fate_of(other, found.fates[id][side])}", first="     in ")
    if found.costs:
        print("\nCost")
    for one in found.costs:
        say(f"{one.name}: {told(one.a)} → {told(one.b)}", first="   - ")


def _steps(found: Difference) -> None:
    rows = step_rows(found)
    print("\nSteps")
    for number, kind, a, b, numbers in zip(*rows.values(), strict=True):
        said = kind if kind == "the same" else f"{kind}; A: {a}; B: {b}"
        say(f"{said}{'; ' + numbers if numbers else ''}", first=f"{number:>4}. ")


def _verdicts(found: Difference) -> None:
    rows = turned_rows(found)
    if rows["id"]:
        print("\nKept by one and not by the other, at the same node")
    for _, name, source, a, b in zip(*rows.values(), strict=True):
        say(f"{name} (from {source})", first="   - ")
        say(a, first="     A: ")
        say(b, first="     B: ")
