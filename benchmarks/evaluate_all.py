"""The README's table: every method, both offline embedders, three data sets, one budget.

    python -m benchmarks.evaluate_all DATA_FOLDER [-k 10] [--embedder NAME]... [--set NAME]...
                                      [--method LABEL]... [--train] [--again] [--details FOLDER]
                                      [--processor]

DATA_FOLDER holds `NAME_dev.jsonl.gz` and `NAME_dev_corpus.jsonl.gz` of 2wikimultihopqa, hotpotqa
and musique. --train takes `NAME_train.jsonl.gz` instead, whose own paragraphs are the pool: what
settings may be chosen on. Every row is set beside plain top-k by vectors of the same embedder,
question by question at the same number of passages. What a cell of the table found is kept in the
data folder (`TRACERT_HOME`), so that a run that was stopped goes on where it stood; --again
measures anew. The milliseconds are by the clock, so that they hold only where nothing else runs;
--processor prints the processor's milliseconds a question instead, which other work hardly moves.

Nothing is tuned on the dev sets: each method runs with its defaults, but for the settings that
a row names, and these were chosen on the training sets.
No language model is asked: goals, rewriting and extraction are the offline ones.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from tracert.embedding.base import Embedder
from tracert.embedding.registry import embedder
from tracert.evaluation.detail import BM25, DENSE
from tracert.evaluation.evaluate import Run
from tracert.evaluation.export import save_details
from tracert.evaluation.ground import Ground, pool_ground
from tracert.evaluation.metrics import bootstrap_mean, recall_of
from tracert.evaluation.summary import Evaluation
from tracert.home import home
from tracert.methods.registry import method
from tracert.trace import Value

NAMES: Final = ("2wikimultihopqa", "hotpotqa", "musique")
EMBEDDERS: Final = ("wordllama", "minilm-int8")
#: Each row: what it says, the method and its settings, k aside.
ROWS: Final[Mapping[str, tuple[str, Mapping[str, Value]]]] = {
    "plain top-k": ("native_rag", {}),
    "BM25": ("native_rag", {"first_stage": "bm25"}),
    "rank fusion of both": ("native_rag", {"first_stage": "hybrid"}),
    "Tracert-RAG, the paper's plain form": ("tracert_rag", {}),
    "Tracert-RAG after 8 passages of top-k": ("tracert_rag", {"start": "best"}),
    "Tracert-RAG after 8 passages, wide corridor": (
        "tracert_rag",
        {"start": "best", "min_passages": 3, "min_candidates": 1000},
    ),
    "TreeHop, trained": ("treehop", {}),
    "TreeHop, forget rule": ("treehop", {"model": "forget_rule"}),
    "TreeHop, trained, rank fusion first": ("treehop", {"first_stage": "hybrid"}),
    "iterative rewriting, offline": ("iterative_rewrite", {}),
    "graph RAG, local, offline": ("graph_rag", {}),
}
#: Raised when kept cells are measured in another way.
_VERSION: Final = 1
#: Questions of which the processor's time is taken.
_TIMED: Final = 30


def measured(ground: Ground, label: str, k: int, *, again: bool) -> Evaluation:
    """One cell: kept from an earlier run, or asked now and kept."""
    name, settings = ROWS[label]
    run = Run(ground, method(name), k=k, settings=settings)
    setup = run.setup
    named = [setup.data, setup.fingerprint, setup.embedder, setup.method, dict(setup.settings)]
    key = json.dumps([_VERSION, *named, setup.budget], sort_keys=True)
    path = home() / "evaluation" / "all" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
    if path.is_file() and not again:
        return Evaluation.from_kept(json.loads(path.read_bytes()))
    run.trace(0)  # what a method makes once of a corpus is not timed with the first question
    begun = time.perf_counter()
    details = [run.detail(index) for index in range(len(run.items))]
    print(
        f"{ground.data}, {ground.embedder.name}, {label}: {time.perf_counter() - begun:.0f} s",
        file=sys.stderr,
        flush=True,
    )
    found = run.evaluation(details)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(f".{os.getpid()}.tmp")
    beside.write_text(json.dumps(found.kept()), encoding="utf-8")
    beside.replace(path)
    return found


def _ground(folder: Path, name: str, chosen: Embedder, *, train: bool) -> Ground:
    if train:
        return pool_ground(folder / f"{name}_train.jsonl.gz", None, chosen, home())
    data, pool = folder / f"{name}_dev.jsonl.gz", folder / f"{name}_dev_corpus.jsonl.gz"
    return pool_ground(data, pool, chosen, home())


def row(label: str, cells: Sequence[Evaluation]) -> str:
    """A line of the table."""
    recalls = [cell.summary.measures["recall"].mean for cell in cells]
    differences = [_differences(cell) for cell in cells]
    parts = []
    for recall, values in zip(recalls, differences, strict=True):
        mean, low, high = bootstrap_mean(values)
        parts.append(f"{recall:.3f} ({mean:+.1f}, {low:+.1f} to {high:+.1f})")
    mean, low, high = average(differences)
    passages = np.mean([cell.summary.measures["passages"].mean for cell in cells])
    own = np.mean([cell.summary.measures["own"].mean for cell in cells])
    words = np.mean([cell.summary.references[BM25]["recall"].mean for cell in cells])
    spent = "/".join(f"{cell.summary.latency['all'].p50.mean:.0f}" for cell in cells)
    return (
        f"| {label} | {' | '.join(parts)} | {np.mean(recalls):.3f} "
        f"(**{mean:+.1f}**, {low:+.1f} to {high:+.1f}) | {words:.3f} | {passages:.1f} ({own:.1f}) "
        f"| {spent} |"
    )


def _processor(grounds: Sequence[Ground], labels: Sequence[str], k: int) -> None:
    """Print the processor's milliseconds of a question, its embedding included."""
    first = grounds[0]
    print(
        f"\n**{first.embedder.name}**: milliseconds of the processor a question, mean of {_TIMED} "
        f"questions over {first.size:,} passages\n\n| method | ms |\n|---|---|"
    )
    for label in labels:
        name, settings = ROWS[label]
        run = Run(first, method(name), k=k, settings=settings)
        run.trace(0)
        begun = time.process_time()
        for index in range(_TIMED):
            run.trace(index)
        print(f"| {label} | {1e3 * (time.process_time() - begun) / _TIMED:.1f} |", flush=True)


