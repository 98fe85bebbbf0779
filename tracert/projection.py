"""The map: vectors in the plane, fitted once for a corpus, new points placed into it.

UMAP (McInnes, Healy and Melville 2018, arXiv:1802.03426) with the cosine metric shows which
passages lie near each other. It is fitted once for each corpus fingerprint, seeded, and saved;
PCA stands in until that is done and for fewer than ten points.

A question, a goal or a hop is *placed*: its position y minimises

    sum_j w_j |y - y_j|,   w_j = exp(-d_j / sigma),   w_2 + ... + w_k = log2(k),

the geometric median of the positions y_j of its k nearest passages, weighted by UMAP's fuzzy
membership: d_1 <= ... <= d_k are the cosine distances, sigma is found by bisection
(`smooth_knn_dist` of umap-learn 0.5.12 with the local connectivity 0 that its `transform` uses).
UMAP starts from the weighted mean and then optimises for some epochs. The mean alone is poor: the
neighbours of a question often lie in several places, and their mean in none of them. The median
keeps as many neighbours as UMAP's optimised place does (`benchmarks/projection.py`), is
deterministic, takes a millisecond, is safe in threads and needs no fitted UMAP object, which could
only be kept as a pickle.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final, Literal
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Matrix
from tracert.trace import Map, Trace
from tracert.whole import whole

Positions = npt.NDArray[np.float32]

VERSION: Final = 1
NEIGHBOURS: Final = 15
MIN_DIST: Final = 0.1
SEED: Final = 42
#: Below this many points a neighbourhood means nothing, so PCA stays.
FEWEST: Final = 10
#: Over this many a fit takes minutes: so many are fitted, evenly spread, the others placed.
MOST_FITTED: Final = 20_000
#: Points of the background in a trace, evenly spread over the corpus.
BACKGROUND: Final = 2_000
#: Neighbours that the measure of faithfulness compares.
MEASURED: Final = 10
_BLOCK: Final = 1_024
#: Distances held at once, 4 to 16 bytes each.
_CELLS: Final = 4_000_000
#: Pairs of points that measuring may look at: a third of a second, and half a minute.
_PAIRS_AT_ONCE: Final = 20_000_000
_PAIRS_IN_BACKGROUND: Final = 1_000_000_000
_BISECTIONS: Final = 64
_WEISZFELD: Final = 50
_CLOSE: Final = 1e-6
#: Two float32 unit vectors that differ by rounding alone are no farther apart than this.
_SAME: Final = 1e-6
#: Maps kept on disk, those that were made or opened last: twelve bytes a passage.
KEPT: Final = 200


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """A corpus in the plane.

    `positions` has shape (n, 2); `kept`, shape (n,), is for each point the share of its ten
    nearest passages (by cosine) that are also among its ten nearest on the map; NaN where it
    was not measured, for want of time in a large corpus. `fitted` is the number of points that
    the fit saw; the others were placed.
    """

    kind: Literal["umap", "pca"]
    seed: int
    positions: Positions
    kept: Positions
    fitted: int
    axes: Positions = field(default_factory=lambda: np.zeros((0, 2), dtype=np.float32))
    centre: Positions = field(default_factory=lambda: np.zeros(0, dtype=np.float32))

    def place(self, vectors: npt.NDArray[np.float32], matrix: Matrix) -> Positions:
        """Where new unit vectors, shape (m, d), lie among the corpus's `matrix`: shape (m, 2).

        PCA projects them exactly; UMAP's place is approximate (see the module).
        """
        if self.kind == "pca":
            return ((vectors - self.centre) @ self.axes).astype(np.float32)
        return _place(vectors, matrix, self.positions)


def fit_pca(matrix: Matrix) -> Projection:
    """The two directions of greatest variance, with the signs fixed. Deterministic.

    Of more than `MOST_FITTED` points the directions are those of so many, evenly spread.
    """
    n, dimension = matrix.shape
    if n == 0:
        axes = np.zeros((dimension, 2), dtype=np.float32)
        return Projection("pca", SEED, axes[:0], axes[:0, 0], 0, axes, axes[:, 0])
    some = matrix[_evenly(n, MOST_FITTED)] if n > MOST_FITTED else matrix
    centre = some.mean(axis=0, dtype=np.float64).astype(np.float32)
    covariance = np.zeros((dimension, dimension))
    for first in range(0, len(some), _BLOCK):
        block = some[first : first + _BLOCK] - centre
        covariance += block.T @ block
    _, vectors = np.linalg.eigh(covariance)
    axes = vectors[:, ::-1][:, :2]
    if axes.shape[1] < 2:
        axes = np.pad(axes, ((0, 0), (0, 2 - axes.shape[1])))
    # An eigenvector has no sign of its own: its largest component is made positive.
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(2)]
    axes = (axes * np.where(largest < 0, -1.0, 1.0)).astype(np.float32)
    # Centred after the product: the difference of the matrices would be a copy of the corpus.
    positions = (matrix @ axes - centre @ axes).astype(np.float32)
    kept = kept_neighbours(matrix, positions, pairs=_PAIRS_AT_ONCE)
    return Projection("pca", SEED, positions, kept, len(some), axes, centre)


#: UMAP compiles with numba, whose workqueue threading aborts the process when two threads are in.
_ONE_UMAP: Final = Lock()


def fit_umap(matrix: Matrix, *, seed: int = SEED) -> Projection:
    """Fit UMAP, one fit at a time in this process; takes seconds to minutes.

    Of more than `MOST_FITTED` points so many, evenly spread, are fitted and the others placed.
    """
    n = len(matrix)
    rows = _evenly(n, MOST_FITTED)
    some = np.ascontiguousarray(matrix[rows]) if len(rows) < n else np.array(matrix)
    with _ONE_UMAP:
        import umap

        model = umap.UMAP(
            n_neighbors=min(NEIGHBOURS, len(rows) - 1),
            min_dist=MIN_DIST,
            metric="cosine",
            random_state=seed,
            n_jobs=1,
        )
        fitted = np.asarray(model.fit_transform(some), dtype=np.float32)
    if len(rows) == n:
        positions = fitted
    else:
        positions = np.empty((n, 2), dtype=np.float32)
        positions[rows] = fitted
        others = np.setdiff1d(np.arange(n), rows)
        step = max(_CELLS // len(rows), 1)
        for first in range(0, len(others), step):
            block = others[first : first + step]
            positions[block] = _place(matrix[block], some, fitted)
    kept = kept_neighbours(matrix, positions, pairs=_PAIRS_IN_BACKGROUND)
    return Projection("umap", seed, positions, kept, len(rows))


# --- placing ------------------------------------------------------------------------------


def _place(vectors: npt.NDArray[np.float32], matrix: Matrix, positions: Positions) -> Positions:
    k = min(NEIGHBOURS, len(matrix))
    similarity = vectors @ matrix.T
    rows = np.argpartition(-similarity, k - 1, axis=1)[:, :k]
    distances = 1.0 - np.take_along_axis(similarity, rows, axis=1).astype(np.float64)
    order = np.argsort(distances, axis=1, kind="stable")
    rows = np.take_along_axis(rows, order, axis=1)
    distances = np.maximum(np.take_along_axis(distances, order, axis=1), 0.0)
    placed = _geometric_median(positions[rows].astype(np.float64), memberships(distances))
    # A vector that is a passage's own, up to rounding, lies where the passage lies.
    own = distances[:, 0] < _SAME
    placed[own] = positions[rows[own, 0]]
    return placed.astype(np.float32)


def _geometric_median(
    points: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The weighted geometric median of each row's points, (m, k, 2) and (m, k) to (m, 2).

    Weiszfeld's iteration from the mean; near a point its distance is taken as `_CLOSE`, so that
    no weight grows beyond bounds.
    """
    pull, median = weights, points[:, 0]
    for _ in range(_WEISZFELD):
        median = (pull[:, :, None] * points).sum(axis=1) / pull.sum(axis=1, keepdims=True)
        apart = np.linalg.norm(points - median[:, None, :], axis=2)
        pull = weights / np.maximum(apart, _CLOSE)
    return median


