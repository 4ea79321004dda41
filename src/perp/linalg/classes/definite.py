"""Positive (semi-)definite matrices: x^T A x for all x, whether A is symmetric or not.

Yes is proved by a Cholesky factor of S - c I, S = A + A^T: with R = S - c I - L L^T the least eigenvalue of S is at
least c - ||R||, whatever rounding did to L. The shift c is some rounding errors of the trace (Rump 2006); R is bounded
by its computed row sums and by the rounding errors of the product, k u |L| |L|^T for rows of k numbers. No is proved by
a vector. What lies between is decided by exact elimination for small n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from perp.linalg.cholesky import NotFinite, SparseCholesky
from perp.linalg.classes.comparison import is_surely_positive, solve_for_ones, sum_rows
from perp.linalg.classes.inquiry import TINY, UNIT, Finding, Inquiry, OutOfTime, Witness
from perp.linalg.classes.witnesses import negative_vector, simplest_vector
from perp.linalg.plan import Plan
from perp.problems.exact_elimination import Elimination, eliminate
from perp.problems.inputs import Vector
from perp.problems.proofs.matrix_tests import comparison_matrix

EXACT_ROWS = 100
"""Up to so many rows, what rounding leaves open is decided by exact elimination, if the time suffices."""

FLOPS_A_SECOND = 5e9
"""Of a dense factor on one core: for the guess whether it fits into the time."""

SPARSE_SHIFT = 1e-11
"""The shift of a sparse matrix, as a share of its largest diagonal entry."""

EIGEN_ROWS = 500
"""Up to so many rows, all eigenvectors are computed; beyond, a direction of descent is looked for."""

DESCENT_STEPS = 2000
"""Of conjugate gradients in search of a direction with x^T A x < 0."""

ENTRIES_A_SECOND = 4e5
"""Of a matrix that is ordered and analysed."""

SPARSE_FLOPS_A_SECOND = 1e8
"""Of the product of two sparse matrices."""


def decide_positive_definite(inquiry: Inquiry) -> Finding:
    """x^T A x > 0 for all x != 0."""
    subject = inquiry.subject
    low = int(np.argmin(subject.diagonal))
    if subject.diagonal[low] <= 0:
        why = f"A[{low},{low}] = {subject.given[low, low]:g} is not positive"
        unit = np.eye(1, subject.n, low)[0].tolist()
        return Finding(False, why, simplest_vector(subject, "positive_definite", False, unit))
    if subject.is_symmetric and (settled := _from_M(inquiry)):
        return settled
    S, blur = subject.symmetric_part
    if not subject.is_dense and not subject.is_symmetric and _is_dominant(inquiry, S):
        return Finding(True, "A + A^T is generalised diagonally dominant with a positive diagonal")
    if proved := _prove_by_factor(inquiry, S, blur):
        return proved
    if x := _refute_by_vector(inquiry):
        return Finding(False, "x^T A x < 0 for the witness x", x)
    outcome = _eliminate(inquiry)
    if outcome is None:
        return Finding(
            None, f"x^T A x comes so near to zero that rounding hides its sign, and n = {subject.n} is large"
        )
    if outcome.x is None:
        return Finding(True, "exact elimination: all pivots of A + A^T are positive")
    why = f"exact elimination: x^T A x {'= 0' if outcome.answer else '< 0'} for the witness x"
    return Finding(False, why, simplest_vector(subject, "positive_definite", False, outcome.x))


def decide_positive_semidefinite(inquiry: Inquiry) -> Finding:
    """x^T A x >= 0 for all x."""
    subject = inquiry.subject
    if subject.factored:
        return Finding(
            True, "J M^-1 J^T + C with positive masses and a compliance >= 0, however its entries are rounded"
        )
    low = int(np.argmin(subject.diagonal))
    if subject.diagonal[low] < 0:
        why = f"A[{low},{low}] = {subject.given[low, low]:g} is negative"
        unit = np.eye(1, subject.n, low)[0].tolist()
        return Finding(False, why, simplest_vector(subject, "positive_semidefinite", False, unit))
    if inquiry.ask("positive_definite"):
        return Finding(True, "positive definite")
    if subject.is_symmetric and _is_weakly_dominant(inquiry):
        return Finding(True, "symmetric and diagonally dominant with a diagonal >= 0 (Gershgorin)")
    if abs(subject.given + subject.given.T).max() == 0:
        return Finding(True, "skew-symmetric: x^T A x = 0 for all x")
    if x := _refute_by_vector(inquiry):
        return Finding(False, "x^T A x < 0 for the witness x", x)
    outcome = _eliminate(inquiry)
    if outcome is None:
        return Finding(None, f"the least x^T A x is at the level of rounding errors, and n = {subject.n} is large")
    if outcome.answer:
        pivots = f"{outcome.rank} positive pivot{'s' if outcome.rank != 1 else ''}"
        return Finding(True, f"exact elimination: A + A^T has {pivots} and leaves zero")
    assert outcome.x is not None
    why = "exact elimination: x^T A x < 0 for the witness x"
    return Finding(False, why, simplest_vector(subject, "positive_semidefinite", False, outcome.x))


def _from_M(inquiry: Inquiry) -> Finding | None:
    """A symmetric H+-matrix is positive definite, and a symmetric Z-matrix that is none is not."""
    dominant = inquiry.ask("H_plus")
    if dominant:
        return Finding(True, "a symmetric H+-matrix: generalised diagonally dominant with a positive diagonal")
    if dominant.answer is False and dominant.witness is not None and dominant.witness.x and inquiry.ask("Z"):
        # u >= 0 and A u <= 0 make u^T A u <= 0
        return Finding(False, "x^T A x <= 0 for the witness x", Witness("vector", x=dominant.witness.x))
    return None


def _is_dominant(inquiry: Inquiry, S: Any) -> bool:
    """Whether a v > 0 is found with <S> v > 0, beyond the rounding errors of S, too: these are below those of <S> v."""
    C = comparison_matrix(S)  # its diagonal is positive
    for v in (1.0 / inquiry.subject.scales, solve_for_ones(inquiry, C, symmetric=True)[0]):
        if v is not None and is_surely_positive(C, v):
            return True
    return False


def _is_weakly_dominant(inquiry: Inquiry) -> bool:
    """Whether A_ii >= sum_j |A_ij| for j != i, exactly; the diagonal is known to be >= 0."""
    sums = sum_rows(comparison_matrix(inquiry.subject.given), inquiry.seconds_left)
    return sums is not None and bool(sums.min() >= 0.0)


def _prove_by_factor(inquiry: Inquiry, S: Any, blur: float) -> Finding | None:
    """The Cholesky factor of S - c I and its residual; None where they prove nothing."""
    n, highest = inquiry.subject.n, float(S.diagonal().max())
    if isinstance(S, np.ndarray):
        inquiry.check()
        if n**3 / FLOPS_A_SECOND > inquiry.seconds_left:
            raise OutOfTime
        shift, longest = 8.0 * (n + 4) * UNIT * float(S.diagonal().sum()) + 4.0 * blur, n
        shifted = S - np.diag(np.full(n, shift))
        try:
            L: Any = np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            return None
    else:
        shift = SPARSE_SHIFT * highest + 4.0 * blur
        shifted = sparse.csr_array(S - shift * sparse.eye_array(n))
        found = factor_by_columns(shifted, inquiry.seconds_left)
        if found is None:
            return None
        L, order = found
        shifted = sparse.csr_array(shifted[order][:, order])
        longest = int(np.diff(sparse.csr_array(L).indptr).max())
    residual = float(np.asarray(abs(shifted - L @ L.T).sum(axis=1)).max())
    size = float((abs(L) @ (abs(L).T @ np.ones(n))).max()) + highest
    rounding = 2.0 * (longest + 3) * UNIT * size + n * TINY
    if not residual * (1.0 + 1e-10) + rounding + blur < shift:
        return None
    return Finding(True, f"A + A^T - {shift:.1e} I has a Cholesky factor with a residual below that shift (Rump 2006)")


def _refute_by_vector(inquiry: Inquiry) -> Witness | None:
    """An eigenvector of the least eigenvalue of A + A^T, or a direction of descent, if x^T A x < 0 beyond doubt."""
    if "negative" not in inquiry.memory:
        inquiry.memory["negative"] = _find_negative(inquiry)
    witness: Witness | None = inquiry.memory["negative"]
    return witness


def _find_negative(inquiry: Inquiry) -> Witness | None:
    subject, n = inquiry.subject, inquiry.subject.n
    S, _ = subject.symmetric_part
    if n <= EIGEN_ROWS:
        x: Vector | None = np.linalg.eigh(S)[1][:, 0]
    else:
        x = _descend(inquiry, S)
    return None if x is None else negative_vector(subject, "positive_semidefinite", x)


def _descend(inquiry: Inquiry, S: Any) -> Vector | None:
    """The first direction of conjugate gradients with p^T S p < 0: they meet one as soon as Lanczos' method does."""
    r = np.random.default_rng(0).standard_normal(S.shape[0])
    p, size = r.copy(), float(r @ r)
    try:
        for _ in range(DESCENT_STEPS):
            inquiry.check()
            Sp = S @ p
            curvature = float(p @ Sp)
            if curvature < 0.0:
                return np.asarray(p)
            if curvature == 0.0:
                return None
            r -= (size / curvature) * Sp
            last, size = size, float(r @ r)
            if size == 0.0:
                return None
            p = r + (size / last) * p
    except OutOfTime:
        return None
    return None


