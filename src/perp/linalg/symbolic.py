"""What is known of a sparse Cholesky factor before any number: the elimination tree, its supernodes, their rows.

L L^T = P A P^T has nonzeros where A has none ("fill"). Where they are follows from the pattern of A and the order P
alone, so one analysis serves every factorisation of matrices with that pattern. Columns with the same structure below
them are gathered into supernodes, whose entries are stored as one dense block: that is where the speed of a numeric
factorisation comes from.

References: Liu 1990 (elimination trees); Gilbert, Ng & Peyton 1994 (column counts); Chen, Davis, Hager & Rajamanickam
2008 (relaxed supernodes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels.factors import supernodal as kernels
from perp.problems.inputs import freeze

Integers = NDArray[np.int64]


class Graph(NamedTuple):
    """Whom each node touches: the neighbours of i are `indices[pointers[i]:pointers[i + 1]]`, sorted, without i."""

    pointers: Integers
    indices: Integers

    @property
    def n(self) -> int:
        return self.pointers.size - 1


@dataclass(frozen=True, eq=False, repr=False)
class Symbolic:
    """The structure of the supernodal factor L of P A P^T. Read-only int64 arrays; rows and columns are those of L.

    Supernode s owns the columns `super_start[s]:super_start[s + 1]`, has the rows
    `rows[rows_start[s]:rows_start[s + 1]]` and keeps its block of (number of rows) x (number of columns) at
    `values_start[s]` of one flat array. The first rows of the block are its own columns, a lower triangle; the part
    above that diagonal is stored and not used.
    """

    permutation: Integers
    """permutation[k] = the row of A that is eliminated k-th: the given order, postordered by the elimination tree."""
    inverse: Integers
    """inverse[permutation[k]] = k."""
    parent: Integers
    """The row of the first nonzero below the diagonal of each column of L; -1 for a root."""
    column_counts: Integers
    """Nonzeros of each column of L, its diagonal included, without the zeros that joined supernodes store."""
    super_start: Integers
    """The first column of each supernode, and n at the end."""
    column_to_super: Integers
    """The supernode that owns each column."""
    super_parent: Integers
    """The supernode that owns the first row below each supernode; -1 for a root. A parent follows its children."""
    rows_start: Integers
    """Where the rows of each supernode begin in `rows`, and their number in all at the end."""
    rows: Integers
    """The sorted rows of each supernode, one after another; its own columns come first."""
    values_start: Integers
    """Where the dense block of each supernode begins, and the length of the flat array at the end."""
    nonzeros: int
    """Entries of L in the blocks on and below the diagonal, stored zeros included."""
    fill: float
    """Nonzeros of L (without stored zeros) over those of the lower triangle of A with its diagonal; 1 is no fill."""
    flops: int
    """Multiplications and additions of the factorisation, the sum of the squared column counts."""

    @property
    def n(self) -> int:
        return self.permutation.size

    @property
    def supernodes(self) -> int:
        return self.super_parent.size

    def __repr__(self) -> str:
        return (
            f"Symbolic(n={self.n}, supernodes={self.supernodes}, nonzeros={self.nonzeros}, "
            f"fill={self.fill:.3g}, flops={self.flops:.3g})"
        )


def analyse(A: Any, permutation: Any = None, *, relax: bool = True) -> Symbolic:
    """The structure of the Cholesky factor of P A P^T, from the pattern of A + A^T; the diagonal counts as full.

    `permutation[k]` is the row that is eliminated k-th (None: as they come; see `perp.linalg.order`). The result may
    have an equivalent order, with the same fill, in which every subtree of the elimination tree is a run of columns.
    `relax=False` keeps the supernodes exact; otherwise small ones join their parent at the price of stored zeros.
    """
    graph = adjacency(A)
    n = graph.n
    permutation, inverse, parent, counts = _postordered(graph, _as_permutation(permutation, n))
    work = np.empty((2, n + 1), dtype=np.int64)
    super_start = np.empty(n + 1, dtype=np.int64)
    count = kernels.find_supernodes(parent, counts, super_start)
    if relax:
        count = kernels.join_supernodes(parent, counts, count, super_start, work[0])
    super_start = super_start[: count + 1].copy()
    column_to_super, super_parent = np.empty(n, dtype=np.int64), np.empty(count, dtype=np.int64)
    rows_start, values_start = np.empty(count + 1, dtype=np.int64), np.empty(count + 1, dtype=np.int64)
    kernels.supernode_tree(parent, counts, super_start, column_to_super, super_parent, rows_start, values_start)
    rows = np.empty(rows_start[-1], dtype=np.int64)
    kernels.row_structures(
        *graph, permutation, inverse, super_start, column_to_super, super_parent, rows_start, rows, work[0], work[1]
    )
    widths = np.diff(super_start)
    return Symbolic(
        permutation=freeze(permutation),
        inverse=freeze(inverse),
        parent=freeze(parent),
        column_counts=freeze(counts),
        super_start=freeze(super_start),
        column_to_super=freeze(column_to_super),
        super_parent=freeze(super_parent),
        rows_start=freeze(rows_start),
        rows=freeze(rows),
        values_start=freeze(values_start),
        nonzeros=int(values_start[-1] - np.sum(widths * (widths - 1)) // 2),
        fill=float(counts.sum() / (n + graph.indices.size // 2)) if n else 1.0,
        flops=count_flops(counts),
    )


def predict_flops(A: Any, permutation: Any) -> int:
    """The sum of the squared column counts of L: the work of a factorisation in that order, without its structure."""
    graph = adjacency(A)
    return count_flops(_postordered(graph, _as_permutation(permutation, graph.n))[3])


def count_flops(counts: Integers) -> int:
    return int(np.dot(counts, counts))


def adjacency(A: Any) -> Graph:
    """The graph of A + A^T: an edge where either has an entry off the diagonal, whatever its value."""
    if isinstance(A, Graph):
        return A
    if not sparse.issparse(A):
        raise TypeError(f"a SciPy sparse array is needed, not {type(A).__name__}")
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise InvalidProblem(f"the matrix has shape {A.shape}; a square one is needed")
    csr = sparse.csr_array(A)
    csr.check_format(full_check=True)  # native code will follow these indices
    entries = np.ones(csr.nnz, dtype=bool)
    pattern = sparse.csr_array((entries, csr.indices[: csr.nnz].copy(), csr.indptr), shape=csr.shape)
    pattern.sum_duplicates()
    transposed = pattern.T.tocsr()
    is_symmetric = np.array_equal(pattern.indptr, transposed.indptr) and np.array_equal(
        pattern.indices, transposed.indices
    )
    if not is_symmetric:
        pattern = pattern + transposed
        pattern.sort_indices()
    rows = np.repeat(np.arange(pattern.shape[0], dtype=pattern.indices.dtype), np.diff(pattern.indptr))
    is_edge = pattern.indices != rows
    edges_before = np.concatenate(([0], np.cumsum(is_edge, dtype=np.int64)))
    return Graph(edges_before[pattern.indptr], pattern.indices[is_edge].astype(np.int64))


def _postordered(graph: Graph, permutation: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """The permutation in postorder, its inverse, the elimination tree and the column counts."""
    n = graph.n
    work = np.empty((4, n), dtype=np.int64)
    inverse, parent, post, counts = (np.empty(n, dtype=np.int64) for _ in range(4))
    inverse[permutation] = np.arange(n)
    kernels.elimination_tree(*graph, permutation, inverse, parent, work[0])
    kernels.postorder(parent, post, work[0], work[1], work[2])
    new_name = np.empty(n + 1, dtype=np.int64)
    new_name[post], new_name[-1] = np.arange(n), -1  # parent -1 stays -1
    permutation, parent = permutation[post], new_name[parent[post]]
    inverse[permutation] = np.arange(n)
    kernels.column_counts(*graph, permutation, inverse, parent, counts, work[0], work[1], work[2], work[3])
    return permutation, inverse, parent, counts


def _as_permutation(permutation: Any, n: int) -> Integers:
    if permutation is None:
        return np.arange(n, dtype=np.int64)
    array = np.asarray(permutation)
    if array.shape != (n,) or (n and array.dtype.kind not in "iu"):
        raise ValueError(f"a permutation of {n} rows is an integer array of shape ({n},), not {array.shape}")
    array = array.astype(np.int64)
    if n and (array.min() < 0 or array.max() >= n or np.bincount(array, minlength=n).max() > 1):
        raise ValueError(f"the permutation does not name each of 0..{n - 1} once")
    return array
