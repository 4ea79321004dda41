"""The tableau of principal pivoting: y = A x + b solved for whichever of x_i and y_i is wanted in each row.

Rows are free (y_i = 0, and x_i follows) or tight (x_i stands at a bound, and y_i follows). What follows is `value`,
what is given is `rest`, and the tableau M says how one moves with the other, d value = M d rest. With F the free rows
and T the tight ones M is the principal pivot transform of A (Cottle, Pang & Stone 1992, section 2.3):

    M_FF = A_FF^-1,    M_FT = -A_FF^-1 A_FT,    M_TF = A_TF A_FF^-1,    M_TT = A_TT - A_TF A_FF^-1 A_FT.

Moving one row from T to F or back is a rank-1 update of M. Rounding errors are kept in sight: beside each value, and
beside each M_ii, stands the size of the numbers that it was added up from, and what is tiny against that is zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.storages.dense import dot

FREE, LOWER, UPPER, FIXED = np.int8(0), np.int8(1), np.int8(2), np.int8(3)
"""Where a row is; FIXED is tight for ever, as its two bounds are equal."""

ZERO_PIVOT = 1e-13
"""A pivot is zero when it is below this share of the numbers that it was added up from."""

LOST_DIGITS = 1e-4
"""A pivot below this share of them is looked at closely."""

ZERO_VALUE = 5e-15
"""The same for a freshly computed x_i or y_i: some twenty units in the last place."""

STALE = 1e-11
"""A tableau whose solution leaves a larger share of the slack in the free rows has to be computed anew."""

REFINEMENTS = 2
ONE = np.uint64(1)


class Data(NamedTuple):
    """The problem, read-only; A flat by rows."""

    A: Any
    b: Any
    lower: Any
    upper: Any


class Tableau(NamedTuple):
    """What the pivots change."""

    M: Any  #         flat by rows
    side: Any  #      FREE, LOWER, UPPER or FIXED, for each row
    value: Any  #     x_i of a free row, y_i of a tight one
    rest: Any  #      y_i = 0 of a free row, x_i of a tight one
    noise: Any  #     the size of the numbers that value_i comes from
    depth: Any  #     the size of the numbers that M_ii comes from
    column: Any  #    scratch, n numbers each: a column of M,
    given: Any  #     what M or A is multiplied by,
    product: Any  #   and what comes out
    block: Any  #     scratch, n x n: a principal block while it is eliminated
    rows: Any  #      scratch, uint32: the rows of the block, and its pivots in order
    pivot_rows: Any
    pivot_columns: Any


def make_tableau(A: Any, side: Any, rest: Any) -> Tableau:
    """The tableau of no free row, which is A itself; `rebuild` brings the free rows of `side` in."""
    n = rest.size
    value, noise, depth, column, given, product = np.zeros((6, n))
    rows, pivot_rows, pivot_columns = np.zeros((3, n), dtype=np.uint32)
    block = np.empty(n * n)
    return Tableau(
        np.array(A),
        side,
        value,
        rest,
        noise,
        depth,
        column,
        given,
        product,
        block,
        rows,
        pivot_rows,
        pivot_columns,
    )


@inlined
def exchange(n, M, r, s):
    """Make row r of M the one that is given and column s the one that follows: a Gauss-Jordan step on M_rs."""
    inverse = 1.0 / M[r * n + s]
    for i in range(n):
        factor = M[i * n + s] * inverse
        if i != r and factor != 0.0:
            for j in range(n):
                M[i * n + j] -= factor * M[r * n + j]
            M[i * n + s] = factor
    for j in range(n):
        M[r * n + j] *= -inverse
    M[r * n + s] = inverse


@inlined
def move(n, tableau, r, step):
    """Change what is given in row r by `step`; all values follow."""
    for i in range(n):
        change = tableau.M[i * n + r] * step
        tableau.value[i] += change
        tableau.noise[i] = max(tableau.noise[i], max(abs(change), abs(tableau.value[i])))
    tableau.rest[r] += step


@inlined
def pivot(tableau, r, target, side):
    """Bring value_r to `target` and let it rest there: row r is on `side` from now on."""
    n = np.uint64(tableau.rest.size)
    M, depth = tableau.M, tableau.depth
    p = M[r * n + r]
    step = (target - tableau.value[r]) / p
    noise = max(abs(step), tableau.noise[r] / abs(p))
    move(n, tableau, r, step)
    tableau.value[r] = tableau.rest[r]
    tableau.rest[r] = target
    tableau.side[r] = side
    tableau.noise[r] = max(noise, abs(tableau.value[r]))
    for i in range(n):
        depth[i] = max(depth[i], abs(M[i * n + r] * (M[r * n + i] / p)))
    depth[r] = max(depth[r] / (p * p), abs(1.0 / p))
    exchange(n, M, r, r)


@inlined
def sign_of_pivot(data, tableau, r):
    """-1, 0 or 1: the sign of M_rr, which is zero if rounding of A in the last digits could make it so.

    A pivot that has lost many digits is computed again: d is how x moves with what is given in row r, refined in the
    free rows, and M_rr is then d_r of a free row and (A d)_r of a tight one.
    """
    n = np.uint64(data.b.size)
    M, side = tableau.M, tableau.side
    p = M[r * n + r]
    if abs(p) > LOST_DIGITS * tableau.depth[r]:
        return 1 if p > 0.0 else -1
    d, product, size = tableau.given, tableau.product, tableau.column
    moves = 1.0 if side[r] == FREE else 0.0  # (A d)_r of a free row
    for i in range(n):
        size[i] = M[i * n + r] if side[i] == FREE else 0.0
    for turn in range(REFINEMENTS + 1):
        for i in range(n):
            d[i] = size[i]
        d[r] += 1.0 - moves
        for i in range(n):
            product[i] = dot(data.A, i * n, d, n)
        if turn == REFINEMENTS:
            break
        for i in range(n):
            d[i] = product[i] if side[i] == FREE else 0.0
        d[r] -= moves
        for i in range(n):
            if side[i] == FREE:
                size[i] -= dot(M, i * n, d, n)
    p = d[r] if side[r] == FREE else product[r]
    for i in range(n):
        size[i] = absolute_dot(data.A, i * n, d, n)
    noise = abs(p) if side[r] == FREE else size[r]
    for i in range(n):
        if side[i] == FREE:
            noise += abs(M[r * n + i]) * size[i]
    if abs(p) <= ZERO_PIVOT * noise:
        return 0
    return 1 if p > 0.0 else -1


@inlined
def eliminate_block(tableau, m):
    """The rank of M in the first m of `rows` and columns alike, by complete pivoting on a copy.

    The right-hand side stands in `column`, one number for each of the m rows; where the rank is less than m, return as
    second number the largest part of it that no combination of the columns reaches.
    """
    n = np.uint64(tableau.rest.size)
    block, rows, right = tableau.block, tableau.rows, tableau.column
    pivot_rows, pivot_columns = tableau.pivot_rows, tableau.pivot_columns
    largest = 0.0
    for i in range(m):
        pivot_rows[i] = pivot_columns[i] = i
        for j in range(m):
            block[i * m + j] = tableau.M[np.uint64(rows[i]) * n + np.uint64(rows[j])]
            largest = max(largest, abs(block[i * m + j]))
    for k in range(m):
        best, best_row, best_column = 0.0, k, k
        for i in range(k, m):
            for j in range(k, m):
                entry = abs(block[np.uint64(pivot_rows[i]) * m + np.uint64(pivot_columns[j])])
                if entry > best:
                    best, best_row, best_column = entry, i, j
        if not best > ZERO_PIVOT * largest:
            unreached = 0.0
            for i in range(k, m):
                unreached = max(unreached, abs(right[np.uint64(pivot_rows[i])]))
            return k, unreached
        pivot_rows[k], pivot_rows[best_row] = pivot_rows[best_row], pivot_rows[k]
        pivot_columns[k], pivot_columns[best_column] = pivot_columns[best_column], pivot_columns[k]
        r, s = np.uint64(pivot_rows[k]), np.uint64(pivot_columns[k])
        for i in range(k + ONE, m):
            row = np.uint64(pivot_rows[i])
            factor = block[row * m + s] / block[r * m + s]
            if factor != 0.0:
                for j in range(m):
                    block[row * m + j] -= factor * block[r * m + j]
                block[row * m + s] = 0.0
                right[row] -= factor * right[r]
    return m, 0.0


@inlined
def exchange_block(tableau, m):
    """Exchange the first m of `rows`, all at once, with the pivots that `eliminate_block` found."""
    n = np.uint64(tableau.rest.size)
    M, rows, block, line = tableau.M, tableau.rows, tableau.block, tableau.column
    for k in range(m):
        r, s = np.uint64(rows[tableau.pivot_rows[k]]), np.uint64(rows[tableau.pivot_columns[k]])
        exchange(n, M, r, s)
    # Row r of M now speaks of x_s and column s of y_r: each goes to its own place.
    for k in range(m):
        r = np.uint64(rows[tableau.pivot_rows[k]])
        for j in range(n):
            block[k * n + j] = M[r * n + j]
    for k in range(m):
        s = np.uint64(rows[tableau.pivot_columns[k]])
        for j in range(n):
            M[s * n + j] = block[k * n + j]
    for i in range(n):
        for k in range(m):
            line[k] = M[i * n + np.uint64(rows[tableau.pivot_columns[k]])]
        for k in range(m):
            M[i * n + np.uint64(rows[tableau.pivot_rows[k]])] = line[k]


@kernel
def rebuild(data, tableau):
    """Compute M anew from A for the free rows of `side`, and the values with it; return the rank of A_FF.

    Where the rank is less than the number of free rows, M is A and the values are not to be used.
    """
    n = np.uint64(data.b.size)
    M, depth = tableau.M, tableau.depth
    M[:] = data.A
    m = np.uint64(0)
    for i in range(n):
        depth[i] = abs(M[i * n + i])
        if tableau.side[i] == FREE:
            tableau.rows[m] = i
            m += ONE
    rank, _ = eliminate_block(tableau, m)
    if rank == m:
        exchange_block(tableau, m)
        for i in range(n):
            depth[i] = max(depth[i], abs(M[i * n + i]))
            if tableau.side[i] == FREE:
                for k in range(m):
                    depth[i] = max(depth[i], abs(M[i * n + np.uint64(tableau.rows[k])]))
        evaluate(data, tableau)
    return rank


@kernel
def evaluate(data, tableau):
    """Compute the values anew, with iterative refinement of x_F by M_FF = A_FF^-1 (THESIS eq. 2.40).

    Return which share of the slack of free rows, that should be zero, M alone left over: how stale it is.
    """
    n = np.uint64(data.b.size)
    M, side, value, rest = tableau.M, tableau.side, tableau.value, tableau.rest
    given, product, size = tableau.given, tableau.product, tableau.column
    for i in range(n):
        given[i] = -data.b[i] if side[i] == FREE else rest[i]
    for i in range(n):
        if side[i] == FREE:
            value[i] = dot(M, i * n, given, n)  # x_F = M_FF (-b_F) + M_FT x_T
    share = 0.0
    for turn in range(REFINEMENTS + 1):
        for i in range(n):
            given[i] = value[i] if side[i] == FREE else rest[i]
        for i in range(n):
            product[i] = dot(data.A, i * n, given, n) + data.b[i]
        if turn == REFINEMENTS:
            break
        if turn == 0:
            for i in range(n):
                size[i] = absolute_dot(data.A, i * n, given, n) + abs(data.b[i])
                if side[i] == FREE and abs(product[i]) > share * size[i]:
                    share = abs(product[i]) / size[i]
        for i in range(n):
            given[i] = product[i] if side[i] == FREE else 0.0
        for i in range(n):
            if side[i] == FREE:
                value[i] -= dot(M, i * n, given, n)
    for i in range(n):
        tableau.noise[i] = abs(value[i]) if side[i] == FREE else size[i]
        if side[i] != FREE:
            value[i] = product[i]
    for i in range(n):
        given[i] = size[i] if side[i] == FREE else 0.0
    for i in range(n):
        tableau.noise[i] += absolute_dot(M, i * n, given, n)
    return share


@inlined
def absolute_dot(matrix, start, x, n):
    """The sum of |matrix[start + j] x_j|."""
    total = 0.0
    for j in range(n):
        total += abs(matrix[start + j] * x[j])
    return total


@inlined
def wrong_by(data, tableau, i):
    """By how much row i breaks THESIS eq. 2.39: x_i of a free row outside its bounds, or y_i of the wrong sign."""
    value, side = tableau.value[i], tableau.side[i]
    if side == FREE:
        return max(data.lower[i] - value, value - data.upper[i])
    if side == LOWER:
        return -value
    if side == UPPER:
        return value
    return 0.0
