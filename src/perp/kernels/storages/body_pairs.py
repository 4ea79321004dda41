"""Sweeps and products with A = J M^-1 J^T + C where each row of J touches at most two rigid bodies.

Layout, all flat: row i acts on bodies `bodies[2i]` and `bodies[2i + 1]` with the twelve numbers `jacobian[12i:12i+12]`,
six a body. A row that touches one body points at a last, immovable one, whose inverse mass is zero. Eight numbers a
body make its inverse mass, one cache line: 1/m, then xx, yy, zz, xy, xz, yz of the inverse inertia, then a filler.
The velocity v = M^-1 J^T x is kept up to date, so that A is never formed (AMGS eq. 16; NOTES section 6).
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.measures.projection import clip, disc_factor

U2 = np.uint64(2)
ONCE = np.int64(1)  # typed: for a plain 1 Numba would compile the callee a second time
U3 = np.uint64(3)
U6 = np.uint64(6)
U8 = np.uint64(8)
U12 = np.uint64(12)
U36 = np.uint64(36)
U = tuple(np.uint64(k) for k in range(12))


@inlined
def row_dot(jacobian, j, v, a, b):
    """J_i · v for the row that starts at j, on the bodies whose velocities start at a and b."""
    linear_a = jacobian[j] * v[a] + jacobian[j + U[1]] * v[a + U[1]] + jacobian[j + U[2]] * v[a + U[2]]
    spin_a = jacobian[j + U[3]] * v[a + U[3]] + jacobian[j + U[4]] * v[a + U[4]] + jacobian[j + U[5]] * v[a + U[5]]
    linear_b = jacobian[j + U[6]] * v[b] + jacobian[j + U[7]] * v[b + U[1]] + jacobian[j + U[8]] * v[b + U[2]]
    spin_b = jacobian[j + U[9]] * v[b + U[3]] + jacobian[j + U[10]] * v[b + U[4]] + jacobian[j + U[11]] * v[b + U[5]]
    return (linear_a + linear_b) + (spin_a + spin_b)


@inlined
def row_add(rows, j, v, a, b, amount):
    """v += rows_i^T amount."""
    v[a] += rows[j] * amount
    v[a + U[1]] += rows[j + U[1]] * amount
    v[a + U[2]] += rows[j + U[2]] * amount
    v[a + U[3]] += rows[j + U[3]] * amount
    v[a + U[4]] += rows[j + U[4]] * amount
    v[a + U[5]] += rows[j + U[5]] * amount
    v[b] += rows[j + U[6]] * amount
    v[b + U[1]] += rows[j + U[7]] * amount
    v[b + U[2]] += rows[j + U[8]] * amount
    v[b + U[3]] += rows[j + U[9]] * amount
    v[b + U[4]] += rows[j + U[10]] * amount
    v[b + U[5]] += rows[j + U[11]] * amount


@kernel
def velocity(bodies, jacobian, inverse_mass, x, v):
    """v = M^-1 J^T x."""
    v[:] = 0.0
    for i in range(np.uint64(x.size)):
        a = np.uint64(bodies[U2 * i]) * U6
        b = np.uint64(bodies[U2 * i + U[1]]) * U6
        row_add(jacobian, U12 * i, v, a, b, x[i])
    for body in range(np.uint64(v.size) // U6):
        m = body * U8
        k = body * U6
        v[k] *= inverse_mass[m]
        v[k + U[1]] *= inverse_mass[m]
        v[k + U[2]] *= inverse_mass[m]
        p, q, r = v[k + U[3]], v[k + U[4]], v[k + U[5]]
        v[k + U[3]] = inverse_mass[m + U[1]] * p + inverse_mass[m + U[4]] * q + inverse_mass[m + U[5]] * r
        v[k + U[4]] = inverse_mass[m + U[4]] * p + inverse_mass[m + U[2]] * q + inverse_mass[m + U[6]] * r
        v[k + U[5]] = inverse_mass[m + U[5]] * p + inverse_mass[m + U[6]] * q + inverse_mass[m + U[3]] * r


@kernel
def slack(bodies, jacobian, inverse_mass, compliance, b, x, v, out):
    """out = J (M^-1 J^T x) + C x + b; v is left holding M^-1 J^T x."""
    velocity(bodies, jacobian, inverse_mass, x, v)
    for i in range(np.uint64(x.size)):
        body_a = np.uint64(bodies[U2 * i]) * U6
        body_b = np.uint64(bodies[U2 * i + U[1]]) * U6
        out[i] = row_dot(jacobian, U12 * i, v, body_a, body_b) + compliance[i] * x[i] + b[i]


@kernel
def scale(bodies, jacobian, inverse_mass, scaled, diagonal):
    """scaled = J M^-1 in the layout of J, and diagonal_i = (J M^-1 J^T)_ii."""
    for i in range(np.uint64(diagonal.size)):
        total = 0.0
        for side in range(np.uint64(2)):
            m = np.uint64(bodies[U2 * i + side]) * U8
            j = U12 * i + U6 * side
            p, q, r = jacobian[j + U[3]], jacobian[j + U[4]], jacobian[j + U[5]]
            scaled[j] = inverse_mass[m] * jacobian[j]
            scaled[j + U[1]] = inverse_mass[m] * jacobian[j + U[1]]
            scaled[j + U[2]] = inverse_mass[m] * jacobian[j + U[2]]
            scaled[j + U[3]] = inverse_mass[m + U[1]] * p + inverse_mass[m + U[4]] * q + inverse_mass[m + U[5]] * r
            scaled[j + U[4]] = inverse_mass[m + U[4]] * p + inverse_mass[m + U[2]] * q + inverse_mass[m + U[6]] * r
            scaled[j + U[5]] = inverse_mass[m + U[5]] * p + inverse_mass[m + U[6]] * q + inverse_mass[m + U[3]] * r
            for k in range(U6):
                total += scaled[j + k] * jacobian[j + k]
        diagonal[i] = total


@kernel
def sweep_rows(count, first, order, bodies, jacobian, scaled, compliance, step, b, lower, upper, x, v):
    """`count` sweeps of x_i <- clip(x_i - step_i y_i, lower_i, upper_i), step_i = relaxation / A_ii (NOTES eq. 59).

    `scaled` (J M^-1), `lower` and `upper` start at row `first`: the contacts before it need none of them.
    """
    for _ in range(count):
        for k in range(np.uint64(order.size)):
            i = np.uint64(order[k])
            j = U12 * i
            body_a = np.uint64(bodies[U2 * i]) * U6
            body_b = np.uint64(bodies[U2 * i + U[1]]) * U6
            old = x[i]
            y = row_dot(jacobian, j, v, body_a, body_b) + compliance[i] * old + b[i]
            new = clip(old - step[i] * y, lower[i - first], upper[i - first])
            x[i] = new
            row_add(scaled, U12 * (i - first), v, body_a, body_b, new - old)


@inlined
def push(jacobian, j, inverse_mass, m, v, k, dn, dp, dq):
    """v_body += M_body^-1 (J_n^T dn + J_p^T dp + J_q^T dq), for one side of a contact whose three rows start at j."""
    p_row, q_row = j + U12, j + U12 + U12
    fx = jacobian[j] * dn + jacobian[p_row] * dp + jacobian[q_row] * dq
    fy = jacobian[j + U[1]] * dn + jacobian[p_row + U[1]] * dp + jacobian[q_row + U[1]] * dq
    fz = jacobian[j + U[2]] * dn + jacobian[p_row + U[2]] * dp + jacobian[q_row + U[2]] * dq
    tx = jacobian[j + U[3]] * dn + jacobian[p_row + U[3]] * dp + jacobian[q_row + U[3]] * dq
    ty = jacobian[j + U[4]] * dn + jacobian[p_row + U[4]] * dp + jacobian[q_row + U[4]] * dq
    tz = jacobian[j + U[5]] * dn + jacobian[p_row + U[5]] * dp + jacobian[q_row + U[5]] * dq
    v[k] += inverse_mass[m] * fx
    v[k + U[1]] += inverse_mass[m] * fy
    v[k + U[2]] += inverse_mass[m] * fz
    v[k + U[3]] += inverse_mass[m + U[1]] * tx + inverse_mass[m + U[4]] * ty + inverse_mass[m + U[5]] * tz
    v[k + U[4]] += inverse_mass[m + U[4]] * tx + inverse_mass[m + U[2]] * ty + inverse_mass[m + U[6]] * tz
    v[k + U[5]] += inverse_mass[m + U[5]] * tx + inverse_mass[m + U[6]] * ty + inverse_mass[m + U[3]] * tz


@kernel
def sweep_contacts(
    count,
    contacts,
    rows,
    rows_first,
    cone,
    friction,
    bodies,
    jacobian,
    inverse_mass,
    coupling,
    scaled,
    compliance,
    step,
    b,
    lower,
    upper,
    x,
    v,
):
    """Sweeps over contacts of three rows (PGS-SM eq. 17), M^-1 applied on the fly, and over the other rows.

    The three slacks are taken at one velocity and corrected by `coupling`, the entries A_np, A_nq, A_pq inside a
    contact; so the velocity is read and written once a contact instead of once a row.
    """
    first = np.uint64(friction.size) * U3
    for _ in range(count):
        if rows_first:
            sweep_rows(ONCE, first, rows, bodies, jacobian, scaled, compliance, step, b, lower, upper, x, v)
        for k in range(np.uint64(contacts.size)):
            c = np.uint64(contacts[k])
            i = U3 * c
            j = U36 * c
            body_a = np.uint64(bodies[U2 * i])
            body_b = np.uint64(bodies[U2 * i + U[1]])
            va, vb = body_a * U6, body_b * U6
            p, q = i + U[1], i + U[2]
            old_n, old_p, old_q = x[i], x[p], x[q]
            y_n = row_dot(jacobian, j, v, va, vb) + compliance[i] * old_n + b[i]
            y_p = row_dot(jacobian, j + U12, v, va, vb) + compliance[p] * old_p + b[p]
            y_q = row_dot(jacobian, j + U12 + U12, v, va, vb) + compliance[q] * old_q + b[q]
            new_n = max(old_n - step[i] * y_n, 0.0)
            dn = new_n - old_n
            limit = friction[c] * new_n
            y_p += coupling[i] * dn
            y_q += coupling[p] * dn
            new_p = old_p - step[p] * y_p
            if cone:
                new_q = old_q - step[q] * y_q
                factor = disc_factor(new_p, new_q, limit)
                new_p *= factor
                new_q *= factor
            else:
                new_p = clip(new_p, -limit, limit)
                y_q += coupling[q] * (new_p - old_p)
                new_q = clip(old_q - step[q] * y_q, -limit, limit)
            x[i], x[p], x[q] = new_n, new_p, new_q
            push(jacobian, j, inverse_mass, body_a * U8, v, va, dn, new_p - old_p, new_q - old_q)
            push(jacobian, j + U6, inverse_mass, body_b * U8, v, vb, dn, new_p - old_p, new_q - old_q)
        if not rows_first:
            sweep_rows(ONCE, first, rows, bodies, jacobian, scaled, compliance, step, b, lower, upper, x, v)
