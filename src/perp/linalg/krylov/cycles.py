"""What Krylov methods share: how they end, how they read a system, and cycles with b - A x computed again between.

A cycle believes the residual that it carries along; rounding errors can make it smaller than the true one. So a cycle
that believes to be done, or cannot go on from where it is, is followed by a look at the true residual, and by another
cycle from there as long as each brings it down enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

from perp.errors import InvalidProblem
from perp.kernels.gradient import krylov
from perp.problems.deadline import Deadline, deadline, now
from perp.problems.inputs import Vector, require_count, require_real

Product = Callable[[Vector], Vector]
"""v -> A v, or r -> P^-1 r; must not keep or change its argument."""

EPSILON = 2.0**-52


class Ending(Enum):
    """The value is a sentence that a person can read."""

    CONVERGED = "the residual is within the tolerance"
    ITERATION_LIMIT = "the iteration limit was reached"
    NEGATIVE_CURVATURE = "the matrix is not positive definite: a direction of zero or negative curvature was met"
    INDEFINITE_PRECONDITIONER = "the preconditioner is not positive definite"
    BREAKDOWN = "the method cannot go on: a division by zero, or the residual no longer falls"
    NON_FINITE = "a number on the way is not finite"


@dataclass(frozen=True)
class Solution:
    """x, and how good it is: `residual` is the 2-norm of b - A x as the method knows it."""

    x: Vector
    ending: Ending
    iterations: int
    residual: float
    direction: Vector | None = None
    """For NEGATIVE_CURVATURE the direction d with d^T A d <= 0."""

    @property
    def success(self) -> bool:
        return self.ending is Ending.CONVERGED


@dataclass(frozen=True)
class Cycle:
    """What a cycle did; without an ending the true residual decides."""

    iterations: int
    ending: Ending | None = None
    residual: float = 0.0
    direction: Vector | None = None


Run = Callable[[Vector, Vector, float, int], Cycle]
"""(x, r, ||r||, iterations left) -> what was done; x and r are changed in place."""


@dataclass(frozen=True)
class Workspace:
    """Three vectors for a caller who solves many large systems: a new one each time costs more than to fill it.

    The x of a `Solution` is then one of them, and is overwritten by the next solve.
    """

    x: Vector
    r: Vector
    q: Vector

    @staticmethod
    def for_rows(n: int) -> Workspace:
        return Workspace(np.empty(n), np.empty(n), np.empty(n))


def run_cycles(
    run: Run,
    product: Product,
    b: Vector,
    x0: Vector | None,
    tolerance: float,
    max_iterations: int,
    enough: float,
    work: Workspace | None = None,
) -> Solution:
    """Cycles until ||b - A x|| <= tolerance; one that leaves more than `enough` of the true residual is the last."""
    with np.errstate(all="ignore"):  # what overflows ends with NON_FINITE
        x, r = _begin(product, b, x0, work)
        iterations, last = 0, inf
        while True:
            residual = norm(r)
            ending = _judge(residual, tolerance, iterations >= max_iterations, residual > enough * last)
            direction = None
            if ending is None:
                cycle = run(x, r, residual, max_iterations - iterations)
                iterations += cycle.iterations
                if cycle.ending is None:
                    last, r = residual, writable(b - product(x))
                    continue
                residual, ending, direction = cycle.residual, cycle.ending, cycle.direction
            if ending is Ending.NON_FINITE and not np.isfinite(x).all():
                x, residual = _begin(product, b, x0)[0], inf
            return Solution(x, ending, iterations, residual, direction)


def _judge(residual: float, tolerance: float, is_late: bool, is_stuck: bool) -> Ending | None:
    if not isfinite(residual):
        return Ending.NON_FINITE
    if residual <= tolerance:
        return Ending.CONVERGED
    if is_late:
        return Ending.ITERATION_LIMIT
    return Ending.BREAKDOWN if is_stuck else None


def _begin(product: Product, b: Vector, x0: Vector | None, work: Workspace | None = None) -> tuple[Vector, Vector]:
    """x and b - A x at the start; without x0, or from zero, that takes no product."""
    x, r = (np.empty(b.size), np.empty(b.size)) if work is None else (work.x, work.r)
    if x0 is None or not np.any(x0):
        x[:], r[:] = 0.0, b
    else:
        x[:] = x0
        np.subtract(b, product(x), out=r)
    return x, r


def writable(v: Vector) -> Vector:
    """v itself where a kernel can take it (they are compiled for one kind of array), else a copy."""
    usable = v.dtype == np.float64 and v.flags.c_contiguous and v.flags.writeable
    return v if usable else np.array(v, dtype=np.float64, order="C")


def norm(v: Vector) -> float:
    """The 2-norm; the same bits for any number of threads."""
    return sqrt(krylov.product(v, v))


def read_system(A: Any, b: Any, tolerance: float, max_iterations: int) -> tuple[Product, Vector]:
    """A as a function v -> A v (a function, or anything with `A @ v`), and b as a vector.

    Numbers need not be finite: what comes of an overflow elsewhere ends with NON_FINITE, and does not raise.
    """
    require_real(tolerance, "tolerance")
    if tolerance < 0.0:
        raise ValueError(f"tolerance is {tolerance}; it bounds ||b - A x||, which is not negative")
    require_count(max_iterations, "max_iterations")
    right = np.asarray(b, dtype=np.float64)
    if right.ndim != 1:
        raise InvalidProblem(f"b has shape {right.shape}; a vector is needed")
    product, held = as_product(A), deadline()
    return (_watch(product, held) if held.is_limited else product), right


def _watch(product: Product, held: Deadline) -> Product:
    """A product that is not begun where the one before took longer than is left."""
    last = 0.0

    def watched(v: Vector) -> Vector:
        nonlocal last
        held.require(last)
        begun = now()
        made = product(v)
        last = now() - begun
        return made

    return watched


def as_product(A: Any) -> Product:
    if callable(A):
        function: Product = A
        return function
    if not hasattr(A, "__matmul__"):
        raise TypeError(f"A is {type(A).__name__}; a matrix, an operator or a function v -> A v is needed")
    return lambda v: np.asarray(A @ v)
