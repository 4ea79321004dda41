"""Where the free surface is, as a distance, from how full the surroundings of each cell are."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.fluid.cells import WAYS, way_out

U0, U1, U2 = (np.uint64(k) for k in range(3))


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
