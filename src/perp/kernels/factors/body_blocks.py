"""K = M + sum of w_i j_i j_i^T for rows that touch two rigid bodies: blocks of 12 x 12, one a pair of bodies.

Layout as in `body_pairs`. The rows of a pair are gathered: `order[start[p]:start[p + 1]]` are those of pair p, and the
78 products of its lower triangle have their places in K in `place[78 p:]`. What belongs to a body that cannot move
goes to one place too many at the end of K, which nobody reads.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.factors.body_space import search
from perp.kernels.storages.body_pairs import U2, U6, U12, U, row_add, row_dot

ENTRIES = 78
"""The lower triangle of 12 x 12."""

U78, U144 = np.uint64(ENTRIES), np.uint64(144)


@kernel
def find_places(pairs, inverse, column_start, row, place):
    """Where the product of the local velocities u and v, u >= v, of each pair belongs in K.

    The six velocities of a body mostly stand side by side in K too: so the next entry is tried before it is searched.
    """
    velocities = inverse.size
    unused = row.size
    for p in range(pairs.size // 2):
        at = ENTRIES * p
        for v in range(12):
            first = 6 * np.int64(pairs[2 * p + v // 6]) + v % 6
            found = -1
            for u in range(v, 12):
                second = 6 * np.int64(pairs[2 * p + u // 6]) + u % 6
                place[at] = unused
                if first < velocities and second < velocities:
                    a, b = inverse[first], inverse[second]
                    column, wanted = min(a, b), max(a, b)
                    low, high = column_start[column], column_start[column + 1]
                    if found >= low and found + 1 < high and row[found + 1] == wanted:
                        found = found + 1
                    else:
                        found = search(row, low, high, wanted)
                    place[at] = found
                at += 1


@inlined
def _add_square(jacobian, j, weight, local):
    """local += weight j j^T, 12 x 12. Written out, so that the twelve numbers stay in registers."""
    j0, j1, j2, j3, j4, j5 = (
        jacobian[j],
        jacobian[j + U[1]],
        jacobian[j + U[2]],
        jacobian[j + U[3]],
        jacobian[j + U[4]],
        jacobian[j + U[5]],
    )
    j6, j7, j8, j9, j10, j11 = (
        jacobian[j + U[6]],
        jacobian[j + U[7]],
        jacobian[j + U[8]],
        jacobian[j + U[9]],
        jacobian[j + U[10]],
        jacobian[j + U[11]],
    )
    for v in range(U12):
        factor = weight * jacobian[j + v]
        k = U12 * v
        local[k + U[0]] += factor * j0
        local[k + U[1]] += factor * j1
        local[k + U[2]] += factor * j2
        local[k + U[3]] += factor * j3
        local[k + U[4]] += factor * j4
        local[k + U[5]] += factor * j5
        local[k + U[6]] += factor * j6
        local[k + U[7]] += factor * j7
        local[k + U[8]] += factor * j8
        local[k + U[9]] += factor * j9
        local[k + U[10]] += factor * j10
        local[k + U[11]] += factor * j11


@kernel
def assemble(start, order, jacobian, weight, place, local, K):
    """K += sum_i weight_i j_i j_i^T, a pair at a time; rows of weight zero are passed over."""
    for p in range(np.uint64(start.size) - U[1]):
        for e in range(U144):
            local[e] = 0.0
        some = False
        for at in range(np.uint64(start[p]), np.uint64(start[p + U[1]])):
            i = np.uint64(order[at])
            if weight[i] != 0.0:
                some = True
                _add_square(jacobian, U12 * i, weight[i], local)
        if some:
            at = U78 * p
            for v in range(U12):
                for u in range(v, U12):
                    K[np.uint64(place[at])] += local[U12 * v + u]
                    at += U[1]


@kernel
def push(bodies, jacobian, weight, r, f):
    """f = J^T (weight r)."""
    f[:] = 0.0
    for i in range(np.uint64(r.size)):
        if weight[i] != 0.0:
            a, b = np.uint64(bodies[U2 * i]) * U6, np.uint64(bodies[U2 * i + U[1]]) * U6
            row_add(jacobian, U12 * i, f, a, b, weight[i] * r[i])


@kernel
def pull(bodies, jacobian, weight, r, v, dx):
    """dx = weight (r - J v)."""
    for i in range(np.uint64(r.size)):
        dx[i] = 0.0
        if weight[i] != 0.0:
            a, b = np.uint64(bodies[U2 * i]) * U6, np.uint64(bodies[U2 * i + U[1]]) * U6
            dx[i] = weight[i] * (r[i] - row_dot(jacobian, U12 * i, v, a, b))
