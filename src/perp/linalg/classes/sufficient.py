"""Column sufficient matrices: x_i (A x)_i <= 0 for all i only where all are zero (Cottle, Pang & Venkateswaran 1989).

P-matrices and semi-definite ones are, and who is must be P0; for a symmetric matrix it is the same as semi-definite.
What is P0 and neither is decided as follows. Take an x that reverses signs, x_i y_i <= 0 with y = A x and some product
negative, on as few rows a as possible, and split (x, y) of A_aa into elementary vectors (u, v), v = A_aa u, of the same
signs (Rockafellar 1969). One with a negative product u_i v_i would use all rows by the choice of a, so vanish in all
other v_j; then u_i / v_i = det A_{a-i} / det A_a >= 0, a contradiction. So all have u_i v_i = 0 for all i: u is a null
vector of A_bb for its rows b. And there are two, u and u', one with u_i != 0 and one with v'_i != 0 for an i with a
negative product x_i y_i. Thus

    A is not column sufficient  <=>  among elementary vectors u of null spaces of principal submatrices A_bb, with
    v = A u, there are two with  u_i v'_i + u'_i v_i <= 0 for all i, and < 0 for some i.  Then x = u + u'.

At most one term of the sum is not zero, so that signs are enough. A is row sufficient if A^T is column sufficient.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from perp.linalg.classes.inquiry import Finding, Inquiry, Witness
from perp.linalg.classes.minors import Rows, negative_eigenvector
from perp.linalg.classes.witnesses import simplest_vector
from perp.problems.exact_elimination import (
    Check,
    Integers,
    null_space,
    primitive,
    principal,
    solve_exactly,
    to_integers,
)

MOST_ROWS = 16
"""Beyond, 2^n null spaces are out of reach."""


def decide_column_sufficient(inquiry: Inquiry) -> Finding:
    """x_i (A x)_i <= 0 for all i only where all are zero."""
    return _decide(inquiry, "column_sufficient")


def decide_row_sufficient(inquiry: Inquiry) -> Finding:
    """A^T is column sufficient."""
    return _decide(inquiry, "row_sufficient")


def decide_sufficient(inquiry: Inquiry) -> Finding:
    """Both."""
    both = (inquiry.ask("column_sufficient"), inquiry.ask("row_sufficient"))
    for verdict in both:
        if verdict.answer is False:
            return Finding(False, f"not {verdict.name.replace('_', ' ')}", verdict.witness)
    if all(both):
        return Finding(True, "row and column sufficient")
    return Finding(None, next(verdict.why for verdict in both if verdict.answer is None))


def _decide(inquiry: Inquiry, name: str) -> Finding:
    subject = inquiry.subject
    semi = inquiry.ask("positive_semidefinite")
    if semi:
        return Finding(True, "positive semi-definite")
    if inquiry.ask("P"):
        return Finding(True, "a P-matrix")
    if subject.is_symmetric:
        witness = None if semi.witness is None else Witness("curvature", x=semi.witness.x)
        return Finding(semi.answer, "for a symmetric matrix the same as positive semi-definite", witness)
    weak = inquiry.ask("P0")
    if weak.answer is False and weak.witness is not None:
        return _contradict(inquiry, name, weak.witness)
    if not weak or subject.n > MOST_ROWS:
        return Finding(None, f"P0, but n = {subject.n} is too large for all null spaces" if weak else weak.why)
    matrix = _transposed(subject.integers) if name == "row_sufficient" else subject.integers
    z = find_reversal(matrix, inquiry.check)
    if z is None:
        return Finding(True, f"P0, and no null vectors of principal submatrices reverse signs, n = {subject.n}")
    return Finding(False, _told(name), simplest_vector(subject, name, False, z))


def _contradict(inquiry: Inquiry, name: str, witness: Witness) -> Finding:
    """A is not P0, and so not sufficient of any kind: by a vector where one is found, else by the minor."""
    subject, rows = inquiry.subject, list(witness.rows)
    if not rows:
        x = negative_eigenvector(inquiry, name)
        return Finding(False, _told(name), x) if x else Finding(None, "not P0, but no vector was found that shows it")
    part: Any = subject.matrix[rows][:, rows]
    matrix = to_integers(part if subject.is_dense else part.toarray())
    z = _from_negative_minor(_transposed(matrix) if name == "row_sufficient" else matrix, inquiry.check)
    if z is None:
        return Finding(False, "sufficient matrices are P0, and this one has a negative principal minor", witness)
    whole = [Fraction(0)] * subject.n
    for i, value in zip(rows, z, strict=True):
        whole[i] = value
    return Finding(False, _told(name), simplest_vector(subject, name, False, whole))


def _transposed(matrix: Integers) -> Integers:
    return [list(column) for column in zip(*matrix, strict=True)]


def _told(name: str) -> str:
    return f"x_i ({'A^T' if name == 'row_sufficient' else 'A'} x)_i <= 0 for all i and < 0 for some, with the witness x"


def _from_negative_minor(M: Integers, check: Check) -> list[Fraction] | None:
    """x = M^-1 e_i has x_i (M x)_i = x_i = det M_{-i} / det M < 0 for det M < 0 and a positive minor without row i."""
    for i in range(len(M)):
        x = solve_exactly(M, [int(i == j) for j in range(len(M))], check)
        if x is not None and x[i] < 0:
            return x
    return None


def find_reversal(M: Integers, check: Check) -> list[Fraction] | None:
    """x with x_i (M x)_i <= 0 for all i and < 0 for some; None if there is none, for an M that is P0."""
    vectors = sorted({tuple(u) for u in _elementary(M, check)})
    if not vectors:
        return None
    signs = np.array([[np.sign(value) for value in u] for u in vectors], dtype=np.int8)
    images = np.array([[_sign_of(row, u) for row in M] for u in vectors], dtype=np.int8)
    for k in range(len(vectors)):
        check()
        product = signs[k] * images + images[k] * signs
        lowest, highest = product.min(axis=1), product.max(axis=1)
        for other in np.flatnonzero((lowest < 0) ^ (highest > 0)):
            x = _combine(vectors[k], vectors[other], -1 if highest[other] > 0 else 1)
            if any(x):
                return x
    return None


def _sign_of(row: list[int], u: tuple[int, ...]) -> int:
    value = sum(a * b for a, b in zip(row, u, strict=True))
    return (value > 0) - (value < 0)


def _combine(u: tuple[int, ...], w: tuple[int, ...], sign: int) -> list[Fraction]:
    """u + t w with a t of that sign for which no entry of the sum, or of its image, cancels in the wrong way.

    Products are (u_i + t w_i)(v_i + t v'_i) = t (u_i v'_i + w_i v_i): any t of the sign will do.
    """
    return [Fraction(a + sign * b) for a, b in zip(u, w, strict=True)]


def _elementary(M: Integers, check: Check) -> Iterator[list[int]]:
    """Vectors of least support of (u, M u) among those with u on the rows b and M_bb u_b = 0, for all b."""
    n = len(M)
    for size in range(1, n + 1):
        for rows in combinations(range(n), size):
            check()
            basis = null_space(principal(M, rows), size, check)
            if not basis:
                continue
            wide = [[0] * n for _ in basis]
            for vector, inner in zip(wide, basis, strict=True):
                for i, value in zip(rows, inner, strict=True):
                    vector[i] = value
            yield from wide if len(wide) == 1 else _least_supports(M, wide, rows, check)


def _least_supports(M: Integers, basis: list[list[int]], rows: Rows, check: Check) -> Iterator[list[int]]:
    """Combinations of k basis vectors that vanish in k - 1 of the coordinates u_b and (M u) elsewhere."""
    n, k = len(M), len(basis)
    inside = set(rows)
    functionals = [
        [u[i] if i in inside else sum(a * b for a, b in zip(M[i], u, strict=True)) for u in basis] for i in range(n)
    ]
    for chosen in combinations(range(n), k - 1):
        check()
        weights = null_space([functionals[i] for i in chosen], k, check)
        if len(weights) == 1:
            yield primitive([sum(w * u[i] for w, u in zip(weights[0], basis, strict=True)) for i in range(n)])
