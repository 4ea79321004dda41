"""Products and sweeps on a grid against their readable twins; red-black in one pass, bit for bit as in two."""

from __future__ import annotations

import grid_operators as grids
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perp.kernels.grid import constant as grid_constant
from perp.kernels.grid import faces as grid_faces
from perp.kernels.grid import sweeping as grid_sweeping
from perp.problems.inputs import freeze

SIZES = st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple)
EVERY_STORAGE = st.sampled_from(grids.STORAGES)


class Case:
    """A random grid with the arrays that the kernels take; beyond both ends of x and b lies NaN."""

    def __init__(self, grid, storage, seed, bounded=True):
        rng = np.random.default_rng(seed)
        self.A = grids.random_stencil(rng, grid, storage)
        n = self.n = self.A.n
        self.x, self.b = self.guarded(rng.standard_normal(n)), freeze(self.guarded(rng.standard_normal(n)))
        self.inverse = freeze(1.0 / self.A.diagonal())
        self.bounded = bounded
        self.lower = freeze(-rng.random(n) if bounded else np.zeros(n))
        self.upper = freeze(rng.random(n) if bounded else np.full(n, np.inf))
        self.line = np.full(grid[-1], np.nan)

    @staticmethod
    def guarded(numbers):
        return np.concatenate([np.full(numbers.size, np.nan), numbers, np.full(numbers.size, np.nan)])[
            numbers.size : 2 * numbers.size
        ]

    def run(self, kernel, *order, relaxation=1.3):
        x = self.guarded(self.x)
        bounds = (self.lower, self.upper) if self.bounded else (self.b, self.b)  # which must not be read then
        getattr(self.A.kernels, kernel)(
            *order, *self.A.kernel_arguments, relaxation, self.inverse, self.b, self.bounded, *bounds, x, self.line
        )
        return x

    def twin(self, sweep, *order, relaxation=1.3):
        return sweep(self.A, self.b, self.lower, self.upper, relaxation, self.x, *order)


@given(SIZES, EVERY_STORAGE, st.integers(0, 1000))
def test_the_product_is_that_of_the_matrix(grid, storage, seed):
    case = Case(grid, storage, seed)
    out = case.A.slack(case.x, case.b, np.full(case.n, np.nan))
    np.testing.assert_allclose(out, case.A.to_dense() @ case.x + case.b, rtol=0, atol=1e-13)


@given(SIZES, EVERY_STORAGE, st.integers(0, 1000), st.integers(1, 6), st.booleans(), st.booleans(), st.booleans())
def test_red_black_sweeps_make_the_iterates_of_their_twin(grid, storage, seed, count, first, symmetric, bounded):
    case = Case(grid, storage, seed, bounded)
    ours = case.run("sweep_colours", count, np.uint64(first), symmetric)
    theirs = case.twin(grids.sweep_colours, count, int(first), symmetric)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@given(SIZES, EVERY_STORAGE, st.integers(0, 1000), st.integers(1, 3), st.booleans(), st.booleans())
def test_sweeps_in_order_make_the_iterates_of_their_twin(grid, storage, seed, count, backward, bounded):
    case = Case(grid, storage, seed, bounded)
    ours = case.run("sweep_in_order", count, backward)
    np.testing.assert_allclose(ours, case.twin(grids.sweep_in_order, count, backward), rtol=0, atol=1e-12)


# several bands of rows, a band narrower than the half-sweeps are deep, planes of one row, and one row
LONG = [(3, 70, 64), (4, 12, 1500), (60, 40), (2, 3000), (5000,)]


@pytest.mark.parametrize("grid", LONG)
@pytest.mark.parametrize("storage", grids.STORAGES)
@pytest.mark.parametrize("symmetric", [False, True])
def test_many_sweeps_in_one_pass_over_the_memory_have_the_bits_of_one_after_the_other(grid, storage, symmetric):
    case = Case(grid, storage, 1)
    count = int(grid_sweeping.DEPTH)  # two passes
    together = case.run("sweep_colours", count, np.uint64(0), symmetric)
    for sweep in range(count):
        turned = np.uint64(sweep % 2 if symmetric else 0)
        case.x = case.run("sweep_colours", 1, turned, False)
    assert together.tobytes() == case.x.tobytes()


@pytest.mark.parametrize("grid", LONG)
def test_black_behind_red_has_the_bits_of_red_first_and_then_black(grid):
    """On whole numbers nothing is rounded: with A_cc = 8 and relaxation 1/2 steps are sixteenths of what was whole."""
    rng = np.random.default_rng(2)
    case = Case(grid, "faces", 2)
    couplings = [-rng.integers(0, 3, grids.face_shape(grid, axis)).astype(float) for axis in range(len(grid))]
    case.A = type(case.A)(grid, 8.0, couplings)
    case.inverse = freeze(np.full(case.n, 0.125))
    case.x, case.b = rng.integers(-9, 9, (2, case.n)).astype(float)
    case.b = freeze(case.b)
    case.lower, case.upper = freeze(np.full(case.n, -4.0)), freeze(np.full(case.n, 4.0))
    ours = case.run("sweep_colours", 3, np.uint64(0), False, relaxation=0.5)
    assert (ours == case.twin(grids.sweep_colours, 3, relaxation=0.5)).all()


def test_a_fixed_cell_stays_where_it_is_whatever_its_diagonal():
    case = Case((4, 4), "faces", 3)
    inverse, upper = case.inverse.copy(), case.upper.copy()
    inverse[5], upper[5] = 0.0, case.lower[5]
    case.inverse, case.upper = freeze(inverse), freeze(upper)
    for kernel, order in (("sweep_colours", (2, np.uint64(0), False)), ("sweep_in_order", (2, False))):
        assert case.run(kernel, *order)[5] == case.lower[5]


def test_no_sweep_at_all_changes_nothing():
    case = Case((3, 4, 5), "constant", 4)
    assert (case.run("sweep_colours", 0, np.uint64(0), False) == case.x).all()
    assert (case.run("sweep_in_order", 0, True) == case.x).all()


def test_both_storages_of_the_same_numbers_agree():
    """The sums are added up in another order, so to rounding only."""
    case = Case((5, 6, 7), "constant", 5)
    couplings = [np.full(grids.face_shape(case.A.grid, k), c) for k, c in enumerate(case.A.couplings)]
    ours = case.run("sweep_colours", 5, np.uint64(1), False)
    assert case.A.kernels is grid_constant
    case.A = type(case.A)(case.A.grid, case.A.centre.reshape(case.A.grid), couplings)
    assert case.A.kernels is grid_faces
    np.testing.assert_allclose(case.run("sweep_colours", 5, np.uint64(1), False), ours, rtol=0, atol=1e-14)
