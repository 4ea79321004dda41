"""Block Gauss-Seidel: contact by contact, each solved exactly for its own rows, in every storage but body pairs.

Dense and compressed rows give the slack of a contact row by row. `sweep_blocks` reads A in blocks of 3 x 3, with one
column number for nine values and three sums at a time; rows after the contacts are in compressed rows there.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.contacts.local_contacts import rests, solve_contact
from perp.kernels.storages import csr, dense
from perp.kernels.storages.factored import row_add, row_slack
from perp.kernels.storages.factored import sweep_rows as sweep_factored_rows
from perp.kernels.sweeps.sweeping import pass_over_rows

ONCE = np.int64(1)  # typed: for a plain 1 Numba would compile the callee a second time
ONE, TWO, THREE, NINE = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(9)


@inlined
def move(law, cells, width, friction, local, c, y_n, y_p, y_q, x):
    """Give contact c, whose slack is y, the impulse that it has when the others rest."""
    i = c * width
    p, q = i + ONE, i + width - ONE  # in two dimensions the same
    x_q = x[q] if q > p else 0.0
    n, new_p, new_q = solve_contact(law, friction[c], local, c * cells, x[i], x[p], x_q, y_n, y_p, y_q)
    x[q] = new_q
    x[p] = new_p
    x[i] = n


@inlined
def pass_over_blocks(row_slack, storage, contacts, law, cells, width, friction, local, b, x):
    """Every contact once, its slack row by row."""
    for k in range(np.uint64(contacts.size)):
        c = np.uint64(contacts[k])
        i = c * width
        y_n = row_slack(storage, b, x, i)
        if rests(law, x[i], y_n):
            continue
        y_p = row_slack(storage, b, x, i + ONE)
        y_q = row_slack(storage, b, x, i + TWO) if width == THREE else 0.0
        move(law, cells, width, friction, local, c, y_n, y_p, y_q, x)


@kernel
def sweep_dense(
    count, contacts, rows, rows_first, law, cells, width, friction, local, matrix, step, b, lower, upper, x
):
    """`count` passes over the contacts and the rows after them, in order; A is dense."""
    first = np.uint64(friction.size) * width
    for _ in range(count):
        if rows_first:
            pass_over_rows(dense.row_slack, (matrix,), first, rows, step, b, lower, upper, x)
        pass_over_blocks(dense.row_slack, (matrix,), contacts, law, cells, width, friction, local, b, x)
        if not rows_first:
            pass_over_rows(dense.row_slack, (matrix,), first, rows, step, b, lower, upper, x)


@kernel
def sweep_compressed(
    count,
    contacts,
    rows,
    rows_first,
    law,
    cells,
    width,
    friction,
    local,
    pointers,
    indices,
    values,
    step,
    b,
    lower,
    upper,
    x,
):
    """The same for compressed rows."""
    storage = (pointers, indices, values)
    first = np.uint64(friction.size) * width
    for _ in range(count):
        if rows_first:
            pass_over_rows(csr.row_slack, storage, first, rows, step, b, lower, upper, x)
        pass_over_blocks(csr.row_slack, storage, contacts, law, cells, width, friction, local, b, x)
        if not rows_first:
            pass_over_rows(csr.row_slack, storage, first, rows, step, b, lower, upper, x)


@inlined
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


@kernel
def sweep_blocks(
    count,
    contacts,
    rows,
    rows_first,
    law,
    cells,
    friction,
    local,
    block_pointers,
    block_columns,
    block_values,
    pointers,
    indices,
    values,
    step,
    b,
    lower,
    upper,
    x,
):
    """The same for blocks of 3 x 3."""
    storage = (pointers, indices, values)
    first = np.uint64(friction.size) * THREE
    for _ in range(count):
        if rows_first:
            pass_over_rows(csr.row_slack, storage, first, rows, step, b, lower, upper, x)
        for k in range(np.uint64(contacts.size)):
            c = np.uint64(contacts[k])
            y_n, y_p, y_q = block_slack(block_pointers, block_columns, block_values, b, x, c)
            move(law, cells, THREE, friction, local, c, y_n, y_p, y_q, x)
        if not rows_first:
            pass_over_rows(csr.row_slack, storage, first, rows, step, b, lower, upper, x)


@kernel
def sweep_factored(
    count,
    contacts,
    rows,
    rows_first,
    law,
    cells,
    width,
    friction,
    local,
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
    """The same for A = J M^-1 J^T + C with J and W = J M^-1 in compressed rows and v = W^T x kept up to date."""
    first = np.uint64(friction.size) * width
    for _ in range(count):
        if rows_first:
            sweep_factored_rows(ONCE, first, rows, jp, ji, jv, wp, wi, wv, compliance, step, b, lower, upper, x, v)
        for k in range(np.uint64(contacts.size)):
            c = np.uint64(contacts[k])
            i = c * width
            p, q = i + ONE, i + width - ONE
            old_n, old_p, old_q = x[i], x[p], x[q]
            y_n = row_slack(jp, ji, jv, compliance, b, x, v, i)
            if rests(law, old_n, y_n):
                continue
            y_p = row_slack(jp, ji, jv, compliance, b, x, v, p)
            y_q = row_slack(jp, ji, jv, compliance, b, x, v, q) if q > p else 0.0
            move(law, cells, width, friction, local, c, y_n, y_p, y_q, x)
            row_add(wp, wi, wv, v, i, x[i] - old_n)
            row_add(wp, wi, wv, v, p, x[p] - old_p)
            if q > p:
                row_add(wp, wi, wv, v, q, x[q] - old_q)
        if not rows_first:
            sweep_factored_rows(ONCE, first, rows, jp, ji, jv, wp, wi, wv, compliance, step, b, lower, upper, x, v)
