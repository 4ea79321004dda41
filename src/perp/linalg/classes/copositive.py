"""Copositive matrices: x^T A x >= 0 for all x >= 0 (strictly: > 0 for x != 0).

What negative entries of S = A + A^T do not connect can be looked at apart: the entries between only add to x^T S x. So
rows without negative entries can be left out (for the strict class: with a positive diagonal entry). Then, exactly:

S is not copositive if and only if some principal submatrix has a z > 0 with S_aa z = -e, since a least point of x^T S x
on the simplex, on as few rows as possible, is such a z. All smaller principal submatrices are then positive
semi-definite (Cottle, Habetler & Lemke 1970; Hadeler 1983). So the walk through sets of rows goes on only behind
positive definite ones. Where it comes upon a singular one, it begins again with S shifted by a multiple of I so small
that it changes no answer and leaves none singular (`shifted`). Where it does not, a copositive S is strictly
copositive, too: a zero of x^T S x, on as few rows as possible, would be a null vector behind positive definite ones.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from perp.linalg.classes.comparison import largest_outside
from perp.linalg.classes.definite import EXACT_ROWS
from perp.linalg.classes.inquiry import Finding, Inquiry
from perp.linalg.classes.minors import Rows, first_bad_minor
from perp.linalg.classes.witnesses import negative_vector, simplest_vector
from perp.problems.exact_elimination import Check, Integers, eliminate, null_space, principal, shifted, solve_exactly

MOST_ROWS = 40
"""Beyond, 2^n sets of rows are out of reach."""

DESCENTS = 20
"""Local descents on the simplex, in search of a negative value."""


def decide_copositive(inquiry: Inquiry) -> Finding:
    """x^T A x >= 0 for all x >= 0."""
    return _decide(inquiry, "copositive", "positive_semidefinite")


def decide_strictly_copositive(inquiry: Inquiry) -> Finding:
    """x^T A x > 0 for all x >= 0, x != 0."""
    weak = inquiry.ask("copositive")
    if not weak:
        return Finding(weak.answer, weak.why, weak.witness)
    return _decide(inquiry, "strictly_copositive", "positive_definite")


def _decide(inquiry: Inquiry, name: str, stronger: str) -> Finding:
    subject, strict = inquiry.subject, name == "strictly_copositive"
    low = int(np.argmin(subject.diagonal))
    if subject.diagonal[low] < 0 or (strict and subject.diagonal[low] == 0):
        why = f"A[{low},{low}] = {subject.given[low, low]:g} is {'not positive' if strict else 'negative'}"
        return Finding(False, why, simplest_vector(subject, name, False, np.eye(1, subject.n, low)[0].tolist()))
    if inquiry.ask(stronger):
        return Finding(True, stronger.replace("_", " "))
    S, _ = subject.symmetric_part  # signs of rounded sums are right
    if S.min() >= 0:
        return Finding(True, "no entry of A + A^T is negative")
    inquiry.check()
    if found := _negative_pair(inquiry, name, S):
        return found
    inquiry.check()
    parts = _parts(S)
    if not subject.is_dense:
        return Finding(None, f"{_largest(parts)} rows with negative entries are too many to search")
    parts = [part for part in parts if not _is_definite(inquiry, part, strict)]
    if not parts:
        return Finding(True, f"{stronger.replace('_', ' ')} but for rows without negative entries")
    if found := _descend(inquiry, name, S, parts):
        return found
    for part in parts:
        if part.size > MOST_ROWS:
            return Finding(None, f"{part.size} rows that negative entries connect are too many to search")
        block = principal(subject.doubled, part.tolist())
        z = find_negative_point(block, strict, inquiry.check)
        if z is not None:
            whole = [Fraction(0)] * subject.n
            for i, value in zip(part, z, strict=True):
                whole[i] = value
            why = f"x >= 0 with x^T A x {'<= 0' if strict else '< 0'} (the witness)"
            return Finding(False, why, simplest_vector(subject, name, False, whole))
    why = "no principal submatrix has a z > 0 with (A + A^T) z < 0 (Gaddum 1958)"
    return Finding(True, f"{why}, up to {_largest(parts)} rows")


def _parts(S: Any) -> list[NDArray[np.intp]]:
    """Sets of rows that negative entries of S connect, without rows that have none."""
    entries = sparse.coo_array(S)
    negative = entries.data < 0
    graph = sparse.csr_array((np.ones(negative.sum()), (entries.row[negative], entries.col[negative])), shape=S.shape)
    count, part = connected_components(graph, directed=False)
    order = np.argsort(part, kind="stable")
    parts = np.split(order, np.searchsorted(part[order], np.arange(1, count)))
    return [rows for rows in parts if rows.size > 1]  # single rows have a diagonal entry that is known to be good


def _is_definite(inquiry: Inquiry, part: NDArray[np.intp], strict: bool) -> bool:
    """Whether these rows of A + A^T are positive definite, or, not `strict`, semi-definite; exactly."""
    if part.size == inquiry.subject.n or part.size > EXACT_ROWS:
        return False
    outcome = eliminate(principal(inquiry.subject.doubled, part.tolist()), inquiry.check)
    return outcome.answer and not (strict and outcome.x is not None)


def _largest(parts: list[NDArray[np.intp]]) -> int:
    return max(part.size for part in parts)


def _negative_pair(inquiry: Inquiry, name: str, S: Any) -> Finding | None:
    """x = sqrt(S_jj) e_i + sqrt(S_ii) e_j, where S_ij < -sqrt(S_ii S_jj)."""
    subject = inquiry.subject
    diagonal = S.diagonal()
    roots = np.sqrt(diagonal)
    if isinstance(S, np.ndarray):
        excess: Any = -S - np.outer(roots, roots)
    else:
        excess = sparse.coo_array(S)
        excess.data = -excess.data - roots[excess.row] * roots[excess.col]
    (i, j), value = largest_outside(excess)
    if not value >= 0.0:
        return None
    coupling = float(S[i, j])
    x = np.zeros(subject.n)
    if diagonal[i] == 0.0 or diagonal[j] == 0.0:  # 2 x_i x_j S_ij + S_jj x_j^2 < 0 for a small x_j
        x[i], x[j] = diagonal[j] - coupling, diagonal[i] - coupling
    else:
        x[i], x[j] = roots[j], roots[i]
    witness = simplest_vector(subject, name, False, x.tolist())
    why = f"a_ij < -sqrt(a_ii a_jj) in the symmetric part, rows {min(i, j)} and {max(i, j)}"
    return Finding(False, why, witness) if witness else None


def _descend(inquiry: Inquiry, name: str, S: Any, parts: list[NDArray[np.intp]]) -> Finding | None:
    """Multiplicative descent x_i <- x_i (K x)_i / x^T K x, K = max S - S >= 0, which never leaves the simplex."""
    subject, rng = inquiry.subject, np.random.default_rng(0)
    for part in parts:
        block = S[np.ix_(part, part)]
        K = block.max() - block
        for _ in range(DESCENTS):
            x = rng.dirichlet(np.ones(part.size))
            for _ in range(50):
                inquiry.check()
                x *= K @ x
                x /= x.sum()
            if x @ block @ x < -1e-13 * np.abs(block).max():
                whole = np.zeros(subject.n)
                whole[part] = x
                witness = negative_vector(subject, name, whole)
                if witness:
                    return Finding(False, "x >= 0 with x^T A x < 0 (the witness), found by descent", witness)
    return None


class _Singular(Exception):
    """The walk came upon a singular principal submatrix."""


def find_negative_point(S: Integers, strict: bool, check: Check) -> list[Fraction] | None:
    """z >= 0, not zero, with z^T S z < 0, exactly; None if there is none. `strict`: <= 0, for a copositive S."""
    try:
        return _walk(S, check)
    except _Singular:
        z = _walk(shifted(S, -1 if strict else 1), check)
    if z is None or not strict:
        return z  # z^T S z < z^T T z < 0 for T = S + I / 2^s
    rows = [i for i, value in enumerate(z) if value]  # the least value of S is zero, at a null vector on the same rows
    (null,) = null_space(principal(S, rows), len(rows), check)
    for i, value in zip(rows, null, strict=True):
        z[i] = Fraction(abs(value))
    return z


def _walk(T: Integers, check: Check) -> list[Fraction] | None:
    """z >= 0 with T_aa z_a = -e, z_a > 0 on some rows a and zero elsewhere; None if there is none."""
    found: list[list[Fraction]] = []

    def points_inwards(minor: int, rows: Rows) -> bool:
        if minor == 0:
            raise _Singular
        z = solve_exactly(principal(T, rows), [-1] * len(rows), check)
        if z is None or min(z) <= 0:
            return False
        found.append(z)
        return True

    rows = first_bad_minor(T, check, points_inwards)
    if rows is None:
        return None
    whole = [Fraction(0)] * len(T)
    for i, value in zip(rows, found[0], strict=True):
        whole[i] = value
    return whole
