"""Levels of a grid hierarchy by rows of cells: where they lie, sweeps and products, and the way between two levels.

All levels but the finest lie one after the other in flat arrays; a row of `table` (numpy.uint64) says where:

    table[l] = (nz, ny, nx,  first cell,  first face across z, y, x,  whether z, y, x are halved for the next level)

A grid has nz planes of ny rows of nx cells; `sizes` = (nz, ny, nx), those of missing axes are 1. Two storages:

    constant    storage = (cz, cy, cx), the coupling between neighbours along each axis
    faces       storage = (fz, fy, fx), f[c] = A[c, c - e], f[c + stride] = A[c, c + e], zero at the rim

A cell with inverse[c] = 0 is held: v_c is 0 and stays so.

Along an axis that is halved the fine cells 2I and 2I + 1 lie in the coarse cell I, and linear interpolation between the
centres of coarse cells gives

    (T e)_2I = 3/4 e_I + 1/4 e_(I-1),      (T e)_(2I+1) = 3/4 e_I + 1/4 e_(I+1),      e = 0 outside and in dead cells;

in space T is the product over the axes, and P = S T with a diagonal S: 0 in held cells, 1 beside a zero value, and one
over the row sum of T beside a wall, so that P keeps constants where nothing holds them. The restriction is P^T.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, part

ZERO, ONE, TWO = (np.uint64(k) for k in range(3))


# -- where levels lie --------------------------------------------------------------------------------------------------


@inlined
def level_sizes(table, level):
    return table[level, 0], table[level, 1], table[level, 2]


@inlined
def level_halved(table, level):
    return table[level, 7], table[level, 8], table[level, 9]


@inlined
def level_cells(table, level, array):
    start = table[level, 3]
    return array[start : start + table[level, 0] * table[level, 1] * table[level, 2]]


@inlined
def level_faces(table, level, faces_z, faces_y, faces_x):
    nz, ny, nx = level_sizes(table, level)
    n = nz * ny * nx
    z, y, x = table[level, 4], table[level, 5], table[level, 6]
    return faces_z[z : z + n + ny * nx], faces_y[y : y + n + nx], faces_x[x : x + n + ONE]


# -- neighbours, half-sweeps and products for A v = r ------------------------------------------------------------------


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


# -- restriction and interpolation -------------------------------------------------------------------------------------


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
