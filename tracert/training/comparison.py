"""Fits the classifier of `tracert.methods.treehop.comparison` on questions whose type is known.

L1-regularised logistic regression,

    min over b, w of  sum_i log(1 + exp(-y_i (b + w.x_i))) + strength * |w|_1,  y_i in {-1, 1}

by accelerated proximal gradient (FISTA; Beck and Teboulle 2009): most weights end at exactly
zero, so that the file holds some dozens of words that a person can read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.methods.treehop.comparison import features

#: A feature that fewer training questions hold is likely a name.
_LEAST_QUESTIONS: Final = 8
_STEPS: Final = 3000

Reals = npt.NDArray[np.float64]


def fit(
    questions: Sequence[str], compares: Sequence[bool], *, strength: float = 1.0
) -> tuple[float, dict[str, float]]:
    """The bias and the weights that are not zero, by feature."""
    held = [features(question) for question in questions]
    counts = Counter(feature for each in held for feature in each)
    names = sorted(name for name, count in counts.items() if count >= _LEAST_QUESTIONS)
    place = {name: index for index, name in enumerate(names)}
    matrix = np.zeros((len(held), len(names) + 1), dtype=np.float64)
    matrix[:, -1] = 1.0
    for row, each in enumerate(held):
        matrix[row, [place[name] for name in each if name in place]] = 1.0
    signs = np.where(np.asarray(compares, dtype=bool), 1.0, -1.0)
    weights = _fista(matrix, signs, strength)
    return float(weights[-1]), {
        name: round(float(weight), 4)
        for name, weight in zip(names, weights[:-1], strict=True)
        if abs(weight) >= 5e-4
    }


def _fista(matrix: Reals, signs: Reals, strength: float) -> Reals:
    """The minimum; the last column is the bias, which is not penalised."""
    # The gradient's Lipschitz constant: a quarter of the largest eigenvalue of X^T X.
    step = 4.0 / float(np.linalg.norm(matrix, 2)) ** 2
    penalty = np.full(matrix.shape[1], strength * step)
    penalty[-1] = 0.0
    weights = np.zeros(matrix.shape[1])
    ahead, momentum = weights, 1.0
    for _ in range(_STEPS):
        margin = signs * (matrix @ ahead)
        gradient = -(matrix.T @ (signs / (1.0 + np.exp(np.minimum(margin, 500.0)))))
        moved = ahead - step * gradient
        following = np.sign(moved) * np.maximum(np.abs(moved) - penalty, 0.0)
        grown = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = following + (momentum - 1.0) / grown * (following - weights)
        weights, momentum = following, grown
    return weights


def save(path: Path, bias: float, weights: dict[str, float], sources: Sequence[str]) -> None:
    """Write the file that the method reads, the largest weights first."""
    ordered = dict(sorted(weights.items(), key=lambda item: -abs(item[1])))
    data = {"bias": round(bias, 4), "trained_on": list(sources), "weights": ordered}
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
