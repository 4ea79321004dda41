"""Cycles of linear multigrid on the levels of `levels.py`: a preconditioner, and the coarse part of it alone.

Before a coarse correction a sweep goes red-black, after it black-red: so that the V-cycle is a symmetric operator
r -> v, and a positive definite one, whatever the coarse matrices are, as long as a sweep converges.

`kind`      0: V-cycle.  1: F-cycle, every level corrected once more on the way up.  2: W-cycle, every level twice
`again`     one flag a level, working space
`bounded`   whether corrections of coarse levels have bounds, `low` and `high`; else these are not read

Bounds go down by monotone restriction (Kornhuber 1994, section 3.2): with lower <= x <= upper on a level, the
correction e of the next one has

    low_C  = max of lower_c - x_c,      high_C = min of upper_c - x_c      over the cells c that e_C moves (P_cC > 0).

As no row of P has a sum above 1, and low <= 0 <= high, x + P e is within its bounds wherever low <= e <= high.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel, part
from perp.kernels.multigrid.rows import (
    add_correction,
    add_to_rows,
    level_cells,
    level_faces,
    level_halved,
    level_sizes,
    parents,
    restrict_constant,
    restrict_faces,
    restrict_row,
    sweep_constant,
    sweep_faces,
    sweep_within,
)

ZERO, ONE, TWO = (np.uint64(k) for k in range(3))


# -- bounds of coarse corrections --------------------------------------------------------------------------------------


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


# -- cycles ------------------------------------------------------------------------------------------------------------


V_CYCLE, F_CYCLE, W_CYCLE = 0, 1, 2
COARSEST_SWEEPS = 20
"""On the coarsest level, where it has bounds."""


@inlined
def solve_coarsest(factor, right, value):
    """value = A^+ right with the factor of `levels.factor_coarsest`."""
    m = np.uint64(right.size)
    for i in range(m):
        total = right[i]
        for j in range(i):
            total -= factor[i * m + j] * value[j]
        value[i] = total
    for i in range(m):
        value[i] *= factor[i * m + i]
    for up in range(m):
        i = m - ONE - up
        total = value[i]
        for j in range(i + ONE, m):
            total -= factor[j * m + i] * value[j]
        value[i] = total if factor[i * m + i] != 0.0 else 0.0


@inlined
def clear_level(table, level, array):
    cells = level_cells(table, level, array)
    for c in range(np.uint64(cells.size)):
        cells[c] = 0.0


@inlined
def sweep_level(count, first, table, level, bounded, faces, inverse, low, high, right, value, line):
    """Sweeps on a coarse level, the colour `first` first."""
    sizes, storage = level_sizes(table, level), level_faces(table, level, *faces)
    r, v, own = level_cells(table, level, right), level_cells(table, level, value), level_cells(table, level, inverse)
    if bounded:
        least, most = level_cells(table, level, low), level_cells(table, level, high)
        sweep_within(count, storage, first, sizes, r, own, least, most, v, line)
    else:
        sweep_faces(count, storage, first, sizes, r, own, v, line)


@inlined
def hand_down(table, level, bounded, faces, diagonal, scale, low, high, right, value, lines):
    """The residual of a coarse level for the next one, which begins at zero."""
    sizes, halved, coarse_sizes = level_sizes(table, level), level_halved(table, level), level_sizes(table, level + ONE)
    v, own_scale = level_cells(table, level, value), level_cells(table, level, scale)
    restrict_faces(
        level_faces(table, level, *faces), sizes, halved, coarse_sizes, level_cells(table, level, right),
        level_cells(table, level, diagonal), own_scale, v, lines, level_cells(table, level + ONE, right),
    )  # fmt: skip
    if bounded:
        restrict_bounds(
            sizes, halved, coarse_sizes, own_scale, level_cells(table, level, low), level_cells(table, level, high), v,
            lines, level_cells(table, level + ONE, low), level_cells(table, level + ONE, high),
        )  # fmt: skip
    clear_level(table, level + ONE, value)


@part
def solve_coarse(
    kind, pre, post, table, bounded, faces, diagonal, inverse, scale, low, high, right, value, lines, factor, again
):
    """value ~ A^-1 right on level 1, from zero.

    (Every piece is called from one place only: the compiler copies it to each.)
    """
    last = np.uint64(table.shape[0]) - ONE
    for level in range(last + ONE):
        again[level] = kind != V_CYCLE
    level, is_going_down = ONE, True
    clear_level(table, level, value)
    while level > ZERO:
        is_last = level == last
        if is_last and not bounded:
            solve_coarsest(factor, level_cells(table, last, right), level_cells(table, last, value))
        else:
            count = COARSEST_SWEEPS if is_last else (pre if is_going_down else post)
            first = ZERO if is_going_down else ONE
            sweep_level(count, first, table, level, bounded, faces, inverse, low, high, right, value, lines[0])
        if is_going_down and not is_last:
            hand_down(table, level, bounded, faces, diagonal, scale, low, high, right, value, lines)
            level += ONE
        elif again[level] and not is_last:
            is_going_down = True
            again[level] = False
            if kind == W_CYCLE:
                for coarser in range(level + ONE, last):
                    again[coarser] = True
        else:
            is_going_down = False
            level -= ONE
            if level > ZERO:
                add_correction(
                    level_sizes(table, level), level_halved(table, level), level_sizes(table, level + ONE),
                    level_cells(table, level, scale), level_cells(table, level + ONE, value), lines,
                    level_cells(table, level, value),
                )  # fmt: skip


@kernel
def cycle(
    sweeps, table, cz, cy, cx, has_faces, own_z, own_y, own_x, given, r, own_inverse, own_scale, v,
    faces_z, faces_y, faces_x, diagonal, inverse, scale, right, value, line, coarse_line, factor, again,
):  # fmt: skip
    """v = the result of one V-cycle from zero for (A_FF + diag(shift)) v = r; v is 0 outside F."""
    sizes, lines, own = level_sizes(table, ZERO), (line, coarse_line), (own_z, own_y, own_x)
    for c in range(np.uint64(v.size)):
        v[c] = 0.0
    halves = min(np.uint64(table.size), TWO)  # two, which the compiler must not know, or it would copy all that follows
    for after in range(halves):  # red-black before the correction, black-red after it
        if has_faces:
            sweep_faces(sweeps, own, after, sizes, r, own_inverse, v, line)
        else:
            sweep_constant(sweeps, cz, cy, cx, after, sizes, r, own_inverse, v, line)
        if after == ONE or table.shape[0] == 1:
            continue
        halved, coarse_sizes = level_halved(table, ZERO), level_sizes(table, ONE)
        below = level_cells(table, ONE, right)
        if has_faces:
            restrict_faces(own, sizes, halved, coarse_sizes, r, given, own_scale, v, lines, below)
        else:
            restrict_constant(cz, cy, cx, sizes, halved, coarse_sizes, r, given, own_scale, v, lines, below)
        solve_coarse(
            V_CYCLE, sweeps, sweeps, table, False, (faces_z, faces_y, faces_x), diagonal, inverse, scale, right, right,
            right, value, lines, factor, again,
        )  # fmt: skip
        add_correction(sizes, halved, coarse_sizes, own_scale, level_cells(table, ONE, value), lines, v)


@kernel
def solve_below(
    kind, pre, post, table, bounded, y, own_scale, lower, upper, x, low, high,
    faces_z, faces_y, faces_x, diagonal, inverse, scale, right, value, line, coarse_line, factor, again,
):  # fmt: skip
    """value = v ~ -A_c^-1 P^T y on the level below the finest, of which there must be one, by one cycle.

    What becomes of v on the finest level is left to whoever has bounds to keep there (`multigrid_finest.propose`).
    `bounded`: lower <= x + P v <= upper.
    """
    sizes, halved, coarse_sizes = level_sizes(table, ZERO), level_halved(table, ZERO), level_sizes(table, ONE)
    nz, ny, nx = sizes
    clear_level(table, ONE, right)
    coarse_right = level_cells(table, ONE, right)
    for z in range(nz):
        for row in range(ny):
            at = (z * ny + row) * nx
            for j in range(nx):
                line[j] = -own_scale[at + j] * y[at + j]
            restrict_row(line, halved[2], nx, coarse_sizes[2], coarse_line)
            add_to_rows(z, row, halved, coarse_sizes, coarse_line, coarse_right)
    if bounded:
        restrict_bounds(
            sizes, halved, coarse_sizes, own_scale, lower, upper, x, (line, coarse_line),
            level_cells(table, ONE, low), level_cells(table, ONE, high),
        )  # fmt: skip
    solve_coarse(
        kind, pre, post, table, bounded, (faces_z, faces_y, faces_x), diagonal, inverse, scale, low, high, right,
        value, (line, coarse_line), factor, again,
    )  # fmt: skip
