"""The second phase of a PGS-SM iteration: solve for the active rows, project, and find out which are active still."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.splitting.subspace_equation import ReducedEquation

Sets = NDArray[np.int8]

LOWER, ACTIVE, UPPER, FIXED = -1, 0, 1, 2

SAME_BOUNDS = 1e-14
"""Bounds that moved by no more than this share of the largest have stayed."""

FIRST_WEIGHT = 0.01
"""Of the proximal term, a share of A_ii, when it is needed.

Where rows contradict each other, a sweep adds some of a null vector to x, and a step of weight w what 1 / w sweeps do.
"""


@dataclass
class Phase:
    """What the phases of one solve share, and what they did."""

    equation: ReducedEquation
    most_steps: int
    moves_bounds: bool
    """Whether the bounds follow the impulses from step to step (PGS-SM line 13), or stay till the phase is over."""
    is_proximal: bool
    relative: float
    """Stop where the residual changes by less than this share (eq. 27); 0 never does."""
    weight: float = 0.0
    """Of the proximal term: none until something goes wrong."""
    steps: int = 0

    def run(self, problem: Problem, x: Vector, residual: float) -> tuple[Vector, float]:
        """Up to `most_steps` subspace steps from x; the point they reach, within its bounds, and its residual."""
        equation, point, answer = self.equation, x, x
        lower, upper = problem.bounds(point)
        for _ in range(self.most_steps):
            sets = find_sets(point, lower, upper)  # lines 7-9, eq. 19
            active = sets == ACTIVE
            if not active.any():
                break
            solved = equation.solve(point, active, self.weight)  # line 10, eq. 22
            self.steps += 1
            if equation.contradicts and self.weight == 0.0:
                if self.is_proximal:
                    self.weight = FIRST_WEIGHT
                    continue
                solved = equation.solve_least_squares(point, active)
            last_upper, last_residual = upper, residual
            if self.moves_bounds:
                lower, upper = problem.bounds(solved)  # line 13
            point = np.clip(solved, lower, upper)  # line 14, eq. 24
            point = np.where(sets == LOWER, lower, np.where(sets == UPPER, upper, point))  # line 15
            answer = problem.project(point)
            residual = measure(problem, equation, answer)
            if _have_stayed(last_upper, upper) and np.array_equal(find_sets(point, lower, upper), sets):
                break  # line 16, eq. 26
            if abs(residual - last_residual) < self.relative * last_residual:  # line 16, eq. 27
                break
        return answer, residual


def find_sets(x: Vector, lower: Vector, upper: Vector) -> Sets:
    """At the lower bound, active, or at the upper bound (eq. 19).

    A row with lower = upper, such as a tangent of a contact without normal impulse, is in none of them: fixed.
    """
    sets = np.zeros(x.size, dtype=np.int8)
    sets[x >= upper] = UPPER
    sets[x <= lower] = LOWER
    sets[lower == upper] = FIXED
    return sets


def measure(problem: Problem, equation: ReducedEquation, x: Vector) -> float:
    """The residual as the loop takes it, of the problem that the reduced equation belongs to (regularised or not)."""
    lower, upper = problem.bounds(x)
    y = problem.row_scales * equation.slack(x)
    return float(np.abs(np.clip(y, x - upper, x - lower)).max(initial=0.0))


def _have_stayed(before: Vector, now: Vector) -> bool:
    """Friction bounds come in pairs, so the upper ones tell."""
    finite = np.isfinite(now)
    change = np.abs(now[finite] - before[finite]).max(initial=0.0)
    return bool(change <= SAME_BOUNDS * np.abs(now[finite]).max(initial=0.0))
