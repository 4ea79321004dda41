"""The levels of a stencil matrix on a changing set of free cells, and one cycle of linear multigrid on them.

Also where the levels lie in flat arrays, and the regions that couplings other than zero hold together.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.kernels.grid import nesting
from perp.kernels.multigrid import cycle, finest
from perp.kernels.multigrid import levels as kernels
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import StencilOperator

COARSEST = 40
"""Cells of a level that is small enough to be factored."""
WEAK = 0.25
"""An axis whose couplings are less than this share of the strongest is left as it is: sweeps do not smooth along it."""
COLUMNS = 10
"""nz, ny, nx; first cell; first face across z, y, x; whether z, y, x are halved (`perp.kernels.multigrid.levels`)."""
Table = NDArray[np.uint64]
Sizes = tuple[int, int, int]

Mask = NDArray[np.bool_]
NO_FACES = freeze(np.zeros(0))


def grid_sizes(A: StencilOperator) -> Sizes | None:
    """The grid as (nz, ny, nx), axes of one cell left out; None where more than three are left, or no cell."""
    sizes = [size for size in A.grid if size > 1]
    if len(sizes) > 3 or A.n == 0:
        return None
    nz, ny, nx = [1] * (3 - len(sizes)) + sizes
    return nz, ny, nx


def used_axes(A: StencilOperator) -> list[int | None]:
    """Which axis of A is z, y and x; None for a missing one."""
    axes: list[int | None] = [axis for axis, size in enumerate(A.grid) if size > 1]
    return [None] * (3 - len(axes)) + axes


def coupling_strengths(A: StencilOperator) -> list[float]:
    """The mean size of the couplings along z, y and x; 0 along a missing axis."""
    strengths = []
    for axis in used_axes(A):
        between = 0.0 if axis is None else np.abs(A.between(axis))
        strengths.append(float(np.mean(between)))
    return strengths


def make_table(sizes: Sizes, strengths: list[float]) -> Table:
    """One row a level, the finest first; cells and faces of the finest are not counted, as they are A's own."""
    rows = []
    cells = faces_z = faces_y = faces_x = 0
    finest = True
    while True:
        nz, ny, nx = sizes
        n = prod(sizes)
        is_last = n == 1 or (n <= COARSEST and not finest)
        halved = [0, 0, 0] if is_last else _halved(sizes, strengths)
        rows.append([nz, ny, nx, cells, faces_z, faces_y, faces_x, *halved])
        if is_last:
            return np.array(rows, dtype=np.uint64)
        if not finest:
            cells, faces_z, faces_y, faces_x = cells + n, faces_z + n + ny * nx, faces_y + n + nx, faces_x + n + 1
        finest = False
        nz, ny, nx = ((size + 1) // 2 if half else size for size, half in zip(sizes, halved, strict=True))
        sizes = nz, ny, nx
        strengths = [one / 4.0 if half else one for one, half in zip(strengths, halved, strict=True)]


def _halved(sizes: Sizes, strengths: list[float]) -> list[int]:
    """All axes along which cells are about as strongly coupled as anywhere.

    (Halving an axis divides its couplings, beside those of the others, by 4: half as many faces, twice as far apart.)
    """
    long = [size > 1 for size in sizes]
    strongest = max(one for one, is_long in zip(strengths, long, strict=True) if is_long)
    return [int(is_long and one >= WEAK * strongest) for one, is_long in zip(strengths, long, strict=True)]


class GridHierarchy:
    """`GridHierarchy(A)`, `follow(free, shift)`, then `cycle(r, out)`: out ~ (A_FF + diag(shift)_FF)^-1 r_F.

    Nothing is stored of the finest level but one over its diagonal and the scale of its interpolation; all coarser
    levels together are as large as one to three vectors. How they are made: `perp.kernels.multigrid.levels`.
    """

    inverse: Vector
    scale: Vector

    def __init__(self, A: StencilOperator) -> None:
        sizes = grid_sizes(A)
        if sizes is None:
            raise ValueError(f"the grid {A.grid} has no cell, or more than three axes")
        n = A.n
        self.A = A
        self.table: Table = make_table(sizes, coupling_strengths(A))
        self._stencil = stencil_arguments(A, sizes)
        self.inverse, self.scale = np.zeros(n), np.zeros(n)
        self.closed: int = 0
        """Regions of free cells in which nothing holds a constant."""
        self._zero = np.zeros(0)
        self._bounds = np.zeros(0), np.zeros(0)

        levels = [[int(size) for size in row[:3]] for row in self.table[1:]]
        cells = sum(prod(level) for level in levels)
        planes, rows = sum(ny * nx for _, ny, nx in levels), sum(nx for _, _, nx in levels)
        self.faces: tuple[Vector, ...] = tuple(np.zeros(cells + more) for more in (planes, rows, len(levels)))
        self._vectors = tuple(np.zeros(cells) for _ in range(5))
        last = prod(levels[-1]) if levels else 0
        self._work = (np.zeros(sizes[2]), np.zeros(sizes[2]), np.zeros(last * last))
        self._again = np.zeros(len(levels) + 1, dtype=np.bool_)
        self._lines = np.zeros((7, sizes[2] + 2))
        self._diagonal = A.centre

    def follow(self, free: Mask, shift: Vector | None = None) -> None:
        """Make the levels for these cells; the shift is added to the diagonal."""
        A = self.A
        if shift is None or not shift.any():
            if self._zero.size != A.n:
                self._zero = np.zeros(A.n)
            shift, self._diagonal = self._zero, A.centre
        else:
            self._diagonal = freeze(A.centre + shift)
        closed = kernels.make_levels(
            self.table, *self._stencil, A.centre, writable(shift), writable(free), self.inverse, self.scale,
            *self.faces, *self._vectors, *self._work, self._lines,
        )  # fmt: skip
        self.closed = int(closed)

    def cycle(self, r: Vector, out: Vector, sweeps: int = 1) -> None:
        """One V-cycle with so many sweeps before and after."""
        cycle.cycle(
            sweeps, self.table, *self._stencil, self._diagonal, writable(r), self.inverse, self.scale, out,
            *self.faces, *self._vectors, *self._work, self._again,
        )  # fmt: skip

    def solve_below(
        self, y: Vector, kind: int, pre: int, post: int, within: tuple[Vector, Vector, Vector] | None = None
    ) -> None:
        """v ~ -A_c^-1 P^T y by one cycle on all levels but the finest, if there are others; `propose` reads it.

        `within` = (lower, upper, x): lower <= x + P v <= upper, by bounds on all levels (`multigrid_bounds`).
        """
        if self.levels == 1:
            return
        lower, upper, x = (self.A.centre, self.A.centre, y) if within is None else within
        if within is not None and self._bounds[0].size == 0:
            self._bounds = np.zeros(self._vectors[0].size), np.zeros(self._vectors[0].size)
        cycle.solve_below(
            kind, pre, post, self.table, within is not None, y, self.scale, lower, upper, x, *self._bounds,
            *self.faces, *self._vectors, *self._work, self._again,
        )  # fmt: skip

    def propose(
        self, length: float, bounds: tuple[bool, Vector, Vector], x: Vector, y: Vector, out: Vector
    ) -> tuple[float, float, int]:
        """out = clip(x + length P v, lower, upper) - x; returns y · out, out · A out, and how many cells met a bound.

        `bounds` = (bounded, lower, upper) as the sweeps have them.
        """
        if self.levels == 1:
            out[:] = 0.0
            return 0.0, 0.0, 0
        found: tuple[float, float, int] = finest.propose(
            self.table, *self._stencil, self.A.centre, length, self.scale, self._vectors[4], *bounds, x, y, out,
            *self._work[:2],
        )  # fmt: skip
        return found

    def smooth(self, sweeps: tuple[Any, ...], stages: tuple[Any, ...], arrays: tuple[Any, ...]) -> int:
        """A step, sweeps and a look at the finest level in one pass: `multigrid_finest.smooth`."""
        changed: int = finest.smooth(
            self.table, *self._stencil, self.A.centre, *sweeps, *stages, *arrays, self._work[0]
        )
        return changed

    def measure_plane(self, b: Vector, x: Vector, d: Vector, s: Vector) -> tuple[float, ...]:
        """(A x + b) · d, (A x + b) · s, d · A d, d · A s, s · A s."""
        sizes, lines = self.table[0, :3], self._work[:2]
        found: tuple[float, ...] = finest.measure_plane(*sizes, *self._stencil, self.A.centre, b, x, d, s, *lines)
        return found

    @property
    def levels(self) -> int:
        return int(self.table.shape[0])

    @property
    def stored(self) -> int:
        """Numbers that are kept for all levels."""
        return sum(array.size for array in (self.inverse, self.scale, *self.faces, *self._vectors, *self._work))


def stencil_arguments(A: StencilOperator, sizes: Sizes) -> tuple[Any, ...]:
    """Couplings along z, y, x; whether there is one for each face, and these: as `multigrid_levels` reads them."""
    axes = used_axes(A)
    numbers = [0.0 if axis is None or A.couplings is None else float(A.couplings[axis]) for axis in axes]
    faces = [NO_FACES if axis is None or A.faces is None else A.faces[axis] for axis in axes]
    if A.faces is not None:  # missing axes are read as zeros, so that no kernel needs to ask
        faces = [
            freeze(np.zeros(A.n + stride)) if own is NO_FACES else own
            for own, stride in zip(faces, (sizes[1] * sizes[2], sizes[2], 1), strict=True)
        ]
    return *numbers, A.faces is not None, *faces


def writable(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, or a copy of a read-only one: kernels are compiled for one kind of array only."""
    return array if array.flags.writeable else array.copy()


def find_grid_regions(A: StencilOperator, rounding: float) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Of each cell the first one of its region, and whether its row adds up to more than this share of its terms.

    A grid of up to three axes that has cells. A is not formed: a few passes over it.
    """
    sizes = grid_sizes(A)
    assert sizes is not None
    region, is_open = np.empty(A.n, dtype=np.uint32), np.empty(A.n, dtype=np.bool_)
    arguments = stencil_arguments(A, sizes)
    nesting.find_regions(*(np.uint64(size) for size in sizes), *arguments, A.centre, rounding, region, is_open)
    return region, is_open
