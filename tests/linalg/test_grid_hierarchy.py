"""Levels of stencils: what their twin says, for any grid and any set of free cells; rates that do not know the grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multigrid_twin import finest_level, twin_cycle
from scipy import sparse

from perp.gallery.grid import smooth_field
from perp.linalg.multigrid import GridHierarchy, find_grid_regions, grid_sizes
from perp.linalg.multigrid.hierarchy import COARSEST, make_table
from perp.problems.operators import StencilOperator


def random_stencil(rng, shape, storage):
    """Walls here and there, a free surface elsewhere."""
    faces = []
    for axis in range(len(shape)):
        size = tuple(n - (k == axis) for k, n in enumerate(shape))
        faces.append(-np.where(rng.random(size) < 0.2, 0.0, rng.uniform(0.5, 1.0, size)))
    couplings = -1.0 if storage == "constant" else faces
    plain = StencilOperator(shape, 0.0, couplings)
    row_sums = -np.asarray(plain.to_sparse().sum(axis=1)).reshape(shape)
    leaks = np.where(rng.random(shape) < 0.3, rng.uniform(0.3, 2.0, shape), 0.0)
    diagonal = row_sums + leaks
    return StencilOperator(shape, np.where(diagonal > 0.0, diagonal, 1.0), couplings)


def matrix_of(hierarchy, n, sweeps=1):
    out, columns = np.empty(n), []
    for unit in np.eye(n):
        hierarchy.cycle(unit, out, sweeps)
        columns.append(out.copy())
    return np.array(columns).T


SHAPES = st.one_of(
    st.tuples(st.integers(2, 90)),
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6)),
)


@given(
    shape=SHAPES, storage=st.sampled_from(["constant", "faces"]), seed=st.integers(0, 10**6), sweeps=st.integers(1, 2)
)
def test_a_cycle_is_that_of_its_twin_of_dense_matrices(shape, storage, seed, sweeps):
    rng = np.random.default_rng(seed)
    A = random_stencil(rng, shape, storage)
    if grid_sizes(A) is None or A.n == 1:
        return
    free, shift = rng.random(A.n) < 0.8, rng.choice([0.0, 0.3], A.n)
    hierarchy, out, r = GridHierarchy(A), np.empty(A.n), rng.standard_normal(A.n)
    if hierarchy.table[:, 7:].sum() != (hierarchy.table[:-1, :3] > 1).sum():
        return  # an axis with weak couplings was not halved: the twin halves all
    hierarchy.follow(free, shift)
    hierarchy.cycle(r, out, sweeps)
    twin = finest_level(A, free, shift)
    if hierarchy.closed:
        return  # a constant more or less: the twin takes another one
    expected = twin_cycle(twin, np.where(free, r, 0.0), sweeps, COARSEST)
    np.testing.assert_allclose(out, expected, atol=1e-9 * max(1.0, np.abs(expected).max()))


@given(shape=SHAPES, storage=st.sampled_from(["constant", "faces"]), seed=st.integers(0, 10**6))
def test_a_cycle_is_symmetric_and_positive_definite_on_the_free_cells_and_zero_elsewhere(shape, storage, seed):
    rng = np.random.default_rng(seed)
    A = random_stencil(rng, shape, storage)
    free = rng.random(A.n) < 0.7
    hierarchy = GridHierarchy(A)
    hierarchy.follow(free, rng.choice([0.0, 1.0], A.n) * rng.random(A.n))
    P = matrix_of(hierarchy, A.n)
    assert not P[~free].any()
    assert not P[:, ~free].any()
    size = np.abs(P).max(initial=1e-300)
    np.testing.assert_allclose(P, P.T, atol=1e-12 * size)
    inside = P[np.ix_(free, free)]
    assert (np.linalg.eigvalsh(inside + inside.T) > 0.0).all()


def rate(A, free, cycles=9):
    """The factor by which a cycle shortens the slowest part of an error, in the norm of A."""
    hierarchy, v = GridHierarchy(A), np.random.default_rng(0).standard_normal(A.n) * free
    hierarchy.follow(free)
    correction, product, zero, lengths = np.empty(A.n), np.empty(A.n), np.zeros(A.n), []
    zero.flags.writeable = False
    for _ in range(cycles):
        A.slack(v, zero, product)
        lengths.append(np.sqrt(np.sum(v * product)))
        hierarchy.cycle(np.where(free, -product, 0.0), correction)
        v += correction
    return (lengths[-1] / lengths[-4]) ** (1.0 / 3.0)


def region(name, shape):
    places = np.indices(shape) + 0.5
    if name == "cube":
        return np.ones(shape, dtype=bool).reshape(-1)
    if name == "ball":
        radius = 0.45 * shape[0]
        return (sum((place - 0.5 * size) ** 2 for place, size in zip(places, shape, strict=True)) < radius**2).reshape(
            -1
        )
    rng = np.random.default_rng(0)
    if name == "random":
        return (rng.random(shape) < 0.5).reshape(-1)
    field = smooth_field(shape, rng).reshape(-1)
    return field > np.median(field)


@pytest.mark.parametrize("name", ["cube", "ball", "random", "smooth"])
@pytest.mark.parametrize("shape", [(32, 32), (128, 128), (75, 75), (16,) * 3, (33,) * 3], ids=str)
def test_a_cycle_leaves_less_than_half_of_any_error_whatever_the_grid(name, shape):
    A = StencilOperator(shape, 2.0 * len(shape), -1.0)
    assert rate(A, region(name, shape)) < (0.42 if len(shape) == 2 else 0.45)


@pytest.mark.parametrize("shape", [(64, 64), (50, 37), (24,) * 3], ids=str)
def test_walls_all_around_make_no_difference(shape):
    plain = StencilOperator(shape, 0.0, -1.0)
    A = StencilOperator(shape, -np.asarray(plain.to_sparse().sum(axis=1)).reshape(shape), -1.0)
    v = np.cos(np.arange(A.n))
    hierarchy, out, product = GridHierarchy(A), np.empty(A.n), np.empty(A.n)
    hierarchy.follow(np.ones(A.n, dtype=bool))
    assert hierarchy.closed == 1
    zero = np.zeros(A.n)
    zero.flags.writeable = False
    lengths = []
    for _ in range(9):
        A.slack(v, zero, product)
        lengths.append(np.sqrt(np.sum(v * product)))
        hierarchy.cycle(-product, out)
        v += out
    assert lengths[-1] < 0.45**6 * lengths[-7]


def test_axes_that_are_weakly_coupled_are_not_halved_and_the_rate_stays():
    A = StencilOperator((40, 40), 2.0 * 101.0, [-100.0, -1.0])
    hierarchy = GridHierarchy(A)
    assert hierarchy.table[0, 7:].tolist() == [0, 1, 0]
    assert rate(A, np.ones(A.n, dtype=bool)) < 0.35


def test_levels_take_few_numbers_and_halve_every_axis_of_a_cube():
    A = StencilOperator((64, 64, 64), 6.0, -1.0)
    hierarchy = GridHierarchy(A)
    assert hierarchy.table[:, 0].tolist() == [64, 32, 16, 8, 4, 2]
    assert hierarchy.stored < 3.5 * A.n


def test_the_table_ends_with_a_grid_that_is_small_enough():
    for sizes in ((1, 1, 2), (1, 1, 1000), (1, 7, 300), (5, 80, 3), (1, 1, 1)):
        table = make_table(sizes, [1.0, 1.0, 1.0])
        assert np.prod(table[-1, :3].astype(int)) <= COARSEST
        assert table[0, :3].tolist() == list(sizes)


@pytest.mark.parametrize("grid", [(2, 2, 2, 2), (0, 4)], ids=str)
def test_grids_without_cells_or_with_four_axes_are_refused(grid):
    A = StencilOperator(grid, 8.0, -1.0)
    assert grid_sizes(A) is None
    with pytest.raises(ValueError, match="three axes"):
        GridHierarchy(A)


def test_bounds_of_coarse_levels_keep_the_corrected_point_within_its_own():
    rng = np.random.default_rng(3)
    A = StencilOperator((19, 22), 4.0, -1.0)
    lower, upper = -rng.random(A.n), rng.random(A.n)
    x, y, d = np.zeros(A.n), 30.0 * rng.standard_normal(A.n), np.empty(A.n)
    anywhere = (True, *np.outer([-np.inf, np.inf], np.ones(A.n)))
    for array in (lower, upper, *anywhere[1:]):
        array.flags.writeable = False
    hierarchy = GridHierarchy(A)
    hierarchy.follow(rng.random(A.n) < 0.8)
    for kind in range(3):
        hierarchy.solve_below(y, kind, 1, 1, (lower, upper, x))
        hierarchy.propose(1.0, anywhere, x, y, d)
        assert d.any()
        assert (d >= lower - 1e-14).all()
        assert (d <= upper + 1e-14).all()
        hierarchy.solve_below(y, kind, 1, 1)
        hierarchy.propose(1.0, anywhere, x, y, d)
        assert (d < lower).any() or (d > upper).any()


# -- regions -----------------------------------------------------------------------------------------------------------


REGION_SHAPES = st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple)


@given(shape=REGION_SHAPES, walls=st.sampled_from([0.0, 0.4, 0.7, 1.0]), seed=st.integers(0, 10**6))
def test_regions_are_what_couplings_hold_together_and_open_where_a_row_has_a_sum(shape, walls, seed):
    rng = np.random.default_rng(seed)
    sizes = [tuple(n - (k == axis) for k, n in enumerate(shape)) for axis in range(len(shape))]
    faces = [-np.where(rng.random(size) < walls, 0.0, rng.random(size)) for size in sizes]
    row_sums = -np.asarray(StencilOperator(shape, 0.0, faces).to_sparse().sum(axis=1)).reshape(shape)
    leaks = np.where(rng.random(shape) < 0.2, 0.5, 0.0)
    A = StencilOperator(shape, row_sums + leaks, faces)
    region, is_open = find_grid_regions(A, 1e-12)
    count, labels = sparse.csgraph.connected_components(A.to_sparse(), directed=False)
    firsts = np.array([np.flatnonzero(labels == one)[0] for one in range(count)])
    np.testing.assert_array_equal(region, firsts[labels])
    np.testing.assert_array_equal(is_open, leaks.reshape(-1) > 0.0)


def test_constant_couplings_make_one_region_or_as_many_as_there_are_lines():
    assert not find_grid_regions(StencilOperator((4, 3, 5), 6.0, -1.0), 1e-12)[0].any()
    region, is_open = find_grid_regions(StencilOperator((4, 5), 2.0, [0.0, -1.0]), 1e-12)
    np.testing.assert_array_equal(region, np.repeat(np.arange(0, 20, 5), 5))
    np.testing.assert_array_equal(is_open.reshape(4, 5), np.tile([1, 0, 0, 0, 1], (4, 1)).astype(bool))
