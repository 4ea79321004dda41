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

from perp.kernels.compile import kernel, uncounted
from perp.kernels.contacts.local_contacts import rests, solve_convex
from perp.kernels.measures.projection import BOXES, DISCS
from perp.kernels.storages.planar_pairs import U1, U2, U3, look, project_row, push_contact, row_of, row_slack
from perp.kernels.sweeps.sweeping import sweep

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


@uncounted
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


@uncounted
def solve_pair(contact, storage, vectors, c):
    """A contact of two rows, solved exactly."""
    law, cells, friction, local = contact
    _, b, _, _, x, v = vectors
    i = U2 * c
    t = i + U1
    seen, normal, old_n = look(storage, v, i), row_of(storage, i), x[i]
    y_n = row_slack(storage, b, seen, normal, i, old_n)
    if rests(law, old_n, y_n):
        return
    tangent, old_t = row_of(storage, t), x[t]
    y_t = row_slack(storage, b, seen, tangent, t, old_t)
    new_n, new_t = 0.0, 0.0
    if law in (BOXES, DISCS):
        new_n, new_t = solve_coulomb(friction[c], local, c * cells, old_n, old_t, y_n, y_t)
    else:
        new_n, new_t, _ = solve_convex(law, friction[c], local, c * cells, old_n, old_t, 0.0, y_n, y_t, 0.0)
    push_contact(v, seen, normal, tangent, new_n - old_n, new_t - old_t)
    x[i], x[t] = new_n, new_t


@kernel
def sweep_pairs(count, order, contact, storage, vectors):
    sweep(solve_pair, project_row, count, order, contact, storage, vectors)
