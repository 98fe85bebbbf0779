"""`ask QUESTION`: one run of a method, as a trail to read or as a trace in JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from tracert.commands.models import add_model_options, chosen_model, tell_calls
from tracert.commands.say import say
from tracert.commands.trail import print_trail
from tracert.embedding.registry import embedder
from tracert.errors import SettingError
from tracert.home import home
from tracert.language.answer import write_answer
from tracert.language.base import ChatModel
from tracert.methods.base import Calls, calls_of, cut, parse_settings
from tracert.methods.registry import method, methods
from tracert.methods.trailgraph.session import Session, is_yes, pending
from tracert.trace import Trace, Value
from tracert.workspace import Workspace

_MEANT = "Type yes to open it, another question to start anew, or nothing to leave."


def add(commands: Any) -> None:
    """Add the command to the sub-parsers."""
    parser = commands.add_parser(
        "ask",
        help="ask a question and see the path",
        description="Run a method on a question and print the trail step by step, the evidence "
        "with its sources, and the answer.",
        allow_abbrev=False,
    )
    parser.add_argument("question", metavar="QUESTION")
    over = parser.add_mutually_exclusive_group(required=True)
    over.add_argument("--corpus", metavar="NAME", help="the corpus to walk")
    over.add_argument("--knowledge", metavar="DIR", type=Path, help="the notes, a folder or a zip")
    parser.add_argument(
        "--method", required=True, metavar="NAME", help=f"one of {', '.join(sorted(methods()))}"
    )
    parser.add_argument("--goal", metavar="TEXT", help="a goal of your own, for tracert_rag")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="a setting of the method; repeat for more",
    )
    parser.add_argument("--no-map", action="store_true", help="leave the map out")
    parser.add_argument("--json", action="store_true", help="print the trace as JSON")
    parser.add_argument("--no-vectors", action="store_true", help="leave vectors out of the JSON")
    add_model_options(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Ask, and print the trace. A walk that does not arrive is no error."""
    _check(given)
    workspace = Workspace(home())
    settings = settings_of(given.settings)
    with chosen_model(given) as model:
        if model is not None:
            calls = _calls(given, workspace, settings)
            if calls.index:  # the few calls of a question are what was asked for
                tell_calls(given, model, calls)

        def ask(question: str) -> Trace:
            return workspace.ask(
                question,
                corpus=given.corpus,
                knowledge=given.knowledge,
                method=given.method,
                settings=settings,
                goal=given.goal,
                model=model,
                answer=True,
                with_map=_map(given, workspace),
            )

        trace = ask(given.question)
        if given.json:
            print(trace.to_json(vectors=not given.no_vectors, indent=2))
            return 0
        print_trail(trace, asked=model is not None)
        if pending(trace) is not None and sys.stdin.isatty() and sys.stdout.isatty():
            _go_on(trace, ask, workspace, given.knowledge, model)
    return 0


def _calls(given: argparse.Namespace, workspace: Workspace, settings: Mapping[str, Value]) -> Calls:
    """Those of the method, and one that writes the answer."""
    chosen = method(given.method)
    over = None if given.corpus is None else workspace.open(given.corpus)
    found = calls_of(chosen, parse_settings(chosen.settings_type, settings), over)
    return Calls(found.question + 1, found.index)


def _go_on(
    trace: Trace,
    ask: Callable[[str], Trace],
    workspace: Workspace,
    knowledge: Path,
    model: ChatModel | None,
) -> None:
    """At a terminal: a yes opens the closest note, anything else is a question of its own."""
    opened = workspace.open_notes(knowledge)
    session = Session(ask, opened, trace)
    while pending(trace) is not None:
        say()
        say(f"Did you mean “{trace.node(trace.result.evidence[0]).label}”? {_MEANT}")
        try:
            said = input("> ").strip()
        except EOFError:
            return
        if not said:
            return
        trace = session.say(said)
        if is_yes(said):
            embed = embedder(opened.info.embedder).embed
            trace = trace.with_answer(*write_answer(trace, model, embed))
        say()
        print_trail(trace, asked=model is not None)


def settings_of(given: list[str]) -> dict[str, Value]:
    """The 'KEY=VALUE' texts as a mapping; the method reads the values.

    Raises:
        SettingError: a text without '=', or a key given twice.
    """
    settings: dict[str, Value] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise SettingError(f"--set {cut(text)} is not of the form KEY=VALUE.")
        if key.strip() in settings:
            raise SettingError(f"--set gives {cut(key.strip())} twice. Give it once.")
        settings[key.strip()] = value.strip()
    return settings


def _check(given: argparse.Namespace) -> None:
    """A question is asked, and of what the method walks: notes or passages."""
    if not given.question.strip():
        raise SettingError("The question is empty. Type one.")
    needs = method(given.method).needs
    have = "knowledge" if given.knowledge is not None else "corpus"
    if needs != have:
        raise SettingError(f"The method {given.method!r} needs --{needs}, not --{have}.")


def _map(given: argparse.Namespace, workspace: Workspace) -> bool | Literal["auto", "pca"]:
    """UMAP where one is fitted; else PCA, as no process should stay behind to fit one."""
    if given.no_map or not given.json:
        return False
    if given.corpus is not None and workspace.map_status(given.corpus).state == "umap":
        return "auto"
    return "pca"
