"""What a caller hands over as pairs of bodies, copied into the layout of the kernels and checked in one pass."""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import kernel

U1, U2 = np.uint64(1), np.uint64(2)
FINE = np.uint64(0)
OUT_OF_RANGE = np.uint64(1)
TWICE = np.uint64(2)
NOT_FINITE = np.uint64(3)


@kernel
def take_pairs(given, blocks, width, count, bodies, jacobian):
    """Copy m x 2 body numbers, -1 for the world, and their `width` numbers each, zeros for the world.

    Returns what is wrong first, and where: FINE and 0, OUT_OF_RANGE and the place in `given`, TWICE and the row,
    NOT_FINITE and the place in `blocks`.
    """
    for row in range(np.uint64(given.size) // U2):
        for place in range(U2 * row, U2 * row + U2):
            body = given[place]
            if body < -1 or body >= count:
                return OUT_OF_RANGE, place
            bodies[place] = count if body == -1 else body
            for k in range(place * width, place * width + width):
                if not math.isfinite(blocks[k]):
                    return NOT_FINITE, k
                jacobian[k] = 0.0 if body == -1 else blocks[k]
        if given[U2 * row] == given[U2 * row + U1] and given[U2 * row] != -1:
            return TWICE, row
    return FINE, np.uint64(0)
