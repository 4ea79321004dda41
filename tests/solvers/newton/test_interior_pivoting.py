"""The hybrid of interior points and block pivots: exact, cold, and honest about what it did."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import gallery
from perp.solvers.newton.interior.interior_pivoting import InteriorPivoting
from perp.solvers.newton.interior.interior_point import InteriorPoint
from perp.solvers.results import Status


def cold(kind, n, seed, **options):
    return gallery.make(kind, n=n, seed=seed, mass_ratio=1000.0, compliance=1e-8, **options).problem


@pytest.mark.parametrize("load", ["planted", "gravity"])
@pytest.mark.parametrize(("kind", "options"), [("boxed_pile", {}), ("boxed_stack", {"layout": "wall"})])
def test_cold_ill_conditioned_contacts_are_solved_to_the_last_digits(kind, options, load):
    for seed in range(5):
        problem = cold(kind, 500, seed, load=load, **options)
        result = perp.solve(problem, InteriorPivoting(), tol=1e-11)
        assert result.success, seed
        assert result.iterations <= 60


def test_block_pivots_take_the_place_of_the_last_interior_steps():
    problem = cold("boxed_pile", 1000, 1)
    alone = perp.solve(problem, InteriorPoint(), tol=1e-11)
    hybrid = perp.solve(problem, InteriorPivoting(), tol=1e-11)
    counters = hybrid.history.counters
    assert hybrid.iterations <= alone.iterations - 5
    assert counters["interior_steps"][-1] + counters["block_pivots"][-1] == hybrid.iterations
    assert counters["factorisations"][-1] == hybrid.iterations
    assert counters["trials"][-1] == 1
    assert counters["violations"][-1] == 0
    assert hybrid.method == "interior_pivoting"


def test_a_trial_that_comes_too_early_leads_back_to_the_interior():
    problem = cold("boxed_stack", 500, 0, load="gravity")
    hasty = perp.solve(problem, InteriorPivoting(doubtful=1.0), tol=1e-11)
    assert hasty.success
    assert hasty.history.counters["trials"][-1] > 1


def test_without_doubtful_rows_allowed_a_trial_waits_until_all_rows_are_clear():
    problem = cold("boxed_pile", 300, 0)
    late = perp.solve(problem, InteriorPivoting(doubtful=0.0), tol=1e-13)
    early = perp.solve(problem, InteriorPivoting(), tol=1e-13)
    assert late.iterations >= early.iterations


def test_steps_in_pieces_have_the_same_bits():
    problem = cold("boxed_pile", 300, 2)
    method = InteriorPivoting()
    whole, pieces = (method.start(problem, problem.project(np.zeros(problem.n))) for _ in range(2))
    method.step(problem, whole, 14)
    for count in (1, 4, 0, 9):
        method.step(problem, pieces, count)
    np.testing.assert_array_equal(whole.x, pieces.x)


@pytest.mark.parametrize("kind", ["infeasible", "infeasible_psd", "closed_fluid"])
def test_infeasible_problems_are_proved_so(kind):
    result = perp.solve(gallery.make(kind).problem, InteriorPivoting())
    assert result.status is Status.INFEASIBLE


def test_general_matrices_work_too():
    rng = np.random.default_rng(0)
    G = rng.standard_normal((40, 40))
    problem = perp.LCP(G @ G.T + np.eye(40) + 3.0 * (G - G.T), rng.standard_normal(40))
    result = perp.solve(problem, InteriorPivoting(), tol=1e-12)
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, "lemke", tol=1e-12).x, atol=1e-10)


def test_options_are_those_of_the_parts():
    with pytest.raises(ValueError, match="form"):
        InteriorPivoting(form="bodies")
    with pytest.raises(ValueError, match="pivots"):
        InteriorPivoting(pivots=0)
    with pytest.raises(ValueError, match="share of the rows"):
        InteriorPivoting(doubtful=2.0)
