"""The map: fitted once, new points placed, its own error measured."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracert.projection import (
    BACKGROUND,
    Projection,
    fit_pca,
    fit_umap,
    kept_neighbours,
    load,
    map_of,
    memberships,
    path_of,
    save,
)
from tracert.trace import (
    CorpusInfo,
    Node,
    NodeKind,
    Result,
    Stop,
    StopReason,
    Trace,
)


def unit_rows(n: int, d: int, seed: int = 0) -> npt.NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(n, d))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def umap_like(positions: npt.ArrayLike) -> Projection:
    points = np.asarray(positions, dtype=np.float32)
    return Projection("umap", 1, points, np.ones(len(points), dtype=np.float32), len(points))


# --- PCA ----------------------------------------------------------------------------------


def test_pca_finds_the_two_widest_directions() -> None:
    # Points on a cross: +-3 along the second axis, +-2 along the fourth, nothing elsewhere. The
    # widest direction is the second axis, then the fourth; signs are fixed to be positive.
    matrix = np.zeros((4, 5), dtype=np.float32)
    matrix[0, 1], matrix[1, 1], matrix[2, 3], matrix[3, 3] = 3, -3, 2, -2
    found = fit_pca(matrix)
    np.testing.assert_allclose(found.positions, [[3, 0], [-3, 0], [0, 2], [0, -2]], atol=1e-5)
    np.testing.assert_allclose(
        found.place(np.array([[7, 1, 7, 1, 7]], dtype=np.float32), matrix), [[1, 1]], atol=1e-5
    )


def test_pca_equals_the_singular_vectors() -> None:
    matrix = unit_rows(80, 12)
    centred = matrix.astype(np.float64) - matrix.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    expected = u[:, :2] * s[:2]
    found = fit_pca(matrix).positions
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=1e-4)


@pytest.mark.parametrize(("n", "d"), [(0, 4), (1, 4), (2, 4), (3, 1), (5, 2)])
def test_pca_of_next_to_nothing_is_finite(n: int, d: int) -> None:
    matrix = unit_rows(n, d)
    found = fit_pca(matrix)
    assert found.positions.shape == (n, 2)
    assert np.isfinite(found.positions).all()
    assert found.place(unit_rows(3, d, 1), matrix).shape == (3, 2)


def test_pca_is_the_same_every_time() -> None:
    matrix = unit_rows(50, 8)
    np.testing.assert_array_equal(fit_pca(matrix).positions, fit_pca(matrix.copy()).positions)


# --- the measure --------------------------------------------------------------------------


def brute_kept(matrix: npt.NDArray[np.float32], plane: npt.NDArray[np.float32], k: int) -> list:
    out = []
    for i in range(len(matrix)):
        others = [j for j in range(len(matrix)) if j != i]
        near = sorted(others, key=lambda j: -float(matrix[i] @ matrix[j]))[:k]
        close = sorted(others, key=lambda j: float(((plane[i] - plane[j]) ** 2).sum()))[:k]
        out.append(len(set(near) & set(close)) / k)
    return out


@pytest.mark.parametrize("n", [2, 7, 40, 130])
def test_kept_neighbours_equal_a_count_by_hand(n: int) -> None:
    matrix = unit_rows(n, 6)
    plane = np.random.default_rng(1).normal(size=(n, 2)).astype(np.float32)
    np.testing.assert_allclose(
        kept_neighbours(matrix, plane), brute_kept(matrix, plane, min(10, n - 1)), atol=1e-6
    )


def test_a_faithful_map_keeps_all_and_one_point_has_nothing_to_keep() -> None:
    # Points on a circle lie in the plane: the map by their own coordinates keeps every one.
    angles = np.sort(np.random.default_rng(2).uniform(0, 6, 60))
    matrix = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert kept_neighbours(matrix, matrix).min() == 1.0
    assert np.isnan(kept_neighbours(matrix[:1], matrix[:1])).all()


def test_a_bound_on_pairs_measures_some_points_as_all_would() -> None:
    matrix, plane = unit_rows(100, 6), unit_rows(100, 2, 1)
    every = kept_neighbours(matrix, plane)
    some = kept_neighbours(matrix, plane, pairs=100 * 7)
    assert np.isfinite(some).sum() == 7
    np.testing.assert_array_equal(some[np.isfinite(some)], every[np.isfinite(some)])


# --- placing ------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 15), st.integers(0, 10_000))
def test_memberships_are_umaps_own(k: int, seed: int) -> None:
    """The same numbers as UMAP's smooth_knn_dist at the local connectivity of its transform."""
    umap_ = pytest.importorskip("umap.umap_")
    distances = np.sort(np.random.default_rng(seed).uniform(0.05, 1.2, (3, k)), axis=1)
    sigma, rho = umap_.smooth_knn_dist(
        distances.astype(np.float32), float(k), local_connectivity=0.0
    )
    expected = np.exp(-(distances - rho[:, None]) / sigma[:, None])
    np.testing.assert_allclose(memberships(distances), expected, atol=2e-4)


