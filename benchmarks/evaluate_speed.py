"""Seconds that an evaluation of 500 questions over about 7,000 passages takes, without embedding.

    python -m benchmarks.evaluate_speed DATA_FOLDER [--embedder minilm-int8] [-k 10]

The questions of the 2WikiMultiHopQA dev set are asked over again until there are 500, in their
pool of 7,005 passages, by native_rag and by treehop, each beside plain top-k and BM25, all measures
and intervals included. The passages are embedded before; the questions are embedded inside.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from tracert.embedding.registry import embedder
from tracert.evaluation.evaluate import Run, finish
from tracert.evaluation.ground import pool_ground
from tracert.home import home
from tracert.methods.registry import method

QUESTIONS: Final = 500
NAME: Final = "2wikimultihopqa_dev"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The speed of an evaluation.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", default="minilm-int8")
    parser.add_argument("-k", type=int, default=10)
    given = parser.parse_args()
    begun = time.perf_counter()
    ground = pool_ground(
        given.folder / f"{NAME}.jsonl.gz",
        given.folder / f"{NAME}_corpus.jsonl.gz",
        embedder(given.embedder),
        home(),
    )
    opened = time.perf_counter()
    # Every question of its own: plain search remembers what it was asked.
    items = tuple(
        replace(item, question=f"{item.question}{' ' * (number // len(ground.items))}")
        for number, item in enumerate(islice(cycle(ground.items), QUESTIONS))
    )
    ground = replace(ground, items=items)
    print(f"opened, passages embedded if they were not: {opened - begun:.1f} s")
    total = cpu = 0.0
    for name in ("native_rag", "treehop"):
        begun, worked = time.perf_counter(), time.process_time()
        report = finish(Run(ground, method(name), k=given.k)).to_dict()
        spent = time.perf_counter() - begun
        total, cpu = total + spent, cpu + time.process_time() - worked
        print(
            f"{name}: {spent:.1f} s for {len(items)} questions over {ground.size:,} passages, "
            f"recall {report['results']['recall']:.3f}"
        )
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"both: {total:.1f} s by the clock, {cpu:.1f} s of the processor{load}")


if __name__ == "__main__":
    main()
