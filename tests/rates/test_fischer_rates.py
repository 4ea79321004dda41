"""What NOTES section 7 says of the Fischer-Newton method."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import gallery
from perp.solvers.newton.fischer.fischer import Fischer

PLAIN = {"projected": True, "regularisation": 0.0, "memory": 1, "proximal": "never"}


@pytest.mark.parametrize("options", [{}, PLAIN], ids=["default", "plain"])
def test_the_tail_is_quadratic_on_a_fluid(options):
    """Fig. 2: from 1e-1 on, the norm of F is at least squared, but for a factor, in each iteration."""
    problem = gallery.make("fluid_like", n=1000).problem
    result = perp.solve(problem, Fischer(**options), tol=1e-12)
    assert result.success
    size = np.sqrt(2.0 * result.history.merit)
    tail = size[(size < 1.0) & (size > 1e-12)]
    assert tail.size >= 3
    assert np.all(tail[1:] <= 2.0 * tail[:-1] ** 1.5)
    assert tail[-1] <= 2.0 * tail[-2] ** 1.8


@pytest.mark.parametrize("options", [{}, PLAIN], ids=["default", "plain"])
def test_a_fluid_takes_about_five_iterations(options):
    """Table 2: five iterations to a merit of 1e-3 for 1000 unknowns."""
    merit = perp.solve(gallery.make("fluid_like", n=1000).problem, Fischer(**options)).history.merit
    assert np.flatnonzero(merit <= 1e-3)[0] <= 5


@pytest.mark.parametrize("strategy", ["random", "zero", "perturbation"])
def test_contact_problems_are_solved_whatever_the_strategy(strategy):
    """Table 1: all contact problems of 180 unknowns."""
    for seed in range(10):
        assert perp.solve(gallery.contact_like(180, seed).problem, Fischer(strategy=strategy)).success


@pytest.mark.parametrize("seed", [0, 1])
def test_finite_differences_end_less_accurate_on_contacts(seed):
    """Fig. 3b: 'approximation' stops early, the others reach rounding. (On fluids all four reach it, here.)"""
    problem = gallery.contact_like(180, seed).problem
    best = {
        strategy: perp.solve(problem, Fischer(strategy=strategy), tol=0.0, max_iterations=25).residual
        for strategy in ("random", "zero", "perturbation", "approximation")
    }
    approximated = best.pop("approximation")
    assert max(best.values()) < 1e-13
    assert approximated > 1000.0 * max(best.values())  # how far it gets depends on the processor's rounding


def test_the_penalised_function_solves_contact_problems_too():
    for seed in range(5):
        assert perp.solve(gallery.contact_like(180, seed).problem, Fischer(penalty=0.95)).success
