"""What a method with bounds does on the finest level after a cycle: the least f in the plane of two ways."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.measures.projection import clip
from perp.kernels.multigrid.rows import product_constant, product_faces

ZERO, ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(5))


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
