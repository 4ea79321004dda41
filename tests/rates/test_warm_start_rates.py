"""NOTES section 7, Figure 6: ten sweeps of PGS at least halve the iterations of Newton's method."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import gallery
from perp.solvers.newton.fischer.fischer import Fischer
from perp.solvers.newton.minimum_map.minimum_map import MinimumMap
from perp.solvers.wrappers import warm_started_by


@pytest.mark.parametrize(("tol", "problems"), [(1e-2, 100), (1e-8, 25)])
@pytest.mark.parametrize("method", [MinimumMap(), Fischer()], ids=lambda method: method.name)
def test_ten_sweeps_of_pgs_at_least_halve_the_iterations_of_newton(method, tol, problems):
    """Dense PD problems with 100 variables from x = 0, at most 30 iterations of Newton's method.

    To the figure's absolute tolerance of 1e-2 the sweeps come by themselves (in 3 to 5, by our residual), so that
    nothing is left for Newton's method; to 1e-8 it has to end the work.
    """
    warm_up = warm_started_by(perp.PGS(), iterations=10)
    cold_counts, warm_counts = [], []
    for seed in range(problems):
        problem = gallery.make("dense_pd", n=100, seed=seed).problem
        cold = perp.solve(problem, method, tol=tol, max_iterations=30)
        warm = perp.solve(problem, warm_up(method), tol=tol, max_iterations=40)
        assert cold.success
        assert warm.success
        cold_counts.append(cold.iterations)
        warm_counts.append(warm.iterations - int(warm.history.counters["warm_up_iterations"][-1]))
    assert (2 * np.array(warm_counts) <= np.array(cold_counts)).all()
    if tol == 1e-8:
        assert min(warm_counts) >= 1
