"""The table of condition numbers that `python -m benchmarks preconditioners` prints, on small problems."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import perp
from perp.linalg.preconditioners import IC0, ICT, RECIPES, ImaginaryIC0, JacobiPreconditioner, NoPreconditioner

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
