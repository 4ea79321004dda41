"""Methods that begin at the answer of coarser grids: as many iterations on every grid, and the same answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import perp
from perp import MPRGP, BoxLCP, MinimumMap, gallery
from perp.solvers.nested_start import nested_start

NEWTON = MinimumMap(linear="pcg", preconditioner="multigrid", initial="nested")
GRADIENT = MPRGP(preconditioner="multigrid", expand_along="conjugate", initial="nested")


def exact(problem, x):
    return perp.solve(problem, "block_principal").x


@pytest.mark.parametrize("kind", ["radial_obstacle", "membrane", "double_obstacle"])
@pytest.mark.parametrize(("method", "most"), [(NEWTON, 7), (GRADIENT, 24)], ids=["minimum_map", "mprgp"])
def test_iterations_do_not_grow_with_the_grid(kind, method, most):
    for cells in (32, 64, 128):
        problem = gallery.make(kind, n=cells**2, form="stencil").problem
        result = perp.solve(problem, method, check_every=1)
        assert result.success
        assert result.iterations <= most
    assert perp.solve(problem, replace(method, initial="given"), check_every=1).iterations >= 2 * result.iterations


@pytest.mark.parametrize("method", [NEWTON, GRADIENT], ids=["minimum_map", "mprgp"])
def test_the_answer_is_that_of_another_start(method):
    example = gallery.make("poisson_3d", n=12**3, form="stencil")
    result = perp.solve(example.problem, method, tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-7)


@pytest.mark.parametrize("preconditioner", ["ic0", "mic0"])
def test_the_minimum_map_on_a_stencil_does_what_it_does_by_entries(preconditioner):
    problem = gallery.make("poisson_2d", n=400, form="stencil").problem
    entries = perp.LCP(problem.A.to_sparse(), problem.b)
    method = MinimumMap(linear="pcg", preconditioner=preconditioner)
    grid, matrix = perp.solve(problem, method), perp.solve(entries, method)
    assert grid.iterations == matrix.iterations
    np.testing.assert_allclose(grid.x, matrix.x, atol=1e-9)


def test_the_start_lies_within_the_bounds_and_near_the_answer():
    problem = gallery.make("double_obstacle", n=64**2, form="stencil").problem
    x = nested_start(problem, problem.project(np.zeros(problem.n)), exact)
    np.testing.assert_array_equal(x, problem.project(x))
    answer = exact(problem, x)
    assert np.abs(x - answer).max() <= 0.05 * np.abs(answer).max()


def test_the_given_point_stays_where_it_is_better_or_the_only_one():
    problem = gallery.make("double_obstacle", n=32**2, form="stencil").problem
    answer = exact(problem, problem.b)
    assert nested_start(problem, answer, exact) is answer
    matrix = BoxLCP(problem.A.to_sparse(), problem.b, problem.lower, problem.upper)
    x = np.ones(problem.n)
    assert nested_start(matrix, x, exact) is x


def test_a_coarse_answer_that_is_not_finite_is_not_taken():
    problem = gallery.make("double_obstacle", n=32**2, form="stencil").problem
    x = problem.project(np.zeros(problem.n))
    assert nested_start(problem, x, lambda coarse, start: np.full(coarse.n, np.nan)) is x


def test_a_row_of_zeros_leaves_the_given_start():
    """Sweeps divide by the diagonal, so there is nothing to smooth with."""
    A = perp.StencilOperator((9, 9), np.where(np.arange(81).reshape(9, 9) == 3, 0.0, 4.0), -0.0)
    x = np.ones(81)
    assert nested_start(perp.LCP(A, np.ones(81)), x, exact) is x


def test_clipped_conjugate_steps_never_raise_the_objective():
    problem = gallery.make("radial_obstacle", n=24**2, form="stencil").problem
    method = MPRGP(preconditioner="ic0", expand_along="conjugate")
    state = method.start(problem, np.full(problem.n, 3.0))
    before = np.inf
    for _ in range(40):
        method.step(problem, state, 1)
        now = 0.5 * state.x @ (problem.slack(state.x) + problem.b)
        assert now <= before + 1e-14 * (1.0 + abs(now))
        before = now
    assert state.counters["expansions"] >= 1


@pytest.mark.parametrize("method", [MinimumMap, MPRGP])
def test_the_word_is_checked(method):
    with pytest.raises(ValueError, match=r"initial is 'nests'.*nested"):
        method(initial="nests")
    if method is MPRGP:
        with pytest.raises(ValueError, match="expand_along"):
            method(expand_along="newton")
