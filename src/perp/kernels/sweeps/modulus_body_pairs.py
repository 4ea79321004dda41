"""AMGS and AMSOR sweeps over rows that touch two rigid bodies (AMGS Method 3.1), in the layout of `body_pairs`.

x is not even read: it is u clipped to the bounds, and what later rows see of it is in v. So a sweep moves no more
numbers than one of projected Gauss-Seidel, and what it adds to the arithmetic does not wait for the velocity.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, uncounted
from perp.kernels.measures.projection import clip
from perp.kernels.storages.body_pairs import U3, U, pair_of, push_contact, push_row, row_slack
from perp.kernels.sweeps.modulus import settle, sweep


@uncounted
def move_contact(rule, contact, storage, u, vectors, c):
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
def move_row(rule, storage, u, vectors, i, low, high):
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
def sweep_pairs(count, rule, contact, u, storage, vectors):
    """x = clip(u)."""
    _, _, lower, upper, x, _ = vectors
    sweep(move_contact, move_row, count, contact[0].size, rule, contact, storage, u, vectors)
    settle(U3, contact[0], lower, upper, u, x)
