"""Sweeps and products with A = J M^-1 J^T + C where J and its scaled copy W = J M^-1 lie in compressed rows.

The velocity v = W^T x = M^-1 J^T x is kept up to date, so that A is never formed (AMGS eq. 16; NOTES section 6).
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.measures.projection import clip, disc_factor

ONE = np.uint64(1)
ONCE = np.int64(1)  # typed: for a plain 1 Numba would compile the callee a second time


@inlined
def row_slack(pointers, indices, values, compliance, b, x, v, i):
    """(J v + C x + b)_i."""
    total = compliance[i] * x[i] + b[i]
    for k in range(np.uint64(pointers[i]), np.uint64(pointers[i + ONE])):
        total += values[k] * v[indices[k]]
    return total


@inlined
def row_add(pointers, indices, values, v, i, amount):
    """v += W_i^T amount."""
    for k in range(np.uint64(pointers[i]), np.uint64(pointers[i + ONE])):
        v[indices[k]] += values[k] * amount


@kernel
def velocity(pointers, indices, values, x, v):
    """v = W^T x."""
    v[:] = 0.0
    for i in range(np.uint64(x.size)):
        row_add(pointers, indices, values, v, i, x[i])


@kernel
def slack(pointers, indices, values, compliance, b, x, v, out):
    """out = J v + C x + b."""
    for i in range(np.uint64(x.size)):
        out[i] = row_slack(pointers, indices, values, compliance, b, x, v, i)


@inlined
def move(j_pointers, j_indices, j_values, w_pointers, w_indices, w_values, compliance, step, b, low, high, x, v, i):
    """One row: x_i <- clip(x_i - step_i y_i, low, high), and v follows."""
    old = x[i]
    y = row_slack(j_pointers, j_indices, j_values, compliance, b, x, v, i)
    x[i] = clip(old - step[i] * y, low, high)
    row_add(w_pointers, w_indices, w_values, v, i, x[i] - old)


@kernel
def sweep_rows(count, first, order, jp, ji, jv, wp, wi, wv, compliance, step, b, lower, upper, x, v):
    """`count` sweeps of x_i <- clip(x_i - step_i y_i, lower_i, upper_i), step_i = relaxation / A_ii (NOTES eq. 59).

    jp, ji, jv and wp, wi, wv are pointers, indices and values of J and of W; `lower` and `upper` start at row `first`.
    """
    for _ in range(count):
        for k in range(np.uint64(order.size)):
            i = np.uint64(order[k])
            move(jp, ji, jv, wp, wi, wv, compliance, step, b, lower[i - first], upper[i - first], x, v, i)


@kernel
def sweep_contacts(
    count,
    contacts,
    rows,
    rows_first,
    width,
    cone,
    friction,
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
    """Sweeps over contacts (normal, then tangents bounded by the newest normal; PGS-SM eq. 17) and the other rows."""
    first = np.uint64(friction.size) * width
    for _ in range(count):
        if rows_first:
            sweep_rows(ONCE, first, rows, jp, ji, jv, wp, wi, wv, compliance, step, b, lower, upper, x, v)
        for k in range(np.uint64(contacts.size)):
            contact = np.uint64(contacts[k])
            i = contact * width
            move(jp, ji, jv, wp, wi, wv, compliance, step, b, 0.0, np.inf, x, v, i)
            limit = friction[contact] * x[i]
            if cone:
                p, q = i + ONE, i + ONE + ONE
                old_p, old_q = x[p], x[q]
                x[p] -= step[p] * row_slack(jp, ji, jv, compliance, b, x, v, p)
                x[q] -= step[q] * row_slack(jp, ji, jv, compliance, b, x, v, q)
                factor = disc_factor(x[p], x[q], limit)
                x[p] *= factor
                x[q] *= factor
                row_add(wp, wi, wv, v, p, x[p] - old_p)
                row_add(wp, wi, wv, v, q, x[q] - old_q)
            else:
                for t in range(i + ONE, i + width):
                    move(jp, ji, jv, wp, wi, wv, compliance, step, b, -limit, limit, x, v, t)
        if not rows_first:
            sweep_rows(ONCE, first, rows, jp, ji, jv, wp, wi, wv, compliance, step, b, lower, upper, x, v)