def _eliminate(inquiry: Inquiry) -> Elimination | None:
    """The exact answer, found once, or None for matrices that are too large for it."""
    if inquiry.subject.n > EXACT_ROWS:
        return None
    if "elimination" not in inquiry.memory:
        inquiry.memory["elimination"] = eliminate(inquiry.subject.doubled, inquiry.check)
    outcome: Elimination = inquiry.memory["elimination"]
    return outcome


def factor_by_columns(S: sparse.csr_array, seconds: float) -> tuple[sparse.csc_array, Any] | None:
    """L and the order p with L L^T = S[p, p] up to rounding; None where S has none, or where all that is to be done
    with it takes longer than so many seconds, by a rough guess."""
    if S.nnz > ENTRIES_A_SECOND * seconds:
        return None
    plan = Plan.make(S)
    if plan.cost > SPARSE_FLOPS_A_SECOND * seconds:
        return None
    try:
        factor = SparseCholesky(plan, definite=True)
    except NotFinite:
        return None
    if factor.negative or factor.dependent:
        return None
    symbolic = plan.symbolic
    heights = np.diff(symbolic.rows_start)
    columns = np.arange(symbolic.n)
    owner = symbolic.column_to_super[columns]
    above = columns - symbolic.super_start[owner]  # the block of a supernode begins so many rows above the diagonal
    counts = heights[owner] - above
    starts = np.concatenate([[0], np.cumsum(counts)])
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], counts) + np.repeat(above, counts)
    rows = symbolic.rows[np.repeat(symbolic.rows_start[owner], counts) + within]
    place = np.repeat(symbolic.values_start[owner] + above * heights[owner], counts) + within
    L = sparse.csc_array((factor._factor[place], rows, starts), shape=S.shape)
    return L, symbolic.permutation
