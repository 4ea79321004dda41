"""From what a collision detector found to the contacts of a step, and from the impulses of one step to the next."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.contacts.point_contacts import keep_apart

U = tuple(np.uint64(k) for k in range(10))
U2, U3, U9 = U[2], U[3], U[9]


@kernel
def collect(
    geoms,
    point,
    frame,
    distance,
    dimension,
    friction,
    rounding,
    body_of_geom,
    restitution,
    centre,
    rotation,
    least_friction,
    merged,
    farthest,
    keep,
    pair,
    gap,
    bodies,
    new_point,
    new_frame,
    new_friction,
    new_restitution,
    local,
):
    """The contacts that count, one after the other; returns how many.

    `gap` is the distance less the layers of rounding. Left out are contacts that `keep_apart` does not keep, and those
    that move nothing. `bodies` are those of the geoms, `local` the point in the axes of the first body that moves. A
    contact of one dimension has no friction; the coefficient of a pair is that of the detector, its restitution the
    larger of the two.
    """
    count = np.uint64(distance.size)
    for k in range(count):
        first, second = np.uint64(geoms[U2 * k]), np.uint64(geoms[U2 * k + U[1]])
        pair[k] = first * np.uint64(body_of_geom.size) + second
        gap[k] = distance[k] - (rounding[first] + rounding[second])
    keep_apart(pair, point, gap, merged, farthest, keep)
    kept = U[0]
    for k in range(count):
        first, second = np.uint64(geoms[U2 * k]), np.uint64(geoms[U2 * k + U[1]])
        a, b = body_of_geom[first], body_of_geom[second]
        if not keep[k] or a == b:
            continue
        pair[kept], gap[kept] = pair[k], gap[k]
        bodies[U2 * kept], bodies[U2 * kept + U[1]] = a, b
        is_rough = dimension[k] != 1 and friction[k] > least_friction
        new_friction[kept] = friction[k] if is_rough else 0.0
        new_restitution[kept] = max(restitution[first], restitution[second])
        for i in range(U9):
            new_frame[U9 * kept + i] = frame[U9 * k + i]
        carrier = np.uint64(a if a >= 0 else b)
        x, y, z = (
            point[U3 * k] - centre[U3 * carrier],
            point[U3 * k + U[1]] - centre[U3 * carrier + U[1]],
            point[U3 * k + U[2]] - centre[U3 * carrier + U[2]],
        )
        for i in range(U3):
            new_point[U3 * kept + i] = point[U3 * k + i]
            r = U9 * carrier + i
            local[U3 * kept + i] = rotation[r] * x + rotation[r + U3] * y + rotation[r + U[6]] * z
        kept += U[1]
    return kept


@kernel
def carry(width, match, x, old_frame, new_frame, start):
    """Impulses x of old contacts at new ones: normals as numbers, friction as a vector that is projected anew.

    A frame has `width` unit vectors of `width` numbers, the normal first; `match` names an old contact, or is -1.
    """
    square = width * width
    for new in range(np.uint64(match.size)):
        at = width * new
        for k in range(width):
            start[at + k] = 0.0
        if match[new] < 0:
            continue
        old = np.uint64(match[new])
        start[at] = x[width * old]
        for k in range(U[1], width):
            for j in range(U[1], width):
                along = 0.0
                for i in range(width):
                    along += new_frame[square * new + width * k + i] * old_frame[square * old + width * j + i]
                start[at + k] += along * x[width * old + j]
