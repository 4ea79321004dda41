"""Particles that are carried along by a velocity on a staggered grid, between walls."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.fluid.fields import sample
from perp.kernels.fluid.walls import slope_at, solid_at

U0, U1, U2, U3 = (np.uint64(k) for k in range(4))

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
