"""`evaluate DATA --passages CORPUS --method M`: recall beside plain top-k at equal budget."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tracert.commands.ask import settings_of
from tracert.commands.models import add_model_options, chosen_model
from tracert.commands.say import clean, progress_line, say
from tracert.embedding.registry import DEFAULT, embedder
from tracert.evaluation.evaluate import evaluate
from tracert.evaluation.summary import Evaluation
from tracert.home import home
from tracert.methods.registry import method, methods


def add(commands: Any) -> None:
    """Add the command to the sub-parsers."""
    parser = commands.add_parser(
        "evaluate",
        help="measure a method on questions with known passages",
        description="Run a method on each question of a file and compare its recall with plain "
        "top-k at the same number of passages.",
        allow_abbrev=False,
    )
    parser.add_argument("data", metavar="DATA", type=Path, help="questions, .jsonl or .jsonl.gz")
    parser.add_argument(
        "--passages", required=True, metavar="CORPUS", type=Path, help="the pool, a line a passage"
    )
    corpus_methods = sorted(each.name for each in methods().values() if each.needs == "corpus")
    parser.add_argument(
        "--method", required=True, metavar="NAME", help=f"one of {', '.join(corpus_methods)}"
    )
    parser.add_argument(
        "--embedder", default=DEFAULT, metavar="NAME", help=f"{DEFAULT} unless named otherwise"
    )
    parser.add_argument(
        "-k",
        type=_positive,
        default=5,
        metavar="N",
        help="the budget: passages that the method may return in all (5)",
    )
    parser.add_argument("--hops", type=_positive, metavar="N", help="hops, of a method with hops")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="a setting of the method; repeat for more",
    )
    parser.add_argument("--details", metavar="FILE", type=Path, help="write a JSON line a question")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    add_model_options(parser)
    parser.set_defaults(run=run)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def run(given: argparse.Namespace) -> int:
    """Evaluate and print the report."""
    chosen = method(given.method)
    with chosen_model(given) as model, progress_line(sys.stderr) as show:
        report = evaluate(
            given.data,
            given.passages,
            chosen,
            embedder(given.embedder),
            home(),
            k=given.k,
            hops=given.hops,
            settings=settings_of(given.settings),
            model=model,
            on_progress=lambda what, done, of: show(f"{what}: {done:,} of {of:,}"),
        )
    if given.details is not None:
        report.save_details(given.details)
    if given.json:
        print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        _print(report)
    return 0


def _print(report: Evaluation) -> None:
    data = report.to_dict()
    results = data["results"]
    base = results["baseline"]
    mean, low, high = results["paired_difference"]
    say(
        f"{data['method']} on {data['questions']} questions of {data['data']}, embedded by "
        f"{data['embedder']}."
    )
    if data["left_out"]:
        say(f"{data['left_out']} questions have no gold passage in the pool and are left out.")
    say(
        f"Recall {results['recall']:.3f} with {results['passages']:.1f} passages a question; "
        f"plain top-k at the same number {base['recall']:.3f}."
    )
    say(f"Difference {100 * mean:+.1f} points, 95% interval {100 * low:+.1f} to {100 * high:+.1f}.")
    say(
        f"All gold found: {results['all_found']:.3f} (top-k {base['all_found']:.3f}). "
        f"Filled up with top-k: {100 * results['filled']:.1f}% of the passages."
    )
    latency = results["latency_ms"]
    stages = ", ".join(f"{name} {ms:.1f}" for name, ms in latency["stages"].items())
    say(
        f"A question took {latency['p50']:.1f} ms in the median, {latency['p95']:.1f} at the 95th "
        f"percentile ({stages})."
    )
    for title, groups in (("By type", results["by_type"]), ("By hop", results["by_hop"])):
        say()
        say(f"{title}:")
        for name, group in groups.items():
            print(
                f"  {clean(name) or 'none':<20} {group['count']:>5} "
                f"{group['recall']:.3f}  top-k {group['baseline']:.3f}  "
                f"{100 * group['difference']:+.1f}"
            )
