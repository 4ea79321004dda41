"""The short way of small dense problems: one compiled call, and a result."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from perp.kernels.pivoting import small_problems as kernels
from perp.problems.inputs import Vector, freeze
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.residual_scale import scale_residual
from perp.problems.residuals import Watch
from perp.solvers.results import Attempt, History, Result, Status, make_message

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "small_pivots"

MOST_ROWS = 64
"""Beyond, LAPACK's factors are quicker than plain loops, and a loop's turn costs little beside them."""

MOST_PIVOTS = 120
"""Problems that need more are left to methods that remember where they have been."""


def is_small(problem: Problem) -> bool:
    """Whether the short way is open: few rows, an A that can be written down, bounds that follow nothing."""
    return problem.n <= MOST_ROWS and problem.frictional is None and TO_SPARSE in problem.A.ability_set


ENDINGS = {
    1: (Status.BREAKDOWN, "the free rows depend on one another"),
    2: (Status.CYCLING, f"more than {MOST_PIVOTS} pivots are not worth it"),
    3: (None, "rows are of extreme size"),
    4: (Status.NON_FINITE, ""),
}
"""How the kernel's numbers for an end without an answer read in `result.methods`."""


def solve_small(problem: Problem, tol: float, x: Vector | None = None, notes: Sequence[str] = ()) -> Result | Attempt:
    """The solution by block pivots from x, or the cold start; where they do not end in one, how they ended.

    `tol` is on the scaled residual (`perp.problems.residual_scale`).
    """
    begun = perf_counter()
    A = freeze(problem.A.array().reshape(-1))
    n, lower, upper = problem.n, problem.lower, problem.upper
    answer, slack = np.empty((2, n))
    side = first_sides(problem, x)
    rows, exchange = np.empty((2, n), dtype=np.int64)
    ending, iterations, cold, *_ = kernels.solve_small(
        A, problem.b, lower, upper, MOST_PIVOTS, answer, slack, side, rows, exchange, np.empty(n * (n + 3))
    )
    seconds = perf_counter() - begun
    if ending != kernels.SOLVED:
        status, why = ENDINGS[ending]
        return Attempt(NAME, status, iterations, seconds, np.nan, why)
    watch = Watch(problem)  # the kernel adds up in an order of its own; what counts is what anybody measures
    residual, y = watch.look(answer)[0], watch.y
    if not residual <= tol * min(cold, 1.0) and not scale_residual(problem, answer, y, residual, cold) <= tol:
        return Attempt(NAME, Status.REDUCED_ACCURACY, iterations, seconds, residual)
    name = NAME if iterations else "start"
    return Result(
        problem=problem,
        method=name,
        x=answer,
        y=y,
        status=Status.CONVERGED,
        message=make_message(Status.CONVERGED.value, "", residual, iterations),
        iterations=iterations,
        residual=residual,
        seconds=seconds,
        setup_seconds=0.0,
        history=History.from_rows([(0, 0.0, cold, np.nan, 0), (iterations, seconds, residual, np.nan, 0)]),
        best_iteration=iterations,
        methods=(Attempt(name, Status.CONVERGED, iterations, seconds, residual),),
        certificate=None,
        ray=None,
        notes=tuple(notes),
    )


def first_sides(problem: Problem, x: Vector | None = None) -> NDArray[np.int8]:
    """-1 where x, or the cold start, is at a lower bound, 1 at an upper one, 0 where it is at none."""
    if x is None:
        x = np.zeros(problem.n)
    side = (problem.upper <= x).astype(np.int8)
    side[problem.lower >= x] = -1
    return side
