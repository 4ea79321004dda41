"""Grids as a whole: the problem on half as many cells along each axis and the way back, and connected regions.

A coarse cell is made of eight (four, two) cells, whose numbers are added up. Grids have three axes, the first ones
perhaps of size one; couplings lie as in `perp.kernels.grid.cholesky`. A row of cells (along the last axis) is worked
out in lines, without branches, so that vector units can do it; then cells are added up in pairs. `bounded`: False where
lower is 0 and upper infinite everywhere; the two are not read then.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.measures.projection import clip

ZERO, ONE, TWO = (np.uint64(k) for k in range(3))


# -- nested grids ------------------------------------------------------------------------------------------------------


NEAR, FAR = 0.75, 0.25


@inlined
def parts(index, size):
    """How many cells of the fine grid a coarse cell has along an axis: the last one of an odd number has one."""
    return 1.0 if TWO * index + ONE == size else 2.0


@inlined
def spread(index, size):
    """One over the distance of a coarse cell from the one before it, in cells of the fine grid."""
    return 2.0 / (parts(index, size) + parts(index - ONE, size))


@inlined
def spread_before(index, size):
    """The same for the face before a fine cell; 0 where that lies within a coarse cell or at the rim."""
    return spread(index // TWO, size) if index > ZERO and index % TWO == ZERO else 0.0


@inlined
def meet(d, w, bounded, lower, upper):
    """What a neighbour adds to the leak of a cell and to what is known there: its coupling, or that times its x."""
    if not bounded:
        return w, 0.0
    is_fixed = lower[d] == upper[d]
    return (0.0 if is_fixed else w), (w * lower[d] if is_fixed else 0.0)


@inlined
def add_cell(k, has_left, has_right, row, couplings, bounded, vectors, lines):
    """Leak, what is known, and couplings to the cells before of one cell."""
    c, base, base_above, base_back, below, above, front, back, on_below, on_above, on_front, on_back = row
    wx, wy, wz = couplings
    centre, b, lower, upper = vectors
    leak, known, line_x, line_y, line_z, live = lines
    i = c + k
    w_below, x_below = meet(i - below, on_below * wx[base + k], bounded, lower, upper)
    w_above, x_above = meet(i + above, on_above * wx[base_above + k], bounded, lower, upper)
    w_front, x_front = meet(i - front, on_front * wy[base + k], bounded, lower, upper)
    w_back, x_back = meet(i + back, on_back * wy[base_back + k], bounded, lower, upper)
    total = centre[i] + (w_below + w_above) + (w_front + w_back)
    fixed = b[i] + (x_below + x_above) + (x_front + x_back)
    w_left = 0.0
    if has_left:
        w_left, x_left = meet(i - ONE, wz[base + k], bounded, lower, upper)
        total += w_left
        fixed += x_left
    if has_right:
        w_right, x_right = meet(i + ONE, wz[base + k + ONE], bounded, lower, upper)
        total += w_right
        fixed += x_right
    own = (1.0 if lower[i] < upper[i] else 0.0) if bounded else 1.0
    live[k] = own
    leak[k] = own * total
    known[k] = fixed if own > 0.0 else 0.0
    line_x[k], line_y[k], line_z[k] = own * w_below, own * w_front, own * w_left


@inlined
def add_row(nz, row, couplings, bounded, vectors, lines):
    last = nz - ONE
    for k in range(ONE, last):
        add_cell(k, True, True, row, couplings, bounded, vectors, lines)
    add_cell(ZERO, False, last > ZERO, row, couplings, bounded, vectors, lines)
    if last > ZERO:
        add_cell(last, True, False, row, couplings, bounded, vectors, lines)


@inlined
def add_pairs(line, nz, factor, at, coarse):
    """coarse += factor times the sum over the cells of each coarse cell in a row."""
    for h in range(nz >> ONE):
        coarse[at + h] += factor * (line[h + h] + line[h + h + ONE])
    if nz & ONE == ONE:
        coarse[at + (nz >> ONE)] += factor * line[nz - ONE]


@inlined
def add_bounds(at, nz, bound, none, live, count, total, to):
    """What is finite of one of the bounds of live cells: how many, and their sum."""
    for k in range(nz):
        is_finite = (bound[at + k] != none) & (live[k] > 0.0)
        count[to + (k >> ONE)] += 1.0 if is_finite else 0.0
        total[to + (k >> ONE)] += bound[at + k] if is_finite else 0.0


@kernel
def add_up(
    nx, ny, nz, step, wx, wy, wz, centre, b, bounded, lower, upper,
    cy, cz, face_x, face_y, face_z, diagonal, right, low, high, live, low_count, high_count, work,
):  # fmt: skip
    """Add every live cell (lower < upper) to its coarse cell; all outputs are zero before, cy and cz the coarse sizes.

    A face between two coarse cells gets the couplings across it over the distance of the two, the diagonal what is
    left of the row sums then. A fixed x enters `right`. `live` counts live cells. What is not `bounded` gets no bounds.
    """
    sx, sy = ny * nz, nz
    lines = (work[0], work[1], work[2], work[3], work[4], work[5])
    vectors, couplings = (centre, b, lower, upper), (wx, wy, wz)
    for i in range(nx):
        for j in range(ny):
            first = (i * ny + j) * nz
            below, above = (sx if i > ZERO else ZERO), (sx if i + ONE < nx else ZERO)
            front, back = (sy if j > ZERO else ZERO), (sy if j + ONE < ny else ZERO)
            flags = (
                1.0 if i > ZERO else 0.0,
                1.0 if i + ONE < nx else 0.0,
                1.0 if j > ZERO else 0.0,
                1.0 if j + ONE < ny else 0.0,
            )
            row = (
                first,
                step * first,
                step * (first + above),
                step * (first + back),
                below,
                above,
                front,
                back,
                *flags,
            )
            if bounded:
                add_row(nz, row, couplings, True, vectors, lines)
            else:
                add_row(nz, row, couplings, False, vectors, lines)
            to = ((i // TWO) * cy + j // TWO) * cz
            add_pairs(work[0], nz, 1.0, to, diagonal)
            add_pairs(work[1], nz, 1.0, to, right)
            if i > ZERO and i % TWO == ZERO:
                add_pairs(work[2], nz, spread_before(i, nx), to, face_x)
            if j > ZERO and j % TWO == ZERO:
                add_pairs(work[3], nz, spread_before(j, ny), to, face_y)
            for h in range(ONE, cz):
                face_z[to + h] += work[4, h + h] * (0.5 if h + ONE < cz else spread_before(h + h, nz))
            if bounded:
                add_pairs(work[5], nz, 1.0, to, live)
                add_bounds(first, nz, lower, -np.inf, work[5], low_count, low, to)
                add_bounds(first, nz, upper, np.inf, work[5], high_count, high, to)
    for at in range(np.uint64(diagonal.size)):
        diagonal[at] -= face_x[at] + face_x[at + cy * cz] + face_y[at] + face_y[at + cz] + face_z[at] + face_z[at + ONE]
    if bounded:
        for at in range(np.uint64(diagonal.size)):
            low[at] = low[at] / low_count[at] if low_count[at] > 0.0 else -np.inf
            high[at] = max(high[at] / high_count[at], low[at]) if high_count[at] > 0.0 else np.inf
            if live[at] == 0.0:
                diagonal[at] = 1.0
                low[at] = 0.0
                high[at] = 0.0


@inlined
def gather_lines(near, by_i, by_j, by_both, has_i, has_j, cz, bounded, coarse, live, values, weights):
    """Of the four rows of coarse cells beside a row of fine ones: their values, weighted, and the weights.

    Cells of the coarse grid that are no unknowns do not count, nor does what lies beyond the grid.
    """
    wi, wj = (FAR if has_i else 0.0), (FAR if has_j else 0.0)
    for h in range(cz):
        w_near, w_i, w_j, w_both = NEAR * NEAR, wi * NEAR, NEAR * wj, wi * wj
        if bounded:
            w_near = w_near if live[near + h] else 0.0
            w_i = w_i if live[by_i + h] else 0.0
            w_j = w_j if live[by_j + h] else 0.0
            w_both = w_both if live[by_both + h] else 0.0
            total = (coarse[near + h] if w_near > 0.0 else 0.0) * w_near + (
                coarse[by_i + h] if w_i > 0.0 else 0.0
            ) * w_i
            total += (coarse[by_j + h] if w_j > 0.0 else 0.0) * w_j + (
                coarse[by_both + h] if w_both > 0.0 else 0.0
            ) * w_both
        else:
            total = w_near * coarse[near + h] + w_i * coarse[by_i + h]
            total += w_j * coarse[by_j + h] + w_both * coarse[by_both + h]
        values[h] = total
        weights[h] = (w_near + w_i) + (w_j + w_both)


@inlined
def spread_line(nz, cz, line, out):
    """Along the last axis: 3/4 of the coarse cell that a fine one lies in, 1/4 of the one that it is nearest to."""
    last = cz - ONE
    for h in range(ONE, last):
        out[h + h] = NEAR * line[h] + FAR * line[h - ONE]
        out[h + h + ONE] = NEAR * line[h] + FAR * line[h + ONE]
    for h in (ZERO, last):
        out[h + h] = NEAR * line[h] + (FAR * line[h - ONE] if h > ZERO else 0.0)
        if h + h + ONE < nz:
            out[h + h + ONE] = NEAR * line[h] + (FAR * line[h + ONE] if h < last else 0.0)


@kernel
def interpolate(nx, ny, nz, cy, cz, coarse, live, bounded, lower, upper, x, work):
    """x = the values of the coarse cells, linear along each axis between their centres, within the bounds.

    Where there is no coarse cell to reach, the weights of the others add up to 1.
    """
    cx = (nx + ONE) // TWO
    values, weights, line, shares = work[0], work[1], work[2], work[3]
    for i in range(nx):
        far_i = i // TWO + ONE if i % TWO else i // TWO - ONE
        has_i = far_i < cx
        for j in range(ny):
            far_j = j // TWO + ONE if j % TWO else j // TWO - ONE
            has_j = far_j < cy
            near = ((i // TWO) * cy + j // TWO) * cz
            by_i = (far_i * cy + j // TWO) * cz if has_i else near
            by_j = ((i // TWO) * cy + far_j) * cz if has_j else near
            by_both = (far_i * cy + far_j) * cz if has_i and has_j else near
            if bounded:
                gather_lines(near, by_i, by_j, by_both, has_i, has_j, cz, True, coarse, live, values, weights)
            else:
                gather_lines(near, by_i, by_j, by_both, has_i, has_j, cz, False, coarse, live, values, weights)
            spread_line(nz, cz, values, line)
            spread_line(nz, cz, weights, shares)
            at = (i * ny + j) * nz
            if bounded:
                for k in range(nz):
                    value = line[k] / (shares[k] if shares[k] > 0.0 else 1.0)
                    x[at + k] = clip(value, lower[at + k], upper[at + k])
            else:
                for k in range(nz):
                    x[at + k] = clip(line[k] / shares[k], 0.0, np.inf)


# -- regions: cells that couplings other than zero lead between (storages of `multigrid/rows.py`) ----------------------


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
