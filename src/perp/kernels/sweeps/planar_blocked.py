"""Block Gauss-Seidel over contacts of two rows between two bodies in a plane; layout and M^-1 as in planar_pairs.py.

Boxes and discs are intervals here, and a contact by itself is one of three cases, each a formula. With W its block of
A, S = W_tt - W_nt^2 / W_nn and y its slack at x, `local` holds four numbers a contact:

    k + 0  W_nn     + 1  1 / W_nn     + 2  W_nt / W_nn     + 3  1 / S

Convex cones and intervals of given radii are left to local_contacts.py, with its own numbers and a second tangent that
never moves.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.contacts.cones import BOXES, DISCS
from perp.kernels.contacts.local_contacts import rests, solve_convex
from perp.kernels.storages.planar_pairs import ONCE, U1, U2, U3, U6, U12, masses, push, row_dot, sweep_rows, three

INVERSE, SHARE, SOFTNESS = U1, U2, U3
U4 = np.uint64(4)


@kernel
def prepare(blocks, relaxation, least_share, strongest_coupling, local):
    """Four numbers a contact from its block of A, divided by `relaxation`, with the limits of `local_blocks.py`."""
    for c in range(np.uint64(local.size) // U4):
        w_n, w_t = blocks[U4 * c] / relaxation, blocks[U4 * c + U3] / relaxation
        inverse = 1.0 / w_n if w_n > 0.0 else 0.0
        share = 0.5 * (blocks[U4 * c + U1] + blocks[U4 * c + U2]) / relaxation * inverse
        stiffness = w_t - w_n * share * share
        if not (abs(share) < strongest_coupling and math.isfinite(stiffness)):
            share, stiffness = 0.0, 1.0
        local[U4 * c] = w_n
        local[U4 * c + INVERSE] = inverse
        local[U4 * c + SHARE] = share
        local[U4 * c + SOFTNESS] = 1.0 / max(stiffness, least_share * max(w_n, 0.5 * (w_n + w_t)))


@inlined
def solve_coulomb(friction, local, k, x_n, x_t, y_n, y_t):
    """Coulomb's law for one tangent: separate, stick, or slide towards the side at which sticking leaves the interval.

    Where the law allows a contact to separate and to stick, it separates. Sliding is y_n = 0 with x_t = share x_n,
    share = ± friction: x_n = (-q_n / W_nn) / (1 + share W_nt / W_nn), q_n the slack without the own impulse.
    Sticking leaves the interval only where that divisor is positive, rounding apart.
    """
    coupled = local[k + SHARE]
    q_n = y_n - local[k] * (x_n + coupled * x_t)
    if q_n >= 0.0:
        return 0.0, 0.0
    dt = (coupled * y_n - y_t) * local[k + SOFTNESS]
    new_n, new_t = x_n - local[k + INVERSE] * y_n - coupled * dt, x_t + dt
    if new_n < 0.0 or abs(new_t) > friction * new_n:
        share = friction if new_t > 0.0 else -friction
        divisor = 1.0 + share * coupled
        if divisor > 0.0:
            new_n = -q_n * local[k + INVERSE] / divisor
        new_n = max(new_n, 0.0)
        new_t = share * new_n
    return new_n, new_t


@kernel
def sweep_contacts(
    count,
    contacts,
    rows,
    rows_first,
    law,
    cells,
    friction,
    local,
    bodies,
    jacobian,
    inverse_mass,
    compliance,
    step,
    b,
    lower,
    upper,
    x,
    v,
):
    """`count` passes over the contacts, each solved exactly for its two rows, and over the rows after them."""
    first = np.uint64(friction.size) * U2
    for _ in range(count):
        if rows_first:
            sweep_rows(ONCE, first, rows, bodies, jacobian, inverse_mass, compliance, step, b, lower, upper, x, v)
        for k in range(np.uint64(contacts.size)):
            c = np.uint64(contacts[k])
            i, j = U2 * c, U12 * c
            t = i + U1
            body_a, body_b = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1])
            at_a, at_b = U3 * body_a, U3 * body_b
            v_a, v_b = three(v, at_a), three(v, at_b)
            normal_a, normal_b = three(jacobian, j), three(jacobian, j + U3)
            old_n = x[i]
            y_n = row_dot(compliance[i] * old_n + b[i], normal_a, normal_b, v_a, v_b)
            if rests(law, old_n, y_n):
                continue
            mass_a, mass_b = masses(inverse_mass, body_a), masses(inverse_mass, body_b)
            tangent_a, tangent_b = three(jacobian, j + U6), three(jacobian, j + U6 + U3)
            old_t = x[t]
            y_t = row_dot(compliance[t] * old_t + b[t], tangent_a, tangent_b, v_a, v_b)
            new_n, new_t = 0.0, 0.0
            if law in (BOXES, DISCS):
                new_n, new_t = solve_coulomb(friction[c], local, c * cells, old_n, old_t, y_n, y_t)
            else:
                new_n, new_t, _ = solve_convex(law, friction[c], local, c * cells, old_n, old_t, 0.0, y_n, y_t, 0.0)
            dn, dt = new_n - old_n, new_t - old_t
            push(v, at_a, v_a, mass_a, normal_a, tangent_a, dn, dt)
            push(v, at_b, v_b, mass_b, normal_b, tangent_b, dn, dt)
            x[i], x[t] = new_n, new_t
        if not rows_first:
            sweep_rows(ONCE, first, rows, bodies, jacobian, inverse_mass, compliance, step, b, lower, upper, x, v)
