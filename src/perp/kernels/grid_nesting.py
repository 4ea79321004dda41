"""A problem on a grid and the one on the grid of half its cells along each axis: sums over the eight (four, two) cells
that a coarse cell is made of, and the way back.

Grids have three axes, the first ones perhaps of size one; couplings lie as in `perp.kernels.grid_cholesky`.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


@inlined
def _parts(index, size):
    """How many cells of the fine grid a coarse cell has along an axis: the last one of an odd number has one."""
    return 1.0 if TWO * index + ONE == size else 2.0


@inlined
def _spread(index, size):
    """One over the distance of a coarse cell from the one before it, in cells of the fine grid."""
    return 2.0 / (_parts(index, size) + _parts(index - ONE, size))


@inlined
def _meet(d, w, lower, upper):
    """What a neighbour adds to the leak of a cell and to what is known there: its coupling, or that times its x."""
    is_fixed = lower[d] == upper[d]
    return (0.0, w * lower[d]) if is_fixed else (w, 0.0)


@kernel
def add_up(
    nx, ny, nz, step, wx, wy, wz, centre, b, lower, upper,
    cy, cz, face_x, face_y, face_z, diagonal, right, low, high, live, low_count, high_count,
):  # fmt: skip
    """Add every live cell (lower < upper) to its coarse cell; all outputs are zero before, cy and cz the coarse sizes.

    A face between two coarse cells gets the couplings across it over the distance of the two, the diagonal what is
    left of the row sums then. A fixed x enters `right`.
    """
    sx, sy = ny * nz, nz
    for i in range(nx):
        for j in range(ny):
            first = (i * ny + j) * nz
            base, base_x, base_y = step * first, step * (first + sx), step * (first + sy)
            coarse_first = ((i // TWO) * cy + j // TWO) * cz
            spread_x = _spread(i // TWO, nx) if i > ZERO and i % TWO == ZERO else 0.0
            spread_y = _spread(j // TWO, ny) if j > ZERO and j % TWO == ZERO else 0.0
            for k in range(nz):
                c = first + k
                if lower[c] == upper[c]:
                    continue
                at = coarse_first + k // TWO
                leak, known = centre[c], b[c]
                if i > ZERO:
                    w, fixed = _meet(c - sx, wx[base + k], lower, upper)
                    leak, known = leak + w, known + fixed
                    face_x[at] += spread_x * w
                if j > ZERO:
                    w, fixed = _meet(c - sy, wy[base + k], lower, upper)
                    leak, known = leak + w, known + fixed
                    face_y[at] += spread_y * w
                if k > ZERO:
                    w, fixed = _meet(c - ONE, wz[base + k], lower, upper)
                    leak, known = leak + w, known + fixed
                    if k % TWO == ZERO:
                        face_z[at] += _spread(k // TWO, nz) * w
                if i + ONE < nx:
                    w, fixed = _meet(c + sx, wx[base_x + k], lower, upper)
                    leak, known = leak + w, known + fixed
                if j + ONE < ny:
                    w, fixed = _meet(c + sy, wy[base_y + k], lower, upper)
                    leak, known = leak + w, known + fixed
                if k + ONE < nz:
                    w, fixed = _meet(c + ONE, wz[base + k + ONE], lower, upper)
                    leak, known = leak + w, known + fixed
                diagonal[at] += leak
                right[at] += known
                live[at] = True
                if lower[c] > -np.inf:
                    low[at] += lower[c]
                    low_count[at] += 1.0
                if upper[c] < np.inf:
                    high[at] += upper[c]
                    high_count[at] += 1.0
    for at in range(np.uint64(diagonal.size)):
        diagonal[at] -= face_x[at] + face_x[at + cy * cz] + face_y[at] + face_y[at + cz] + face_z[at] + face_z[at + ONE]
        low[at] = low[at] / low_count[at] if low_count[at] > 0.0 else -np.inf
        high[at] = max(high[at] / high_count[at], low[at]) if high_count[at] > 0.0 else np.inf
        if not live[at]:
            diagonal[at] = 1.0
            low[at] = 0.0
            high[at] = 0.0


@kernel
def interpolate(nx, ny, nz, cy, cz, coarse, live, lower, upper, x):
    """x = the values of the coarse cells, linear along each axis between their centres, within the bounds.

    Cells of the coarse grid that are no unknowns do not count, nor does what lies beyond the grid.
    """
    cx = (nx + ONE) // TWO
    for i in range(nx):
        far_i = i // TWO + ONE if i % TWO else i // TWO - ONE
        has_i = far_i < cx
        for j in range(ny):
            far_j = j // TWO + ONE if j % TWO else j // TWO - ONE
            has_j = far_j < cy
            near = ((i // TWO) * cy + j // TWO) * cz
            by_i = (far_i * cy + j // TWO) * cz if has_i else near
            by_j = ((i // TWO) * cy + far_j) * cz if has_j else near
            by_both = (far_i * cy + far_j) * cz if has_i and has_j else by_i if has_i else by_j
            first = (i * ny + j) * nz
            for k in range(nz):
                c = first + k
                if lower[c] == upper[c]:
                    x[c] = lower[c]
                    continue
                h = k // TWO
                far = h + ONE if k % TWO else h - ONE
                far = far if far < cz else h
                total = weights = 0.0
                for side in range(2):
                    at, part = (h, 0.75) if side == 0 else (far, 0.25)
                    if live[near + at]:
                        total += 0.5625 * part * coarse[near + at]
                        weights += 0.5625 * part
                    if live[by_i + at]:
                        total += 0.1875 * part * coarse[by_i + at]
                        weights += 0.1875 * part
                    if live[by_j + at]:
                        total += 0.1875 * part * coarse[by_j + at]
                        weights += 0.1875 * part
                    if live[by_both + at]:
                        total += 0.0625 * part * coarse[by_both + at]
                        weights += 0.0625 * part
                x[c] = min(max(total / weights, lower[c]), upper[c])
