"""The finest level of projected multigrid: what sweeps and corrections do there, in one pass over the memory each.

`smooth` walks through the grid as `grid/sweeping.py` does, one stage behind the other:

    take a step     x_c <- clip(x_c + length d_c, lower_c, upper_c)                           (where `is_stepping`)
    sweep           `count` red-black sweeps with over-relaxation, the colour `first` first
    look            y = A x + b, and who is free: all but cells at a bound whose slack keeps them there, and fixed ones
                    (where `is_looking`)

`propose` makes of the coarse levels' v the way d = clip(x + length P v, lower, upper) - x, and measures it one plane
behind, y · d and d · A d: along x + t d the objective is f + t y · d + t^2 / 2 d · A d. `measure_plane` does so in the
plane of two ways.

Sizes, couplings and tables are those of `rows.py`; `bounded`: as in `grid/constant.py`.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.grid import constant as grid_constant
from perp.kernels.grid import faces as grid_faces
from perp.kernels.grid.sweeping import CELLS, DEPTH, slack_of_row, turned, visit_colour
from perp.kernels.measures.projection import clip
from perp.kernels.multigrid.rows import (
    gather_rows,
    interpolate_row,
    level_cells,
    level_halved,
    level_sizes,
    product_constant,
    product_faces,
)

ZERO, ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(5))


# -- after a cycle: the least f in the plane of two ways ---------------------------------------------------------------


@kernel
def keep_free(free, s):
    """s = 0 in all cells that are not free."""
    for c in range(np.uint64(s.size)):
        s[c] = s[c] if free[c] else 0.0


@inlined
def dot_rows(u, at, v, start, n):
    """The sum of u[at + i] v[start + i]."""
    whole = n - n % FOUR
    s0 = s1 = s2 = s3 = 0.0
    for i in range(ZERO, whole, FOUR):
        s0 += u[at + i] * v[start + i]
        s1 += u[at + i + ONE] * v[start + i + ONE]
        s2 += u[at + i + TWO] * v[start + i + TWO]
        s3 += u[at + i + THREE] * v[start + i + THREE]
    for i in range(whole, n):
        s0 += u[at + i] * v[start + i]
    return (s0 + s1) + (s2 + s3)


@inlined
def product_of_row(product_row, storage, z, y, sizes, diagonal, v, line):
    if sizes[0] > ONE:
        product_row(storage, z, y, sizes, True, diagonal, v, line)
    else:
        product_row(storage, z, y, sizes, False, diagonal, v, line)


@inlined
def measure_plane_rows(product_row, storage, sizes, diagonal, b, x, d, s, line, second):
    nz, ny, nx = sizes
    slope_d = slope_s = dd = ds = ss = 0.0
    for z in range(nz):
        for row in range(ny):
            at = (z * ny + row) * nx
            product_of_row(product_row, storage, z, row, sizes, diagonal, x, line)
            for j in range(nx):
                line[j] += b[at + j]
            slope_d += dot_rows(d, at, line, ZERO, nx)
            slope_s += dot_rows(s, at, line, ZERO, nx)
            product_of_row(product_row, storage, z, row, sizes, diagonal, d, line)
            product_of_row(product_row, storage, z, row, sizes, diagonal, s, second)
            dd += dot_rows(d, at, line, ZERO, nx)
            ds += dot_rows(s, at, line, ZERO, nx)
            ss += dot_rows(s, at, second, ZERO, nx)
    return slope_d, slope_s, dd, ds, ss


@kernel
def measure_plane(nz, ny, nx, cz, cy, cx, has_faces, fz, fy, fx, diagonal, b, x, d, s, line, second):
    """(A x + b) · d, (A x + b) · s, d · A d, d · A s and s · A s in one pass."""
    if has_faces:
        return measure_plane_rows(product_faces, (fz, fy, fx), (nz, ny, nx), diagonal, b, x, d, s, line, second)
    return measure_plane_rows(product_constant, (cz, cy, cx), (nz, ny, nx), diagonal, b, x, d, s, line, second)


@kernel
def subtract_from(x, base):
    """base = x - base."""
    for c in range(np.uint64(x.size)):
        base[c] = x[c] - base[c]


@kernel
def project_combination(along_way, way, along_last, last, lower, upper, x, d):
    """d = clip(x + along_way way + along_last last, lower, upper) - x; returns how many cells met a bound."""
    clipped = 0
    for c in range(np.uint64(x.size)):
        to = x[c] + (along_way * way[c] + along_last * last[c])
        clipped += to < lower[c] or to > upper[c]
        d[c] = clip(to, lower[c], upper[c]) - x[c]
    return clipped


@kernel
def lengthen(length, d, way, lower, upper, x, last):
    """x += length d, and last = way + length d."""
    for c in range(np.uint64(x.size)):
        step = length * d[c]
        x[c] = clip(x[c] + step, lower[c], upper[c])
        last[c] = way[c] + step


# -- sweeps and corrections --------------------------------------------------------------------------------------------


around_constant, others_constant = grid_constant.around, grid_constant.others
around_faces, others_faces = grid_faces.around, grid_faces.others


@inlined
def step_row(at, nx, length, d, bounded, lower, upper, x):
    """The clip takes off rounding errors only where d leads to a point within the bounds, and length <= 1."""
    for i in range(at, at + nx):
        to = x[i] + length * d[i]
        x[i] = clip(to, lower[i], upper[i]) if bounded else clip(to, 0.0, np.inf)


@inlined
def mark_row(at, nx, bounded, lower, upper, x, y, free):
    """Returns how many cells changed sides."""
    changed = 0
    for i in range(at, at + nx):
        if bounded:
            is_free = ((x[i] > lower[i]) | (y[i] < 0.0)) & ((x[i] < upper[i]) | (y[i] > 0.0)) & (lower[i] < upper[i])
        else:
            is_free = (x[i] > 0.0) | (y[i] < 0.0)
        changed += is_free != free[i]
        free[i] = is_free
    return changed


@inlined
def walk(around, others, storage, stages, first, sizes, bounded, vectors, length, d, diagonal, y, free):
    """All stages; like `walk_colours` in `grid/sweeping.py`, each one plane and one row behind the last."""
    nz, ny, nx = sizes
    is_stepping, count, is_looking = stages
    _, _, b, lower, upper, x, _ = vectors
    before = ONE if is_stepping else ZERO
    end = before + TWO * np.uint64(count)
    total = end + ONE if is_looking else end
    begun, changed = ZERO, 0
    while begun < total:
        depth = min(DEPTH, total - begun)
        rows = ny + depth if ny == ONE else max(TWO, CELLS // (nx * (depth + ONE)))
        for top in range(ZERO, ny + depth - ONE, rows):
            for p in range(nz + depth - ONE):
                for h in range(depth):
                    if h <= p < nz + h:
                        stage, z = begun + h, p - h
                        for q in range(max(top, h), min(top + rows, ny + h)):
                            row = q - h
                            at = (z * ny + row) * nx
                            if stage < before:
                                step_row(at, nx, length, d, bounded, lower, upper, x)
                            elif stage < end:
                                colour = (first + stage - before) & ONE
                                visit_colour(around, others, storage, z, row, colour, sizes, bounded, vectors)
                            else:
                                slack_of_row(around, others, storage, z, row, sizes, ny > ONE, (diagonal, b, x, y))
                                changed += mark_row(at, nx, bounded, lower, upper, x, y, free)
        begun += depth
    return changed


@kernel
def smooth(
    table, cz, cy, cx, has_faces, fz, fy, fx, diagonal, relaxation, inverse, b, bounded, lower, upper,
    is_stepping, length, count, first, is_looking, d, x, y, free, line,
):  # fmt: skip
    """Returns how many cells changed sides, where it looks."""
    nz, ny, nx = level_sizes(table, ZERO)
    vectors = (relaxation, inverse, b, lower, upper, x, line)
    stages = (is_stepping, count, is_looking)
    if has_faces:
        sizes, faces = turned(nz, ny, nx, fz, fy, fx)
        return walk(
            around_faces, others_faces, faces, stages, first, sizes, bounded, vectors, length, d, diagonal, y, free
        )
    sizes, couplings = turned(nz, ny, nx, cz, cy, cx)
    return walk(
        around_constant,
        others_constant,
        couplings,
        stages,
        first,
        sizes,
        bounded,
        vectors,
        length,
        d,
        diagonal,
        y,
        free,
    )


@inlined
def propose_row(at, nx, length, scale, bounded, lower, upper, x, line, d):
    """Returns how many cells met a bound."""
    clipped = 0
    for j in range(nx):
        i = at + j
        to = x[i] + length * (scale[i] * line[j])
        if bounded:
            clipped += (to < lower[i]) | (to > upper[i])
            d[i] = clip(to, lower[i], upper[i]) - x[i]
        else:
            clipped += to < 0.0
            d[i] = clip(to, 0.0, np.inf) - x[i]
    return clipped


@inlined
def product_row(around, others, storage, z, y, sizes, spatial, diagonal, d, line):
    """line = A d in a row of cells."""
    at, rows = around(storage, z, y, sizes)
    last = sizes[2] - ONE
    for j in range(ONE, last):
        i = at + j
        line[j] = diagonal[i] * d[i] + others(storage, i, rows, spatial, d[i - ONE], d[i + ONE], d)
    right = d[at + ONE] if last > ZERO else 0.0
    line[ZERO] = diagonal[at] * d[at] + others(storage, at, rows, spatial, 0.0, right, d)
    if last > ZERO:
        i = at + last
        line[last] = diagonal[i] * d[i] + others(storage, i, rows, spatial, d[i - ONE], 0.0, d)


@inlined
def walk_proposal(around, others, storage, sizes, below, length, diagonal, scale, bounded, vectors, d, lines):
    nz, ny, nx = sizes
    halved, coarse_sizes, coarse_value = below
    lower, upper, x, y = vectors
    line, coarse_line = lines
    slope = curvature = 0.0
    clipped = 0
    for p in range(nz + ONE):
        if p < nz:
            for row in range(ny):
                at = (p * ny + row) * nx
                gather_rows(p, row, halved, coarse_sizes, coarse_value, coarse_line)
                interpolate_row(coarse_line, halved[2], nx, coarse_sizes[2], line)
                if bounded:
                    clipped += propose_row(at, nx, length, scale, True, lower, upper, x, line, d)
                else:
                    clipped += propose_row(at, nx, length, scale, False, lower, upper, x, line, d)
                slope += dot_rows(y, at, d, at, nx)
        if p > ZERO:
            for row in range(ny):
                if ny > ONE:
                    product_row(around, others, storage, p - ONE, row, sizes, True, diagonal, d, line)
                else:
                    product_row(around, others, storage, p - ONE, row, sizes, False, diagonal, d, line)
                curvature += dot_rows(d, ((p - ONE) * ny + row) * nx, line, ZERO, nx)
    return slope, curvature, clipped


@kernel
def propose(
    table, cz, cy, cx, has_faces, fz, fy, fx, diagonal, length, scale, value, bounded, lower, upper, x, y, d,
    line, coarse_line,
):  # fmt: skip
    """Returns y · d, d · A d, and how many cells met a bound; `value` is v of the coarse levels, of which there is one.

    Axes are turned as in `grid/sweeping.py`, those of the coarse level with them.
    """
    nz, ny, nx = level_sizes(table, ZERO)
    halved_z, halved_y, halved_x = level_halved(table, ZERO)
    coarse_nz, coarse_ny, coarse_nx = level_sizes(table, ONE)
    if nz > ONE:
        coarse_sizes, halved = (coarse_nz, coarse_ny, coarse_nx), (halved_z, halved_y, halved_x)
    elif ny > ONE:
        coarse_sizes, halved = (coarse_ny, coarse_nz, coarse_nx), (halved_y, halved_z, halved_x)
    else:
        coarse_sizes, halved = (coarse_nx, coarse_ny, coarse_nz), (halved_x, halved_y, halved_z)
    below = (halved, coarse_sizes, level_cells(table, ONE, value))
    vectors, lines = (lower, upper, x, y), (line, coarse_line)
    if has_faces:
        sizes, faces = turned(nz, ny, nx, fz, fy, fx)
        return walk_proposal(
            around_faces, others_faces, faces, sizes, below, length, diagonal, scale, bounded, vectors, d, lines
        )
    sizes, couplings = turned(nz, ny, nx, cz, cy, cx)
    return walk_proposal(
        around_constant, others_constant, couplings, sizes, below, length, diagonal, scale, bounded, vectors, d, lines
    )
