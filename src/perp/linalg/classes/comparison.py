"""H+-, M- and Z-matrices, and symmetric ones.

Z-matrices and symmetric ones are seen at the entries. For the others v > 0 with <A> v > 0 proves it, u >= 0 with
<A> u <= 0 refutes it. The comparison matrix C = <A> has |A_ii| on its diagonal and -|A_ij| elsewhere. A has a positive
diagonal and C is a non-singular M-matrix if and only if A is an H+-matrix; an M-matrix is an H+-matrix without positive
entries off its diagonal. One of the two vectors exists always: C v = e has a solution v > 0 if C is a non-singular
M-matrix (C^-1 >= 0 has no empty row), and else the Perron vector u of s I - C will do (Berman & Plemmons 1994, theorem
6.2.3). For a symmetric C, which then is not positive definite, any x with x^T C x <= 0 is as good as u.
"""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import bicgstab

from perp.linalg.classes.inquiry import (
    TINY,
    UNIT,
    Finding,
    Inquiry,
    Kind,
    OutOfTime,
    Subject,
    Witness,
    is_surely_negative,
)
from perp.linalg.classes.witnesses import simplest_vector
from perp.problems.exact_elimination import Integers, null_space, solve_exactly, to_integers
from perp.problems.inputs import Vector
from perp.problems.proofs.matrix_tests import comparison_matrix

EXACT_ROWS = 60
"""Up to so many rows, what rounding leaves open is decided by exact elimination."""
DIRECT_ROWS = 1000
"""Up to so many rows, C v = e is solved by elimination."""
MOST_ITERATIONS = 5000
"""Of conjugate gradients on C v = e."""
YES = "there is v > 0 with <A> v > 0 (the witness), and the diagonal is positive"
NO = "there is u >= 0, not zero, with <A> u <= 0 (the witness)"
NO_SYMMETRIC = "x^T <A> x <= 0 for the witness x, but a symmetric M-matrix is positive definite"
SECONDS_A_ROW = 1e-5
"""About what a sum by `fsum` takes."""

# -- by the entries ----------------------------------------------------------------------------------------------------


def decide_symmetric(inquiry: Inquiry) -> Finding:
    """A = A^T, exactly; the witness is the pair of entries that differ most."""
    subject = inquiry.subject
    if subject.factored:
        return Finding(True, "J M^-1 J^T + C is symmetric, however its entries are rounded")
    if subject.is_symmetric:
        return Finding(True, "every A_ij equals A_ji")
    with np.errstate(over="ignore"):
        difference = sparse.coo_array(abs(subject.given - subject.given.T))
    worst = int(np.argmax(difference.data))
    i, j = int(difference.row[worst]), int(difference.col[worst])
    share = difference.data[worst] / abs(subject.given).max()
    why = f"A[{i},{j}] = {subject.given[i, j]:g} and A[{j},{i}] = {subject.given[j, i]:g}; max |A - A^T| is {share:.1e}"
    return Finding(False, f"{why} of max |A|", Witness("entry", (i, j)))


def decide_Z(inquiry: Inquiry) -> Finding:
    """A_ij <= 0 for all i != j; the witness is the largest entry that is not."""
    place, value = largest_outside(inquiry.subject.given)
    if value <= 0:
        return Finding(True, "no entry off the diagonal is positive")
    return Finding(False, f"A[{place[0]},{place[1]}] = {value:g} is positive", Witness("entry", place))


def largest_outside(matrix: Any) -> tuple[tuple[int, int], float]:
    """The place of the largest (stored) entry off the diagonal, and the entry; -inf where there is none."""
    if isinstance(matrix, np.ndarray):
        outside = matrix.copy()
        np.fill_diagonal(outside, -np.inf)
        row, column = divmod(int(np.argmax(outside)), len(matrix))
        return (row, column), float(outside[row, column])
    entries = sparse.coo_array(matrix)
    values = np.where(entries.row != entries.col, entries.data, -np.inf)
    if not values.size:
        return (0, 0), -np.inf
    k = int(np.argmax(values))
    return (int(entries.row[k]), int(entries.col[k])), float(values[k])


# -- by the comparison matrix ------------------------------------------------------------------------------------------


