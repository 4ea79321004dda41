"""The numbers of a supernodal LU factor L U = P A P^T of symmetric pattern and diagonal pivots, and solves with it.

The structure is that of the Cholesky factor of a matrix with the same pattern (`perp.linalg.symbolic`). Left-looking:
a supernode collects what its descendants subtract from it, two matrix products each, and is then factored as a dense
block. L is stored as there: entry (i, j) of the block of supernode s is at `values_start[s] + j rows(s) + i`. Of U the
same block lies transposed: U_ji, j a column of the supernode, i one of its rows, is at `values_start[s] + i columns(s)
+ j`. Both L and U are made of columns that way, and a solve needs no dot product.

Squares of BLOCK columns on the diagonal hold the *inverses* of their triangles L11 (of unit diagonal) and U11, zeros
included: a solve multiplies by them, where substitution would wait for one number after the other. An error bound of
such products has |X| |X^-1| in it, which no scaling of the rows of the triangle changes: pivots of very different size,
as interior points have them, do no harm (Higham 2002, sections 7.3 and 14.2).

Arrays: L, U have LANES numbers more than the blocks; `spread` has three numbers a row of the tallest supernode;
`inverse` has `INVERSE` numbers (best from a multiple of 64 bytes on); `work` has twice those of the largest block, and
for each right side the rows of the tallest supernode + 2 (BLOCK + LANES).
"""

from __future__ import annotations

from math import copysign, isfinite

import numpy as np

from perp.kernels.blas import add_product
from perp.kernels.by_address import CONSTANTS, INTEGER, INTEGERS, NUMBERS
from perp.kernels.compile import inlined, kernel
from perp.kernels.factors.lanes import (
    LANES,
    MANY,
    combine,
    combine_listed,
    combine_long,
    combine_long_listed,
    copy_run,
    subtract_multiples,
    subtract_run,
)

BLOCK = 32
"""Columns that are eliminated one by one before the next ones are brought up to date by a matrix product."""

SIDES = 4
"""Right sides that are solved for together."""

SQUARE, UPPER, COLUMN = BLOCK * BLOCK, 2 * BLOCK * BLOCK, 3 * BLOCK * BLOCK
"""Places in `inverse`: the square itself is at 0, L11^-1 at SQUARE, U11^-1 at UPPER, a column of L11 at COLUMN."""

INVERSE = COLUMN + BLOCK

PERTURBED, SIGN = 0, 1
"""Places in `found`: how many pivots were replaced (-1: a number is not finite, or a pivot is 0), and the sign of the
determinant, +1 or -1."""

FACTOR = (INTEGER, *[CONSTANTS] * 4, *[INTEGERS] * 6, *[NUMBERS] * 5, *[INTEGERS] * 2, *[NUMBERS] * 4, INTEGERS)
FACTOR_SYMMETRIC = (
    INTEGER,
    *[CONSTANTS] * 4,
    *[INTEGERS] * 6,
    *[NUMBERS] * 4,
    *[INTEGERS] * 2,
    *[NUMBERS] * 3,
    INTEGERS,
)
SOLVE = (*[CONSTANTS] * 4, *[NUMBERS] * 4)
"""The types of the arguments of `factor`, `factor_symmetric` and `solve`, for those who call them by address."""

_LANES, _BLOCK = np.uint64(LANES), np.uint64(BLOCK)