def test_memberships_by_hand() -> None:
    # Four neighbours, the last three at distance 1: 3 exp(-1 / sigma) = log2(4) = 2, so a
    # neighbour at distance x has exp(-x / sigma) = (2 / 3) ** x.
    found = memberships(np.array([[0.5, 1.0, 1.0, 1.0]]))
    np.testing.assert_allclose(found, [[(2 / 3) ** 0.5, 2 / 3, 2 / 3, 2 / 3]], rtol=1e-6)


def test_a_passage_of_the_corpus_lies_where_it_was_fitted() -> None:
    matrix = unit_rows(60, 8)
    found = umap_like(np.random.default_rng(3).normal(size=(60, 2)))
    np.testing.assert_array_equal(found.place(matrix[[4, 9]], matrix), found.positions[[4, 9]])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(0, 10_000))
def test_a_placed_point_lies_among_its_neighbours(n: int, seed: int) -> None:
    matrix = unit_rows(n, 6, seed)
    positions = np.random.default_rng(seed).normal(size=(n, 2)).astype(np.float32)
    vector = unit_rows(1, 6, seed + 1)
    placed = umap_like(positions).place(vector, matrix)[0]
    near = positions[np.argsort(-(matrix @ vector[0]))[:15]]
    # The median lies in the convex hull of its points, and so in the box around them.
    assert (placed >= near.min(axis=0) - 1e-5).all()
    assert (placed <= near.max(axis=0) + 1e-5).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 40), st.integers(0, 10_000))
def test_a_placed_point_minimises_the_weighted_sum_of_distances(n: int, seed: int) -> None:
    matrix = unit_rows(n, 6, seed)
    random = np.random.default_rng(seed)
    positions = random.normal(size=(n, 2)).astype(np.float32)
    vector = unit_rows(1, 6, seed + 1)
    placed = umap_like(positions).place(vector, matrix)[0].astype(np.float64)
    near = np.argsort(-(matrix @ vector[0]))[:15]
    weights = memberships(1.0 - np.sort(matrix[near] @ vector[0])[::-1][None].astype(float))[0]

    def loss(y: npt.NDArray[np.float64]) -> float:
        return float((weights * np.linalg.norm(positions[near] - y, axis=1)).sum())

    # The sum is convex: what no neighbour, no mean and no small step improves is its minimum.
    others = [*positions[near].astype(np.float64), positions[near].mean(axis=0)]
    others += [placed + step for step in random.normal(scale=0.05, size=(40, 2))]
    assert loss(placed) <= min(loss(each) for each in others) + 1e-3 * weights.sum()


def test_a_corpus_of_one_text_many_times_has_a_place_for_a_question() -> None:
    matrix = np.repeat(unit_rows(1, 6), 30, axis=0)
    placed = umap_like(np.random.default_rng(0).normal(size=(30, 2))).place(
        unit_rows(1, 6, 5), matrix
    )
    assert np.isfinite(placed).all()


# --- UMAP ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 16, 80])
def test_umap_is_seeded_and_finite(n: int) -> None:
    matrix = unit_rows(n, 8)
    one, two = fit_umap(matrix), fit_umap(matrix.copy())
    assert one.kind == "umap"
    assert one.positions.shape == (n, 2)
    assert np.isfinite(one.positions).all()
    np.testing.assert_array_equal(one.positions, two.positions)


def test_umap_of_one_text_many_times_is_finite() -> None:
    found = fit_umap(np.repeat(unit_rows(1, 8), 24, axis=0))
    assert np.isfinite(found.positions).all()


