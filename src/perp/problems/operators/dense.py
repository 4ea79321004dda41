"""A as a plain two-dimensional array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.problems.inputs import Matrix, Vector, as_matrix, freeze
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE, Operator


class DenseOperator(Operator):
    """`DenseOperator(A)`: a read-only, C-ordered float64 copy of A. What `LCP(A, b)` makes of an array by itself."""

    abilities = frozenset({APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE})
    form = "dense"

    def __init__(self, A: Any) -> None:
        self.matrix: Matrix = as_matrix(A, "A")
        if self.matrix.shape[0] != self.matrix.shape[1]:
            raise InvalidProblem(f"A has shape {self.matrix.shape}; a square matrix is needed")
        self.flat: Vector = self.matrix.reshape(-1)

    @property
    def n(self) -> int:
        return int(self.matrix.shape[0])

    def slack(self, x: Vector, b: Vector, out: Vector) -> Vector:
        from perp.kernels import dense

        dense.slack(self.flat, b, x, out)
        return out

    def diagonal(self) -> Vector:
        return self.matrix.diagonal().copy()

    def row(self, i: int) -> tuple[NDArray[Any], Vector]:
        columns = np.flatnonzero(self.matrix[i])
        return columns, self.matrix[i, columns]

    def submatrix(self, rows: Any, columns: Any) -> Matrix:
        return self.matrix[np.ix_(rows, columns)]

    def to_sparse(self) -> sparse.csr_array:
        return sparse.csr_array(self.matrix)

    def to_dense(self) -> Matrix:
        return self.matrix.copy()

    def scale_rows(self, factors: Vector) -> DenseOperator:
        scaled = DenseOperator.__new__(DenseOperator)
        scaled.matrix = freeze(self.matrix * factors[:, None])
        scaled.flat = scaled.matrix.reshape(-1)
        return scaled

    def nonzeros(self) -> int:
        return int(np.count_nonzero(self.matrix))

    def asymmetry(self) -> float:
        if self.n == 0:
            return 0.0
        largest = float(np.abs(self.matrix).max())
        return float(np.abs(self.matrix / largest - self.matrix.T / largest).max()) if largest > 0 else 0.0
