"""Products and sweeps on a grid whose couplings are one number an axis. (How a grid is walked: `sweeping.py`.)

With A_cc = diagonal[c] and cz, cy, cx between a cell and its neighbours along z, y, x (none outside the grid):

    slack            out = A x + b
    sweep_colours    `count` red-black sweeps, the colour `first` (0: even z + y + x) first, of
                     x_c <- clip((1 - relaxation) x_c - relaxation inverse[c] (A x - D x + b)_c, lower_c, upper_c)
    sweep_in_order   `count` sweeps of the same in the order of the cells' numbers, or `backward`

nz, ny, nx, first      numpy.uint64; a planar grid has nz = 1, a line nz = ny = 1; none is 0
symmetric              every second sweep takes the colours the other way round: red, black, black, red, ...
inverse                1 / diagonal; 0 for a fixed cell, whose diagonal then may be anything
bounded                False: lower is 0 and upper is infinite everywhere, and the two arrays are not read
diagonal, inverse, b, lower, upper: n = nz ny nx numbers each, read-only; x, out: n, writable; line: nx, working space
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.grid.sweeping import shifts_around, turned, walk_colours, walk_in_order, walk_products

ZERO = np.uint64(0)


@inlined
def around(couplings, z, y, sizes):
    """Where the row (z, y) begins; offsets of the rows beside it, and their couplings, 0 where there is no row."""
    _, ny, nx = sizes
    cz, cy, _ = couplings
    shifts = shifts_around(z, y, sizes)
    below, above, front, behind = shifts
    z_weights = (cz if below > ZERO else 0.0, cz if above > ZERO else 0.0)
    y_weights = (cy if front > ZERO else 0.0, cy if behind > ZERO else 0.0)
    return (z * ny + y) * nx, (shifts, z_weights + y_weights)


@inlined
def others(couplings, i, rows, spatial, left, right, x):
    """(A x)_i without A_ii x_i."""
    below, above, front, behind = rows[0]
    w_below, w_above, w_front, w_behind = rows[1]
    total = couplings[2] * (left + right) + w_below * x[i - below] + w_above * x[i + above]
    return total + w_front * x[i - front] + w_behind * x[i + behind] if spatial else total


@inlined
def along(couplings, i, forward):
    return couplings[2]


@kernel
def slack(nz, ny, nx, cz, cy, cx, diagonal, b, x, out):
    sizes, couplings = turned(nz, ny, nx, cz, cy, cx)
    walk_products(around, others, couplings, sizes, (diagonal, b, x, out))


@kernel
def sweep_colours(
    count, first, symmetric, nz, ny, nx, cz, cy, cx, relaxation, inverse, b, bounded, lower, upper, x, line
):
    sizes, couplings = turned(nz, ny, nx, cz, cy, cx)
    vectors = (relaxation, inverse, b, lower, upper, x, line)
    walk_colours(around, others, couplings, count, first, symmetric, sizes, bounded, vectors)


@kernel
def sweep_in_order(count, backward, nz, ny, nx, cz, cy, cx, relaxation, inverse, b, bounded, lower, upper, x, line):
    sizes, couplings = turned(nz, ny, nx, cz, cy, cx)
    vectors = (relaxation, inverse, b, lower, upper, x, line)
    walk_in_order(around, others, along, couplings, count, backward, sizes, bounded, vectors)
