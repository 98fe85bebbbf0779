"""TreeHop's own table, recall, passages and latency by iteration, beside the published figures.

    python -m benchmarks.treehop_source_table DATA_FOLDER [--embedder NAME]...
                                              [--multihop-rag MultiHopRAG.json corpus.json]

DATA_FOLDER holds `NAME_dev.jsonl.gz` and `NAME_dev_corpus.jsonl.gz` of 2wikimultihopqa, musique
and hotpotqa. The rows are the paper's: K passages a query, two or three iterations, both prunings,
all passages spawning; with K passages a query the budget is what a method used, and plain top-k
stands beside it at the same number, which the paper's table does not show.

Published: Li et al., 'TreeHop: Generate and Filter Next Query Embeddings Efficiently for Multi-hop
Question Answering', arXiv 2504.20114v1, the table of retrieval efficiency. What differs is printed
below the table.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tracert.embedding.registry import embedder
from tracert.evaluation.detail import DENSE
from tracert.evaluation.evaluate import Run, finish
from tracert.evaluation.ground import Ground, pool_ground
from tracert.evaluation.metrics import Estimate
from tracert.evaluation.summary import Summary
from tracert.home import home
from tracert.methods.registry import method
from tracert.methods.treehop import PAPER
from tracert.trace import Value

EMBEDDERS: Final = ("minilm-int8", "wordllama")
#: The data sets, as we and as the paper calls them.
SETS: Final = {
    "2wikimultihopqa": "2Wiki",
    "musique": "MuSiQue",
    "multihop-rag": "MultiHop-RAG",
    "hotpotqa": "HotpotQA",
}
#: Of a row and a data set: recall in percent, passages, seconds.
Published = Mapping[str, tuple[float, float, float]]
PUBLISHED: Final[Mapping[str, Published]] = {
    "top-5": {
        "2wikimultihopqa": (49.3, 5, 0.002),
        "musique": (45.4, 5, 0.002),
        "multihop-rag": (48.6, 5, 0.019),
    },
    "top-10": {
        "2wikimultihopqa": (53.2, 10, 0.003),
        "musique": (53.8, 10, 0.002),
        "multihop-rag": (67.8, 10, 0.019),
    },
    "TreeHop, 5 a query, 2 iterations": {
        "2wikimultihopqa": (61.6, 8.6, 0.022),
        "musique": (48.0, 8.1, 0.023),
        "multihop-rag": (57.9, 7.0, 0.023),
    },
    "TreeHop, 5 a query, 3 iterations": {
        "2wikimultihopqa": (65.4, 11.8, 0.067),
        "musique": (48.1, 11.0, 0.064),
        "multihop-rag": (61.1, 8.4, 0.062),
    },
    "TreeHop, 10 a query, 2 iterations": {
        "2wikimultihopqa": (57.9, 17.2, 0.062),
        "musique": (55.7, 15.3, 0.056),
        "multihop-rag": (72.8, 13.1, 0.049),
    },
    "iterative rewriting by a model, 5 a query, 2 iterations": {
        "2wikimultihopqa": (59.2, 9.9, 4.690),
        "musique": (52.8, 9.9, 4.949),
        "multihop-rag": (55.0, 9.9, 4.876),
    },
}


def settings_of(row: str) -> tuple[str, dict[str, Value]] | None:
    """The method and settings of a row; None where it needs a language model."""
    if row.startswith("top-"):
        return "native_rag", {"k": int(row.removeprefix("top-"))}
    if row.startswith("TreeHop"):
        _, size, hops = row.split(", ")
        given = {"k_per_hop": int(size.split()[0]), "hops": int(hops.split()[0])}
        return "treehop", {**PAPER, **given}
    return None


def ours(ground: Ground, row: str) -> Summary | None:
    """What a row of the table is here."""
    chosen = settings_of(row)
    if chosen is None:
        return None
    name, settings = chosen
    run = Run(ground, method(name), settings=settings)
    run.trace(0)  # the first question loads what all use
    return finish(run).summary


def table(grounds: Mapping[str, Ground], name: str) -> None:
    """Print the rows of one embedder in Markdown."""
    print(f"\n**{name}**: recall in percent / passages / seconds a question\n")
    print(
        "| retriever | "
        + " | ".join(f"{SETS[each]} here | published" for each in SETS if each in grounds)
        + " | plain top-k at as many passages |"
    )
    print("|---" * (2 * len(grounds) + 2) + "|")
    for row, published in PUBLISHED.items():
        cells = []
        differences = []
        for each in (each for each in SETS if each in grounds):
            found = ours(grounds[each], row)
            cells += [_own(found), _theirs(published.get(each))]
            if found is not None and row.startswith("TreeHop"):
                differences.append(f"{SETS[each]} {_points(found.differences[DENSE]['recall'])}")
        print(f"| {row} | {' | '.join(cells)} | {'; '.join(differences) or '–'} |", flush=True)


def _own(found: Summary | None) -> str:
    if found is None:
        return "–"
    return (
        f"{100 * found.measures['recall'].mean:.1f} / {found.measures['passages'].mean:.1f} / "
        f"{found.latency['all'].p50.mean / 1e3:.3f}"
    )


def _theirs(figures: Sequence[float] | None) -> str:
    if figures is None:
        return "–"
    recall, passages, seconds = figures
    return f"{recall:.1f} / {passages:g} / {seconds:.3f}"


def _points(each: Estimate) -> str:
    return f"{100 * each.mean:+.1f} ({100 * each.low:+.1f} to {100 * each.high:+.1f})"


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description="TreeHop's own table beside the published one.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", action="append", choices=EMBEDDERS)
    parser.add_argument(
        "--multihop-rag", nargs=2, type=Path, metavar=("QUESTIONS", "ARTICLES"), dest="articles"
    )
    given = parser.parse_args()
    for name in given.embedder or EMBEDDERS:
        chosen = embedder(name)
        files = {
            each: (
                given.folder / f"{each}_dev.jsonl.gz",
                given.folder / f"{each}_dev_corpus.jsonl.gz",
            )
            for each in SETS
            if each != "multihop-rag"
        }
        if given.articles is not None:
            files["multihop-rag"] = tuple(given.articles)
        grounds = {
            each: pool_ground(data, passages, chosen, home())
            for each, (data, passages) in files.items()
        }
        table(grounds, name)
        size = ", ".join(
            f"{SETS[each]} {len(ground.items)} questions in {ground.size:,} passages"
            for each, ground in grounds.items()
        )
        print(
            f"\nWhat differs. Here: {name} ({chosen.dimension} numbers a vector, on the "
            f"processor), weights learned from 1,304 training questions, {size}. Published: BGE-m3 "
            "(1,024 numbers), 25 million parameters, a graphics card, questions and pools of the "
            "authors'. Latency here is the median of one question on a processor and holds its "
            "embedding. So the columns do not compete; what can be compared is what an iteration "
            "adds and what it costs."
        )


if __name__ == "__main__":
    main()
