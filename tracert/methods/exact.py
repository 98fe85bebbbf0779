"""Exact distances over a large float32 matrix: a fast pass, then float64 where it decides.

A walk compares distances and costs to within 1e-9, more than a float32 product holds. Turning
the whole matrix into float64 would double its memory and triple the time, so `Vectors`
computes all similarities in one float32 product, whose error is bounded (`Vectors.error`), and
gives float64 values for the few rows whose rank or rule lies within that bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.intp]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Distances and costs that differ by no more than this are ties, broken by the row.
TIE: Final = 1e-9
#: Rows turned into float64 at once, so that memory stays small whatever is asked.
_BLOCK: Final = 4096
#: Half a unit in the last place of a float32 of size 1: the error of one rounding.
_ROUNDING: Final[float] = 2.0**-24


def unit(vector: npt.NDArray[np.floating]) -> Reals:
    """The vector in float64 at length 1; float32 unit vectors are off by up to 1e-7."""
    exact: Reals = np.array(vector, dtype=np.float64)
    exact /= np.linalg.norm(exact)
    return exact


def cosine_distance(a: Reals, b: Reals) -> float:
    """1 - cos of two unit vectors, as half the square of their difference.

    |a - b|^2 = 2 - 2 cos, so the two are equal; this form loses no digits near 0, is 0 for
    equal vectors and never negative.
    """
    difference = a - b
    return 0.5 * float(np.dot(difference, difference))


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The unit vectors of a corpus, `matrix` of shape (n, d) float32, never copied whole."""

    matrix: npt.NDArray[np.float32]

    @property
    def error(self) -> float:
        """Bound on |float32 product - exact cosine|: d roundings of terms that sum to at most 1.

        The terms of a product of unit vectors have absolute values that sum to at most 1, so d
        multiplications and additions are off by at most d * 2^-24; the lengths of both vectors
        and the last rounding add a few units more.
        """
        return (int(self.matrix.shape[1]) + 8) * _ROUNDING

    def approximate(self, vector: Reals) -> Reals:
        """Cosine distances of all rows to a unit vector (d,), shape (n,), within `error`."""
        product = self.matrix @ vector.astype(np.float32)
        return 1.0 - product.astype(np.float64)

    def rows(self, rows: Rows) -> Reals:
        """These rows in float64 at length 1, shape (len(rows), d)."""
        exact = self.matrix[rows].astype(np.float64)
        exact /= np.sqrt(np.einsum("ij,ij->i", exact, exact))[:, None]
        return exact

    def distances(self, rows: Rows, vector: Reals) -> Reals:
        """Exact cosine distances of these rows to a unit vector, shape (len(rows),)."""
        out = np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK):
            part = rows[start : start + _BLOCK]
            difference = self.rows(part) - vector
            out[start : start + _BLOCK] = np.einsum("ij,ij->i", difference, difference) / 2.0
        return out

    def nearest(self, vector: Reals, count: int) -> tuple[Rows, Reals]:
        """The `count` rows nearest to a unit vector, nearest first, and their exact distances.

        Ties within `TIE` are broken by the row. Fewer come back where the corpus is smaller.
        """
        return self.nearest_of(self.approximate(vector), vector, count)

    def nearest_of(self, approximate: Reals, vector: Reals, count: int) -> tuple[Rows, Reals]:
        """As `nearest`, with the result of `approximate(vector)` at hand."""
        count = min(count, len(approximate))
        if count <= 0:
            return np.empty(0, dtype=np.intp), np.empty(0)
        bound = np.partition(approximate, count - 1)[count - 1] + 2 * self.error + TIE
        rows = np.flatnonzero(approximate <= bound)
        distances = self.distances(rows, vector)
        order = ranked(distances, rows)[:count]
        return rows[order], distances[order]

    def within(self, approximate: Reals, vector: Reals, radius: float) -> Rows:
        """The rows with exact distance at most `radius` (and `TIE`), in the order of the rows.

        `approximate` is changed: the values that had to be looked at closely become exact.
        """
        close = np.flatnonzero(np.abs(approximate - radius) <= self.error + TIE)
        approximate[close] = self.distances(close, vector)
        return np.flatnonzero(approximate <= radius + TIE)


def ranked(values: Reals, rows: Rows) -> Rows:
    """The order of the values from small to large, those within `TIE` in the order of `rows`."""
    order = np.lexsort((rows, values))
    if len(order) == 0:
        return order
    group = np.concatenate(([0], np.cumsum(np.diff(values[order]) > TIE)))
    return order[np.lexsort((rows[order], group))]


def even_rows(size: int, most: int) -> Rows:
    """At most `most` of `size` rows, evenly spread from the first on."""
    if size <= most:
        return np.arange(size)
    return (np.arange(most) * (size / most)).astype(np.intp)
