"""Directions without curvature: noise, a way to a bound, or the proof that there is no solution.

Along a direction q of descent with q^T A q <= 0 the objective falls for ever. Where no bound is in the way, q is a ray;
if A q = 0, it proves that no slack is admissible: q_i >= 0 on rows that have a lower bound only (no bound is in the
way), A q = 0, and b^T q = y^T q < 0 (`perp.problems.certificates`).
"""

from __future__ import annotations

import numpy as np

from perp.linalg.krylov import cg
from perp.problems.certificates import PROVABLE
from perp.problems.inputs import Vector, freeze
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.gradient.metric import diagonal_weights
from perp.solvers.method import State
from perp.solvers.results.status import Status

FLAT = 1e-13
"""A curvature below this share of the largest one met is that of a null vector."""

SIGNIFICANT = 1e-9
"""b^T q below this share of the sum of |b_i q_i| is made of rounding errors."""


PURIFICATIONS, PRODUCTS = 5, 500
"""Corrections of a null vector, and the products with A that each may take."""

PURER = 1e-6
"""What a correction leaves."""


def optimal_step(slope: float, curvature: float, length: float, stiffness: float) -> float:
    """slope / curvature, or inf where q has no curvature beside `stiffness`, the largest share curvature / length."""
    return slope / curvature if curvature > FLAT * stiffness * length else np.inf


def end_on_ray(problem: Problem, state: State, q: Vector, curvature: float, length: float, stiffness: float) -> None:
    """Nothing stops a step along q: say so, and leave q as a certificate, which `solve` will check."""
    is_provable = problem.kind in PROVABLE and TO_SPARSE in problem.A.ability_set
    if curvature < -FLAT * stiffness * length:
        state.ended = Status.BREAKDOWN, "negative curvature with no bound in the way: A is not positive semi-definite"
        state.certificate = q.copy() if is_provable else None
    elif -float(np.sum(problem.b * q)) > SIGNIFICANT * float(np.sum(np.abs(problem.b * q))):
        state.ended = Status.RAY, "x runs off along a direction in which no slack changes"
        state.certificate = purify(problem, q)[0] if is_provable else None
    else:
        state.ended = Status.REDUCED_ACCURACY, "only directions in which no slack changes are left"


def purify(problem: Problem, q: Vector, most: int = PRODUCTS) -> tuple[Vector, int]:
    """q without the part on which A still acts: q - d with A_FF d = A_FF q, on the rows F where q is not zero.

    That may give small entries a sign which the bounds of their rows do not allow; such rows leave F. Each correction
    takes at most so many products with A; all that were taken are returned with the vector.
    """
    lower, upper = problem.bounds(q)
    low, high = np.where(np.isfinite(lower), 0.0, -np.inf), np.where(np.isfinite(upper), 0.0, np.inf)
    scale = np.sqrt(diagonal_weights(problem))
    vector, purest, impurity = q / scale, q / scale, np.inf
    nothing, products = freeze(np.zeros(q.size)), 0
    for _ in range(PURIFICATIONS):
        root = np.where(vector != 0.0, scale, 0.0)

        def product(v: Vector, root: Vector = root) -> Vector:
            return root * problem.A.slack(root * v, nothing, np.empty(v.size))

        left = product(vector)
        largest = float(np.abs(left).max(initial=0.0))
        products += 1
        if not largest < impurity * np.abs(vector).max(initial=0.0):
            break  # more corrections would only add rounding errors along other null vectors
        purest, impurity = vector, largest / float(np.abs(vector).max())
        correction = cg(product, left, tolerance=PURER * largest, max_iterations=most)
        products += correction.iterations
        vector = np.clip(vector - correction.x, low, high)
    return np.asarray(scale * purest), products
