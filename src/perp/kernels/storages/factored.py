"""Sweeps and products with A = J M^-1 J^T + C where J and its scaled copy W = J M^-1 lie in compressed rows.

The velocity v = W^T x = M^-1 J^T x is kept up to date, so that A is never formed (AMGS eq. 16; NOTES section 6).
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, uncounted
from perp.kernels.sweeps.sweeping import pass_over_rows, project, project_contact, sweep

ONE = np.uint64(1)


@uncounted
def row_dot(pointers, indices, values, start, v, i):
    """start + J_i · v."""
    for k in range(np.uint64(pointers[i]), np.uint64(pointers[i + ONE])):
        start += values[k] * v[indices[k]]
    return start


@uncounted
def add_row(pointers, indices, values, v, i, amount):
    """v += W_i^T amount."""
    for k in range(np.uint64(pointers[i]), np.uint64(pointers[i + ONE])):
        v[indices[k]] += values[k] * amount


@uncounted
def row_slack(storage, b, x, v, i):
    """(J v + C x + b)_i; a storage is pointers, indices and values of J and of W, and C."""
    pointers, indices, values, _, _, _, compliance = storage
    return row_dot(pointers, indices, values, compliance[i] * x[i] + b[i], v, i)


@uncounted
def row_add(storage, v, i, change):
    """v += W_i^T change."""
    _, _, _, pointers, indices, values, _ = storage
    add_row(pointers, indices, values, v, i, change)


@kernel
def velocity(pointers, indices, values, x, v):
    """v = W^T x."""
    v[:] = 0.0
    for i in range(np.uint64(x.size)):
        add_row(pointers, indices, values, v, i, x[i])


@kernel
def slack(pointers, indices, values, compliance, b, x, v, out):
    """out = J v + C x + b."""
    for i in range(np.uint64(x.size)):
        out[i] = row_dot(pointers, indices, values, compliance[i] * x[i] + b[i], v, i)


@kernel
def sweep_rows(count, order, arrays, vectors):
    for _ in range(count):
        pass_over_rows(project, order, (arrays, row_slack, row_add), vectors)


@kernel
def sweep_contacts(count, order, contact, arrays, vectors):
    sweep(project_contact, project, count, order, contact, (arrays, row_slack, row_add), vectors)
