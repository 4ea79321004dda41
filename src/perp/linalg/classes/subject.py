"""The matrix under question, in the forms that the tests read, scaled by powers of two."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.problems.exact_elimination import Integers, symmetric_sum, to_integers
from perp.problems.inputs import Matrix, MatrixLike, Vector
from perp.problems.operators import Operator, as_operator
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

DENSE_ROWS = 500
"""Matrices of up to so many rows are looked at as dense ones, whatever form they come in."""

UNIT = 2.0**-53
"""The unit roundoff of float64."""

TINY = 2.0**-1000
"""More than all that underflow can lose in a sum of products."""


def read_operator(A: MatrixLike | Problem) -> Operator:
    """The operator of a problem, or of whatever a problem could be made from."""
    return A.A if isinstance(A, Problem) else as_operator(A)


class Subject:
    """A, and D A D with a diagonal D of powers of two that brings diagonal entries into [1, 4).

    All classes but symmetry and the signs of entries are looked for in D A D, which has the same classes: its numbers
    are those of A with other exponents, so that nothing is rounded (where that would overflow, D = I). A vector z found
    there is x = D z here.
    """

    operator: Operator

    def __init__(self, A: MatrixLike | Problem) -> None:
        self.operator = operator = read_operator(A)
        self.n: int = operator.n
        self.known: bool = TO_SPARSE in operator.ability_set
        """Whether entries of A can be had at all."""
        self.factored: bool = operator.factored is not None
        self.is_dense: bool = operator.is_dense or self.n <= DENSE_ROWS

    @property
    def name(self) -> str:
        """What the verdicts are about."""
        if self.factored:
            return "the matrix J M^-1 J^T + C (symmetric and semi-definite as such; other classes as formed in float64)"
        return f"the {self.operator.form} matrix A" if self.known else f"a {self.operator.form} operator"

    @cached_property
    def given(self) -> Matrix | sparse.csr_array:
        """A as it is."""
        return self.operator.to_dense() if self.is_dense else self.operator.to_sparse()

    @cached_property
    def scales(self) -> Vector:
        """The diagonal of D."""
        matrix = self.given
        size = np.abs(matrix.diagonal())
        if not size.all():
            rows = abs(matrix).max(axis=1)
            size = np.where(size == 0, rows if self.is_dense else rows.toarray(), size)
        _, exponent = np.frexp(size)
        scales = np.where(size == 0, 1.0, np.ldexp(1.0, -((exponent - 1) // 2)))
        with np.errstate(over="ignore", under="ignore"):
            there = _scale(matrix, scales)
            back = _scale(there, 1.0 / scales)
        same = np.array_equal(_data(back), _data(matrix)) and np.isfinite(_data(there)).all()
        return scales if same else np.ones(self.n)

    @cached_property
    def matrix(self) -> Any:
        """D A D, dense or as compressed rows."""
        return _scale(self.given, self.scales)

    @cached_property
    def dense(self) -> Matrix:
        dense: Matrix = self.matrix
        assert self.is_dense
        return dense

    @cached_property
    def diagonal(self) -> Vector:
        diagonal: Vector = self.matrix.diagonal()
        return diagonal

    @cached_property
    def integers(self) -> Integers:
        """D A D times a power of two, exactly."""
        return to_integers(self.dense)

    @cached_property
    def doubled(self) -> Integers:
        """D (A + A^T) D times a power of two, exactly."""
        return symmetric_sum(self.integers)

    @cached_property
    def symmetric_part(self) -> tuple[Any, float]:
        """D (A + A^T) D, and a bound of the norm of what rounding did to it (0 for a symmetric A)."""
        total = self.matrix + self.matrix.T
        if self.is_symmetric:
            return total, 0.0
        return total, 2.0 * UNIT * float(abs(total).sum(axis=1).max(initial=0.0)) + self.n * TINY

    @cached_property
    def is_symmetric(self) -> bool:
        """Exactly."""
        if self.factored:
            return True
        if self.is_dense:
            return bool(np.array_equal(self.given, self.given.T))
        return bool((self.given != self.given.T).nnz == 0)


def is_surely_negative(matrix: Any, x: Vector) -> bool:
    """Whether x^T A x < 0 for all rounding errors: gamma_(2n) |x|^T |A| |x|."""
    doubt = 2.0 * (2 * x.size + 4) * UNIT * float(np.abs(x) @ (abs(matrix) @ np.abs(x))) + TINY
    return float(x @ (matrix @ x)) < -doubt


def _scale(matrix: Any, scales: Vector) -> Any:
    if isinstance(matrix, np.ndarray):
        return matrix * scales[:, None] * scales
    scaled = matrix.copy()
    scaled.data = matrix.data * np.repeat(scales, np.diff(matrix.indptr)) * scales[matrix.indices]
    return scaled


def _data(matrix: Any) -> NDArray[np.float64]:
    return matrix if isinstance(matrix, np.ndarray) else matrix.data