def test_umap_of_many_points_fits_some_and_places_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tracert.projection.MOST_FITTED", 40)
    centres = unit_rows(4, 12)
    noise = np.random.default_rng(0).normal(scale=0.05, size=(120, 12))
    matrix = (np.repeat(centres, 30, axis=0) + noise).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    found = fit_umap(matrix)
    assert found.fitted == 40
    # Four tight groups stay groups: each placed point is nearest to the middle of its own.
    groups = found.positions.reshape(4, 30, 2)
    middles = np.median(groups, axis=1)
    nearest = np.linalg.norm(found.positions[:, None] - middles[None], axis=2).argmin(axis=1)
    assert (nearest == np.repeat(np.arange(4), 30)).mean() > 0.95


# --- on disk ------------------------------------------------------------------------------


def test_a_saved_map_comes_back_and_another_is_not_taken_for_it(tmp_path: Path) -> None:
    found = umap_like(unit_rows(12, 2))
    path = path_of(tmp_path / "maps", "f" * 64)
    save(found, path)
    again = load(path, 12)
    assert again is not None
    np.testing.assert_array_equal(again.positions, found.positions)
    np.testing.assert_array_equal(again.kept, found.kept)
    assert (again.kind, again.seed, again.fitted) == ("umap", 1, 12)
    assert load(path, 13) is None
    assert load(path_of(tmp_path / "maps", "e" * 64), 12) is None
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_of_many_maps_those_longest_unused_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three are kept. b is older than a and c but was opened since, so a goes when d comes.
    monkeypatch.setattr("tracert.projection.KEPT", 3)
    found = umap_like(unit_rows(12, 2))
    paths = {name: path_of(tmp_path, name * 64) for name in "abcd"}
    for name, made in (("b", 1_000), ("a", 2_000), ("c", 3_000)):
        save(found, paths[name])
        os.utime(paths[name], (made, made))
    assert load(paths["b"], 12) is not None
    save(found, paths["d"])
    assert [name for name, path in paths.items() if path.exists()] == ["b", "c", "d"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"x" * 500])
def test_a_damaged_map_is_as_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "map.npz"
    path.write_bytes(content)
    assert load(path, 12) is None


def test_a_map_with_a_pickle_in_it_is_as_none(tmp_path: Path) -> None:
    path = tmp_path / "map.npz"
    objects = np.array([object()], dtype=object)
    with path.open("wb") as file:
        np.savez(file, positions=objects, kept=objects, fitted=1, seed=1)
    assert load(path, 1) is None


# --- onto a trace -------------------------------------------------------------------------


def trace_of(*nodes: Node) -> Trace:
    return Trace(
        method="native_rag",
        question="?",
        settings={},
        seed=0,
        corpus=CorpusInfo("c", "f", "toy", 6, 50),
        nodes=nodes,
        steps=(),
        result=Result((), (), Stop(StopReason.HOPS_DONE, "")),
    )


def test_every_node_with_a_vector_has_a_place() -> None:
    matrix = unit_rows(50, 6)
    found = umap_like(np.random.default_rng(3).normal(size=(50, 2)))
    query = unit_rows(1, 6, 9)[0]
    trace = trace_of(
        Node("query", NodeKind.QUERY, "", "", vector=query),
        Node("c:7", NodeKind.CHUNK, "", ""),
        Node("note", NodeKind.NOTE, "", ""),
    )
    rows = {f"c:{row}": row for row in range(50)}
    made = map_of(trace, found, matrix, rows.get)
    assert set(made.positions) == {"query", "c:7"}
    np.testing.assert_allclose(made.positions["c:7"], found.positions[7], rtol=1e-6)
    np.testing.assert_allclose(
        made.positions["query"], found.place(query[None], matrix)[0], rtol=1e-6
    )
    np.testing.assert_array_equal(made.background, found.positions)


def test_the_background_is_bounded_and_spread_over_the_corpus() -> None:
    n = 3 * BACKGROUND + 1
    positions = np.stack([np.arange(n), np.arange(n)], axis=1).astype(np.float32)
    made = map_of(trace_of(), umap_like(positions), np.zeros((n, 6), dtype=np.float32), {}.get)
    assert len(made.background) == BACKGROUND
    assert made.background[0, 0] == 0
    assert made.background[-1, 0] == n - 1
    assert np.diff(made.background[:, 0]).max() <= 4


def test_an_empty_corpus_has_an_empty_map() -> None:
    matrix = np.zeros((0, 6), dtype=np.float32)
    query = Node("query", NodeKind.QUERY, "", "", vector=unit_rows(1, 6)[0])
    made = map_of(trace_of(query), fit_pca(matrix), matrix, {}.get)
    assert made.positions == {}
    assert made.background.shape == (0, 2)
