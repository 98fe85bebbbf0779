"""What a score of the offline scorer means, and what its weights are worth.

    python -m benchmarks.trailgraph_scores SHARED [QUESTIONS]

Graphs of notes are made of the training questions of MuSiQue, 2WikiMultihopQA and HotpotQA in
SHARED/data/multihop: the paragraphs of four questions are the notes of one graph, with summary
and key points made from them. Printed are, for graphs without and with second vectors and for
each set, the share of questions whose best note is gold; how that changes with half or twice a
weight; and of the best notes above a score how many were gold. Nothing is tuned on development
questions.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tracert.embedding.base import Embedder
from tracert.embedding.registry import DEFAULT, embedder
from tracert.knowledge.digest import digest
from tracert.knowledge.lexical import Lexicon, with_beginnings
from tracert.knowledge.second import SECOND
from tracert.knowledge.vectors import NoteVectors, passages
from tracert.language.words import terms
from tracert.methods.trailgraph.scoring.offline import ALONE, WITH_SECOND, Weighing, share

SETS = ("musique_train", "2wikimultihopqa_train", "hotpotqa_train")
QUESTIONS, GROUP = 240, 4

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """The parts of the score of every note of a graph, shape (6, n), and the gold rows."""

    parts: Reals
    gold: frozenset[int]

    def raw(self, weights: tuple[float, ...]) -> Reals:
        """The weighted sum, shape (n,)."""
        return np.asarray(weights) @ self.parts


def cases(path: Path, embed: Embedder, second: Embedder, questions: int) -> Iterator[Case]:
    """One case a question."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:questions]
    for start in range(0, len(rows), GROUP):
        yield from graph_cases(rows[start : start + GROUP], embed, second)


def graph_cases(rows: list[dict[str, Any]], embed: Embedder, second: Embedder) -> Iterator[Case]:
    """The cases of one graph, made of the paragraphs of some questions."""
    notes: dict[tuple[str, str], int] = {}
    for row in rows:
        for paragraph in row["paragraphs"]:
            notes.setdefault((paragraph["title"], paragraph["text"]), len(notes))
    heads: list[str] = []
    pieces: list[str] = []
    bounds = [0]
    for title, text in notes:
        summary, points = digest(text, 0, title)
        heads.append("\n".join((title, summary, *points)))
        pieces += [f"{title}\n{piece}" for piece in passages(text)] or [title]
        bounds.append(len(pieces))
    first, other = (
        NoteVectors(by.embed(heads), by.embed(pieces), np.array(bounds)) for by in (embed, second)
    )
    head_words = Lexicon.of([" ".join(with_beginnings(terms(head))) for head in heads])
    body_words = Lexicon.of([" ".join(with_beginnings(terms(text))) for _title, text in notes])
    texts = [row["question"] for row in rows]
    for row, vector, again in zip(rows, embed.embed(texts), second.embed(texts), strict=True):
        asked = tuple(dict.fromkeys(with_beginnings(terms(row["question"]))))
        near = [np.maximum(part, 0.0) for part in first.closest(vector)]
        near_again = [np.maximum(part, 0.0) for part in other.closest(again)]
        words = [share(body_words, asked), share(head_words, asked)]
        parts = np.stack([*near, *words, *near_again])
        gold = frozenset(
            notes[paragraph["title"], paragraph["text"]]
            for paragraph in row["paragraphs"]
            if paragraph["is_supporting"]
        )
        yield Case(parts, gold)


def right(found: list[Case], weights: tuple[float, ...]) -> float:
    """The share of cases whose best note is gold."""
    return float(np.mean([int(case.raw(weights).argmax()) in case.gold for case in found]))


def report(sets: dict[str, list[Case]], weighing: Weighing) -> None:
    """Print what the weights and the scale of one kind of graph are worth."""
    *weights, _knots = astuple(weighing)
    chosen = tuple(weights)

    def line(weights: tuple[float, ...]) -> str:
        return "  ".join(f"{name} {right(found, weights):.3f}" for name, found in sets.items())

    print(f"weights {chosen}: {line(chosen)}")
    for place in np.flatnonzero(chosen):
        for factor in (0.5, 2.0):
            changed = tuple(w * factor if i == place else w for i, w in enumerate(chosen))
            print(f"weights {changed}: {line(changed)}")
    every = [case for found in sets.values() for case in found]
    best = np.array([case.raw(chosen).max() for case in every])
    good = np.array([int(case.raw(chosen).argmax()) in case.gold for case in every])
    raw = np.concatenate([case.raw(chosen) for case in every])
    gold = np.concatenate(
        [[row in case.gold for row in range(case.parts.shape[1])] for case in every]
    )
    for knot, score in weighing.knots[1:-1]:
        above = best >= knot
        print(
            f"score {score:g} (s = {knot}): {above.mean():.0%} of the best notes reach it, "
            f"{good[above].mean():.0%} of those are gold; of all notes below it "
            f"{gold[raw < knot].mean():.1%} are, above it {gold[raw >= knot].mean():.0%}"
        )


def main(shared: Path, questions: int) -> None:
    """Measure and print."""
    embed, second = embedder(DEFAULT), embedder(SECOND)
    folder = shared / "data/multihop"
    sets = {
        name: list(cases(folder / f"{name}.jsonl.gz", embed, second, questions)) for name in SETS
    }
    for weighing in (ALONE, WITH_SECOND):
        report(sets, weighing)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else QUESTIONS)
