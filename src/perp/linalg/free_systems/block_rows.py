"""Systems (E + G A) dx = r with block-diagonal E and G: the Newton equations of contact laws.

* **dense**: the full matrix, by LU;
* **sparse**: the same through SuperLU;
* **body**: for A = J M^-1 J^T + C, with the velocity v = M^-1 J^T dx put back and dx eliminated,

      (M + J^T H^-1 G J) v = J^T H^-1 r,    dx = H^-1 (r - G J v),    H = E + G C,

  which has as many rows as there are velocities, however many contacts there are. H must not be singular.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.kernels import blas
from perp.kernels.factors import dense_factors
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems.body import movable_parts
from perp.linalg.paces import DENSE, SuperLuTime
from perp.problems.deadline import now
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator
from perp.problems.operators.base import Operator
from perp.problems.operators.masses import factor_sparse

BLOCK_SPACES = ("auto", "dense", "sparse", "body")

SMALL = 120
"""Rows up to which a full matrix is quickest, whatever A looks like."""

FILLED = 0.2
"""A sparse A with a larger share of nonzeros is factored as a full matrix."""

SYMMETRIC_PATTERN: dict[str, Any] = {
    "permc_spec": "MMD_AT_PLUS_A",
    "diag_pivot_thresh": 0.01,
    "options": {"SymmetricMode": True},
}
"""For SuperLU: M + J^T H^-1 G J has the pattern of a symmetric matrix, and mostly large pivots on its diagonal."""

Blocks = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class BlockDiagonal:
    """Square blocks, one a contact, and after them a diagonal. Sums run in a fixed order, whatever BLAS is there."""

    blocks: Blocks
    diagonal: Vector

    @property
    def split(self) -> int:
        """Where the diagonal begins."""
        return int(self.blocks.shape[0] * self.blocks.shape[1])

    def apply(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product with a vector or with a matrix."""
        columns = v.reshape(len(v), -1)
        stack = columns[: self.split].reshape(*self.blocks.shape[:2], columns.shape[1])
        product = np.empty(columns.shape)
        product[: self.split] = np.einsum("cij,cjk->cik", self.blocks, stack).reshape(self.split, columns.shape[1])
        product[self.split :] = self.diagonal[:, None] * columns[self.split :]
        return product.reshape(v.shape)

    def inverse(self) -> BlockDiagonal:
        """Raises NotFinite where a block is singular."""
        try:
            blocks = np.asarray(np.linalg.inv(self.blocks), dtype=np.float64)
        except np.linalg.LinAlgError:
            raise NotFinite("a block is singular") from None
        return BlockDiagonal(blocks, 1.0 / self.diagonal)

    def times(self, other: BlockDiagonal) -> BlockDiagonal:
        return BlockDiagonal(np.einsum("cij,cjk->cik", self.blocks, other.blocks), self.diagonal * other.diagonal)

    def plus_scaled_columns(self, other: BlockDiagonal, factors: Vector) -> BlockDiagonal:
        """self + other diag(factors)."""
        contacts = factors[: self.split].reshape(self.blocks.shape[0], 1, self.blocks.shape[1])
        return BlockDiagonal(
            self.blocks + other.blocks * contacts, self.diagonal + other.diagonal * factors[self.split :]
        )

    def to_sparse(self) -> sparse.csr_array:
        count, width, _ = self.blocks.shape
        own = np.arange(self.split).reshape(count, width)
        row = np.concatenate([np.repeat(own, width, axis=1).reshape(-1), np.arange(self.split, self.n)])
        column = np.concatenate([np.tile(own, (1, width)).reshape(-1), np.arange(self.split, self.n)])
        numbers = np.concatenate([self.blocks.reshape(-1), self.diagonal])
        return sparse.csr_array((numbers, (row, column)), shape=(self.n, self.n))

    @property
    def n(self) -> int:
        return self.split + self.diagonal.size


class BlockSystem(ABC):
    """`factor(E, G)`, which raises NotFinite where the matrix is singular, then `solve(r)`."""

    factorisations = 0

    @abstractmethod
    def factor(self, E: BlockDiagonal, G: BlockDiagonal) -> None: ...

    @abstractmethod
    def solve(self, r: Vector) -> Vector: ...


