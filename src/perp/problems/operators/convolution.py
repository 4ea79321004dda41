"""A as a convolution on a regular grid: rough elastic contact and other translation-invariant kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.problems.inputs import (
    Matrix,
    PerRow,
    Vector,
    as_vector,
    freeze,
    reject_non_finite,
    require_count,
    require_real_dtype,
)
from perp.problems.operators.base import APPLY, DIAGONAL, FILLING, ROWS, SUBMATRIX, TO_SPARSE, Operator

if TYPE_CHECKING:
    from perp.problems.files.archive import Archive


Kernel = NDArray[np.float64]

LEAST = 1e-6
"""Waves of which A makes less than this share of what it makes of others are left small: to restore them is noise."""

ROUNDING = 1e-12
"""A wave whose energy is below zero by more than this share of the largest shows that A is not semi-definite."""

BOUNDARIES = ("periodic", "free")

MOST_WRITTEN_ROWS = 2000
"""A convolution of more rows does not offer to be written down: all of its n^2 entries are there."""


class Spectrum:
    """x -> the cells of `grid` of  F^-1 (symbol F x),  x extended by zeros to the sizes of the transform.

    `periodic` transforms the grid itself. Otherwise each axis of n cells gets at least 2n - 1, so that what leaves the
    grid on one side does not come in on the other, and a size that transforms quickly.
    """

    def __init__(self, kernel: Kernel, grid: tuple[int, ...], *, periodic: bool, symmetric: bool) -> None:
        self.grid = grid
        self.sizes = grid if periodic else tuple(int(scipy.fft.next_fast_len(2 * size - 1, real=True)) for size in grid)
        self.symmetric = symmetric
        self.symbol = self._transform(spread(kernel, self.sizes))

    def _transform(self, field: Kernel) -> NDArray[Any]:
        symbol = scipy.fft.rfftn(field)
        return np.ascontiguousarray(symbol.real) if self.symmetric else symbol  # of k[d] = k[-d] it is real

    def multiply(self, x: Vector, symbol: NDArray[Any] | None = None) -> Vector:
        """The product, as a new vector; `symbol` in the place of the kernel's."""
        waves = scipy.fft.rfftn(x.reshape(self.grid), self.sizes)
        waves *= self.symbol if symbol is None else symbol
        product = scipy.fft.irfftn(waves, self.sizes, overwrite_x=True)
        inside: Vector = product[tuple(slice(size) for size in self.grid)].reshape(-1)
        return inside

    @cached_property
    def transposed(self) -> NDArray[Any]:
        return self.symbol if self.symmetric else self.symbol.conj()

    @cached_property
    def largest(self) -> float:
        """max |symbol|: the norm of the periodic product, and at least that of the other one, which is a part of it."""
        return float(np.abs(self.symbol).max(initial=0.0))

    @property
    def work(self) -> int:
        """Multiplications of two real transforms."""
        cells = float(np.prod(self.sizes, dtype=np.float64))
        return int(5.0 * cells * max(1.0, np.log2(max(cells, 1.0))))


def spread(kernel: Kernel, sizes: tuple[int, ...]) -> Kernel:
    """The same kernel[d] on a larger grid, where negative d count from its end; zero between."""
    for axis, (have, want) in enumerate(zip(kernel.shape, sizes, strict=True)):
        if have != want:
            ahead = (have + 1) // 2
            parts = np.split(kernel, [ahead], axis=axis)
            missing = [want - have if k == axis else size for k, size in enumerate(kernel.shape)]
            kernel = np.concatenate([parts[0], np.zeros(missing), parts[1]], axis=axis)
    return kernel


