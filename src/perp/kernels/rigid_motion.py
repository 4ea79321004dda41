"""Rigid bodies in space: inertias that turn with the body, and the semi-implicit Euler step (THESIS eq. 2.2-2.7).

Flat arrays: three numbers a position, four a quaternion (w, x, y, z), six a velocity (v, w), nine a rotation or an
inertia (row by row), eight an inverse mass (layout of body_pairs.py).
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel

U = tuple(np.uint64(k) for k in range(10))
U3, U4, U6, U8, U9 = U[3], U[4], U[6], U[8], U[9]


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


@kernel
def advance(dt, velocity, position, orientation, new_position, new_orientation):
    """Positions and orientations after dt with constant velocities; returns 0, or NaN where one is not finite.

    q+ = (cos(a / 2), sin(a / 2) w / |w|) q with a = dt |w|, the turn that a constant spin makes; to first order in dt
    it is q + dt H(q) w (THESIS eq. 2.7). Quaternions are brought to length one: rounding errors shall not add up.
    """
    probe = 0.0
    for body in range(np.uint64(new_position.size) // U3):
        p, q, v = U3 * body, U4 * body, U6 * body
        for i in range(U3):
            new_position[p + i] = position[p + i] + dt * velocity[v + i]
            probe += 0.0 * new_position[p + i]
        x, y, z = velocity[v + U[3]], velocity[v + U[4]], velocity[v + U[5]]
        speed = math.sqrt(x * x + y * y + z * z)
        half = 0.5 * dt * speed
        real, share = math.cos(half), 0.5 * dt
        if half > 1e-9:  # below, sin(half) / speed is dt / 2 to the last digit
            share = math.sin(half) / speed
        x, y, z = share * x, share * y, share * z
        a, b, c, d = orientation[q], orientation[q + U[1]], orientation[q + U[2]], orientation[q + U[3]]
        new_a = real * a - x * b - y * c - z * d
        new_b = real * b + x * a + y * d - z * c
        new_c = real * c + y * a + z * b - x * d
        new_d = real * d + z * a + x * c - y * b
        length = math.sqrt(new_a * new_a + new_b * new_b + new_c * new_c + new_d * new_d)
        new_orientation[q] = new_a / length
        new_orientation[q + U[1]] = new_b / length
        new_orientation[q + U[2]] = new_c / length
        new_orientation[q + U[3]] = new_d / length
        probe += 0.0 * (x + y + z + length)
    return probe
