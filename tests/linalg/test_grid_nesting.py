"""The problem on the next coarser grid, against sums in NumPy, and the way back."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import gallery
from perp.linalg.grid_nesting import can_coarsen, coarsen

SHAPES = [(70,), (9, 10), (1, 80), (5, 4, 6), (4, 4, 4), (7, 2, 5), (1, 9, 8)]


@st.composite
def problems(draw):
    """Pressure-like problems on grids with dead cells, fixed ones, missing faces and every kind of bounds."""
    rng = np.random.default_rng(draw(strategies.SEEDS))
    shape = draw(st.sampled_from(SHAPES))
    faces = [tuple(size - (k == axis) for k, size in enumerate(shape)) for axis in range(len(shape))]
    couplings = [-rng.uniform(0.1, 1.0, face) * (rng.random(face) < 0.9) for face in faces]
    bare = perp.StencilOperator(shape, 0.0, couplings)
    diagonal = -(bare @ np.ones(bare.n)).reshape(shape) + rng.choice([0.0, 0.5], shape)
    n = bare.n
    lower = rng.choice([-np.inf, 0.0, 0.3], n)
    upper = np.where(rng.random(n) < 0.2, np.maximum(lower, 0.0) + 0.5, np.inf)
    fixed = rng.random(n) < draw(st.sampled_from([0.0, 0.3, 0.9]))
    lower[fixed] = upper[fixed] = rng.choice([0.0, 0.7], fixed.sum())
    return perp.BoxLCP(
        perp.StencilOperator(shape, diagonal + (diagonal == 0.0), couplings), rng.standard_normal(n), lower, upper
    )


def aggregates(shape):
    """Which coarse cell each cell belongs to, and the shape of the coarse grid."""
    coarse = tuple((size + 1) // 2 for size in shape)
    places = np.indices(shape).reshape(len(shape), -1) // 2
    return np.ravel_multi_index(tuple(places), coarse), coarse


def distance(shape, axis, a, b):
    """Between the centres of two coarse cells that are neighbours along an axis, in cells of the fine grid."""

    def width(index):
        return 1 if 2 * index + 1 == shape[axis] else 2

    return 0.5 * (width(a) + width(b))


def listed_coarse_problem(problem):
    """A dense matrix, b, lower, upper and which cells live, cell by cell and pair by pair."""
    shape, A = problem.A.grid, problem.A.to_dense()
    of, coarse = aggregates(shape)
    n, count = problem.n, int(np.prod(coarse))
    live = problem.lower < problem.upper
    C, b = np.zeros((count, count)), np.zeros(count)
    for c in np.flatnonzero(live):
        C[of[c], of[c]] += A[c, live].sum()
        b[of[c]] += problem.b[c] + A[c, ~live] @ problem.lower[~live]
        for d in np.flatnonzero((A[c] != 0.0) & live & (of != of[c])):
            here, there = np.unravel_index(of[c], coarse), np.unravel_index(of[d], coarse)
            axis = next(k for k in range(len(shape)) if here[k] != there[k])
            share = A[c, d] / distance(shape, axis, here[axis], there[axis])
            C[of[c], of[d]] += share
            C[of[c], of[c]] -= share
    lower, upper, has_unknown = np.full(count, -np.inf), np.full(count, np.inf), np.zeros(count, dtype=bool)
    for k in range(count):
        inside = np.arange(n)[(of == k) & live]
        has_unknown[k] = inside.size > 0
        for bound, given_bound in ((lower, problem.lower), (upper, problem.upper)):
            finite = given_bound[inside][np.isfinite(given_bound[inside])]
            if finite.size:
                bound[k] = finite.mean()
        if not has_unknown[k]:
            C[k, k], lower[k], upper[k] = 1.0, 0.0, 0.0
    return C, b, lower, np.maximum(lower, upper), has_unknown


@given(problem=problems())
def test_a_coarse_problem_is_the_sum_of_its_cells(problem):
    nesting = coarsen(problem)
    C, b, lower, upper, live = listed_coarse_problem(problem)
    np.testing.assert_allclose(nesting.coarse.A.to_dense(), C, atol=1e-12)
    np.testing.assert_allclose(nesting.coarse.b, b, atol=1e-12)
    np.testing.assert_allclose(nesting.coarse.lower, lower, atol=1e-14)
    np.testing.assert_allclose(nesting.coarse.upper, upper, atol=1e-14)
    np.testing.assert_array_equal(nesting.live, live)


@given(problem=problems(), seed=strategies.SEEDS)
def test_what_comes_back_lies_within_the_bounds_and_keeps_constants(problem, seed):
    nesting = coarsen(problem)
    rng = np.random.default_rng(seed)
    x = nesting.interpolate(rng.standard_normal(nesting.coarse.n))
    np.testing.assert_array_equal(x, problem.project(x))
    constant = nesting.interpolate(np.where(nesting.live, 0.4, np.nan))  # a dead cell is not read
    np.testing.assert_allclose(constant, problem.project(np.full(problem.n, 0.4)), rtol=1e-14)


def test_constant_couplings_and_faces_give_the_same_coarse_problem():
    shape, b = (6, 5, 4), np.random.default_rng(0).standard_normal(120)
    faces = [np.full(tuple(s - (k == axis) for k, s in enumerate(shape)), -1.0 - axis) for axis in range(3)]
    one, other = (coarsen(perp.LCP(perp.StencilOperator(shape, 12.0, w), b)) for w in ([-1.0, -2.0, -3.0], faces))
    np.testing.assert_array_equal(one.coarse.A.to_dense(), other.coarse.A.to_dense())
    np.testing.assert_array_equal(one.coarse.b, other.coarse.b)


def test_between_centres_interpolation_is_exact_for_linear_functions():
    problem = perp.BoxLCP(perp.StencilOperator((16, 12), 4.0, -1.0), np.zeros(192), -np.inf, np.inf)
    nesting = coarsen(problem)
    i, j = np.indices((16, 12))
    at, bt = np.indices((8, 6))
    linear = 2.0 * i - 0.5 * j + 1.0
    coarse = 2.0 * (2.0 * at + 0.5) - 0.5 * (2.0 * bt + 0.5) + 1.0
    x = nesting.interpolate(coarse.reshape(-1)).reshape(16, 12)
    np.testing.assert_allclose(x[1:-1, 1:-1], linear[1:-1, 1:-1], rtol=1e-14)


def test_the_answer_of_a_coarser_grid_is_off_by_no_more_than_a_cell():
    """It takes the rim to be nearer, by half a cell of its own: x is off as if moved by a fine cell along each axis."""
    problem = gallery.make("radial_obstacle", n=63**2, form="stencil").problem
    fine = perp.solve(problem, "block_principal").x
    nesting = coarsen(problem)
    found = nesting.interpolate(perp.solve(nesting.coarse, "block_principal").x)
    cells = fine.reshape(63, 63)
    a_cell = sum(np.abs(np.diff(cells, axis=axis)).max() for axis in range(2))
    assert a_cell < 0.1 * fine.max()
    assert np.abs(found - fine).max() <= a_cell


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (gallery.make("poisson_2d", n=400).problem, "not a stencil"),
        (gallery.make("poisson_2d", n=64, form="stencil").problem, "too few cells"),
        (perp.LCP(perp.StencilOperator((20, 20), 4.0, [-1.0, 0.5]), np.zeros(400)), "a positive coupling"),
        (perp.LCP(perp.StencilOperator((4, 4, 4, 4), 8.0, -1.0), np.zeros(256)), "four axes"),
    ],
    ids=["sparse", "small", "positive", "four_axes"],
)
def test_some_problems_have_no_coarser_one(problem, reason):
    assert not can_coarsen(problem), reason


def test_grids_get_coarser_until_few_cells_are_left():
    problem = gallery.make("poisson_3d", n=20**3, form="stencil").problem
    sizes = []
    while can_coarsen(problem):
        problem = coarsen(problem).coarse
        sizes.append(problem.A.grid)
    assert sizes == [(10, 10, 10), (5, 5, 5), (3, 3, 3)]
