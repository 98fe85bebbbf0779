"""`evaluate DATA --method M`: what methods find beside plain top-k at equal budget."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from tracert.commands.ask import settings_of
from tracert.commands.models import add_model_options, chosen_model, tell_calls
from tracert.commands.say import clean, progress_line, say
from tracert.corpus.model import Corpus
from tracert.embedding.registry import DEFAULT, embedder
from tracert.errors import SettingError
from tracert.evaluation.detail import BM25, DENSE
from tracert.evaluation.evaluate import BUDGET, OnProgress, Run, finish, suits
from tracert.evaluation.export import save, save_details, to_csv, to_json
from tracert.evaluation.ground import Ground, corpus_ground, notes_ground, pool_ground
from tracert.evaluation.making import made
from tracert.evaluation.summary import Evaluation
from tracert.home import home
from tracert.language.base import ChatModel
from tracert.methods.base import Calls, Method, calls_of, cut, parse_settings
from tracert.methods.registry import method, methods
from tracert.render.evaluation_intervals import measure_rows
from tracert.render.evaluation_tables import Measured, points, said_of_making
from tracert.render.numbers import count
from tracert.render.report import named, report_html
from tracert.trace import Value
from tracert.workspace import Workspace

#: The measures that are printed of each method.
_PRINTED = ("Recall", "Precision", "All found", "MRR", "nDCG")
#: Faults of the data that are named one by one.
_NAMED = 5


def add(commands: Any) -> None:
    """Add the command to the sub-parsers."""
    parser = commands.add_parser(
        "evaluate",
        help="measure methods on questions with known passages",
        description="Run methods on each question of a file and compare what they find with plain "
        "top-k at the same number of passages. Searched is the pool of --passages, a corpus, a "
        "folder of notes or, without any of them, the paragraphs that the questions bring along.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "data",
        metavar="DATA",
        type=Path,
        help="questions: .jsonl, .json or .gz, ours or as HotpotQA, 2WikiMultiHopQA, MuSiQue and "
        "MultiHop-RAG publish them",
    )
    over = parser.add_mutually_exclusive_group()
    over.add_argument(
        "--passages", metavar="FILE", type=Path, help="the pool: a line a passage, or articles"
    )
    over.add_argument("--corpus", metavar="NAME", help="a corpus of the library")
    over.add_argument("--knowledge", metavar="DIR", type=Path, help="notes, a folder or a zip")
    parser.add_argument(
        "--method",
        required=True,
        action="append",
        metavar="[LABEL=]NAME",
        help=f"one of {', '.join(sorted(methods()))}; repeat for more; with labels one method can "
        "stand there twice, each with its own settings",
    )
    parser.add_argument(
        "--embedder",
        action="append",
        metavar="NAME",
        help=f"{DEFAULT} unless named otherwise; repeat for more; a corpus has its own",
    )
    parser.add_argument(
        "-k",
        type=_positive,
        default=BUDGET,
        metavar="N",
        help=f"the budget: passages that a method may return in all ({BUDGET})",
    )
    parser.add_argument("--hops", type=_positive, metavar="N", help="hops, of methods with hops")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="a setting of the methods that have it, or METHOD.KEY=VALUE, or LABEL.KEY=VALUE; "
        "repeat for more",
    )
    parser.add_argument("--details", metavar="FILE", type=Path, help="write a JSON line a question")
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write a table of the questions")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write a report for the browser")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    add_model_options(parser)
    parser.set_defaults(run=run)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


@dataclass(frozen=True, slots=True)
class _Row:
    """A method as it was asked for; `label` is '' where it goes by its own name."""

    label: str
    method: Method

    @property
    def called(self) -> str:
        """What it is called in settings, tables and files."""
        return self.label or self.method.name


def run(given: argparse.Namespace) -> int:
    """Evaluate, print the report and write the files asked for."""
    rows = _rows(given.method)
    settings = _shared_out(settings_of(given.settings), rows)
    for row in rows:  # before anything is embedded, which may take minutes
        suits(row.method, "corpus" if given.knowledge is None else "knowledge")
    found: list[Evaluation] = []
    makings: list[Mapping[str, Any]] = []
    with chosen_model(given) as model, progress_line(sys.stderr) as show:
        for name in dict.fromkeys(given.embedder or [None]):
            ground = _ground(
                given, name, lambda what, done, of: show(f"{what}: {done:,} of {of:,}")
            )
            each = [_run_of(ground, row, given, settings[row.called], model) for row in rows]
            tell_calls(given, model, _calls(each))
            for row, one in zip(rows, each, strict=True):
                told = partial(_told, show, row.called)
                makings.append(made(one, lambda done, of, what, told=told: told(what, done, of)))  # type: ignore[misc]
                found.append(finish(one, told))
    labels = [row.label for row in rows] * (len(found) // len(rows))
    if given.details is not None:
        save_details(found, given.details, labels)
    if given.csv is not None:
        save(given.csv, to_csv(found, labels))
    if given.html is not None:
        save(given.html, report_html(named(found, labels, makings)))
    if given.json:
        print(to_json(found, labels, makings))
    else:
        _print_all(
            [
                Measured(label or one.setup.method, one, making)
                for one, label, making in zip(found, labels, makings, strict=True)
            ]
        )
    return 0


def _told(show: Callable[[str], None], called: str, what: str, done: int, of: int) -> None:
    show(f"{called}, {what}: {done:,} of {of:,}")


def _rows(given: Sequence[str]) -> list[_Row]:
    """The methods asked for, each once under one name.

    Raises:
        SettingError: a method is unknown, or two rows are called the same.
    """
    rows: list[_Row] = []
    for text in dict.fromkeys(given):
        label, equals, name = text.rpartition("=")
        if equals and not label.strip():
            raise SettingError(f"--method {cut(text)} is not of the form LABEL=NAME.")
        row = _Row(label.strip(), method(name.strip()))
        if any(row.called == each.called for each in rows):
            raise SettingError(f"Two methods are called {cut(row.called)}. Give each its label.")
        rows.append(row)
    return rows


def _run_of(
    ground: Ground,
    row: _Row,
    given: argparse.Namespace,
    settings: Mapping[str, Value],
    model: ChatModel | None,
) -> Run:
    hops = given.hops
    if hops is not None and len(given.method) > 1 and "hops" not in _settings_of(row.method):
        hops = None
    return Run(ground, row.method, k=given.k, hops=hops, settings=settings, model=model)


def _calls(runs: Sequence[Run]) -> Calls:
    """All calls that the runs may take, over all their questions."""
    each = [(run, _calls_of(run)) for run in runs]
    return Calls(
        question=sum(calls.question * len(run.items) for run, calls in each),
        index=sum(calls.index for _, calls in each),
    )


def _calls_of(run: Run) -> Calls:
    corpus: Corpus | None = None if run.ground.kind == "notes" else run.ground.over
    settings = parse_settings(run.method.settings_type, run.settings)
    return calls_of(run.method, settings, corpus)


def _ground(given: argparse.Namespace, name: str | None, on_progress: OnProgress) -> Ground:
    folder = home()
    if given.corpus is not None:
        snapshot = Workspace(folder).open(given.corpus)
        own = snapshot.info.embedder
        if name not in (None, own):
            raise SettingError(
                f"The corpus {given.corpus!r} was embedded by {own!r}. Leave --embedder out."
            )
        return corpus_ground(snapshot, given.data, embedder(own), folder)
    chosen = embedder(name or DEFAULT)
    if given.knowledge is not None:
        graph = Workspace(folder).open_notes(given.knowledge, embedder=chosen)
        return notes_ground(graph, given.data, chosen, folder)
    return pool_ground(given.data, given.passages, chosen, folder, on_progress=on_progress)


def _settings_of(chosen: Method) -> set[str]:
    return {field.name for field in fields(chosen.settings_type)}


def _shared_out(settings: Mapping[str, Value], rows: Sequence[_Row]) -> dict[str, dict[str, Value]]:
    """The settings of each row; one that only some of the methods know goes to these.

    Raises:
        SettingError: no method has the setting, or a row is named that is not there.
    """
    out: dict[str, dict[str, Value]] = {row.called: {} for row in rows}
    named = {key: value for key, value in settings.items() if "." in key}
    for key, value in settings.items():
        if key in named:
            continue
        having = [row for row in rows if key in _settings_of(row.method)]
        # Of one method alone the method itself says what it has.
        for row in having or rows[: 1 if len(rows) == 1 else 0]:
            out[row.called][key] = value
        if not having and len(rows) > 1:
            raise SettingError(f"None of the methods has a setting {key!r}. Leave it out.")
    for key, value in named.items():
        name, _, setting = key.rpartition(".")
        if name not in out:
            raise SettingError(f"--set names the method {name!r}. Add --method {name}.")
        out[name][setting] = value
    return out


# --- printed --------------------------------------------------------------------------------


def _print_all(found: Sequence[Measured]) -> None:
    first = found[0].evaluation.setup
    for fault in first.faults[:_NAMED]:
        say(f"Left out: {fault}")
    more = len(first.faults) - _NAMED
    if more > 0:
        say(f"Left out: {more} more rows that could not be read.")
    if len(found) == 1:
        _print(found[0])
        return
    asked = count(len(found[0].evaluation.details), "question")
    say(f"{asked} of {first.data}, searched in {first.size:,} of {first.source}.")
    say()
    print(f"  {'':<34} recall  top-k   BM25   over top-k, 95% interval  passages  ms")
    for one in found:
        summary = one.summary
        gain = summary.differences[DENSE]["recall"]
        print(
            f"  {clean(one.label + ', ' + one.evaluation.setup.embedder):<34} "
            f"{summary.measures['recall'].mean:>6.3f} "
            f"{summary.references[DENSE]['recall'].mean:>6.3f} "
            f"{summary.references[BM25]['recall'].mean:>6.3f}   "
            f"{100 * gain.mean:>+5.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})".ljust(84)
            + f"{summary.measures['passages'].mean:>6.1f} "
            f"{summary.latency['all'].p50.mean:>6.1f}"
        )
    for one in found:
        say()
        _print(one)


def _print(one: Measured) -> None:
    data = one.evaluation.to_dict()
    results = data["results"]
    base = results["baseline"]
    mean, low, high = results["paired_difference"]
    say(
        f"{one.label} on {count(data['questions'], 'question')} of {data['data']}, "
        f"embedded by {data['embedder']}."
    )
    if data["left_out"]:
        single = data["left_out"] == 1
        say(
            f"{count(data['left_out'], 'question')} {'has' if single else 'have'} no gold passage "
            f"in the pool and {'is' if single else 'are'} left out."
        )
    say(
        f"Recall {results['recall']:.3f} with {results['passages']:.1f} passages a question; "
        f"plain top-k at the same number {base['recall']:.3f}."
    )
    say(f"Difference {100 * mean:+.1f} points, 95% interval {100 * low:+.1f} to {100 * high:+.1f}.")
    say(
        f"All gold found: {results['all_found']:.3f} (top-k {base['all_found']:.3f}). "
        f"Filled up with top-k: {100 * results['filled']:.1f}% of the passages."
    )
    _print_measures(one.evaluation)
    measures = results["measures"]
    if "hops" in measures:
        order = measures.get("in_order")
        say(
            f"The way: {measures['hops']['mean']:.1f} hops that gathered something, "
            f"{100 * measures['wasted_hops']['mean']:.0f}% of them without new gold; stopped too "
            f"early {100 * measures['too_early']['mean']:.0f}%, too late "
            f"{100 * measures['too_late']['mean']:.0f}% of the questions"
            + ("." if order is None else f"; gold in order {100 * order['mean']:.0f}%.")
        )
    if measures["model_calls"]["mean"]:
        say(
            f"The model was asked {measures['model_calls']['mean']:.1f} times a question, "
            f"{measures['tokens']['mean']:.0f} tokens."
        )
    latency = results["latency_ms"]
    stages = ", ".join(
        f"{name} {each['p50']['mean']:.1f} and {each['p95']['mean']:.1f}"
        for name, each in latency["intervals"].items()
        if name != "all"
    )
    say(
        f"A question took {latency['p50']:.1f} ms in the median and {latency['p95']:.1f} at the "
        f"95th percentile (by stage: {stages})."
    )
    cost = said_of_making(one)
    if cost:
        say(cost)
    for title, groups in (
        ("By type", results["by_type"]),
        ("By hops of the question", results["by_n_hops"]),
        ("By hops from the question to the passage", results["by_hop"]),
    ):
        say()
        say(f"{title}:")
        for name, group in groups.items():
            low, high = group["interval"]
            print(
                f"  {clean(name) or 'none':<20} {group['count']:>5} "
                f"{group['recall']:.3f}  top-k {group['baseline']:.3f}  "
                f"{100 * group['difference']:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
            )


def _print_measures(report: Evaluation) -> None:
    """The measures of the list with their intervals, and the differences with theirs."""
    rows = measure_rows([Measured("", report, {})])
    print(
        f"  {'':<10} {'mean':>6}  {'95% interval':<15}  {'over top-k, points':<24}  "
        "over BM25, points"
    )
    for place, (name, label) in enumerate(zip(rows["Measure"], rows["Method"], strict=True)):
        if label or name not in _PRINTED:
            continue
        differences = [_difference(rows, reference, place) for reference in ("top-k", "BM25")]
        print(
            f"  {name:<10} {rows['Mean'][place]:>6.3f}  {rows['95%'][place]:<15}  "
            f"{differences[0]:<24}  {differences[1]}".rstrip()
        )


def _difference(rows: Mapping[str, Sequence[Any]], reference: str, place: int) -> str:
    mean = rows.get(f"vs {reference}", [None] * (place + 1))[place]
    if mean is None:
        return "–"
    said = f"{points(mean / 100)} ({rows[f'vs {reference}, 95%'][place]})"
    return said.replace("\N{MINUS SIGN}", "-")  # which not every terminal can show
