"""How quickly interior points of cones converge: their polish, and the path itself."""

from __future__ import annotations

import numpy as np
import pytest
import strategies

import perp
from perp import gallery
from perp.kernels.conic import layout, path, run
from perp.solvers.cone_interior.cone_interior import ConeInterior

ROUNDING = 1e-12
"""A polish ends where F is 1e-13 of its unit: the impulses of light bodies are known to a few times that."""


def planted(model: str, seed: int) -> gallery.Example:
    """Contacts that are not redundant, most of which slide; the tangents of each have one compliance."""
    rng = np.random.default_rng(seed)
    bodies = strategies.factored_operator(rng, 12)
    A = perp.FactoredOperator(bodies.J, bodies.mass.to_sparse(), np.full(36, 0.2))
    return gallery.planted_contacts(A, 0.5, model, active=0.9, sliding=0.9, seed=seed)


@pytest.mark.parametrize("model", ["cone", "convex", "disc"])
@pytest.mark.parametrize("seed", range(3))
def test_the_polish_converges_quadratically_near_a_solution(seed, model):
    """The errors go e, e^2, ..., but for the share 1e-8 that the compliance of the matrix leaves of each."""
    example = planted(model, seed)
    problem, method = example.problem, ConeInterior()
    state = method.start(problem, np.zeros(problem.n))
    rng = np.random.default_rng(seed)
    near = example.x * (1.0 + 3e-3 * rng.standard_normal(problem.n))
    state.iterate.rows[layout.X] = near * state.rows.unit
    state.iterate.bodies[layout.V] = problem.A.velocity(near)[state.conic.system.rows]
    errors = [float(np.abs(near - example.x).max())]
    for _ in range(5):
        method._run(state, run.POLISH, 1)
        errors.append(float(np.abs(state.iterate.rows[layout.X] / state.rows.unit - example.x).max()))
    tail = np.array(errors)
    assert tail[0] > 1e-4
    assert np.all(tail[1:] <= 100.0 * tail[:-1] ** 2 + 1e-6 * tail[:-1] + ROUNDING)
    assert tail[-1] <= ROUNDING


@pytest.mark.parametrize("model", ["box", "cone", "convex"])
def test_where_all_contacts_stick_or_separate_one_step_is_enough(model):
    """F is linear there (not for discs of given radii: what separates may still rub)."""
    rng = np.random.default_rng(1)
    bodies = strategies.factored_operator(rng, 12)
    A = perp.FactoredOperator(bodies.J, bodies.mass.to_sparse(), np.full(36, 0.2))
    example = gallery.planted_contacts(A, 0.5, model, sliding=0.0, seed=1)
    problem, method = example.problem, ConeInterior()
    state = method.start(problem, np.zeros(problem.n))
    near = example.x * (1.0 + 1e-3)
    state.iterate.rows[layout.X] = near * state.rows.unit
    state.iterate.bodies[layout.V] = problem.A.velocity(near)[state.conic.system.rows]
    method._run(state, run.POLISH, 1)
    error = np.abs(state.iterate.rows[layout.X] / state.rows.unit - example.x).max()
    assert error <= 1e-6 * np.abs(near - example.x).max()


@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
@pytest.mark.parametrize("seed", range(3))
def test_the_tail_of_the_path_brings_a_digit_an_iteration(seed, model):
    """Once steps are nearly whole, the last four iterations divide tau by 1e4 or more."""
    problem = planted(model, seed).problem
    method = ConeInterior(polish=False)
    state = method.start(problem, np.zeros(problem.n))
    taus = []
    while len(taus) < 40 and (not taus or taus[-1] > 1e-10 * taus[0]):
        method._run(state, run.FOLLOW, 1)
        taus.append(state.marks[path.TAU])
    assert taus[-1] <= 1e-10 * taus[0]
    assert taus[-1] <= 1e-4 * taus[-5]


@pytest.mark.parametrize("mass_ratio", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("model", ["convex", "disc"])
def test_convex_walls_take_as_many_iterations_at_every_size(model, mass_ratio):
    iterations = []
    for n in (96, 336, 1092):
        problem = gallery.make("box_stack", n=n, model=model, mass_ratio=mass_ratio, load="gravity").problem
        result = perp.solve(problem, ConeInterior(), tol=1e-9)
        assert result.success
        iterations.append(result.iterations)
    assert max(iterations) <= 30
