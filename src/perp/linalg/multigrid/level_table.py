"""Sizes of the levels of a grid hierarchy, and where they lie in flat arrays."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from perp.problems.operators import StencilOperator

COARSEST = 40
"""Cells of a level that is small enough to be factored."""

WEAK = 0.25
"""An axis whose couplings are less than this share of the strongest is left as it is: sweeps do not smooth along it."""

COLUMNS = 10
"""nz, ny, nx; first cell; first face across z, y, x; whether z, y, x are halved (`perp.kernels.multigrid.levels`)."""

Table = NDArray[np.uint64]
Sizes = tuple[int, int, int]


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
