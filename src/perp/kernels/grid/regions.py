"""Regions of a grid: cells that couplings other than zero lead between. Storages are those of `multigrid_levels`."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel

ZERO, ONE = np.uint64(0), np.uint64(1)


@inlined
def find_first(region, c):
    """The first cell of the region that c is known to be in; the way there is halved."""
    while region[c] != c:
        region[c] = region[region[c]]
        c = np.uint64(region[c])
    return c


@inlined
def join(region, c, d, coupling):
    """One region of two where a coupling leads between them, and the size of the coupling."""
    if coupling != 0.0:
        a, b = find_first(region, c), find_first(region, d)
        if a < b:
            region[b] = a
        elif b < a:
            region[a] = b
    return abs(coupling)


@kernel
def find_regions(nz, ny, nx, cz, cy, cx, has_faces, fz, fy, fx, diagonal, rounding, region, is_open):
    """region[c] = the first cell of the region of c; is_open[c]: the row of A adds up to more than rounding errors.

    (A forest of cells, each pointing to an earlier one, in which two trees become one at every face: Galler & Fischer
    1964.)
    """
    n, plane = nz * ny * nx, ny * nx
    for c in range(n):
        region[c] = c
    for c in range(n):
        i, j, k = c // plane, (c // nx) % ny, c % nx
        total, size = diagonal[c], abs(diagonal[c])
        if i > ZERO:
            w = fz[c] if has_faces else cz
            size += join(region, c, c - plane, w)
            total += w
        if j > ZERO:
            w = fy[c] if has_faces else cy
            size += join(region, c, c - nx, w)
            total += w
        if k > ZERO:
            w = fx[c] if has_faces else cx
            size += join(region, c, c - ONE, w)
            total += w
        if i + ONE < nz:
            w = fz[c + plane] if has_faces else cz
            total, size = total + w, size + abs(w)
        if j + ONE < ny:
            w = fy[c + nx] if has_faces else cy
            total, size = total + w, size + abs(w)
        if k + ONE < nx:
            w = fx[c + ONE] if has_faces else cx
            total, size = total + w, size + abs(w)
        is_open[c] = abs(total) > rounding * size
    for c in range(n):
        region[c] = find_first(region, c)
