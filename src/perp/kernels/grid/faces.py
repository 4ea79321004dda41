"""Products and sweeps on a grid with a coupling of its own on every face. (How a grid is walked: `sweeping.py`.)

The kernels and their arguments are those of `constant.py`, with three arrays in the place of cz, cy, cx:

    z_faces[c] = A[c, c - ny nx],   z_faces[c + ny nx] = A[c, c + ny nx]           n + ny nx numbers
    y_faces[c] = A[c, c - nx],      y_faces[c + nx] = A[c, c + nx]                 n + nx
    x_faces[c] = A[c, c - 1],       x_faces[c + 1] = A[c, c + 1]                   n + 1

zero on the rim of the grid, read-only (`StencilOperator.faces`). Where nz is 1 the first is not read, nor is the second
where ny is 1, too: an empty array will do.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.grid.sweeping import shifts_around, turned, walk_colours, walk_in_order, walk_products

ONE = np.uint64(1)


@inlined
def around(faces, z, y, sizes):
    """Where the row (z, y) begins; offsets of the rows beside it, and the strides of their faces."""
    _, ny, nx = sizes
    return (z * ny + y) * nx, (shifts_around(z, y, sizes), ny * nx, nx)


@inlined
def others(faces, i, rows, spatial, left, right, x):
    """(A x)_i without A_ii x_i."""
    below, above, front, behind = rows[0]
    plane, width = rows[1], rows[2]
    z_faces, y_faces, x_faces = faces
    total = x_faces[i] * left + x_faces[i + ONE] * right
    total += z_faces[i] * x[i - below] + z_faces[i + plane] * x[i + above]
    return total + y_faces[i] * x[i - front] + y_faces[i + width] * x[i + behind] if spatial else total


@inlined
def along(faces, i, forward):
    return faces[2][i] if forward else faces[2][i + ONE]


@kernel
def slack(nz, ny, nx, z_faces, y_faces, x_faces, diagonal, b, x, out):
    sizes, faces = turned(nz, ny, nx, z_faces, y_faces, x_faces)
    walk_products(around, others, faces, sizes, (diagonal, b, x, out))


@kernel
def sweep_colours(
    count,
    first,
    symmetric,
    nz,
    ny,
    nx,
    z_faces,
    y_faces,
    x_faces,
    relaxation,
    inverse,
    b,
    bounded,
    lower,
    upper,
    x,
    line,
):
    sizes, faces = turned(nz, ny, nx, z_faces, y_faces, x_faces)
    vectors = (relaxation, inverse, b, lower, upper, x, line)
    walk_colours(around, others, faces, count, first, symmetric, sizes, bounded, vectors)


@kernel
def sweep_in_order(
    count, backward, nz, ny, nx, z_faces, y_faces, x_faces, relaxation, inverse, b, bounded, lower, upper, x, line
):
    sizes, faces = turned(nz, ny, nx, z_faces, y_faces, x_faces)
    vectors = (relaxation, inverse, b, lower, upper, x, line)
    walk_in_order(around, others, along, faces, count, backward, sizes, bounded, vectors)
