"""Modulus sweeps (AMGS eq. 7 and 11, Methods 2.2 and 3.1), over explicit rows and over factored A.

`u` is x before it was clipped: 2 / gamma times the paper's unknown. One visit of row i is

    u_i <- x_i + memory_i (u_i - x_i) - step_i y_i,      x_i <- clip(u_i, lower_i, upper_i),

with memory_i = keep - drop step_i, and the rows after it in the same sweep see x_i - lag (its change) + lead (the
change of u_i). AMGS has lag = lead = 0; all other members are one pair of numbers each (solvers/splitting/modulus.py).
Where that pair is not zero, a call must make a single sweep: it leaves x = clip(u) for the next.

Over rows that touch two bodies, in space or in a plane, there are AMGS and AMSOR alone, and x is not even read: it is u
clipped to the bounds, and what later rows see of it is in v. So a sweep moves no more numbers than one of projected
Gauss-Seidel, and what it adds to the arithmetic does not wait for the velocity.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, spliced, uncounted
from perp.kernels.measures.projection import clip
from perp.kernels.storages import csr, dense, factored, runs
from perp.kernels.storages.body_pairs import U3, U, pair_of, push_contact, push_row, row_slack
from perp.kernels.storages.planar_pairs import U1, U2, look, push_pair, row_of
from perp.kernels.storages.planar_pairs import push_contact as push_planar_contact
from perp.kernels.storages.planar_pairs import row_slack as planar_row_slack

ONE = np.uint64(1)


# -- row by row --------------------------------------------------------------------------------------------------------


@uncounted
def recall(u, x, memory):
    """What y pulls from: x, and a share of what was clipped off it."""
    return x + memory * (u - x)


@uncounted
def settle(width, friction, lower, upper, u, x):
    """x = u clipped to its bounds, which for the tangents of a contact stand at its normal (PGS-SM eq. 17)."""
    first = np.uint64(friction.size) * width
    for contact in range(np.uint64(friction.size)):
        i = contact * width
        x[i] = clip(u[i], 0.0, np.inf)
        limit = friction[contact] * x[i]
        for t in range(i + ONE, i + width):
            x[t] = clip(u[t], -limit, limit)
    for i in range(first, np.uint64(x.size)):
        x[i] = clip(u[i], lower[i - first], upper[i - first])


@spliced
def sweep(visit_contact, visit_row, count, contacts, rule, contact, storage, u, vectors):
    """`count` sweeps: contacts, and then the rows after them."""
    _, _, lower, upper, _, _ = vectors
    n = np.uint64(u.size)
    first = n - np.uint64(lower.size)
    for _ in range(count):
        for c in range(np.uint64(contacts)):
            visit_contact(rule, contact, storage, u, vectors, c)
        for i in range(first, n):
            visit_row(rule, storage, u, vectors, i, lower[i - first], upper[i - first])


@uncounted
def show_entry(row_add, arrays, lag, lead, v, x, i, old, new, before, after):
    """What later rows see of x_i where A is explicit stands in x itself."""
    seen = new
    if lag != 0.0 or lead != 0.0:  # AMGS need not wait for products with zero
        seen = new + lead * (after - before) - lag * (new - old)
    x[i] = seen  # written once: to write and then to correct it takes twice the time


@uncounted
def show_velocity(row_add, arrays, lag, lead, v, x, i, old, new, before, after):
    """What later rows see of x_i where A is factored goes to v (AMGS eq. 16), so that x[i] is the new x_i at once."""
    x[i] = new
    seen = new - old
    if lag != 0.0 or lead != 0.0:
        seen += lead * (after - before) - lag * seen
    row_add(arrays, v, i, seen)


@uncounted
def move(rule, storage, u, vectors, i, low, high):
    """One row; returns the new x_i."""
    keep, drop, lag, lead = rule
    arrays, row_slack, row_add, show = storage
    step, b, _, _, x, v = vectors
    old, before = x[i], u[i]
    y = row_slack(arrays, b, x, v, i)
    after = recall(before, old, keep - drop * step[i]) - step[i] * y
    new = clip(after, low, high)
    u[i] = after
    show(row_add, arrays, lag, lead, v, x, i, old, new, before, after)
    return new


@uncounted
def move_contact(rule, contact, storage, u, vectors, c):
    """Normal, then tangents bounded by the newest normal."""
    width, friction = contact
    i = c * width
    limit = friction[c] * move(rule, storage, u, vectors, i, 0.0, np.inf)
    for t in range(i + ONE, i + width):
        move(rule, storage, u, vectors, t, -limit, limit)


@spliced
def sweep_explicit(row_slack, row_add, count, rule, contact, arrays, u, vectors):
    """Method 2.2, which leaves x = clip(u)."""
    width, friction = contact
    _, _, lower, upper, x, _ = vectors
    storage = (arrays, row_slack, row_add, show_entry)
    sweep(move_contact, move, count, friction.size, rule, contact, storage, u, vectors)
    settle(width, friction, lower, upper, u, x)


@kernel
def sweep_dense(count, rule, contact, u, arrays, vectors):
    sweep_explicit(dense.row_slack, dense.row_add, count, rule, contact, arrays, u, vectors)


@kernel
def sweep_csr(count, rule, contact, u, arrays, vectors):
    sweep_explicit(csr.row_slack, csr.row_add, count, rule, contact, arrays, u, vectors)


@kernel
def sweep_runs(count, rule, contact, u, arrays, vectors):
    sweep_explicit(runs.row_slack, runs.row_add, count, rule, contact, arrays, u, vectors)


@kernel
def sweep_factored(count, rule, contact, u, arrays, vectors):
    """Method 3.1; v = W^T x is kept, up to lag and lead."""
    storage = (arrays, factored.row_slack, factored.row_add, show_velocity)
    sweep(move_contact, move, count, contact[1].size, rule, contact, storage, u, vectors)


# -- rows that touch two rigid bodies (layout of `body_pairs`) ---------------------------------------------------------


@uncounted
def move_body_contact(rule, contact, storage, u, vectors, c):
    """A contact of three rows.

    `coupling` holds A_np, A_nq, A_pq of each contact: its slacks are taken at one velocity and corrected by them.
    """
    keep, drop = rule
    friction, coupling = contact
    step, b, _, _, _, v = vectors
    i = U3 * c
    p, q = i + U[1], i + U[2]
    pair, u_n, u_p, u_q = pair_of(storage, i), u[i], u[p], u[q]
    old_n = max(u_n, 0.0)
    limit = friction[c] * old_n
    old_p, old_q = clip(u_p, -limit, limit), clip(u_q, -limit, limit)
    y_n = row_slack(storage, b, v, pair, i, old_n)
    y_p = row_slack(storage, b, v, pair, p, old_p)
    y_q = row_slack(storage, b, v, pair, q, old_q)
    u_n = old_n + (keep - drop * step[i]) * (u_n - old_n) - step[i] * y_n  # AMGS eq. 14
    new_n = max(u_n, 0.0)
    dn = new_n - old_n
    limit = friction[c] * new_n
    y_p += coupling[i] * dn
    y_q += coupling[p] * dn
    u_p = old_p + (keep - drop * step[p]) * (u_p - old_p) - step[p] * y_p
    dp = clip(u_p, -limit, limit) - old_p
    y_q += coupling[q] * dp
    u_q = old_q + (keep - drop * step[q]) * (u_q - old_q) - step[q] * y_q
    dq = clip(u_q, -limit, limit) - old_q
    u[i], u[p], u[q] = u_n, u_p, u_q
    push_contact(storage, v, pair, i, dn, dp, dq)


@uncounted
def move_body_row(rule, storage, u, vectors, i, low, high):
    """A row with bounds."""
    keep, drop = rule
    step, b, lower, _, _, v = vectors
    before = u[i]
    pair, old = pair_of(storage, i), clip(before, low, high)
    y = row_slack(storage, b, v, pair, i, old)
    after = old + (keep - drop * step[i]) * (before - old) - step[i] * y
    u[i] = after
    push_row(storage, v, pair, i - (np.uint64(b.size) - np.uint64(lower.size)), clip(after, low, high) - old)


@kernel
def sweep_body_pairs(count, rule, contact, u, storage, vectors):
    """x = clip(u)."""
    _, _, lower, upper, x, _ = vectors
    sweep(move_body_contact, move_body_row, count, contact[0].size, rule, contact, storage, u, vectors)
    settle(U3, contact[0], lower, upper, u, x)


# -- rows that touch two bodies in a plane (layout of `planar_pairs`) --------------------------------------------------


@uncounted
def move_planar_contact(rule, contact, storage, u, vectors, c):
    """A contact of two rows.

    `coupling` holds A_nt of each contact: its slacks are taken at one velocity, and the tangent's is corrected by it.
    """
    keep, drop = rule
    friction, coupling = contact
    step, b, _, _, _, v = vectors
    i = U2 * c
    t = i + U1
    seen, normal, tangent = look(storage, v, i), row_of(storage, i), row_of(storage, t)
    u_n, u_t, step_n, step_t = u[i], u[t], step[i], step[t]
    old_n = max(u_n, 0.0)
    limit = friction[c] * old_n
    old_t = clip(u_t, -limit, limit)
    y_n = planar_row_slack(storage, b, seen, normal, i, old_n)
    y_t = planar_row_slack(storage, b, seen, tangent, t, old_t)
    u_n = old_n + (keep - drop * step_n) * (u_n - old_n) - step_n * y_n  # AMGS eq. 14
    new_n = max(u_n, 0.0)
    dn = new_n - old_n
    limit = friction[c] * new_n
    u_t = old_t + (keep - drop * step_t) * (u_t - old_t) - step_t * y_t - (step_t * coupling[c]) * dn
    push_planar_contact(v, seen, normal, tangent, dn, clip(u_t, -limit, limit) - old_t)
    u[i], u[t] = u_n, u_t


@uncounted
def move_planar_row(rule, storage, u, vectors, i, low, high):
    """A row with bounds."""
    keep, drop = rule
    step, b, _, _, _, v = vectors
    seen, row = look(storage, v, i), row_of(storage, i)
    before = u[i]
    old = clip(before, low, high)
    y = planar_row_slack(storage, b, seen, row, i, old)
    after = old + (keep - drop * step[i]) * (before - old) - step[i] * y
    push_pair(v, seen, row, clip(after, low, high) - old)
    u[i] = after


@kernel
def sweep_planar_pairs(count, rule, contact, u, storage, vectors):
    """x = clip(u)."""
    _, _, lower, upper, x, _ = vectors
    sweep(move_planar_contact, move_planar_row, count, contact[0].size, rule, contact, storage, u, vectors)
    settle(U2, contact[0], lower, upper, u, x)
