"""Fields on a grid and points between their places: interpolation, ways to go on, and particles to the grid and back.

A field has one number at each of `shape` = (n0, n1, n2) places, flat, in C order; in the plane n0 is 1. A point is
given by its index coordinates (a, b, c), so that a whole number is a place of the field. Beyond the first and the last
place a field goes on as it ends: walls all around are mirrors of what lies between them.

On a staggered grid numbers stand in the middle of cells or of faces. `frame` = (origin of three axes, 1 / spacing)
turns a position into coordinates of cells, and `offset`, half a cell or none along each axis, those into coordinates of
a field. `dimension` numbers make a particle in `position` and `velocity`.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel

U0, U1, U2, U3 = (np.uint64(k) for k in range(4))


@inlined
def locate(along, size):
    """The place before a point along one axis, the share of the next one, and the step to it, 0 if there is none."""
    inside = min(max(along, 0.0), np.float64(size) - 1.0)
    first = np.uint64(inside)
    if size == U1:
        return U0, 0.0, U0
    first = min(first, size - U2)
    return first, inside - np.float64(first), U1


@inlined
def index_of(position, at, dimension, frame, offset):
    """Index coordinates of the point whose numbers begin at position[at]; the first one is 0 in the plane."""
    a = 0.0
    if dimension == U3:
        a = (position[at] - frame[U0]) * frame[U3] - offset[U0]
    last = at + dimension
    b = (position[last - U2] - frame[U1]) * frame[U3] - offset[U1]
    c = (position[last - U1] - frame[U2]) * frame[U3] - offset[U2]
    return a, b, c


@inlined
def sample(field, shape, a, b, c):
    """The value at a point, linear along each axis."""
    i, r, deep = locate(a, shape[U0])
    j, s, down = locate(b, shape[U1])
    k, t, right = locate(c, shape[U2])
    at = (i * shape[U1] + j) * shape[U2] + k
    below, value, share = down * shape[U2], 0.0, 1.0 - r
    for _ in range(U1 + deep):
        near = (1.0 - t) * field[at] + t * field[at + right]
        far = (1.0 - t) * field[at + below] + t * field[at + below + right]
        value += share * ((1.0 - s) * near + s * far)
        at += shape[U1] * shape[U2]
        share = r
    return value


@inlined
def spread(field, shape, a, b, c, amount):
    """Add an amount to the places around a point, with the weights that `sample` reads them with."""
    i, r, deep = locate(a, shape[U0])
    j, s, down = locate(b, shape[U1])
    k, t, right = locate(c, shape[U2])
    at = (i * shape[U1] + j) * shape[U2] + k
    below, share = down * shape[U2], amount * (1.0 - r)
    for _ in range(U1 + deep):
        near, far = share * (1.0 - s), share * s
        field[at] += near * (1.0 - t)
        field[at + right] += near * t
        field[at + below] += far * (1.0 - t)
        field[at + below + right] += far * t
        at += shape[U1] * shape[U2]
        share = amount * r


@kernel
def extend(shape, layers, field, known):
    """Give the places that are not known the mean of their neighbours that are, layer by layer away from these.

    `known` is 1 where the field is known beforehand and 0 elsewhere; it ends as 1 + the layer. Returns how many places
    are unknown still.
    """
    n0, n1, n2 = shape[U0], shape[U1], shape[U2]
    plane, unknown = n1 * n2, U0
    for layer in range(U1, layers + U1):
        changed, unknown = U0, U0
        for i in range(n0):
            for j in range(n1):
                for k in range(n2):
                    at = (i * n1 + j) * n2 + k
                    if known[at] != U0:
                        continue
                    total, count = 0.0, 0.0
                    if i > U0 and U0 < known[at - plane] <= layer:
                        total, count = total + field[at - plane], count + 1.0
                    if i + U1 < n0 and U0 < known[at + plane] <= layer:
                        total, count = total + field[at + plane], count + 1.0
                    if j > U0 and U0 < known[at - n2] <= layer:
                        total, count = total + field[at - n2], count + 1.0
                    if j + U1 < n1 and U0 < known[at + n2] <= layer:
                        total, count = total + field[at + n2], count + 1.0
                    if k > U0 and U0 < known[at - U1] <= layer:
                        total, count = total + field[at - U1], count + 1.0
                    if k + U1 < n2 and U0 < known[at + U1] <= layer:
                        total, count = total + field[at + U1], count + 1.0
                    if count > 0.0:
                        field[at] = total / count
                        known[at] = layer + U1
                        changed += U1
                    else:
                        unknown += U1
        if changed == U0 or unknown == U0:
            break
    return unknown


# -- particles: linear weights both ways (Zhu & Bridson 2005, "Animating Sand as a Fluid") -----------------------------


@kernel
def count_particles(position, dimension, frame, offset, shape, amount, field):
    """Add `amount` for each particle, spread over the places around it."""
    for particle in range(np.uint64(position.size) // dimension):
        a, b, c = index_of(position, dimension * particle, dimension, frame, offset)
        spread(field, shape, a, b, c, amount)


@kernel
def collect_velocity(position, velocity, dimension, axis, frame, offset, shape, weight, field):
    """The mean of one component of the velocities around each place, and its weight: momentum over mass.

    `axis` counts from the first component of a particle. Places that no particle is near have weight 0 and velocity 0.
    """
    field[:] = 0.0
    weight[:] = 0.0
    for particle in range(np.uint64(position.size) // dimension):
        at = dimension * particle
        a, b, c = index_of(position, at, dimension, frame, offset)
        spread(field, shape, a, b, c, velocity[at + axis])
        spread(weight, shape, a, b, c, 1.0)
    for at in range(np.uint64(field.size)):
        if weight[at] > 0.0:
            field[at] /= weight[at]


@kernel
def return_velocity(position, velocity, dimension, axis, frame, offset, shape, flip, old, new, out):
    """v+ = u_new(x) + flip (v - u_old(x)) for one component.

    flip = 0 is PIC: particles take over the velocity of the grid, and lose what it cannot hold. flip = 1 is FLIP: they
    take over its change.
    """
    for particle in range(np.uint64(position.size) // dimension):
        at = dimension * particle
        a, b, c = index_of(position, at, dimension, frame, offset)
        kept = velocity[at + axis] - sample(old, shape, a, b, c)
        out[at + axis] = sample(new, shape, a, b, c) + flip * kept
