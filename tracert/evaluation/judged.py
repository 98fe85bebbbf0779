"""The judge over many questions: means with intervals, wins, disagreement; the paper's table 1.

The scores of an answer to a question are the mean of both rounds. A question is won by the answer
that both rounds name the best; where they name two it is won by none, and the share of such
questions is reported beside the table. Intervals are 95% bootstrap intervals over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracert.errors import BudgetError, ModelError
from tracert.evaluation.metrics import bootstrap_mean
from tracert.language.base import ChatModel
from tracert.language.judge import CRITERIA, Judgement, judge

#: Mean, lower end and upper end.
Interval = tuple[float, float, float]

OVERALL: Final = "overall"


@dataclass(frozen=True, slots=True)
class Row:
    """What one method got: a row of the paper's table 1.

    `wins` are questions that both rounds gave it; `share` is the share of rounds that name it the
    best. `scores` has an interval for each criterion and for 'overall'.
    """

    method: str
    wins: int
    share: Interval
    scores: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Judged:
    """The report. `disagreed` is the share of questions whose rounds name two winners.

    `moved` is the mean size of the change of a score between the rounds, in points. `failures`
    are the questions that the judge gave no readable judgement on, with the reason.
    """

    model: str
    seed: int
    judgements: tuple[Judgement, ...]
    failures: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    disagreed: Interval
    moved: Interval


def judge_all(
    questions: Sequence[tuple[str, Mapping[str, str]]],
    model: ChatModel,
    *,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[tuple[Judgement, ...], tuple[tuple[str, str], ...]]:
    """The judgements on questions with their answers, and those that failed with the reason.

    Every question needs answers of the same methods. When the budget ends, so does the judging:
    the questions left are among the failures.

    Args:
        questions: each with the answers by method.
        model: the judge.
        seed: of the orders.
        on_progress: told how many of how many are done; may raise to stop the work.
    """
    made: list[Judgement] = []
    failed: list[tuple[str, str]] = []
    spent = ""
    for number, (question, answers) in enumerate(questions):
        if on_progress is not None:
            on_progress(number, len(questions))
        if spent:
            failed.append((question, spent))
            continue
        try:
            made.append(judge(question, answers, model, seed=seed))
        except BudgetError as error:
            spent = str(error)
            failed.append((question, spent))
        except ModelError as error:
            failed.append((question, str(error)))
    if on_progress is not None:
        on_progress(len(questions), len(questions))
    return tuple(made), tuple(failed)


def judged(
    judgements: Sequence[Judgement], failures: Sequence[tuple[str, str]] = ()
) -> Judged | None:
    """The report over judgements of the same methods; None where there is none.

    Rows are in the order of the overall score, the highest first.

    Raises:
        ValueError: the judgements are of different methods or judges.
    """
    if not judgements:
        return None
    first = judgements[0]
    if any((each.names, each.model) != (first.names, first.model) for each in judgements):
        raise ValueError("the judgements are of different methods or judges")
    rows = [_row(name, judgements) for name in first.names]
    rows.sort(key=lambda row: (-row.scores[OVERALL][0], row.method))
    return Judged(
        model=first.model,
        seed=first.seed,
        judgements=tuple(judgements),
        failures=tuple(failures),
        rows=tuple(rows),
        disagreed=_interval([float(each.winner is None) for each in judgements]),
        moved=_interval([each.disagreement for each in judgements]),
    )


def as_markdown(report: Judged, titles: Mapping[str, str] | None = None) -> str:
    """The report as the paper's table 1 with intervals, and two sentences on the judge itself."""
    names = titles or {}
    heads = ["Method", "Win", *(each.capitalize() for each in CRITERIA), "Overall"]
    lines = [" | ".join(heads), " | ".join(["---", *["---:"] * (len(heads) - 1)])]
    for row in report.rows:
        scores = [_cell(row.scores[each]) for each in (*CRITERIA, OVERALL)]
        lines.append(" | ".join([names.get(row.method, row.method), str(row.wins), *scores]))
    table = "\n".join(f"| {line} |" for line in lines)
    count = len(report.judgements)
    asked = "1 question" if count == 1 else f"{count} questions"
    said = (
        f"Judged by {report.model}, each question twice, the second time in the order turned "
        f"round: {asked}. The rounds named two winners at {report.disagreed[0]:.0%} of "
        f"them; a score moved by {report.moved[0]:.2f} points on average."
    )
    if report.failures:
        said += f" At {len(report.failures)} more the judge gave nothing that can be read."
    return f"{table}\n\n{said}"


# --- inner ------------------------------------------------------------------------------------


def _row(name: str, judgements: Sequence[Judgement]) -> Row:
    scores = {each: _interval([made.mean(name, each) for made in judgements]) for each in CRITERIA}
    scores[OVERALL] = _interval([made.overall(name) for made in judgements])
    share = [((made.first.best == name) + (made.second.best == name)) / 2 for made in judgements]
    return Row(name, sum(made.winner == name for made in judgements), _interval(share), scores)


def _interval(values: Sequence[float]) -> Interval:
    return bootstrap_mean(np.array(values, dtype=np.float64))


def _cell(found: Interval) -> str:
    return f"{found[0]:.1f} ({found[1]:.1f} to {found[2]:.1f})"
