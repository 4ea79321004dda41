"""Block Gauss-Seidel: contact by contact, each solved exactly for its own rows, in every storage but pairs of bodies.

`prepare` finds what the exact solve of a contact keeps of its block of A: the first eight numbers of
`local_contacts.py`. Storages that read A row by row give the slack of a contact row by row. `sweep_blocks` reads A in
blocks of 3 x 3, with one column number for nine values and three sums at a time; rows after the contacts are in
compressed rows there.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel, spliced, uncounted
from perp.kernels.contacts.local_contacts import rests, solve_contact
from perp.kernels.storages import csr, dense, factored
from perp.kernels.sweeps.sweeping import project, sweep

U = tuple(np.uint64(k) for k in range(9))


# -- set-up ------------------------------------------------------------------------------------------------------------


@inlined
def principal_axes(s_p, s_q, s_pq, least):
    """Eigenvalues of [[s_p, s_pq], [s_pq, s_q]], no smaller than `least`, and the turn to its eigenvectors."""
    angle = 0.5 * math.atan2(2.0 * s_pq, s_p - s_q)
    cosine, sine = math.cos(angle), math.sin(angle)
    mixed = 2.0 * cosine * sine * s_pq
    first = cosine * cosine * s_p + mixed + sine * sine * s_q
    second = sine * sine * s_p - mixed + cosine * cosine * s_q
    return max(first, least), max(second, least), cosine, sine


@kernel
def prepare(blocks, width, relaxation, is_box, least_share, strongest_coupling, cells, local):
    """Eight numbers a contact, every `cells` places, from blocks of width x width (2 or 3), divided by `relaxation`.

    Blocks are symmetrised. A planar contact gets a second tangent of stiffness 1.
    """
    share = 1.0 / relaxation
    size = width * width
    for contact in range(np.uint64(local.size) // cells):
        at, k = size * contact, cells * contact
        w_n, w_p, w_q = share * blocks[at], share * blocks[at + width + U[1]], share
        np_, nq, pq = 0.5 * share * (blocks[at + U[1]] + blocks[at + width]), 0.0, 0.0
        total = w_n + w_p
        if width == U[3]:
            w_q = share * blocks[at + U[8]]
            nq = 0.5 * share * (blocks[at + U[2]] + blocks[at + U[6]])
            pq = 0.5 * share * (blocks[at + U[5]] + blocks[at + U[7]])
            total += w_q  # the tangent that planar contacts are given has no say in it
        inverse = 1.0 / w_n if w_n > 0.0 else 0.0
        a_p, a_q = inverse * np_, inverse * nq
        s_p, s_q, s_pq = w_p - w_n * a_p * a_p, w_q - w_n * a_q * a_q, pq - w_n * a_p * a_q
        is_weak = max(abs(a_p), abs(a_q)) < strongest_coupling
        if not (is_weak and math.isfinite(s_p) and math.isfinite(s_q) and math.isfinite(s_pq)):
            a_p, a_q, s_p, s_q, s_pq = 0.0, 0.0, 1.0, 1.0, 0.0
        least = least_share * max(w_n, total / width)
        first, second, cosine, sine = principal_axes(s_p, s_q, s_pq, least)
        local[k] = w_n
        local[k + U[1]] = inverse
        if is_box:
            local[k + U[2]], local[k + U[3]] = a_p, a_q
            local[k + U[4]] = cosine * cosine * first + sine * sine * second
            local[k + U[5]] = sine * sine * first + cosine * cosine * second
            local[k + U[6]], local[k + U[7]] = 1.0, cosine * sine * (first - second)
        else:
            local[k + U[2]], local[k + U[3]] = cosine * a_p + sine * a_q, cosine * a_q - sine * a_p
            local[k + U[4]], local[k + U[5]] = first, second
            local[k + U[6]], local[k + U[7]] = cosine, sine


# -- sweeps ------------------------------------------------------------------------------------------------------------


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
