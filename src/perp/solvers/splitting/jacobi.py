"""Projected Jacobi with damping (NOTES 5.2 with M = D)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.problems.inputs import Vector, freeze, require_number
from perp.problems.operators.base import APPLY, DIAGONAL
from perp.problems.problem import Problem
from perp.solvers.anderson import norm
from perp.solvers.method import Method, State
from perp.solvers.options import About, option
from perp.solvers.splitting.sweeps import diagonal_objection, steps

POWER_ITERATIONS = 20
SAFETY = 1.05
"""Makes up for what 20 iterations of the power method leave open."""


@dataclass
class JacobiState(State):
    step: Vector
    y: Vector


@dataclass(frozen=True)
class Jacobi(Method[JacobiState]):
    """x <- P(x - damping D^-1 (A x + b)): all rows at once from the old x, so it needs only a product and the diagonal.

    For symmetric A it converges when damping < 2 / lambda_max(D^-1 A). `damping=None` estimates lambda_max by a short
    power iteration (20 products, seeded) and takes its inverse. For contacts P projects the tangents on the bounds that
    the new normal impulses give.
    """

    name: ClassVar[str] = "jacobi"
    synonyms: ClassVar[tuple[str, ...]] = ("projected Jacobi", "damped Jacobi", "PJACOBI")
    family: ClassVar[str] = "splitting"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/box", "contact/cone"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL})
    requires: ClassVar[str] = (
        "a positive diagonal; converges for symmetric positive semidefinite A and fixed bounds if damped enough"
    )
    reference: ClassVar[str] = "NOTES 5.2, eq. 51-52 with M = D, N = D - A"
    check_every: ClassVar[int] = 10

    damping: float | None = option(
        None,
        About(
            "what a step is multiplied by; None: from an estimate of lambda_max(D^-1 A)",
            above=0.0,
            at_most=2.0,
            synonyms=("omega", "relaxation", "relaxation_factor"),
        ),
    )

    def __post_init__(self) -> None:
        if self.damping is None:
            return
        require_number(self.damping, "damping", positive=True)
        if self.damping > 2.0:
            raise ValueError(f"damping is {self.damping}; a number in (0, 2] or None is needed")

    def objection(self, problem: Problem) -> str | None:
        return diagonal_objection(problem)

    def start(self, problem: Problem, x: Vector) -> JacobiState:
        undamped = steps(problem, 1.0)
        damping = self.damping or 1.0 / (SAFETY * estimate_largest_eigenvalue(problem, undamped))
        return JacobiState(x, damping * undamped, np.empty(problem.n))

    def step(self, problem: Problem, state: JacobiState, count: int) -> None:
        for _ in range(count):
            problem.A.slack(state.x, problem.b, state.y)
            state.x[:] = problem.project(state.x - state.step * state.y)


def estimate_largest_eigenvalue(problem: Problem, inverse_diagonal: Vector) -> float:
    """About lambda_max(D^-1 A), by the power method on a seeded start; at least 1, which it is for symmetric A."""
    vector = np.random.default_rng(0).standard_normal(problem.n)
    zero, product = freeze(np.zeros(problem.n)), np.empty(problem.n)
    estimate = 1.0
    for _ in range(POWER_ITERATIONS):
        length = norm(vector)
        if not 0.0 < length < np.inf:
            break
        vector /= length
        vector = inverse_diagonal * problem.A.slack(vector, zero, product)
        estimate = norm(vector)
    return max(estimate, 1.0)
