"""Generalised minimal residuals, restarted, for any square system (Saad & Schultz 1986)."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any

import numpy as np

from perp.kernels.gradient import krylov
from perp.linalg.krylov.cycles import EPSILON, Cycle, Ending, Product, Solution, norm, read_system, run_cycles
from perp.problems.inputs import Vector, require_count

ENOUGH = 1.0 - 1e-6
"""A cycle that leaves more of the residual than this share leads nowhere."""

INVARIANT = 10.0 * EPSILON
"""A product of which no larger share is new lies in the space that is there."""

SINGULAR = 1e-12
"""Singular values of the projected matrix below this share of the size of A P^-1 are zero up to rounding: left out."""


def gmres(
    A: Any,
    b: Vector,
    *,
    x0: Vector | None = None,
    preconditioner: Product | None = None,
    tolerance: float,
    max_iterations: int,
    restart: int = 30,
) -> Solution:
    """Solve A x = b for any square A, until ||b - A x||_2 <= tolerance (absolute); `restart` + 1 vectors are kept.

    Preconditioned from the right, A P^-1 u = b with x = P^-1 u: what is made small is then the residual of the system
    that was asked, whatever P is, and its norm is known in every iteration. It is recomputed at each restart and
    at the end. A cycle that brings no progress ends with BREAKDOWN, so do inconsistent singular systems.
    """
    product, b = read_system(A, b, tolerance, max_iterations)
    require_count(restart, "restart", least=1)
    size = 0.0  # of A P^-1, over all cycles

    def run(x: Vector, r: Vector, residual: float, limit: int) -> Cycle:
        nonlocal size
        cycle, size = _run(product, preconditioner, tolerance, x, r, residual, min(limit, restart, x.size), size)
        return cycle

    return run_cycles(run, product, b, x0, tolerance, max_iterations, ENOUGH)


def _run(
    product: Product,
    preconditioner: Product | None,
    tolerance: float,
    x: Vector,
    r: Vector,
    residual: float,
    limit: int,
    size: float,
) -> tuple[Cycle, float]:
    """One Arnoldi cycle; H is kept by columns, as the triangle that rotations make of it."""
    n = x.size
    basis, triangle = np.empty((limit + 1) * n), np.zeros((limit, limit + 1))
    cosine, sine, rotated = np.empty(limit), np.empty(limit), np.zeros(limit + 1)
    basis[:n] = r / residual
    rotated[0] = residual
    done = 0
    for k in range(limit):
        v = basis[k * n : (k + 1) * n]
        w = np.array(product(v if preconditioner is None else preconditioner(v)), dtype=np.float64)  # changed below
        length = norm(w)
        size = max(size, length)
        fresh = sqrt(krylov.orthogonalise(basis, k + 1, w, triangle[k]))
        if not isfinite(fresh):
            return Cycle(done, Ending.NON_FINITE, residual), size
        is_invariant = fresh <= INVARIANT * length
        triangle[k, k + 1] = 0.0 if is_invariant else fresh
        krylov.rotate(triangle[k], k, cosine, sine, rotated)
        done += 1
        if is_invariant or abs(rotated[done]) <= max(tolerance, EPSILON * residual):
            break
        basis[(k + 1) * n : (k + 2) * n] = w / fresh
    left, values, right = np.linalg.svd(triangle[:done, :done].T)  # a triangle that hides how singular it is
    used = values > SINGULAR * size
    step = np.empty(n)
    krylov.combine(basis, right[used].T @ ((left[:, used].T @ rotated[:done]) / values[used]), done, step)
    x += step if preconditioner is None else preconditioner(step)
    return Cycle(done), size
