"""What the rows of joints are made of: vectors of bodies in the frame of the world, turns, and the forms of a row.

Body i has its centre of mass at c_i, the rotation R_i and the unit quaternion q_i = (s, v); the last body of these
arrays is the world. Numbers of a joint that do not change are written in the frames of its bodies. A row has twelve
numbers in `jacobian`, for (v_a, w_a, v_b, w_b) in the frame of the world. A vector u that is fixed in a body has

    du/dt = w x u,        and        d . (w x r) = w . (r x d).

Every row is the rate of a function of where b is as seen from a, all of it in a frame that turns with a. No common
motion of both bodies changes such a function; therefore J^T x has no resultant force and no resultant torque, however
far a joint has drifted apart, and momentum is conserved to rounding. (Rows along axes of the world, with arms to two
points that have drifted apart by e, would leave a torque e x f.)
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined

U = tuple(np.uint64(k) for k in range(13))
U0, U1, U2, U3, U4, U5, U6, U7, U8, U9, U10, U11, U12 = U


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
