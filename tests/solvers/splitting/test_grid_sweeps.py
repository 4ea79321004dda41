"""The relaxation methods on a stencil: in every order the iterates that its matrix would give, and no matrix formed."""

from __future__ import annotations

import grid_operators as grids
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.solvers.splitting.sweeps import REFRESH_EVERY

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)
METHODS = {
    "pgs forward": perp.PGS(),
    "pgs backward": perp.PGS(order="backward"),
    "pgs symmetric": perp.PGS(order="symmetric"),
    "pgs coloured": perp.PGS(order="coloured"),
    "psor forward": perp.PSOR(1.5),
    "psor backward": perp.PSOR(1.5, order="backward"),
    "psor symmetric": perp.PSOR(1.5, order="symmetric"),
    "psor coloured": perp.PSOR(1.5, order="coloured"),
    "symmetric_psor": perp.SymmetricPSOR(1.3),
    "symmetric_psor coloured": perp.SymmetricPSOR(1.3, order="coloured"),
}
EVERY_METHOD = pytest.mark.parametrize("name", METHODS)


def make_problem(grid, storage, seed, kind):
    rng = np.random.default_rng(seed)
    A, b = grids.random_stencil(rng, grid, storage), rng.standard_normal(int(np.prod(grid)))
    if kind == "lcp":
        return perp.LCP(A, b)
    upper = np.where(rng.random(A.n) < 0.3, np.inf, rng.random(A.n))
    return perp.BoxLCP(A, b, np.where(rng.random(A.n) < 0.3, -np.inf, -rng.random(A.n)), upper)


def with_rows(problem):
    matrix = problem.A.to_sparse()
    if problem.kind == "lcp":
        return perp.LCP(matrix, problem.b)
    return perp.BoxLCP(matrix, problem.b, problem.lower, problem.upper)


def iterate(problem, method, widths):
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    for width in widths:
        method.step(problem, state, width)
    return state.x


@EVERY_METHOD
@given(SIZES, st.sampled_from(grids.STORAGES), st.integers(0, 1000), st.sampled_from(["lcp", "box"]))
def test_iterates_are_those_of_the_matrix_in_compressed_rows(name, grid, storage, seed, kind):
    problem = make_problem(grid, storage, seed, kind)
    ours, theirs = (iterate(one, METHODS[name], (1, 3)) for one in (problem, with_rows(problem)))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)


@EVERY_METHOD
@pytest.mark.parametrize("storage", grids.STORAGES)
def test_no_matrix_is_formed_and_nothing_is_noted(name, storage, monkeypatch):
    def refuse(self):
        raise AssertionError("formed")

    monkeypatch.setattr(perp.StencilOperator, "to_sparse", refuse)
    monkeypatch.setattr(perp.StencilOperator, "to_dense", refuse)
    result = perp.solve(make_problem((4, 3, 5), storage, 0, "box"), METHODS[name], tol=1e-10)
    assert result.success
    assert result.notes == ()


@EVERY_METHOD
def test_the_width_of_a_step_does_not_change_a_bit(name):
    problem = make_problem((5, 6, 7), "faces", 1, "box")
    widths = (REFRESH_EVERY + 9,)
    at_once = iterate(problem, METHODS[name], widths)
    in_parts = iterate(problem, METHODS[name], (2, 3, 0, 1, REFRESH_EVERY - 5, 8))
    assert at_once.tobytes() == in_parts.tobytes()


def test_a_random_order_gets_rows_and_says_so():
    result = perp.solve(make_problem((4, 5), "constant", 2, "lcp"), perp.PGS(order="random"), tol=1e-10)
    assert result.success
    assert any("sparse rows" in note for note in result.notes)


def test_the_coloured_order_of_a_grid_is_red_and_then_black():
    problem = make_problem((5, 4), "constant", 3, "lcp")
    bounds, start = (problem.lower, problem.upper), np.zeros(problem.n)
    once = grids.sweep_colours(problem.A, problem.b, *bounds, 1.5, start, 2)
    np.testing.assert_allclose(iterate(problem, METHODS["psor coloured"], (2,)), once, rtol=0, atol=1e-13)
    both = grids.sweep_colours(problem.A, problem.b, *bounds, 1.3, start, 4, symmetric=True)  # two a step
    ours = iterate(problem, METHODS["symmetric_psor coloured"], (2,))
    np.testing.assert_allclose(ours, both, rtol=0, atol=1e-13)


def test_the_way_back_of_a_coloured_order_takes_the_colours_from_the_end():
    """On a matrix without a grid, too: there the colours are found greedily."""
    problem = with_rows(make_problem((1, 6), "constant", 4, "lcp"))
    A, x = problem.A.to_dense(), np.zeros(6)
    for i in [0, 2, 4, 1, 3, 5, 5, 3, 1, 4, 2, 0]:
        x[i] = max(x[i] - 1.3 * (A[i] @ x + problem.b[i]) / A[i, i], 0.0)
    np.testing.assert_allclose(iterate(problem, METHODS["symmetric_psor coloured"], (1,)), x, atol=1e-14)


def test_an_order_that_symmetric_psor_does_not_have_is_refused():
    with pytest.raises(ValueError, match=r"order is 'coluored'.*coloured"):
        perp.SymmetricPSOR(order="coluored")


def test_contacts_on_a_stencil_are_swept_by_rows():
    A = perp.StencilOperator((3, 3), 4.0)
    problem = perp.ContactProblem(A, -np.ones(9), 0.3)
    result = perp.solve(problem, perp.PGS(), tol=1e-10)
    assert result.success
    assert any("sparse rows" in note for note in result.notes)
