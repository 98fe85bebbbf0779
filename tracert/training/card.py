"""The model card of trained weights, in Markdown, written beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tracert.training.topology import Dropped

if TYPE_CHECKING:
    from tracert.training.train import TrainingReport

#: The licences of the data sets that `tracert.evaluation.datasets` reads.
LICENCES: Final[Mapping[str, str]] = {
    "hotpotqa": "HotpotQA: CC-BY-SA-4.0 (Yang et al. 2018)",
    "2wikimultihopqa": "2WikiMultiHopQA: Apache-2.0 (Ho et al. 2020); passages from Wikipedia, "
    "CC-BY-SA",
    "musique": "MuSiQue: CC-BY-4.0 (Trivedi et al. 2022)",
    "entailmentbank": "EntailmentBank: from an Apache-2.0 repository (Dalvi et al. 2021)",
}


def card(report: TrainingReport, name: str) -> str:
    """The card's text."""
    settings = asdict(report.settings)
    lines = [
        f"# {name}",
        "",
        f"Gates of TreeHop (light form) for the embedder `{report.embedder}`, {report.dimension} "
        f"numbers a vector, {report.parameters:,} trained numbers, float16. Made by "
        "`python -m tracert train-treehop`. They move the vector of an English question from hop "
        "to hop; they hold no text.",
        "",
        "## Data",
        "",
        f"Files: {', '.join(report.data)}.",
        "",
        f"{report.hops} hops of {report.questions} questions were learned from, against "
        f"{report.passages:,} passages; {report.held_out} questions were held out for early "
        "stopping. Questions dropped:",
        "",
        *(_dropped(report, reason, count) for reason, count in report.dropped.items()),
        "",
        "## Licences",
        "",
        *(f"- {LICENCES.get(each, f'{each}: see its source')}" for each in report.datasets),
        "",
        "## Settings",
        "",
        *(f"- {key}: {value}" for key, value in settings.items()),
        "",
        "## Figures",
        "",
        "Points of recall over plain top-k at the same number of passages, on the held-out "
        "questions (which chose the epoch, so that these are a little kind):",
        "",
        "| budget | forget rule | these weights |",
        "|---|---|---|",
        *(
            f"| {budget} | {report.forget_rule_gains[budget]:+.2f} | {gain:+.2f} |"
            for budget, gain in report.gains.items()
        ),
        "",
        "Loss and mean held-out gain by epoch:",
        "",
        *(
            f"- model {number + 1}: "
            + ", ".join(
                f"{epoch.number}: {epoch.gain:+.2f}"
                + (" (forget rule)" if epoch.loss is None else f" (loss {epoch.loss:.3f})")
                for epoch in history
            )
            for number, history in enumerate(report.history)
        ),
        "",
    ]
    return "\n".join(lines)


def _dropped(report: TrainingReport, reason: str, count: int) -> str:
    if reason == Dropped.SHORTCUT and report.settings.shortcuts:
        return f"- kept all the same (shortcuts: True): {reason}"
    return f"- {count}: {reason}"


def write_card(report: TrainingReport, weights: Path) -> Path:
    """Write the card beside the weights; returns its path."""
    path = weights.with_suffix(".md")
    path.write_text(card(report, weights.stem), encoding="utf-8")
    return path
