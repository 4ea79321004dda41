"""The condition numbers that `python -m benchmarks preconditioners` prints, for small problems; multigrid on grids."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import perp
from perp import gallery
from perp.linalg.krylov import cg
from perp.linalg.preconditioners import (
    IC0,
    ICT,
    RECIPES,
    ImaginaryIC0,
    JacobiPreconditioner,
    MultigridPreconditioner,
    NoPreconditioner,
)
from perp.problems.operators import StencilOperator

sys.path.append(str(Path(__file__).resolve().parents[2]))
table = pytest.importorskip("benchmarks.preconditioners", reason="benchmarks are in a checkout only")


@pytest.fixture(scope="module")
def problems():
    return table.gallery_problems(150)


@pytest.fixture(scope="module")
def qualities(problems):
    """(problem, recipe) -> Quality, for the recipes that fit everywhere and are quick to make."""
    recipes = (NoPreconditioner(), JacobiPreconditioner(), IC0(), ICT(), ImaginaryIC0())
    return {(name, r.name): table.measure(problem, r) for name, problem in problems.items() for r in recipes}


@pytest.mark.parametrize("grid", ["poisson_2d", "poisson_3d"])
def test_on_grids_each_step_towards_the_factor_is_better(qualities, grid):
    none, jacobi, ic0, ict = (qualities[grid, name] for name in ("none", "jacobi", "ic0", "ict"))
    assert none.condition == pytest.approx(jacobi.condition)  # the diagonal is constant
    assert ict.condition < 0.5 * ic0.condition < 0.25 * jacobi.condition
    assert ict.iterations < ic0.iterations < jacobi.iterations


def test_without_a_preconditioner_it_is_the_condition_number_of_a(qualities, problems):
    for name in ("poisson_2d", "fluid_like", "dense_pd"):
        expected = np.linalg.cond(problems[name].A.to_dense())
        assert qualities[name, "none"].condition == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["fluid_like", "dense_pd", "tower, compliant", "chain 1e8"])
@pytest.mark.parametrize("recipe", ["ic0", "imaginary_ic0"])
def test_where_no_fill_is_dropped_one_iteration_is_enough(qualities, name, recipe):
    quality = qualities[name, recipe]
    assert quality.condition == pytest.approx(1.0, abs=1e-5)
    assert quality.iterations == 1
    assert quality.report["imaginary_columns"] == quality.report["decoupled_rows"] == 0


def test_the_chains_have_the_condition_that_their_name_says_also_after_scaling(qualities):
    for name in ("chain 1e8", "knotted chain 1e8"):
        assert 1e7 < qualities[name, "none"].condition < 1e9
        assert 1e7 < qualities[name, "jacobi"].condition < 1e9


def test_the_knot_makes_columns_imaginary(qualities):
    assert qualities["knotted chain 1e8", "imaginary_ic0"].report["imaginary_columns"] > 0
    assert qualities["knotted chain 1e8", "ic0"].report["decoupled_rows"] > 0


def test_the_table_has_a_line_for_every_recipe_and_a_column_for_every_problem(problems):
    few = {name: problems[name] for name in ("poisson_2d", "box_stack")}
    shown = table.tabulate(few, [recipe() for recipe in RECIPES])
    assert shown.row_count == len(RECIPES)
    assert [column.header for column in shown.columns] == ["preconditioner", *few]


def test_what_does_not_fit_is_left_out():
    stencil = perp.gallery.make("poisson_2d", n=9).problem
    bare = perp.LCP(perp.MatrixFreeOperator(stencil.A.to_sparse()), stencil.b)
    assert table.measure(bare, IC0()) is None


# -- multigrid ---------------------------------------------------------------------------------------------------------


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
