"""Minimal residuals for symmetric systems, definite or not (Paige & Saunders 1975)."""

from __future__ import annotations

from math import hypot, inf, isfinite, sqrt
from typing import Any

import numpy as np

from perp.kernels.gradient import krylov
from perp.linalg.krylov.cycles import EPSILON, Cycle, norm, read_system, run_cycles, writable
from perp.linalg.krylov.outcome import Ending, Product, Solution
from perp.problems.inputs import Vector

FLAT = sqrt(EPSILON)
"""Where ||A r|| is at most this share of ||A|| ||r||, the residual is about to be the least that any x has."""

SINGULAR = 1e-13
"""A pivot at most this share of the size of A is zero up to rounding, and would throw x far off."""

PATIENCE = 10
"""Iterations from there that may pass until the residual is halved; A can be ill-conditioned instead of singular."""

INDEFINITE = 1e-10
"""r^T P^-1 r below minus this share of ||r|| ||P^-1 r|| is more than rounding."""

ENOUGH = 0.5
"""A restart must at least halve the true residual."""


def minres(
    A: Any,
    b: Vector,
    *,
    x0: Vector | None = None,
    preconditioner: Product | None = None,
    tolerance: float,
    max_iterations: int,
) -> Solution:
    """Solve A x = b for symmetric A, which may be indefinite, until ||b - A x||_2 <= tolerance (absolute).

    The preconditioner must be symmetric positive definite; the norm that falls in each iteration is that of P^-1. The
    residual itself is carried along (r_k = s_k^2 r_{k-1} - c_k phi_k z_{k+1}, in the letters of Paige & Saunders), so
    that its 2-norm is known, and it is computed anew before it is believed. Consistent singular systems are solved;
    inconsistent ones end with BREAKDOWN where the residual is least.
    """
    product, b = read_system(A, b, tolerance, max_iterations)

    def run(x: Vector, r: Vector, residual: float, limit: int) -> Cycle:
        return _run(product, b, preconditioner, tolerance, x, r, residual, limit)

    return run_cycles(run, product, b, x0, tolerance, max_iterations, ENOUGH)


def _run(
    product: Product,
    b: Vector,
    preconditioner: Product | None,
    tolerance: float,
    x: Vector,
    r: Vector,
    residual: float,
    limit: int,
) -> Cycle:
    first = residual
    older, newer = np.zeros(x.size), r.copy()  # Lanczos vectors, not normalised: P times those that span the space
    y = newer if preconditioner is None else writable(preconditioner(newer))
    beta_old, beta = 1.0, _length(newer, y)
    w_older, w_old = np.zeros(x.size), np.zeros(x.size)
    cosine, sine, delta_bar, epsilon, phi_bar = -1.0, 0.0, 0.0, 0.0, beta
    size = 0.0  # of A, in the norm of P
    kept: tuple[int, float, Vector] | None = None
    for done in range(limit):
        if not 0.0 <= beta < inf:
            return Cycle(done, Ending.INDEFINITE_PRECONDITIONER if beta < 0.0 else Ending.NON_FINITE, residual)
        if beta <= EPSILON * size:  # the Krylov space is invariant: nothing is left to be done in it
            return Cycle(done)
        v = y / beta
        y = np.array(product(v), dtype=np.float64)  # changed below, and kept for two iterations
        alpha = krylov.lanczos(v, older, newer, beta / beta_old if done else 0.0, 1.0 / beta, y)
        older, newer = newer, y
        y = newer if preconditioner is None else writable(preconditioner(newer))
        beta_old, beta = beta, _length(newer, y)
        next_beta = max(beta, 0.0)
        size = max(size, hypot(alpha, next_beta))
        # one more column of the tridiagonal matrix, and the reflection that takes beta out of it
        epsilon_old, delta, gamma_bar = epsilon, cosine * delta_bar + sine * alpha, sine * delta_bar - cosine * alpha
        epsilon, delta_bar = sine * next_beta, -cosine * next_beta
        if kept is None and hypot(gamma_bar, delta_bar) <= FLAT * size:  # ||A r|| / ||r|| before this iteration
            kept = done, residual, x.copy()
        gamma = hypot(gamma_bar, next_beta)
        if not isfinite(gamma):
            return Cycle(done, Ending.NON_FINITE, residual)
        if gamma <= SINGULAR * size:
            return Cycle(done, Ending.BREAKDOWN, residual)
        cosine, sine = gamma_bar / gamma, next_beta / gamma
        phi, phi_bar = cosine * phi_bar, sine * phi_bar
        krylov.minres_step(epsilon_old, delta, 1.0 / gamma, phi, v, w_older, w_old, x)
        w_older, w_old = w_old, w_older
        factor = cosine * phi_bar / next_beta if next_beta else 0.0
        residual = sqrt(krylov.minres_residual(sine * sine, factor, newer, r))
        if residual <= max(tolerance, EPSILON * first):
            return Cycle(done + 1)
        if kept is not None and (residual <= 0.5 * kept[1] or done - kept[0] >= min(PATIENCE, limit - 1 - kept[0])):
            if norm(writable(b - product(x))) > 0.5 * kept[1]:  # noise of a singular matrix moves x, and lowers r alone
                x[:] = kept[2]
                return Cycle(done + 1, Ending.BREAKDOWN, kept[1])
            kept = None
    return Cycle(limit)


def _length(r: Vector, z: Vector) -> float:
    """sqrt(r^T z), z = P^-1 r; -1 where P is indefinite, 0 where rounding alone makes the product negative."""
    square = krylov.product(r, z)
    if square < 0.0:
        return -1.0 if square < -INDEFINITE * norm(r) * norm(z) else 0.0
    return sqrt(square)
