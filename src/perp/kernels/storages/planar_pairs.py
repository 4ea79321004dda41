"""Sweeps and products with A = J M^-1 J^T + C where each row of J touches at most two bodies that move in a plane.

Layout, all flat: row i acts on bodies `bodies[2i]` and `bodies[2i + 1]` with the six numbers `jacobian[6i:6i+6]`, three
a body, which are multiplied by its (vx, vy, w). A row that touches one body points at a last, immovable one, whose
inverse mass is zero. Two numbers a body make its inverse mass: 1/m and 1/I. The velocity v = M^-1 J^T x is kept up to
date, so that A is never formed (AMGS eq. 16; NOTES section 6).

A visit waits for the velocity that the visit before it wrote, so what counts is the way from there to the velocity that
it writes itself. All numbers are read before the first is written (a write might change what is read after it, for all
that the compiler knows), and what does not need the velocity, such as the products of masses and J, is computed beside
that way. A copy of J scaled by M^-1, as body pairs have it for other rows, would save those products and is no faster.

What sweeps take for their storage is (bodies, jacobian, inverse_mass, compliance).
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, uncounted
from perp.kernels.measures.projection import clip
from perp.kernels.sweeps.sweeping import pass_over_rows, sweep

U1, U2, U3, U6 = (np.uint64(k) for k in (1, 2, 3, 6))


@uncounted
def three(numbers, k):
    """What belongs to one body: its velocity, or its part of a row of J."""
    return numbers[k], numbers[k + U1], numbers[k + U2]


@uncounted
def masses(inverse_mass, body):
    """1/m and 1/I of a body."""
    return inverse_mass[U2 * body], inverse_mass[U2 * body + U1]


@uncounted
def row_dot(start, row_a, row_b, v_a, v_b):
    """start + J_i · v, from the parts of two bodies."""
    of_a = row_a[0] * v_a[0] + row_a[1] * v_a[1] + row_a[2] * v_a[2]
    return of_a + (((start + row_b[0] * v_b[0]) + row_b[1] * v_b[1]) + row_b[2] * v_b[2])


@uncounted
def push_row(v, k, before, mass, row, amount):
    """v_body = before + M_body^-1 J_i^T amount."""
    v[k] = before[0] + (mass[0] * row[0]) * amount
    v[k + U1] = before[1] + (mass[0] * row[1]) * amount
    v[k + U2] = before[2] + (mass[1] * row[2]) * amount


@uncounted
def push(v, k, before, mass, normal, tangent, dn, dt):
    """v_body = before + M_body^-1 (J_n^T dn + J_t^T dt); dt, which is known last, is one step from the result."""
    v[k] = (before[0] + (mass[0] * normal[0]) * dn) + (mass[0] * tangent[0]) * dt
    v[k + U1] = (before[1] + (mass[0] * normal[1]) * dn) + (mass[0] * tangent[1]) * dt
    v[k + U2] = (before[2] + (mass[1] * normal[2]) * dn) + (mass[1] * tangent[2]) * dt


@kernel
def times_planar(bodies, jacobian, v, out):
    """Three velocities a body."""
    for i in range(np.uint64(out.size)):
        a, b = U3 * np.uint64(bodies[U2 * i]), U3 * np.uint64(bodies[U2 * i + U1])
        j = U6 * i
        of_a = jacobian[j] * v[a] + jacobian[j + U1] * v[a + U1] + jacobian[j + U2] * v[a + U2]
        j += U3
        out[i] = of_a + (jacobian[j] * v[b] + jacobian[j + U1] * v[b + U1] + jacobian[j + U2] * v[b + U2])


@kernel
def velocity(bodies, jacobian, inverse_mass, x, v):
    """v = M^-1 J^T x."""
    v[:] = 0.0
    for i in range(np.uint64(x.size)):
        for side in range(U2):
            k = U3 * np.uint64(bodies[U2 * i + side])
            j = U6 * i + U3 * side
            v[k] += jacobian[j] * x[i]
            v[k + U1] += jacobian[j + U1] * x[i]
            v[k + U2] += jacobian[j + U2] * x[i]
    for body in range(np.uint64(v.size) // U3):
        per_mass, per_inertia = masses(inverse_mass, body)
        k = U3 * body
        v[k] *= per_mass
        v[k + U1] *= per_mass
        v[k + U2] *= per_inertia


@kernel
def slack(bodies, jacobian, inverse_mass, compliance, b, x, v, out):
    """out = J (M^-1 J^T x) + C x + b; v is left holding M^-1 J^T x."""
    velocity(bodies, jacobian, inverse_mass, x, v)
    for i in range(np.uint64(x.size)):
        v_a, v_b = three(v, U3 * np.uint64(bodies[U2 * i])), three(v, U3 * np.uint64(bodies[U2 * i + U1]))
        row_a, row_b = three(jacobian, U6 * i), three(jacobian, U6 * i + U3)
        out[i] = row_dot(compliance[i] * x[i] + b[i], row_a, row_b, v_a, v_b)


@kernel
def diagonal_blocks(size, bodies, jacobian, inverse_mass, blocks):
    """The blocks of size x size on the diagonal of J M^-1 J^T; the rows of a block act on the same two bodies."""
    square = size * size
    for block in range(np.uint64(blocks.size) // square):
        first = block * size
        mass_a = masses(inverse_mass, np.uint64(bodies[U2 * first]))
        mass_b = masses(inverse_mass, np.uint64(bodies[U2 * first + U1]))
        for p in range(size):
            a, b = three(jacobian, U6 * (first + p)), three(jacobian, U6 * (first + p) + U3)
            for q in range(size):
                c, d = three(jacobian, U6 * (first + q)), three(jacobian, U6 * (first + q) + U3)
                of_a = mass_a[0] * (a[0] * c[0] + a[1] * c[1]) + mass_a[1] * (a[2] * c[2])
                of_b = mass_b[0] * (b[0] * d[0] + b[1] * d[1]) + mass_b[1] * (b[2] * d[2])
                blocks[block * square + p * size + q] = of_a + of_b


@uncounted
def look(storage, v, i):
    """Where the two bodies of a row have their velocities, these velocities, and their masses."""
    bodies, _, inverse_mass, _ = storage
    body_a, body_b = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1])
    at_a, at_b = U3 * body_a, U3 * body_b
    return at_a, at_b, three(v, at_a), three(v, at_b), masses(inverse_mass, body_a), masses(inverse_mass, body_b)


@uncounted
def row_of(storage, i):
    """J_i, from the parts of two bodies."""
    return three(storage[1], U6 * i), three(storage[1], U6 * i + U3)


@uncounted
def row_slack(storage, b, seen, row, i, x_i):
    """(J v + C x + b)_i."""
    return row_dot(storage[3][i] * x_i + b[i], row[0], row[1], seen[2], seen[3])


@uncounted
def push_pair(v, seen, row, change):
    """v follows a change of one row."""
    at_a, at_b, v_a, v_b, mass_a, mass_b = seen
    push_row(v, at_a, v_a, mass_a, row[0], change)
    push_row(v, at_b, v_b, mass_b, row[1], change)


@uncounted
def push_contact(v, seen, normal, tangent, dn, dt):
    """v follows a change of both rows of a contact."""
    at_a, at_b, v_a, v_b, mass_a, mass_b = seen
    push(v, at_a, v_a, mass_a, normal[0], tangent[0], dn, dt)
    push(v, at_b, v_b, mass_b, normal[1], tangent[1], dn, dt)


@uncounted
def project_row(storage, vectors, i, low, high):
    """A row with bounds (NOTES eq. 59)."""
    step, b, _, _, x, v = vectors
    seen, row, old = look(storage, v, i), row_of(storage, i), x[i]
    new = clip(old - step[i] * row_slack(storage, b, seen, row, i, old), low, high)
    push_pair(v, seen, row, new - old)
    x[i] = new


@uncounted
def project_contact(contact, storage, vectors, c):
    """A contact of two rows (PGS-SM eq. 17; in a plane the box is the disc).

    Both slacks are taken at one velocity, and the tangent is corrected by `coupling`, the entry A_nt of its contact; so
    the velocity is read and written once a contact instead of once a row.
    """
    friction, coupling = contact
    step, b, _, _, x, v = vectors
    i = U2 * c
    t = i + U1
    seen, normal, tangent = look(storage, v, i), row_of(storage, i), row_of(storage, t)
    old_n, old_t, step_t = x[i], x[t], step[t]
    y_n = row_slack(storage, b, seen, normal, i, old_n)
    if old_n == 0.0 and y_n >= 0.0 and old_t == 0.0:  # it goes on without an impulse
        return
    y_t = row_slack(storage, b, seen, tangent, t, old_t)
    new_n = max(old_n - step[i] * y_n, 0.0)
    dn = new_n - old_n
    limit = friction[c] * new_n
    new_t = clip((old_t - step_t * y_t) - (step_t * coupling[c]) * dn, -limit, limit)
    push_contact(v, seen, normal, tangent, dn, new_t - old_t)
    x[i], x[t] = new_n, new_t


@kernel
def sweep_rows(count, order, storage, vectors):
    for _ in range(count):
        pass_over_rows(project_row, order, storage, vectors)


@kernel
def sweep_contacts(count, order, contact, storage, vectors):
    sweep(project_contact, project_row, count, order, contact, storage, vectors)
