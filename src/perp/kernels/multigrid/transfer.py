"""Between two levels of a grid hierarchy: restriction and interpolation, row by row.

Along an axis that is halved the fine cells 2I and 2I + 1 lie in the coarse cell I, and linear interpolation between the
centres of coarse cells gives

    (T e)_2I = 3/4 e_I + 1/4 e_(I-1),      (T e)_(2I+1) = 3/4 e_I + 1/4 e_(I+1),      e = 0 outside and in dead cells;

in space T is the product over the axes, and P = S T with a diagonal S: 0 in held cells, 1 beside a zero value, and one
over the row sum of T beside a wall, so that P keeps constants where nothing holds them. The restriction is P^T.

(After a change here touch the other `multigrid_*.py`: see compile.py.)
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, part
from perp.kernels.multigrid.rows import product_constant, product_faces

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)

NEAR, FAR = 0.75, 0.25


@inlined
def parents(place, halved, coarse_size):
    """The two coarse places that a fine one is between, and their weights along this axis."""
    if halved == ZERO:
        return place, 1.0, place, 0.0
    near = place >> ONE
    if place & ONE == ZERO:
        return near, NEAR, (near - ONE if near > ZERO else near), (FAR if near > ZERO else 0.0)
    is_inside = near + ONE < coarse_size
    return near, NEAR, (near + ONE if is_inside else near), (FAR if is_inside else 0.0)


@inlined
def restrict_row(line, halved, nx, coarse_nx, out):
    """out = T^T line along x."""
    if halved == ZERO:
        for i in range(nx):
            out[i] = line[i]
        return
    last = coarse_nx - ONE
    for i in range(ONE, last):
        j = i + i
        out[i] = NEAR * (line[j] + line[j + ONE]) + FAR * (line[j - ONE] + line[j + TWO])
    for i in (ZERO, last):
        j = i + i
        total = NEAR * line[j]
        if j + ONE < nx:
            total += NEAR * line[j + ONE]
        if j > ZERO:
            total += FAR * line[j - ONE]
        if j + TWO < nx:
            total += FAR * line[j + TWO]
        out[i] = total


@inlined
def add_to_rows(z, y, halved, coarse_sizes, line, coarse):
    """coarse += T^T of what `line` holds for the fine rows (z, y), already restricted along x."""
    halved_z, halved_y, _ = halved
    coarse_nz, coarse_ny, coarse_nx = coarse_sizes
    z_near, wz_near, z_far, wz_far = parents(z, halved_z, coarse_nz)
    y_near, wy_near, y_far, wy_far = parents(y, halved_y, coarse_ny)
    for z_to, wz in ((z_near, wz_near), (z_far, wz_far)):
        for y_to, wy in ((y_near, wy_near), (y_far, wy_far)):
            weight = wz * wy
            if weight > 0.0:
                to = (z_to * coarse_ny + y_to) * coarse_nx
                for i in range(coarse_nx):
                    coarse[to + i] += weight * line[i]


@inlined
def gather_rows(z, y, halved, coarse_sizes, coarse, line):
    """line = T coarse for the fine rows (z, y), still to be interpolated along x."""
    halved_z, halved_y, _ = halved
    coarse_nz, coarse_ny, coarse_nx = coarse_sizes
    z_near, wz_near, z_far, wz_far = parents(z, halved_z, coarse_nz)
    y_near, wy_near, y_far, wy_far = parents(y, halved_y, coarse_ny)
    nn, nf = (z_near * coarse_ny + y_near) * coarse_nx, (z_near * coarse_ny + y_far) * coarse_nx
    if wz_far > 0.0:
        fn, ff = (z_far * coarse_ny + y_near) * coarse_nx, (z_far * coarse_ny + y_far) * coarse_nx
        for i in range(coarse_nx):
            near = wy_near * coarse[nn + i] + wy_far * coarse[nf + i]
            line[i] = wz_near * near + wz_far * (wy_near * coarse[fn + i] + wy_far * coarse[ff + i])
    else:
        for i in range(coarse_nx):
            line[i] = wz_near * (wy_near * coarse[nn + i] + wy_far * coarse[nf + i])


@inlined
def interpolate_row(line, halved, nx, coarse_nx, out):
    """out = T line along x."""
    if halved == ZERO:
        for i in range(nx):
            out[i] = line[i]
        return
    last = coarse_nx - ONE
    for i in range(ONE, last):
        j = i + i
        out[j] = NEAR * line[i] + FAR * line[i - ONE]
        out[j + ONE] = NEAR * line[i] + FAR * line[i + ONE]
    for i in (ZERO, last):
        j = i + i
        out[j] = NEAR * line[i] + (FAR * line[i - ONE] if i > ZERO else 0.0)
        if j + ONE < nx:
            out[j + ONE] = NEAR * line[i] + (FAR * line[i + ONE] if i < last else 0.0)


@inlined
def restrict_residual(product_row, storage, sizes, halved, coarse_sizes, r, diagonal, scale, v, lines, coarse):
    """coarse = P^T (r - A v), in one pass."""
    nz, ny, nx = sizes
    line, coarse_line = lines
    for c in range(np.uint64(coarse.size)):
        coarse[c] = 0.0
    for z in range(nz):
        for y in range(ny):
            if nz > ONE:
                product_row(storage, z, y, sizes, True, diagonal, v, line)
            else:
                product_row(storage, z, y, sizes, False, diagonal, v, line)
            at = (z * ny + y) * nx
            for j in range(nx):
                line[j] = scale[at + j] * (r[at + j] - line[j])
            restrict_row(line, halved[2], nx, coarse_sizes[2], coarse_line)
            add_to_rows(z, y, halved, coarse_sizes, coarse_line, coarse)


@part
def restrict_constant(cz, cy, cx, sizes, halved, coarse_sizes, r, diagonal, scale, v, lines, coarse):
    restrict_residual(product_constant, (cz, cy, cx), sizes, halved, coarse_sizes, r, diagonal, scale, v, lines, coarse)


@part
def restrict_faces(storage, sizes, halved, coarse_sizes, r, diagonal, scale, v, lines, coarse):
    restrict_residual(product_faces, storage, sizes, halved, coarse_sizes, r, diagonal, scale, v, lines, coarse)


@part
def add_correction(sizes, halved, coarse_sizes, scale, coarse, lines, v):
    """v += P coarse."""
    nz, ny, nx = sizes
    line, coarse_line = lines
    for z in range(nz):
        for y in range(ny):
            gather_rows(z, y, halved, coarse_sizes, coarse, coarse_line)
            interpolate_row(coarse_line, halved[2], nx, coarse_sizes[2], line)
            at = (z * ny + y) * nx
            for j in range(nx):
                v[at + j] += scale[at + j] * line[j]
