"""Rows of joints: points of two bodies held together or at a distance, and orientations held.

Body i has its centre of mass at c_i, the rotation R_i and the unit quaternion q_i = (s, v); the last body of these
arrays is the world. Numbers of a joint that do not change are written in the frames of its bodies. A row has twelve
numbers in `jacobian`, for (v_a, w_a, v_b, w_b) in the frame of the world; `first_row` and `row_of` say where a joint
has its rows there and in `value`. A vector u that is fixed in a body has

    du/dt = w x u,        and        d . (w x r) = w . (r x d).

Every row is the rate of a function of where b is as seen from a, all of it in a frame that turns with a. No common
motion of both bodies changes such a function; therefore J^T x has no resultant force and no resultant torque, however
far a joint has drifted apart, and momentum is conserved to rounding. (Rows along axes of the world, with arms to two
points that have drifted apart by e, would leave a torque e x f.)

Rows that hold orientations have the form (0, -g, 0, g), with a gradient g that meets w_b - w_a; the zeros must be there
beforehand.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel

U = tuple(np.uint64(k) for k in range(13))
U0, U1, U2, U3, U4, U5, U6, U7, U8, U9, U10, U11, U12 = U


# -- vectors of bodies in the frame of the world, turns, and the forms of a row ----------------------------------------


@inlined
def cross(a_x, a_y, a_z, b_x, b_y, b_z):
    return a_y * b_z - a_z * b_y, a_z * b_x - a_x * b_z, a_x * b_y - a_y * b_x


@inlined
def turned(rotation, body, x, y, z):
    """R_body (x, y, z): a vector of the body in the frame of the world."""
    at = U9 * body
    return (
        rotation[at] * x + rotation[at + U1] * y + rotation[at + U2] * z,
        rotation[at + U3] * x + rotation[at + U4] * y + rotation[at + U5] * z,
        rotation[at + U6] * x + rotation[at + U7] * y + rotation[at + U8] * z,
    )


@inlined
def turned_at(rotation, body, local, k):
    """R_body times the three numbers at k."""
    return turned(rotation, body, local[k], local[k + U1], local[k + U2])


@inlined
def product(a, b, c, d, e, f, g, h):
    """The quaternion (a, b, c, d) (e, f, g, h): the turn of the second, then that of the first."""
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


@inlined
def relative_turn(orientation, a, b, rest, k):
    """conj(q_a) q_b rest: how b has turned against a since the joint was made, in the frame of a."""
    i, j = U4 * a, U4 * b
    s, x, y, z = product(
        orientation[j], orientation[j + U1], orientation[j + U2], orientation[j + U3],
        rest[k], rest[k + U1], rest[k + U2], rest[k + U3],
    )  # fmt: skip
    return product(
        orientation[i], -orientation[i + U1], -orientation[i + U2], -orientation[i + U3], s, x, y, z
    )  # fmt: skip


@inlined
def write_turning(jacobian, row, g_x, g_y, g_z):
    """The row (0, -g, 0, g)."""
    k = U12 * row
    jacobian[k + U3], jacobian[k + U4], jacobian[k + U5] = -g_x, -g_y, -g_z
    jacobian[k + U9], jacobian[k + U10], jacobian[k + U11] = g_x, g_y, g_z


@inlined
def write_pulling(jacobian, row, sign, n_x, n_y, n_z, a_x, a_y, a_z, b_x, b_y, b_z):
    """The row (-n, -(r_a x n), n, r_b x n) times a sign, from the direction n and the arms r_a and r_b."""
    n_x, n_y, n_z = sign * n_x, sign * n_y, sign * n_z
    k = U12 * row
    jacobian[k], jacobian[k + U1], jacobian[k + U2] = -n_x, -n_y, -n_z
    t_x, t_y, t_z = cross(a_x, a_y, a_z, n_x, n_y, n_z)
    jacobian[k + U3], jacobian[k + U4], jacobian[k + U5] = -t_x, -t_y, -t_z
    jacobian[k + U6], jacobian[k + U7], jacobian[k + U8] = n_x, n_y, n_z
    t_x, t_y, t_z = cross(b_x, b_y, b_z, n_x, n_y, n_z)
    jacobian[k + U9], jacobian[k + U10], jacobian[k + U11] = t_x, t_y, t_z


# -- points ------------------------------------------------------------------------------------------------------------


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


# -- orientations ------------------------------------------------------------------------------------------------------


TURN = 2.0 * math.pi
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
