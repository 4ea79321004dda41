"""A as a stencil on a regular grid: the pressure Poisson matrix of NOTES 4.2 without storing it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels.grid import constant as grid_constant
from perp.kernels.grid import faces as grid_faces
from perp.problems.inputs import (
    Matrix,
    PerRow,
    SupportsArray,
    Vector,
    as_vector,
    freeze,
    reject_non_finite,
    require_count,
    require_real_dtype,
)
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE, Operator, tell_forming

MOST_COMPILED_AXES = 3
"""Grids of more axes than space has are multiplied by NumPy."""


class StencilOperator(Operator):
    """(A x)_c = diagonal_c x_c + sum over axes k of coupling_k (x_{c - e_k} + x_{c + e_k}), x = 0 outside the grid.

    `shape` is the grid; cells are numbered in C order. `diagonal` is a number or an array of that shape (a smaller
    entry at a wall makes it a Neumann wall). `couplings` is a number, one number an axis, or one array an axis: then
    `couplings[k][c]` stands between the cells c and c + e_k, and its shape is the grid's less one along axis k. The
    Laplacian with a free surface all around is `StencilOperator((nx, ny, nz), 6.0, -1.0)`.

    Couplings of faces are kept as the kernels read them: with s_k the stride of axis k, `faces[k]` has n + s_k numbers,

        faces[k][c] = A[c, c - e_k],      faces[k][c + s_k] = A[c, c + e_k],

    zero at the first layer of cells, and so at the last one, too: no cell needs to ask whether it has a neighbour.
    """

    abilities: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE})
    form = "stencil"
    is_numbers = True

    def __init__(
        self, shape: Sequence[int], diagonal: ArrayLike, couplings: PerRow | Sequence[SupportsArray] = -1.0
    ) -> None:
        self.grid: tuple[int, ...] = self._read_grid(shape)
        given = np.asarray(diagonal)
        require_real_dtype(given.dtype, "diagonal")
        try:
            centre = np.broadcast_to(given.astype(np.float64), self.grid)
        except ValueError:
            raise InvalidProblem(f"diagonal has shape {given.shape}; the grid is {self.grid}") from None
        reject_non_finite(centre, "diagonal")
        self.centre: Vector = freeze(centre.reshape(-1).copy())
        self.strides: tuple[int, ...] = self._count_strides()
        self.couplings: Vector | None = None
        """One number an axis, where the couplings are the same everywhere; else None, and there are `faces`."""
        self.faces: tuple[Vector, ...] | None = None
        if isinstance(couplings, list | tuple) and any(np.ndim(one) for one in couplings):
            self.faces = self._read_faces(couplings)
        else:
            if np.ndim(couplings) > 1:
                raise InvalidProblem("couplings is one array; one an axis is needed: a list of them")
            spread = np.full(len(self.grid), couplings) if np.ndim(couplings) == 0 else couplings
            self.couplings = as_vector(spread, "couplings", len(self.grid))

    @classmethod
    def from_faces(cls, shape: Sequence[int], diagonal: Vector, faces: Sequence[Vector]) -> Self:
        """The operator of arrays that lie as it keeps them: it takes them over without a copy, and freezes them.

        `diagonal` is flat, and `faces` are padded and zero at the rim, as `self.faces` above; float64, contiguous.
        """
        made = cls.__new__(cls)
        made.grid = cls._read_grid(shape)
        made.couplings = None
        n = int(np.prod(made.grid, dtype=np.int64))
        if len(faces) != len(made.grid):
            raise InvalidProblem(f"faces has {len(faces)} arrays; the grid has {len(made.grid)} axes")
        made.centre = _taken_over(diagonal, "diagonal", n)
        made.strides = made._count_strides()
        made.faces = tuple(_taken_over(one, f"faces[{axis}]", n + made.strides[axis]) for axis, one in enumerate(faces))
        for axis, one in enumerate(made.faces):
            first = one[:n].reshape(made.grid)[(slice(None),) * axis + (slice(None, 1),)]
            if first.any() or one[n:].any():
                raise InvalidProblem(f"faces[{axis}] is not zero at the rim of the grid")
        return made

    @staticmethod
    def _read_grid(shape: Sequence[int]) -> tuple[int, ...]:
        if np.ndim(shape) != 1 or not tuple(shape):
            raise InvalidProblem(f"shape is {shape!r}; one size an axis is needed, for example (64, 64)")
        for axis, size in enumerate(shape):
            require_count(size, f"shape[{axis}]")
        return tuple(int(size) for size in shape)

    def _count_strides(self) -> tuple[int, ...]:
        return tuple(int(np.prod(self.grid[axis + 1 :], dtype=np.int64)) for axis in range(len(self.grid)))

    def _read_faces(self, couplings: Sequence[Any]) -> tuple[Vector, ...]:
        if len(couplings) != len(self.grid):
            raise InvalidProblem(f"couplings has {len(couplings)} arrays; the grid has {len(self.grid)} axes")
        faces = []
        for axis, one in enumerate(couplings):
            given = np.asarray(one)
            require_real_dtype(given.dtype, f"couplings[{axis}]")
            wanted = tuple(max(size - (k == axis), 0) for k, size in enumerate(self.grid))
            if given.shape != wanted:
                raise InvalidProblem(f"couplings[{axis}] has shape {given.shape}; there are {wanted} faces along it")
            reject_non_finite(given, f"couplings[{axis}]")
            padded = np.zeros(self.n + self.strides[axis])
            padded[: self.n].reshape(self.grid)[self._ahead(axis)] = given
            faces.append(freeze(padded))
        return tuple(faces)

    @staticmethod
    def _ahead(axis: int) -> tuple[slice, ...]:
        """All cells but the first layer along an axis."""
        return (slice(None),) * axis + (slice(1, None),)

    @staticmethod
    def _behind(axis: int) -> tuple[slice, ...]:
        return (slice(None),) * axis + (slice(None, -1),)

    def between(self, axis: int) -> Any:
        """The couplings of the faces across an axis: a number, or an array with one layer less than the grid."""
        if self.faces is None:
            assert self.couplings is not None
            return self.couplings[axis]
        return self.faces[axis][: self.n].reshape(self.grid)[self._ahead(axis)]

    @property
    def n(self) -> int:
        return self.centre.size

    @property
    def has_kernels(self) -> bool:
        """Whether products and sweeps on this grid are compiled: up to three axes."""
        return len(self.grid) <= MOST_COMPILED_AXES

    @property
    def kernels(self) -> ModuleType:
        """The compiled module for this kind of couplings."""
        if self.faces is None:
            return grid_constant

        return grid_faces

    @cached_property
    def kernel_arguments(self) -> tuple[Any, ...]:
        """nz, ny, nx and the couplings along z, y, x, as the `kernels` take them: missing axes stand in front."""
        missing = MOST_COMPILED_AXES - len(self.grid)
        sizes = (1,) * missing + self.grid
        if self.faces is None:
            assert self.couplings is not None
            between: tuple[Any, ...] = (0.0,) * missing + tuple(float(coupling) for coupling in self.couplings)
        else:
            between = (freeze(np.empty(0)),) * missing + self.faces
        return (*(np.uint64(size) for size in sizes), *between)

    @property
    def stencil(self) -> StencilOperator:
        return self

    def has_positive_coupling(self) -> bool:
        return any(bool(np.any(self.between(axis) > 0.0)) for axis, size in enumerate(self.grid) if size > 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"grid": np.array(self.grid, dtype=np.int64), "centre": self.centre}
        if self.couplings is not None:
            return arrays | {"couplings": self.couplings}
        return arrays | {f"faces.{axis}": self.between(axis).reshape(-1) for axis in range(len(self.grid))}

    def slack(self, x: Vector, b: Vector, out: Vector) -> Vector:
        if not self.n:
            return out
        if self.has_kernels:
            self.kernels.slack(*self.kernel_arguments, self.centre, b, x, out)
            return out
        np.multiply(self.centre, x, out=out)
        out += b
        cells, sums = x.reshape(self.grid), out.reshape(self.grid)
        for axis in range(len(self.grid)):
            ahead, behind, coupling = self._ahead(axis), self._behind(axis), self.between(axis)
            sums[behind] += coupling * cells[ahead]
            sums[ahead] += coupling * cells[behind]
        return out

    def pull(self, u: Vector) -> tuple[Vector, Vector]:
        """A is symmetric, so that nothing needs to be formed."""
        size = np.abs(u)
        sizes, cells = np.abs(self.centre) * size, size.reshape(self.grid)
        sums = sizes.reshape(self.grid)
        for axis in range(len(self.grid)):
            ahead, behind, coupling = self._ahead(axis), self._behind(axis), np.abs(self.between(axis))
            sums[behind] += coupling * cells[ahead]
            sums[ahead] += coupling * cells[behind]
        return self.apply(u), sizes

    @property
    def pulls_unformed(self) -> bool:
        return True

    def diagonal(self) -> Vector:
        return self.centre.copy()

    def frozen_diagonal(self) -> Vector:
        return self.centre

    def row_sizes(self) -> Vector:
        sizes = np.abs(self.centre)
        cells = sizes.reshape(self.grid)
        for axis in range(len(self.grid)):
            size = np.abs(self.between(axis))
            for side in (self._ahead(axis), self._behind(axis)):
                np.maximum(cells[side], size, out=cells[side])
        return sizes

    def row(self, i: int) -> tuple[NDArray[Any], Vector]:
        cell = np.unravel_index(i, self.grid)
        entries = {i: self.centre[i]}
        for axis, stride in enumerate(self.strides):
            for step, inside in ((-1, cell[axis] > 0), (1, cell[axis] + 1 < self.grid[axis])):
                if inside:
                    face = self.between(axis) if self.faces is None else self.faces[axis][i + max(step, 0) * stride]
                    entries[i + step * stride] = face
        columns = np.array(sorted(entries), dtype=np.intp)
        return columns, np.array([entries[j] for j in columns])

    def submatrix(self, rows: Any, columns: Any) -> sparse.csr_array:
        return self.to_sparse()[rows][:, columns]

    def to_sparse(self) -> sparse.csr_array:
        """Faces whose coupling is zero have no entry. The log hears of it, and so does the result of a solve."""
        matrix = self._form_rows()
        tell_forming(f"A was formed from its stencil, as sparse rows with {matrix.nnz:,} numbers")
        return matrix

    def to_dense(self) -> Matrix:
        dense: Matrix = self._form_rows().toarray()
        tell_forming(f"A was formed from its stencil, as a dense array of {dense.size:,} numbers")
        return dense

    def _form_rows(self) -> sparse.csr_array:
        if self.n == 0:
            return sparse.csr_array((0, 0))
        number = np.arange(self.n).reshape(self.grid)
        rows, columns, values = [number.reshape(-1)], [number.reshape(-1)], [self.centre]
        for axis in range(len(self.grid)):
            ahead, behind = number[self._ahead(axis)], number[self._behind(axis)]
            coupling = np.broadcast_to(self.between(axis), ahead.shape)
            kept = coupling != 0.0
            rows += [ahead[kept], behind[kept]]
            columns += [behind[kept], ahead[kept]]
            values += [coupling[kept]] * 2
        entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return sparse.csr_array(entries, shape=(self.n, self.n))

    def work(self) -> int:
        return self.n * (2 * len(self.grid) + 1)

    @property
    def asymmetry(self) -> float:
        return 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        couplings: Any = self.couplings
        if self.faces is not None:
            couplings = tuple(self.between(axis) for axis in range(len(self.grid)))
        return StencilOperator, (self.grid, self.centre.reshape(self.grid), couplings)


def _taken_over(given: Vector, name: str, size: int) -> Vector:
    if given.dtype != np.float64 or given.shape != (size,) or not given.flags.c_contiguous:
        raise InvalidProblem(
            f"{name} has shape {given.shape} and dtype {given.dtype}; a contiguous vector of {size} float64 is needed"
        )
    reject_non_finite(given, name)
    return freeze(given)
