"""A in compressed rows: sorted, without duplicates or stored zeros, whatever form it came in."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels.storages import csr, runs
from perp.problems import island_matrices
from perp.problems.inputs import EntriesLike, Vector, as_matrix, freeze, reject_non_finite, require_real_dtype
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE, Operator

if TYPE_CHECKING:
    from perp.problems.island_matrices import Couplings

SHORTEST_RUN = 4
"""Rows are held as runs of adjacent columns when those are this long on average."""


class SparseOperator(Operator):
    """`SparseOperator(A)`: a canonical CSR copy of A. What `LCP(A, b)` makes of a SciPy sparse array by itself.

    `row_groups` numbers rows that are known to belong together, as those of a contact do. They could be found by the
    pattern of A (`perp.linalg.free_systems.coupled_blocks`), but where axes are aligned zeros in A by chance hide what
    belongs together: of 112 contacts of a wall, with 8 directions, 19 are recognised.
    """

    abilities: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE})
    form = "sparse"
    is_numbers = True

    def __init__(self, A: EntriesLike, row_groups: NDArray[np.intp] | None = None) -> None:
        self.given_format: str = getattr(A, "format", "dense")
        self.matrix: sparse.csr_array = as_csr(A, "A")
        if self.matrix.shape[0] != self.matrix.shape[1]:
            raise InvalidProblem(f"A has shape {self.matrix.shape}; a square matrix is needed")
        self.pointers: NDArray[Any]
        self.indices: NDArray[Any]
        self.values: Vector
        self.pointers, self.indices, self.values = unsigned_parts(self.matrix)
        self.row_groups = None if row_groups is None else freeze(np.array(row_groups, dtype=np.intp))

    @property
    def n(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def stored(self) -> sparse.csr_array:
        return self.matrix

    @property
    def conversion(self) -> str | None:
        return None if self.given_format == "csr" else f"A was converted once from {self.given_format} to csr"

    def compressed(self) -> SparseOperator:
        return self

    def coupled_rows(self) -> Couplings:
        return island_matrices.CoupledCompressedRows(self)

    def has_positive_coupling(self) -> bool:
        return int(np.count_nonzero(self.values > 0.0)) != int(np.count_nonzero(self.matrix.diagonal() > 0.0))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return csr_arrays("A", self.matrix)

    def slack(self, x: Vector, b: Vector, out: Vector) -> Vector:
        if self.runs is not None:
            runs.slack(*self.runs, self.values, b, x, out)
        else:
            csr.slack(self.pointers, self.indices, self.values, b, x, out)
        return out

    @cached_property
    def runs(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
        """Pointers, first columns and offsets of the runs of adjacent columns; None where runs are short.

        The rows of an assembled contact matrix are made of them (all contacts of a face are neighbours), and the
        kernels of `perp.kernels.storages.runs` sweep such rows up to half as fast again as plain compressed rows.
        """
        matrix = self.matrix
        starts = np.ones(matrix.nnz, dtype=bool)
        starts[1:] = np.diff(matrix.indices) != 1
        starts[matrix.indptr[:-1][np.diff(matrix.indptr) > 0]] = True
        first = np.flatnonzero(starts)
        if matrix.nnz < SHORTEST_RUN * first.size or matrix.nnz == 0:
            return None
        pointers = np.searchsorted(first, matrix.indptr).astype(self.pointers.dtype)
        offsets = np.append(first, matrix.nnz).astype(self.pointers.dtype)
        return freeze(pointers), freeze(self.indices[first]), freeze(offsets)

    def diagonal(self) -> Vector:
        diagonal: Vector = self.matrix.diagonal()
        return diagonal

    def row_sizes(self) -> Vector:
        sizes = np.zeros(self.n)
        np.maximum.at(sizes, np.repeat(np.arange(self.n), np.diff(self.matrix.indptr)), np.abs(self.matrix.data))
        return sizes

    def row(self, i: int) -> tuple[NDArray[Any], Vector]:
        part = slice(self.matrix.indptr[i], self.matrix.indptr[i + 1])
        return self.matrix.indices[part], self.matrix.data[part]

    def submatrix(self, rows: Any, columns: Any) -> sparse.csr_array:
        return self.matrix[rows][:, columns]

    def to_sparse(self) -> sparse.csr_array:
        return self.matrix.copy()

    def scale_rows(self, factors: Vector) -> SparseOperator | None:
        scaled = self.matrix.copy()
        scaled.data *= np.repeat(factors, np.diff(self.matrix.indptr))
        return SparseOperator(scaled, self.row_groups) if np.isfinite(scaled.data).all() else None

    def with_added_diagonal(self, added: Vector) -> SparseOperator:
        return SparseOperator(super().with_added_diagonal(added).to_sparse(), self.row_groups)

    def nonzeros(self) -> int:
        return int(self.matrix.nnz)

    def work(self) -> int:
        return self.n + int(self.matrix.nnz)

    @cached_property
    def asymmetry(self) -> float:
        largest = float(np.abs(self.values).max(initial=0.0))
        if largest == 0.0:
            return 0.0

        return float(csr.asymmetry(self.pointers, self.indices, self.values)) / largest

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseOperator, (self.matrix, self.row_groups)


def as_csr(value: Any, name: str) -> sparse.csr_array:
    """A validated, canonical, read-only CSR copy of a SciPy sparse matrix of any format (or of a dense array)."""
    if not sparse.issparse(value):
        value = sparse.csr_array(as_matrix(value, name))
    if value.ndim != 2:
        raise InvalidProblem(f"{name} has shape {value.shape}; a two-dimensional array is needed")
    require_real_dtype(value.dtype, name)
    _reject_broken_indices(value, name)
    matrix = sparse.csr_array(value, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.sort_indices()
    _reject_non_finite_entries(matrix, name)
    matrix.eliminate_zeros()
    if max(matrix.nnz, *matrix.shape) < 2**31:  # half the memory traffic for the indices, and one kernel fewer
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        freeze(part)
    return matrix


def csr_arrays(name: str, matrix: sparse.csr_array) -> dict[str, NDArray[Any]]:
    """The parts of compressed rows under the names that files give them."""
    return {f"{name}.data": matrix.data, f"{name}.indices": matrix.indices, f"{name}.indptr": matrix.indptr}


def unsigned_parts(matrix: sparse.csr_array) -> tuple[NDArray[Any], NDArray[Any], Vector]:
    """Pointers, indices and values of an `as_csr` matrix, the same memory seen as unsigned integers."""
    unsigned = np.uint32 if matrix.indptr.dtype.itemsize == 4 else np.uint64
    return matrix.indptr.view(unsigned), matrix.indices.view(unsigned), matrix.data


def _reject_broken_indices(value: Any, name: str) -> None:
    """Check index arrays before native code follows them: a bad one is a wild read, not an exception."""
    rows, columns = value.shape
    if value.format in ("csr", "csc", "bsr"):
        height, width = value.blocksize if value.format == "bsr" else (1, 1)
        major, minor = (columns, rows) if value.format == "csc" else (rows // height, columns // width)
        pointers, indices = value.indptr, value.indices
        if len(pointers) != major + 1 or pointers[0] != 0 or np.any(np.diff(pointers) < 0):
            raise InvalidProblem(f"{name}.indptr must rise from 0 in {major + 1} numbers")
        if pointers[-1] > len(indices) or len(indices) != len(value.data):
            raise InvalidProblem(
                f"{name}.indptr ends at {pointers[-1]}, but there are {len(indices)} indices, {len(value.data)} values"
            )
        _require_range(indices, minor, f"{name}.indices")
    elif value.format == "coo":
        _require_range(value.row, rows, f"{name}.row")
        _require_range(value.col, columns, f"{name}.col")


def _require_range(indices: NDArray[Any], size: int, name: str) -> None:
    if len(indices) and (indices.min() < 0 or indices.max() >= size):
        k = int(np.argmax((indices < 0) | (indices >= size)))
        raise InvalidProblem(f"{name}[{k}] is {indices[k]}, outside 0..{size - 1}")


def _reject_non_finite_entries(matrix: sparse.csr_array, name: str) -> None:
    if not np.isfinite(matrix.data).all():
        k = int(np.argmax(~np.isfinite(matrix.data)))
        i = int(np.searchsorted(matrix.indptr, k, side="right")) - 1
        raise InvalidProblem(f"{name}[{i},{matrix.indices[k]}] is {matrix.data[k]}")
    reject_non_finite(matrix.data, f"{name}.data")
