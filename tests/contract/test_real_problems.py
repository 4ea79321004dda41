"""Problems from other people's simulators, circuits, textbooks and banks (skipped where the files are not at hand).

`real_problems.csv` says which method solves each best, and how well; `python tests/make_real_problems.py` writes it.
Each is solved again here by that method, and what is published about its answer is compared with ours.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from make_real_problems import ACCURATE, TOL, read_table
from real_data import OptionGrid, real_problems

import perp
from perp.lab.relative_error import problem_size, relative_error

TABLE = read_table()

SLOW_SECONDS = 0.5
"""A problem that took longer when the table was made is left to `make test-slow`."""


def marked(names):
    """The names as parameters, those of slow problems with a mark."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] if TABLE[name].seconds > SLOW_SECONDS else []) for name in names
    ]


@pytest.fixture(scope="module")
def problems(shared):
    pytest.importorskip("h5py")
    return real_problems(shared / "data")


@cache
def solved(problem, method, iterations):
    """The answer of a method; asked for by several tests."""
    stated = problem.read()
    limit = 2 * iterations + 100  # other machines round differently
    return perp.solve(stated, method, tol=TOL * problem_size(stated), max_iterations=limit)


def best_answer(problem):
    row = TABLE[problem.name]
    return solved(problem, row.method, row.iterations)


def test_the_table_has_every_problem_and_no_other(problems):
    assert list(TABLE) == list(problems)
    assert len(TABLE) == 137


def test_the_table_says_that_every_problem_is_decided():
    for name, row in TABLE.items():
        if row.status != "INFEASIBLE":
            assert row.relative <= 1e-9, name


@pytest.mark.parametrize("name", marked(TABLE))
def test_a_real_problem_is_solved_as_well_as_the_table_says(problems, name):
    problem, row = problems[name], TABLE[name]
    stated = problem.read()
    assert (stated.kind, stated.n) == (row.kind, row.n)
    at_start = perp.verify(stated, stated.project(np.zeros(stated.n)))
    assert np.isfinite(at_start.residual)
    assert at_start.bound_violation == 0.0
    result = best_answer(problem)
    if not problem.is_solvable:
        assert result.status is perp.Status.INFEASIBLE
        assert perp.verify_certificate(stated, result.certificate.u).valid
        return
    assert relative_error(stated, result.x) <= max(10.0 * row.relative, ACCURATE)
    assert result.verify().bound_violation <= 1e-14 * np.abs(result.x).max()
    if row.status == "CONVERGED":
        assert result.success


def names_with(condition):
    return marked(name for name in TABLE if name.startswith(condition))


@pytest.mark.parametrize("name", names_with("textbook_lcp/"))
def test_textbook_answers_are_met(problems, name):
    problem = problems[name]
    if problem.x is None:
        pytest.skip("the book gives no solution")
    stated = problem.read()
    assert perp.verify(stated, np.array(problem.x, dtype=float)).residual <= 1e-12
    result = best_answer(problem)
    if problem.is_unique:
        np.testing.assert_allclose(result.x, problem.x, atol=1e-9)


@pytest.mark.parametrize("name", names_with(("cutest/", "maros_meszaros/")))
def test_published_objectives_are_reached(problems, name):
    problem = problems[name]
    if problem.published is None:
        pytest.skip("no value is published")
    value = problem.objective(best_answer(problem).x)
    assert value == pytest.approx(problem.published, rel=problem.digits, abs=problem.digits)


@pytest.mark.parametrize("name", [name for name in TABLE if name.endswith(".hdf5")])
def test_velocities_are_those_where_the_origins_solver_stopped(problems, shared, name):
    """Its tolerance was 1e-4 to 1e-8; CubeH8 has none stored."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(shared / "data" / name) as file:
        if "solution/u" not in file or not file["solution/u"][()].any():
            pytest.skip("no velocities are stored")
        velocities = file["solution/u"][()]
    np.testing.assert_allclose(best_answer(problems[name]).y, velocities, atol=3e-6)


@pytest.mark.parametrize("name", marked(name for name, row in TABLE.items() if row.kind.startswith("contact")))
def test_contacts_obey_the_exact_law_and_are_not_left_at_zero(problems, name):
    """The same error in De Saxcé's form, which no sweep computes, relative to the impulses."""
    problem = problems[name]
    stated, result = problem.read(), best_answer(problem)
    found = result.verify()
    largest = np.abs(result.x).max()
    assert found.cone_violation <= 1e-14 * largest
    if relative_error(stated, np.zeros(stated.n)) > 0.0:
        assert largest > 0.0


OPTIONS = [name for name in TABLE if name.startswith("american_option/")]


@pytest.mark.parametrize("name", OPTIONS)
def test_american_options_have_their_published_price(problems, name):
    option = problems[name].notes
    price = OptionGrid(option).price(lambda step: perp.solve(step, "pgs").x)
    assert price == pytest.approx(option["price"], abs=option["tol"])
