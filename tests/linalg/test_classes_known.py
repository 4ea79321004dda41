"""`classify` on matrices whose classes are known by hand, borderline ones among them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import perp
from perp.linalg.classes import CLASSES, check_witness, classify


def answers(A) -> dict[str, bool | None]:
    """All answers, after every witness has been checked."""
    result = classify(A, max_seconds=20.0)
    for verdict in result:
        if verdict.answer is False or verdict.witness is not None:
            assert check_witness(A, verdict), str(verdict)
    return {verdict.name: verdict.answer for verdict in result}


def members(A) -> set[str]:
    found = answers(A)
    assert None not in found.values()
    return {name for name, answer in found.items() if answer}


SUFFICIENT = {"column_sufficient", "row_sufficient", "sufficient"}
SEMIDEFINITE = {"positive_semidefinite", "P0", "copositive"} | SUFFICIENT
DEFINITE = SEMIDEFINITE | {"positive_definite", "P", "strictly_copositive"}
COPOSITIVE = {"copositive", "strictly_copositive"}
P_MATRIX = {"P", "P0"} | SUFFICIENT

KNOWN = {
    "identity": (np.eye(3), set(CLASSES)),
    "zero": (np.zeros((3, 3)), SEMIDEFINITE | {"symmetric", "Z"}),
    "one negative number": ([[-1.0]], {"symmetric", "Z"}),
    "all ones, singular": (np.ones((4, 4)), SEMIDEFINITE | {"symmetric", "strictly_copositive"}),
    "skew": ([[0.0, 2.0], [-2.0, 0.0]], SEMIDEFINITE),
    "murty, whose A + A^T is 2 e e^T": (
        perp.gallery.make("murty", n=6).problem,
        SEMIDEFINITE | P_MATRIX | COPOSITIVE | {"H_plus"},
    ),
    "three above the diagonal": (np.eye(4) + 3 * np.triu(np.ones((4, 4)), 1), P_MATRIX | COPOSITIVE | {"H_plus"}),
    "circulant": ([[1, 0, 2], [2, 1, 0], [0, 2, 1]], SEMIDEFINITE | P_MATRIX | COPOSITIVE),
    "large circulant": ([[1, 0, 3], [3, 1, 0], [0, 3, 1]], P_MATRIX | COPOSITIVE),
    "block pivots cycle": (perp.gallery.make("block_pivot_cycle").problem, P_MATRIX | COPOSITIVE),
    "lemke ray": ([[0, 1], [1, 0]], {"symmetric", "copositive"}),
    "unsolvable": ([[2, 1], [1, -1]], {"symmetric"}),
    "laplacian": ([[2, -1, 0], [-1, 2, -1], [0, -1, 2]], DEFINITE | {"symmetric", "Z", "M", "H_plus"}),
    "closed laplacian": ([[1, -1, 0], [-1, 2, -1], [0, -1, 1]], SEMIDEFINITE | {"symmetric", "Z"}),
    "horn, copositive but no sum of the simple kinds": (
        [[1, -1, 1, 1, -1], [-1, 1, -1, 1, 1], [1, -1, 1, -1, 1], [1, 1, -1, 1, -1], [-1, 1, 1, -1, 1]],
        {"symmetric", "copositive"},
    ),
    "row but not column sufficient": ([[1, -2], [0, 0]], {"Z", "P0", "row_sufficient"}),
    "column but not row sufficient": ([[1, 0], [-2, 0]], {"Z", "P0", "column_sufficient"}),
    "sufficient, neither P nor semi-definite": ([[0, 1], [-2, 0]], {"P0"} | SUFFICIENT),
    "P0 only": ([[0, 1], [0, 0]], {"P0", "copositive"}),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_matrices_are_in_the_classes_they_belong_to(name):
    A, expected = KNOWN[name]
    assert members(A) == expected


@pytest.mark.parametrize(("n", "definite"), [(12, True), (13, True), (14, False)])
def test_rounding_its_entries_makes_the_hilbert_matrix_indefinite_from_14_rows_on(n, definite):
    A = perp.gallery.make("hilbert", n=n).problem.A.to_dense()
    verdict = classify(A).positive_definite
    assert verdict.answer is definite
    assert (_least_pivot(A) > 0) is definite
    assert definite or check_witness(A, verdict)


def _least_pivot(A) -> Fraction:
    """The least pivot of elimination in fractions, without exchanges."""
    work = [[Fraction(value) for value in row] for row in A.tolist()]
    pivots = []
    for k in range(len(work)):
        pivots.append(work[k][k])
        for i in range(k + 1, len(work)):
            factor = work[i][k] / work[k][k]
            work[i] = [a - factor * b for a, b in zip(work[i], work[k], strict=True)]
    return min(pivots)


@pytest.mark.parametrize("side", [1, -1])
def test_the_last_digit_of_an_entry_decides(side):
    """det of [[1, 1], [1, 1 + e]] is e: one unit in the last place is seen, in every class that depends on it."""
    A = np.array([[1.0, 1.0], [1.0, np.nextafter(1.0, 1.0 + side)]])
    found = answers(A)
    assert (found["positive_definite"], found["P"], found["P0"]) == (side > 0,) * 3
    B = np.array([[1.0, -1.0], [-1.0, A[1, 1]]])
    found = answers(B)
    assert (found["copositive"], found["strictly_copositive"], found["M"]) == (side > 0,) * 3


def test_the_matrix_of_stewart_and_trinkle_is_copositive_and_not_semi_definite():
    """B = J J^T of one contact at a point of unit mass: |x_n e_n + sum_i x_i t_i|^2 + mu x_n beta >= 0 for x >= 0."""
    contact = perp.ContactProblem(np.eye(3), [-1.0, 0.5, 0.0], [0.5])
    A = perp.stewart_trinkle(contact).A.to_dense().round(12)
    found = answers(A)
    assert found["copositive"]
    assert not found["positive_semidefinite"]
    assert not found["strictly_copositive"]


@pytest.mark.parametrize("n", [19, 20])
def test_circulants_are_P_for_odd_n_only_and_error_bounds_settle_it(n):
    """det(I + 2 C) = 1 - (-2)^n for the cyclic shift C, and every smaller minor is 1."""
    A = np.eye(n) + 2.0 * np.roll(np.eye(n), 1, axis=1)
    result = classify(A, classes=["P", "P0", "column_sufficient", "row_sufficient"], max_seconds=60.0)
    for name in ("P", "P0", "column_sufficient", "row_sufficient"):
        assert result[name].answer is (n % 2 == 1)
        if n % 2 == 0:
            assert check_witness(A, result[name])


def test_units_change_nothing():
    """D A D with entries that span 290 decades has the classes of A."""
    D = np.ldexp(1.0, [-240, 3, 245])
    cycle, laplacian = [[1, 2, -3], [0, 1, -1], [3, 0, 1]], [[2, -1, 0], [-1, 2, -1], [0, -1, 2]]
    for rows in (cycle, laplacian, [[1, -2, 0], [0, 0, 0], [0, 0, 1]]):
        A = np.array(rows, dtype=float)
        assert answers(D[:, None] * A * D) == answers(A)
