"""Block Gauss-Seidel over contacts between two bodies: rigid ones, with any three rows or at points, and planar ones.

Layouts and M^-1 as in body_pairs.py and planar_pairs.py. The three rows of a contact at a point are directions d_k and
the arms r_a, r_b from the centres of mass,

    J_k = [ -d_k   -(r_a x d_k)   d_k   r_b x d_k ]                                               (THESIS eq. A.5),

fifteen numbers in place of thirty-six; `find_points` recognises them in any J. The slack is d_k · u with the relative
velocity u at the point, and an impulse f = sum_k d_k dx_k changes velocities by f / m and I^-1 (r x f).

A visit waits for the velocities that the visit before it wrote, so what counts is the way from there to the velocities
that it writes itself. Most contacts stick: for them dx = -W^-1 y with nine numbers a contact that are prepared, without
a division. The rest goes the way of `local_contacts.py`. Bodies that cannot move are not written: their velocity would
chain all contacts with the ground, one after the other.

Contacts of two rows between bodies in a plane: boxes and discs are intervals there, and a contact by itself is one of
three cases, each a formula. With W its block of A, S = W_tt - W_nt^2 / W_nn and y its slack at x, `local` holds four
numbers a contact:

    k + 0  W_nn     + 1  1 / W_nn     + 2  W_nt / W_nn     + 3  1 / S

Convex cones and intervals of given radii are left to local_contacts.py, with its own numbers and a second tangent that
never moves.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import kernel, uncounted
from perp.kernels.contacts.local_contacts import rests, solve_contact, solve_convex
from perp.kernels.measures.projection import BOXES, DISCS, tangent_limit
from perp.kernels.storages.body_pairs import U1, U2, U3, U6, U8, U12, U36, pair_of, project_row, push_contact, row_slack
from perp.kernels.storages.planar_pairs import look, row_of
from perp.kernels.storages.planar_pairs import project_row as project_planar_row
from perp.kernels.storages.planar_pairs import push_contact as push_planar_contact
from perp.kernels.storages.planar_pairs import row_slack as planar_row_slack
from perp.kernels.sweeps.sweeping import sweep

U = tuple(np.uint64(k) for k in range(16))
U4, U9, U15 = U[4], U[9], U[15]


# -- rigid bodies ------------------------------------------------------------------------------------------------------


@uncounted
def three(numbers, k):
    return numbers[k], numbers[k + U[1]], numbers[k + U[2]]


@uncounted
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@uncounted
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@uncounted
def differs(a, b, allowed):
    return not max(abs(a[0] - b[0]), max(abs(a[1] - b[1]), abs(a[2] - b[2]))) <= allowed


@kernel
def find_points(bodies, jacobian, world, rounding, points):
    """d_1, d_2, d_3, r_a, r_b of each contact; False where some J is not of that form, up to `rounding` of its size.

    The directions must be at right angles and of length one; then r = 1/2 sum_k d_k x (r x d_k).
    """
    for contact in range(np.uint64(points.size) // U15):
        row, at = U36 * contact, U15 * contact
        a, b = np.uint64(bodies[U6 * contact]), np.uint64(bodies[U6 * contact + U[1]])
        side = U[0] if b == world else U6  # the body that shows the directions
        sign = -1.0 if b == world else 1.0
        for k in range(U[15]):
            points[at + k] = 0.0
        for k in range(U3):
            d = three(jacobian, row + U12 * k + side)
            points[at + U3 * k], points[at + U3 * k + U[1]], points[at + U3 * k + U[2]] = (
                sign * d[0],
                sign * d[1],
                sign * d[2],
            )
            for half in range(U2):
                if (a if half == U[0] else b) != world:
                    direction = three(points, at + U3 * k)
                    turn = cross(direction, three(jacobian, row + U12 * k + U6 * half + U3))
                    share = -0.5 if half == U[0] else 0.5
                    arm = at + U9 + U3 * half
                    points[arm] += share * turn[0]
                    points[arm + U[1]] += share * turn[1]
                    points[arm + U[2]] += share * turn[2]
        for k in range(U3):
            d = three(points, at + U3 * k)
            for other in range(k + U[1]):
                if not abs(dot(d, three(points, at + U3 * other)) - (1.0 if other == k else 0.0)) <= rounding:
                    return False
            for half in range(U2):
                if (a if half == U[0] else b) != world:
                    toward = -1.0 if half == U[0] else 1.0
                    r = three(points, at + U9 + U3 * half)
                    size = 1.0 + abs(r[0]) + abs(r[1]) + abs(r[2])
                    j = row + U12 * k + U6 * half
                    turn = cross(r, d)
                    linear = (toward * d[0], toward * d[1], toward * d[2])
                    angular = (toward * turn[0], toward * turn[1], toward * turn[2])
                    if differs(linear, three(jacobian, j), rounding):
                        return False
                    if differs(angular, three(jacobian, j + U3), rounding * size):
                        return False
    return True


@kernel
def prepare_sticking(is_box, cells, local, sticking):
    """W^-1 (nn, np, nq, pp, pq, qq) and the row of the normal of W (nn, np, nq), from the numbers of local_contacts.py.

    With a = W_tn / W_nn and S the Schur complement, W^-1 = [[1 / W_nn + a · S^-1 a, -(S^-1 a)^T], [-S^-1 a, S^-1]].
    """
    for contact in range(np.uint64(local.size) // cells):
        k, h = cells * contact, U9 * contact
        w_n, inverse, a_p, a_q = local[k], local[k + U[1]], local[k + U[2]], local[k + U[3]]
        s_1, s_2, cosine, sine = local[k + U[4]], local[k + U[5]], local[k + U[6]], local[k + U[7]]
        if is_box:
            determinant = s_1 * s_2 - sine * sine
            pp, qq, pq = s_2 / determinant, s_1 / determinant, -sine / determinant
        else:
            soft_1, soft_2 = 1.0 / s_1, 1.0 / s_2
            pp = cosine * cosine * soft_1 + sine * sine * soft_2
            qq = sine * sine * soft_1 + cosine * cosine * soft_2
            pq = cosine * sine * (soft_1 - soft_2)
            a_p, a_q = cosine * a_p - sine * a_q, sine * a_p + cosine * a_q
        u_p, u_q = pp * a_p + pq * a_q, pq * a_p + qq * a_q
        sticking[h], sticking[h + U[1]], sticking[h + U[2]] = inverse + a_p * u_p + a_q * u_q, -u_p, -u_q
        sticking[h + U[3]], sticking[h + U[4]], sticking[h + U[5]] = pp, pq, qq
        sticking[h + U[6]], sticking[h + U[7]], sticking[h + U[8]] = w_n, w_n * a_p, w_n * a_q


@uncounted
def is_inside(law, friction, n, p, q):
    """Whether an impulse keeps its law without sliding."""
    limit = tangent_limit(law, friction, n)
    if law == BOXES:
        return n >= 0.0 and max(abs(p), abs(q)) <= limit
    return n >= 0.0 and p * p + q * q <= limit * limit


@uncounted
def accelerate(inverse_mass, m, v, k, linear, spin, sign, force, torque):
    """Velocities of a body that an impulse hits: v + f / m, w + I^-1 t; nothing for one that cannot move."""
    share = inverse_mass[m]
    if share != 0.0:
        share *= sign
        x, y, z = sign * torque[0], sign * torque[1], sign * torque[2]
        xx, yy, zz = three(inverse_mass, m + U[1])
        xy, xz, yz = three(inverse_mass, m + U[4])
        v[k], v[k + U[1]], v[k + U[2]] = (
            linear[0] + share * force[0],
            linear[1] + share * force[1],
            linear[2] + share * force[2],
        )
        v[k + U[3]] = spin[0] + (xx * x + xy * y + xz * z)
        v[k + U[4]] = spin[1] + (xy * x + yy * y + yz * z)
        v[k + U[5]] = spin[2] + (xz * x + yz * y + zz * z)


@uncounted
def solve_pair(contact, storage, vectors, c):
    """A contact of three rows, solved exactly."""
    law, cells, friction, local = contact
    _, b, _, _, x, v = vectors
    i = U3 * c
    pair, old_n = pair_of(storage, i), x[i]
    y_n = row_slack(storage, b, v, pair, i, old_n)
    if rests(law, old_n, y_n):
        return
    p, q = i + U[1], i + U[2]
    old_p, old_q = x[p], x[q]
    y_p, y_q = row_slack(storage, b, v, pair, p, old_p), row_slack(storage, b, v, pair, q, old_q)
    n, new_p, new_q = solve_contact(law, friction[c], local, c * cells, old_n, old_p, old_q, y_n, y_p, y_q)
    x[i], x[p], x[q] = n, new_p, new_q
    push_contact(storage, v, pair, i, n - old_n, new_p - old_p, new_q - old_q)


@kernel
def sweep_pairs(count, order, contact, storage, vectors):
    sweep(solve_pair, project_row, count, order, contact, storage, vectors)


@uncounted
def solve_point(contact, storage, vectors, c):
    """A contact at a point, solved exactly."""
    law, cells, friction, local, sticking, points = contact
    _, _, inverse_mass, _, compliance = storage
    _, b, _, _, x, v = vectors
    i, at, h = U3 * c, U15 * c, U9 * c
    body_a, body_b = pair_of(storage, i)
    va, vb = body_a * U6, body_b * U6
    linear_a, spin_a = three(v, va), three(v, va + U3)
    linear_b, spin_b = three(v, vb), three(v, vb + U3)
    r_a, r_b = three(points, at + U9), three(points, at + U12)
    turn_a, turn_b = cross(spin_a, r_a), cross(spin_b, r_b)
    u = (
        (linear_b[0] + turn_b[0]) - (linear_a[0] + turn_a[0]),
        (linear_b[1] + turn_b[1]) - (linear_a[1] + turn_a[1]),
        (linear_b[2] + turn_b[2]) - (linear_a[2] + turn_a[2]),
    )
    old_n = x[i]
    normal = three(points, at)
    y_n = dot(normal, u) + (compliance[i] * old_n + b[i])
    if rests(law, old_n, y_n):
        return
    p, q = i + U[1], i + U[2]
    old_p, old_q = x[p], x[q]
    first_tangent, second_tangent = three(points, at + U3), three(points, at + U6)
    y_p = dot(first_tangent, u) + (compliance[p] * old_p + b[p])
    y_q = dot(second_tangent, u) + (compliance[q] * old_q + b[q])
    nn, np_, nq = three(sticking, h)
    pp, pq, qq = three(sticking, h + U3)
    dn = -(nn * y_n + np_ * y_p + nq * y_q)
    dp = -(np_ * y_n + pp * y_p + pq * y_q)
    dq = -(nq * y_n + pq * y_p + qq * y_q)
    new_n, new_p, new_q = old_n + dn, old_p + dp, old_q + dq
    own = three(sticking, h + U6)
    # of a contact that may stick or separate, Coulomb's law (boxes, discs) is taken to separate
    opens = law in (BOXES, DISCS) and y_n >= own[0] * old_n + own[1] * old_p + own[2] * old_q
    if opens or not is_inside(law, friction[c], new_n, new_p, new_q):
        new_n, new_p, new_q = solve_contact(law, friction[c], local, c * cells, old_n, old_p, old_q, y_n, y_p, y_q)
        dn, dp, dq = new_n - old_n, new_p - old_p, new_q - old_q
    force = (
        normal[0] * dn + first_tangent[0] * dp + second_tangent[0] * dq,
        normal[1] * dn + first_tangent[1] * dp + second_tangent[1] * dq,
        normal[2] * dn + first_tangent[2] * dp + second_tangent[2] * dq,
    )
    x[i], x[p], x[q] = new_n, new_p, new_q
    accelerate(inverse_mass, body_a * U8, v, va, linear_a, spin_a, -1.0, force, cross(r_a, force))
    accelerate(inverse_mass, body_b * U8, v, vb, linear_b, spin_b, 1.0, force, cross(r_b, force))


@kernel
def sweep_points(count, order, contact, storage, vectors):
    sweep(solve_point, project_row, count, order, contact, storage, vectors)


# -- bodies in a plane -------------------------------------------------------------------------------------------------


INVERSE, SHARE, SOFTNESS = U1, U2, U3


@kernel
def prepare_planar(blocks, relaxation, least_share, strongest_coupling, local):
    """Four numbers a contact from its block of A, divided by `relaxation`, with the limits of its caller."""
    for c in range(np.uint64(local.size) // U4):
        w_n, w_t = blocks[U4 * c] / relaxation, blocks[U4 * c + U3] / relaxation
        inverse = 1.0 / w_n if w_n > 0.0 else 0.0
        share = 0.5 * (blocks[U4 * c + U1] + blocks[U4 * c + U2]) / relaxation * inverse
        stiffness = w_t - w_n * share * share
        if not (abs(share) < strongest_coupling and math.isfinite(stiffness)):
            share, stiffness = 0.0, 1.0
        local[U4 * c] = w_n
        local[U4 * c + INVERSE] = inverse
        local[U4 * c + SHARE] = share
        local[U4 * c + SOFTNESS] = 1.0 / max(stiffness, least_share * max(w_n, 0.5 * (w_n + w_t)))


@uncounted
def solve_planar_coulomb(friction, local, k, x_n, x_t, y_n, y_t):
    """Coulomb's law for one tangent: separate, stick, or slide towards the side at which sticking leaves the interval.

    Where the law allows a contact to separate and to stick, it separates. Sliding is y_n = 0 with x_t = share x_n,
    share = ± friction: x_n = (-q_n / W_nn) / (1 + share W_nt / W_nn), q_n the slack without the own impulse.
    Sticking leaves the interval only where that divisor is positive, rounding apart.
    """
    coupled = local[k + SHARE]
    q_n = y_n - local[k] * (x_n + coupled * x_t)
    if q_n >= 0.0:
        return 0.0, 0.0
    dt = (coupled * y_n - y_t) * local[k + SOFTNESS]
    new_n, new_t = x_n - local[k + INVERSE] * y_n - coupled * dt, x_t + dt
    if new_n < 0.0 or abs(new_t) > friction * new_n:
        share = friction if new_t > 0.0 else -friction
        divisor = 1.0 + share * coupled
        if divisor > 0.0:
            new_n = -q_n * local[k + INVERSE] / divisor
        new_n = max(new_n, 0.0)
        new_t = share * new_n
    return new_n, new_t


@uncounted
def solve_planar_pair(contact, storage, vectors, c):
    """A contact of two rows, solved exactly."""
    law, cells, friction, local = contact
    _, b, _, _, x, v = vectors
    i = U2 * c
    t = i + U1
    seen, normal, old_n = look(storage, v, i), row_of(storage, i), x[i]
    y_n = planar_row_slack(storage, b, seen, normal, i, old_n)
    if rests(law, old_n, y_n):
        return
    tangent, old_t = row_of(storage, t), x[t]
    y_t = planar_row_slack(storage, b, seen, tangent, t, old_t)
    new_n, new_t = 0.0, 0.0
    if law in (BOXES, DISCS):
        new_n, new_t = solve_planar_coulomb(friction[c], local, c * cells, old_n, old_t, y_n, y_t)
    else:
        new_n, new_t, _ = solve_convex(law, friction[c], local, c * cells, old_n, old_t, 0.0, y_n, y_t, 0.0)
    push_planar_contact(v, seen, normal, tangent, new_n - old_n, new_t - old_t)
    x[i], x[t] = new_n, new_t


@kernel
def sweep_planar_pairs(count, order, contact, storage, vectors):
    sweep(solve_planar_pair, project_planar_row, count, order, contact, storage, vectors)
