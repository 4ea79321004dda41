"""Sweeps and products with A = J M^-1 J^T + C where each row of J touches at most two rigid bodies.

Layout, all flat: row i acts on bodies `bodies[2i]` and `bodies[2i + 1]` with the twelve numbers `jacobian[12i:12i+12]`,
six a body. A row that touches one body points at a last, immovable one, whose inverse mass is zero. Eight numbers a
body make its inverse mass, one cache line: 1/m, then xx, yy, zz, xy, xz, yz of the inverse inertia, then a filler.
The velocity v = M^-1 J^T x is kept up to date, so that A is never formed (AMGS eq. 16; NOTES section 6).

What sweeps take for their storage is (bodies, jacobian, inverse_mass, scaled, compliance), with a copy of J scaled by
M^-1 for the rows after the contacts. What a caller hands over is copied into this layout and checked in one pass.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel, uncounted
from perp.kernels.measures.projection import clip, disc_factor
from perp.kernels.sweeps.sweeping import pass_over_rows, sweep

U = tuple(np.uint64(k) for k in range(12))
U1, U2, U3, U4, U5, U6, U8, U12, U36 = (np.uint64(k) for k in (1, 2, 3, 4, 5, 6, 8, 12, 36))


@uncounted
def row_dot(jacobian, j, v, a, b):
    """J_i · v for the row that starts at j, on the bodies whose velocities start at a and b."""
    linear_a = jacobian[j] * v[a] + jacobian[j + U[1]] * v[a + U[1]] + jacobian[j + U[2]] * v[a + U[2]]
    spin_a = jacobian[j + U[3]] * v[a + U[3]] + jacobian[j + U[4]] * v[a + U[4]] + jacobian[j + U[5]] * v[a + U[5]]
    linear_b = jacobian[j + U[6]] * v[b] + jacobian[j + U[7]] * v[b + U[1]] + jacobian[j + U[8]] * v[b + U[2]]
    spin_b = jacobian[j + U[9]] * v[b + U[3]] + jacobian[j + U[10]] * v[b + U[4]] + jacobian[j + U[11]] * v[b + U[5]]
    return (linear_a + linear_b) + (spin_a + spin_b)


@uncounted
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


@uncounted
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


@uncounted
def pair_of(storage, i):
    """The two bodies of a row."""
    bodies = storage[0]
    return np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U[1]])


@uncounted
def row_slack(storage, b, v, pair, i, x_i):
    """(J v + C x + b)_i."""
    _, jacobian, _, _, compliance = storage
    return row_dot(jacobian, U12 * i, v, pair[0] * U6, pair[1] * U6) + compliance[i] * x_i + b[i]


@uncounted
def push_row(storage, v, pair, after, change):
    """v follows a change of the row that is `after` the first one of those that have a copy of J scaled by M^-1."""
    row_add(storage[3], U12 * after, v, pair[0] * U6, pair[1] * U6, change)


@uncounted
def push_contact(storage, v, pair, i, dn, dp, dq):
    """v follows the three rows from i, M^-1 applied on the fly."""
    _, jacobian, inverse_mass, _, _ = storage
    j = U12 * i
    push(jacobian, j, inverse_mass, pair[0] * U8, v, pair[0] * U6, dn, dp, dq)
    push(jacobian, j + U6, inverse_mass, pair[1] * U8, v, pair[1] * U6, dn, dp, dq)


@uncounted
def project_row(storage, vectors, i, low, high):
    """A row with bounds (NOTES eq. 59)."""
    step, b, lower, _, x, v = vectors
    pair, old = pair_of(storage, i), x[i]
    new = clip(old - step[i] * row_slack(storage, b, v, pair, i, old), low, high)
    x[i] = new
    push_row(storage, v, pair, i - (np.uint64(b.size) - np.uint64(lower.size)), new - old)


@uncounted
def project_contact(contact, storage, vectors, c):
    """A contact of three rows (PGS-SM eq. 17).

    The three slacks are taken at one velocity and corrected by `coupling`, the entries A_np, A_nq, A_pq inside a
    contact; so the velocity is read and written once a contact instead of once a row.
    """
    cone, friction, coupling = contact
    step, b, _, _, x, v = vectors
    i = U3 * c
    p, q = i + U[1], i + U[2]
    pair, old_n, old_p, old_q = pair_of(storage, i), x[i], x[p], x[q]
    y_n = row_slack(storage, b, v, pair, i, old_n)
    y_p = row_slack(storage, b, v, pair, p, old_p)
    y_q = row_slack(storage, b, v, pair, q, old_q)
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
    push_contact(storage, v, pair, i, dn, new_p - old_p, new_q - old_q)


@kernel
def sweep_rows(count, order, storage, vectors):
    for _ in range(count):
        pass_over_rows(project_row, order, storage, vectors)


@kernel
def sweep_contacts(count, order, contact, storage, vectors):
    sweep(project_contact, project_row, count, order, contact, storage, vectors)


# -- from what a caller hands over -------------------------------------------------------------------------------------


FINE = np.uint64(0)
OUT_OF_RANGE = np.uint64(1)
TWICE = np.uint64(2)
NOT_FINITE = np.uint64(3)


@kernel
def take_pairs(given, blocks, width, count, bodies, jacobian):
    """Copy m x 2 body numbers, -1 for the world, and their `width` numbers each, zeros for the world.

    Returns what is wrong first, and where: FINE and 0, OUT_OF_RANGE and the place in `given`, TWICE and the row,
    NOT_FINITE and the place in `blocks`.
    """
    for row in range(np.uint64(given.size) // U2):
        for place in range(U2 * row, U2 * row + U2):
            body = given[place]
            if body < -1 or body >= count:
                return OUT_OF_RANGE, place
            bodies[place] = count if body == -1 else body
            for k in range(place * width, place * width + width):
                if not math.isfinite(blocks[k]):
                    return NOT_FINITE, k
                jacobian[k] = 0.0 if body == -1 else blocks[k]
        if given[U2 * row] == given[U2 * row + U1] and given[U2 * row] != -1:
            return TWICE, row
    return FINE, np.uint64(0)


# -- J v, with the immovable body at the end of v, and the diagonal blocks of J M^-1 J^T -------------------------------


@kernel
def times_bodies(bodies, jacobian, v, out):
    """Six velocities a body."""
    for i in range(np.uint64(out.size)):
        a, b = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1])
        out[i] = row_dot(jacobian, U12 * i, v, U6 * a, U6 * b)


@inlined
def weigh(inverse_mass, m, jacobian, j):
    """M_body^-1 times one body's part of a row of J."""
    p, q, r = jacobian[j + U3], jacobian[j + U4], jacobian[j + U5]
    return (
        inverse_mass[m] * jacobian[j],
        inverse_mass[m] * jacobian[j + U1],
        inverse_mass[m] * jacobian[j + U2],
        inverse_mass[m + U1] * p + inverse_mass[m + U4] * q + inverse_mass[m + U5] * r,
        inverse_mass[m + U4] * p + inverse_mass[m + U2] * q + inverse_mass[m + U6] * r,
        inverse_mass[m + U5] * p + inverse_mass[m + U6] * q + inverse_mass[m + U3] * r,
    )


