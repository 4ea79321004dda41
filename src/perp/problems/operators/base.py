"""What an operator is: the matrix A of a problem, in whatever form the caller has it, and what it can do.

Who forms a matrix that its owner keeps without forming it says so: in the log, and in the notes of a result.

A stencil of two million cells costs two vectors; its rows, once formed, cost twenty. Methods that need rows get them,
but nobody should have to guess which methods these are.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import FileFormatError, MissingAbility
from perp.problems import operators
from perp.problems.deadline import Pace
from perp.problems.inputs import Matrix, Vector, as_vector, freeze
from perp.problems.models import restatement
from perp.problems.operators import sparse as sparse_operator

if TYPE_CHECKING:
    from perp.problems.files.archive import Archive
    from perp.problems.island_matrices import Couplings
    from perp.problems.operators.factored import FactoredOperator
    from perp.problems.operators.stencil import StencilOperator


logger: logging.Logger = logging.getLogger("perp")

_listening: ContextVar[tuple[list[str], ...]] = ContextVar("perp_listening_for_forming", default=())

FILLING = Pace(1e8)
"""Entries of a full matrix a second that are written for the first time."""

APPLY = "apply"  #            y = A x

DIAGONAL = "diagonal"  #      the numbers A_ii

ROWS = "rows"  #              the nonzeros of one row

SUBMATRIX = "submatrix"  #    A[rows, columns]

TO_SPARSE = "to_sparse"  #    all of A as a SciPy CSR array


@contextmanager
def listen_for_forming(notes: list[str]) -> Iterator[None]:
    """`notes` gets a sentence for whatever is formed inside the block, which may be nested; threads do not mix."""
    token = _listening.set((*_listening.get(), notes))
    try:
        yield
    finally:
        _listening.reset(token)


def tell_forming(sentence: str) -> None:
    """Tell the log and everyone who listens; what the notes have already is not repeated."""
    logger.info(sentence)
    for notes in _listening.get():
        if sentence not in notes:
            notes.append(sentence)


class Operator(ABC):
    """A square matrix that says what it can do.

    Methods state the abilities they need; `perp.solvers.method` compares them and refuses with a sentence. Nobody asks
    for the class of an operator: what only some storages have is a property that is None for the others (`stored`,
    `factored`, `stencil`, `row_groups`), and what they do differently is a method.
    """

    abilities: ClassVar[frozenset[str]] = frozenset({APPLY})
    form: ClassVar[str]
    """How the matrix is held, in one word: for `info()` and for messages."""
    is_numbers: ClassVar[bool] = False
    """Whether A is made of read-only numbers and of nobody's code: a product computed once is what it would be now."""

    is_dense: ClassVar[bool] = False
    """Whether zeros are held, too, so that a sparse factor or product saves nothing."""

    row_groups: NDArray[np.intp] | None = None
    """A number for each row, the same for rows that belong together; None where that is not known."""

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

    @property
    def stored(self) -> Matrix | sparse.csr_array | None:
        """All numbers of A as they are held, read-only: an array or compressed rows; None where A is held otherwise."""
        return None

    @property
    def factored(self) -> FactoredOperator | None:
        """A as J M^-1 J^T + C, where it is held so: then there is a body space."""
        return None

    @property
    def stencil(self) -> StencilOperator | None:
        """A as a stencil on a grid, where it is held so."""
        return None

    @property
    def conversion(self) -> str | None:
        """What was done to the caller's matrix as it was taken in, in words."""
        return None

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

    def written_out(self) -> Matrix | sparse.csr_array:
        """All numbers of A, read-only: an array where zeros are held, else compressed rows."""
        return self.to_sparse() if self.stored is None else self.stored

    def array(self) -> Matrix:
        """A as an array that nobody may write to; a new one only where there is none."""
        return self.to_dense()

    def compressed(self) -> sparse_operator.SparseOperator:
        """A in compressed rows; itself where it is."""
        return sparse_operator.SparseOperator(self.to_sparse())

    def in_this_form(self, matrix: sparse.csr_array) -> Matrix | sparse.csr_array:
        """Another matrix as an array where A holds its zeros, else as it is."""
        return matrix

    def restrict(self, rows: NDArray[np.intp]) -> Operator:
        """A[rows, rows], in the same form where that can be."""
        if SUBMATRIX in self.ability_set:
            return operators.as_operator(self.submatrix(rows, rows))

        chosen = sparse.csr_array((np.ones(rows.size), (np.arange(rows.size), rows)), shape=(rows.size, self.n))
        diagonal = self.diagonal()[rows] if DIAGONAL in self.ability_set else None
        return restatement.congruent_product(self, chosen, diagonal=diagonal)

    def coupled_rows(self) -> Couplings | None:
        """Which rows hang together; None where that cannot be told."""
        return self.compressed().coupled_rows() if TO_SPARSE in self.ability_set else None

    def has_positive_coupling(self) -> bool | None:
        """Whether an entry off the diagonal is positive; None where that cannot be told without forming A."""
        return None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What the operator is made of, by name, bit for bit: for files and fingerprints."""
        raise FileFormatError(f"perp has no way to save a {type(self).__name__}; its matrix can be: A.to_sparse()")

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
        return sparse_operator.SparseOperator(self.to_sparse() + sparse.diags_array(as_vector(added, "added", self.n)))

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
