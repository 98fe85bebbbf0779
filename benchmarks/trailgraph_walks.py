"""How well and how fast TrailGraph walks without a model: the README's figures.

    python -m benchmarks.trailgraph_walks [SHARED]

The built-in notes are asked the built-in questions; the notes of `trailgraph_notes/larkmoor`,
which nothing was tuned on, their 32; and the three trees in SHARED/data/knowledge the ten
questions each of `trailgraph_questions/`; without SHARED the trees are left out, and that is said.
Beside the default the plain walk of the source, the fixed entry points with a beam, and the other
scorers are measured on the same questions. 'First' is the share of questions whose first note of
the evidence is gold, 'last' the share where it is the note that holds the answer, 'among' the
share with a gold note anywhere in the evidence (four notes at most).

Speed: graphs of 1,000 and 10,000 generated notes in the TrailGraph format, opened cold (parsed,
indexed, embedded) and again; a question prepared and walked on them.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tracert.embedding.base import Embedder
from tracert.embedding.registry import embedder
from tracert.knowledge.graph import open_graph
from tracert.knowledge.opened import OpenGraph, prepared
from tracert.methods.base import Question, Resources, collect, parse_settings
from tracert.methods.trailgraph import TrailGraph
from tracert.trace import Trace, Value

ROOT = Path(__file__).resolve().parent.parent
TREES = {"just-the-docs": "just-the-docs", "rust-book": "rust-book/src",
         "dendron-site": "dendron-site/vault"}  # fmt: skip
WAYS: dict[str, dict[str, Value]] = {
    "default": {},
    "plain walk": {"plain": True},
    "fixed entry, beam 3": {"entry": "fixed", "entries": 1},
    "search, beam 1": {"beam": 1},
    "no second entry": {"entries": 1},
    "bm25": {"scoring": "bm25"},
    "mean": {"scoring": "mean"},
}


def asked(opened: OpenGraph, embed: Embedder, question: str, given: dict[str, Value]) -> Trace:
    """One run of the method."""
    method = TrailGraph()
    resources = Resources(embed.embed, knowledge=opened)
    ready = method.prepare(Question(question), resources)
    walk = method.walk(ready, parse_settings(method.settings_type, given), resources)
    return collect(walk, method=method.name, question=question, prepared=ready.cost)


def quality(name: str, folder: Path, questions: Path, embed: Embedder) -> None:
    """Print the shares of one graph for every way."""
    opened = prepared(open_graph(folder), embed)
    rows: list[dict[str, Any]] = [json.loads(line) for line in questions.read_text().splitlines()]
    for way, given in WAYS.items():
        first = last = among = 0
        stops: Counter[str] = Counter()
        for row in rows:
            result = asked(opened, embed, row["question"], given).result
            found = result.evidence[0] if result.evidence else None
            first += found in row["notes"]
            last += found == row["notes"][-1]
            among += bool(set(result.evidence) & set(row["notes"]))
            stops[result.stop.reason.value] += 1
        ends = ", ".join(f"{count} {reason}" for reason, count in stops.most_common())
        print(
            f"{name:14} {way:20} first {first}/{len(rows)}  last {last}/{len(rows)}  "
            f"among {among}/{len(rows)}  {ends}"
        )


def generated(folder: Path, size: int) -> None:
    """Notes with made-up words in a tree of ten children each."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnoprstuvw", k=7)) for _ in range(4_000)]

    def path(number: int) -> str:
        return f"entry_points/n{number}.md" if number < 10 else f"part{number % 100}/n{number}.md"

    for number in range(size):
        below = range(10 * (number + 1), min(10 * (number + 2), size))
        points = [" ".join(chance.choices(words, k=9)) for _ in range(4)]
        content = "\n\n".join(" ".join(chance.choices(words, k=60)) + "." for _ in range(3))
        place = folder / path(number)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(
            f"# Note {number}\n\nsummary: {' '.join(chance.choices(words, k=12))}\n"
            f"parent: {path(number // 10 - 1) if number >= 10 else ''}\n"
            f"children: [{', '.join(map(path, below))}]\n"
            f"related: [{path(chance.randrange(size))}]\n"
            f"key_points: [{', '.join(json.dumps(point) for point in points)}]\n\n"
            f"## Content\n\n{content}\n",
            encoding="utf-8",
        )


def speed(size: int, embed: Embedder) -> None:
    """Print the times of one generated graph."""
    with tempfile.TemporaryDirectory() as name:
        folder, data = Path(name) / "notes", Path(name) / "data"
        generated(folder, size)
        begun = time.perf_counter()
        graph = open_graph(folder, data=data)
        indexed = time.perf_counter()
        prepared(graph, embed)
        ready = time.perf_counter()
        warm: list[float] = []
        warm_ready: list[float] = []
        for _ in range(5):
            start = time.perf_counter()
            graph = open_graph(folder, data=data)
            warm.append(time.perf_counter() - start)
            opened = prepared(graph, embed)
            warm_ready.append(time.perf_counter() - start)
        chance = random.Random(1)
        notes = list(graph.notes.values())
        steps: list[float] = []
        whole: list[float] = []
        for note in chance.sample(notes, 40):
            start = time.process_time()
            trace = asked(opened, embed, f"Which {' '.join(note.summary.split()[:4])}?", {})
            whole.append(time.process_time() - start)
            steps.append(trace.cost.seconds["walk"] / max(1, len(trace.steps)))
        print(
            f"{size:6,} notes: parsed and indexed {indexed - begun:.2f} s, vectors and words "
            f"{ready - indexed:.2f} s; opened again {min(warm) * 1e3:.0f} ms "
            f"({statistics.median(warm) * 1e3:.0f} median), with vectors "
            f"{min(warm_ready) * 1e3:.0f} ms; a question {statistics.median(whole) * 1e3:.1f} ms, "
            f"a step {statistics.median(steps) * 1e3:.2f} ms"
        )


def main() -> None:
    """Measure and print."""
    embed = embedder("wordllama")
    embed.embed(["warm"])
    with tempfile.TemporaryDirectory() as home:
        os.environ["TRACERT_HOME"] = home
        quality("built-in", ROOT / "knowledge/notes", ROOT / "knowledge/questions.jsonl", embed)
        quality(
            "larkmoor",
            ROOT / "benchmarks/trailgraph_notes/larkmoor",
            ROOT / "benchmarks/trailgraph_questions/larkmoor.jsonl",
            embed,
        )
        if len(sys.argv) > 1:
            for name, place in TREES.items():
                folder = Path(sys.argv[1]) / "data/knowledge" / place
                questions = ROOT / "benchmarks/trailgraph_questions" / f"{name}.jsonl"
                quality(name, folder, questions, embed)
        else:
            print("The three trees are left out: pass the folder of the shared data.")
        for size in (1_000, 10_000):
            speed(size, embed)


if __name__ == "__main__":
    main()
