"""How quickly Newton's method for contact laws converges."""

from __future__ import annotations

import numpy as np
import pytest
import strategies

import perp
from perp import gallery
from perp.solvers.newton.cone.cone_newton import ConeNewton


@pytest.mark.parametrize("function", ["alart_curnier", "natural_map"])
@pytest.mark.parametrize("model", ["cone", "convex", "disc"])
@pytest.mark.parametrize("seed", range(3))
def test_the_tail_is_quadratic_on_a_nondegenerate_problem(seed, model, function):
    """The errors go e, e^2, ...: each is at most a constant times the square of the last, until rounding."""
    A = strategies.spd_matrix(np.random.default_rng(seed), 60) + 0.2 * np.eye(60)
    example = gallery.planted_contacts(A, 0.5, model, active=0.9, sliding=0.9, seed=seed)
    problem, errors = example.problem, []
    method = ConeNewton(function=function, start_sweeps=3)
    state = method.start(problem, np.zeros(60))
    while not errors or (errors[-1] > 1e-13 and len(errors) < 40):
        method.step(problem, state, 1)
        errors.append(np.abs(state.x - example.x).max())
    tail = np.array([error for error in errors if 1e-15 < error < 1e-1])
    assert tail.size >= 2
    assert np.all(tail[1:] <= 30.0 * tail[:-1] ** 2 + 1e-13)
    assert errors[-1] <= 1e-13


@pytest.mark.parametrize("model", ["box", "cone"])
def test_where_every_contact_sticks_or_separates_it_ends_at_once(model):
    """F is then linear near the solution: one step from there leaves only what the regularisation takes."""
    A = strategies.spd_matrix(np.random.default_rng(1), 60)
    example = gallery.planted_contacts(A, 0.5, model, sliding=0.0, seed=1)
    near = example.x * (1.0 + 1e-4)
    result = perp.solve(example.problem, ConeNewton(start_sweeps=0), x0=near, tol=1e-11)
    assert result.success
    assert result.iterations <= 3


@pytest.mark.parametrize("seed", range(5))
def test_rigid_contacts_take_a_hundredth_of_the_sweeps_of_block_gauss_seidel(seed):
    A = strategies.factored_operator(np.random.default_rng(seed), 20)
    problem = gallery.planted_contacts(A, 0.5, "cone", seed=seed).problem
    newton = perp.solve(problem, ConeNewton(), tol=1e-10)
    assert newton.success
    sweeps = perp.solve(problem, "block_gauss_seidel", tol=1e-10, max_iterations=100 * newton.iterations)
    assert not sweeps.success
