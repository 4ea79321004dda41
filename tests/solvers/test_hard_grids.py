"""Inputs from the list of hard ones that speak of grids (HARD-INPUTS 66, 67, 92), in all storages of A."""

from __future__ import annotations

import grid_operators as grids
import numpy as np
import pytest

import perp
from perp import MPRGP, PSOR, MinimumMap, Multigrid, PolicyIteration, Status

FORMS = ("constant", "faces", "rows")
ON_GRIDS = [
    Multigrid(),
    Multigrid(coarse="monotone", cycle="F"),
    PolicyIteration(),
    PolicyIteration(preconditioner="mic0", initial="given"),
    MPRGP(preconditioner="multigrid", initial="nested", expand_along="conjugate"),
    MPRGP(preconditioner="ic0"),
    MinimumMap(linear="pcg", preconditioner="multigrid", initial="nested"),
]


@pytest.fixture(params=ON_GRIDS, ids=repr)
def method(request):
    form = request.node.callspec.params["form"]
    if form == "rows" and isinstance(request.param, Multigrid) and request.param.coarse == "monotone":
        pytest.skip("monotone coarse corrections belong to grids: rows are refused")
    return request.param


def given_as(A, form):
    """The stencil, or its rows; a preconditioner or levels of rows are PyAMG's."""
    if form != "rows":
        assert (A.faces is None) == (form == "constant")
        return A
    pytest.importorskip("pyamg")
    return A.to_sparse()


# 66: fluid cell with no neighbours, all-solid


@pytest.mark.parametrize("form", FORMS)
def test_a_cell_without_neighbours_whose_row_is_empty_rests(form):
    A = perp.StencilOperator((3,), [2.0, 0.0, 1.0], [np.zeros(2)] if form == "faces" else 0.0)
    problem = perp.LCP(given_as(A, form), [-1.0, 0.0, 0.5])
    for method in ("auto", PolicyIteration(), MPRGP(preconditioner="ic0"), MinimumMap(linear="pcg")):
        result = perp.solve(problem, method)
        assert result.success
        np.testing.assert_allclose(result.x[[0, 2]], [0.5, 0.0], atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_a_grid_without_liquid_is_solved_at_once(method, form):
    solid = np.zeros((4, 5), dtype=bool)
    A = grids.pressure_matrix(solid) if form != "constant" else perp.StencilOperator((4, 5), 1.0, 0.0)
    result = perp.solve(perp.BoxLCP(given_as(A, form), np.zeros(A.n), 0.0, 0.0), method)
    assert result.success
    assert not result.x.any()


@pytest.mark.parametrize("form", ["faces", "rows"])
def test_a_single_cell_of_liquid_between_solids_is_solved(method, form):
    liquid = np.zeros((3, 3), dtype=bool)
    liquid[1, 1] = True
    A = grids.pressure_matrix(liquid)
    lone = perp.StencilOperator((3, 3), A.centre.reshape(3, 3) + 4.0 * liquid, [A.between(0), A.between(1)])
    upper = np.where(liquid.reshape(-1), np.inf, 0.0)
    result = perp.solve(perp.BoxLCP(given_as(lone, form), -8.0 * liquid.reshape(-1), 0.0, upper), method)
    assert result.success
    np.testing.assert_allclose(result.x, 2.0 * liquid.reshape(-1), atol=1e-8)


# 67: closed region, sum(b) < 0: INFEASIBLE, certificate u = 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("grid", [(3,), (6, 5), (4, 3, 5)])
def test_a_closed_region_that_more_flows_into_than_out_is_proved_infeasible(method, grid, form):
    if isinstance(method, MinimumMap):
        pytest.skip("conjugate gradients tell it nothing of null vectors")
    A = grids.pressure_matrix(np.ones(grid, dtype=bool), "constant" if form == "constant" else "faces")
    b = np.where(np.arange(A.n) % 2, 0.5, -1.0)
    problem = perp.LCP(given_as(A, form), b)
    result = perp.solve(problem, method)
    assert result.status is Status.INFEASIBLE
    np.testing.assert_allclose(result.certificate.u, np.ones(A.n), atol=1e-9)
    assert perp.verify_certificate(problem, result.certificate.u).valid
    balanced = perp.solve(perp.LCP(problem.A, b - b.mean()), method)
    assert balanced.success, "what flows in flows out again"


@pytest.mark.parametrize("storage", grids.STORAGES)
def test_auto_tells_a_closed_region_on_a_grid_of_any_size(storage):
    for grid in ((3,), (40, 40)):
        A = grids.pressure_matrix(np.ones(grid, dtype=bool), storage)
        result = perp.solve(perp.LCP(A, np.linspace(-1.0, 0.9, A.n)))
        assert result.status is Status.INFEASIBLE


# 92: what is kept for one set of free rows, while that set changes its size


@pytest.mark.parametrize("form", FORMS)
def test_a_set_of_free_rows_may_come_to_any_size_and_go(method, form):
    rng = np.random.default_rng(4)
    A = grids.random_stencil(rng, (9, 8), "constant" if form == "constant" else "faces")
    lone = np.ones(A.n)
    lone[37] = -1.0
    x = None
    for b in (np.ones(A.n), -np.ones(A.n), lone, rng.standard_normal(A.n), np.zeros(A.n), np.ones(A.n)):
        problem = perp.LCP(given_as(A, form), b)
        result = perp.solve(problem, method, x0=x, tol=1e-9)
        assert result.success
        reference = perp.solve(perp.LCP(A, b), PSOR(), tol=1e-11, max_iterations=10_000)
        np.testing.assert_allclose(result.x, reference.x, atol=1e-7)
        x = result.x


@pytest.mark.parametrize("couplings", [-1.0, "faces"])
def test_a_huge_pressure_does_not_swallow_what_flows_in(couplings):
    """b is added last: x = 2^57 in both cells of a closed pair leaves y = b, as it does with rows."""
    faces = [-np.ones(1)] if couplings == "faces" else couplings
    A = perp.StencilOperator((2,), 1.0, faces)
    b = np.array([-1.85, -0.61])
    np.testing.assert_array_equal(perp.LCP(A, b).slack(np.full(2, 2.0**57)), b)
    assert not perp.solve(perp.LCP(A, b), "pgs", x0=np.full(2, 2.0**57)).success
