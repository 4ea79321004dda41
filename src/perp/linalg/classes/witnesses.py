"""Checking a witness against the numbers of A in rational arithmetic, apart from whoever found it.

With y = A x, and <A> the comparison matrix (|A_ii| on the diagonal, -|A_ij| elsewhere), these say no:

    symmetric                  A_ij != A_ji
    positive definite          x != 0 and x^T y <= 0
    positive semi-definite     x^T y < 0
    Z                          A_ij > 0, i != j
    M                          A_ij > 0, i != j;  A_ii <= 0;  or x >= 0, x != 0, A x <= 0
    H+                         A_ii <= 0;  or x >= 0, x != 0, <A> x <= 0
    P                          a principal minor <= 0;  or x != 0, x_i y_i <= 0 for all i
    P0                         a principal minor < 0;  or x != 0, x_i y_i < 0 for all i with x_i != 0
    copositive (strictly)      x >= 0 and x^T y < 0  (x != 0 and x^T y <= 0)
    column sufficient          x_i y_i <= 0 for all i, and < 0 for some i
    row sufficient             the same with A^T
    sufficient                 either
    all kinds of sufficient    a principal minor < 0 (they are P0)

For a symmetric A a vector with x^T y < 0 says no to P0 and to all kinds of sufficiency, x^T y <= 0, x != 0 says no to
P, and x^T <A> x <= 0, x != 0 to H+ and M (kind `curvature`): P, and <A> of H+ and M, are then positive definite, the
others are positive semi-definite (Cottle, Pang & Stone 1992, 3.3, 3.5 and 3.11). Yes is said of M and H+ by x > 0 with
A x > 0 or <A> x > 0 (ibid., 3.11; of M in addition to the signs).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from scipy import sparse

from perp.linalg.classes.inquiry import Subject, Verdict, Witness, is_surely_negative
from perp.problems.exact_elimination import determinant, to_integers
from perp.problems.inputs import MatrixLike, Vector
from perp.problems.problem import Problem
from perp.problems.proofs.matrix_tests import comparison_matrix

FEW_ROWS = 60
"""Up to so many rows it is worth the time to look for short numbers."""

P0_AT_LEAST = ("P0", "column_sufficient", "row_sufficient", "sufficient")


def check_witness(A: MatrixLike | Problem, verdict: Verdict) -> bool:
    """Whether the witness of a verdict proves its answer for the numbers of A, in exact arithmetic.

    `A` is what `classify` was given. Verdicts without a witness raise ValueError.
    """
    if verdict.witness is None or verdict.answer is None:
        raise ValueError(f"the verdict on {verdict.name!r} has no witness")
    return proves(Subject(A), verdict.name, verdict.answer, verdict.witness)


def proves(subject: Subject, name: str, answer: bool, witness: Witness) -> bool:
    """The same for a matrix that was read already."""
    if witness.kind == "entry":
        return not answer and _entry_contradicts(subject, name, *witness.rows)
    if witness.kind == "minor":
        return not answer and _minor_contradicts(subject, name, witness.rows)
    if len(witness.x) != subject.n or not any(witness.x):
        return False
    x = _whole(witness.x)
    if witness.kind == "curvature":
        return not answer and _curvature_contradicts(subject, name, x)
    if answer:
        return _vector_proves(subject, name, x)
    return name in CONTRADICTIONS and CONTRADICTIONS[name](subject, x)


def _entry_contradicts(subject: Subject, name: str, i: int, j: int) -> bool:
    here, there = subject.given[i, j], subject.given[j, i]
    if name == "symmetric":
        return bool(here != there)
    above = name in ("Z", "M") and i != j and here > 0
    return bool(above or (name in ("M", "H_plus") and i == j and here <= 0))


def _minor_contradicts(subject: Subject, name: str, rows: Sequence[int]) -> bool:
    if name not in ("P", *P0_AT_LEAST) or not rows or len(set(rows)) < len(rows):
        return False
    part: Any = subject.given[list(rows)][:, list(rows)]
    found = determinant(to_integers(part if subject.is_dense else part.toarray()), lambda: None)
    return found <= 0 if name == "P" else found < 0


def _curvature_contradicts(subject: Subject, name: str, x: list[int]) -> bool:
    if not subject.is_symmetric:
        return False
    if name in ("H_plus", "M"):
        return _dot(x, _compare(subject, x)) <= 0
    value = _curvature(subject, x)
    return (name == "P" and value <= 0) or (name in P0_AT_LEAST and value < 0)


def _vector_proves(subject: Subject, name: str, x: list[int]) -> bool:
    """x > 0 with A x > 0 for M, <A> x > 0 for H+."""
    if name not in ("M", "H_plus") or min(x) <= 0 or not (subject.given.diagonal() > 0).all():
        return False
    if name == "M":
        return not _has_positive_off_diagonal(subject) and min(_product(subject.given, x)) > 0
    return min(_compare(subject, x)) > 0


def _has_positive_off_diagonal(subject: Subject) -> bool:
    entries = sparse.coo_array(subject.given)
    return bool(((entries.data > 0) & (entries.row != entries.col)).any())


def _whole(x: Sequence[Fraction]) -> list[int]:
    """x times its common denominator: all that is asked of it are signs."""
    common = lcm(*(value.denominator for value in x))
    return [value.numerator * (common // value.denominator) for value in x]


def _product(matrix: Any, x: list[int]) -> list[int]:
    """A x, times the power of two that makes the entries of A whole."""
    places = np.flatnonzero([bool(value) for value in x])
    entries = sparse.coo_array(matrix[:, places])
    ratios = [value.as_integer_ratio() for value in entries.data.tolist()]
    common = max((bottom for _, bottom in ratios), default=1)
    y = [0] * len(x)
    for i, j, (top, bottom) in zip(entries.row.tolist(), places[entries.col].tolist(), ratios, strict=True):
        y[i] += top * (common // bottom) * x[j]
    return y


def _compare(subject: Subject, x: list[int]) -> list[int]:
    """<A> x."""
    return _product(comparison_matrix(subject.given), x)


def _dot(x: list[int], y: list[int]) -> int:
    return sum(a * b for a, b in zip(x, y, strict=True))


def _curvature(subject: Subject, x: list[int]) -> int:
    return _dot(x, _product(subject.given, x))


def _products(matrix: Any, x: list[int]) -> list[int]:
    return [a * b for a, b in zip(x, _product(matrix, x), strict=True)]


def _reverses(matrix: Any, x: list[int]) -> bool:
    """x_i y_i <= 0 for all i, and < 0 for some."""
    signs = _products(matrix, x)
    return max(signs) <= 0 and any(signs)


CONTRADICTIONS: dict[str, Callable[[Subject, list[int]], bool]] = {
    "positive_definite": lambda s, x: _curvature(s, x) <= 0,
    "positive_semidefinite": lambda s, x: _curvature(s, x) < 0,
    "M": lambda s, x: min(x) >= 0 and max(_product(s.given, x)) <= 0,
    "H_plus": lambda s, x: min(x) >= 0 and max(_compare(s, x)) <= 0,
    "P": lambda s, x: max(_products(s.given, x)) <= 0,
    "P0": lambda s, x: all(value < 0 for value, entry in zip(_products(s.given, x), x, strict=True) if entry),
    "copositive": lambda s, x: min(x) >= 0 and _curvature(s, x) < 0,
    "strictly_copositive": lambda s, x: min(x) >= 0 and _curvature(s, x) <= 0,
    "column_sufficient": lambda s, x: _reverses(s.given, x),
    "row_sufficient": lambda s, x: _reverses(s.given.T, x),
    "sufficient": lambda s, x: _reverses(s.given, x) or _reverses(s.given.T, x),
}
"""What a vector x != 0 must do to contradict a class."""


def simplest_vector(subject: Subject, name: str, answer: bool, z: Sequence[Any]) -> Witness | None:
    """The witness x = D z with as few digits as will do; None where not even the whole of z proves the answer.

    `z` belongs to the scaled matrix D A D, floats or fractions.
    """
    x = [Fraction(value) * Fraction(scale) for value, scale in zip(z, subject.scales.tolist(), strict=True)]
    largest = max(map(abs, x), default=Fraction(0))
    if largest == 0:
        return None
    unit = Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length())
    x = [value / unit for value in x]
    for bits in (2, 6, 12, 52) if subject.n <= FEW_ROWS else ():
        witness = Witness("vector", x=tuple(Fraction(round(value * 2**bits), 2**bits) for value in x))
        if proves(subject, name, answer, witness):
            return witness
    witness = Witness("vector", x=tuple(x))
    return witness if proves(subject, name, answer, witness) else None


def negative_vector(subject: Subject, name: str, z: Vector) -> Witness | None:
    """The same for classes that x^T A x < 0 contradicts: where there are many rows, rounding errors are bounded."""
    if subject.n <= FEW_ROWS:
        return simplest_vector(subject, name, False, z.tolist())
    if not is_surely_negative(subject.matrix, z):
        return None
    return Witness("vector", x=tuple(Fraction(value) for value in (z * subject.scales).tolist()))
