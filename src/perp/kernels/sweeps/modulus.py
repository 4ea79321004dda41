"""Modulus sweeps over explicit rows and over a general factored A (AMGS eq. 7 and 11, Methods 2.2 and 3.1).

`u` is x before it was clipped: 2 / gamma times the paper's unknown. One visit of row i is

    u_i <- x_i + memory_i (u_i - x_i) - step_i y_i,      x_i <- clip(u_i, lower_i, upper_i),

with memory_i = keep - drop step_i, and the rows after it in the same sweep see x_i - lag (its change) + lead (the
change of u_i). AMGS has lag = lead = 0; all other members are one pair of numbers each (solvers/splitting/modulus.py).
Where that pair is not zero, a call must make a single sweep: it leaves x = clip(u) for the next.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, spliced, uncounted
from perp.kernels.measures.projection import clip
from perp.kernels.storages import csr, dense, factored, runs

ONE = np.uint64(1)


@uncounted
def recall(u, x, memory, printed):
    """What y pulls from: x, and a share of what was clipped off it.

    The printed Method 3.2 knows of one bound only, 0: past an upper bound, u goes on from itself and winds up.
    """
    anchor = clip(u, 0.0, np.inf) if printed else x
    return anchor + memory * (u - anchor)


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
    keep, drop, lag, lead, printed = rule
    arrays, row_slack, row_add, show = storage
    step, b, _, _, x, v = vectors
    old, before = x[i], u[i]
    y = row_slack(arrays, b, x, v, i)
    after = recall(before, old, keep - drop * step[i], printed) - step[i] * y
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
