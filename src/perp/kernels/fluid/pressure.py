"""The free surface of a liquid, its pressure problem on a staggered grid, and what pressure does to velocities.

Faces across an axis stand in a field with one place more along it than there are cells (`shape`): face f of a cell is
the one before it, and f + a stride the one behind it. Of the six ways out of a cell, 0 and 1 lead back and ahead along
the first axis, 2 and 3 along the second, 4 and 5 along the third. In the plane there is no first axis: its field has
one number that nobody reads, and its ways are shut.

`fraction` is the open share of each face, 0 all around the grid; `liquid` is 1 in cells with an unknown pressure, whose
`level` (distance to the free surface, in cells) is negative; it is not negative in air.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel

U0, U1, U2, U3, U4 = (np.uint64(k) for k in range(5))


# -- ways out of a cell: open shares, and the cells behind them --------------------------------------------------------


WAYS = np.uint64(6)


@inlined
def way_out(way, at, shape, fraction0, fraction1, fraction2):
    """The open share of one face of cell `at`, and the number of the cell behind it (beyond the rim the share is 0)."""
    n1, n2 = shape[U1], shape[U2]
    plane = n1 * n2
    ahead = way & U1
    if way < U2:
        share = 0.0
        if fraction0.size > U1:
            share = fraction0[at + ahead * plane]
        return share, at + plane if ahead else at - plane
    if way < U4:
        return fraction1[at + (at // plane + ahead) * n2], at + n2 if ahead else at - n2
    return fraction2[at + at // n2 + ahead], at + U1 if ahead else at - U1


# -- where the free surface is, from how full the surroundings of each cell are ----------------------------------------


@inlined
def depth_of(filled):
    """The signed distance z, in cells, to a flat surface below which all is liquid.

    Seen with weights 1 - |s|, half of the weight lies below the surface at z = 0, and (1 - z)^2 / 2 at 0 <= z <= 1; by
    symmetry 1 - (1 + z)^2 / 2 at -1 <= z <= 0.
    """
    if filled < 0.5:
        return 1.0 - np.sqrt(2.0 * max(filled, 0.0))
    return np.sqrt(2.0 * max(1.0 - filled, 0.0)) - 1.0


@kernel
def find_level(shape, fraction0, fraction1, fraction2, filled, capacity, narrow, flat, level, liquid):
    """The distance to the free surface [cells], negative in liquid, and which cells are liquid.

    `filled` is the liquid around the middle of a cell, `capacity` what would be there in a full vessel. A cell that
    sees less room than `narrow` takes the mean over its open faces of cells that see more: its own ratio is one of very
    few particles. Distances within `flat` of zero are zero, so that rounding errors do not fold a level surface that
    goes through the middle of cells. A cell without an open face is not liquid.
    """
    cells = shape[U0] * shape[U1] * shape[U2]
    for at in range(cells):
        level[at] = depth_of(filled[at] / capacity[at]) if capacity[at] > 0.0 else 1.0
    for at in range(cells):
        total, share, is_open = 0.0, 0.0, False
        for way in range(WAYS):
            part, other = way_out(way, at, shape, fraction0, fraction1, fraction2)
            if part > 0.0:
                is_open = True
                if capacity[other] >= narrow:
                    total += part * level[other]
                    share += part
        if capacity[at] < narrow and share > 0.0:
            level[at] = total / share
        if abs(level[at]) < flat:
            level[at] = 0.0
        liquid[at] = U1 if is_open and level[at] < 0.0 else U0


@kernel
def find_attached(shape, fraction0, fraction1, fraction2, level, liquid, within, attached):
    """Mark the cells that move with the liquid: it itself, and air beside it whose level is below `within`.

    The surface goes through such a cell of air: what is in it is the top of the liquid, and no spray.
    """
    for at in range(np.uint64(liquid.size)):
        attached[at] = liquid[at]
        if not liquid[at] and level[at] < within:
            for way in range(WAYS):
                part, other = way_out(way, at, shape, fraction0, fraction1, fraction2)
                if part > 0.0 and liquid[other]:
                    attached[at] = U1


@kernel
def find_excess(shape, fraction0, fraction1, fraction2, filled, capacity, room, narrow, most, liquid, excess):
    """How much more liquid there is in a cell than fits, in units of a whole cell.

    That is the relative excess around its middle, between -most and most, times the room in it.
    Above a surface there is air: of a cell beside it only too much can be told. Cells that see little room, and those
    that are not liquid, have none.
    """
    for at in range(np.uint64(liquid.size)):
        excess[at] = 0.0
        if not liquid[at] or capacity[at] < narrow:
            continue
        least = -most
        for way in range(WAYS):
            part, other = way_out(way, at, shape, fraction0, fraction1, fraction2)
            if part > 0.0 and not liquid[other]:
                least = 0.0
        excess[at] = room[at] * min(max(filled[at] / capacity[at] - 1.0, least), most)


# -- pressure, one axis at a time --------------------------------------------------------------------------------------


@inlined
def share_of(wet, dry, least):
    """How far the free surface is from the middle of a liquid cell, as a share of the way to the next one."""
    return max(wet / (wet - dry), least)


@inlined
def strides_of(axis, n1, n2):
    """The stride of cells along an axis; lines in a plane of faces across it, faces in a line; the stride of faces."""
    line = n2 + (U1 if axis == U2 else U0)
    rows = n1 + (U1 if axis == U1 else U0)
    cell = U1 if axis == U2 else (n2 if axis == U1 else n1 * n2)
    face = U1 if axis == U2 else (line if axis == U1 else rows * line)
    return cell, rows, line, face


@kernel
def couple_cells(axis, shape, fraction, velocity, level, liquid, scale, least, diagonal, couplings, b, walls):
    """Add to the rows of liquid cells what goes through the faces of one axis; `couplings` is that of the operator.

    A face with share F between two liquid cells adds F to both diagonals and -F between them; one to air F / theta to
    the diagonal, theta the share of the way to the surface. b gains scale F u for what flows out. `walls` becomes 1
    in cells with a face that is not open all over.
    """
    n0, n1, n2 = shape[U0], shape[U1], shape[U2]
    cell, rows, line, face = strides_of(axis, n1, n2)
    for i in range(n0):
        for j in range(n1):
            for k in range(n2):
                at = (i * n1 + j) * n2 + k
                if not liquid[at]:
                    continue
                f = (i * rows + j) * line + k
                before, after = fraction[f], fraction[f + face]
                if before < 1.0 or after < 1.0:
                    walls[at] = U1
                if before > 0.0:
                    if liquid[at - cell]:
                        diagonal[at] += before
                        couplings[at] = -before
                    else:
                        diagonal[at] += before / share_of(level[at], level[at - cell], least)
                    b[at] -= scale * before * velocity[f]
                if after > 0.0:
                    if liquid[at + cell]:
                        diagonal[at] += after
                    else:
                        diagonal[at] += after / share_of(level[at], level[at + cell], least)
                    b[at] += scale * after * velocity[f + face]


@kernel
def find_closed_parts(shape, fraction0, fraction1, fraction2, liquid, closed, pins, queue):
    """Mark the liquid cells from which no way through liquid and open faces leads to air.

    Liquid is searched part by part, cell by cell (`queue` has room for all); the first cell of each closed part is a
    pin. Returns how many there are.
    """
    cells, count = shape[U0] * shape[U1] * shape[U2], U0
    closed[:] = liquid
    for start in range(cells):
        if closed[start] != U1:
            continue
        first, last, meets_air = U0, U1, False
        queue[U0] = start
        closed[start] = U2  # seen, and not yet judged
        while first < last:
            at = np.uint64(queue[first])
            first += U1
            for way in range(WAYS):
                share, other = way_out(way, at, shape, fraction0, fraction1, fraction2)
                if share > 0.0:
                    if not liquid[other]:
                        meets_air = True
                    elif closed[other] == U1:
                        closed[other] = U2
                        queue[last] = other
                        last += U1
        for place in range(last):
            closed[queue[place]] = U0 if meets_air else U3
        if not meets_air:
            pins[count] = start
            count += U1
    for at in range(cells):
        closed[at] = U1 if closed[at] == U3 else U0
    return count


@kernel
def drop_pressure(axis, shape, fraction, level, liquid, attached, x, scale, least, weight, velocity, known):
    """u <- u - scale times the difference of x across each open face with liquid at it; x is 0 at the free surface.

    `known` becomes 1 at these faces, and at those of spray: open ones in air that a particle is near to (`weight`), and
    the liquid is not (`attached`). It becomes 0 elsewhere.
    """
    n0, n1, n2 = shape[U0], shape[U1], shape[U2]
    cell, rows, line, _ = strides_of(axis, n1, n2)
    for i in range(n0 + (U1 if axis == U0 else U0)):
        for j in range(rows):
            for k in range(line):
                f = (i * rows + j) * line + k
                if fraction[f] <= 0.0:
                    known[f] = U0
                    continue
                ahead = (i * n1 + j) * n2 + k
                behind = ahead - cell
                if liquid[ahead]:
                    if liquid[behind]:
                        velocity[f] -= scale * (x[ahead] - x[behind])
                    else:
                        velocity[f] -= scale * (x[ahead] / share_of(level[ahead], level[behind], least))
                    known[f] = U1
                elif liquid[behind]:
                    velocity[f] += scale * (x[behind] / share_of(level[behind], level[ahead], least))
                    known[f] = U1
                else:
                    is_spray = weight[f] > 0.0 and not attached[ahead] and not attached[behind]
                    known[f] = U1 if is_spray else U0


@kernel
def write_rows(shape, diagonal, couplings0, couplings1, couplings2, liquid, number, pointers, columns, values):
    """Compressed rows of the liquid cells alone, in their order; `number` becomes the row of each of them.

    Couplings are those of the operator on the whole grid.
    """
    n0, n1, n2 = shape[U0], shape[U1], shape[U2]
    plane, rows = n1 * n2, U0
    cells = n0 * plane
    for at in range(cells):
        number[at] = rows
        if liquid[at]:
            rows += U1
    entry, row = U0, U0
    pointers[U0] = 0
    for at in range(cells):
        if not liquid[at]:
            continue
        if couplings0.size > U1 and couplings0[at] != 0.0:
            columns[entry], values[entry] = number[at - plane], couplings0[at]
            entry += U1
        if couplings1[at] != 0.0:
            columns[entry], values[entry] = number[at - n2], couplings1[at]
            entry += U1
        if couplings2[at] != 0.0:
            columns[entry], values[entry] = number[at - U1], couplings2[at]
            entry += U1
        columns[entry], values[entry] = row, diagonal[at]
        entry += U1
        if couplings2[at + U1] != 0.0:
            columns[entry], values[entry] = number[at + U1], couplings2[at + U1]
            entry += U1
        if couplings1[at + n2] != 0.0:
            columns[entry], values[entry] = number[at + n2], couplings1[at + n2]
            entry += U1
        if couplings0.size > U1 and couplings0[at + plane] != 0.0:
            columns[entry], values[entry] = number[at + plane], couplings0[at + plane]
            entry += U1
        row += U1
        pointers[row] = entry
    return entry