class CirculantInverse:
    """C^-1, where C is the circulant matrix (one level an axis) nearest to a symmetric A = K + diag(added):

        C[d] = mean of the A_ij with i - j = d modulo the grid                        (Chan 1988; Chan & Olkin 1994)

    Its eigenvalue for a wave f is f* A f / f* f, so that C is positive definite where A is. For a periodic A with an
    even diagonal C = A. Rows that are left out of r, and of what comes back, leave it definite, too: preconditioners
    of a free set are made so in contact problems (Vollebregt 2014).
    """

    def __init__(self, kernel: NDArray[np.float64], grid: tuple[int, ...], added: float) -> None:
        values = scipy.fft.rfftn(wrap_around(kernel, grid)).real + added
        largest = float(values.max())
        self.is_definite = bool(largest > 0.0 and values.min() >= -ROUNDING * largest)
        self._grid = grid
        self._symbol = 1.0 / np.where(values > LEAST * largest, values, largest) if self.is_definite else values

    def __call__(self, r: Vector) -> Vector:
        waves: NDArray[Any] = scipy.fft.rfftn(r.reshape(self._grid))
        waves *= self._symbol
        product: Vector = scipy.fft.irfftn(waves, self._grid, overwrite_x=True).reshape(-1)
        return product


def wrap_around(kernel: NDArray[np.float64], grid: tuple[int, ...]) -> NDArray[np.float64]:
    """The means of kernel[d] and kernel[d - n], in the shares in which a row of n cells has them: n - d and d of n."""
    for axis, size in enumerate(grid):
        if kernel.shape[axis] != size:  # a free boundary: 2n - 1 offsets
            place = np.arange(size)
            share = (place / size).reshape([-1 if k == axis else 1 for k in range(kernel.ndim)])
            ahead, behind = np.take(kernel, place, axis), np.take(kernel, place - size, axis)
            kernel = (1.0 - share) * ahead + share * behind
    return kernel


