"""Dense random matrices with a spectrum made to order.

These go through LAPACK, whose last bits depend on the machine and on the number of its threads; x does not.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from perp.gallery.catalogue import Example, catalogued
from perp.gallery.options import About
from perp.gallery.planted import Active, Degenerate, draw_parts, draw_sizes, planted_box, planted_lcp
from perp.problems.inputs import Matrix, Vector
from perp.problems.lcp import LCP

Rows = Annotated[int, About("number of rows", 1, 20_000)]
Condition = Annotated[float | None, About("condition number; None: the spectrum i/n", 1.0, 1e16)]


@catalogued()
def dense_pd(
    n: Rows = 100,
    seed: int = 0,
    *,
    condition: Condition = None,
    active: Active = 0.5,
    degenerate: Degenerate = 0.0,
) -> Example:
    """Dense symmetric positive definite LCP: a random orthogonal basis, a chosen spectrum.

    A = Q diag(s) Q^T with s_i = i/n as in num4lcp (NOTES section 7, Fig. 6), or s spread geometrically from
    1/condition to 1. The planted x is the only solution.
    """
    rng = np.random.default_rng(seed)
    A = symmetric(random_orthogonal(n, rng), spectrum(n, condition))
    return planted_lcp(A, active=active, degenerate=degenerate, seed=rng)


@catalogued()
def dense_psd(
    n: Rows = 100,
    seed: int = 0,
    *,
    zeros: Annotated[float, About("share of eigenvalues that are zero", 0.0, 1.0)] = 0.5,
    active: Active = 0.5,
    degenerate: Degenerate = 0.0,
) -> Example:
    """Dense symmetric positive semi-definite LCP: part of the spectrum is zero, as in over-determined systems.

    A = Q diag(s) Q^T with s_i = i/n, and s_i = 0 for the smallest ones (NOTES section 7). y is unique; x need not be.
    """
    rng = np.random.default_rng(seed)
    values = spectrum(n, None)
    values[: round(zeros * n)] = 0.0
    A = symmetric(random_orthogonal(n, rng), values)
    return planted_lcp(A, active=active, degenerate=degenerate, seed=rng)


@catalogued()
def dense_p(
    n: Rows = 100,
    seed: int = 0,
    *,
    condition: Condition = None,
    skew: Annotated[float, About("spectral norm of the skew part; the symmetric part has 1", 0.0)] = 1.0,
    active: Active = 0.5,
    degenerate: Degenerate = 0.0,
) -> Example:
    """Dense non-symmetric P-matrix LCP: positive definite plus a skew part.

    A = S + K, where S is that of `dense_pd` and K = V diag(k) W^T - W diag(k) V^T, with V and W halves of a second
    orthogonal basis and k_i spread evenly up to `skew`. x^T A x = x^T S x > 0, so all principal minors of A are
    positive and the planted x is the only solution (Cottle, Pang & Stone 1992, theorem 3.3.7).
    """
    rng = np.random.default_rng(seed)
    S = symmetric(random_orthogonal(n, rng), spectrum(n, condition))
    half = n // 2
    V, W = np.split(random_orthogonal(n, rng)[:, : 2 * half], 2, axis=1)
    product = (V * (skew * spectrum(half, None))) @ W.T
    return planted_lcp(S + (product - product.T), active=active, degenerate=degenerate, seed=rng)


@catalogued()
def boxed_pd(
    n: Rows = 100,
    seed: int = 0,
    *,
    condition: Condition = None,
    free: Annotated[float, About("share of rows without bounds (y = 0)", 0.0, 1.0)] = 0.1,
    fixed: Annotated[float, About("share of rows with lower = upper", 0.0, 1.0)] = 0.1,
    one_sided: Annotated[float, About("share of rows with one bound, half lower and half upper", 0.0, 1.0)] = 0.4,
    active: Active = 0.5,
    degenerate: Degenerate = 0.0,
) -> Example:
    """Dense symmetric positive definite boxed LCP with a mixture of bounds; rows left over have two.

    The planted x is the only solution.
    """
    rng = np.random.default_rng(seed)
    A = symmetric(random_orthogonal(n, rng), spectrum(n, condition))
    part = draw_parts(n, (free, fixed, 0.5 * one_sided, 0.5 * one_sided), rng)
    lower = rng.standard_normal(n)
    upper = lower + draw_sizes(rng, n)
    upper[part == 1] = lower[part == 1]
    lower[(part == 0) | (part == 3)] = -np.inf
    upper[(part == 0) | (part == 2)] = np.inf
    return planted_box(A, lower, upper, active=active, degenerate=degenerate, seed=rng)


@catalogued()
def infeasible_psd(
    n: Rows = 300,
    seed: int = 0,
    *,
    rank: Annotated[int, About("rank of A, at most n - 1", 0)] = 60,
) -> Example:
    """Dense symmetric positive semi-definite LCP that no x satisfies: redundant rows that contradict each other.

    A = J J^T with J of n x rank whose rows add up to zero, and b < 0. Then u = (1, ..., 1) proves infeasibility:
    A^T u = 0 and b^T u < 0, whereas u^T y = u^T (A x + b) = b^T u for every x.
    """
    if rank >= n:
        raise ValueError(f"rank is {rank}; it must be below n = {n}")
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((n, rank))
    J -= J.mean(axis=0)
    A = J @ J.T
    return Example(LCP(0.5 * (A + A.T), -draw_sizes(rng, n)), None, "infeasible", note="u = (1, ..., 1) proves it.")


def spectrum(n: int, condition: float | None) -> Vector:
    """i/n for i = 1..n, or n numbers from 1/condition to 1 in geometric steps."""
    if condition is None:
        return np.arange(1, n + 1) / max(n, 1)
    return np.geomspace(1.0 / condition, 1.0, n) if n > 1 else np.ones(1)


def random_orthogonal(n: int, rng: np.random.Generator) -> Matrix:
    """A matrix drawn evenly (by the Haar measure) from the orthogonal ones.

    QR of a Gaussian matrix, with the signs of R's diagonal moved into Q (Mezzadri 2007); without them the draw would
    depend on the sign habits of the QR routine.
    """
    Q, R = np.linalg.qr(rng.standard_normal((n, n)))
    orthogonal: Matrix = Q * np.where(np.diagonal(R) < 0.0, -1.0, 1.0)
    return orthogonal


def symmetric(Q: Matrix, values: Vector) -> Matrix:
    """Q diag(values) Q^T, symmetric to the last bit."""
    A = (Q * values) @ Q.T
    return 0.5 * (A + A.T)
