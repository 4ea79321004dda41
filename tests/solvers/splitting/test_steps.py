"""What a visit of a row divides by."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from scipy.sparse.linalg import aslinearoperator

import perp
from perp.solvers.splitting.sweeps import steps


@given(strategies.contact_problems())
def test_tangents_of_a_disc_divide_by_the_larger_eigenvalue_of_their_block(problem):
    expected = 1.3 / problem.A.to_dense().diagonal()
    if problem.has_discs:
        A = problem.A.to_dense()
        for c in range(problem.contacts):
            rows = [3 * c + 1, 3 * c + 2]
            expected[rows] = 1.3 / np.linalg.eigvalsh(A[np.ix_(rows, rows)])[1]
    np.testing.assert_allclose(steps(problem, 1.3), expected, rtol=1e-13)


def contact(block, model="cone"):
    A = np.eye(3)
    A[1:, 1:] = block
    return perp.ContactProblem(A, np.zeros(3), 0.5, model)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_the_larger_eigenvalue_neither_overflows_nor_vanishes(size):
    block = size * np.array([[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(steps(contact(block), 1.0)[1:], 1.0 / (3.0 * size), rtol=1e-14)


def test_a_block_that_is_not_symmetric_counts_with_its_symmetric_part():
    np.testing.assert_allclose(steps(contact([[2.0, 3.0], [-1.0, 2.0]]), 1.0)[1:], 1.0 / 3.0, rtol=1e-14)


def test_rows_without_positive_stiffness_are_not_moved():
    np.testing.assert_array_equal(steps(perp.LCP(np.diag([2.0, 0.0, -1.0]), np.zeros(3)), 1.0), [0.5, 0.0, 0.0])


def test_where_a_cannot_show_the_block_the_sum_of_its_diagonal_stands_in():
    A = perp.MatrixFreeOperator(aslinearoperator(np.diag([1.0, 2.0, 3.0])), diagonal=[1.0, 2.0, 3.0])
    np.testing.assert_array_equal(steps(perp.ContactProblem(A, np.zeros(3), 0.5, "cone"), 1.0), [1.0, 0.2, 0.2])