def decide_H_plus(inquiry: Inquiry) -> Finding:
    """The comparison matrix is a non-singular M-matrix and the diagonal is positive."""
    subject = inquiry.subject
    low = int(np.argmin(subject.diagonal))
    if subject.diagonal[low] <= 0:
        why = f"A[{low},{low}] = {subject.given[low, low]:g} is not positive"
        return Finding(False, why, Witness("entry", (low, low)))
    C = comparison_matrix(subject.matrix)
    even = 1.0 / subject.scales  # the vector e of the matrix as it was given
    if is_surely_positive(C, even):
        return Finding(True, f"strictly diagonally dominant: {YES}", _plain_witness(subject, even))
    if u := _level_part(inquiry):
        return Finding(False, NO, u)
    v, descent = solve_for_ones(inquiry, C, symmetric=subject.is_symmetric)
    if v is not None and is_surely_positive(C, v):
        return Finding(True, YES, _plain_witness(subject, v))
    if v is not None and (v < 0.0).all() and _is_surely_not_positive(C, -v):  # so C is no M-matrix, and u = -v
        return Finding(False, NO, _plain_witness(subject, -v, answer=False))
    if descent is not None:
        return Finding(False, NO_SYMMETRIC, _as_given(subject, "curvature", descent))
    if subject.n > EXACT_ROWS:
        return Finding(None, "no vector was found that proves or refutes it within rounding errors")
    return _decide_exactly(inquiry, to_integers(C))


def decide_M(inquiry: Inquiry) -> Finding:
    """A Z-matrix that is an H+-matrix: then <A> = A."""
    signs = inquiry.ask("Z")
    if signs.answer is False:
        return Finding(False, f"an M-matrix is a Z-matrix, but {signs.why}", signs.witness)
    dominant = inquiry.ask("H_plus")
    if dominant.answer:
        return Finding(True, "a Z-matrix with v > 0, A v > 0 (the witness)", dominant.witness)
    return Finding(dominant.answer, dominant.why.replace("<A>", "A"), dominant.witness)


def is_surely_positive(C: Any, v: Vector) -> bool:
    """Whether v > 0 and C v > 0 for all rounding errors of the product: gamma_k |C| v, k the longest row."""
    if not (np.isfinite(v).all() and v.min(initial=1.0) > 0.0):
        return False
    return bool((C @ v > _doubt(C, v)).all())


def _is_surely_not_positive(C: Any, u: Vector) -> bool:
    """Whether C u <= 0 for all rounding errors; where u_i = 0, no term of (C u)_i is positive."""
    return bool(np.isfinite(u).all() and ((C @ u < -_doubt(C, u)) | (u == 0.0)).all())


def _doubt(C: Any, v: Vector) -> Vector:
    longest = C.shape[1] if isinstance(C, np.ndarray) else int(np.diff(C.indptr).max(initial=0))
    doubt: Vector = 2.0 * (longest + 2) * UNIT * (abs(C) @ v) + TINY
    return doubt


def _plain_witness(subject: Subject, v: Vector, *, answer: bool = True) -> Witness:
    """v of the scaled matrix as a vector for A, in few digits where there are few rows; it was proved already."""
    short = simplest_vector(subject, "H_plus", answer, v.tolist()) if subject.n <= EXACT_ROWS else None
    return short or _as_given(subject, "vector", v)


def _as_given(subject: Subject, kind: Kind, v: Vector) -> Witness:
    return Witness(kind, x=tuple(Fraction(value) for value in (v * subject.scales).tolist()))


def _level_part(inquiry: Inquiry) -> Witness | None:
    """u = e on a connected part of A whose row sums of <A> are all <= 0, as a closed Neumann problem has."""
    C = comparison_matrix(inquiry.subject.given)
    sums = sum_rows(C, inquiry.seconds_left)
    if sums is None or sums.min() > 0.0:
        return None
    if sums.max() <= 0.0:
        return Witness("vector", x=(Fraction(1),) * sums.size)
    count, part = connected_components(sparse.csr_array(C), directed=False)
    highest = np.full(count, -np.inf)
    np.maximum.at(highest, part, sums)
    chosen = int(np.argmin(highest))
    if highest[chosen] > 0.0:
        return None
    return Witness("vector", x=tuple(Fraction(int(inside)) for inside in part == chosen))


def solve_for_ones(inquiry: Inquiry, C: Any, *, symmetric: bool) -> tuple[Vector | None, Vector | None]:
    """v with C v = e, more or less; and, of a symmetric C, a direction p with p^T C p < 0 if one came up."""
    if isinstance(C, np.ndarray) and C.shape[0] <= DIRECT_ROWS:
        try:
            return np.linalg.solve(C, np.ones(C.shape[0])), None
        except np.linalg.LinAlgError:
            return None, None
    try:
        return _by_conjugate_gradients(inquiry, C) if symmetric else (_by_bicgstab(inquiry, C), None)
    except OutOfTime:
        return None, None


