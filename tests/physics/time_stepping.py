"""Time steps of a few bodies with contacts that stay where they are, by any solver; and which solvers there are.

No world: positions do not change, so A stays, and each step only brings another b.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import perp
from perp.gallery import Scene, make
from perp.problems.problem import Problem
from perp.solvers.method import Method, misfit
from perp.solvers.results import Result
from perp.solvers.roster import BY_NAME, default_methods

MODELS = ("box", "cone", "convex", "disc")
STICKING = {"box": ("dantzig", "block_principal"), "cone": ("cone_newton", "block_gauss_seidel", "admm", "apgd")}
"""Methods that must not let creep what has a margin to hold it; those count that are in the roster."""

FEW_DIGITS = ("cone_program",)
"""Other people's solvers that end above the tolerance of these tests: Clarabel bounds the gap of the objective, which
is quadratic in the error."""

Solver = Callable[[Problem, np.ndarray | None], Result]


def fitting_methods(problem: Problem) -> list[Method]:
    """Every method of the roster that accepts this problem and can end at rounding level."""
    methods = [method for method in default_methods() if method.name not in FEW_DIGITS]
    return [method for method in methods if misfit(method, problem) is None]


def method_cases(kind: str, models: Sequence[str] = MODELS, **options: object) -> list[tuple[str, str]]:
    """All pairs (model, method) for a scene of that kind: parameters of a test."""
    scenes = {model: make(kind, model=model, **options) for model in models}
    return [(model, method.name) for model, scene in scenes.items() for method in fitting_methods(scene.problem)]


def sticking_cases() -> list[tuple[str, str]]:
    return [(model, name) for model, names in STICKING.items() for name in names if name in BY_NAME]


def solve_checked(problem: Problem, method: str, *, x0: np.ndarray | None = None, max_iterations: int = 2000) -> Result:
    """Solve to 1e-12, and check what must hold however it ends: finite numbers, an honest status, no energy made."""
    result = perp.solve(problem, method, tol=1e-12, max_iterations=max_iterations, x0=x0)
    assert np.isfinite(result.x).all()
    assert np.isfinite(result.y).all()
    assert result.success == (perp.verify(problem, result.x).residual <= 1e-12)
    assert energy_gain(problem, result.x) <= 1e-12
    return result


def energy_gain(problem: Problem, x: np.ndarray) -> float:
    """1/2 x^T A x + b^T x, what the contacts add to the kinetic energy, over the parts of which it is the sum."""
    gained = 0.5 * x @ (problem.A.apply(x) + 2.0 * problem.b)
    return float(gained / max(np.abs(problem.b) @ np.abs(x), 1e-300))


def march(scene: Scene, solve: Solver, steps: int, *, warm: bool = True) -> tuple[np.ndarray, list[Result]]:
    """Velocities at the end of each step, one row a step, and the results; warm starts are the last step's impulses."""
    velocity, x0 = scene.before, None
    velocities, results = [], []
    for _ in range(steps):
        problem = scene.step_from(velocity)
        result = solve(problem, x0)
        velocity = scene.velocity(result.x, velocity)
        x0 = result.x if warm else None
        velocities.append(velocity)
        results.append(result)
    return np.array(velocities), results
