"""Systems in body space, K = M + sum of w_i j_i j_i^T over rows of J, assembled into a known pattern.

* Any rows: `find_pairs`, `add_rows`. K is a lower triangle by columns.
* Rows that touch two rigid bodies, in the layout of `body_pairs`: blocks of 12 x 12, one for each pair of bodies. The
  rows of a pair are gathered: `order[start[p]:start[p + 1]]` are those of pair p, and the 78 products of its lower
  triangle have their places in K in `place[78 p:]`. What belongs to a body that cannot move goes to one place too many
  at the end of K, which nobody reads.
* Blocks of contacts (`cone_interior`): which columns the rows of each block have, and where they belong in K.
* Small groups of rows that are coupled by blocks of low rank: the reduced matrix of Woodbury's formula.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.storages.body_pairs import U2, U6, U12, U, row_add, row_dot

# -- any rows ----------------------------------------------------------------------------------------------------------


@inlined
def search(row, low, high, wanted):
    """Where `wanted` is among the rising numbers row[low:high]."""
    while low < high:
        middle = (low + high) // 2
        if row[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def find_pairs(pointers, indices, inverse, column_start, row, place):
    """Where each product J_ip J_iq, q <= p, of a row of J belongs in K (lower triangle, by columns, rows sorted)."""
    at = 0
    for i in range(pointers.size - 1):
        for p in range(pointers[i], pointers[i + 1]):
            for q in range(pointers[i], p + 1):
                a, b = inverse[indices[p]], inverse[indices[q]]
                column, wanted = min(a, b), max(a, b)
                place[at] = search(row, column_start[column], column_start[column + 1], wanted)
                at += 1


@kernel
def add_rows(pointers, values, weight, place, K):
    """K += sum_i weight_i j_i j_i^T; rows of weight zero are passed over."""
    at = 0
    for i in range(pointers.size - 1):
        begin, end = pointers[i], pointers[i + 1]
        length = end - begin
        if weight[i] == 0.0:
            at += length * (length + 1) // 2
            continue
        for p in range(begin, end):
            factor = weight[i] * values[p]
            for q in range(begin, p + 1):
                K[place[at]] += factor * values[q]
                at += 1


@kernel
def weigh(free, compliance, shift, least, weight, added):
    """weight = 1 / (C + shift), C + shift lifted to `least`; zero on rows not free. Says what was added."""
    for i in range(weight.size):
        whole = max(compliance[i] + shift[i], least[i])
        added[i] = whole - compliance[i]
        weight[i] = 1.0 / whole if free[i] else 0.0


# -- pairs of rigid bodies ---------------------------------------------------------------------------------------------


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


# -- blocks of contacts ------------------------------------------------------------------------------------------------


@kernel
def union_columns(pointers, indices, row, width, block_pointers, block_columns, mark):
    """The sorted columns of all rows of each block; `mark` has -1 for every column."""
    at = 0
    for b in range(row.size):
        block_pointers[b] = at
        for i in range(row[b], row[b] + width[b]):
            for e in range(pointers[i], pointers[i + 1]):
                j = indices[e]
                if mark[j] != b:
                    mark[j] = b
                    k = at
                    while k > block_pointers[b] and block_columns[k - 1] > j:
                        block_columns[k] = block_columns[k - 1]
                        k -= 1
                    block_columns[k] = j
                    at += 1
    block_pointers[row.size] = at


@kernel
def gather_groups(block_pointers, block_columns, merge, group_of, group_columns, columns):
    """Neighbouring blocks with the same columns become one group; returns how many groups there are."""
    groups, at = 0, 0
    for b in range(block_pointers.size - 1):
        begin, end = block_pointers[b], block_pointers[b + 1]
        same = merge and b > 0 and end - begin == begin - block_pointers[b - 1]
        if same:
            for k in range(end - begin):
                if block_columns[begin + k] != block_columns[block_pointers[b - 1] + k]:
                    same = False
                    break
        if not same:
            group_columns[groups] = at
            for k in range(begin, end):
                columns[at] = block_columns[k]
                at += 1
            groups += 1
        group_of[b] = groups - 1
    group_columns[groups] = at
    return groups


@kernel
def find_group_places(group_columns, columns, column_start, row, group_places, places):
    """places of every pair of columns of a group: lower numbers, or (behind them) upper ones."""
    lower = row.size
    for g in range(group_columns.size - 1):
        begin, end = group_columns[g], group_columns[g + 1]
        at = group_places[g]
        for p in range(begin, end):
            for q in range(begin, end):
                i, j = columns[p], columns[q]
                if i >= j:
                    places[at] = search(row, column_start[j], column_start[j + 1], i)
                else:
                    places[at] = lower + search(row, column_start[i], column_start[i + 1], j)
                at += 1


@kernel
def spread_rows(pointers, indices, data, row, width, group_of, group_columns, columns, start, out):
    """The rows of J of each block, full in the columns of its group."""
    for b in range(row.size):
        begin, end = group_columns[group_of[b]], group_columns[group_of[b] + 1]
        size = end - begin
        for i in range(width[b]):
            for e in range(pointers[row[b] + i], pointers[row[b] + i + 1]):
                place = search(columns, begin, end, indices[e])
                out[start[b] + i * size + place - begin] = data[e]


# -- coupled groups of rows --------------------------------------------------------------------------------------------


@kernel
def assemble_coupled(T, C_transposed, active, rank, out):
    """out = I + T C over the active groups, column-major; T has a rank x rank block for each of them.

    `C` is handed over transposed, so that it is read along its rows.
    """
    size = active.size * rank
    for h in range(active.size):
        for k in range(rank):
            column = (h * rank + k) * size
            source = active[h] * rank + k
            for g in range(active.size):
                first = active[g] * rank
                for i in range(rank):
                    total = 0.0
                    for j in range(rank):
                        total += T[g, i, j] * C_transposed[source, first + j]
                    out[column + g * rank + i] = total
            out[column + h * rank + k] += 1.0