def memberships(distances: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """UMAP's fuzzy memberships of the k nearest at these ascending distances, shape (m, k)."""
    m, k = distances.shape
    target = np.log2(k)
    low, high = np.zeros((m, 1)), np.full((m, 1), np.inf)
    sigma = np.ones((m, 1))
    for _ in range(_BISECTIONS):
        above = np.exp(-distances[:, 1:] / sigma).sum(axis=1, keepdims=True) > target
        high = np.where(above, sigma, high)
        low = np.where(above, low, sigma)
        sigma = np.where(np.isinf(high), sigma * 2, (low + high) / 2)
    # As UMAP does, so that no weight underflows where most distances are zero.
    floor = np.maximum(1e-3 * distances.mean(), np.finfo(float).tiny)
    found: npt.NDArray[np.float64] = np.exp(-distances / np.maximum(sigma, floor))
    return found


def kept_neighbours(
    matrix: Matrix, positions: Positions, *, k: int = MEASURED, pairs: int = 0
) -> Positions:
    """For each point, the share of its k nearest by cosine that are among its k on the map.

    Exact, in blocks. `pairs` bounds the distances that are computed: of a larger corpus only
    some points, evenly spread, are measured (against all), and the others are NaN.
    """
    n = len(matrix)
    kept = np.full(n, np.nan, dtype=np.float32)
    k = min(k, n - 1)
    if k < 1:
        return kept
    measured = _evenly(n, max(pairs // n, 1) if pairs else n)
    plane = positions.astype(np.float64)
    square = (plane**2).sum(axis=1)
    step = max(_CELLS // n, 1)
    for first in range(0, len(measured), step):
        rows = measured[first : first + step]
        here = np.arange(len(rows))
        far = -(matrix[rows] @ matrix.T)
        far[here, rows] = np.inf
        near = np.argpartition(far, k - 1, axis=1)[:, :k]
        flat = square[None, :] - 2 * plane[rows] @ plane.T
        flat[here, rows] = np.inf
        close = np.argpartition(flat, k - 1, axis=1)[:, :k]
        both = (near[:, :, None] == close[:, None, :]).any(axis=2)
        kept[rows] = both.mean(axis=1)
    return kept


def _evenly(n: int, most: int) -> npt.NDArray[np.int64]:
    """At most so many of n rows, evenly spread, ascending."""
    if n <= most:
        return np.arange(n)
    return np.linspace(0, n - 1, most).round().astype(np.int64)


# --- onto a trace -------------------------------------------------------------------------


def map_of(
    trace: Trace, projection: Projection, matrix: Matrix, row_of: Callable[[str], int | None]
) -> Map:
    """The picture plane of a trace: every node that the corpus has or that has a vector.

    Chunks of the corpus lie where they were fitted; the others are placed. The background is
    the corpus, at most `BACKGROUND` points of it, evenly spread.
    """
    positions: dict[str, tuple[float, float]] = {}
    loose = []
    for node in trace.nodes:
        row = row_of(node.id)
        if row is not None:
            x, y = projection.positions[row].tolist()
            positions[node.id] = (x, y)
        elif node.vector is not None and len(matrix):
            loose.append(node)
    if loose:
        vectors = np.stack([node.vector for node in loose if node.vector is not None])
        for node, (x, y) in zip(loose, projection.place(vectors, matrix).tolist(), strict=True):
            positions[node.id] = (x, y)
    background = projection.positions[_evenly(len(projection.positions), BACKGROUND)]
    return Map(projection.kind, projection.seed, positions, background)


# --- on disk ------------------------------------------------------------------------------


def path_of(root: Path, fingerprint: str) -> Path:
    """Where the UMAP of that corpus fingerprint and these settings is kept."""
    settings = f"n{NEIGHBOURS}-d{MIN_DIST}-s{SEED}-m{MOST_FITTED}"
    return root / f"v{VERSION}-{settings}-{fingerprint[:40]}.npz"


def save(projection: Projection, path: Path) -> None:
    """Write a projection, whole or not at all; of more than `KEPT` the ones longest unused go."""
    buffer = io.BytesIO()
    np.savez(
        buffer,
        positions=projection.positions,
        kept=projection.kept,
        fitted=projection.fitted,
        seed=projection.seed,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as file:
        file.write(buffer.getvalue())
    _trim(path.parent)


def _trim(folder: Path) -> None:
    used = []
    for each in folder.glob("*.npz"):
        with suppress(FileNotFoundError):  # another process was faster
            used.append((each.stat().st_mtime, each))
    for _, each in sorted(used, reverse=True)[KEPT:]:
        each.unlink(missing_ok=True)


def load(path: Path, size: int) -> Projection | None:
    """A saved UMAP of `size` points, or None where there is none that fits."""
    try:
        with np.load(path, allow_pickle=False) as data:
            found: Mapping[str, npt.NDArray[np.float32]] = {name: data[name] for name in data}
        positions, kept = found["positions"], found["kept"]
        if positions.shape != (size, 2) or kept.shape != (size,):
            return None
        with suppress(OSError):  # a folder that may only be read
            os.utime(path)
        return Projection("umap", int(found["seed"]), positions, kept, int(found["fitted"]))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
