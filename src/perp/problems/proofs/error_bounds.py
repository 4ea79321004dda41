"""How far a point can be from the solution, judged by its natural map: the known bounds, rounding included.

For two points the natural maps of an LCP or a boxed one differ by (I - D + D A) (x - x'), 0 <= d_i <= 1, for the
projection on an interval has slopes between 0 and 1. At the solution x* the natural map is zero. So, with r = F(x),

    r = (I - D + D A) (x - x*)   for some D,

and what bounds the inverses of these matrices bounds the error. This holds for any bounds, as D is all that depends on
them. r is the natural map after A and b, or single rows of them, have been multiplied by powers of two, which leaves
the solutions as they are; each bound takes the scales that suit it, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from perp.problems.inputs import Matrix, PointLike, Vector, as_vector, freeze
from perp.problems.problem import Problem
from perp.problems.proofs.laws import Rows, equilibrated, natural_bound, rows_of, scaled
from perp.problems.proofs.matrix_tests import (
    Orientation,
    find_orientation,
    positive_witness,
    smallest_eigenvalue,
    solve_above,
    spectral_norm,
)
from perp.problems.rounding import gamma, times

MOST_ROWS = 1000
ROWS_NEAR_ONE = "each row of A and b times a power of two that brings A_ii near 1"


@dataclass(frozen=True, eq=False)
class ErrorBound:
    """|x - x*| <= bound, where x* is the solution (the only one, if the assumption holds)."""

    name: str
    bound: float
    norm: str
    """"2" or "inf"."""
    constant: float
    """The bound is at most this times `residual`."""
    residual: float
    """The norm of the natural map at x, after the scaling that `scaling` tells."""
    assumption: str
    proved: bool
    """Whether the assumption is proved and every rounding error covered; if not, the bound is an estimate."""
    reference: str
    scaling: str
    entries: Vector | None = None
    """|x_i - x*_i| is at most this, where the bound is known entry by entry."""

    def __str__(self) -> str:
        kind = "proved" if self.proved else "estimate"
        return f"|x - x*|_{self.norm} <= {self.bound:.3g}  ({self.assumption}: {kind}; {self.reference})"


def error_bounds(problem: Problem, x: PointLike) -> tuple[ErrorBound, ...]:
    """The bounds that apply to this problem, sharpest first; none for contacts, whose bounds move, and for n > 1000.

    A is the float64 matrix that `problem.A.to_dense()` gives.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP or BoxLCP is needed")
    point = np.array(as_vector(getattr(x, "x", x), "x", problem.n))
    if problem.n > MOST_ROWS or not problem.n:
        return ()
    rows = rows_of(problem)
    if isinstance(rows, str) or rows.follows.any():
        return ()
    with np.errstate(all="ignore"):  # what overflows is no bound
        found = [*definite_bounds(rows, point), *p_matrix_bounds(rows, point)]
    return tuple(sorted((f for f in found if np.isfinite(f.bound)), key=lambda f: (not f.proved, f.bound)))


def definite_bounds(rows: Rows, x: Vector) -> Iterator[ErrorBound]:
    """For a positive definite symmetric part with least eigenvalue l, and L = |A|_2, in the 2-norm.

    With e = x - x* and z = x - r, which lies within the bounds, the variational inequalities of x* (for z) and of the
    projection (for x*) add up to (A e - r)^T (e - r) <= 0 (Pang 1987; Cottle, Pang & Stone 1992, proposition 5.10.5),
    so

        l |e|^2  <=  e^T A e  <=  (1 + L) |r| |e| - |r|^2,         |e| <= ((1 + L) + sqrt((1 + L)^2 - 4 l)) / (2 l) |r|,

    where the classical constant is (1 + L) / l. For symmetric A the inequality says that A^1/2 e lies in a ball around
    1/2 (A^1/2 + A^-1/2) r of radius 1/2 |(A^1/2 - A^-1/2) r|. Hence the sharper

        |e|  <=  1/2 (1 + 1/l + max over a in {l, L} of |a - 1| / sqrt(a l)) |r|,

    which grows with the square root of L only.
    """
    least, largest = smallest_eigenvalue(rows.A), spectral_norm(rows.A)
    proved = least > 0.0
    if not proved:
        least = float(np.linalg.eigvalsh(0.5 * rows.A + 0.5 * rows.A.T)[0])
        if not least > 0.0:
            return
    symmetric = np.array_equal(rows.A, rows.A.T)
    yield _best_scale(rows, x, least, largest, proved, "positive definite", _definite_constant, "Pang 1987")
    if symmetric:
        about = "Cottle, Pang & Stone 1992, 5.10, sharpened"
        yield _best_scale(rows, x, least, largest, proved, "symmetric positive definite", _symmetric_constant, about)


def _definite_constant(least: float, largest: float) -> float:
    total = 1.0 + largest
    root = np.sqrt(max(total * total - 4.0 * least * (1.0 - gamma(8)), 0.0))
    return float((total + root) / (2.0 * least))


def _symmetric_constant(least: float, largest: float) -> float:
    away = max(abs(a - 1.0) / (np.sqrt(a) * np.sqrt(least)) for a in (least, largest))
    return float(0.5 * (1.0 + 1.0 / least + away + gamma(8) / least))


