"""Proofs that a problem has no solution, and the one function that checks them.

A certificate is a vector u, one number a row. Where a row's slack must not be negative (only a lower bound) u_i >= 0,
where it must not be positive (only an upper bound) u_i <= 0, where it must be zero (no bound) u_i is any number, and
where it may have any sign (two finite bounds) u_i = 0. Every admissible slack then has u^T y >= 0. But

    u^T y  =  u^T (A x + b)  <=  b^T u  +  sum_i  max over lower_i <= v <= upper_i of  (A^T u)_i v

for every x within its bounds; so if the right side, the `margin`, is negative, no x has an admissible slack. For an
LCP this is Farkas' lemma (Cottle, Pang & Stone 1992, theorem 2.7.9): u >= 0, A^T u <= 0, b^T u < 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from perp.errors import InvalidProblem, MissingAbility
from perp.problems.inputs import Vector, as_vector, freeze
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

PROVABLE = ("lcp", "box")
"""The kinds of problems for which a vector can be a proof: bounds must not depend on x."""

NEARLY_ZERO = 1e-9
"""Entries of u below this share of the largest, and entries of A^T u below this share of what they were added up from,
are meant to be zero."""

MOST_ROWS = 4000
"""`sharpen` solves a dense least-squares problem, of at most so many rows."""


@dataclass(frozen=True)
class Certificate:
    """The verdict on a vector that is to prove infeasibility."""

    u: Vector
    """The vector, scaled to max |u_i| = 1 and with entries of the wrong sign at rounding level set to zero."""
    margin: float
    """b^T u plus the most that A^T u can add: negative if u is a proof, +inf if it is none for want of a sign."""
    valid: bool
    """Whether the margin is negative by more than rounding errors."""
    reason: str
    """What the verdict rests on, in a sentence."""


def verify_certificate(problem: Problem, u: Any) -> Certificate:
    """Check from the problem's own numbers whether u proves that nothing within the bounds has an admissible slack.

    For LCPs and boxed LCPs. The answer does not depend on who found u, nor how. It is a proof up to the rounding of its
    own sums: (A^T u)_i counts as zero when it is below n eps times the sum of |A_ji u_j|.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP or BoxLCP is needed")
    if problem.kind not in PROVABLE:
        raise InvalidProblem(f"certificates are for 'lcp' and 'box' problems, and this one is '{problem.kind}'")
    if TO_SPARSE not in problem.A.ability_set:
        raise MissingAbility(f"A^T u is needed, and a {problem.A.form} operator cannot give it")
    vector = np.array(as_vector(u, "u", problem.n))
    largest = np.abs(vector).max(initial=0.0)
    if largest == 0.0:
        return Certificate(freeze(vector), np.inf, False, "u is zero, which proves nothing")
    vector /= largest
    lower, upper = problem.bounds(vector)
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    wrong_sign = np.where(has_lower & has_upper, np.abs(vector), 0.0)
    wrong_sign = np.maximum(wrong_sign, np.where(has_lower & ~has_upper, -vector, 0.0))
    wrong_sign = np.maximum(wrong_sign, np.where(~has_lower & has_upper, vector, 0.0))
    worst = int(np.argmax(wrong_sign))
    if wrong_sign[worst] > NEARLY_ZERO:  # below that, zero takes its place, and all that follows is for that u
        reason = f"u[{worst}] = {vector[worst]:.3g} has a sign that the bounds of its row do not allow"
        return Certificate(freeze(vector), np.inf, False, reason)
    vector[wrong_sign > 0.0] = 0.0

    gain, size = problem.A.pull(vector)
    share = rounding_share(problem.n)
    gain[np.abs(gain) <= share * size] = 0.0
    # the bound at which (A^T u)_i x_i is greatest; an entry that is zero adds nothing, whatever the bound
    best = np.where(gain > 0.0, upper, lower)
    unbounded = np.flatnonzero((gain != 0.0) & np.isinf(best))
    if unbounded.size:
        i = unbounded[0]
        reason = f"(A^T u)[{i}] = {gain[i]:.3g}, and x[{i}] has no bound that keeps its product with it small"
        return Certificate(freeze(vector), np.inf, False, reason)
    terms = np.where(gain == 0.0, 0.0, gain * np.where(np.isinf(best), 0.0, best))
    margin = float(problem.b @ vector + terms.sum())
    noise = float(share * (np.abs(problem.b) @ np.abs(vector) + np.abs(terms).sum()))
    if margin < -noise:
        return Certificate(freeze(vector), margin, True, "u^T (A x + b) < 0 for every x within its bounds")
    return Certificate(freeze(vector), margin, False, f"the margin is {margin:.3g}, which is not negative")


def rounding_share(n: int) -> float:
    """The rounding errors of a sum of n products, as a share of the sum of their absolute values."""
    return (n + 4) * 2.0**-52


def sharpen(problem: Problem, u: Vector) -> Vector:
    """u with least-squares corrections on its support, so that entries of A^T u that are nearly zero become zero.

    Methods come upon u at the end of many pivots, with rounding errors of them all; this takes those back, and
    `verify_certificate` judges what comes out.
    """
    if problem.n > MOST_ROWS or not np.isfinite(u).all():
        return u
    A = problem.A.to_dense()
    support = np.flatnonzero(np.abs(u) > NEARLY_ZERO * np.abs(u).max(initial=0.0))
    sharp = np.zeros(problem.n)
    sharp[support] = u[support]
    for _ in range(2):
        gain, size = A.T @ sharp, np.abs(A).T @ np.abs(sharp)
        zero = np.flatnonzero(np.abs(gain) <= NEARLY_ZERO * size)
        sharp[support] -= np.linalg.lstsq(A[np.ix_(support, zero)].T, gain[zero], rcond=None)[0]
    return sharp
