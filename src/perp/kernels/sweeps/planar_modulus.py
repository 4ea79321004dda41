"""AMGS and AMSOR sweeps over rows that touch two bodies in a plane (AMGS Method 3.1), in the layout of `planar_pairs`.

As for body pairs, x is not even read: it is u clipped to the bounds, and what later rows see of it is in v.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.measures.projection import clip
from perp.kernels.storages.planar_pairs import U1, U2, U3, U6, U12, masses, push, push_row, row_dot, three
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
    compliance,
    step,
    b,
    lower,
    upper,
    x,
    v,
):
    """`count` sweeps over contacts of two rows, and over the other rows; x = clip(u).

    `coupling` holds A_nt of each contact: its slacks are taken at one velocity, and the tangent's is corrected by it.
    `lower` and `upper` start at the first row after the contacts.
    """
    first = np.uint64(friction.size) * U2
    for _ in range(count):
        for c in range(np.uint64(friction.size)):
            i, j = U2 * c, U12 * c
            t = i + U1
            body_a, body_b = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1])
            at_a, at_b = U3 * body_a, U3 * body_b
            v_a, v_b = three(v, at_a), three(v, at_b)
            mass_a, mass_b = masses(inverse_mass, body_a), masses(inverse_mass, body_b)
            normal_a, normal_b = three(jacobian, j), three(jacobian, j + U3)
            tangent_a, tangent_b = three(jacobian, j + U6), three(jacobian, j + U6 + U3)
            u_n, u_t, step_n, step_t = u[i], u[t], step[i], step[t]
            old_n = max(u_n, 0.0)
            limit = friction[c] * old_n
            old_t = clip(u_t, -limit, limit)
            y_n = row_dot(compliance[i] * old_n + b[i], normal_a, normal_b, v_a, v_b)
            y_t = row_dot(compliance[t] * old_t + b[t], tangent_a, tangent_b, v_a, v_b)
            u_n = old_n + (keep - drop * step_n) * (u_n - old_n) - step_n * y_n  # AMGS eq. 14
            new_n = max(u_n, 0.0)
            dn = new_n - old_n
            limit = friction[c] * new_n
            u_t = old_t + (keep - drop * step_t) * (u_t - old_t) - step_t * y_t - (step_t * coupling[c]) * dn
            dt = clip(u_t, -limit, limit) - old_t
            push(v, at_a, v_a, mass_a, normal_a, tangent_a, dn, dt)
            push(v, at_b, v_b, mass_b, normal_b, tangent_b, dn, dt)
            u[i], u[t] = u_n, u_t
        for i in range(first, np.uint64(u.size)):
            body_a, body_b = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1])
            at_a, at_b = U3 * body_a, U3 * body_b
            v_a, v_b = three(v, at_a), three(v, at_b)
            mass_a, mass_b = masses(inverse_mass, body_a), masses(inverse_mass, body_b)
            row_a, row_b = three(jacobian, U6 * i), three(jacobian, U6 * i + U3)
            low, high = lower[i - first], upper[i - first]
            before = u[i]
            old = clip(before, low, high)
            y = row_dot(compliance[i] * old + b[i], row_a, row_b, v_a, v_b)
            after = old + (keep - drop * step[i]) * (before - old) - step[i] * y
            change = clip(after, low, high) - old
            push_row(v, at_a, v_a, mass_a, row_a, change)
            push_row(v, at_b, v_b, mass_b, row_b, change)
            u[i] = after
    settle(U2, friction, lower, upper, u, x)