class ConvolutionOperator(Operator):
    """(A x)_i = sum over cells j of kernel[i - j] x_j  +  added_i x_i, by the fast Fourier transform.

    `shape` is the grid; cells are numbered in C order, and i - j is one offset an axis. kernel[d] is read as Python
    reads it: negative offsets count from the end. Its boundary is

    * "periodic": i - j is taken modulo the grid, and the kernel has the shape of the grid;
    * "free": there is nothing outside the grid. An axis of n cells has the offsets -(n-1) .. n-1, 2n - 1 in all.

    An axis of the kernel may also have any smaller odd number of offsets, -m .. m; it is zero beyond. In a centred
    array the middle is d = 0: `np.fft.ifftshift` puts it where it belongs.

    A is symmetric where kernel[d] = kernel[-d], which is looked up, not estimated. A product takes two real transforms,
    O(n log n), of grids of n cells ("periodic") or some 2n along each axis ("free": zeros around x, and what wraps
    around them is cut off). Rows, parts and the diagonal are read from the kernel; all of A is offered up to
    2,000 rows, and given by `to_dense` at any size.
    """

    abilities: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS, SUBMATRIX})
    form = "convolution"
    is_numbers = True

    def __init__(
        self, kernel: ArrayLike, shape: Sequence[int], boundary: str = "periodic", *, added: PerRow = 0.0
    ) -> None:
        if boundary not in BOUNDARIES:
            raise InvalidProblem(f"boundary is {boundary!r}; 'periodic' or 'free' is needed")
        if np.ndim(shape) != 1 or not tuple(shape):
            raise InvalidProblem(f"shape is {shape!r}; one size an axis is needed, for example (64, 64)")
        for axis, size in enumerate(shape):
            require_count(size, f"shape[{axis}]", least=1)
        self.grid: tuple[int, ...] = tuple(int(size) for size in shape)
        self.boundary = boundary
        self.kernel: NDArray[np.float64] = self._read_kernel(kernel)
        every = np.full(self.n, added) if np.ndim(added) == 0 else added
        self.added: Vector = as_vector(every, "added", self.n)

    def _read_kernel(self, given: ArrayLike) -> NDArray[np.float64]:
        array = np.asarray(given)
        require_real_dtype(array.dtype, "kernel")
        full = _full_kernel(self.grid, self.boundary)
        if array.ndim != len(full):
            raise InvalidProblem(f"kernel has {array.ndim} axes; the grid {self.grid} has {len(full)}")
        for axis, (have, want) in enumerate(zip(array.shape, full, strict=True)):
            if have != want and not (have < want and have % 2):
                raise InvalidProblem(
                    f"kernel has {have} offsets along axis {axis}; {want}, or fewer and an odd number, are needed for "
                    f"{self.grid[axis]} cells with a {self.boundary} boundary"
                )
        kernel = np.array(spread(np.asarray(array, dtype=np.float64), full), order="C")
        reject_non_finite(kernel, "kernel")
        return freeze(kernel)

    @property
    def n(self) -> int:
        return int(np.prod(self.grid, dtype=np.int64))

    @property
    def ability_set(self) -> frozenset[str]:
        return self.abilities | {TO_SPARSE} if self.n <= MOST_WRITTEN_ROWS else self.abilities

    @cached_property
    def spectrum(self) -> Spectrum:
        return self._transform(self.kernel)

    def _transform(self, kernel: NDArray[np.float64]) -> Spectrum:
        periodic = self.boundary == "periodic"
        return Spectrum(kernel, self.grid, periodic=periodic, symmetric=self._difference == 0.0)

    @cached_property
    def _magnitudes(self) -> Spectrum:
        """Of |kernel|."""
        return self._transform(np.abs(self.kernel))

    @cached_property
    def _difference(self) -> float:
        """max |kernel[d] - kernel[-d]|."""
        axes = tuple(range(self.kernel.ndim))
        mirrored = np.roll(np.flip(self.kernel, axes), 1, axes)
        return float(np.abs(self.kernel - mirrored).max())

    @property
    def _centre(self) -> float:
        return float(self.kernel.flat[0])

    @property
    def asymmetry(self) -> float:
        largest = max(float(np.abs(self.kernel.flat[1:]).max(initial=0.0)), float(np.abs(self.diagonal()).max()))
        return self._difference / largest if largest else 0.0

    def slack(self, x: Vector, b: Vector, out: Vector) -> Vector:
        np.add(self.spectrum.multiply(x), b, out=out)
        if self._has_added:
            out += self.added * x
        return out

    @cached_property
    def _has_added(self) -> bool:
        return bool(self.added.any())

    def pull(self, u: Vector) -> tuple[Vector, Vector]:
        """A^T u, and what its rounding errors are measured by: those of a transform go by the norm of all of u."""
        spectrum, size = self.spectrum, np.abs(u)
        sizes = np.maximum(self._magnitudes.multiply(size, self._magnitudes.transposed), 0.0)
        sizes += np.abs(self.added) * size
        sizes += np.log2(2.0 * np.prod(spectrum.sizes)) * spectrum.largest * np.linalg.norm(u)
        return spectrum.multiply(u, spectrum.transposed) + self.added * u, sizes

    @property
    def pulls_unformed(self) -> bool:
        return True

    def diagonal(self) -> Vector:
        diagonal: Vector = self._centre + self.added
        return diagonal

    def row_sizes(self) -> Vector:
        """|A_ij| is at most that of the largest entry of the kernel."""
        sizes: Vector = np.maximum(np.abs(self.kernel.flat[1:]).max(initial=0.0), np.abs(self.diagonal()))
        return sizes

    def _entries(self, rows: NDArray[Any], columns: NDArray[Any]) -> Matrix:
        """A_ij for arrays of rows and columns that broadcast."""
        places = zip(np.unravel_index(rows, self.grid), np.unravel_index(columns, self.grid), strict=True)
        entries: Matrix = self.kernel[tuple(np.subtract(i, j) for i, j in places)]
        same = np.equal(rows, columns)
        if self._has_added and same.any():
            entries += np.where(same, self.added[np.broadcast_to(rows, same.shape)], 0.0)
        return entries

    def diagonal_blocks(self, size: int, count: int) -> NDArray[np.float64]:
        first, within = size * np.arange(count)[:, None, None], np.arange(size)
        return self._entries(first + within[:, None], first + within)

    def row(self, i: int) -> tuple[NDArray[Any], Vector]:
        columns = np.arange(self.n)
        return columns, self._entries(np.full(self.n, i), columns)

    def submatrix(self, rows: Any, columns: Any) -> Matrix:
        every = np.arange(self.n)
        return self._entries(every[rows][:, None], every[columns][None, :])

    def to_dense(self) -> Matrix:
        with FILLING.work(float(self.n) ** 2):
            return self.submatrix(slice(None), slice(None))

    def to_sparse(self) -> sparse.csr_array:
        if TO_SPARSE not in self.ability_set:
            raise self._missing(TO_SPARSE)
        return sparse.csr_array(self.to_dense())

    def scale_rows(self, factors: Vector) -> ConvolutionOperator | None:
        """The same form where all factors are equal, as they are where `added` is."""
        if (factors != factors[0]).any():
            return None
        with np.errstate(over="ignore"):
            kernel, added = factors[0] * self.kernel, factors[0] * self.added
        if not (np.isfinite(kernel).all() and np.isfinite(added).all()):
            return None
        return ConvolutionOperator(kernel, self.grid, self.boundary, added=added)

    def with_added_diagonal(self, added: Vector) -> ConvolutionOperator:
        more = self.added + as_vector(added, "added", self.n)
        return ConvolutionOperator(self.kernel, self.grid, self.boundary, added=more)

    def norm_bound(self) -> float:
        """|A|_2 <= max |symbol|, and <= sqrt(|A|_1 |A|_inf); of the two the smaller one."""
        return self._norm

    @cached_property
    def _norm(self) -> float:
        ones, sizes = np.ones(self.n), self._magnitudes
        across, along = (float(sizes.multiply(ones, symbol).max()) for symbol in (sizes.symbol, sizes.transposed))
        return min(self.spectrum.largest, float(np.sqrt(across * along))) + float(np.abs(self.added).max())

    def rough_inverse(self) -> Callable[[Vector], Vector] | None:
        """That of the nearest circulant matrix, where A is symmetric and may be positive semi-definite."""
        inverse = self._circulant
        return inverse if inverse is not None and inverse.is_definite else None

    @cached_property
    def _circulant(self) -> CirculantInverse | None:
        return CirculantInverse(self.kernel, self.grid, float(self.added.mean())) if self._difference == 0.0 else None

    def work(self) -> int:
        return self.spectrum.work

    def arrays(self) -> dict[str, NDArray[Any]]:
        grid = np.array(self.grid, dtype=np.int64)
        return {"grid": grid, "boundary": np.array(self.boundary), "kernel": self.kernel, "added": self.added}

    @classmethod
    def from_arrays(cls, archive: Archive) -> Self:
        grid, boundary = tuple(archive.integers("grid").tolist()), archive.word("boundary")
        kernel, added = archive.numbers("kernel", len(grid)), archive.numbers("added")
        if kernel.shape != _full_kernel(grid, boundary):
            raise archive.fault("kernel", f"a kernel of shape {kernel.shape} is not one of a {boundary} grid of {grid}")
        with archive.guard.building("kernel"):
            return cls(kernel, grid, boundary, added=added)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.kernel, self.grid, self.boundary, self.added)


def _full_kernel(grid: tuple[int, ...], boundary: str) -> tuple[int, ...]:
    """How many offsets there are along each axis."""
    return grid if boundary == "periodic" else tuple(2 * size - 1 for size in grid)


def _remake(kernel: NDArray[np.float64], grid: tuple[int, ...], boundary: str, added: Vector) -> ConvolutionOperator:
    return ConvolutionOperator(kernel, grid, boundary, added=added)
