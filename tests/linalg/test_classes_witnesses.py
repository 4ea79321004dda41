"""`check_witness`: it accepts what proves, refuses what does not, and does not take the word of who found it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from perp.linalg.classes import Verdict, Witness, check_witness, classify


def vector(*x) -> Witness:
    return Witness("vector", x=tuple(map(Fraction, x)))


def curvature(*x) -> Witness:
    return Witness("curvature", x=tuple(map(Fraction, x)))


SKEW, RAY, ONES = [[0, 2], [-2, 0]], [[0, 1], [1, 0]], [[1, 1], [1, 1]]
LAPLACE, CLOSED = [[2, -1], [-1, 2]], [[1, -1], [-1, 1]]

GOOD = [
    ("symmetric", SKEW, False, Witness("entry", (0, 1))),
    ("Z", ONES, False, Witness("entry", (1, 0))),
    ("M", ONES, False, Witness("entry", (1, 0))),
    ("M", CLOSED, False, vector(1, 1)),
    ("M", CLOSED, False, curvature(1, 1)),
    ("M", LAPLACE, True, vector(1, 1)),
    ("H_plus", SKEW, False, Witness("entry", (1, 1))),
    ("H_plus", ONES, False, vector(1, 1)),
    ("H_plus", [[2, 1], [1, 2]], True, vector(1, 1)),
    ("positive_definite", ONES, False, vector(1, -1)),
    ("positive_semidefinite", RAY, False, vector(Fraction(1, 3), -1)),
    ("P", ONES, False, Witness("minor", (0, 1))),
    ("P", ONES, False, vector(1, -1)),
    ("P", ONES, False, curvature(1, -1)),
    ("P0", RAY, False, Witness("minor", (0, 1))),
    ("P0", RAY, False, curvature(1, -1)),
    ("copositive", [[1, -2], [-2, 1]], False, vector(1, 1)),
    ("strictly_copositive", CLOSED, False, vector(1, 1)),
    ("column_sufficient", [[1, -2], [0, 0]], False, vector(1, 1)),
    ("row_sufficient", [[1, 0], [-2, 0]], False, vector(1, 1)),
    ("sufficient", [[1, 0], [-2, 0]], False, vector(1, 1)),
    ("sufficient", RAY, False, curvature(1, -1)),
    ("P0", [[1, -2], [-2, 1]], False, vector(1, 1)),
    ("row_sufficient", [[1, 2], [2, 1]], False, Witness("minor", (0, 1))),
]
BAD = [
    ("symmetric", ONES, False, Witness("entry", (0, 1))),
    ("Z", SKEW, False, Witness("entry", (1, 0))),
    ("Z", LAPLACE, False, Witness("entry", (0, 0))),
    ("M", LAPLACE, False, Witness("entry", (0, 0))),
    ("M", LAPLACE, False, vector(1, 1)),
    ("M", [[2, 1], [1, 2]], True, vector(1, 1)),
    ("M", LAPLACE, True, vector(1, 0)),
    ("H_plus", CLOSED, True, vector(1, 1)),
    ("H_plus", [[1, -3], [-3, 1]], False, vector(1, -1)),
    ("positive_definite", ONES, False, vector(0, 0)),
    ("positive_definite", LAPLACE, False, vector(1, 1)),
    ("positive_semidefinite", ONES, False, vector(1, -1)),
    ("P", RAY, False, Witness("minor", ())),
    ("P", RAY, False, Witness("minor", (0, 0))),
    ("P", LAPLACE, False, Witness("minor", (0, 1))),
    ("P", [[1, 4], [-4, 1]], False, curvature(1, -1)),
    ("P0", ONES, False, Witness("minor", (0, 1))),
    ("P0", CLOSED, False, vector(1, 1)),
    ("P0", [[1, 4], [0, 1]], False, curvature(1, -1)),
    ("copositive", RAY, False, vector(1, -1)),
    ("copositive", CLOSED, False, vector(1, 1)),
    ("column_sufficient", SKEW, False, vector(1, 1)),
    ("column_sufficient", [[1, 0], [-2, 0]], False, vector(1, 1)),
    ("column_sufficient", SKEW, False, Witness("minor", (0, 1))),
    ("positive_definite", ONES, True, vector(1, -1)),
    ("positive_definite", ONES, False, vector(1, -1, 0)),
]


@pytest.mark.parametrize(("name", "A", "answer", "witness"), GOOD)
def test_what_proves_is_accepted(name, A, answer, witness):
    assert check_witness(A, Verdict(name, answer, "by hand", witness))


@pytest.mark.parametrize(("name", "A", "answer", "witness"), BAD)
def test_what_proves_nothing_is_refused(name, A, answer, witness):
    assert not check_witness(A, Verdict(name, answer, "by hand", witness))


def test_a_verdict_without_witness_cannot_be_checked():
    with pytest.raises(ValueError, match="'symmetric' has no witness"):
        check_witness(LAPLACE, Verdict("symmetric", True, "by hand"))
    with pytest.raises(ValueError, match="no witness"):
        check_witness(LAPLACE, Verdict("P", None, "by hand", vector(1, 1)))


def test_the_check_is_exact_where_floats_round():
    """x^T A x is 2^-104 for A = [[1, -1], [-1, 1 + 2^-52]], x = (1 + 2^-52, 1), up to sign: floats see zero."""
    A = np.array([[1.0, -1.0], [-1.0, 1.0 - 2.0**-52]])
    found = classify(A).positive_semidefinite
    assert found.answer is False
    assert check_witness(A, found)
    A[1, 1] = 1.0
    assert not check_witness(A, found)


def test_a_null_vector_that_floats_cannot_hold_is_a_witness():
    """The null vector of v v^T with v = (1, 3, 10^17 + 1), orthogonal to v, exactly."""
    v = np.array([3.0, 7.0, 2.0**50 + 1.0])
    A = np.outer(v, v) * np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]) + np.diag([0.0, 0.0, 1.0])
    found = classify(A)
    assert found.positive_semidefinite
    assert found.positive_definite.answer is False
    assert check_witness(A, found.positive_definite)


def test_a_witness_shows_its_vector_as_floats():
    witness = vector(Fraction(1, 3), -2)
    np.testing.assert_allclose(witness.vector, [1 / 6, -1.0])
    assert str(witness) == "x = (0.1667, -1)"
    assert str(vector(*[0] * 9, -3)) == "x = -1 in row 9, else 0"
    assert str(Witness("minor", (0, 2))) == "rows (0, 2)"
    assert "30 rows" in str(Witness("minor", tuple(range(30))))


def test_changing_a_number_of_the_matrix_makes_a_witness_worthless():
    A = np.array([[1.0, 2.0, -3.0], [0.0, 1.0, -1.0], [3.0, 0.0, 1.0]])
    for verdict in classify(A):
        if verdict.answer is False:
            assert check_witness(A, verdict)
            assert not check_witness(np.eye(3), verdict)
            flipped = replace(verdict, answer=True)
            assert not check_witness(A, flipped)