@inlined
def half_dot(weighted, jacobian, j):
    """The product of such a part with that of another row, which starts at j."""
    linear = weighted[0] * jacobian[j] + weighted[1] * jacobian[j + U1] + weighted[2] * jacobian[j + U2]
    return linear + (weighted[3] * jacobian[j + U3] + weighted[4] * jacobian[j + U4] + weighted[5] * jacobian[j + U5])


@kernel
def blocks_of_bodies(size, bodies, jacobian, inverse_mass, blocks):
    """Diagonal blocks of J M^-1 J^T, size x size each, flat; the rows of a block act on the same two bodies."""
    square = size * size
    for block in range(np.uint64(blocks.size) // square):
        first = block * size
        m_a, m_b = U8 * np.uint64(bodies[U2 * first]), U8 * np.uint64(bodies[U2 * first + U1])
        for p in range(size):
            row = U12 * (first + p)
            of_a, of_b = weigh(inverse_mass, m_a, jacobian, row), weigh(inverse_mass, m_b, jacobian, row + U6)
            for q in range(p + U1):
                other = U12 * (first + q)
                entry = half_dot(of_a, jacobian, other) + half_dot(of_b, jacobian, other + U6)
                blocks[square * block + size * p + q] = entry
                blocks[square * block + size * q + p] = entry
