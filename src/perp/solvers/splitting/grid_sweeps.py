"""Sweeps over a stencil that is never formed: in the order of the cells, or red cells first and then black ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.splitting.orders import COLOURED_SYMMETRIC
from perp.solvers.splitting.sweeps import steps

RED = np.uint64(0)
"""Cells whose coordinates have an even sum."""


def sweep_grid(problem: Problem, relaxation: float, order: str, x: Vector) -> Callable[[int], None] | None:
    """A function that does so many iterations on x in that order; None where there is no kernel for it.

    The kernels move x_c to (1 - relaxation) x_c - relaxation (the sum of all but A_cc x_c) / A_cc, and clip it: NOTES
    eq. 59 with its own term taken out of the sum, which saves an array that would have to be read. A cell whose A_cc is
    not positive is fixed, and a step of zero times anything leaves it so.
    """
    A = problem.A.stencil
    if A is None or not A.has_kernels or not A.n or order == "random":
        return None
    if problem.frictional is not None:
        return None
    bounded = problem.kind != "lcp"
    lower, upper = problem.bounds(x) if bounded else (problem.b, problem.b)  # of an LCP the kernels read no bounds
    inverse, line = freeze(steps(problem, 1.0)), np.empty(A.grid[-1])
    arrays = (*A.kernel_arguments, relaxation, inverse, problem.b, bounded, lower, upper, x, line)
    if order in ("coloured", COLOURED_SYMMETRIC):
        return partial(_sweep_colours, A.kernels.sweep_colours, order == COLOURED_SYMMETRIC, arrays)
    return partial(_sweep_in_order, A.kernels.sweep_in_order, order, arrays)


def _sweep_colours(kernel: Callable[..., None], there_and_back: bool, arrays: tuple[Any, ...], count: int) -> None:
    kernel(2 * count if there_and_back else count, RED, there_and_back, *arrays)


def _sweep_in_order(kernel: Callable[..., None], order: str, arrays: tuple[Any, ...], count: int) -> None:
    if order != "symmetric" or count == 0:
        kernel(count, order == "backward", *arrays)
        return
    for _ in range(count):
        kernel(1, False, *arrays)
        kernel(1, True, *arrays)
