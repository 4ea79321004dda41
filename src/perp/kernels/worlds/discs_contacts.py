"""From touching discs to contacts: frames, gaps, surfaces, rows of J; and old contacts found among new ones.

Layout, all flat, a contact each: `bodies` 2, `point` 2, `frame` 4 (normal, tangent), `gap`, `friction`, `restitution`
and `identity` 1.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.worlds.discs_walls import COINCIDENT, from_wall

U0, U1, U2, U3, U4 = (np.uint64(k) for k in range(5))
U6, U9, U12 = np.uint64(6), np.uint64(9), np.uint64(12)
WORLD = np.int64(-1)


@inlined
def write_contact(c, a, b, x, y, nx, ny, gap, bodies, point, frame, gaps):
    """The tangent is the normal turned to the left by a right angle."""
    bodies[U2 * c], bodies[U2 * c + U1] = a, b
    point[U2 * c], point[U2 * c + U1] = x, y
    frame[U4 * c], frame[U4 * c + U1], frame[U4 * c + U2], frame[U4 * c + U3] = nx, ny, -ny, nx
    gaps[c] = gap


@kernel
def describe_pairs(
    pairs, count, position, radius, surface, bodies, point, frame, gaps, friction, restitution, identity
):
    """Contacts 0..count - 1, of discs i < j: normal from i to j, point midway between the two surfaces.

    Where the centres coincide, the normal is (0, 1). `surface` has friction and restitution of each disc. Identities,
    i n + j, grow from contact to contact.
    """
    for c in range(count):
        i, j = np.uint64(pairs[U2 * c]), np.uint64(pairs[U2 * c + U1])
        x, y = position[U2 * i], position[U2 * i + U1]
        nx, ny = position[U2 * j] - x, position[U2 * j + U1] - y
        distance = np.sqrt(nx * nx + ny * ny)
        if distance > COINCIDENT:
            nx /= distance
            ny /= distance
        else:
            nx, ny = 0.0, 1.0
        gap = distance - (radius[i] + radius[j])
        arm = radius[i] + 0.5 * gap
        write_contact(c, i, j, x + arm * nx, y + arm * ny, nx, ny, gap, bodies, point, frame, gaps)
        friction[c] = np.sqrt(surface[U2 * i] * surface[U2 * j])
        restitution[c] = max(surface[U2 * i + U1], surface[U2 * j + U1])
        identity[c] = i * np.uint64(radius.size) + j


@kernel
def describe_touched_walls(
    pairs,
    first,
    last,
    position,
    radius,
    surface,
    walls,
    is_segment,
    wall_surface,
    bodies,
    point,
    frame,
    gaps,
    friction,
    restitution,
    identity,
):
    """Contacts first..last - 1, of the world and a disc: normal from the wall to the disc, point on the disc's edge.

    Identities go on after those of pairs of discs: n n + i walls + wall.
    """
    n, count = np.uint64(radius.size), np.uint64(is_segment.size)
    for c in range(first, last):
        i, w = np.uint64(pairs[U2 * (c - first)]), np.uint64(pairs[U2 * (c - first) + U1])
        x, y, r = position[U2 * i], position[U2 * i + U1], radius[i]
        distance, nx, ny = from_wall(x, y, walls, w, is_segment)
        write_contact(c, WORLD, i, x - r * nx, y - r * ny, nx, ny, distance - r, bodies, point, frame, gaps)
        friction[c] = np.sqrt(surface[U2 * i] * wall_surface[U2 * w])
        restitution[c] = max(surface[U2 * i + U1], wall_surface[U2 * w + U1])
        identity[c] = n * n + i * count + w


@kernel
def write_rows(bodies, frame, gap, radius, row_bodies, jacobian):
    """The rows of J, normal and tangent a contact, with blocks (x, y, spin) for body a, then for body b.

    With arms p - c from the centres to the contact point, direction d gives the blocks -(d, arm_a × d), (d, arm_b × d)
    (THESIS A.3-A.6 in the plane). The arms lie along the normal: normals have no leverage, tangents the arm's length.
    The arms of two discs add up to the distance of the centres, so that no impulse changes the angular momentum.
    """
    for c in range(np.uint64(gap.size)):
        a, b = bodies[U2 * c], bodies[U2 * c + U1]
        nx, ny, tx, ty = frame[U4 * c], frame[U4 * c + U1], frame[U4 * c + U2], frame[U4 * c + U3]
        arm_b = radius[np.uint64(b)]
        k = U12 * c
        jacobian[k : k + U12] = 0.0
        if a >= 0:
            arm_a = radius[np.uint64(a)] + 0.5 * gap[c]
            arm_b += 0.5 * gap[c]
            jacobian[k], jacobian[k + U1] = -nx, -ny
            jacobian[k + U6], jacobian[k + U6 + U1], jacobian[k + U6 + U2] = -tx, -ty, -arm_a
        jacobian[k + U3], jacobian[k + U4] = nx, ny
        jacobian[k + U9], jacobian[k + U9 + U1], jacobian[k + U9 + U2] = tx, ty, -arm_b
        row_bodies[U4 * c], row_bodies[U4 * c + U1] = a, b
        row_bodies[U4 * c + U2], row_bodies[U4 * c + U3] = a, b


@kernel
def match_sorted(old, new, match):
    """For each of the new identities the place of the same one among the old, or -1; both lists grow."""
    k = U0
    for c in range(np.uint64(new.size)):
        while k < np.uint64(old.size) and old[k] < new[c]:
            k += U1
        match[c] = np.int64(k) if k < np.uint64(old.size) and old[k] == new[c] else np.int64(-1)