class DenseBlocks(BlockSystem):
    def __init__(self, A: Operator) -> None:
        n = A.n
        self._A, self._address = np.array(A.to_dense()), blas.product_address()
        self._factor, self._exchange = np.empty(n * n), np.empty(n, dtype=np.int64)
        self._work = (
            self._exchange,
            np.empty(dense_factors.BLOCK * dense_factors.BLOCK),
            np.empty(n * dense_factors.BLOCK),
        )
        dense_factors.factor_lu(self._address, self._factor, 0, np.empty(0), *self._work)  # loads the kernels
        dense_factors.solve_lu(self._factor, 0, self._exchange, np.empty(0))

    def factor(self, E: BlockDiagonal, G: BlockDiagonal) -> None:
        self.factorisations += 1
        n = G.n
        operations = 2.0 * n**3 / 3.0
        begun = DENSE.require(operations)
        matrix = G.apply(self._A)
        count, width, _ = E.blocks.shape
        own = np.arange(E.split).reshape(count, width)
        matrix[own[:, :, None], own[:, None, :]] += E.blocks
        matrix[np.arange(E.split, n), np.arange(E.split, n)] += E.diagonal
        self._factor[:] = matrix.T.reshape(-1)
        singular = int(dense_factors.factor_lu(self._address, self._factor, n, np.zeros(n), *self._work)) != 0
        DENSE.learn(operations, now() - begun)
        if singular:
            raise NotFinite("the matrix is singular, or not finite")

    def solve(self, r: Vector) -> Vector:
        dx = r.copy()
        dense_factors.solve_lu(self._factor, r.size, self._exchange, dx)
        return dx


class SparseBlocks(BlockSystem):
    def __init__(self, A: Operator) -> None:
        self._A, self._time = A.to_sparse(), SuperLuTime()

    def factor(self, E: BlockDiagonal, G: BlockDiagonal) -> None:
        self.factorisations += 1
        self._lu = _decompose(G.to_sparse() @ self._A + E.to_sparse(), self._time)

    def solve(self, r: Vector) -> Vector:
        dx: Vector = self._lu.solve(r)
        return dx


class BodyBlocks(BlockSystem):
    def __init__(self, A: FactoredOperator) -> None:
        self._J, self._mass = movable_parts(A)
        self._J_transposed = sparse.csr_array(self._J.T)
        self._compliance, self._time = A.compliance, SuperLuTime()

    def factor(self, E: BlockDiagonal, G: BlockDiagonal) -> None:
        self.factorisations += 1
        self._G = G
        self._inverse = E.plus_scaled_columns(G, self._compliance).inverse()
        between = self._inverse.times(G).to_sparse()
        K = self._mass + self._J_transposed @ (between @ self._J)
        self._lu = _decompose(K, self._time, **SYMMETRIC_PATTERN)

    def solve(self, r: Vector) -> Vector:
        v = self._lu.solve(self._J_transposed @ self._inverse.apply(r))
        return self._inverse.apply(r - self._G.apply(self._J @ v))


def choose_block_system(A: Operator, space: str) -> BlockSystem:
    """The system that `space` names; "auto" compares sizes."""
    if space == "auto":
        space = _quickest_space(A)
    if space == "body":
        assert A.factored is not None
        return BodyBlocks(A.factored)
    return SparseBlocks(A) if space == "sparse" else DenseBlocks(A)


def _quickest_space(A: Operator) -> str:
    if A.n <= SMALL or A.is_dense:
        return "dense"
    if A.factored is not None:
        return "body"
    nonzeros = A.nonzeros()
    return "dense" if nonzeros is not None and nonzeros > FILLED * A.n * A.n else "sparse"


def _decompose(matrix: Any, time: SuperLuTime, **options: Any) -> Any:
    try:
        with time.work(matrix):
            return factor_sparse(matrix, **options)
    except (RuntimeError, ValueError) as error:  # 'Factor is exactly singular', or numbers that are not finite
        raise NotFinite(str(error)) from None
