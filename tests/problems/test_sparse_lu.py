"""The guard before SuperLU."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import perp
from perp.errors import InvalidProblem
from perp.problems.operators.masses import factor_sparse


def test_a_regular_matrix_with_holes_in_its_diagonal_is_factored():
    matrix = sparse.csr_array([[0.0, 2.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 3.0]])
    np.testing.assert_allclose(matrix @ factor_sparse(matrix).solve(np.ones(3)), np.ones(3))


def test_a_pattern_that_is_singular_never_reaches_superlu():
    matrix = sparse.csr_array(np.array([[1.0, 1, 1], [1, 0, 0], [1, 0, 0]]))  # two rows share one column
    with pytest.raises(RuntimeError, match="pattern"):
        factor_sparse(matrix)


def test_a_mass_with_an_empty_row_is_refused():
    with pytest.raises(InvalidProblem, match="not positive definite"):
        perp.SparseMass(sparse.csr_array(np.diag([1.0, 0.0, 1.0])))


def test_a_free_system_whose_pattern_is_singular_is_a_status_and_no_crash():
    A = np.zeros((6, 6))
    A[0, :] = A[:, 0] = 1.0
    A[0, 1] = 2.0
    problem = perp.BoxLCP(sparse.csr_array(A), np.arange(6.0), -np.inf, np.inf)  # no solution
    for method in ("block_principal", "minimum_map", "fischer"):
        assert not perp.solve(problem, method, max_iterations=20).success
