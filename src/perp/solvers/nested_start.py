"""Where a method may begin on a grid: at the answer of the same problem on coarser grids (nested iteration).

From the coarsest grid up, a problem is solved roughly, its answer interpolated to the next finer grid and smoothed
there. The finest of these is the start: it is off by about what the grid itself is, so that only little is left to do,
however fine the grid is (Hackbusch 1985, chapter 5; for obstacle problems Brandt & Cryer 1983).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perp.linalg.grid_nesting import Nesting, can_coarsen, coarsen
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.options import About
from perp.solvers.splitting.gauss_seidel import PGS
from perp.solvers.splitting.sweeps import diagonal_objection

INITIAL = ("nested", "given")
"""Options of methods that may begin in this way."""

START = About("where it begins: where A is a stencil, at the answer of coarser grids (nested); or at x0", INITIAL)

SMOOTHING = 2
"""Sweeps of projected Gauss-Seidel after an answer was interpolated: without them its slack, in which single cells
are far off, would say little of who belongs to a bound."""

Answer = Callable[[Problem, Vector], Vector]
"""A problem on a coarser grid and a point within its bounds -> about its solution, within its bounds."""


def nested_start(problem: Problem, x: Vector, answer: Answer, smoothing: int = SMOOTHING) -> Vector:
    """What coarser grids say, or x, which lies within its bounds, where that has the lower objective.

    `answer` is asked from the coarsest grid on. x also where there are no coarser grids: A must be a stencil with a
    positive diagonal and no positive coupling.
    """
    nestings: list[Nesting] = []
    finest = problem
    while can_coarsen(finest) and diagonal_objection(finest) is None:
        nestings.append(coarsen(finest))
        finest = nestings[-1].coarse
    if not nestings:
        return x
    found = finest.project(np.zeros(finest.n))
    for nesting in reversed(nestings):
        found = nesting.interpolate(answer(nesting.coarse, found))
        if smoothing:
            found = smooth(nesting.fine, found, smoothing)
        if not np.isfinite(np.sum(found)):
            return x
    return found if is_nearest_to_zero(problem, x) or objective(problem, found) < objective(problem, x) else x


def smooth(problem: Problem, x: Vector, count: int) -> Vector:
    sweeps = PGS(order="coloured")
    state = sweeps.start(problem, x)
    sweeps.step(problem, state, count)
    return state.x


def is_nearest_to_zero(problem: Problem, x: Vector) -> bool:
    """Whether x is where a solve begins without an x0."""
    if not x.any():
        return True  # of all points within the bounds zero is nearest to zero
    return np.array_equal(x, problem.project(np.zeros(problem.n)))


def objective(problem: Problem, x: Vector) -> float:
    """1/2 x^T A x + b^T x (NOTES eq. 21): by so much more than its least, x is off in the norm of A."""
    product = problem.A.slack(x, freeze(np.zeros(problem.n)), np.empty(problem.n))
    return float(np.sum(x * (0.5 * product + problem.b)))