def _differences(cell: Evaluation) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Points of recall over plain top-k, a question each."""
    return np.array(
        [100 * (one.recall - recall_of(one.references[DENSE], one.gold)) for one in cell.details]
    )


def average(
    parts: Sequence[np.ndarray[tuple[int], np.dtype[np.float64]]], resamples: int = 10_000
) -> tuple[float, float, float]:
    """The mean over data sets and its interval; each set's questions are resampled on their own."""
    rng = np.random.default_rng(0)
    drawn = np.zeros(resamples)
    for values in parts:
        for start in range(0, resamples, 1000):
            picked = values[rng.integers(0, len(values), (1000, len(values)))]
            drawn[start : start + 1000] += picked.mean(axis=1) / len(parts)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(np.mean([values.mean() for values in parts])), float(low), float(high)


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description="The README's table of all methods.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--embedder", action="append", choices=EMBEDDERS)
    parser.add_argument("--set", action="append", choices=NAMES, dest="sets")
    parser.add_argument("--method", action="append", choices=tuple(ROWS), metavar="LABEL")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--details", type=Path, metavar="FOLDER")
    parser.add_argument("--processor", action="store_true")
    given = parser.parse_args()
    sets = given.sets or NAMES
    for name in given.embedder or EMBEDDERS:
        chosen = embedder(name)
        grounds = [_ground(given.folder, each, chosen, train=given.train) for each in sets]
        if given.processor:
            _processor(grounds, given.method or tuple(ROWS), given.k)
            continue
        print(f"\n**{name}**, at {given.k} passages\n")
        print(
            f"| method | {' | '.join(f'{each} (over top-k)' for each in sets)} | average | "
            "BM25 at as many | passages (own) | ms |"
        )
        print("|---" * (len(sets) + 5) + "|")
        for label in given.method or ROWS:
            cells = [measured(each, label, given.k, again=given.again) for each in grounds]
            print(row(label, cells), flush=True)
            if given.details is not None:
                given.details.mkdir(parents=True, exist_ok=True)
                for each, cell in zip(sets, cells, strict=True):
                    stem = "".join(c if c.isalnum() else "-" for c in f"{each}-{name}-{label}")
                    save_details([cell], given.details / f"{stem}-{given.k}.jsonl")


if __name__ == "__main__":
    main()
