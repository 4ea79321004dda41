"""The recipe `multigrid` on stencils: no PyAMG, any free set, few iterations, and what the base class promises."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import gallery
from perp.linalg.krylov import cg
from perp.linalg.preconditioners import MultigridPreconditioner
from perp.problems.operators import StencilOperator


def iterations_of_cg(problem, free, recipe, tolerance=1e-8):
    preconditioner = recipe.prepare(problem)
    preconditioner.follow(free, np.zeros(problem.n))
    right = np.where(free, np.cos(np.arange(problem.n)), 0.0)
    found = cg(
        lambda v: np.where(free, problem.A.apply(v), 0.0),
        right,
        preconditioner=preconditioner.apply,
        tolerance=tolerance,
        max_iterations=100,
    )
    assert found.success
    return found.iterations


def test_a_stencil_needs_no_pyamg(monkeypatch):
    monkeypatch.setattr("perp.linalg.preconditioners.multigrid.find_spec", lambda name: None)
    example = gallery.make("poisson_3d", n=12**3, form="stencil")
    assert MultigridPreconditioner().objection(example.problem) is None
    assert iterations_of_cg(example.problem, example.x > 0.0, MultigridPreconditioner()) <= 12
    four_axes = perp.LCP(StencilOperator((2, 2, 2, 2), 8.0, -1.0), -np.ones(16))
    assert "pip install pyamg" in MultigridPreconditioner().objection(four_axes)


@pytest.mark.parametrize("active", [0.1, 0.5, 0.9])
def test_as_many_iterations_on_a_grid_of_sixteen_times_the_cells(active):
    counts = []
    for n in (32**2, 128**2):
        example = gallery.make("poisson_2d", n=n, form="stencil", active=active)
        counts.append(iterations_of_cg(example.problem, example.x > 0.0, MultigridPreconditioner()))
    assert counts[1] <= counts[0] + 2
    assert counts[1] <= 13


def test_more_sweeps_take_fewer_iterations():
    example = gallery.make("poisson_3d", n=20**3, form="stencil")
    one, three = (
        iterations_of_cg(example.problem, example.x > 0.0, MultigridPreconditioner(sweeps=sweeps)) for sweeps in (1, 3)
    )
    assert three < one
    with pytest.raises(ValueError, match="sweeps"):
        MultigridPreconditioner(sweeps=0)


def test_free_sets_and_shifts_that_change_are_followed_and_equal_ones_change_nothing():
    rng = np.random.default_rng(0)
    problem = gallery.make("poisson_2d", n=400, form="stencil").problem
    preconditioner, n = MultigridPreconditioner().prepare(problem), problem.n
    r = rng.standard_normal(n)
    for size, shift in ((400, 0.0), (1, 0.0), (0, 0.0), (399, 2.0), (60, 2.0), (60, 0.0), (200, 0.5)):
        free = np.zeros(n, dtype=bool)
        free[rng.permutation(n)[:size]] = True
        preconditioner.follow(free, np.full(n, shift))
        z = preconditioner.apply(r)
        assert ((z != 0.0) == free).all()
        assert size == 0 or r @ z > 0.0
        afresh = MultigridPreconditioner().prepare(problem)
        afresh.follow(free, np.full(n, shift))
        np.testing.assert_array_equal(afresh.apply(r), z)
        preconditioner.follow(free.copy(), np.full(n, shift))
        np.testing.assert_array_equal(preconditioner.apply(r), z)
    assert preconditioner.report()["levels"] == 3


def test_the_caller_may_change_his_arrays_and_may_hand_over_read_only_ones():
    problem = gallery.make("poisson_2d", n=144, form="stencil").problem
    free, shift, r = np.ones(144, dtype=bool), np.full(144, 0.1), np.ones(144)
    preconditioner = MultigridPreconditioner().prepare(problem)
    preconditioner.follow(free, shift)
    before = preconditioner.apply(r)
    free[:], shift[:] = False, 9.0
    np.testing.assert_array_equal(preconditioner.apply(r), before)
    for array in (free, shift, r):
        array.flags.writeable = False
    preconditioner.follow(free, shift)
    assert not preconditioner.apply(r).any()


METHODS = {
    "mprgp": perp.MPRGP(preconditioner="multigrid"),
    "minimum_map": perp.MinimumMap(linear="pcg", preconditioner="multigrid"),
    "pgcg": perp.PGCG(preconditioner="multigrid"),
    "block_principal": perp.BlockPrincipal(linear="pcg", preconditioner="multigrid"),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
def test_methods_with_this_preconditioner_solve_a_stencil(method):
    example = gallery.make("poisson_3d", n=12**3, form="stencil")
    result = perp.solve(example.problem, method)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-6)
