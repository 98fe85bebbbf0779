"""A method on questions whose gold passages are known, beside plain top-k at equal budget.

The budget is the number of passages that a method may return in all. A method that returns
fewer is filled up with plain top-k, and the share filled is told. The baseline is native_rag
with the same embedder and the same first stage, given question by question as many passages as
the method returned.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np

from tracert.embedding.base import Embedder
from tracert.errors import DatasetError, SettingError
from tracert.evaluation.datasets import (
    Item,
    Passage,
    gold_rows,
    read_items,
    read_passages,
    rows_by_passage,
)
from tracert.evaluation.metrics import bootstrap_mean, recall
from tracert.evaluation.pool import Pool, pool
from tracert.language.base import ChatModel
from tracert.methods.base import (
    Method,
    Question,
    Resources,
    collect,
    parse_settings,
    settings_values,
)
from tracert.methods.first_stage import rank
from tracert.methods.native_rag import NativeRag
from tracert.trace import Value

SCHEMA: Final = "tracert.evaluation/1"
BASELINE: Final = NativeRag.name

OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Detail:
    """One question: rows of the passages file, counted from 0, and what they are worth.

    `filled` counts the passages at the end of `evidence` that plain top-k filled in; `depths`
    gives for each gold row how many hops from the question it lies. `found` and
    `baseline_found` are the gold rows that are there, a passage that stands on several lines
    counting as its first.
    """

    id: str
    question: str
    type: str
    n_hops: int
    gold: tuple[int, ...]
    depths: Mapping[int, int]
    evidence: tuple[int, ...]
    baseline_evidence: tuple[int, ...]
    found: frozenset[int]
    baseline_found: frozenset[int]
    recall: float
    baseline_recall: float
    filled: int
    seconds: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """The question as a line of `--details`."""
        return {
            "id": self.id,
            "question": self.question,
            "type": self.type,
            "n_hops": self.n_hops,
            "gold": list(self.gold),
            "evidence": list(self.evidence),
            "baseline_evidence": list(self.baseline_evidence),
            "recall": self.recall,
            "baseline_recall": self.baseline_recall,
            "filled": self.filled,
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All questions of a file under one method and its settings.

    `left_out` counts questions without a gold passage in the pool, which no method can answer.
    """

    data: str
    passages_file: str
    method: str
    settings: Mapping[str, Value]
    embedder: str
    details: tuple[Detail, ...]
    left_out: int

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON, schema `tracert.evaluation/1`."""
        details = self.details
        returned = sum(len(detail.evidence) for detail in details)
        differences = np.array([detail.recall - detail.baseline_recall for detail in details])
        return {
            "schema": SCHEMA,
            "data": self.data,
            "passages_file": self.passages_file,
            "method": self.method,
            "settings": dict(self.settings),
            "embedder": self.embedder,
            "questions": len(details),
            "left_out": self.left_out,
            "results": {
                "recall": _mean(detail.recall for detail in details),
                "passages": returned / len(details),
                "filled": sum(detail.filled for detail in details) / max(returned, 1),
                "all_found": _mean(detail.recall == 1.0 for detail in details),
                "latency_ms": _latency(details),
                "by_hop": _by_hop(details),
                "by_type": _by_type(details),
                "baseline": {
                    "method": BASELINE,
                    "recall": _mean(detail.baseline_recall for detail in details),
                    "passages": _mean(len(detail.baseline_evidence) for detail in details),
                    "all_found": _mean(detail.baseline_recall == 1.0 for detail in details),
                },
                "paired_difference": list(bootstrap_mean(differences)),
            },
        }

    def save_details(self, path: Path) -> None:
        """One JSON a question and line.

        Raises:
            DatasetError: the file cannot be written.
        """
        lines = (json.dumps(detail.to_dict(), ensure_ascii=False) for detail in self.details)
        try:
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        except OSError as error:
            raise DatasetError(
                f"The details cannot be written to {path} ({error.strerror}). Name another file."
            ) from error


def evaluate(
    data: Path,
    passages: Path,
    method: Method,
    embedder: Embedder,
    folder: Path,
    *,
    k: int = 5,
    hops: int | None = None,
    settings: Mapping[str, Value] | None = None,
    model: ChatModel | None = None,
    on_progress: OnProgress = lambda _what, _done, _of: None,
) -> Evaluation:
    """Run a method on each question of a file.

    Args:
        data: the questions, see `tracert.evaluation.datasets`.
        passages: the pool that they are searched in.
        method: one that walks a corpus.
        embedder: makes the vectors of passages and questions.
        folder: where vectors are kept between runs.
        k: the budget; the method's `k` unless `settings` give one.
        hops: the method's `hops`, if it has any.
        settings: the method's own settings.
        model: a chat model for a method that asks one.
        on_progress: gets what is done now, how much of how many.

    Raises:
        DatasetError: a file cannot be used, or no question has a gold passage in the pool.
        SettingError: the method walks no corpus, or a setting is wrong.
    """
    chosen = _settings(method, k, hops, settings or {})
    values = settings_values(chosen)
    budget = None if values.get("k_per_hop") is not None else int(str(values.get("k", k)))
    kept = read_passages(passages)
    rows = rows_by_passage(kept)
    items = read_items(data)
    usable = [item for item in items if gold_rows(item, rows)]
    if not usable:
        raise DatasetError(
            f"No question of {data.name} has a supporting paragraph in {passages.name}. Name the "
            "pool that belongs to the questions."
        )
    corpus = pool(
        kept, passages.stem, embedder, folder, lambda done, of: on_progress("embed", done, of)
    )
    run = _Run(method, chosen, corpus, embedder, model, budget, rows)
    details = []
    for number, item in enumerate(usable):
        details.append(run.detail(item))
        on_progress("ask", number + 1, len(usable))
    return Evaluation(
        data=data.name,
        passages_file=passages.name,
        method=method.name,
        settings=values,
        embedder=embedder.name,
        details=tuple(details),
        left_out=len(items) - len(usable),
    )


def _settings(method: Method, k: int, hops: int | None, given: Mapping[str, Value]) -> Any:
    if method.needs != "corpus":
        raise SettingError(f"The method {method.name!r} walks notes; evaluate needs a corpus.")
    known = {field.name for field in fields(method.settings_type)}
    values: dict[str, Value] = {}
    if "k" in known:
        values["k"] = k
    if hops is not None:
        if "hops" not in known:
            raise SettingError(f"The method {method.name!r} has no setting 'hops'. Leave it out.")
        values["hops"] = hops
    return parse_settings(method.settings_type, {**values, **given})


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    method: Method
    settings: Any
    corpus: Pool
    embedder: Embedder
    model: ChatModel | None
    budget: int | None
    rows: Mapping[Passage, int]

    def detail(self, item: Item) -> Detail:
        gold = gold_rows(item, self.rows)
        depths = item.depths()
        begun = time.perf_counter()
        resources = Resources(self.embedder.embed, self.corpus, self.model)
        prepared = self.method.prepare(Question(item.question), resources)
        walk = self.method.walk(prepared, self.settings, resources)
        trace = collect(
            walk, method=self.method.name, question=item.question, prepared=prepared.cost
        )
        seconds = {**trace.cost.seconds, "all": time.perf_counter() - begun}
        own = self._distinct(trace.result.evidence)
        if self.budget is not None:
            own = own[: self.budget]
        count = len(own) if self.budget is None else self.budget
        nearest = self._nearest(item.question, count)
        evidence, missing = list(own), count - len(own)
        if missing:
            wider = self._nearest(item.question, count + len(own))
            evidence += [row for row in wider if row not in set(own)][:missing]
        wanted = set(gold.values())
        found, baseline_found = (self._canonical(each) & wanted for each in (evidence, nearest))
        return Detail(
            id=item.id,
            question=item.question,
            type=item.type,
            n_hops=item.n_hops,
            gold=tuple(sorted(wanted)),
            depths={row: depths[paragraph] for paragraph, row in gold.items()},
            evidence=tuple(evidence),
            baseline_evidence=tuple(nearest),
            found=frozenset(found),
            baseline_found=frozenset(baseline_found),
            recall=recall(found, wanted),
            baseline_recall=recall(baseline_found, wanted),
            filled=len(evidence) - len(own),
            seconds=seconds,
        )

    def _distinct(self, ids: Sequence[str]) -> list[int]:
        return list(dict.fromkeys(int(id.partition(":")[2]) for id in ids))

    def _nearest(self, question: str, count: int) -> list[int]:
        """Plain top-k of the same first stage; by vectors where it knows no more passages."""
        vector = self.embedder.embed([question])[0]
        stage = str(getattr(self.settings, "first_stage", "dense"))
        rows: list[int] = rank(self.corpus, question, vector, stage, count).rows.tolist()
        if len(rows) < min(count, self.corpus.info.size):
            others = rank(self.corpus, question, vector, "dense", count).rows.tolist()
            rows = list(dict.fromkeys([*rows, *others]))[:count]
        return rows

    def _canonical(self, rows: Iterable[int]) -> set[int]:
        """A passage that stands on several lines is its first line."""
        return {self.rows[self.corpus.passages[row]] for row in rows}


# --- sums ---------------------------------------------------------------------------------


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _latency(details: Sequence[Detail]) -> dict[str, Any]:
    """Milliseconds of a question in all, and the median of each stage."""
    spent = np.array([detail.seconds["all"] for detail in details]) * 1e3
    stages = sorted({stage for detail in details for stage in detail.seconds} - {"all"})
    return {
        "p50": float(np.median(spent)),
        "p95": float(np.quantile(spent, 0.95)),
        "stages": {
            stage: float(np.median([detail.seconds.get(stage, 0.0) for detail in details])) * 1e3
            for stage in stages
        },
    }


def _by_type(details: Sequence[Detail]) -> dict[str, dict[str, float]]:
    """Recall by the question's type, beside the baseline's."""
    groups: dict[str, list[Detail]] = defaultdict(list)
    for detail in details:
        groups[detail.type].append(detail)
    return {
        kind: _group(
            [detail.recall for detail in group], [detail.baseline_recall for detail in group]
        )
        for kind, group in sorted(groups.items())
    }


def _by_hop(details: Sequence[Detail]) -> dict[str, dict[str, float]]:
    """Of the gold passages that lie so many hops from the question, the share found."""
    own: dict[int, list[float]] = defaultdict(list)
    baseline: dict[int, list[float]] = defaultdict(list)
    for detail in details:
        for row, depth in detail.depths.items():
            own[depth].append(float(row in detail.found))
            baseline[depth].append(float(row in detail.baseline_found))
    return {str(depth): _group(own[depth], baseline[depth]) for depth in sorted(own)}


def _group(own: Sequence[float], baseline: Sequence[float]) -> dict[str, float]:
    recall_, base = _mean(own), _mean(baseline)
    return {"count": len(own), "recall": recall_, "baseline": base, "difference": recall_ - base}
