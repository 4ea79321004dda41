"""Every real problem through plain `perp.solve(problem)`: no method named, no tolerance, no option.

Skipped where the files are not at hand. What is published about the answers is compared with ours.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from make_real_problems import read_table
from real_data import OptionGrid, real_problems

import perp
from perp.problems.residual_scale import scaled_residual

sys.path.append(str(Path(__file__).resolve().parents[2]))
judging = pytest.importorskip("benchmarks.campaign_judge", reason="benchmarks are in a checkout only")
proofs = pytest.importorskip("benchmarks.campaign_judge")

NAMES = list(read_table())
TOL = 1e-8

WITHOUT_SOLUTION = {
    "textbook_lcp/murty_2.9": "no x >= 0 has y >= 0; the book says so, and the certificate proves it",
    "textbook_lcp/unsolvable_1": "one row, a < 0 and b < 0",
}
UNSOLVED: dict[str, str] = {}
"""Problems that have a solution which plain `perp.solve` does not find, and why. None is known."""

SLOW = {"maros_meszaros/CONT-050", "maros_meszaros/CVXQP1_M"}
"""Their factors fill: seconds, where the others take a fraction of one."""

LARGE = 3000
"""Rows from which A is not written out to be judged by NumPy; perp's own residual has to do."""


def marked(names):
    return [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in names]


@pytest.fixture(scope="module")
def problems(shared):
    pytest.importorskip("h5py")
    return real_problems(shared / "data")


@cache
def answer(problem):
    return perp.solve(problem.read())


def test_the_names_are_those_of_the_collection(problems):
    assert list(problems) == NAMES
    assert {name for name in NAMES if not problems[name].is_solvable} == set(WITHOUT_SOLUTION)
    assert {*UNSOLVED, *SLOW} <= set(NAMES)


def recomputed(problem, x):
    """The scaled residual and the distance out of bounds, as far apart from perp as the size allows."""
    if problem.n < LARGE:
        found = judging.judge(problem, x)
        return found.scaled, found.outside
    found = perp.verify(problem, x)
    return scaled_residual(problem, x, problem.slack(x), found.residual), found.bound_violation


@pytest.mark.parametrize("name", marked(name for name in NAMES if name not in {*UNSOLVED, *WITHOUT_SOLUTION}))
def test_a_real_problem_is_solved_without_being_told_how(problems, name):
    problem = problems[name]
    stated, result = problem.read(), answer(problem)
    assert result.status is perp.Status.CONVERGED
    assert np.isfinite(result.x).all()
    scaled, outside = recomputed(stated, result.x)
    assert scaled <= TOL
    assert outside <= 1e-15 * max(1.0, np.abs(result.x).max())
    if problem.published is not None:
        assert problem.objective(result.x) == pytest.approx(problem.published, rel=problem.digits, abs=problem.digits)
    if problem.x is not None and problem.is_unique:
        np.testing.assert_allclose(result.x, problem.x, atol=1e-8)


@pytest.mark.parametrize("name", WITHOUT_SOLUTION)
def test_a_real_problem_without_solution_is_proved_to_have_none(problems, name):
    problem = problems[name]
    stated, result = problem.read(), answer(problem)
    assert result.status is perp.Status.INFEASIBLE
    assert perp.verify_certificate(stated, result.certificate).excludes_solutions
    assert proofs.find_objection(stated, result.certificate) is None


def test_what_is_listed_as_unsolved_still_is_and_ends_honestly(problems):
    for name in UNSOLVED:
        result = answer(problems[name])
        assert not result.success, name
        assert result.status is not perp.Status.INFEASIBLE
        assert np.isfinite(result.x).all()


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".hdf5")])
def test_velocities_are_those_where_the_origins_solver_stopped_for_auto_too(problems, shared, name):
    """Its tolerance was 1e-4 to 1e-8; CubeH8 has none stored."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(shared / "data" / name) as file:
        if "solution/u" not in file or not file["solution/u"][()].any():
            pytest.skip("no velocities are stored")
        velocities = file["solution/u"][()]
    np.testing.assert_allclose(answer(problems[name]).y, velocities, atol=3e-6)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("american_option/")])
def test_american_options_get_their_published_price_from_auto(problems, name):
    option = problems[name].notes
    price = OptionGrid(option).price(lambda step: perp.solve(step).x)
    assert price == pytest.approx(option["price"], abs=option["tol"])
