"""`train-treehop DATA... --embedder NAME --out FILE`: gates for an embedder of one's own."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tracert.commands.say import progress_line, say
from tracert.embedding.registry import embedder
from tracert.errors import SettingError
from tracert.home import home


def add(commands: Any) -> None:
    """Add the command to the sub-parsers."""
    parser = commands.add_parser(
        "train-treehop",
        help="train TreeHop's gates for an embedder",
        description="Train the gates that move a question's vector from hop to hop, on questions "
        "with ordered passages. Needs torch: pip install -r requirements-train.txt.",
        allow_abbrev=False,
    )
    parser.add_argument("data", nargs="+", metavar="DATA", type=Path, help="questions, .jsonl[.gz]")
    parser.add_argument("--embedder", required=True, metavar="NAME", help="whose vectors to move")
    parser.add_argument(
        "--out", required=True, metavar="FILE", type=Path, help="the weights, .safetensors"
    )
    parser.add_argument("--epochs", type=int, metavar="N", help="passes over the hops, at most")
    parser.add_argument("--batch", type=int, metavar="N", help="hops a step")
    parser.add_argument(
        "--rank", type=int, metavar="N", help="low-rank maps; 0 is diagonal, none is full"
    )
    parser.add_argument("--gamma", type=float, metavar="X", help="of the forget rule at the start")
    parser.add_argument("--temperature", type=float, metavar="X", help="of the loss")
    parser.add_argument("--learning-rate", type=float, metavar="X", help="at the start")
    parser.add_argument("--dropout", type=float, metavar="X", help="on the values")
    parser.add_argument(
        "--logical", type=float, metavar="X", help="weight of a logical distractor in the loss"
    )
    parser.add_argument("--models", type=int, metavar="N", help="seeds to train and average")
    parser.add_argument("--seed", type=int, metavar="N", help="of all randomness")
    parser.add_argument(
        "--no-shortcuts",
        action="store_true",
        help="drop hops whose first passage holds the answer already",
    )
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Train, write weights and card, and report."""
    try:
        from tracert.training.card import write_card
        from tracert.training.train import TrainingSettings, train, with_values
    except ImportError as error:
        if error.name != "torch":
            raise
        raise SettingError(
            "Training needs torch. Run pip install -r requirements-train.txt."
        ) from error
    settings = with_values(
        TrainingSettings(),
        epochs=given.epochs,
        batch=given.batch,
        rank=given.rank,
        gamma=given.gamma,
        temperature=given.temperature,
        learning_rate=given.learning_rate,
        dropout=given.dropout,
        logical=given.logical,
        models=given.models,
        seed=given.seed,
        shortcuts=False if given.no_shortcuts else None,
    )
    with progress_line(sys.stderr) as show:
        report = train(
            given.data,
            embedder(given.embedder),
            given.out,
            home() / "evaluation",
            settings,
            resume=given.resume,
            on_progress=show,
        )
    card = write_card(report, given.out)
    if given.json:
        print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2, allow_nan=False))
        return 0
    say(
        f"Trained on {report.hops} hops of {report.questions} questions; {report.parameters:,} "
        f"numbers in {given.out}, the card in {card}."
    )
    for budget, gain in report.gains.items():
        say(
            f"Held out, {budget} passages: {gain:+.2f} points over top-k, the forget rule "
            f"{report.forget_rule_gains[budget]:+.2f}."
        )
    return 0
