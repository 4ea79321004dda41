"""What an operator is: the matrix A of a problem, in whatever form the caller has it, and what it can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import MissingAbility
from perp.problems.deadline import Pace
from perp.problems.inputs import Matrix, Vector, as_vector, freeze

if TYPE_CHECKING:
    from perp.problems.files.archive import Archive

FILLING = Pace(1e8)
"""Entries of a full matrix a second that are written for the first time."""

APPLY = "apply"  #            y = A x
DIAGONAL = "diagonal"  #      the numbers A_ii
ROWS = "rows"  #              the nonzeros of one row
SUBMATRIX = "submatrix"  #    A[rows, columns]
TO_SPARSE = "to_sparse"  #    all of A as a SciPy CSR array


class Operator(ABC):
    """A square matrix that says what it can do.

    Methods state the abilities they need; `perp.solvers.fit` compares the two and refuses with a sentence.
    """

    abilities: ClassVar[frozenset[str]] = frozenset({APPLY})
    form: ClassVar[str]
    """How the matrix is held, in one word: for `info()` and for messages."""
    is_numbers: ClassVar[bool] = False
    """Whether A is made of read-only numbers and of nobody's code: a product computed once is what it would be now."""

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of rows."""

    @abstractmethod
    def slack(self, x: Vector, b: Vector, out: Vector) -> Vector:
        """out = A x + b, the one product that every method needs; returns `out`."""

    @property
    def shape(self) -> tuple[int, int]:
        return (self.n, self.n)

    @property
    def ability_set(self) -> frozenset[str]:
        """What this very operator can do (a matrix-free one may have been given its diagonal)."""
        return self.abilities

    def apply(self, x: Vector) -> Vector:
        """A x."""
        return self.slack(np.array(as_vector(x, "x", self.n)), freeze(np.zeros(self.n)), np.empty(self.n))

    __matmul__ = apply

    def diagonal(self) -> Vector:
        """The numbers A_ii, as a new array."""
        raise self._missing(DIAGONAL)

    def frozen_diagonal(self) -> Vector:
        """The same, read-only: no new array where the operator keeps one."""
        return freeze(self.diagonal())

    def row_sizes(self) -> Vector:
        """max_j |A_ij| of each row, for rows whose diagonal entry is zero; 0 where it cannot be told."""
        return np.zeros(self.n)

    def diagonal_blocks(self, size: int, count: int) -> NDArray[np.float64]:
        """The first `count` diagonal blocks of size x size, as a stack; the remaining rows are left out."""
        entries = self.to_sparse()[: size * count, : size * count].tocoo()
        inside = entries.row // size == entries.col // size
        row, column = entries.row[inside], entries.col[inside]
        blocks = np.zeros((count, size, size))
        blocks[row // size, row % size, column % size] = entries.data[inside]
        return blocks

    def row(self, i: int) -> tuple[NDArray[Any], Vector]:
        """Columns and values of the nonzeros of row i."""
        raise self._missing(ROWS)

    def submatrix(self, rows: Any, columns: Any) -> Any:
        """A[rows, columns]: a dense array or a CSR array, whichever this form gives naturally."""
        raise self._missing(SUBMATRIX)

    def to_sparse(self) -> sparse.csr_array:
        raise self._missing(TO_SPARSE)

    def to_dense(self) -> Matrix:
        with FILLING.work(float(self.n) ** 2):
            dense: Matrix = self.to_sparse().toarray()
        return dense

    def pull(self, u: Vector) -> tuple[Vector, Vector]:
        """A^T u, and |A|^T |u|, which its rounding errors are measured by."""
        matrix = self.to_sparse()
        return matrix.T @ u, abs(matrix).T @ np.abs(u)

    @property
    def pulls_unformed(self) -> bool:
        """Whether `pull` forms nothing that is not there anyway."""
        return self.nonzeros() is not None

    def scale_rows(self, factors: Vector) -> Operator | None:
        """diag(factors) A in the same form, or None where the form has no room for it."""
        return None

    def with_added_diagonal(self, added: Vector) -> Operator:
        """A + diag(added), in the same form where that has room for it, else in compressed rows."""
        from perp.problems.operators.sparse import SparseOperator  # which is made of this class

        return SparseOperator(self.to_sparse() + sparse.diags_array(as_vector(added, "added", self.n)))

    def nonzeros(self) -> int | None:
        """How many numbers of A are stored, or None where A is never formed."""
        return None

    @property
    def asymmetry(self) -> float | None:
        """max |A - A^T| / max |A|; None where that cannot be told without forming A."""
        return None

    def norm_bound(self) -> float | None:
        """A number that |A|_2 is not above, where it takes no more than a few products; None where none is known."""
        return None

    def rough_inverse(self) -> Callable[[Vector], Vector] | None:
        """r -> about A^-1 r, symmetric positive definite, for preconditioners; None where the form knows none."""
        return None

    def to_arrays(self) -> dict[str, NDArray[Any]] | None:
        """What a file keeps of it, by name; None where the form does not say."""
        return None

    @classmethod
    def from_arrays(cls, archive: Archive) -> Self:
        """The operator of these arrays, which come from a stranger."""
        raise NotImplementedError

    def work(self) -> int:
        """About how many multiplications a product takes: for the loop, which must guess the time of a first step."""
        return self.n

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        """So that `np.asarray(problem.A)` is the matrix."""
        return self.to_dense() if dtype is None else self.to_dense().astype(dtype)

    def _missing(self, ability: str) -> MissingAbility:
        return MissingAbility(f"a {self.form} operator cannot give '{ability}'; it can: {sorted(self.ability_set)}")

    def __repr__(self) -> str:
        return f"<{self.form} operator, {self.n} x {self.n}>"