def _best_scale(
    rows: Rows,
    x: Vector,
    least: float,
    largest: float,
    proved: bool,
    assumption: str,
    constant_of: Callable[[float, float], float],
    reference: str,
) -> ErrorBound:
    """The least bound among some scales of A and b: as given, and with l, sqrt(l L) or L near 1."""
    best = None
    for target in (1.0, largest, np.sqrt(largest) * np.sqrt(least), least):
        exponent = 1 - int(np.frexp(target)[1]) if target != 1.0 else 0
        changed = scaled(rows, np.full(rows.n, exponent, dtype=np.intc)) if exponent else rows
        factor = float(np.ldexp(1.0, exponent))
        if not np.array_equal(changed.A, rows.A * factor):
            continue  # some rows could not be scaled without rounding
        constant = constant_of(least * factor, largest * factor) * (1.0 + gamma(32))
        residual = _norm_2(natural_bound(changed, x))
        scaling = f"A and b times 2^{exponent}" if exponent else "none"
        bound = constant * residual * (1.0 + gamma(4))
        found = ErrorBound(assumption, bound, "2", constant, residual, assumption, proved, reference, scaling)
        best = found if best is None or found.bound < best.bound else best
    assert best is not None  # the given scale is always among them
    return best


def _norm_2(values: Vector) -> float:
    """An upper bound of the 2-norm, safe from underflow and overflow of squares."""
    largest = float(values.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    return float(largest * np.sqrt(np.sum((values / largest) ** 2)) * (1.0 + gamma(values.size + 16)))


def p_matrix_bounds(rows: Rows, x: Vector) -> Iterator[ErrorBound]:
    """For P-matrices, in the largest-entry norm, and entry by entry."""
    near_one = equilibrated(rows)
    residuals = natural_bound(near_one, x)
    yield from _comparison_bound(near_one.A, residuals)
    free = np.isinf(rows.lower) & np.isinf(rows.upper)
    corners = find_orientation(near_one.A, free, rows.fixed)
    if isinstance(corners, Orientation):
        yield _corner_bound(corners, residuals)
    yield from _mathias_pang(near_one.A, corners if not (free | rows.fixed).any() else None, residuals)


def _comparison_bound(A: Matrix, residuals: Vector) -> Iterator[ErrorBound]:
    """H-matrices with a positive diagonal Λ: |e| <= <A>^-1 max(Λ, I) |r| (Chen & Xiang 2006, theorem 2.1).

    I - D + D A has the comparison matrix Q - D B with Q = I - D + D Λ and B = Λ - <A>, whose inverse is
    sum_k (Q^-1 D B)^k Q^-1; and Q^-1 D <= Λ^-1, Q^-1 <= Λ^-1 max(Λ, I).
    """
    witness = positive_witness(A)
    if witness is None:
        return
    weights = np.maximum(A.diagonal(), 1.0)
    entries = solve_above(A, witness, np.nextafter(weights * residuals, np.inf))
    columns = solve_above(A, witness, weights)
    if entries is None or columns is None:
        return
    yield ErrorBound(
        name="comparison matrix",
        bound=float(entries.max()),
        norm="inf",
        constant=float(columns.max()),
        residual=float(residuals.max()),
        assumption="H-matrix with a positive diagonal",
        proved=True,
        reference="Chen & Xiang 2006",
        scaling=ROWS_NEAR_ONE,
        entries=freeze(entries),
    )


def _corner_bound(corners: Orientation, residuals: Vector) -> ErrorBound:
    """The best constant there is, max over D of |(I - D + D A)^-1|, which lies at a corner (see `matrix_tests`)."""
    entries = times(corners.inverse, residuals)
    largest = float(residuals.max())
    return ErrorBound(
        name="all corners",
        bound=min(float(entries.max()), corners.norm * largest * (1.0 + gamma(4))),
        norm="inf",
        constant=corners.norm,
        residual=largest,
        assumption="P-matrix (with free or fixed rows: one sign of all determinants)",
        proved=True,
        reference="Chen & Xiang 2006, with the maximum taken at the corners",
        scaling=ROWS_NEAR_ONE,
        entries=freeze(entries),
    )


def _mathias_pang(A: Matrix, corners: Orientation | str | None, residuals: Vector) -> Iterator[ErrorBound]:
    """|e| <= max(1, |A|) / c(A) |r| with c(A) = min over |x| = 1 of max_i x_i (A x)_i, all in the largest-entry norm.

    Mathias & Pang 1990, theorem 2.2, have 1 + |A| for max(1, |A|). Let i be the row of the largest e_i (A e)_i, which
    is at least c(A) |e|^2: then |r_i| = (1 - d_i) |e_i| + d_i |(A e)_i| is not below the smaller one of the two, and
    that is at least c(A) |e| / max(1, |A|), as the other one is at most max(1, |A|) |e|. So for any bounds.

    c(A) >= l / n for a symmetric part with the least eigenvalue l > 0; and c(A) >= 1 / k^2 if k bounds the norms of all
    (I - D + D A)^-1: choose d_i such that row i of (I - D + D A) x is zero where x_i (A x)_i <= 0, and the smaller one
    of |x_i| and |(A x)_i| elsewhere, which is at most sqrt(max_i x_i (A x)_i).
    """
    n = A.shape[0]
    least = smallest_eigenvalue(A) / n * (1.0 - gamma(4))
    if isinstance(corners, Orientation):
        least = max(least, (1.0 - gamma(8)) / (corners.norm * corners.norm))
    if not least > 0.0:
        return
    constant = max(1.0, float(np.abs(A).sum(axis=1).max())) / least * (1.0 + gamma(n + 8))
    largest = float(residuals.max())
    yield ErrorBound(
        name="c(A)",
        bound=constant * largest * (1.0 + gamma(4)),
        norm="inf",
        constant=constant,
        residual=largest,
        assumption="P-matrix",
        proved=True,
        reference="Mathias & Pang 1990, with a lower bound of c(A)",
        scaling=ROWS_NEAR_ONE,
    )
