"""Any sparse symmetric positive definite mass matrix: joint-space inertia, finite elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.problems.inputs import EntriesLike
from perp.problems.operators.sparse import as_csr, csr_arrays
from perp.problems.operators.sparse_lu import factor_sparse

COLUMNS_AT_ONCE = 256
"""How many columns of M^-1 J^T are solved for together."""


class SparseMass:
    """Any symmetric positive definite M, factored once by SuperLU with diagonal pivots.

    With diagonal pivots M = L U has L^T = D^-1 U, so that M is positive definite exactly when every pivot is positive.
    """

    def __init__(self, M: EntriesLike) -> None:
        self.matrix: sparse.csr_array = as_csr(M, "M")
        rows, columns = self.matrix.shape
        if rows != columns:
            raise InvalidProblem(f"M has shape {self.matrix.shape}; a square matrix is needed")
        largest = np.abs(self.matrix.data).max(initial=0.0)
        skew = np.abs((self.matrix - self.matrix.T).data).max(initial=0.0)
        if skew > 1e-12 * largest:
            raise InvalidProblem(f"M is not symmetric: max |M - M^T| = {skew:.2e}, max |M| = {largest:.2e}")
        try:
            self.factor: Any = factor_sparse(
                self.matrix,
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError as error:
            raise InvalidProblem(f"M is not positive definite: {error}") from None
        diagonal_pivots = np.array_equal(self.factor.perm_r, self.factor.perm_c)
        if rows and not (diagonal_pivots and self.factor.U.diagonal().min() > 0.0):
            raise InvalidProblem("M is not positive definite: a pivot of its factor is not positive")

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"M.form": np.array("sparse")} | csr_arrays("M", self.matrix)

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseMass, (self.matrix,)  # the factor of SuperLU does not travel: it is made again

    @property
    def dofs(self) -> int:
        return int(self.matrix.shape[0])

    def solve(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        solution: NDArray[np.float64] = self.factor.solve(np.ascontiguousarray(f))
        return solution

    def scale_rows(self, J: sparse.csr_array) -> sparse.csr_array:
        """A few columns of M^-1 J^T at a time, so that the dense block stays small."""
        parts = []
        for start in range(0, J.shape[0], COLUMNS_AT_ONCE):
            block = J[start : start + COLUMNS_AT_ONCE].T.toarray()
            parts.append(sparse.csr_array(self.solve(block).T))
        return as_csr(sparse.vstack(parts, format="csr") if parts else sparse.csr_array(J.shape), "W")

    def to_sparse(self) -> sparse.csr_array:
        return self.matrix.copy()
