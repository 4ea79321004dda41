"""The problem that Lemke's method pivots on: scaled, mirrored where bounded from above only, without fixed rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Matrix, Vector
from perp.problems.operators.base import FILLING
from perp.problems.problem import Problem
from perp.solvers.pivoting.scaled_problem import TABLES
from perp.solvers.scaling import symmetric_scales

LEAST_COVER = 2.0**-16
"""No row is covered less than this beside others: lifting it would drown the numbers of those in rounding errors."""


@dataclass(frozen=True)
class Frame:
    """The way from the caller's problem to the one that is pivoted on, and back.

    Fixed rows are left out, a row bounded from above only is mirrored, and all are scaled with powers of two, so that
    x = sign unit D z for the rows kept. The scaled problem is

        w = gamma sign D (A x + b) / unit  =  M z + q,         max |M_ij| and max |q_i| in [1/2, 1).
    """

    kept: NDArray[np.intp]
    slope: Vector
    """sign unit D, for the rows kept."""
    matrix: Matrix
    """M by columns, and a last column for the covering vector."""
    reach: Vector
    """max |M_ij| of each row."""
    constant: Vector
    """q."""
    lower: Vector
    """The bounds of z: -inf only for rows without any."""
    upper: Vector
    cover: Vector
    """The covering vector in the scaled rows."""
    bounds: tuple[Vector, Vector]
    """Those of x, in all of the caller's rows."""

    @property
    def is_free(self) -> NDArray[np.bool_]:
        return np.isinf(self.lower)

    @property
    def is_boxed(self) -> NDArray[np.bool_]:
        return np.isfinite(self.upper)

    @property
    def is_finite(self) -> bool:
        """Whether scaling has left all numbers within the range of floats."""
        sizes = np.isfinite(self.reach).all() and np.isfinite(self.constant).all()
        lower, upper = (bound[self.kept] for bound in self.bounds)
        bounded = (np.isfinite(lower) | np.isfinite(upper)) == np.isfinite(self.lower)
        return bool(sizes and bounded.all() and ((np.isfinite(lower) & np.isfinite(upper)) == self.is_boxed).all())

    def recover(self, z: Vector) -> Vector:
        """x, within its bounds whatever rounding did to z."""
        lower, upper = self.bounds
        x = lower.copy()  # right for the fixed rows
        x[self.kept] = self.slope * z
        return np.clip(x, lower, upper)


def make_frame(problem: Problem, x: Vector, covering: str | tuple[float, ...]) -> Frame:
    lower, upper = problem.bounds(x)
    is_fixed = lower == upper
    kept = np.flatnonzero(~is_fixed)
    n = kept.size
    FILLING.require(TABLES * float(problem.n) ** 2)
    A = problem.A.to_dense()
    scales = _scales(problem, A)
    if covering == "diagonal":
        cover = np.ones(problem.n)
    elif isinstance(covering, tuple):
        cover = scales * np.array(covering)
    else:  # D d: the path is that of the unscaled rows
        cover = np.maximum(scales, LEAST_COVER * scales.max(initial=0.0))
    slack = problem.slack(np.where(is_fixed, lower, 0.0))
    if n < problem.n:
        A, scales, cover, slack = A[np.ix_(kept, kept)], scales[kept], cover[kept], slack[kept]

    is_mirrored = (np.isinf(lower) & np.isfinite(upper))[kept]
    factor = np.where(is_mirrored, -scales, scales)
    A *= factor
    A *= factor[:, None]
    reach = np.maximum(A.max(axis=1, initial=0.0), -A.min(axis=1, initial=0.0))
    gamma = _power_of_two(reach)
    matrix = np.zeros((n + 1, n))
    np.multiply(A.T, gamma, out=matrix[:n])
    constant = gamma * (factor * slack)
    unit = 1.0 / _power_of_two(constant)
    slope = factor * unit
    return Frame(
        kept=kept,
        slope=slope,
        matrix=matrix,
        reach=gamma * reach,
        constant=constant / unit,
        lower=np.where(is_mirrored, upper[kept], lower[kept]) / slope,
        upper=np.where(is_mirrored, -np.inf, upper[kept]) / slope,
        cover=cover * _power_of_two(cover),
        bounds=(lower, upper),
    )


def _scales(problem: Problem, A: Matrix) -> Vector:
    """D; rows without a diagonal entry go by the largest of their products with the others.

    D A D has entries near 1 there too, whatever the units of A: contact problems have such rows beside ordinary ones.
    """
    scales = symmetric_scales(problem)
    bare = np.flatnonzero(A.diagonal() == 0.0)
    if bare.size:
        others = np.delete(np.arange(problem.n), bare)
        for i in bare:
            products = np.maximum(np.abs(A[i, others]), np.abs(A[others, i])) * scales[others]
            scales[i] = _power_of_two(products)
    return scales


def _power_of_two(values: NDArray[np.float64]) -> float:
    """The power of two that brings the largest |value| into [1/2, 1); 1 where all are zero or one is not finite."""
    largest = float(np.abs(values).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return 1.0
    return 2.0 ** min(max(-math.frexp(largest)[1], -1022), 1023)
