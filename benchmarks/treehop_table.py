"""The README's table of TreeHop: recall at equal budget, all variants, both embedders.

    python -m benchmarks.treehop_table DATA_FOLDER [--weights LABEL=EMBEDDER=FILE]... [--growth]

DATA_FOLDER holds `NAME_dev.jsonl.gz` and `NAME_dev_corpus.jsonl.gz` of 2wikimultihopqa, hotpotqa
and musique. Every row is set against plain top-k of the same first stage at the same number of
passages. --weights adds a row for weights of one's own; --growth prints how queries and passages
grow by hop with and without the two prunings instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.embedding.registry import embedder
from tracert.evaluation.datasets import (
    Item,
    gold_rows,
    read_items,
    read_passages,
    rows_by_passage,
)
from tracert.evaluation.metrics import bootstrap_mean, recall
from tracert.evaluation.pool import Pool, pool, vectors
from tracert.home import home
from tracert.methods.first_stage import Ranking, rank
from tracert.methods.treehop import TreeHopSettings, alone_flags, model_for, retrieve
from tracert.methods.treehop.retrieval import width

#: The data sets, and what the table calls them.
NAMES: Final[Mapping[str, str]] = {
    "2wikimultihopqa": "2wiki",
    "hotpotqa": "hotpot",
    "musique": "musique",
}
EMBEDDERS: Final = ("minilm-int8", "wordllama")
BUDGETS: Final = (5, 8, 10)
DEFAULT: Final = TreeHopSettings(k=8)
RULE: Final = replace(DEFAULT, model="forget_rule")

#: Each row of the table: what it says and the settings, k aside.
VARIANTS: Final[Mapping[str, TreeHopSettings]] = {
    "shipped weights, defaults": DEFAULT,
    "forget rule, no training": RULE,
    "shipped, the paper's retrieval, half the places for hop 2": replace(
        DEFAULT, path_score=0.0, spawn=0, leave_comparisons=False, later_places=0.5
    ),
    "shipped, no path score": replace(DEFAULT, path_score=0.0),
    "shipped, all passages spawn": replace(DEFAULT, spawn=0),
    "shipped, one passage spawns": replace(DEFAULT, spawn=1),
    "shipped, comparisons hop too": replace(DEFAULT, leave_comparisons=False),
    "shipped, three hops": replace(DEFAULT, hops=3),
    "1. multi-chunk synthesis alone": replace(DEFAULT, synthesis="replace"),
    "1. multi-chunk synthesis added": replace(DEFAULT, synthesis="add"),
    # The search is that of the defaults; what the design adds is the one call after it.
    "2. tiered: the evidence for one call of the model": DEFAULT,
    "3. novelty in the score (0.3)": replace(DEFAULT, novelty=0.3),
    "3. least novelty 0.15": replace(DEFAULT, min_novelty=0.15),
    "3. breadth by entropy, at most 4": replace(DEFAULT, spawn=4, adaptive_breadth=True),
    "hybrid first stage, forget rule": replace(RULE, first_stage="hybrid"),
    "hybrid first stage, shipped": replace(DEFAULT, first_stage="hybrid"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Questions of one data set with their gold rows, and their pool."""

    items: tuple[Item, ...]
    gold: tuple[frozenset[int], ...]
    questions: npt.NDArray[np.float32]
    corpus: Pool

    @property
    def texts(self) -> list[str]:
        """The questions as they are asked."""
        return [item.question for item in self.items]


def load(folder: Path, name: str, embedder_name: str) -> Data:
    """One data set as an embedder sees it; vectors are kept between runs."""
    chosen, kept = embedder(embedder_name), home() / "evaluation"
    passages = read_passages(folder / f"{name}_dev_corpus.jsonl.gz")
    rows = rows_by_passage(passages)
    items = [item for item in read_items(folder / f"{name}_dev.jsonl.gz") if gold_rows(item, rows)]
    return Data(
        tuple(items),
        tuple(frozenset(gold_rows(item, rows).values()) for item in items),
        vectors([item.question for item in items], chosen, kept),
        pool(passages, name, chosen, kept),
    )


def rankings(data: Data, stage: str, count: int) -> list[Ranking]:
    """The first stage of every question."""
    return [
        rank(data.corpus, text, vector, stage, count)
        for text, vector in zip(data.texts, data.questions, strict=True)
    ]


def gains(data: Data, settings: TreeHopSettings) -> npt.NDArray[np.float64]:
    """Recall less top-k's recall, a question each."""
    first = rankings(data, settings.first_stage, width(settings))
    found = retrieve(
        model_for(settings, data.corpus.info.embedder, data.corpus.info.dimension),
        data.questions,
        data.corpus.matrix,
        settings,
        alone_flags(data.texts, settings),
        first,
    )
    base = [set(ranking.rows[: settings.k].tolist()) for ranking in first]
    return np.array(
        [
            recall(each.rows, gold) - recall(plain, gold)
            for each, plain, gold in zip(found, base, data.gold, strict=True)
        ]
    )


