"""Rows that hold points of two bodies: together (`hold_points`), or at a distance (`keep_distance`).

`first_row` and `row_of` say where a joint has its rows in `jacobian` (twelve numbers each) and in `value`.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.worlds.joints_frames import U1, U2, U3, U6, U9, turned_at, write_pulling

TINY = 1e-150
"""Nearer than that, points coincide [m]."""


# Points held together (ball, hinge, universal, fixed): point p_a of body a and point p_b of body b, with arms
# r_a = p_a - c_a and r_b = p_b - c_b, along the axes d_k = R_a e_k of body a.
#
#     C_k     = d_k . (p_b - p_a)
#     dC_k/dt = d_k . (v_b + w_b x r_b - v_a - w_a x r_a) + (w_a x d_k) . (p_b - p_a)
#             = d_k . (v_b + w_b x r_b - v_a) - w_a . ((r_a + p_b - p_a) x d_k)
#     J_k     = [ -d_k   -(p_b - c_a) x d_k   d_k   r_b x d_k ]
#
# the contact row of THESIS eq. A.5, but with both arms ending at p_b.


@kernel
def hold_points(position, rotation, bodies, arms, first_row, jacobian, value):
    for i in range(np.uint64(first_row.size)):
        a, b = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1])
        a_x, a_y, a_z = turned_at(rotation, a, arms, U6 * i)
        b_x, b_y, b_z = turned_at(rotation, b, arms, U6 * i + U3)
        l_x = position[U3 * b] + b_x - position[U3 * a]  # the arm of a that ends at p_b
        l_y = position[U3 * b + U1] + b_y - position[U3 * a + U1]
        l_z = position[U3 * b + U2] + b_z - position[U3 * a + U2]
        for k in range(U3):
            at = U9 * a + k
            d_x, d_y, d_z = rotation[at], rotation[at + U3], rotation[at + U6]
            row = np.uint64(first_row[i]) + k
            value[row] = d_x * (l_x - a_x) + d_y * (l_y - a_y) + d_z * (l_z - a_z)
            write_pulling(jacobian, row, 1.0, d_x, d_y, d_z, l_x, l_y, l_z, b_x, b_y, b_z)


# Points at a distance (rod and rope): with d = p_b - p_a and n = d / |d|
#
#     C     = |d| - length
#     dC/dt = n . dd/dt = n . (v_b + w_b x r_b - v_a - w_a x r_a)        as |n| = 1, dn/dt does not matter
#     J     = [ -n   -(r_a x n)   n   r_b x n ]
#
# A rope asks for length - |d| >= 0: both change sign. Where the points coincide, every direction is as good: the first.


@kernel
def keep_distance(position, rotation, bodies, arms, length, sign, row_of, jacobian, value):
    for i in range(np.uint64(length.size)):
        a, b = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1])
        a_x, a_y, a_z = turned_at(rotation, a, arms, U6 * i)
        b_x, b_y, b_z = turned_at(rotation, b, arms, U6 * i + U3)
        n_x = position[U3 * b] + b_x - position[U3 * a] - a_x
        n_y = position[U3 * b + U1] + b_y - position[U3 * a + U1] - a_y
        n_z = position[U3 * b + U2] + b_z - position[U3 * a + U2] - a_z
        distance = math.sqrt(n_x * n_x + n_y * n_y + n_z * n_z)
        if distance > TINY:
            n_x, n_y, n_z = n_x / distance, n_y / distance, n_z / distance
        else:
            n_x, n_y, n_z = 1.0, 0.0, 0.0
        row = np.uint64(row_of[i])
        value[row] = sign[i] * (distance - length[i])
        write_pulling(jacobian, row, sign[i], n_x, n_y, n_z, a_x, a_y, a_z, b_x, b_y, b_z)
