"""Coarse levels of a grid matrix A_FF + diag(shift), for any set F of free cells, in a few passes over the grid.

Of the levels below the finest (`rows.py` says where they lie) are stored

`faces_*`   A[C, C - e] <= 0 as in a stencil with faces      `diagonal`, `inverse`   A_CC; one over it, 0 in dead cells
`scale`     S of P = S T (`rows.py`)                         `right`, `value`        r and v of the level's A v = r

While levels are made, `right` holds the leaks of cells and `value` their masses; `coarse` = (faces across z, y and x,
diagonal, inverse, scale, leaks, masses) of the next level.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel, part
from perp.kernels.multigrid.rows import (
    begin_constant,
    begin_faces,
    gather_rows,
    interpolate_row,
    left_constant,
    left_faces,
    level_cells,
    level_faces,
    level_halved,
    level_sizes,
    right_constant,
    right_faces,
)

ZERO, ONE, TWO = (np.uint64(k) for k in range(3))


# -- from one level to the next: couplings, leaks, masses, and the scale of interpolation ------------------------------


TINY = 1e-12
"""A diagonal that exceeds the couplings by less than this share exceeds them by rounding errors only."""
CLOSED = 0.05
"""Less than this share of a cell's couplings leads to a zero value: then walls, and no zeros, are what is beside it."""
THROUGH, INTO = 2.0 / 3.0, 4.0 / 3.0
"""What becomes of a leak on the next level; see `coarsen_level`."""


@inlined
def beside_constant(row, c):
    """Couplings to the rows before and after along z, and along y."""
    _, (w_below, w_above, w_front, w_back, _) = row
    return w_below, w_above, w_front, w_back


@inlined
def beside_faces(row, c):
    _, (fz, fy, _), (plane, width) = row
    return fz[c], fz[c + plane], fy[c], fy[c + width]


@inlined
def weight(coupling):
    """A coupling as a conductance; one that pushes instead of pulling has none."""
    return max(-coupling, 0.0)


@inlined
def one_if(condition):
    return 1.0 if condition else 0.0


def make_row_sums(begin, beside, left, right, finest):
    """What a row of cells gives to the coarse cells that it lies in; couplings are stored in one way."""

    @inlined
    def sum_row(storage, z, y, sizes, halved, given, shift, inverse, scale, leaks, masses, lines):
        """One line each: 1 for cells that take part, leak, mass, couplings to the free cell before along x, y and z.

        On the finest level the leak is what leads to a zero value: couplings to held cells, and beside the rim or a
        cell that is not coupled, what the diagonal has beyond all couplings. Elsewhere that excess is a mass, as the
        shift always is. No branch, so that vector units can do it.
        """
        taking_part, leak_line, mass_line, x_line, y_line, z_line, alive = lines
        nz, ny, nx = sizes
        halved_z, halved_y, halved_x = halved
        row = begin(storage, z, y, sizes)
        at, below, above, front, back = row[0]
        last = nx - ONE
        has_below, has_above = one_if(below > ZERO), one_if(above > ZERO)
        has_front, has_back = one_if(front > ZERO), one_if(back > ZERO)
        even_z, even_y = z & ONE == ZERO, y & ONE == ZERO
        sides = 2.0 * (one_if(nz > ONE) + one_if(ny > ONE) + one_if(nx > ONE))
        for j in range(nx):
            alive[j + ONE] = one_if(inverse[at + j] > 0.0)
        alive[ZERO] = alive[nx + ONE] = 0.0
        for j in range(nx):
            c = at + j
            g_below, g_above, g_front, g_back = beside(row, c)
            a_below, a_above, a_front, a_back = weight(g_below), weight(g_above), weight(g_front), weight(g_back)
            a_left = weight(left(row, c)) if j > ZERO else 0.0
            a_right = weight(right(row, c)) if j < last else 0.0
            f_front, f_back = has_front * one_if(inverse[c - front] > 0.0), has_back * one_if(inverse[c + back] > 0.0)
            f_below, f_above = (
                has_below * one_if(inverse[c - below] > 0.0),
                has_above * one_if(inverse[c + above] > 0.0),
            )
            f_left, own, f_right = alive[j], alive[j + ONE], alive[j + TWO]
            linked = (f_front * a_front + f_back * a_back) + (f_left * a_left + f_right * a_right)
            linked += f_below * a_below + f_above * a_above
            total = (a_front + a_back) + (a_left + a_right) + (a_below + a_above)
            met = (one_if(a_front > 0.0) + one_if(a_back > 0.0)) + (one_if(a_left > 0.0) + one_if(a_right > 0.0))
            met += one_if(a_below > 0.0) + one_if(a_above > 0.0)
            is_whole = (f_above if even_z else f_below) if halved_z else 1.0
            is_whole *= (f_back if even_y else f_front) if halved_y else 1.0
            is_whole *= (f_right if j & ONE == ZERO else f_left) if halved_x else 1.0
            if finest:
                excess = given[c] - total
                excess = excess if excess > TINY * given[c] else 0.0
                leak = total - linked
                leak = leak if leak > TINY * total else 0.0
                is_full = one_if(met >= sides)
                mass = shift[c] + is_full * excess
                leak += (1.0 - is_full) * excess
            else:
                leak, mass = leaks[c], masses[c]
            own = own if linked > 0.0 else 0.0  # alone, a sweep solves for it
            scale[c] = own if leak >= CLOSED * linked else -own
            taking_part[j] = own
            leak_line[j] = own * leak * (INTO + (THROUGH - INTO) * is_whole)
            mass_line[j] = own * mass
            x_line[j] = own * f_left * a_left
            y_line[j] = own * f_front * a_front
            z_line[j] = own * f_below * a_below

    return sum_row