def top_k(data: Data, stage: str, k: int) -> float:
    """Mean recall of plain top-k."""
    ranked = rankings(data, stage, k)
    return float(
        np.mean(
            [recall(each.rows.tolist(), gold) for each, gold in zip(ranked, data.gold, strict=True)]
        )
    )


def table(folder: Path, name: str, own: Mapping[str, TreeHopSettings]) -> None:
    """Print the rows of one embedder in Markdown."""
    sets = [load(folder, each, name) for each in NAMES]
    print(f"\n**{name}**: points over top-k at the same number of passages, K = 5 / 8 / 10\n")
    columns = " | ".join(NAMES.values())
    print(f"| variant | {columns} | average | average at 10, 95% interval |")
    print("|---|---|---|---|---|---|")
    for stage in ("dense", "hybrid"):
        recalls = [[top_k(data, stage, k) for k in BUDGETS] for data in sets]
        mean = np.mean(recalls, axis=0)
        line = " | ".join("/".join(f"{value:.3f}" for value in each) for each in (*recalls, mean))
        print(f"| recall of top-k, {stage} | {line} | |")
    for label, settings in {**VARIANTS, **own}.items():
        by_budget = [[gains(data, replace(settings, k=k)) for data in sets] for k in BUDGETS]
        means = 100 * np.array([[each.mean() for each in row] for row in by_budget])
        cells = [_signed(means[:, place]) for place in range(len(sets))]
        low, high = _average_interval(by_budget[-1])
        average = _signed(means.mean(axis=1))
        print(f"| {label} | {' | '.join(cells)} | {average} | {low:+.1f} to {high:+.1f} |")
    _types(sets)


def _types(sets: Sequence[Data]) -> None:
    """Gains by type of question at the three budgets."""
    print("\n| type | questions | shipped | forget rule |\n|---|---|---|---|")
    for data in sets:
        kinds = np.array([item.type for item in data.items])
        columns = [
            [100 * gains(data, replace(settings, k=k)) for k in BUDGETS]
            for settings in (DEFAULT, RULE)
        ]
        for kind in sorted(set(kinds)):
            here = kinds == kind
            cells = [_signed([each[here].mean() for each in column]) for column in columns]
            name = NAMES[data.corpus.info.name]
            print(f"| {name} {kind} | {int(here.sum())} | {' | '.join(cells)} |")


def _signed(values: Sequence[float] | npt.NDArray[np.float64]) -> str:
    return "/".join(f"{value:+.1f}" for value in values)


def _average_interval(parts: Sequence[npt.NDArray[np.float64]]) -> tuple[float, float]:
    """The interval of the mean over data sets, from each one's own (normal approximation)."""
    widths = []
    for part in parts:
        _, low, high = bootstrap_mean(100 * part)
        widths.append((high - low) / 2)
    half = float(np.sqrt(np.sum(np.square(widths)))) / len(parts)
    mean = float(np.mean([100 * part.mean() for part in parts]))
    return mean - half, mean + half


def growth(folder: Path, name: str, hops: int = 4, k: int = 3) -> None:
    """Print queries and passages by hop, with and without the two prunings (the paper's rule)."""
    data = load(folder, "musique", name)
    model = model_for(TreeHopSettings(), data.corpus.info.embedder, data.corpus.info.dimension)
    paper = TreeHopSettings(
        k_per_hop=k, path_score=0.0, spawn=0, leave_comparisons=False, hops=hops
    )
    print(f"\n{name}, {k} passages a query, mean over {len(data.items)} MuSiQue questions\n")
    print("| prunings | " + " | ".join(f"hop {hop}" for hop in range(1, hops + 1)) + " |")
    print("|---|" + "---|" * hops)
    for label, redundancy, layer in (
        ("none", False, False),
        ("redundancy", True, False),
        ("layer-wise top-K", False, True),
        ("both (the paper)", True, True),
    ):
        settings = replace(paper, redundancy_pruning=redundancy, layer_pruning=layer)
        found = retrieve(model, data.questions, data.corpus.matrix, settings)
        cells = []
        for hop in range(1, hops + 1):
            queries = np.mean([sum(query.hop == hop for query in each.queries) for each in found])
            passages = np.mean(
                [
                    len(
                        {
                            hit.row
                            for query, hits in zip(each.queries, each.hits, strict=True)
                            if query.hop <= hop
                            for hit in hits
                            if hit.kept
                        }
                    )
                    for each in found
                ]
            )
            cells.append(f"{queries:.1f} queries, {passages:.1f} passages")
        print(f"| {label} | {' | '.join(cells)} |")


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser(description="TreeHop's table for the README.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", action="append", choices=EMBEDDERS)
    parser.add_argument("--weights", action="append", default=[], metavar="LABEL=EMBEDDER=FILE")
    parser.add_argument("--growth", action="store_true")
    given = parser.parse_args()
    for name in given.embedder or EMBEDDERS:
        if given.growth:
            growth(given.folder, name)
            continue
        own = [text.split("=", 2) for text in given.weights]
        table(
            given.folder,
            name,
            {
                label: replace(DEFAULT, model=file)
                for label, embedder_name, file in own
                if embedder_name == name
            },
        )


if __name__ == "__main__":
    main()
