"""Block Gauss-Seidel over contacts of three rows between two rigid bodies; layout and M^-1 as in body_pairs.py."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.contacts.local_contacts import rests, solve_contact
from perp.kernels.storages.body_pairs import ONCE, U2, U3, U6, U8, U12, U36, U, push, row_dot, sweep_rows


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
    scaled,
    compliance,
    step,
    b,
    lower,
    upper,
    x,
    v,
):
    """`count` passes over the contacts, each solved exactly for its three rows, and over the rows after them."""
    first = np.uint64(friction.size) * U3
    for _ in range(count):
        if rows_first:
            sweep_rows(ONCE, first, rows, bodies, jacobian, scaled, compliance, step, b, lower, upper, x, v)
        for k in range(np.uint64(contacts.size)):
            c = np.uint64(contacts[k])
            i = U3 * c
            j = U36 * c
            body_a = np.uint64(bodies[U2 * i])
            body_b = np.uint64(bodies[U2 * i + U[1]])
            va, vb = body_a * U6, body_b * U6
            old_n = x[i]
            y_n = row_dot(jacobian, j, v, va, vb) + compliance[i] * old_n + b[i]
            if rests(law, old_n, y_n):
                continue
            p, q = i + U[1], i + U[2]
            old_p, old_q = x[p], x[q]
            y_p = row_dot(jacobian, j + U12, v, va, vb) + compliance[p] * old_p + b[p]
            y_q = row_dot(jacobian, j + U12 + U12, v, va, vb) + compliance[q] * old_q + b[q]
            n, new_p, new_q = solve_contact(law, friction[c], local, c * cells, old_n, old_p, old_q, y_n, y_p, y_q)
            x[i], x[p], x[q] = n, new_p, new_q
            dn, dp, dq = n - old_n, new_p - old_p, new_q - old_q
            push(jacobian, j, inverse_mass, body_a * U8, v, va, dn, dp, dq)
            push(jacobian, j + U6, inverse_mass, body_b * U8, v, vb, dn, dp, dq)
        if not rows_first:
            sweep_rows(ONCE, first, rows, bodies, jacobian, scaled, compliance, step, b, lower, upper, x, v)
