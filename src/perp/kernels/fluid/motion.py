"""Solid walls around a liquid on a staggered grid, and particles that are carried along between them.

`solid` has the signed distance to the solid at the nodes, negative inside it, one place more along each axis than there
are cells; in the plane its first axis has one place. `shape` are the cells.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.fluid.fields import locate, sample, spread

U0, U1, U2, U3 = (np.uint64(k) for k in range(4))


# -- walls: room between them, and velocities that do not enter them ---------------------------------------------------


DEEPEST = 3.0
"""In cells: no particle reads a velocity that far inside the solid."""


@inlined
def solid_at(solid, nodes, a, b, c):
    """Distance at a point in coordinates of cells, which are those of nodes."""
    return sample(solid, nodes, a, b, c)


@inlined
def slope_at(solid, nodes, a, b, c):
    """The gradient of the interpolated distance [m per cell]."""
    i, r, deep = locate(a, nodes[U0])
    j, s, down = locate(b, nodes[U1])
    k, t, right = locate(c, nodes[U2])
    at = (i * nodes[U1] + j) * nodes[U2] + k
    below, behind = down * nodes[U2], deep * nodes[U1] * nodes[U2]
    v000, v001, v010, v011 = solid[at], solid[at + right], solid[at + below], solid[at + below + right]
    at += behind
    v100, v101, v110, v111 = solid[at], solid[at + right], solid[at + below], solid[at + below + right]
    q, p, o = 1.0 - r, 1.0 - s, 1.0 - t
    da = p * (o * (v100 - v000) + t * (v101 - v001)) + s * (o * (v110 - v010) + t * (v111 - v011))
    db = q * (o * (v010 - v000) + t * (v011 - v001)) + r * (o * (v110 - v100) + t * (v111 - v101))
    dc = q * (p * (v001 - v000) + s * (v011 - v010)) + r * (p * (v101 - v100) + s * (v111 - v110))
    return da, db, dc


@inlined
def slope_around(solid, nodes, a, b, c):
    """The gradient at the middle of a face [m per cell], where that of the interpolated distance has a step.

    Half a cell to both sides makes it the mean of the two: walls and their mirror images are treated alike.
    """
    da = solid_at(solid, nodes, a + 0.5, b, c) - solid_at(solid, nodes, a - 0.5, b, c)
    db = solid_at(solid, nodes, a, b + 0.5, c) - solid_at(solid, nodes, a, b - 0.5, c)
    dc = solid_at(solid, nodes, a, b, c + 0.5) - solid_at(solid, nodes, a, b, c - 0.5)
    return da, db, dc


@kernel
def measure_room(shape, nodes, solid, fine, room, capacity):
    """The open share of each cell, and how much liquid can be around its middle, from points at even distances.

    `capacity` is the sum of the weights with which a vessel full of liquid is spread over the middles of cells: 1 far
    from walls. Weights are linear between the middles, so that two points an axis sum them up exactly in a cell that
    is open; in one that a wall may pass through there are `fine` of them.
    """
    n0, n1, n2 = shape[U0], shape[U1], shape[U2]
    flat = nodes[U0] == U1
    for i in range(n0):
        for j in range(n1):
            for k in range(n2):
                lowest = np.inf
                for u in range(i, i + (U1 if flat else U2)):
                    for v in range(j, j + U2):
                        for w in range(k, k + U2):
                            lowest = min(lowest, solid[(u * nodes[U1] + v) * nodes[U2] + w])
                points = U2 if lowest > 0.0 else fine
                layers, width = U1 if flat else points, 1.0 / np.float64(points)
                amount = width * width * (1.0 if flat else width)
                at = (i * n1 + j) * n2 + k
                room[at] = 0.0
                for u in range(layers):
                    a = np.float64(i) + (0.5 if flat else width * (np.float64(u) + 0.5))
                    for v in range(points):
                        b = np.float64(j) + width * (np.float64(v) + 0.5)
                        for w in range(points):
                            c = np.float64(k) + width * (np.float64(w) + 0.5)
                            if solid_at(solid, nodes, a, b, c) > 0.0:
                                room[at] += amount
                                spread(capacity, shape, a - 0.5, b - 0.5, c - 0.5, amount)


@inlined
def cell_at(shape, a, b, c):
    """The number of the cell that a point lies in, or is nearest to."""
    i = np.uint64(min(max(a, 0.0), np.float64(shape[U0]) - 0.5))
    j = np.uint64(min(max(b, 0.0), np.float64(shape[U1]) - 0.5))
    k = np.uint64(min(max(c, 0.0), np.float64(shape[U2]) - 0.5))
    return (i * shape[U1] + j) * shape[U2] + k


@inlined
def rim_slope(a, size):
    """1 at the lower rim of the grid, -1 at the upper one, 0 between: the direction away from what is outside."""
    return (1.0 if a <= 0.0 else 0.0) - (1.0 if a >= np.float64(size) else 0.0)


@kernel
def keep_out(
    axis, shape, nodes, solid, spacing, holds, fraction, faces0, faces1, faces2, shape0, shape1, shape2, old, new
):
    """Let no velocity at a closed face enter the wall, and none leave it where the wall holds the liquid.

    At a face within the solid, u loses its part along the normal n of the wall: all of it where the liquid at the wall
    is there to stay (`holds`: liquid that does not separate), only a part into the wall (u n < 0) elsewhere. `old` is
    the component of this axis before, which the faces of the other axes are read with, and `new` after.
    """
    m0 = shape[U0] + (U1 if axis == U0 else U0)
    m1 = shape[U1] + (U1 if axis == U1 else U0)
    m2 = shape[U2] + (U1 if axis == U2 else U0)
    flat = nodes[U0] == U1
    for i in range(m0):
        for j in range(m1):
            for k in range(m2):
                at = (i * m1 + j) * m2 + k
                new[at] = old[at]
                if fraction[at] > 0.0:
                    continue
                a = np.float64(i) + (0.0 if axis == U0 else 0.5)
                b = np.float64(j) + (0.0 if axis == U1 else 0.5)
                c = np.float64(k) + (0.0 if axis == U2 else 0.5)
                x = rim_slope(a, shape[U0]) if axis == U0 else 0.0
                y = rim_slope(b, shape[U1]) if axis == U1 else 0.0
                z = rim_slope(c, shape[U2]) if axis == U2 else 0.0
                depth = 0.0
                if x == 0.0 and y == 0.0 and z == 0.0:
                    depth = solid_at(solid, nodes, a, b, c) / spacing
                    if depth < -DEEPEST:
                        continue
                    x, y, z = slope_around(solid, nodes, a, b, c)
                    length = np.sqrt(x * x + y * y + z * z)
                    if length == 0.0:
                        continue
                    x, y, z = x / length, y / length, z / length
                u0 = 0.0 if flat else sample(faces0, shape0, a, b - 0.5, c - 0.5)
                u1 = sample(faces1, shape1, 0.0 if flat else a - 0.5, b, c - 0.5)
                u2 = sample(faces2, shape2, 0.0 if flat else a - 0.5, b - 0.5, c)
                along = u0 * x + u1 * y + u2 * z
                reach = 0.5 - depth
                if along < 0.0 or holds[cell_at(shape, a + reach * x, b + reach * y, c + reach * z)]:
                    normal = x if axis == U0 else (y if axis == U1 else z)
                    new[at] = old[at] - along * normal


# -- particles ---------------------------------------------------------------------------------------------------------


REPEATS = np.uint64(3)
"""To push a particle out of a corner, where the nearest wall changes on the way."""
STEPS = 1000.0
"""At most, for one particle: one that would cross more cells is fast enough to be at a wall wherever that is."""


@inlined
def flow(faces0, faces1, faces2, shape0, shape1, shape2, flat, a, b, c):
    """The velocity at a point in coordinates of cells."""
    x = 0.0 if flat else sample(faces0, shape0, a, b - 0.5, c - 0.5)
    y = sample(faces1, shape1, 0.0 if flat else a - 0.5, b, c - 0.5)
    z = sample(faces2, shape2, 0.0 if flat else a - 0.5, b - 0.5, c)
    return x, y, z


@inlined
def push_inside(along, size, clearance):
    return min(max(along, clearance), np.float64(size) - clearance)


@inlined
def leave_solid(solid, nodes, per_metre, clearance, flat, at, last, velocity, a, b, c):
    """Out of the solid along the slope of its distance; what the velocity has into the wall is taken away."""
    for _ in range(REPEATS):
        distance = solid_at(solid, nodes, a, b, c) * per_metre
        if distance >= clearance:
            break
        x, y, z = slope_at(solid, nodes, a, b, c)
        length = np.sqrt(x * x + y * y + z * z)
        if length == 0.0:
            break
        x, y, z = x / length, y / length, z / length
        way = (clearance - distance) / (length * per_metre)
        way = min(way, 1.0)
        a, b, c = a + way * x, b + way * y, c + way * z
        vx = 0.0 if flat else velocity[at]
        into = min(x * vx + y * velocity[last - U2] + z * velocity[last - U1], 0.0)
        if not flat:
            velocity[at] -= into * x
        velocity[last - U2] -= into * y
        velocity[last - U1] -= into * z
    return a, b, c


@inlined
def stay_on_grid(shape, clearance, flat, at, last, velocity, a, b, c):
    """Back from beyond the rim of the grid, likewise."""
    inside = push_inside(b, shape[U1], clearance)
    if inside != b:
        velocity[last - U2] = max(velocity[last - U2], 0.0) if inside > b else min(velocity[last - U2], 0.0)
        b = inside
    inside = push_inside(c, shape[U2], clearance)
    if inside != c:
        velocity[last - U1] = max(velocity[last - U1], 0.0) if inside > c else min(velocity[last - U1], 0.0)
        c = inside
    if not flat:
        inside = push_inside(a, shape[U0], clearance)
        if inside != a:
            velocity[at] = max(velocity[at], 0.0) if inside > a else min(velocity[at], 0.0)
            a = inside
    return a, b, c


@kernel
def advect(
    dt,
    shape,
    frame,
    dimension,
    faces0,
    faces1,
    faces2,
    shape0,
    shape1,
    shape2,
    nodes,
    solid,
    clearance,
    position,
    velocity,
    new_position,
):
    """Carry the particles along for dt, in steps that cross at most about a cell, each of Ralston's third order.

    After each step a particle nearer to the solid than `clearance` (in cells) is pushed out along the slope of the
    distance, as is one beyond the rim of the grid, and what its own velocity has into the wall is taken away: it would
    grow without end where a single drop lies on the ground. Velocities are in metres a second, the walk is in cells.
    """
    flat = nodes[U0] == U1
    per_metre = frame[U3]
    for particle in range(np.uint64(position.size) // dimension):
        at = dimension * particle
        last = at + dimension
        a = 0.5 if flat else (position[at] - frame[U0]) * per_metre
        b = (position[last - U2] - frame[U1]) * per_metre
        c = (position[last - U1] - frame[U2]) * per_metre
        a0, b0, c0 = a, b, c
        left = dt
        while left > 0.0:
            x1, y1, z1 = flow(faces0, faces1, faces2, shape0, shape1, shape2, flat, a, b, c)
            fastest = per_metre * max(abs(x1), max(abs(y1), abs(z1)))
            step = left
            if fastest * left > 1.0:
                step = max(1.0 / fastest if fastest * left > 2.0 else 0.5 * left, dt / STEPS)
            left = left - step if step < left else 0.0
            h = per_metre * step
            x2, y2, z2 = flow(
                faces0,
                faces1,
                faces2,
                shape0,
                shape1,
                shape2,
                flat,
                a + 0.5 * h * x1,
                b + 0.5 * h * y1,
                c + 0.5 * h * z1,
            )
            x3, y3, z3 = flow(
                faces0,
                faces1,
                faces2,
                shape0,
                shape1,
                shape2,
                flat,
                a + 0.75 * h * x2,
                b + 0.75 * h * y2,
                c + 0.75 * h * z2,
            )
            a += h / 9.0 * (2.0 * x1 + 3.0 * x2 + 4.0 * x3)
            b += h / 9.0 * (2.0 * y1 + 3.0 * y2 + 4.0 * y3)
            c += h / 9.0 * (2.0 * z1 + 3.0 * z2 + 4.0 * z3)
            a, b, c = leave_solid(solid, nodes, per_metre, clearance, flat, at, last, velocity, a, b, c)
            a, b, c = stay_on_grid(shape, clearance, flat, at, last, velocity, a, b, c)
        # what was added, and not where it ends: a particle at rest shall keep every bit
        if not flat:
            new_position[at] = position[at] + (a - a0) / per_metre
        new_position[last - U2] = position[last - U2] + (b - b0) / per_metre
        new_position[last - U1] = position[last - U1] + (c - c0) / per_metre
