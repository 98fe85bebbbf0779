"""How well new points are placed on the map: our placing beside UMAP's own transform.

A tenth of a text's passages, evenly spread, is left out of the fit and then put into the map,
once by `Projection.place` and once by UMAP's `transform`. For each point: the share of its ten
nearest passages (by cosine) that are among its ten nearest on the map, and how far the two places
lie apart, as a share of the map's width.

    python -m benchmarks.projection TEXT...
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import load_document
from tracert.embedding.registry import embedder
from tracert.projection import (
    MEASURED,
    MIN_DIST,
    NEIGHBOURS,
    SEED,
    Projection,
    fit_pca,
    kept_neighbours,
)

Array = npt.NDArray[np.float32]


def kept(vectors: Array, matrix: Array, placed: Array, positions: Array) -> Array:
    """The share of neighbours kept by points that are not of the corpus, shape (m,)."""
    near = np.argsort(-(vectors @ matrix.T), axis=1)[:, :MEASURED]
    apart = np.linalg.norm(placed[:, None] - positions[None], axis=2)
    close = np.argsort(apart, axis=1)[:, :MEASURED]
    both: Array = (near[:, :, None] == close[:, None, :]).any(axis=2).mean(axis=1)
    return both


def measure(path: Path) -> None:
    """Print the figures of one text."""
    import umap

    document = load_document(path.read_bytes(), path.name)
    texts = [each.text for each in chunk(document, Chunking())]
    vectors = embedder("wordllama").embed(texts)
    out = np.arange(5, len(vectors), 10)
    matrix = np.delete(vectors, out, axis=0)
    new = vectors[out]

    model = umap.UMAP(
        n_neighbors=NEIGHBOURS, min_dist=MIN_DIST, metric="cosine", random_state=SEED, n_jobs=1
    )
    begun = time.perf_counter()
    positions = np.asarray(model.fit_transform(matrix), dtype=np.float32)
    fitted = time.perf_counter() - begun
    model.transform(new[:1])  # compiles
    begun = time.perf_counter()
    theirs = np.asarray(model.transform(new), dtype=np.float32)
    transformed = time.perf_counter() - begun

    ours_map = Projection("umap", SEED, positions, np.ones(len(matrix), np.float32), len(matrix))
    ours_map.place(new[:1], matrix)
    begun = time.perf_counter()
    ours = ours_map.place(new, matrix)
    placed = time.perf_counter() - begun

    pca = fit_pca(matrix)
    width = float(np.linalg.norm(np.ptp(positions, axis=0)))
    apart = np.linalg.norm(ours - theirs, axis=1) / width
    rows = [
        ("passages fitted, placed anew", f"{len(matrix)}, {len(new)}"),
        ("fit, seconds", f"{fitted:.1f}"),
        ("kept by the fitted points, UMAP", f"{kept_neighbours(matrix, positions).mean():.3f}"),
        ("kept by the fitted points, PCA", f"{pca.kept.mean():.3f}"),
        (
            "kept by new points, UMAP transform",
            f"{kept(new, matrix, theirs, positions).mean():.3f}",
        ),
        ("kept by new points, place", f"{kept(new, matrix, ours, positions).mean():.3f}"),
        (
            "kept by new points, PCA",
            f"{kept(new, matrix, pca.place(new, matrix), pca.positions).mean():.3f}",
        ),
        ("apart, share of the map's width: median", f"{np.median(apart):.3f}"),
        ("apart, share of the map's width: 95%", f"{np.quantile(apart, 0.95):.3f}"),
        ("UMAP transform, ms a point", f"{transformed / len(new) * 1e3:.2f}"),
        ("place, ms a point", f"{placed / len(new) * 1e3:.2f}"),
    ]
    print(path.name)
    for name, value in rows:
        print(f"  {name:42s} {value}")


def main() -> None:
    """Measure each text given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", nargs="+", type=Path)
    for path in parser.parse_args().texts:
        measure(path)


if __name__ == "__main__":
    main()
