"""Vectors that may prove a problem hopeless, found where block pivots or their path come to a dead end.

`solve` checks them (`perp.problems.certificates`). Two of them are null vectors of A_FF.
"""

from __future__ import annotations

import numpy as np

from perp.linalg.free_systems import purify
from perp.problems.certificates import PROVABLE, verify_certificate
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.pivoting.parametric import Path
from perp.solvers.pivoting.pivot_state import PivotState

CONTRADICTION = 1e-9
"""Free rows whose slack stays above this share of the bias contradict each other."""


def find_contradiction(problem: Problem, state: PivotState) -> Vector | None:
    """The part of y_F that no x_F can take away: a null vector of A_FF; None where y_F vanishes or it is none."""
    left = np.where(state.sets == 0, state.y, 0.0)
    bias = float(np.abs(problem.b * state.scale).max(initial=0.0))
    if np.abs(left * state.scale).max(initial=0.0) <= CONTRADICTION * bias:
        return None
    vector = purify(state.system, state.sets == 0, state.system.solve(left), state.system.added)
    largest = np.abs(vector / state.scale).max(initial=0.0)
    is_null = largest > 0.0 and np.abs(problem.A.apply(vector) * state.scale).max() <= CONTRADICTION * largest
    return vector if is_null else None


def find_escape(problem: Problem, state: PivotState) -> Vector | None:
    """The direction along which proximal steps go on for ever, if it is a proof; tried after 4, 8, 16, ... steps.

    Steps of the proximal-point method on a problem without a solution converge to a d with A d = 0 (Pazy 1971).
    """
    updates = int(state.counters["proximal_updates"])
    if updates < 4 or updates & (updates - 1) or problem.kind not in PROVABLE:
        return None
    step = np.where(state.sets == 0, state.point - state.centre, 0.0)
    direction = purify(state.system, state.sets == 0, step, state.softening)
    return direction if verify_certificate(problem, direction).valid else None


def list_objections(problem: Problem, path: Path) -> Vector:
    """Slacks of the wrong sign where x is nearest to zero: a proof where no row helps another one."""
    y = problem.slack(np.clip(np.zeros(problem.n), path.lower, path.upper))
    has_lower, has_upper = np.isfinite(path.lower), np.isfinite(path.upper)
    return np.clip(y, np.where(has_upper, 0.0, -np.inf), np.where(has_lower, 0.0, np.inf))