@inlined
def _eliminate(S, size, floor, floor_at, found):
    """L11 U11 of the square at the begin of S, in place, and the inverses of both beside it; ld = BLOCK for all.

    L11^-1 comes with the elimination: what is done to the columns of the square is done to those of the identity.
    U11^-1 column after column: X_j = -(sum over k < j of X_k U_kj) / U_jj.
    """
    n, padded = np.uint64(size), np.uint64((size + LANES - 1) // LANES * LANES)
    for e in range(np.uint64(SQUARE), np.uint64(SQUARE) + n * _BLOCK):
        S[e] = 0.0
    for e in range(np.uint64(UPPER), np.uint64(UPPER) + n * _BLOCK):
        S[e] = 0.0
    for j in range(n):
        column = j * _BLOCK
        pivot, least = S[column + j], floor[np.uint64(floor_at) + j]
        if abs(pivot) <= least:
            pivot = copysign(least, pivot)
            found[PERTURBED] += 1
        if pivot < 0.0:
            found[SIGN] = -found[SIGN]
        reciprocal = 1.0 / pivot
        if not (isfinite(pivot) and isfinite(reciprocal)):
            found[PERTURBED] = -1
            return
        S[np.uint64(SQUARE) + column + j] = 1.0
        begin = j - j % _LANES
        for i in range(begin, padded):
            S[np.uint64(COLUMN) + i] = S[column + i] * reciprocal if i > j else 0.0
        for at in range(begin, padded, _LANES):
            run, right = np.uint64(COLUMN) + at, column + _BLOCK
            subtract_multiples(S, right + at, _BLOCK, right + j, _BLOCK, n - j - np.uint64(1), run)
            left = np.uint64(SQUARE)
            subtract_multiples(S, left + at, _BLOCK, left + j, _BLOCK, j + np.uint64(1), run)
        out = np.uint64(UPPER) + column
        for at in range(np.uint64(0), j, _LANES):
            source = np.uint64(UPPER) + at * _BLOCK + at
            combine(1, S, source, _BLOCK, S, floor, column + at, 0, j - at, S, out + at, 0)
            for i in range(at, at + _LANES):
                S[out + i] *= -reciprocal
        S[out + j], S[column + j] = reciprocal, pivot  # not earlier: runs are read from there


@inlined
def _factor_block(symmetric, address, A, A_u, height, width, floor, floor_at, L, U, at, inverse, work, found):
    """Factor the dense block whose columns begin at A of `work` and whose rows begin at A_u; to L and U from `at` on.

    The whole square on the diagonal is given in the columns. Of a symmetric block the rows are not looked at.
    """
    if not symmetric:
        for c in range(BLOCK, width):
            copy_run(work, A_u + c * width, work, A + c * height, c // BLOCK * BLOCK)
    for j in range(0, width, BLOCK):
        size = min(BLOCK, width - j)
        done = j + size
        below = height - done
        here, right = j * height + j, done * width + j
        if j > 0:
            # A[j:, j:done] -= L[j:, :j] U[:j, j:done]; A[j:done, done:] -= L[j:done, :j] U[:j, done:]
            add_product(
                *(address, height - j, size, j, -1.0, L, at + j, height, U, at + j * width, width),
                *(1.0, work, A + here, height),
            )
            if below > 0 and not symmetric:
                add_product(
                    *(address, size, below, j, -1.0, L, at + j, height, U, at + done * width, width),
                    *(1.0, work, A_u + right, width),
                )
        for c in range(size):
            copy_run(inverse, c * BLOCK, work, A + here + c * height, size)
        _eliminate(inverse, size, floor, floor_at + j, found)
        if found[PERTURBED] < 0:
            return
        for c in range(size):
            copy_run(L, at + here + c * height, inverse, SQUARE + c * BLOCK, size)
            copy_run(U, at + j * width + j + c * width, inverse, UPPER + c * BLOCK, size)
        if below > 0:
            # L21 = A21 U11^-1, U12 = L11^-1 A12
            add_product(
                *(address, below, size, size, 1.0, work, A + here + size, height, inverse, UPPER, BLOCK),
                *(0.0, L, at + here + size, height),
            )
            if symmetric:
                _transpose(L, at + here + size, height, below, size, inverse, U, at + right, width)
            else:
                add_product(
                    *(address, size, below, size, 1.0, inverse, SQUARE, BLOCK, work, A_u + right, width),
                    *(0.0, U, at + right, width),
                )


@inlined
def _transpose(L, at, height, below, size, square, U, to, width):
    """U12 = D L21^T, where D are the pivots on the diagonal of `square`."""
    begin, tall, out, wide, step = (
        np.uint64(at),
        np.uint64(height),
        np.uint64(to),
        np.uint64(width),
        np.uint64(BLOCK + 1),
    )
    for i in range(np.uint64(below)):
        for j in range(np.uint64(size)):
            U[out + i * wide + j] = L[begin + j * tall + i] * square[j * step]


@inlined
def _place_numbers(symmetric, start, width, base, height, column_start, target, lower, upper, A, A_u, work):
    """Numbers of A in the block: those of its square and below it to the columns at A, to the right of it to A_u."""
    begin, tall, wide = np.uint64(base), np.uint64(height), np.uint64(width)
    columns, rows = np.uint64(A), np.uint64(A_u)
    for e in range(columns, columns + tall * wide):
        work[e] = 0.0
    if not symmetric:
        for e in range(rows + wide * wide, rows + tall * wide):
            work[e] = 0.0
    for j in range(wide):
        column = begin + j * tall
        first, end = column_start[np.uint64(start) + j], column_start[np.uint64(start) + j + np.uint64(1)]
        for e in range(np.uint64(first), np.uint64(end)):
            place = np.uint64(target[e])
            i = place - column
            if i < wide:
                work[columns + i * tall + j] = upper[e]
            elif not symmetric:
                work[rows + i * wide + j] = upper[e]
            work[columns + (place - begin)] = lower[e]


@inlined
def _find_runs(rows, first, end, cut, position, runs):
    """Runs of rows[first:end] whose positions have no gap, none across `cut`; returns how many lie before it, and all.

    Of each run three numbers: where it begins, counted from `first`, its position, and its length.
    """
    count, before, i = 0, 0, first
    while i < end:
        if i == cut:
            before = count
        begin, place = i, position[np.uint64(rows[np.uint64(i)])]
        i += 1
        while i < end and i != cut and position[np.uint64(rows[np.uint64(i)])] == place + i - begin:
            i += 1
        runs[3 * count], runs[3 * count + 1], runs[3 * count + 2] = begin - first, place, i - begin
        count += 1
    return (before if cut < end else count), count


@inlined
def _factor(
    symmetric,
    address,
    super_start,
    rows_start,
    rows,
    values_start,
    update_start,
    giver,
    first_row,
    end_row,
    column_start,
    target,
    lower,
    upper,
    floor,
    L,
    U,
    position,
    spread,
    product,
    product_u,
    inverse,
    work,
    found,
):
    """`factor`, or `factor_symmetric` where told: then `upper` is `lower`, and `product_u` is not looked at."""
    found[PERTURBED], found[SIGN] = 0, 1
    for s in range(super_start.size - 1):
        start, width = super_start[s], super_start[s + 1] - super_start[s]
        height, base = rows_start[s + 1] - rows_start[s], values_start[s]
        A, A_u = 0, height * width
        for i in range(height):
            position[rows[rows_start[s] + i]] = i
        _place_numbers(symmetric, start, width, base, height, column_start, target, lower, upper, A, A_u, work)
        for update in range(update_start[s], update_start[s + 1]):
            d, low, high = giver[update], first_row[update], end_row[update]
            d_height, d_width = rows_start[d + 1] - rows_start[d], super_start[d + 1] - super_start[d]
            m, n, rest = d_height - low, high - low, d_height - high
            of_L, of_U, d_rows = values_start[d] + low, values_start[d] + low * d_width, rows_start[d] + low
            right = of_U + n * d_width
            top = position[rows[d_rows]]
            if position[rows[d_rows + m - 1]] - top == m - 1:  # rows without a gap: no detour
                add_product(
                    *(address, m, n, d_width, -1.0, L, of_L, d_height, U, of_U, d_width),
                    *(1.0, work, A + top * height + top, height),
                )
                if rest > 0 and not symmetric:
                    add_product(
                        *(address, n, rest, d_width, -1.0, L, of_L, d_height, U, right, d_width),
                        *(1.0, work, A_u + (top + n) * width + top, width),
                    )
                continue
            add_product(address, m, n, d_width, 1.0, L, of_L, d_height, U, of_U, d_width, 0.0, product, 0, m)
            if rest > 0 and not symmetric:
                add_product(address, n, rest, d_width, 1.0, L, of_L, d_height, U, right, d_width, 0.0, product_u, 0, n)
            before, runs = _find_runs(rows, d_rows, d_rows + m, d_rows + n, position, spread)
            for q in range(before):
                for j in range(spread[3 * q + 2]):
                    to, source = A + (spread[3 * q + 1] + j) * height, (spread[3 * q] + j) * m
                    for r in range(runs):
                        subtract_run(work, to + spread[3 * r + 1], product, source + spread[3 * r], spread[3 * r + 2])
            if symmetric:
                continue
            for q in range(before, runs):
                for i in range(spread[3 * q + 2]):
                    to, source = A_u + (spread[3 * q + 1] + i) * width, (spread[3 * q] - n + i) * n
                    for r in range(before):
                        subtract_run(work, to + spread[3 * r + 1], product_u, source + spread[3 * r], spread[3 * r + 2])
        _factor_block(symmetric, address, A, A_u, height, width, floor, start, L, U, base, inverse, work, found)
        if found[PERTURBED] < 0:
            return


@kernel
def factor(
    address,
    super_start,
    rows_start,
    rows,
    values_start,
    update_start,
    giver,
    first_row,
    end_row,
    column_start,
    target,
    lower,
    upper,
    floor,
    L,
    U,
    position,
    spread,
    product,
    product_u,
    inverse,
    work,
    found,
):
    """L U = P A P^T; lower[e] = (P A P^T)_ij as in `Plan.lower`, upper[e] = (P A P^T)_ji.

    A pivot with |pivot| <= floor_j becomes ± floor_j, with the sign that it has. `found` says how many, and the sign
    of the determinant.
    """
    _factor(
        False,
        *(address, super_start, rows_start, rows, values_start),
        *(update_start, giver, first_row, end_row, column_start, target),
        *(lower, upper, floor, L, U, position, spread, product, product_u, inverse, work, found),
    )


@kernel
def factor_symmetric(
    address,
    super_start,
    rows_start,
    rows,
    values_start,
    update_start,
    giver,
    first_row,
    end_row,
    column_start,
    target,
    lower,
    floor,
    L,
    U,
    position,
    spread,
    product,
    inverse,
    work,
    found,
):
    """The same for a symmetric matrix, L U = L D L^T, in half the work; solves are those of the unsymmetric one.

    Quicker to solve with than the Cholesky factor, and as quick to make. The sign in `found` is that of the
    determinant, so that -1 says that the matrix is not positive definite; +1 does not say that it is.
    """
    _factor(
        True,
        *(address, super_start, rows_start, rows, values_start),
        *(update_start, giver, first_row, end_row, column_start, target),
        *(lower, lower, floor, L, U, position, spread, product, product, inverse, work, found),
    )


@inlined
def _forward(sides, start, width, height, base, listed, rows, L, x, stride, work):
    """L^-1 for one supernode, and what it subtracts from later rows."""
    apart = height + LANES
    for j in range(0, width, BLOCK):
        size = min(BLOCK, width - j)
        here, done = base + j * height + j, j + size
        for at in range(0, size, LANES):  # x_1 = L11^-1 x_1
            combine(sides, L, here + at, height, x, rows, start + j, stride, min(size, at + LANES), work, at, apart)
        for c in range(np.uint64(sides)):
            to, source = np.uint64(start + j) + c * np.uint64(stride), c * np.uint64(apart)
            for i in range(np.uint64(size)):
                x[to + i] = work[source + i]
        below = height - done
        many = below - below % MANY
        for at in range(0, many, MANY):  # x_2 -= L21 x_1
            combine_long(sides, L, here + size + at, height, x, rows, start + j, stride, size, work, at, apart)
        for at in range(many, below, LANES):
            combine(sides, L, here + size + at, height, x, rows, start + j, stride, size, work, at, apart)
        for c in range(np.uint64(sides)):
            to, source = c * np.uint64(stride), c * np.uint64(apart)
            for i in range(np.uint64(below)):
                x[to + np.uint64(rows[np.uint64(listed + done) + i])] -= work[source + i]


@inlined
def _backward(sides, start, width, height, base, listed, rows, U, x, stride, work):
    """U^-1 for one supernode, whose later rows are done."""
    apart = 2 * (BLOCK + LANES)
    for j in range(BLOCK * ((width - 1) // BLOCK), -1, -BLOCK):
        size = min(BLOCK, width - j)
        done = j + size
        right, below, first = base + done * width + j, height - done, listed + done
        if size == MANY:  # x_1 -= U12 x_2
            combine_long_listed(sides, U, right, width, x, rows, first, stride, below, work, 0, apart)
        else:
            for at in range(0, size, LANES):
                combine_listed(sides, U, right + at, width, x, rows, first, stride, below, work, at, apart)
        for c in range(np.uint64(sides)):
            to, source = c * np.uint64(apart), np.uint64(start + j) + c * np.uint64(stride)
            for i in range(np.uint64(size)):
                work[to + i] = x[source + i] - work[to + i]
        for at in range(0, size, LANES):  # x_1 = U11^-1 x_1
            square, out = base + (j + at) * width + j + at, BLOCK + LANES + at
            combine(sides, U, square, width, work, rows, at, apart, size - at, work, out, apart)
        for c in range(np.uint64(sides)):
            to, source = np.uint64(start + j) + c * np.uint64(stride), c * np.uint64(apart) + np.uint64(BLOCK + LANES)
            for i in range(np.uint64(size)):
                x[to + i] = work[source + i]


@kernel
def solve(super_start, rows_start, rows, values_start, L, U, x, work):
    """x = (L U)^-1 x, in the order of the factor."""
    last = super_start.size - 1
    for s in range(last):
        start, width, height = super_start[s], super_start[s + 1] - super_start[s], rows_start[s + 1] - rows_start[s]
        _forward(1, start, width, height, values_start[s], rows_start[s], rows, L, x, 0, work)
    for s in range(last - 1, -1, -1):
        start, width, height = super_start[s], super_start[s + 1] - super_start[s], rows_start[s + 1] - rows_start[s]
        _backward(1, start, width, height, values_start[s], rows_start[s], rows, U, x, 0, work)


@kernel
def solve_many(super_start, rows_start, rows, values_start, L, U, X, count, work):
    """X = (L U)^-1 X for `count` right sides, one after the other in X; up to SIDES of them share what is read of L, U.

    `work` has room for min(count, SIDES) times what `solve` needs.
    """
    last, n = super_start.size - 1, super_start[-1]
    for first in range(0, count, SIDES):
        sides = min(SIDES, count - first)
        x = X[first * n :]
        for s in range(last):
            start, width = super_start[s], super_start[s + 1] - super_start[s]
            height = rows_start[s + 1] - rows_start[s]
            _forward(sides, start, width, height, values_start[s], rows_start[s], rows, L, x, n, work)
        for s in range(last - 1, -1, -1):
            start, width = super_start[s], super_start[s + 1] - super_start[s]
            height = rows_start[s + 1] - rows_start[s]
            _backward(sides, start, width, height, values_start[s], rows_start[s], rows, U, x, n, work)
