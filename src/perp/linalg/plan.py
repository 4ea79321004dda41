"""All that a sparse Cholesky factor needs and that no number changes: made once for a pattern, shared by factors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels.factors import supernodal
from perp.linalg.orderings import order
from perp.linalg.paces import ANALYSIS
from perp.linalg.symbolic import Graph, Integers, Symbolic, adjacency, analyse
from perp.problems.inputs import Vector


class Lower(NamedTuple):
    """The lower triangle of P A P^T by columns, rows sorted: those of column j are row[start[j]:start[j + 1]]."""

    start: Integers
    row: Integers


class Updates(NamedTuple):
    """What supernodes subtract from supernode s: number start[s] to start[s + 1] of the lists."""

    start: Integers
    giver: Integers
    """Who gives it."""
    first_row: Integers
    """The first of its rows, counted from its own first, that is a column of s; `end_row` is one after the last."""
    end_row: Integers


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """`Plan.make(A, ordering)`: the order, the analysis, and where every entry of A has its place in L."""

    matrix: sparse.csr_array
    """A copy of A with sorted entries: their order is that of the `data` that factors take."""
    symbolic: Symbolic
    lower: Lower
    source: Integers
    """Where each entry of `lower` is among the data of the matrix."""
    target: Integers
    """And where it is among the values of L."""
    diagonal: Integers
    """Where the diagonal is among the values of L."""
    updates: Updates
    largest_product: int
    """Entries of the largest update."""
    costs: Vector
    """Multiplications and additions that each supernode takes."""

    @staticmethod
    def make(A: Any, ordering: str = "amd") -> Plan:
        """Order and analyse the pattern of A, which must have all of its diagonal stored."""
        matrix = sparse.csr_array(A, dtype=np.float64, copy=True)
        if matrix.shape[0] != matrix.shape[1]:
            raise InvalidProblem(f"the matrix has shape {matrix.shape}; a square one is needed")
        matrix.sum_duplicates()
        with ANALYSIS.work(matrix.nnz):
            graph = adjacency(matrix)
            return Plan.follow(matrix, graph, order(graph, ordering))

    @staticmethod
    def follow(matrix: sparse.csr_array, graph: Graph, permutation: Any) -> Plan:
        """Analyse in a given order; the matrix is kept, must be symmetric and sorted, and its graph is given."""
        symbolic = analyse(graph, permutation)
        tree = (symbolic.super_start, symbolic.column_to_super, symbolic.rows_start, symbolic.rows)
        lower, source = _list_lower(matrix, symbolic)
        target = np.empty(source.size, dtype=np.int64)
        supernodal.find_targets(*tree, symbolic.values_start, *lower, target)
        counts = np.zeros(symbolic.supernodes + 1, dtype=np.int64)
        largest = int(supernodal.count_updates(*tree, counts))
        start = np.cumsum(counts)
        updates = Updates(start, *(np.empty(start[-1], dtype=np.int64) for _ in range(3)))
        supernodal.list_updates(*tree, start[:-1].copy(), *updates[1:])
        costs = _count_costs(symbolic, updates)
        return Plan(matrix, symbolic, lower, source, target, target[lower.start[:-1]], updates, largest, costs)

    @property
    def structure(self) -> tuple[Integers, Integers, Integers, Integers]:
        s = self.symbolic
        return s.super_start, s.rows_start, s.rows, s.values_start

    @cached_property
    def cost(self) -> float:
        """The work for all of L."""
        return float(self.costs.sum())

    @property
    def tallest(self) -> int:
        """Rows of the largest supernode."""
        return int(np.diff(self.symbolic.rows_start).max(initial=0))

    @property
    def widest(self) -> int:
        """Columns of the widest supernode."""
        return int(np.diff(self.symbolic.super_start).max(initial=0))

    def scatter(self, matrix: sparse.csr_array) -> Vector:
        """The numbers of `lower` for a matrix whose pattern is a part of that of A."""
        row, column = _places(matrix, self.symbolic)
        inside = row >= column
        n = self.symbolic.n
        known = np.repeat(np.arange(n), np.diff(self.lower.start)) * n + self.lower.row
        numbers = np.zeros(known.size)
        numbers[np.searchsorted(known, (column * n + row)[inside])] = matrix.data[inside]
        return numbers


def _places(matrix: sparse.csr_array, symbolic: Symbolic) -> tuple[Integers, Integers]:
    """Row and column of every entry in the order of L."""
    row = np.repeat(np.arange(symbolic.n), np.diff(matrix.indptr))
    return symbolic.inverse[row], symbolic.inverse[matrix.indices]


def _list_lower(matrix: sparse.csr_array, symbolic: Symbolic) -> tuple[Lower, NDArray[np.int64]]:
    pattern = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))
    orders = (symbolic.permutation, symbolic.inverse)
    start = np.zeros(symbolic.n + 1, dtype=np.int64)
    supernodal.count_lower(*pattern, *orders, start)
    np.cumsum(start, out=start)
    row, source = np.empty(start[-1], dtype=np.int64), np.empty(start[-1], dtype=np.int64)
    supernodal.list_lower(*pattern, *orders, start[:-1].copy(), row, source)
    # rows rise within a column, so that the diagonal comes first if it is there at all
    missing = np.ones(symbolic.n, dtype=bool)
    filled = np.flatnonzero(np.diff(start))
    missing[filled] = row[start[filled]] != filled
    if missing.any():
        i = int(symbolic.permutation[missing][0])
        raise InvalidProblem(f"A has no entry at [{i},{i}]; every diagonal entry must be stored")
    return Lower(start, row), source


def _count_costs(symbolic: Symbolic, updates: Updates) -> Vector:
    """Each supernode's own trapezoid, and its updates."""
    height, width = np.diff(symbolic.rows_start), np.diff(symbolic.super_start)
    own = width**3 / 3.0 + width**2 * (height - width).astype(np.float64)
    m, n = (height[updates.giver] - updates.first_row).astype(np.float64), updates.end_row - updates.first_row
    given = np.concatenate([[0.0], np.cumsum((2.0 * m - n) * n * width[updates.giver])])
    return np.asarray(own + given[updates.start[1:]] - given[updates.start[:-1]])


def with_diagonal(A: Any) -> sparse.csr_array:
    """A with every diagonal entry stored, be it zero."""
    matrix = sparse.csr_array(A, dtype=np.float64)
    n = matrix.shape[0]
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    if np.count_nonzero(row == matrix.indices) == n:
        return matrix
    entries = matrix.tocoo()
    data = np.concatenate([entries.data, np.zeros(n)])
    own = np.arange(n)
    places = (np.concatenate([entries.row, own]), np.concatenate([entries.col, own]))
    return sparse.csr_array(sparse.coo_array((data, places), shape=matrix.shape))
