"""Rows that hold orientations of two bodies: axes parallel or at an angle, everything, or the angle of a hinge.

All have the form (0, -g, 0, g), with a gradient g that meets w_b - w_a; the zeros must be there beforehand.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.worlds.joints_frames import (
    U0,
    U1,
    U2,
    U3,
    U4,
    U6,
    U9,
    cross,
    relative_turn,
    turned,
    turned_at,
    write_turning,
)

TURN = 2.0 * math.pi
TINY = 1e-150
"""In the place of a sine that may be zero: its square is still a number."""

FLIPPED = 1e-12
"""cos^2 of half the tilt of a hinge that has been turned over: its angle means nothing there, but J stays finite."""


# Axes kept parallel (hinge): u_b is the axis, fixed in b, and t_1, t_2 are two directions across it, fixed in a.
#
#     C_k     = t_k . u_b                                          the sine of the tilt about one of two axes [rad]
#     dC_k/dt = (w_a x t_k) . u_b + t_k . (w_b x u_b) = (w_b - w_a) . (u_b x t_k)
#     J_k     = [ 0   -(u_b x t_k)   0   u_b x t_k ]


@kernel
def keep_parallel(rotation, bodies, directions, first_row, jacobian, value):
    """`directions`: t_1 and t_2 in the frame of a, u in that of b."""
    for i in range(np.uint64(first_row.size)):
        a, b = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1])
        u_x, u_y, u_z = turned_at(rotation, b, directions, U9 * i + U6)
        for k in range(U2):
            t_x, t_y, t_z = turned_at(rotation, a, directions, U9 * i + U3 * k)
            g_x, g_y, g_z = cross(u_x, u_y, u_z, t_x, t_y, t_z)
            row = np.uint64(first_row[i]) + k
            value[row] = t_x * u_x + t_y * u_y + t_z * u_z
            write_turning(jacobian, row, g_x, g_y, g_z)


# Axes kept at their angle (universal): u_a fixed in a and u_b fixed in b, at the angle beta when the joint was made.
#
#     C     = (u_a . u_b - cos beta) / sin beta                    minus the change of the angle, to first order [rad]
#     dC/dt = (w_b - w_a) . (u_b x u_a) / sin beta                 as above
#     J     = [ 0   -(u_b x u_a)   0   u_b x u_a ] / sin beta


@kernel
def keep_angle(rotation, bodies, directions, angle, first_row, jacobian, value):
    """`directions`: u_a in the frame of a, u_b in that of b; `angle`: cos beta, 1 / sin beta."""
    for i in range(np.uint64(first_row.size)):
        a, b = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1])
        a_x, a_y, a_z = turned_at(rotation, a, directions, U6 * i)
        b_x, b_y, b_z = turned_at(rotation, b, directions, U6 * i + U3)
        cosine, scale = angle[U2 * i], angle[U2 * i + U1]
        g_x, g_y, g_z = cross(b_x, b_y, b_z, a_x, a_y, a_z)
        row = np.uint64(first_row[i])
        value[row] = scale * (a_x * b_x + a_y * b_y + a_z * b_z - cosine)
        write_turning(jacobian, row, scale * g_x, scale * g_y, scale * g_z)


# Orientations kept equal (fixed): the turn of b against a since the joint was made, in the frame of a, is the
# quaternion (s, v), taken with s >= 0, or the rotation vector phi = theta n: s = cos(theta/2), v = sin(theta/2) n.
#
#     C         = phi                                                                                      [rad]
#     d(s,v)/dt = 1/2 (0, w) (s, v),    w = R_a^T (w_b - w_a)                    (THESIS eq. 2.2 and 2.3, seen from a)
#     dC/dt     = ( kappa 1 + (1 - kappa) n n^T - theta/2 [n]x ) w,    kappa = (theta/2) cot(theta/2)
#
# (along n the angle grows by n . w; across n, dn/dt = 1/2 (cot(theta/2) w - n x w), from dv/dt = 1/2 (s w + w x v)).
# With N = R_a n and d_k = R_a e_k the row of component k is
#
#     J_k       = [ 0   -g   0   g ],    g = kappa d_k + (1 - kappa) n_k N + theta/2 (N x d_k).
#
# J^T phi is R_a phi: a spring in these rows has a torque of exactly stiffness times angle, up to half a turn.


@inlined
def write_component(rotation, a, jacobian, row, k, n_k, n_x, n_y, n_z, kappa, half):
    """J_k; n is N of above."""
    at = U9 * a + k
    d_x, d_y, d_z = rotation[at], rotation[at + U3], rotation[at + U6]
    c_x, c_y, c_z = cross(n_x, n_y, n_z, d_x, d_y, d_z)
    along = (1.0 - kappa) * n_k
    g_x = kappa * d_x + along * n_x + half * c_x
    g_y = kappa * d_y + along * n_y + half * c_y
    g_z = kappa * d_z + along * n_z + half * c_z
    write_turning(jacobian, row + k, g_x, g_y, g_z)


@kernel
def keep_orientation(rotation, orientation, bodies, rest, first_row, jacobian, value):
    """`rest`: conj(q_b) q_a of the moment when the joint was made."""
    for i in range(np.uint64(first_row.size)):
        a, b, row = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1]), np.uint64(first_row[i])
        s, x, y, z = relative_turn(orientation, a, b, rest, U4 * i)
        if s < 0.0:
            s, x, y, z = -s, -x, -y, -z
        sine = max(math.sqrt(x * x + y * y + z * z), TINY)
        half = math.atan2(sine, s)
        kappa = half * s / sine
        x, y, z = x / sine, y / sine, z / sine
        n_x, n_y, n_z = turned(rotation, a, x, y, z)
        value[row], value[row + U1], value[row + U2] = 2.0 * half * x, 2.0 * half * y, 2.0 * half * z
        write_component(rotation, a, jacobian, row, U0, x, n_x, n_y, n_z, kappa, half)
        write_component(rotation, a, jacobian, row, U1, y, n_x, n_y, n_z, kappa, half)
        write_component(rotation, a, jacobian, row, U2, z, n_x, n_y, n_z, kappa, half)


# The angle of a hinge (limits, motor): of the turn (s, v) of b against a the part about the axis u (both in the frame
# of a) is the quaternion (s, v . u) brought to length one; so with p = v . u
#
#     theta     = 2 atan2(p, s)
#     ds/dt     = -1/2 w . v,    dp/dt = 1/2 w . (s u + v x u),    w = R_a^T (w_b - w_a)
#     dtheta/dt = 2 (s dp/dt - p ds/dt) / (s^2 + p^2)
#     J         = [ 0   -g   0   g ],    g = R_a ( s^2 u + s (v x u) + p v ) / (s^2 + p^2),
#
# which is the axis itself where the hinge holds (v = p u). theta is known up to whole turns: the one nearest to the
# last angle is taken, which counts turns as long as no step makes half of one. Limits: theta - low, high - theta >= 0.


@kernel
def follow_angle(rotation, orientation, bodies, axis, rest, limits, rows, angle, jacobian, value):
    """`rows`: of the low limit, the high limit and the motor; `angle` is brought up to date."""
    for i in range(np.uint64(angle.size)):
        a, b, k = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1]), U3 * i
        s, x, y, z = relative_turn(orientation, a, b, rest, U4 * i)
        u_x, u_y, u_z = axis[k], axis[k + U1], axis[k + U2]
        p = x * u_x + y * u_y + z * u_z
        raw = 2.0 * math.atan2(p, s)
        theta = raw + TURN * np.rint((angle[i] - raw) / TURN)
        angle[i] = theta
        c_x, c_y, c_z = cross(x, y, z, u_x, u_y, u_z)
        scale = 1.0 / max(s * s + p * p, FLIPPED)
        g_x = scale * (s * s * u_x + s * c_x + p * x)
        g_y = scale * (s * s * u_y + s * c_y + p * y)
        g_z = scale * (s * s * u_z + s * c_z + p * z)
        g_x, g_y, g_z = turned(rotation, a, g_x, g_y, g_z)
        low, high, motor = np.uint64(rows[k]), np.uint64(rows[k + U1]), np.uint64(rows[k + U2])
        value[low], value[high], value[motor] = theta - limits[U2 * i], limits[U2 * i + U1] - theta, theta
        write_turning(jacobian, low, g_x, g_y, g_z)
        write_turning(jacobian, high, -g_x, -g_y, -g_z)
        write_turning(jacobian, motor, g_x, g_y, g_z)
