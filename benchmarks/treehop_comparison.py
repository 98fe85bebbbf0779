"""Fits the classifier that leaves comparison questions alone, and cross-validates it.

    python -m benchmarks.treehop_comparison DATA... [--write]

DATA are files of training questions with their types. --write puts the weights, fitted on all of
them, where the method reads them.
"""

from __future__ import annotations

import argparse
import hashlib
import math
from pathlib import Path
from typing import Final

import numpy as np

from tracert.evaluation.datasets import Item, read_items
from tracert.methods.treehop.comparison import FILE, features
from tracert.training.comparison import fit, save

FOLDS: Final = 4


def fold(item: Item) -> int:
    """Which fold a question is in, by a hash of its id."""
    return int(hashlib.sha256(item.id.encode()).hexdigest(), 16) % FOLDS


def compares(bias: float, weights: dict[str, float], question: str) -> bool:
    """What the classifier of these weights says."""
    return math.fsum([bias, *(weights.get(each, 0.0) for each in features(question))]) > 0


def main() -> None:
    """Read the arguments, cross-validate, and write if asked."""
    parser = argparse.ArgumentParser(description="Fit the classifier of comparison questions.")
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    items = [item for path in given.data for item in read_items(path)]
    labels = np.array([item.type == "comparison" for item in items])
    folds = np.array([fold(item) for item in items])
    said = np.zeros(len(items), dtype=bool)
    for number in range(FOLDS):
        inside = np.flatnonzero(folds != number)
        bias, weights = fit([items[row].question for row in inside], labels[inside].tolist())
        for row in np.flatnonzero(folds == number):
            said[row] = compares(bias, weights, items[row].question)
    names = np.array([item.dataset for item in items])
    for name in sorted(set(names)):
        here = names == name
        right = np.mean(said[here] == labels[here])
        print(f"{name}: {int(here.sum())} questions, {100 * right:.1f}% as the data says")
    if given.write:
        bias, weights = fit([item.question for item in items], labels.tolist())
        save(FILE, bias, weights, [path.name.partition(".")[0] for path in given.data])
        print(f"{len(weights)} weights in {FILE}")


if __name__ == "__main__":
    main()
