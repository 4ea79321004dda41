"""How quickly interior points of cones converge: their polish, and the path itself."""

from __future__ import annotations

import numpy as np
import pytest
import strategies

import perp
from perp import gallery
from perp.kernels.conic import layout, path, run
from perp.solvers.cone_interior.cone_interior import ConeInterior
from perp.solvers.cone_interior.state import run_kernel

COMPLIANCE = 0.2
"""Of all rows: no eigenvalue of A is smaller."""


def planted(model: str, seed: int, sliding: float = 0.9) -> gallery.Example:
    """Contacts that are not redundant, most of which press."""
    rng = np.random.default_rng(seed)
    bodies = strategies.factored_operator(rng, 12)
    A = perp.FactoredOperator(bodies.J, bodies.mass.to_sparse(), np.full(36, COMPLIANCE))
    return gallery.planted_contacts(A, 0.5, model, active=0.9, sliding=sliding, seed=seed)


@pytest.mark.parametrize("sliding", [0.0, 0.9])
@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
@pytest.mark.parametrize("seed", range(3))
def test_the_polish_converges_quadratically_near_a_solution(seed, model, sliding):
    """The errors go e, e^2, ..., but for the share 1e-8 that the compliance of the matrix leaves of each.

    It ends where speeds are `run.ROUNDING` units times sqrt(A_ii), so impulses that over the least eigenvalue of A.
    """
    example = planted(model, seed, sliding)
    problem, method = example.problem, ConeInterior()
    rng = np.random.default_rng(seed)
    near = example.x * (1.0 + 3e-3 * rng.standard_normal(problem.n))
    state = method.start(problem, near)
    errors = [float(np.abs(near - example.x).max())]
    for _ in range(5):
        run_kernel(state, run.POLISH, 1)
        errors.append(float(np.abs(state.iterate.rows[layout.X] / state.rows.unit - example.x).max()))
    tail = np.array(errors)
    weight = state.iterate.rows[layout.WEIGHT].max()
    rounding = run.ROUNDING * state.unit * np.sqrt(weight) / COMPLIANCE
    assert tail[0] > 1e-4
    assert np.all(tail[1:] <= 100.0 * tail[:-1] ** 2 + 1e-6 * tail[:-1] + rounding)
    assert tail[-1] <= rounding


@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
@pytest.mark.parametrize("seed", range(3))
def test_the_tail_of_the_path_brings_a_digit_an_iteration(seed, model):
    """Once steps are nearly whole, the last four iterations divide tau by 1e4 or more."""
    problem = planted(model, seed).problem
    method = ConeInterior(polish=False)
    state = method.start(problem, np.zeros(problem.n))
    taus = []
    while len(taus) < 40 and (not taus or taus[-1] > 1e-10 * taus[0]):
        run_kernel(state, run.FOLLOW, 1)
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
