"""Which discs touch walls that do not move: half-planes, and segments with both sides and both ends.

Layout, flat: four numbers a wall, those of a half-plane its point and its outward unit normal, those of a segment its
two ends; velocities are (x, y, spin) a disc.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel

U0, U1, U2, U3, U4 = (np.uint64(k) for k in range(5))
COINCIDENT = 1e-150
"""Points nearer than this [m] have no direction from one to the other that could be computed."""


@inlined
def from_wall(x, y, walls, w, is_segment):
    """Distance of the point (x, y) from wall w, and the unit vector from the wall to it.

    A half-plane has negative distances inside. A point on a segment is taken to be on the left of its direction.
    """
    px, py, qx, qy = walls[U4 * w], walls[U4 * w + U1], walls[U4 * w + U2], walls[U4 * w + U3]
    dx, dy = x - px, y - py
    if not is_segment[w]:
        return dx * qx + dy * qy, qx, qy
    ex, ey = qx - px, qy - py
    squared = ex * ex + ey * ey
    along = min(max((dx * ex + dy * ey) / squared, 0.0), 1.0)
    dx -= along * ex
    dy -= along * ey
    distance = np.sqrt(dx * dx + dy * dy)
    if distance > COINCIDENT:
        return distance, dx / distance, dy / distance
    length = np.sqrt(squared)
    return 0.0, -ey / length, ex / length


@kernel
def find_touched_walls(position, velocity, radius, inverse_mass, walls, is_segment, margin, dt, pairs):
    """All (disc, wall) that touch or may touch within dt, ordered by disc, then wall; returns how many there are.

    They may if their gap is at most `margin` and what the velocity along the normal closes of it.

    Where there are more than `pairs` has room for, those that do not fit are counted only.
    """
    count = U0
    for i in range(np.uint64(radius.size)):
        if inverse_mass[i] > 0.0:
            for w in range(np.uint64(is_segment.size)):
                distance, nx, ny = from_wall(position[U2 * i], position[U2 * i + U1], walls, w, is_segment)
                closing = -(velocity[U3 * i] * nx + velocity[U3 * i + U1] * ny)
                if distance - radius[i] <= margin + dt * max(closing, 0.0):
                    if U2 * count < np.uint64(pairs.size):
                        pairs[U2 * count] = i
                        pairs[U2 * count + U1] = w
                    count += U1
    return count
