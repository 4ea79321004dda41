"""Products and sweeps on a grid, written once for both storages of its couplings (`constant.py` and `faces.py`).

A grid has nz planes of ny rows of nx cells, cell (z, y, x) stands at (z ny + y) nx + x; one with fewer axes has leading
sizes of 1. A colour is the parity of z + y + x: 0 is red, 1 is black. A red cell has black neighbours only, so that
all of one colour may be visited at once. Red first and then black would read everything from memory twice. Instead
black follows one plane behind red, the next sweep two planes behind this one, and so on: `depth` half-sweeps in one
pass over the memory. So that what they share stays in the nearest caches, the grid is walked in bands of rows,

    half-sweep h visits the rows  (z - h, y - h)   of the band  top <= y < top + rows,      h = 0, 1, ..., for each z,

each half-sweep one plane and one row behind the last. A black cell is visited when its red neighbours are done, and not
before they have read its old value; so all numbers are, bit for bit, what red first and then black would give.

A storage gives three functions:

    around(storage, z, y, sizes)     where the row of cells (z, y) begins, and what `others` must know of rows beside it
    others(storage, i, rows, spatial, left, right, x)
                                     (A x)_i without A_ii x_i, for x = left, right in the cells before and after i
    along(storage, i, forward)       A[i, i - 1], or A[i, i + 1] where `forward` is false
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined
from perp.kernels.measures.projection import clip

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)

DEPTH = np.uint64(8)
"""Half-sweeps that follow each other through the grid."""

CELLS = np.uint64(16384)
"""Cells of a band in the planes that they are in at one time: those of every array should fit in a cache."""


@inlined
def shifts_around(z, y, sizes):
    """Offsets of the rows before and after along z and y; 0 where there is none, so that every index is valid."""
    nz, ny, nx = sizes
    plane = ny * nx
    below, above = (plane if z > ZERO else ZERO), (plane if z + ONE < nz else ZERO)
    front, behind = (nx if y > ZERO else ZERO), (nx if y + ONE < ny else ZERO)
    return below, above, front, behind


@inlined
def turned(nz, ny, nx, along_z, along_y, along_x):
    """Sizes and couplings with the axes that are there in front, so that one walk serves all grids.

    A planar grid becomes planes of one row each, and a line planes of one cell each: what stands between cells of one
    row is then multiplied by nothing, but must be there to be read.
    """
    if nz > ONE:
        return (nz, ny, nx), (along_z, along_y, along_x)
    if ny > ONE:
        return (ny, nz, nx), (along_y, along_z, along_x)
    return (nx, ny, nz), (along_x, along_x, along_x)


@inlined
def slack_of_row(around, others, storage, z, y, sizes, spatial, vectors):
    """out = A x + b; the two ends of the row have one neighbour less.

    b comes last: beside a huge x that A all but cancels it would be lost.
    """
    diagonal, b, x, out = vectors
    at, rows = around(storage, z, y, sizes)
    last = at + sizes[2] - ONE
    for i in range(at + ONE, last):
        out[i] = diagonal[i] * x[i] + others(storage, i, rows, spatial, x[i - ONE], x[i + ONE], x) + b[i]
    right = x[at + ONE] if last > at else 0.0
    out[at] = diagonal[at] * x[at] + others(storage, at, rows, spatial, 0.0, right, x) + b[at]
    if last > at:
        sum_of_others = others(storage, last, rows, spatial, x[last - ONE], 0.0, x)
        out[last] = diagonal[last] * x[last] + sum_of_others + b[last]


@inlined
def stepped(i, bounded, vectors, sum_of_others):
    """x_i after its step (NOTES eq. 59)."""
    relaxation, inverse, b, lower, upper, x, _ = vectors
    value = (1.0 - relaxation) * x[i] - relaxation * (inverse[i] * (b[i] + sum_of_others))
    return clip(value, lower[i], upper[i]) if bounded else clip(value, 0.0, np.inf)


@inlined
def step_colour(around, others, storage, z, y, colour, sizes, spatial, bounded, vectors):
    """A step of the cells of one colour in a row.

    Every second cell is what vector units are bad at: so all are computed, and the other colour's are not taken. They
    go to `line` first, as the compiler cannot know that none of them is read on the way.
    """
    x, line = vectors[5], vectors[6]
    at, rows = around(storage, z, y, sizes)
    odd = (z + y + colour) & ONE  # which places of the row have this colour
    last = sizes[2] - ONE
    for j in range(ONE, last):
        i = at + j
        value = stepped(i, bounded, vectors, others(storage, i, rows, spatial, x[i - ONE], x[i + ONE], x))
        line[j] = value if j & ONE == odd else x[i]
    for j in range(ONE, last):
        x[at + j] = line[j]
    if odd == ZERO:
        right = x[at + ONE] if last > ZERO else 0.0
        x[at] = stepped(at, bounded, vectors, others(storage, at, rows, spatial, 0.0, right, x))
    if last & ONE == odd and last > ZERO:
        i = at + last
        x[i] = stepped(i, bounded, vectors, others(storage, i, rows, spatial, x[i - ONE], 0.0, x))


@inlined
def visit_colour(around, others, storage, z, y, colour, sizes, bounded, vectors):
    """One loop for each case: neither axes nor bounds that are not there are read."""
    if sizes[1] > ONE:
        if bounded:
            step_colour(around, others, storage, z, y, colour, sizes, True, True, vectors)
        else:
            step_colour(around, others, storage, z, y, colour, sizes, True, False, vectors)
    elif bounded:
        step_colour(around, others, storage, z, y, colour, sizes, False, True, vectors)
    else:
        step_colour(around, others, storage, z, y, colour, sizes, False, False, vectors)


@inlined
def walk_colours(around, others, storage, count, first, symmetric, sizes, bounded, vectors):
    """`count` red-black sweeps; `first` is the colour of the first half, `symmetric` turns every second sweep round."""
    nz, ny, nx = sizes
    halves = TWO * np.uint64(count)
    begun = ZERO
    while begun < halves:
        depth = min(DEPTH, halves - begun)
        rows = ny + depth if ny == ONE else max(TWO, CELLS // (nx * (depth + ONE)))
        for top in range(ZERO, ny + depth - ONE, rows):
            for z in range(nz + depth - ONE):
                for h in range(depth):
                    if h <= z < nz + h:
                        half = begun + h
                        turned = (half >> ONE) & ONE if symmetric else ZERO
                        colour = (first + half + turned) & ONE
                        for y in range(max(top, h), min(top + rows, ny + h)):
                            visit_colour(around, others, storage, z - h, y - h, colour, sizes, bounded, vectors)
        begun += depth


@inlined
def step_in_order(around, others, along, storage, z, y, backward, sizes, bounded, vectors):
    """A step of all cells of a row, one after the other.

    What the cells not yet visited and the other rows add goes to `line`, by vector units; then only the neighbour that
    was just visited is waited for.
    """
    relaxation, inverse, b, lower, upper, x, line = vectors
    at, rows = around(storage, z, y, sizes)
    spatial, last = sizes[1] > ONE, sizes[2] - ONE
    if backward:
        for j in range(ONE, last + ONE):
            line[j] = others(storage, at + j, rows, spatial, x[at + j - ONE], 0.0, x)
        line[ZERO] = others(storage, at, rows, spatial, 0.0, 0.0, x)
    else:
        for j in range(last):
            line[j] = others(storage, at + j, rows, spatial, 0.0, x[at + j + ONE], x)
        line[last] = others(storage, at + last, rows, spatial, 0.0, 0.0, x)
    newest = 0.0
    for k in range(last + ONE):
        j = last - k if backward else k
        i = at + j
        step = relaxation * inverse[i]
        rest = (1.0 - relaxation) * x[i] - step * (b[i] + line[j])
        value = rest - (step * along(storage, i, not backward)) * newest
        newest = clip(value, lower[i], upper[i]) if bounded else clip(value, 0.0, np.inf)
        x[i] = newest


@inlined
def walk_in_order(around, others, along, storage, count, backward, sizes, bounded, vectors):
    """`count` passes over all cells in the order of their numbers, or back."""
    nz, ny, _ = sizes
    for _ in range(count):
        for p in range(nz):
            z = nz - ONE - p if backward else p
            for q in range(ny):
                y = ny - ONE - q if backward else q
                step_in_order(around, others, along, storage, z, y, backward, sizes, bounded, vectors)


@inlined
def walk_products(around, others, storage, sizes, vectors):
    """out = A x + b in all cells."""
    nz, ny, _ = sizes
    for z in range(nz):
        for y in range(ny):
            if ny > ONE:
                slack_of_row(around, others, storage, z, y, sizes, True, vectors)
            else:
                slack_of_row(around, others, storage, z, y, sizes, False, vectors)