@inlined
def add_pairs(line, halved, nx, factor, at, coarse):
    """coarse += factor times the sum over the cells of each coarse cell in a row."""
    if halved == ZERO:
        for i in range(nx):
            coarse[at + i] += factor * line[i]
        return
    for i in range(nx >> ONE):
        coarse[at + i] += factor * (line[i + i] + line[i + i + ONE])
    if nx & ONE == ONE:
        coarse[at + (nx >> ONE)] += factor * line[nx - ONE]


@inlined
def add_firsts(line, halved, nx, factor, at, coarse):
    """coarse += factor times what the first cell of each coarse cell has: a coupling to the coarse cell before."""
    if halved == ZERO:
        for i in range(nx):
            coarse[at + i] += factor * line[i]
        return
    for i in range((nx + ONE) >> ONE):
        coarse[at + i] += factor * line[i + i]


@inlined
def clear(array):
    for c in range(np.uint64(array.size)):
        array[c] = 0.0


@part
def finish_level(sizes, halved, coarse_sizes, scale, coarse, coarse_line, line):
    """The diagonal of the next level, and what `scale` marks as closed turned into one over the row sum of T.

    Returns how many coarse cells were left out since nothing holds them: closed regions that became a single cell.
    """
    nz, ny, nx = sizes
    _, coarse_ny, coarse_nx = coarse_sizes
    coarse_z, coarse_y, coarse_x, coarse_diagonal, coarse_inverse, coarse_scale, coarse_leaks, coarse_masses = coarse
    plane, width = coarse_ny * coarse_nx, coarse_nx
    closed = 0.0
    for c in range(np.uint64(coarse_inverse.size)):
        total = coarse_leaks[c] + coarse_masses[c]
        total -= (coarse_z[c] + coarse_z[c + plane]) + (coarse_y[c] + coarse_y[c + width])
        total -= coarse_x[c] + coarse_x[c + ONE]
        is_alive = one_if(coarse_inverse[c] > 0.0) * one_if(total > 0.0)
        closed += one_if(coarse_inverse[c] > 0.0) - is_alive
        coarse_diagonal[c] = total if is_alive > 0.0 else 1.0
        coarse_inverse[c] = is_alive / coarse_diagonal[c]
        coarse_scale[c] = is_alive
    for z in range(nz):
        for y in range(ny):
            gather_rows(z, y, halved, coarse_sizes, coarse_scale, coarse_line)
            interpolate_row(coarse_line, halved[2], nx, coarse_nx, line)
            at = (z * ny + y) * nx
            for j in range(nx):
                mark, row_sum = scale[at + j], line[j]
                over = one_if(row_sum > 0.0) / (row_sum if row_sum > 0.0 else 1.0)
                scale[at + j] = mark if mark >= 0.0 else over
    return closed


@inlined
def coarsen_level(
    sum_row, storage, sizes, halved, coarse_sizes, given, shift, inverse, scale, leaks, masses, coarse, lines
):
    """The next level, and `scale` of this one.

    Coarse faces carry half the sum of the couplings between free cells that they cut, as the distance between the
    centres is twice as long; on an axis that is not halved, the sum. A coarse cell is alive where a free cell with
    a free neighbour lies in it. Its diagonal is the sum of its couplings, of the masses in it, and of the leaks
    after another distance: a zero that lay h from the centre of a fine cell lies 3/2 h from that of the coarse one,
    which makes 2/3 of the conductance, where the fine cell lies between it and the centre (THROUGH). Where a
    cell beside it in the same coarse cell is dead, the zero may lie within, h/2 from the centre, which makes 2:
    INTO is the mean of the two. (Too small a leak makes coarse corrections too large, and a cycle diverge.)
    """
    nz, ny, nx = sizes
    _, coarse_ny, coarse_nx = coarse_sizes
    halved_z, halved_y, halved_x = halved
    coarse_z, coarse_y, coarse_x, _, coarse_inverse, _, coarse_leaks, coarse_masses = coarse
    half_z, half_y, half_x = 1.0 - 0.5 * halved_z, 1.0 - 0.5 * halved_y, 1.0 - 0.5 * halved_x
    clear(coarse_z), clear(coarse_y), clear(coarse_x)
    clear(coarse_inverse), clear(coarse_leaks), clear(coarse_masses)
    taking_part, leak_line, mass_line, x_line, y_line, z_line, _ = lines
    vectors = (given, shift, inverse, scale, leaks, masses, lines)
    for z in range(nz):
        for y in range(ny):
            sum_row(storage, z, y, sizes, halved, *vectors)
            to = ((z >> halved_z) * coarse_ny + (y >> halved_y)) * coarse_nx
            add_pairs(taking_part, halved_x, nx, 1.0, to, coarse_inverse)
            add_pairs(leak_line, halved_x, nx, 1.0, to, coarse_leaks)
            add_pairs(mass_line, halved_x, nx, 1.0, to, coarse_masses)
            add_firsts(x_line, halved_x, nx, -half_x, to, coarse_x)
            if halved_y == ZERO or y & ONE == ZERO:
                add_pairs(y_line, halved_x, nx, -half_y, to, coarse_y)
            if nz > ONE and (halved_z == ZERO or z & ONE == ZERO):
                add_pairs(z_line, halved_x, nx, -half_z, to, coarse_z)
    return finish_level(sizes, halved, coarse_sizes, scale, coarse, leak_line, mass_line)


