"""Bounds of coarse corrections (monotone restriction, Kornhuber 1994, section 3.2).

With lower <= x <= upper on a level, the correction e of the next one has the bounds

    low_C  = max of lower_c - x_c,      high_C = min of upper_c - x_c      over the cells c that e_C moves (P_cC > 0).

As no row of P has a sum above 1, and low <= 0 <= high, x + P e is within its bounds wherever low <= e <= high.

(After a change here touch `multigrid_cycle.py`: see compile.py.)
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, part
from perp.kernels.multigrid.transfer import parents

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


@inlined
def least_of_row(line, halved, nx, coarse_nx, out):
    """out_I = the least of the cells along x that the coarse cell I reaches."""
    if halved == ZERO:
        for i in range(nx):
            out[i] = line[i]
        return
    last = coarse_nx - ONE
    for i in range(ONE, last):
        j = i + i
        out[i] = min(min(line[j], line[j + ONE]), min(line[j - ONE], line[j + TWO]))
    for i in (ZERO, last):
        j = i + i
        least = line[j]
        for k in range(j - ONE if j > ZERO else j, min(j + TWO + ONE, nx)):
            least = min(least, line[k])
        out[i] = least


@inlined
def lower_rows(z, y, halved, coarse_sizes, line, coarse):
    """coarse = min(coarse, line) in the coarse rows that reach the fine row (z, y)."""
    halved_z, halved_y, _ = halved
    coarse_nz, coarse_ny, coarse_nx = coarse_sizes
    z_near, wz_near, z_far, wz_far = parents(z, halved_z, coarse_nz)
    y_near, wy_near, y_far, wy_far = parents(y, halved_y, coarse_ny)
    for z_to, wz in ((z_near, wz_near), (z_far, wz_far)):
        for y_to, wy in ((y_near, wy_near), (y_far, wy_far)):
            if wz * wy > 0.0:
                to = (z_to * coarse_ny + y_to) * coarse_nx
                for i in range(coarse_nx):
                    coarse[to + i] = min(coarse[to + i], line[i])


@part
def restrict_bounds(sizes, halved, coarse_sizes, scale, lower, upper, x, lines, low, high):
    nz, ny, nx = sizes
    line, coarse_line = lines
    for c in range(np.uint64(low.size)):
        low[c] = high[c] = np.inf
    for z in range(nz):
        for y in range(ny):
            at = (z * ny + y) * nx
            for j in range(nx):
                line[j] = upper[at + j] - x[at + j] if scale[at + j] > 0.0 else np.inf
            least_of_row(line, halved[2], nx, coarse_sizes[2], coarse_line)
            lower_rows(z, y, halved, coarse_sizes, coarse_line, high)
            for j in range(nx):
                line[j] = x[at + j] - lower[at + j] if scale[at + j] > 0.0 else np.inf
            least_of_row(line, halved[2], nx, coarse_sizes[2], coarse_line)
            lower_rows(z, y, halved, coarse_sizes, coarse_line, low)
    for c in range(np.uint64(low.size)):
        low[c] = -low[c]
