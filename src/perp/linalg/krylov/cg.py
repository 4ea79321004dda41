"""Conjugate gradients, plain and preconditioned (THESIS Algorithms 3 and 8)."""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

from perp.kernels.gradient import krylov
from perp.linalg.krylov.cycles import (
    EPSILON,
    Cycle,
    Ending,
    Product,
    Solution,
    Workspace,
    norm,
    read_system,
    run_cycles,
    writable,
)
from perp.problems.inputs import Vector

FLAT = 16.0 * EPSILON
"""A curvature below this share of the largest one (both measured in the norm of P) is zero up to rounding."""

DRIFT = 10.0 * EPSILON
"""What an iteration may add to the difference of b - A x and its recurrence, times condition number and ||b||."""

ENOUGH = 0.5
"""A restart must at least halve the true residual."""


def cg(
    A: Any,
    b: Vector,
    *,
    x0: Vector | None = None,
    preconditioner: Product | None = None,
    tolerance: float,
    max_iterations: int,
    work: Workspace | None = None,
) -> Solution:
    """Solve A x = b for symmetric positive definite A, until ||b - A x||_2 <= tolerance (absolute).

    One product and one preconditioning an iteration. The loop of Algorithms 3 and 8 goes on *while* k < max *and*
    ||r|| > tolerance (printed: or). Consistent semi-definite systems are solved too.

    The residual is carried along and drifts away from b - A x (Greenbaum 1997: by about the condition number times
    rounding errors). Where the curvatures met so far make that likely, a residual within the tolerance is recomputed
    before it is believed, and the iteration starts again from there if it is not; a start that does not halve the
    true residual ends with BREAKDOWN.

    Negative curvature, or one that is zero up to rounding, ends with the x before and that direction; where the system
    contradicts itself, that x may be far from any solution. At the iteration limit the last iterate is returned, whose
    error in the norm of A is the least so far.

    Product and preconditioner may give the same array each time. With `work` no vector is made here.
    """
    product, b = read_system(A, b, tolerance, max_iterations)
    size = norm(writable(b))

    def run(x: Vector, r: Vector, residual: float, limit: int) -> Cycle:
        q = np.empty(x.size) if work is None else work.q
        return _run(product, preconditioner, tolerance, max(size, residual), x, r, q, residual, limit)

    return run_cycles(run, product, b, x0, tolerance, max_iterations, ENOUGH, work)


def _run(
    product: Product,
    preconditioner: Product | None,
    tolerance: float,
    size: float,
    x: Vector,
    r: Vector,
    q: Vector,
    residual: float,
    limit: int,
) -> Cycle:
    """Until the carried residual is small enough; `size` is what its rounding errors are measured by."""
    q[:] = 0.0
    rz_old = length = 0.0
    greatest, least = 0.0, inf  # of q^T A q / q^T P q, which lies between the eigenvalues of P^-1 A
    for done in range(limit):
        z = r if preconditioner is None else writable(preconditioner(r))
        rz = krylov.product(r, z)
        if not isfinite(rz):
            return Cycle(done, Ending.NON_FINITE, residual)
        if rz <= 0.0:
            return Cycle(done, Ending.INDEFINITE_PRECONDITIONER, residual)
        beta = rz / rz_old if done else 0.0  # eq. 4.5
        krylov.turn(beta, z, q)
        length = rz + beta * beta * length  # q^T P q, as r is orthogonal to the last q
        rz_old = rz
        Aq = writable(product(q))
        curvature = krylov.product(q, Aq)
        if not isfinite(curvature):
            return Cycle(done, Ending.NON_FINITE, residual)
        greatest, least = max(greatest, abs(curvature / length)), min(least, curvature / length)
        if least <= FLAT * greatest:
            return Cycle(done, Ending.NEGATIVE_CURVATURE, residual, q)
        residual = sqrt(krylov.step(rz / curvature, q, Aq, x, r))  # eq. 4.4
        if residual <= tolerance and DRIFT * (done + 1) * (greatest / least) * size <= tolerance:
            return Cycle(done + 1, Ending.CONVERGED, residual)
        if residual <= max(tolerance, EPSILON * size):
            return Cycle(done + 1)
    return Cycle(limit)
