"""Iterates that run away: along a direction u in which nothing stops x, the objective may fall for ever.

    1/2 (x + t u)^T A (x + t u) + b^T (x + t u)  ->  -inf     if  u^T A u < 0,  or  A u = 0 and b^T u < 0.

Where a problem has no solution, the iterates of a gradient method turn into such a direction (Pazy 1971). If A u = 0,
or A u <= 0 as in some indefinite problems, u proves that the problem is infeasible; `solve` checks it. That u is met
only slowly: so a direction that is nearly flat is purified, and ends the iteration if it proves something then.

Directions without curvature: noise, a way to a bound, or the proof that there is no solution.

Along a direction q of descent with q^T A q <= 0 the objective falls for ever. Where no bound is in the way, q is a ray;
if A q = 0, it proves that no slack is admissible: q_i >= 0 on rows that have a lower bound only (no bound is in the
way), A q = 0, and b^T q = y^T q < 0 (`perp.problems.certificates`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.linalg.krylov import cg
from perp.problems.certificates import PROVABLE, verify_certificate
from perp.problems.inputs import Vector, freeze
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.gradient.projection import FeasibleSet, diagonal_weights
from perp.solvers.method import State
from perp.solvers.results import Status

FLAT_DIRECTION = 1e-13
"""A curvature below this share of the largest one met is that of a null vector."""

CERTAIN_SLOPE = 1e-9
"""b^T q below this share of the sum of |b_i q_i| is made of rounding errors."""


PURIFICATIONS, PRODUCTS = 5, 500
"""Corrections of a null vector, and the products with A that each may take."""

PURER = 1e-6
"""What a correction leaves."""

FLAT = 1e-9
"""A u counts as zero below this share of the largest that it could be."""

NEARLY_FLAT = 1e-3
"""Below this share it is worth while to take out of u what A still acts on."""

FIRST_PURIFIED, SHARE = 16, 5
"""That is done from this iteration on; each of its corrections may take one product with A for `SHARE` iterations."""

SIGNIFICANT = 1e-6
"""b^T u counts as negative below minus this share of the sum of |b_i u_i|."""

ALONG_FLAT = "x runs off along a direction that changes no slack, and the objective falls for ever"


def optimal_step(slope: float, curvature: float, length: float, stiffness: float) -> float:
    """slope / curvature, or inf where q has no curvature beside `stiffness`, the largest share curvature / length."""
    return slope / curvature if curvature > FLAT_DIRECTION * stiffness * length else np.inf


def end_on_ray(problem: Problem, state: State, q: Vector, curvature: float, length: float, stiffness: float) -> None:
    """Nothing stops a step along q: say so, and leave q as a certificate, which `solve` will check."""
    is_provable = problem.kind in PROVABLE and TO_SPARSE in problem.A.ability_set
    if curvature < -FLAT_DIRECTION * stiffness * length:
        state.ended = Status.BREAKDOWN, "negative curvature with no bound in the way: A is not positive semi-definite"
        state.certificate = q.copy() if is_provable else None
    elif -float(np.sum(problem.b * q)) > CERTAIN_SLOPE * float(np.sum(np.abs(problem.b * q))):
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


@dataclass
class RayWatch:
    """Looks at the way that x went since the last look, after 1, 2, 4, 8, ... iterations; a look takes a product."""

    mark: Vector
    next_look: int = 1

    def look(self, problem: Problem, state: State, feasible: FeasibleSet, iteration: int, stiffness: float) -> None:
        """End with RAY where the objective falls for ever; `stiffness` is |W^1/2 A W^1/2|."""
        if iteration < self.next_look:
            return
        self.next_look *= 2
        u = feasible.nearest_ray(state.x - self.mark)
        np.copyto(self.mark, state.x)
        largest = float(np.abs(u).max(initial=0.0))
        if not 0.0 < largest < np.inf:
            return
        u /= largest
        product = problem.A.slack(u, freeze(np.zeros(problem.n)), np.empty(problem.n))
        state.counters["products"] += 1
        square, curvature = float(np.sum(u / feasible.weight * u)), float(np.sum(u * product))
        action = float(np.sum(feasible.weight * product * product))
        falls = -np.sum(problem.b * u) > SIGNIFICANT * np.sum(np.abs(problem.b * u))
        if curvature < -FLAT * stiffness * square:
            reason = "the objective has negative curvature along a direction in which nothing stops x"
        elif falls and action <= (FLAT * stiffness) ** 2 * square:
            reason = ALONG_FLAT
        elif falls and action <= (NEARLY_FLAT * stiffness) ** 2 * square and iteration >= FIRST_PURIFIED:
            proof = _find_proof(problem, state, u, iteration // SHARE)
            if proof is None:
                return
            u, reason = proof, ALONG_FLAT
        else:
            return
        state.ended = Status.RAY, reason
        if TO_SPARSE in problem.A.ability_set:  # otherwise nobody could check it
            state.certificate = u


def _find_proof(problem: Problem, state: State, u: Vector, most: int) -> Vector | None:
    """u without what A acts on, if that proves the problem infeasible; only where that takes no forming of A."""
    if problem.kind not in PROVABLE or TO_SPARSE not in problem.A.ability_set or not problem.A.pulls_unformed:
        return None
    pure, products = purify(problem, u, most)
    state.counters["products"] += products
    return pure if np.isfinite(pure).all() and verify_certificate(problem, pure).valid else None