sum_constant = make_row_sums(begin_constant, beside_constant, left_constant, right_constant, True)
sum_faces = make_row_sums(begin_faces, beside_faces, left_faces, right_faces, True)
sum_further = make_row_sums(begin_faces, beside_faces, left_faces, right_faces, False)

# -- all levels --------------------------------------------------------------------------------------------------------


@kernel
def make_levels(
    table, cz, cy, cx, has_faces, own_z, own_y, own_x, given, shift, free, own_inverse, own_scale,
    faces_z, faces_y, faces_x, diagonal, inverse, scale, right, value, line, coarse_line, factor, work,
):  # fmt: skip
    """All levels of A_FF + diag(shift), and the factor of the coarsest; own_* belong to the finest.

    Returns the number of closed regions, in which nothing holds a constant, if there are cells enough to tell.
    """
    for c in range(np.uint64(own_inverse.size)):
        size = abs(given[c] + shift[c])
        own_inverse[c] = one_if(free[c]) / (size if size > 0.0 else 1.0)
    closed = 0.0
    levels = np.uint64(table.shape[0])
    lines = (work[0], work[1], work[2], work[3], work[4], work[5], work[6])
    for level in range(ONE, levels):
        upper = level - ONE
        sizes, halved, coarse_sizes = level_sizes(table, upper), level_halved(table, upper), level_sizes(table, level)
        new_z, new_y, new_x = level_faces(table, level, faces_z, faces_y, faces_x)
        coarse = (
            new_z, new_y, new_x, level_cells(table, level, diagonal), level_cells(table, level, inverse),
            level_cells(table, level, scale), level_cells(table, level, right), level_cells(table, level, value),
        )  # fmt: skip
        if upper > ZERO:
            closed += coarsen_level(
                sum_further, level_faces(table, upper, faces_z, faces_y, faces_x), sizes, halved, coarse_sizes, given,
                shift, level_cells(table, upper, inverse), level_cells(table, upper, scale),
                level_cells(table, upper, right), level_cells(table, upper, value), coarse, lines,
            )  # fmt: skip
        elif has_faces:
            closed += coarsen_level(
                sum_faces, (own_z, own_y, own_x), sizes, halved, coarse_sizes, given, shift,
                own_inverse, own_scale, right, value, coarse, lines,
            )  # fmt: skip
        else:
            closed += coarsen_level(
                sum_constant, (cz, cy, cx), sizes, halved, coarse_sizes, given, shift,
                own_inverse, own_scale, right, value, coarse, lines,
            )  # fmt: skip
    if levels > ONE:
        last = levels - ONE
        closed += factor_coarsest(
            level_sizes(table, last), level_faces(table, last, faces_z, faces_y, faces_x),
            level_cells(table, last, diagonal), level_cells(table, last, inverse), factor,
        )  # fmt: skip
    return closed


@inlined
def factor_coarsest(sizes, faces, diagonal, inverse, factor):
    """A = L D L^T, L below the diagonal and 1 / D on it; 0 for a pivot that is one of rounding errors, and dead cells.

    Only a closed region leaves such a pivot: its last cell is then held at zero, as good as any other value.
    """
    nz, ny, nx = sizes
    fz, fy, fx = faces
    m = nz * ny * nx
    for k in range(m * m):
        factor[k] = 0.0
    for i in range(m):
        factor[i * m + i] = diagonal[i] if inverse[i] > 0.0 else 0.0
        if i >= ny * nx:
            factor[i * m + i - ny * nx] += fz[i]
        if i >= nx and (i // nx) % ny > ZERO:
            factor[i * m + i - nx] += fy[i]
        if i % nx > ZERO:
            factor[i * m + i - ONE] += fx[i]
    closed = 0.0
    for j in range(m):
        pivot = factor[j * m + j]
        over = 1.0 / pivot if pivot > TINY * diagonal[j] else 0.0
        closed += one_if(inverse[j] > 0.0 and over == 0.0)
        for i in range(j + ONE, m):
            share = factor[i * m + j] * over
            if share != 0.0:
                for k in range(j + ONE, i + ONE):
                    factor[i * m + k] -= share * factor[k * m + j]
        for i in range(j + ONE, m):
            factor[i * m + j] *= over
        factor[j * m + j] = over
    return closed
