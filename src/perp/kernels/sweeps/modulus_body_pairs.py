"""AMGS and AMSOR sweeps over rows that touch two rigid bodies (AMGS Method 3.1), in the layout of `body_pairs`.

x is not even read: it is u clipped to the bounds, and what later rows see of it is in v. So a sweep moves no more
numbers than one of projected Gauss-Seidel, and what it adds to the arithmetic does not wait for the velocity.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.measures.projection import clip
from perp.kernels.storages.body_pairs import U2, U3, U6, U8, U12, U36, U, push, row_add, row_dot
from perp.kernels.sweeps.modulus import settle


@kernel
def sweep(
    count,
    keep,
    drop,
    friction,
    u,
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
    """`count` sweeps over contacts of three rows, M^-1 applied on the fly, and over the other rows; x = clip(u).

    `coupling` holds A_np, A_nq, A_pq of each contact: its slacks are taken at one velocity and corrected by them.
    `scaled` (J M^-1), `lower` and `upper` start at the first row after the contacts.
    """
    first = np.uint64(friction.size) * U3
    for _ in range(count):
        for c in range(np.uint64(friction.size)):
            i = U3 * c
            j = U36 * c
            body_a = np.uint64(bodies[U2 * i])
            body_b = np.uint64(bodies[U2 * i + U[1]])
            va, vb = body_a * U6, body_b * U6
            p, q = i + U[1], i + U[2]
            u_n, u_p, u_q = u[i], u[p], u[q]
            old_n = max(u_n, 0.0)
            limit = friction[c] * old_n
            old_p, old_q = clip(u_p, -limit, limit), clip(u_q, -limit, limit)
            y_n = row_dot(jacobian, j, v, va, vb) + compliance[i] * old_n + b[i]
            y_p = row_dot(jacobian, j + U12, v, va, vb) + compliance[p] * old_p + b[p]
            y_q = row_dot(jacobian, j + U12 + U12, v, va, vb) + compliance[q] * old_q + b[q]
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
            push(jacobian, j, inverse_mass, body_a * U8, v, va, dn, dp, dq)
            push(jacobian, j + U6, inverse_mass, body_b * U8, v, vb, dn, dp, dq)
        for i in range(first, np.uint64(u.size)):
            j = U12 * i
            body_a = np.uint64(bodies[U2 * i]) * U6
            body_b = np.uint64(bodies[U2 * i + U[1]]) * U6
            low, high = lower[i - first], upper[i - first]
            before = u[i]
            old = clip(before, low, high)
            y = row_dot(jacobian, j, v, body_a, body_b) + compliance[i] * old + b[i]
            after = old + (keep - drop * step[i]) * (before - old) - step[i] * y
            u[i] = after
            row_add(scaled, U12 * (i - first), v, body_a, body_b, clip(after, low, high) - old)
    settle(U3, friction, lower, upper, u, x)
