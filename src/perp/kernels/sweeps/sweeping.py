"""Skeletons of sweeps, and projected Gauss-Seidel row by row, from which the kernels of every storage are stamped.

A skeleton goes through contacts and rows in an order, and takes two functions that visit one of them:

    visit_contact(contact, storage, vectors, c)        visit_row(storage, vectors, i, low, high)

`contact` is what the rule knows of contacts: friction, and what it prepared; `vectors` are step, b, lower, upper, x, v,
with step_i = relaxation / A_ii and the velocity v = M^-1 J^T x; where none is kept, x stands in its place. `lower` and
`upper` start at the first row after the contacts, which have bounds of their own.

Where a storage reads A row by row, `storage` is (arrays, row_slack, row_add), with its two verbs

    row_slack(arrays, b, x, v, i)    gives (A x + b)_i,
    row_add(arrays, v, i, change)    lets v follow a change of x_i,

and all rules are written once, on these. Storages that know the two bodies of a contact visit it as a whole.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, spliced, uncounted
from perp.kernels.measures.projection import clip, disc_factor

ONE, TWO = (np.uint64(k) for k in (1, 2))


@uncounted
def pass_over_rows(visit_row, order, storage, vectors):
    """Each row in order, once."""
    _, b, lower, upper, _, _ = vectors
    first = np.uint64(b.size) - np.uint64(lower.size)
    for k in range(np.uint64(order.size)):
        i = np.uint64(order[k])
        visit_row(storage, vectors, i, lower[i - first], upper[i - first])


@spliced
def sweep(visit_contact, visit_row, count, order, contact, storage, vectors):
    """`count` passes over contacts and the rows after them; `order` is (contacts, rows, rows_first)."""
    contacts, rows, rows_first = order
    for _ in range(count):
        if rows_first:
            pass_over_rows(visit_row, rows, storage, vectors)
        for k in range(np.uint64(contacts.size)):
            visit_contact(contact, storage, vectors, np.uint64(contacts[k]))
        if not rows_first:
            pass_over_rows(visit_row, rows, storage, vectors)


@uncounted
def project(storage, vectors, i, low, high):
    """x_i <- clip(x_i - step_i y_i, low, high), and v follows (NOTES eq. 59)."""
    arrays, row_slack, row_add = storage
    step, b, _, _, x, v = vectors
    old = x[i]
    x[i] = clip(old - step[i] * row_slack(arrays, b, x, v, i), low, high)
    row_add(arrays, v, i, x[i] - old)


@uncounted
def project_contact(contact, storage, vectors, c):
    """Normal, then tangents bounded by the newest normal (PGS-SM eq. 17)."""
    width, cone, friction = contact
    arrays, row_slack, row_add = storage
    step, b, _, _, x, v = vectors
    i = c * width
    project(storage, vectors, i, 0.0, np.inf)
    limit = friction[c] * x[i]
    if cone:
        p, q = i + ONE, i + TWO
        old_p, old_q = x[p], x[q]
        slip_p = row_slack(arrays, b, x, v, p)
        slip_q = row_slack(arrays, b, x, v, q)
        x[p] -= step[p] * slip_p
        x[q] -= step[q] * slip_q
        factor = disc_factor(x[p], x[q], limit)
        x[p] *= factor
        x[q] *= factor
        row_add(arrays, v, p, x[p] - old_p)
        row_add(arrays, v, q, x[q] - old_q)
    else:
        for t in range(i + ONE, i + width):
            project(storage, vectors, t, -limit, limit)


# -- orders ------------------------------------------------------------------------------------------------------------


@kernel
def colour_greedily(pointers, neighbours, colours, taken):
    """Each item in turn gets the least colour that no neighbour before it has; returns how many colours there are.

    `taken` (one number an item more) remembers for which item a colour was last found taken; it starts below zero.
    """
    used = 0
    for i in range(np.uint64(colours.size)):
        for k in range(np.uint64(pointers[i]), np.uint64(pointers[i + ONE])):
            j = np.uint64(neighbours[k])
            if j < i:
                taken[colours[j]] = i
        colour = np.uint64(0)
        while taken[colour] == i:
            colour += ONE
        colours[i] = colour
        used = max(used, colour + ONE)
    return used
