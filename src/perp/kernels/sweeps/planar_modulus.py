"""AMGS and AMSOR sweeps over rows that touch two bodies in a plane (AMGS Method 3.1), in the layout of `planar_pairs`.

As for body pairs, x is not even read: it is u clipped to the bounds, and what later rows see of it is in v.
"""

from __future__ import annotations

from perp.kernels.compile import kernel, uncounted
from perp.kernels.measures.projection import clip
from perp.kernels.storages.planar_pairs import U1, U2, look, push_contact, push_pair, row_of, row_slack
from perp.kernels.sweeps.modulus import settle, sweep


@uncounted
def move_contact(rule, contact, storage, u, vectors, c):
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
    y_n = row_slack(storage, b, seen, normal, i, old_n)
    y_t = row_slack(storage, b, seen, tangent, t, old_t)
    u_n = old_n + (keep - drop * step_n) * (u_n - old_n) - step_n * y_n  # AMGS eq. 14
    new_n = max(u_n, 0.0)
    dn = new_n - old_n
    limit = friction[c] * new_n
    u_t = old_t + (keep - drop * step_t) * (u_t - old_t) - step_t * y_t - (step_t * coupling[c]) * dn
    push_contact(v, seen, normal, tangent, dn, clip(u_t, -limit, limit) - old_t)
    u[i], u[t] = u_n, u_t


@uncounted
def move_row(rule, storage, u, vectors, i, low, high):
    """A row with bounds."""
    keep, drop = rule
    step, b, _, _, _, v = vectors
    seen, row = look(storage, v, i), row_of(storage, i)
    before = u[i]
    old = clip(before, low, high)
    y = row_slack(storage, b, seen, row, i, old)
    after = old + (keep - drop * step[i]) * (before - old) - step[i] * y
    push_pair(v, seen, row, clip(after, low, high) - old)
    u[i] = after


@kernel
def sweep_pairs(count, rule, contact, u, storage, vectors):
    """x = clip(u)."""
    _, _, lower, upper, x, _ = vectors
    sweep(move_contact, move_row, count, contact[0].size, rule, contact, storage, u, vectors)
    settle(U2, contact[0], lower, upper, u, x)
