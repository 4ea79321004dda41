"""Rows of cells of one level of a grid hierarchy: neighbours, half-sweeps and products for A v = r.

A grid has nz planes of ny rows of nx cells; `sizes` = (nz, ny, nx), those of missing axes are 1. Two storages:

    constant    storage = (cz, cy, cx), the coupling between neighbours along each axis
    faces       storage = (fz, fy, fx), f[c] = A[c, c - e], f[c + stride] = A[c, c + e], zero at the rim

A cell with inverse[c] = 0 is held: v_c is 0 and stays so.

(After a change here touch the other `multigrid_*.py`: see compile.py.)
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, part

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


@inlined
def neighbours(z, y, sizes):
    """Where a row of cells begins, and how far the rows before and after it are (0 where there is none)."""
    nz, ny, nx = sizes
    at = (z * ny + y) * nx
    below, above = (nx * ny if z > ZERO else ZERO), (nx * ny if z + ONE < nz else ZERO)
    front, back = (nx if y > ZERO else ZERO), (nx if y + ONE < ny else ZERO)
    return at, below, above, front, back


@inlined
def begin_constant(storage, z, y, sizes):
    """What a row of cells needs to know: its place, and the couplings to the rows beside it, 0 where there is none."""
    place = neighbours(z, y, sizes)
    _, below, above, front, back = place
    cz, cy, cx = storage
    w_below, w_above = (cz if below > ZERO else 0.0), (cz if above > ZERO else 0.0)
    w_front, w_back = (cy if front > ZERO else 0.0), (cy if back > ZERO else 0.0)
    return place, (w_below, w_above, w_front, w_back, cx)


@inlined
def beside_constant(row, c, spatial, v):
    """What the cells of other rows add to (A v)_c."""
    (_, below, above, front, back), (w_below, w_above, w_front, w_back, _) = row
    total = w_front * v[c - front] + w_back * v[c + back]
    if spatial:
        total += w_below * v[c - below] + w_above * v[c + above]
    return total


@inlined
def left_constant(row, c):
    return row[1][4]


@inlined
def right_constant(row, c):
    return row[1][4]


@inlined
def begin_faces(storage, z, y, sizes):
    _, ny, nx = sizes
    return neighbours(z, y, sizes), storage, (nx * ny, nx)


@inlined
def beside_faces(row, c, spatial, v):
    (_, below, above, front, back), (fz, fy, _), (plane, line) = row
    total = fy[c] * v[c - front] + fy[c + line] * v[c + back]
    if spatial:
        total += fz[c] * v[c - below] + fz[c + plane] * v[c + above]
    return total


@inlined
def left_faces(row, c):
    return row[1][2][c]


@inlined
def right_faces(row, c):
    return row[1][2][c + ONE]


CONSTANT = (begin_constant, beside_constant, left_constant, right_constant)
FACES = (begin_faces, beside_faces, left_faces, right_faces)


def make_rows(begin, beside, left, right):
    """The half-sweep and the product of a row of cells for one storage."""

    @inlined
    def others(row, c, spatial, v):
        """(A v)_c without the diagonal, for a cell that is not at an end of its row."""
        return left(row, c) * v[c - ONE] + right(row, c) * v[c + ONE] + beside(row, c, spatial, v)

    @inlined
    def relaxed(c, value, bounds):
        is_bounded, low, high = bounds
        return min(max(value, low[c]), high[c]) if is_bounded else value

    @inlined
    def relax_row(storage, z, y, colour, sizes, spatial, r, inverse, bounds, v, line):
        """v_c = inverse[c] (r - (A - D) v)_c for the cells of one colour, within the bounds where there are any.

        All cells are computed and those of the other colour not taken: vector units have no use for every second cell.
        """
        row = begin(storage, z, y, sizes)
        first, last = row[0][0], sizes[2] - ONE
        odd = (z + y + colour) & ONE
        for j in range(ONE, last):
            c = first + j
            value = relaxed(c, inverse[c] * (r[c] - others(row, c, spatial, v)), bounds)
            line[j] = value if j & ONE == odd else v[c]
        for j in range(ONE, last):
            v[first + j] = line[j]
        if odd == ZERO:
            total = beside(row, first, spatial, v)
            if last > ZERO:
                total += right(row, first) * v[first + ONE]
            v[first] = relaxed(first, inverse[first] * (r[first] - total), bounds)
        if last & ONE == odd and last > ZERO:
            c = first + last
            total = beside(row, c, spatial, v) + left(row, c) * v[c - ONE]
            v[c] = relaxed(c, inverse[c] * (r[c] - total), bounds)

    @inlined
    def product_row(storage, z, y, sizes, spatial, diagonal, v, line):
        """line = A v in a row of cells."""
        row = begin(storage, z, y, sizes)
        first, last = row[0][0], sizes[2] - ONE
        for j in range(ONE, last):
            c = first + j
            line[j] = diagonal[c] * v[c] + others(row, c, spatial, v)
        total = diagonal[first] * v[first] + beside(row, first, spatial, v)
        if last > ZERO:
            c = first + last
            total += right(row, first) * v[first + ONE]
            line[last] = diagonal[c] * v[c] + beside(row, c, spatial, v) + left(row, c) * v[c - ONE]
        line[ZERO] = total

    return relax_row, product_row


relax_constant, product_constant = make_rows(*CONSTANT)
relax_faces, product_faces = make_rows(*FACES)


@inlined
def sweep(relax_row, storage, count, first, sizes, r, inverse, bounds, v, line):
    """`count` red-black sweeps, the colour `first` first, in one pass over the memory: each half of a sweep follows one
    plane (in a planar grid: one row) behind the half before."""
    nz, ny, _ = sizes
    halves = TWO * np.uint64(count)
    if nz > ONE:
        for step in range(nz + halves - ONE):
            for behind in range(halves):
                if behind <= step < nz + behind:
                    colour = (first + behind) & ONE
                    for y in range(ny):
                        relax_row(storage, step - behind, y, colour, sizes, True, r, inverse, bounds, v, line)
    else:
        for step in range(ny + halves - ONE):
            for behind in range(halves):
                if behind <= step < ny + behind:
                    colour = (first + behind) & ONE
                    relax_row(storage, ZERO, step - behind, colour, sizes, False, r, inverse, bounds, v, line)


@part
def sweep_constant(count, cz, cy, cx, first, sizes, r, inverse, v, line):
    sweep(relax_constant, (cz, cy, cx), count, first, sizes, r, inverse, (False, r, r), v, line)


@part
def sweep_faces(count, storage, first, sizes, r, inverse, v, line):
    sweep(relax_faces, storage, count, first, sizes, r, inverse, (False, r, r), v, line)


@part
def sweep_within(count, storage, first, sizes, r, inverse, low, high, v, line):
    sweep(relax_faces, storage, count, first, sizes, r, inverse, (True, low, high), v, line)