def _is_enough(C: Any, v: Vector) -> bool:
    """Any v > 0 with |e - C v| < 1 in every row is a proof, so that a few digits are enough."""
    return v.min() > 0.0 and float(np.abs(1.0 - C @ v).max()) < 0.5


def _by_conjugate_gradients(inquiry: Inquiry, C: Any) -> tuple[Vector, Vector | None]:
    """For a symmetric C: v, and a direction p with p^T C p < 0 beyond doubt, if one comes up."""
    inverse = 1.0 / C.diagonal()
    v, r = np.zeros(C.shape[0]), np.ones(C.shape[0])
    z = inverse * r
    p, size = z.copy(), float(r @ z)
    for iteration in range(MOST_ITERATIONS):
        inquiry.check()
        Cp = C @ p
        curvature = float(p @ Cp)
        if curvature <= 0.0:
            return v, p if is_surely_negative(C, p) else None
        v += (size / curvature) * p
        r -= (size / curvature) * Cp
        if iteration % 8 == 0 and _is_enough(C, v):
            break
        z = inverse * r
        last, size = size, float(r @ z)
        p = z + (size / last) * p
    return v, None


def _by_bicgstab(inquiry: Inquiry, C: Any) -> Vector:
    """For any other C."""

    class Enough(Exception):
        pass

    found: list[Vector] = []

    def look(v: Vector) -> None:
        inquiry.check()
        if _is_enough(C, v):
            found.append(v.copy())
            raise Enough

    inverse = sparse.diags_array(1.0 / C.diagonal())
    try:
        with np.errstate(all="ignore"):
            v, _ = bicgstab(C, np.ones(C.shape[0]), rtol=1e-10, maxiter=MOST_ITERATIONS, M=inverse, callback=look)
    except Enough:
        v = found[0]
    return np.asarray(v)


def _decide_exactly(inquiry: Inquiry, C: Integers) -> Finding:
    """Elimination without exchanges: C is a non-singular M-matrix if and only if all pivots are positive.

    Where pivot k is not, u_k = 1 and u_K = -C_KK^-1 C_Kk >= 0 for the rows K before it have (C u)_K = 0, (C u)_k = the
    pivot, and C u <= 0 in the rows below, which have no positive entries there.
    """
    subject, n = inquiry.subject, len(C)
    work, last = [row[:] for row in C], 1
    for k in range(n):
        inquiry.check()
        pivot, top = work[k][k], work[k]
        if pivot <= 0:
            (u,) = null_space([row[: k + 1] for row in C[:k]], k + 1, inquiry.check)
            whole = [abs(value) for value in u] + [0] * (n - k - 1)
            return Finding(False, NO, simplest_vector(subject, "H_plus", False, whole))
        for i in range(k + 1, n):
            row, factor = work[i], work[i][k]
            work[i] = [0] * (k + 1) + [(pivot * row[j] - factor * top[j]) // last for j in range(k + 1, n)]
        last = pivot
    v = solve_exactly(C, [1] * n, inquiry.check)
    assert v is not None
    return Finding(True, YES, simplest_vector(subject, "H_plus", True, v))


def sum_rows(C: Any, seconds: float) -> Vector | None:
    """The sums, each with the right sign; None where that takes longer than `seconds`."""
    sums: Vector = np.asarray(C.sum(axis=1)).reshape(-1)
    sizes = np.asarray(abs(C).sum(axis=1)).reshape(-1)
    doubtful = np.flatnonzero(np.abs(sums) <= 2.0 * (C.shape[1] + 2) * UNIT * sizes)
    if not doubtful.size or _adds_up_exactly(C if isinstance(C, np.ndarray) else C.data, float(sizes.max())):
        return sums
    if doubtful.size * SECONDS_A_ROW > seconds:
        return None
    for i in doubtful:  # `fsum` rounds once
        sums[i] = fsum(C[i] if isinstance(C, np.ndarray) else C.data[C.indptr[i] : C.indptr[i + 1]])
    return sums


def _adds_up_exactly(data: NDArray[np.float64], largest: float) -> bool:
    """Whether all are multiples of a power of two so large that no sum up to `largest` has more than 53 bits."""
    numbers = data[data != 0.0]
    if numbers.size == 0:
        return True
    mantissa, exponent = np.frexp(numbers)
    digits = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    _, lowest_bit = np.frexp((digits & -digits).astype(np.float64))
    last_digit = int((exponent - 53 + lowest_bit - 1).min())
    return bool(np.isfinite(largest)) and np.frexp(largest)[1] - last_digit <= 53
