"""Systems A + diag(shift) whose rows come in small groups, coupled with one another by blocks of low rank.

The rows of a contact in the Stewart-Trinkle problem (NOTES eq. 27) are such a group: K + 2 of them, whatever K is, and
they feel the other contacts only through the three velocities of the contact point. With G the diagonal blocks of
A + diag(shift), and U_g and V_g orthonormal bases of what the rows and the columns of group g are coupled by,

    (G + U C V^T) dx = r,    so that    (I + T C) z = V^T G^-1 r,    T = V^T G^-1 U,    dx = G^-1 (r - U C z).

I + T C has as many rows as all bases have columns: 3 a contact. G and T are small blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.kernels import blas
from perp.kernels.factors import body_space, dense_factors, graphs
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.free_systems.direct import SparseGeneral
from perp.linalg.paces import BASES, DENSE, SuperLuTime
from perp.linalg.symbolic import adjacency
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import Operator
from perp.problems.operators.base import TO_SPARSE

Blocks = NDArray[np.float64]
Members = NDArray[np.intp]

NO_COUPLING = 1e-12
"""A direction of a group is not coupled if its coupling is below this share of the largest of the group."""

WORTH_IT = 0.75
"""The reduced system is used where it has at most this share of the rows."""

LARGEST_GROUP = 40

SPARE = 4
"""Columns of a random sample beyond those that are needed."""

DENSE_SIZE = 2500
"""The reduced system is factored as a full matrix up to so many rows, and beyond where it has many nonzeros."""

DENSE_SHARE = 0.25


@dataclass(frozen=True, eq=False, repr=False)
class Coupling:
    """Groups padded to one size: row numbers (n stands for no row), diagonal blocks, the bases U and V, and C."""

    n: int
    members: Members
    own: Blocks
    U: Blocks
    V: Blocks
    C: sparse.csr_array


def find_blocks(A: Operator, always: bool = False) -> Coupling | None:
    """The groups of A, known or found by its pattern; None where they do not make the system smaller by enough.

    Rows with the same neighbours belong together, and so does a row all of whose neighbours are in one group (that is
    the cone condition of a contact). The grouping decides only about the speed.
    """
    if TO_SPARSE not in A.ability_set or (A.is_dense and not always) or A.n == 0:
        return None
    matrix = A.to_sparse()
    group = _find_groups(matrix) if A.row_groups is None else A.row_groups
    sizes = np.bincount(group)
    width = int(sizes.max())
    if not always and (sizes.size < 2 or not 2 <= width <= LARGEST_GROUP or width * sizes.size > 2 * A.n):
        return None
    members = np.full((sizes.size, width), A.n, dtype=np.intp)
    by_group = np.argsort(group, kind="stable")
    members[np.repeat(np.arange(sizes.size), sizes), _count_up(sizes)] = by_group
    entries = matrix.tocoo()
    inside = group[entries.row] == group[entries.col]
    place = np.empty(A.n, dtype=np.intp)
    place[by_group] = _count_up(sizes)
    own = np.zeros((sizes.size, width, width))
    row, column = entries.row[inside], entries.col[inside]
    own[group[row], place[row], place[column]] = entries.data[inside]
    outside = ~inside
    off = sparse.csr_array((entries.data[outside], (entries.row[outside], entries.col[outside])), shape=matrix.shape)
    U, V = _bases(off, members), _bases(sparse.csr_array(off.T), members)
    rank = max(U.shape[2], V.shape[2])
    if not always and rank * sizes.size > WORTH_IT * A.n:
        return None
    U, V = _widen(U, rank), _widen(V, rank)
    C = sparse.csr_array(_as_matrix(U, members, A.n).T @ off @ _as_matrix(V, members, A.n))
    return Coupling(A.n, members, own, U, V, C)


class CoupledBlocks(FreeSystem):
    """By the reduced system; a row that is not free has the identity in G, and nothing in U and V.

    A group without free rows that are coupled has z = 0, and is no part of the reduced system.
    """

    name = "blocks"

    def __init__(self, coupling: Coupling) -> None:
        super().__init__()
        self._coupling = coupling
        groups, width, rank = coupling.U.shape
        self._own_rows = np.arange(width)
        size = groups * rank
        is_dense = size <= DENSE_SIZE or coupling.C.nnz > DENSE_SHARE * size * size
        self._reduced: _Reduced = _DenseReduced(coupling.C, rank) if is_dense else _SparseReduced(coupling.C, rank)

    def factor(self, free: Mask, shift: Vector) -> None:
        part = self._coupling
        self.added: Vector = shift.copy()
        self.factorisations += 1
        self._is_free = is_free = np.append(free, False)[part.members]
        shifts = np.append(shift, 0.0)[part.members]
        G = np.where(is_free[:, :, None] & is_free[:, None, :], part.own, 0.0)
        G[:, self._own_rows, self._own_rows] += np.where(is_free, shifts, 1.0)
        self._row_scale = 1.0 / np.maximum(np.abs(shifts), 1.0)  # so that rows with a huge shift do not hide the others
        G *= self._row_scale[:, :, None]
        try:
            self._inverse = np.linalg.inv(G)
        except np.linalg.LinAlgError:
            raise NotFinite("a diagonal block is singular") from None
        self._V = np.where(is_free[:, :, None], part.V, 0.0)
        U = np.where(is_free[:, :, None], part.U, 0.0)
        self._inverse_U = _multiply(self._inverse, self._row_scale[:, :, None] * U)
        self._active = np.flatnonzero(self._V.any(axis=(1, 2)))
        T = _multiply(self._V.transpose(0, 2, 1), self._inverse_U)[self._active]
        if not self._reduced.factor(np.ascontiguousarray(T), self._active):
            raise NotFinite("the reduced matrix is singular, or not finite")

    def solve(self, r: Vector) -> Vector:
        part = self._coupling
        right = self._row_scale * np.where(self._is_free, np.append(r, 0.0)[part.members], 0.0)
        local = _multiply(self._inverse, right[:, :, None])[:, :, 0]
        z = np.zeros((part.V.shape[0], part.V.shape[2]))
        known = (self._V[self._active] * local[self._active, :, None]).sum(axis=1)
        z[self._active] = self._reduced.solve(known.reshape(-1)).reshape(known.shape)
        coupled = (part.C @ z.reshape(-1)).reshape(z.shape)
        dx = np.zeros(part.n + 1)
        dx[part.members] = local - (self._inverse_U * coupled[:, None, :]).sum(axis=2)
        return dx[:-1]


class _Reduced(ABC):
    """I + T C over the active groups: `factor` says whether that worked, `solve` solves."""

    @abstractmethod
    def factor(self, T: Blocks, active: Members) -> bool: ...

    @abstractmethod
    def solve(self, r: Vector) -> Vector: ...


class _DenseReduced(_Reduced):
    def __init__(self, C: sparse.csr_array, rank: int) -> None:
        self._address, self._rank = blas.product_address(), rank
        self._C_transposed = freeze(np.ascontiguousarray(C.toarray().T))
        most = C.shape[0]
        self._factor, self._exchange = np.empty(most * most), np.empty(most, dtype=np.int64)
        self._inverse = np.empty(dense_factors.BLOCK * dense_factors.BLOCK)
        self._work = np.empty(most * dense_factors.BLOCK)
        self._size = 0

    def factor(self, T: Blocks, active: Members) -> bool:
        self._size = active.size * self._rank
        body_space.assemble_coupled(T, self._C_transposed, active, self._rank, self._factor)
        floor = np.zeros(self._size)
        work = (self._exchange, self._inverse, self._work)
        with DENSE.work(2.0 * self._size**3 / 3.0):
            return int(dense_factors.factor_lu(self._address, self._factor, self._size, floor, *work)) == 0

    def solve(self, r: Vector) -> Vector:
        z = r.copy()
        dense_factors.solve_lu(self._factor, self._size, self._exchange, z)
        return z


class _SparseReduced(_Reduced):
    def __init__(self, C: sparse.csr_array, rank: int) -> None:
        self._C, self._rank = C, rank
        self._size = 0
        self._time = SuperLuTime()

    def factor(self, T: Blocks, active: Members) -> bool:
        self._size = active.size * self._rank
        rows = (active[:, None] * self._rank + np.arange(self._rank)).reshape(-1)
        shape = (self._size, self._size)
        diagonal = sparse.bsr_array((T, np.arange(active.size), np.arange(active.size + 1)), shape=shape)
        coupled = sparse.csr_array(diagonal @ self._C[rows][:, rows])
        self._lu = SparseGeneral(sparse.csr_array(coupled + sparse.eye_array(self._size)), self._time)
        self._lu.factor(np.ones(self._size, dtype=np.bool_), np.zeros(self._size))
        return not self._lu.dependent

    def solve(self, r: Vector) -> Vector:
        return self._lu.solve(r)


def _find_groups(matrix: sparse.csr_array) -> Members:
    """The number of the group of each row: rows with the same neighbours, and rows with all neighbours in one group."""
    graph = adjacency(matrix)
    hashes = np.empty(graph.n, dtype=np.uint64)
    graphs.hash_neighbourhoods(graph.pointers, graph.indices, hashes)
    _, group, count = np.unique(hashes, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    row = np.repeat(np.arange(graph.n), np.diff(graph.pointers))
    neighbour = group[graph.indices]
    lowest, highest = np.full(graph.n, graph.n), np.full(graph.n, -1)
    np.minimum.at(lowest, row, neighbour)
    np.maximum.at(highest, row, neighbour)
    joins = np.flatnonzero((count[group] == 1) & (lowest == highest))
    joins = joins[count[lowest[joins]] > 1]
    group[joins] = lowest[joins]
    return np.unique(group, return_inverse=True)[1].reshape(-1).astype(np.intp)


def _bases(off: sparse.csr_array, members: Members) -> Blocks:
    """An orthonormal basis of the columns of off[group], for each group; zeros where it is smaller than the largest.

    The columns of off[group] times a random matrix span the same space, with certainty for all that rounding can tell
    (Halko, Martinsson & Tropp 2011), and are as few as the rows of a group and some more.
    """
    n = off.shape[0]
    mixture = np.random.default_rng(0).standard_normal((n, members.shape[1] + SPARE))
    sample = np.concatenate([off @ mixture, np.zeros((1, mixture.shape[1]))])[members]
    with BASES.work(float(sample.size) * sample.shape[1] * 8.0):
        vectors, sizes, _ = np.linalg.svd(sample, full_matrices=False)
    kept = sizes > NO_COUPLING * sizes[:, :1]
    return np.where(kept[:, None, :], vectors, 0.0)[:, :, : int(kept.sum(axis=1).max())]


def _widen(bases: Blocks, rank: int) -> Blocks:
    return np.concatenate([bases, np.zeros((*bases.shape[:2], rank - bases.shape[2]))], axis=2)


def _as_matrix(bases: Blocks, members: Members, n: int) -> sparse.csr_array:
    """The bases side by side: n rows, one column a vector."""
    groups, _, rank = bases.shape
    row = np.broadcast_to(members[:, :, None], bases.shape)
    column = np.broadcast_to(np.arange(groups * rank).reshape(groups, 1, rank), bases.shape)
    there = (row < n) & (bases != 0.0)
    return sparse.csr_array((bases[there], (row[there], column[there])), shape=(n, groups * rank))


def _count_up(sizes: NDArray[np.intp]) -> Members:
    """0, 1, ..., sizes[0] - 1, 0, 1, ..., sizes[1] - 1, ..."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _multiply(left: Blocks, right: Blocks) -> Blocks:
    """Block by block; by sums in a fixed order, which no BLAS shares among threads."""
    product: Blocks = np.einsum("gij,gjk->gik", left, right)
    return product
