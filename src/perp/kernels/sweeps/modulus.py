"""Modulus sweeps over explicit rows and over a general factored A (AMGS eq. 7 and 11, Methods 2.2 and 3.1).

`u` is x before it was clipped: 2 / gamma times the paper's unknown. One visit of row i is

    u_i <- x_i + memory_i (u_i - x_i) - step_i y_i,      x_i <- clip(u_i, lower_i, upper_i),

with memory_i = keep - drop step_i, and the rows after it in the same sweep see x_i - lag (its change) + lead (the
change of u_i). AMGS has lag = lead = 0; all other members are one pair of numbers each (solvers/splitting/modulus.py).
Where that pair is not zero, a call must make a single sweep: it leaves x = clip(u) for the next.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.measures.projection import clip
from perp.kernels.storages import csr as csr_rows
from perp.kernels.storages import dense as dense_rows
from perp.kernels.storages import factored as factored_rows
from perp.kernels.storages import runs as run_rows

ONE = np.uint64(1)


@inlined
def recall(u, x, memory, printed):
    """What y pulls from: x, and a share of what was clipped off it.

    The printed Method 3.2 knows of one bound only, 0: past an upper bound, u goes on from itself and winds up.
    """
    anchor = clip(u, 0.0, np.inf) if printed else x
    return anchor + memory * (u - anchor)


@inlined
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


@inlined
def move(i, y, low, high, rule, step, u, x):
    """One row of an explicit A; returns the new x_i, while x[i] is what later rows see of it."""
    lag, lead, keep, drop, printed = rule
    old, before = x[i], u[i]
    after = recall(before, old, keep - drop * step[i], printed) - step[i] * y
    new = clip(after, low, high)
    u[i] = after
    seen = new
    if lag != 0.0 or lead != 0.0:  # AMGS need not wait for products with zero
        seen = new + lead * (after - before) - lag * (new - old)
    x[i] = seen  # written once: to write and then to correct it takes twice the time
    return new


@inlined
def sweep_explicit(row_slack, storage, count, rule, width, friction, step, b, lower, upper, u, x):
    """`count` sweeps: contacts, normal first, and then the other rows, whose bounds start at 0."""
    first = np.uint64(friction.size) * width
    for _ in range(count):
        for contact in range(np.uint64(friction.size)):
            i = contact * width
            normal = move(i, row_slack(storage, b, x, i), 0.0, np.inf, rule, step, u, x)
            limit = friction[contact] * normal
            for t in range(i + ONE, i + width):
                move(t, row_slack(storage, b, x, t), -limit, limit, rule, step, u, x)
        for i in range(first, np.uint64(x.size)):
            move(i, row_slack(storage, b, x, i), lower[i - first], upper[i - first], rule, step, u, x)
    settle(width, friction, lower, upper, u, x)


@kernel
def sweep_dense(count, keep, drop, lag, lead, printed, width, friction, u, matrix, step, b, lower, upper, x):
    """Method 2.2 with A stored flat by rows."""
    rule = (lag, lead, keep, drop, printed)
    sweep_explicit(dense_rows.row_slack, (matrix,), count, rule, width, friction, step, b, lower, upper, u, x)


@kernel
def sweep_csr(
    count, keep, drop, lag, lead, printed, width, friction, u, pointers, indices, values, step, b, lower, upper, x
):
    """Method 2.2 with A in compressed rows."""
    rule, storage = (lag, lead, keep, drop, printed), (pointers, indices, values)
    sweep_explicit(csr_rows.row_slack, storage, count, rule, width, friction, step, b, lower, upper, u, x)


@kernel
def sweep_runs(
    count,
    keep,
    drop,
    lag,
    lead,
    printed,
    width,
    friction,
    u,
    pointers,
    columns,
    offsets,
    values,
    step,
    b,
    lower,
    upper,
    x,
):
    """Method 2.2 with A in runs of adjacent columns."""
    rule, storage = (lag, lead, keep, drop, printed), (pointers, columns, offsets, values)
    sweep_explicit(run_rows.row_slack, storage, count, rule, width, friction, step, b, lower, upper, u, x)


@inlined
def move_factored(i, low, high, rule, J, W, compliance, step, b, u, x, v):
    """One row of a factored A; later rows see it through v, so that x[i] is the new x_i at once."""
    lag, lead, keep, drop, printed = rule
    old, before = x[i], u[i]
    y = factored_rows.row_slack(J[0], J[1], J[2], compliance, b, x, v, i)
    after = recall(before, old, keep - drop * step[i], printed) - step[i] * y
    u[i] = after
    x[i] = clip(after, low, high)
    seen = x[i] - old
    if lag != 0.0 or lead != 0.0:  # AMGS need not wait for products with zero
        seen += lead * (after - before) - lag * seen
    factored_rows.row_add(W[0], W[1], W[2], v, i, seen)


@kernel
def sweep_factored(
    count,
    keep,
    drop,
    lag,
    lead,
    printed,
    width,
    friction,
    u,
    jp,
    ji,
    jv,
    wp,
    wi,
    wv,
    compliance,
    step,
    b,
    lower,
    upper,
    x,
    v,
):
    """Method 3.1 with J and W = J M^-1 in compressed rows; v = W^T x is kept, up to lag and lead (AMGS eq. 16)."""
    rule, J, W = (lag, lead, keep, drop, printed), (jp, ji, jv), (wp, wi, wv)
    first = np.uint64(friction.size) * width
    for _ in range(count):
        for contact in range(np.uint64(friction.size)):
            i = contact * width
            move_factored(i, 0.0, np.inf, rule, J, W, compliance, step, b, u, x, v)
            limit = friction[contact] * x[i]
            for t in range(i + ONE, i + width):
                move_factored(t, -limit, limit, rule, J, W, compliance, step, b, u, x, v)
        for i in range(first, np.uint64(x.size)):
            low, high = lower[i - first], upper[i - first]
            move_factored(i, low, high, rule, J, W, compliance, step, b, u, x, v)
