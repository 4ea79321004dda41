"""Coarse levels of a grid matrix A_FF + diag(shift), for any set F of free cells, in a few passes over the grid.

Of the levels below the finest (`multigrid_table` says where they lie) are stored

`faces_*`   A[C, C - e] <= 0 as in a stencil with faces      `diagonal`, `inverse`   A_CC; one over it, 0 in dead cells
`scale`     S of P = S T (`multigrid_transfer`)              `right`, `value`        r and v of the level's A v = r

While levels are made, `right` holds the leaks of cells and `value` their masses (`multigrid_coarsening`).
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.multigrid.coarsening import TINY, coarsen_level, one_if, sum_constant, sum_faces, sum_further
from perp.kernels.multigrid.table import level_cells, level_faces, level_halved, level_sizes

ZERO, ONE = np.uint64(0), np.uint64(1)


@kernel
def make_levels(
    table, cz, cy, cx, has_faces, own_z, own_y, own_x, given, shift, free, own_inverse, own_scale,
    faces_z, faces_y, faces_x, diagonal, inverse, scale, right, value, line, coarse_line, factor, work,
):  # fmt: skip
    """All levels of A_FF + diag(shift), and the factor of the coarsest; own_* belong to the finest.

    Returns the number of closed regions, in which nothing holds a constant, if there are cells enough to tell.
    """
    for c in range(np.uint64(own_inverse.size)):
        size = abs(given[c] + shift[c])
        own_inverse[c] = one_if(free[c]) / (size if size > 0.0 else 1.0)
    closed = 0.0
    levels = np.uint64(table.shape[0])
    lines = (work[0], work[1], work[2], work[3], work[4], work[5], work[6])
    for level in range(ONE, levels):
        upper = level - ONE
        sizes, halved, coarse_sizes = level_sizes(table, upper), level_halved(table, upper), level_sizes(table, level)
        new_z, new_y, new_x = level_faces(table, level, faces_z, faces_y, faces_x)
        coarse = (
            new_z, new_y, new_x, level_cells(table, level, diagonal), level_cells(table, level, inverse),
            level_cells(table, level, scale), level_cells(table, level, right), level_cells(table, level, value),
        )  # fmt: skip
        if upper > ZERO:
            closed += coarsen_level(
                sum_further, level_faces(table, upper, faces_z, faces_y, faces_x), sizes, halved, coarse_sizes, given,
                shift, level_cells(table, upper, inverse), level_cells(table, upper, scale),
                level_cells(table, upper, right), level_cells(table, upper, value), coarse, lines,
            )  # fmt: skip
        elif has_faces:
            closed += coarsen_level(
                sum_faces, (own_z, own_y, own_x), sizes, halved, coarse_sizes, given, shift,
                own_inverse, own_scale, right, value, coarse, lines,
            )  # fmt: skip
        else:
            closed += coarsen_level(
                sum_constant, (cz, cy, cx), sizes, halved, coarse_sizes, given, shift,
                own_inverse, own_scale, right, value, coarse, lines,
            )  # fmt: skip
    if levels > ONE:
        last = levels - ONE
        closed += factor_coarsest(
            level_sizes(table, last), level_faces(table, last, faces_z, faces_y, faces_x),
            level_cells(table, last, diagonal), level_cells(table, last, inverse), factor,
        )  # fmt: skip
    return closed


@inlined
def factor_coarsest(sizes, faces, diagonal, inverse, factor):
    """A = L D L^T, L below the diagonal and 1 / D on it; 0 for a pivot that is one of rounding errors, and dead cells.

    Only a closed region leaves such a pivot: its last cell is then held at zero, as good as any other value.
    """
    nz, ny, nx = sizes
    fz, fy, fx = faces
    m = nz * ny * nx
    for k in range(m * m):
        factor[k] = 0.0
    for i in range(m):
        factor[i * m + i] = diagonal[i] if inverse[i] > 0.0 else 0.0
        if i >= ny * nx:
            factor[i * m + i - ny * nx] += fz[i]
        if i >= nx and (i // nx) % ny > ZERO:
            factor[i * m + i - nx] += fy[i]
        if i % nx > ZERO:
            factor[i * m + i - ONE] += fx[i]
    closed = 0.0
    for j in range(m):
        pivot = factor[j * m + j]
        over = 1.0 / pivot if pivot > TINY * diagonal[j] else 0.0
        closed += one_if(inverse[j] > 0.0 and over == 0.0)
        for i in range(j + ONE, m):
            share = factor[i * m + j] * over
            if share != 0.0:
                for k in range(j + ONE, i + ONE):
                    factor[i * m + k] -= share * factor[k * m + j]
        for i in range(j + ONE, m):
            factor[i * m + j] *= over
        factor[j * m + j] = over
    return closed
