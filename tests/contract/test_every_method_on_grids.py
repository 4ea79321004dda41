"""Every method for LCPs or boxes takes a stencil, finds what it finds from rows, and says whether it formed any."""

from __future__ import annotations

import grid_operators as grids
import numpy as np
import pytest

import perp
from perp.solvers.method import misfit
from perp.solvers.roster import default_methods

GRIDS = [(6, 5), (3, 4, 3), (7,)]
MATRIX_FREE = {"jacobi", "pgs", "psor", "symmetric_psor", "pgcg", "mprgp", "apgd", "spg"}
"""What these need is a product, a diagonal, or a sweep: a stencil has all three."""


def make_problem(grid, storage, kind):
    rng = np.random.default_rng(7)
    A = grids.random_stencil(rng, grid, storage)
    b = rng.standard_normal(A.n)
    if kind == "lcp":
        return perp.LCP(A, b)
    fixed = rng.random(A.n) < 0.2
    upper = np.where(fixed, 0.0, np.where(rng.random(A.n) < 0.3, 0.05, np.inf))
    return perp.BoxLCP(A, b, np.where(fixed, 0.0, -0.05), upper)


def with_rows(problem):
    matrix = problem.A.to_sparse()
    if problem.kind == "lcp":
        return perp.LCP(matrix, problem.b)
    return perp.BoxLCP(matrix, problem.b, problem.lower, problem.upper)


@pytest.mark.parametrize("kind", ["lcp", "box"])
@pytest.mark.parametrize("storage", grids.STORAGES)
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("method", default_methods(), ids=lambda method: method.name)
def test_a_method_solves_a_stencil_as_it_solves_its_matrix(method, grid, storage, kind, monkeypatch):
    problem = make_problem(grid, storage, kind)
    if kind not in method.accepts:
        pytest.skip("not for this kind of problem")
    rows = with_rows(problem)
    assert misfit(method, problem) == misfit(method, rows)
    if misfit(method, problem) is not None:
        assert method.name == "enumeration", "every other method takes a small positive definite problem"
        return
    formed = []

    def count(form):
        original = getattr(perp.StencilOperator, form)

        def counted(self):
            formed.append(form)
            return original(self)

        monkeypatch.setattr(perp.StencilOperator, form, counted)

    count("to_sparse")
    count("to_dense")
    result = perp.solve(problem, method, tol=1e-10, max_iterations=20_000)
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(rows, method, tol=1e-10, max_iterations=20_000).x, atol=1e-8)
    told = [note for note in result.notes if "formed from its stencil" in note]
    assert bool(told) == bool(formed)
    assert ("as sparse rows" in " ".join(told)) == ("to_sparse" in formed)
    assert ("as a dense array" in " ".join(told)) == ("to_dense" in formed)
    if method.name in MATRIX_FREE:
        assert not formed


def test_islands_of_a_stencil_have_rows_and_say_so():
    liquid = np.ones((4, 5), dtype=bool)
    liquid[2] = False
    walls = grids.pressure_matrix(liquid)
    A = perp.StencilOperator(liquid.shape, walls.centre.reshape(4, 5) + 0.1, [walls.between(0), walls.between(1)])
    result = perp.solve_islands(perp.LCP(A, np.linspace(-1.0, 1.0, 20)), "pgs", tol=1e-10, at_least=2)
    assert result.success
    assert len(result.parts) > 1
    assert any("formed from its stencil" in note for note in result.notes)


HARD = pytest.mark.parametrize("method", default_methods(), ids=lambda method: method.name)
PROVING = {
    "lemke",
    "dantzig",
    "principal",
    "block_principal",
    "minimum_map",
    "interior_point",
    "interior_pivoting",
    "pgcg",
    "mprgp",
    "admm",
    "quadratic_program",
}


@HARD
@pytest.mark.parametrize("storage", grids.STORAGES)
@pytest.mark.parametrize("grid", [(4, 5), (3, 3, 3)])
def test_67_a_closed_region_that_is_squeezed_has_no_solution(method, grid, storage):
    """A 1 = 0, so that 1^T y = 1^T b < 0 for every x: the certificate is u = 1."""
    A = grids.pressure_matrix(np.ones(grid, dtype=bool), storage)
    b = np.random.default_rng(0).standard_normal(A.n)
    problem = perp.LCP(A, b - b.mean() - 0.1)
    if "lcp" not in method.accepts or misfit(method, problem) is not None:
        pytest.skip("not for this problem")
    result = perp.solve(problem, method, max_iterations=300)
    assert not result.success
    assert np.isfinite(result.x).all()
    if method.name in PROVING:
        assert result.status is perp.Status.INFEASIBLE
        np.testing.assert_allclose(result.certificate.u, 1.0, atol=1e-6)


@HARD
@pytest.mark.parametrize("storage", grids.STORAGES)
def test_67_a_closed_region_that_is_not_squeezed_has_one(method, storage):
    A = grids.pressure_matrix(np.ones((4, 3), dtype=bool), storage)
    b = np.random.default_rng(0).standard_normal(A.n)
    problem = perp.LCP(A, b - b.mean() + 0.1)
    if "lcp" not in method.accepts:
        pytest.skip("not for this problem")
    assert perp.solve(problem, method, max_iterations=5000).success


SOLID = np.array([[1, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 1, 0]], dtype=bool)
"""Two regions of liquid, two single cells of it that have no neighbours, and rock."""


@HARD
@pytest.mark.parametrize("solid_diagonal", [0.0, 1.0])
def test_66_dead_cells_and_cells_without_neighbours_are_no_obstacle(method, solid_diagonal):
    """Rock is fixed at 0, whether its diagonal is 1 or the row is empty; liquid is compressible, or it would be #67."""
    walls = grids.pressure_matrix(~SOLID, solid_diagonal=solid_diagonal)
    liquid = ~SOLID.reshape(-1)
    A = perp.StencilOperator(
        SOLID.shape, walls.centre.reshape(SOLID.shape) + 0.2 * ~SOLID, [walls.between(0), walls.between(1)]
    )
    b = np.where(liquid, np.random.default_rng(1).standard_normal(A.n), 0.0)
    problem = perp.BoxLCP(A, b, 0.0, np.where(liquid, np.inf, 0.0))
    if "box" not in method.accepts:
        pytest.skip("not for this problem")
    result = perp.solve(problem, method, tol=1e-9, max_iterations=5000)
    assert result.success
    assert (result.x[~liquid] == 0.0).all()
    alone = np.ravel_multi_index(([1, 3], [1, 4]), SOLID.shape)
    np.testing.assert_allclose(result.x[alone], np.maximum(-b[alone] / 0.2, 0.0), atol=1e-7)


@HARD
@pytest.mark.parametrize("storage", grids.STORAGES)
def test_66_empty_rows_are_solved_by_zero_or_refused_by_who_divides_by_the_diagonal(method, storage):
    couplings = 0.0 if storage == "constant" else [np.zeros((2, 3)), np.zeros((3, 2))]
    problem = perp.LCP(perp.StencilOperator((3, 3), 0.0, couplings), np.zeros(9))
    if "lcp" not in method.accepts:
        pytest.skip("not for this problem")
    if method.family in ("splitting", "multilevel"):
        with pytest.raises(perp.errors.MethodRefused, match="divides by the diagonal"):
            perp.solve(problem, method)
        return
    result = perp.solve(problem, method)
    assert result.success
    np.testing.assert_array_equal(result.x, 0.0)
