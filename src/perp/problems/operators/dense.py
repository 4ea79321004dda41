"""A as a plain two-dimensional array."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels.storages import dense
from perp.problems import island_matrices
from perp.problems.inputs import EntriesLike, Matrix, Vector, as_matrix, as_vector
from perp.problems.operators.base import APPLY, DIAGONAL, FILLING, ROWS, SUBMATRIX, TO_SPARSE, Operator

if TYPE_CHECKING:
    from perp.problems.island_matrices import Couplings


class DenseOperator(Operator):
    """`DenseOperator(A)`: a read-only, C-ordered float64 copy of A. What `LCP(A, b)` makes of an array by itself."""

    abilities: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE})
    form = "dense"
    is_dense = True
    is_numbers = True

    def __init__(self, A: EntriesLike) -> None:
        self.matrix: Matrix = as_matrix(A, "A")
        rows, columns = self.matrix.shape
        if rows != columns:
            raise InvalidProblem(f"A has shape {self.matrix.shape}; a square matrix is needed")
        self.flat: Vector = self.matrix.reshape(-1)

    @property
    def n(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def stored(self) -> Matrix:
        return self.matrix

    def array(self) -> Matrix:
        return self.matrix

    def in_this_form(self, matrix: sparse.csr_array) -> Matrix:
        written_out: Matrix = matrix.toarray()
        return written_out

    def coupled_rows(self) -> Couplings:
        return island_matrices.CoupledEntries(self)

    def has_positive_coupling(self) -> bool:
        return int(np.count_nonzero(self.matrix > 0.0)) != int(np.count_nonzero(self.matrix.diagonal() > 0.0))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"A": self.matrix}

    def slack(self, x: Vector, b: Vector, out: Vector) -> Vector:
        dense.slack(self.flat, b, x, out)
        return out

    def diagonal(self) -> Vector:
        return self.matrix.diagonal().copy()

    def row_sizes(self) -> Vector:
        return np.asarray(np.maximum(self.matrix.max(axis=1, initial=0.0), -self.matrix.min(axis=1, initial=0.0)))

    def row(self, i: int) -> tuple[NDArray[Any], Vector]:
        columns = np.flatnonzero(self.matrix[i])
        return columns, self.matrix[i, columns]

    def submatrix(self, rows: Any, columns: Any) -> Matrix:
        return self.matrix[np.ix_(rows, columns)]

    def to_sparse(self) -> sparse.csr_array:
        with FILLING.work(4.0 * self.matrix.size):
            return sparse.csr_array(self.matrix)

    def to_dense(self) -> Matrix:
        with FILLING.work(self.matrix.size):
            return self.matrix.copy()

    def diagonal_blocks(self, size: int, count: int) -> NDArray[np.float64]:
        square = self.matrix[: size * count, : size * count].reshape(count, size, count, size)
        return np.ascontiguousarray(square.diagonal(axis1=0, axis2=2).transpose(2, 0, 1))

    def scale_rows(self, factors: Vector) -> DenseOperator | None:
        matrix = self.matrix * factors[:, None]
        return DenseOperator(matrix) if np.isfinite(matrix).all() else None

    def with_added_diagonal(self, added: Vector) -> DenseOperator:
        matrix = self.to_dense()
        matrix.reshape(-1)[:: self.n + 1] += as_vector(added, "added", self.n)
        return DenseOperator(matrix)

    def nonzeros(self) -> int:
        return int(np.count_nonzero(self.matrix))

    def work(self) -> int:
        return self.n * self.n

    @cached_property
    def asymmetry(self) -> float:
        largest = max(self.matrix.max(initial=0.0), -self.matrix.min(initial=0.0))
        if largest == 0.0:
            return 0.0
        return float(dense.asymmetry(self.flat, np.uint64(self.n)) / largest)

    def __reduce__(self) -> tuple[Any, ...]:
        return DenseOperator, (self.matrix,)
