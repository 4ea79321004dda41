"""Block Gauss-Seidel: contact by contact, each solved exactly for its own rows, in every storage but pairs of bodies.

Storages that read A row by row give the slack of a contact row by row. `sweep_blocks` reads A in blocks of 3 x 3, with
one column number for nine values and three sums at a time; rows after the contacts are in compressed rows there.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, spliced, uncounted
from perp.kernels.contacts.local_contacts import rests, solve_contact
from perp.kernels.storages import csr, dense, factored
from perp.kernels.sweeps.sweeping import project, sweep

ONE, TWO, THREE, NINE = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(9)


@spliced
def move(contact, c, y_n, y_p, y_q, x):
    """Give contact c, whose slack is y, the impulse that it has when the others rest; returns the change."""
    law, cells, width, friction, local = contact
    i = c * width
    p, q = i + ONE, i + width - ONE  # in two dimensions the same
    old_n, old_p, old_q = x[i], x[p], x[q] if q > p else 0.0
    n, new_p, new_q = solve_contact(law, friction[c], local, c * cells, old_n, old_p, old_q, y_n, y_p, y_q)
    x[q] = new_q
    x[p] = new_p
    x[i] = n
    return n - old_n, new_p - old_p, new_q - old_q


@uncounted
def solve_row_by_row(contact, storage, vectors, c):
    """One contact, its slack row by row."""
    law, _, width, _, _ = contact
    arrays, row_slack, row_add = storage
    _, b, _, _, x, v = vectors
    i = c * width
    y_n = row_slack(arrays, b, x, v, i)
    if rests(law, x[i], y_n):
        return
    y_p = row_slack(arrays, b, x, v, i + ONE)
    y_q = row_slack(arrays, b, x, v, i + TWO) if width == THREE else 0.0
    dn, dp, dq = move(contact, c, y_n, y_p, y_q, x)
    row_add(arrays, v, i, dn)
    row_add(arrays, v, i + ONE, dp)
    if width == THREE:
        row_add(arrays, v, i + TWO, dq)


@kernel
def sweep_dense(count, order, contact, arrays, vectors):
    storage = (arrays, dense.row_slack, dense.row_add)
    sweep(solve_row_by_row, project, count, order, contact, storage, vectors)


@kernel
def sweep_compressed(count, order, contact, arrays, vectors):
    storage = (arrays, csr.row_slack, csr.row_add)
    sweep(solve_row_by_row, project, count, order, contact, storage, vectors)


@kernel
def sweep_factored(count, order, contact, arrays, vectors):
    storage = (arrays, factored.row_slack, factored.row_add)
    sweep(solve_row_by_row, project, count, order, contact, storage, vectors)


@uncounted
def block_slack(block_pointers, block_columns, block_values, b, x, c):
    """The three slacks of contact c; x is padded to whole blocks."""
    i = THREE * c
    n0, p0, q0 = b[i], b[i + ONE], b[i + TWO]
    n1 = n2 = p1 = p2 = q1 = q2 = 0.0
    for k in range(np.uint64(block_pointers[c]), np.uint64(block_pointers[c + ONE])):
        j = THREE * np.uint64(block_columns[k])
        m = NINE * k
        x_0, x_1, x_2 = x[j], x[j + ONE], x[j + TWO]
        n0 += block_values[m] * x_0
        n1 += block_values[m + ONE] * x_1
        n2 += block_values[m + TWO] * x_2
        m += THREE
        p0 += block_values[m] * x_0
        p1 += block_values[m + ONE] * x_1
        p2 += block_values[m + TWO] * x_2
        m += THREE
        q0 += block_values[m] * x_0
        q1 += block_values[m + ONE] * x_1
        q2 += block_values[m + TWO] * x_2
    return n0 + n1 + n2, p0 + p1 + p2, q0 + q1 + q2


@uncounted
def solve_block(contact, storage, vectors, c):
    """One contact, all its slacks at once."""
    plain, blocks = contact
    pointers, columns, values = blocks
    _, b, _, _, x, _ = vectors
    y_n, y_p, y_q = block_slack(pointers, columns, values, b, x, c)
    move(plain, c, y_n, y_p, y_q, x)


@kernel
def sweep_blocks(count, order, contact, arrays, vectors):
    storage = (arrays, csr.row_slack, csr.row_add)
    sweep(solve_block, project, count, order, contact, storage, vectors)
