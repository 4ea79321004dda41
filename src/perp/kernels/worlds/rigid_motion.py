"""Rigid bodies in space: rotation matrices, inertias that turn with the body, and the semi-implicit Euler step
(THESIS eq. 2.2-2.7).

Flat arrays: three numbers a position, four a quaternion (w, x, y, z), six a velocity (v, w), nine a rotation or an
inertia (row by row), eight an inverse mass (layout of body_pairs.py).
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel

U = tuple(np.uint64(k) for k in range(10))
U1, U2, U3, U4, U5, U6, U7, U8, U9 = U[1], U[2], U[3], U[4], U[5], U[6], U[7], U[8], U[9]


@kernel
def turn_quaternions(orientation, rotation):
    """R = 1 + 2 s [v]x + 2 [v]x^2 of each unit quaternion (s, v)."""
    for i in range(np.uint64(orientation.size // 4)):
        k, at = U4 * i, U9 * i
        s, x, y, z = orientation[k], orientation[k + U1], orientation[k + U2], orientation[k + U3]
        rotation[at] = 1.0 - 2.0 * (y * y + z * z)
        rotation[at + U1] = 2.0 * (x * y - s * z)
        rotation[at + U2] = 2.0 * (x * z + s * y)
        rotation[at + U3] = 2.0 * (x * y + s * z)
        rotation[at + U4] = 1.0 - 2.0 * (x * x + z * z)
        rotation[at + U5] = 2.0 * (y * z - s * x)
        rotation[at + U6] = 2.0 * (x * z - s * y)
        rotation[at + U7] = 2.0 * (y * z + s * x)
        rotation[at + U8] = 1.0 - 2.0 * (x * x + y * y)


REPEATS = 30
"""At most, to find the spin of a turn; a body that turns by 0.1 rad in a step needs some ten, one at rest one."""
SETTLED = 1e-15


@inlined
def _turn(rotation, r, xx, yy, zz, xy, xz, yz, i, j):
    """(R S R^T)_ij for a symmetric S."""
    a, b = r + U3 * i, r + U3 * j
    p, q, s = rotation[b], rotation[b + U[1]], rotation[b + U[2]]
    return (
        rotation[a] * (xx * p + xy * q + xz * s)
        + rotation[a + U[1]] * (xy * p + yy * q + yz * s)
        + rotation[a + U[2]] * (xz * p + yz * q + zz * s)
    )


@kernel
def turn_masses(rotation, inertia, inverse_mass, new_inertia, new_inverse_mass):
    """R I R^T and R I^-1 R^T of every body; the last entry of the inverse masses stands for the world."""
    count = np.uint64(rotation.size) // U9
    for body in range(count):
        r, m = U9 * body, U8 * body
        xx, yy, zz = inertia[r], inertia[r + U[4]], inertia[r + U[8]]
        xy, xz, yz = inertia[r + U[1]], inertia[r + U[2]], inertia[r + U[5]]
        for i in range(U3):
            for j in range(i + U[1]):
                entry = _turn(rotation, r, xx, yy, zz, xy, xz, yz, i, j)
                new_inertia[r + U3 * i + j] = entry
                new_inertia[r + U3 * j + i] = entry
        xx, yy, zz = inverse_mass[m + U[1]], inverse_mass[m + U[2]], inverse_mass[m + U[3]]
        xy, xz, yz = inverse_mass[m + U[4]], inverse_mass[m + U[5]], inverse_mass[m + U[6]]
        new_inverse_mass[m] = inverse_mass[m]
        for i in range(U3):
            new_inverse_mass[m + U[1] + i] = _turn(rotation, r, xx, yy, zz, xy, xz, yz, i, i)
        new_inverse_mass[m + U[4]] = _turn(rotation, r, xx, yy, zz, xy, xz, yz, U[0], U[1])
        new_inverse_mass[m + U[5]] = _turn(rotation, r, xx, yy, zz, xy, xz, yz, U[0], U[2])
        new_inverse_mass[m + U[6]] = _turn(rotation, r, xx, yy, zz, xy, xz, yz, U[1], U[2])
        new_inverse_mass[m + U[7]] = 0.0
    for k in range(U8):
        new_inverse_mass[U8 * count + k] = 0.0


@kernel
def place_frames(position, orientation, rotation, centre, frames):
    """Origin and orientation (seven numbers) of every body's frame, in which its centre of mass lies at `centre`."""
    for body in range(np.uint64(position.size) // U3):
        p, q, r, f = U3 * body, U4 * body, U9 * body, U[7] * body
        for i in range(U3):
            row = r + U3 * i
            arm = (
                rotation[row] * centre[p]
                + rotation[row + U[1]] * centre[p + U[1]]
                + rotation[row + U[2]] * centre[p + U[2]]
            )
            frames[f + i] = position[p + i] - arm
        for i in range(U4):
            frames[f + U3 + i] = orientation[q + i]


@kernel
def accelerate(inverse_mass, force, out):
    """M^-1 f of every body: f / m, and I^-1 t."""
    for body in range(np.uint64(force.size) // U6):
        m, k = U8 * body, U6 * body
        share = inverse_mass[m]
        for i in range(U3):
            out[k + i] = share * force[k + i]
        x, y, z = force[k + U[3]], force[k + U[4]], force[k + U[5]]
        out[k + U[3]] = inverse_mass[m + U[1]] * x + inverse_mass[m + U[4]] * y + inverse_mass[m + U[5]] * z
        out[k + U[4]] = inverse_mass[m + U[4]] * x + inverse_mass[m + U[2]] * y + inverse_mass[m + U[6]] * z
        out[k + U[5]] = inverse_mass[m + U[5]] * x + inverse_mass[m + U[6]] * y + inverse_mass[m + U[3]] * z


@kernel
def spin_momenta(inertia, velocity, momentum):
    """The angular momentum I w of every body."""
    for body in range(np.uint64(momentum.size) // U3):
        r, v, k = U9 * body, U6 * body + U3, U3 * body
        for i in range(U3):
            row = r + U3 * i
            momentum[k + i] = (
                inertia[row] * velocity[v]
                + inertia[row + U[1]] * velocity[v + U[1]]
                + inertia[row + U[2]] * velocity[v + U[2]]
            )


@inlined
def _rotated(a, b, c, d, x, y, z):
    """A vector turned by the unit quaternion (a, b, c, d): v + 2 a u x v + 2 u x (u x v) with u = (b, c, d)."""
    p, q, r = c * z - d * y, d * x - b * z, b * y - c * x
    return (
        x + 2.0 * (a * p + (c * r - d * q)),
        y + 2.0 * (a * q + (d * p - b * r)),
        z + 2.0 * (a * r + (b * q - c * p)),
    )


@inlined
def _turn_of(dt, x, y, z):
    """The unit quaternion of a constant spin for a time dt: (cos(s / 2), sin(s / 2) w / |w|), s = dt |w|."""
    speed = math.sqrt(x * x + y * y + z * z)
    half = 0.5 * dt * speed
    share = 0.5 * dt
    if half > 1e-9:  # below, sin(half) / speed is dt / 2 to the last digit
        share = math.sin(half) / speed
    return math.cos(half), share * x, share * y, share * z


@kernel
def advance(dt, inertia, inverse_mass, velocity, position, orientation, new_position, new_orientation):
    """Positions and orientations after dt, and the spins that the bodies then have; 0, or NaN where one is not finite.

    Centres move by dt v. A body that no torque acts on keeps its angular momentum L while it turns. In its own axes, in
    which its inertia I is constant, L turns back from l to l+ = exp(-dt W) l, and the spin W of the turn is taken to be
    that of the mean,

        W = I^-1 (l + l+) / 2        found by repetition, from W = I^-1 l, the spin at the beginning.

    l+ - l is at right angles to W, so that l+ I^-1 l+ - l I^-1 l = 2 W (l+ - l) = 0: energy is kept as well. To first
    order in dt the turn is q + dt H(q) w (THESIS eq. 2.7), and the change of the spin that of -w x L. Quaternions are
    brought to length one: rounding errors shall not add up. `inertia` and `inverse_mass` are those in the bodies' axes.
    """
    probe = 0.0
    for body in range(np.uint64(new_position.size) // U3):
        p, o, v, r, m = U3 * body, U4 * body, U6 * body, U9 * body, U8 * body
        for i in range(U3):
            new_position[p + i] = position[p + i] + dt * velocity[v + i]
            probe += 0.0 * new_position[p + i]
        a, b, c, d = orientation[o], orientation[o + U[1]], orientation[o + U[2]], orientation[o + U[3]]
        x, y, z = _rotated(a, -b, -c, -d, velocity[v + U[3]], velocity[v + U[4]], velocity[v + U[5]])
        l_x = inertia[r] * x + inertia[r + U[1]] * y + inertia[r + U[2]] * z
        l_y = inertia[r + U[3]] * x + inertia[r + U[4]] * y + inertia[r + U[5]] * z
        l_z = inertia[r + U[6]] * x + inertia[r + U[7]] * y + inertia[r + U[8]] * z
        xx, yy, zz = inverse_mass[m + U[1]], inverse_mass[m + U[2]], inverse_mass[m + U[3]]
        xy, xz, yz = inverse_mass[m + U[4]], inverse_mass[m + U[5]], inverse_mass[m + U[6]]
        for _ in range(REPEATS):
            s, t_x, t_y, t_z = _turn_of(dt, x, y, z)
            end_x, end_y, end_z = _rotated(s, -t_x, -t_y, -t_z, l_x, l_y, l_z)
            mean_x, mean_y, mean_z = 0.5 * (l_x + end_x), 0.5 * (l_y + end_y), 0.5 * (l_z + end_z)
            w_x = xx * mean_x + xy * mean_y + xz * mean_z
            w_y = xy * mean_x + yy * mean_y + yz * mean_z
            w_z = xz * mean_x + yz * mean_y + zz * mean_z
            change = max(abs(w_x - x), max(abs(w_y - y), abs(w_z - z)))
            x, y, z = w_x, w_y, w_z
            if change <= SETTLED * (abs(x) + abs(y) + abs(z)):
                break
        s, t_x, t_y, t_z = _turn_of(dt, x, y, z)
        l_x, l_y, l_z = _rotated(s, -t_x, -t_y, -t_z, l_x, l_y, l_z)
        a, b, c, d = (
            a * s - b * t_x - c * t_y - d * t_z,
            a * t_x + b * s + c * t_z - d * t_y,
            a * t_y + c * s + d * t_x - b * t_z,
            a * t_z + d * s + b * t_y - c * t_x,
        )
        length = math.sqrt(a * a + b * b + c * c + d * d)
        a, b, c, d = a / length, b / length, c / length, d / length
        new_orientation[o], new_orientation[o + U[1]] = a, b
        new_orientation[o + U[2]], new_orientation[o + U[3]] = c, d
        x, y, z = xx * l_x + xy * l_y + xz * l_z, xy * l_x + yy * l_y + yz * l_z, xz * l_x + yz * l_y + zz * l_z
        velocity[v + U[3]], velocity[v + U[4]], velocity[v + U[5]] = _rotated(a, b, c, d, x, y, z)
        probe += 0.0 * (velocity[v + U[3]] + velocity[v + U[4]] + velocity[v + U[5]] + length)
    return probe
