"""Where the Fischer-Newton direction fails: the gradient of the merit function, and proofs of infeasibility."""

from __future__ import annotations

import numpy as np

from perp.problems.certificates import PROVABLE, sharpen, verify_certificate
from perp.problems.inputs import Vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.newton.fischer.equation import Line
from perp.solvers.newton.fischer.state import FischerState

FLAT = 1e-8
"""The cosine of the angle between F and its derivative along the gradient below which theta is flat."""


def gradient(problem: Problem, state: FischerState, line: Line) -> Vector | None:
    """J^T F = D_p F + A^T D_q F; None where A^T cannot be had."""
    pulled = line.q * line.F
    if problem.is_symmetric:
        product = problem.A.apply(pulled)
    elif TO_SPARSE in problem.A.ability_set:
        if state.transposed is None:
            state.transposed = problem.A.to_sparse().T.tocsr()
        product = state.transposed @ pulled
    else:
        return None
    return np.asarray(line.p * line.F + product + line.weight * pulled)


def gradient_direction(
    problem: Problem, state: FischerState, line: Line, slope: Vector
) -> tuple[Vector, Vector] | None:
    """Down the gradient as far as ||F + t J p|| falls, with J p; None where theta is flat, which is a local minimum."""
    largest = float(np.abs(slope).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return None
    direction = -slope / largest
    along = line.apply(direction, problem.A.apply(direction))
    scaled = line.F / state.unit
    descent, squares = -float(np.sum(scaled * along)), float(np.sum(along * along))
    if not (squares > 0.0 and descent > FLAT * np.sqrt(2.0 * state.here.theta * squares)):
        return None
    length = state.unit * descent / squares
    return length * direction, length * along


def find_proof(problem: Problem, state: FischerState, thoroughly: bool) -> Vector | None:
    """A vector that proves the problem infeasible, or None; `thoroughly` also where rounding errors hide it.

    Where J^T F = 0, u = -D_q F has A^T u = D_p F, which for an LCP with F >= 0 are the signs of Farkas' lemma; and
    where a proximal-point loop runs off, its last move is one for symmetric semi-definite A.
    """
    if problem.A.nonzeros() is None or problem.kind not in PROVABLE:
        return None
    lower, upper = problem.bounds(state.x)
    candidates = [-state.q * state.here.F]
    if state.proximal.is_on:
        candidates.append(state.proximal.move)
    for candidate in candidates:
        u = np.where(np.isfinite(lower) & np.isfinite(upper), 0.0, candidate)
        if not np.isfinite(u).all():
            continue
        if verify_certificate(problem, u).valid:
            return u
        if thoroughly:
            u = sharpen(problem, u)
            if np.isfinite(u).all() and verify_certificate(problem, u).valid:
                return u
    return None
