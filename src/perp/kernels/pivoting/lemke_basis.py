"""The basis of Lemke's method in revised form: only the inverse of a small matrix is kept, never a tableau.

The unknowns are x_0, ..., x_{n-1} and the artificial x_n = z0, whose column in the matrix is the covering vector d:

    y = A x + d z0 + b,        `matrix` holds [A d], column after column.

COLUMNS lists the basic x (among them z0), ROWS the equations whose y is nonbasic, that is zero; there are equally many,
and G = [A d][ROWS, COLUMNS] is square. An x that is not basic rests at its lower bound or, where `at_upper`, at its
upper one; these make up the offset h = b + sum of A_:j bound_j, so that

    x_C = -G^-1 h_R,        y = h + [A d]_:C x_C.

Variables are numbered 0..n for x and n+1+i for y_i. Everything is changed in place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from perp.kernels.compile import inlined, part

ZERO, ONE, EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
ABSENT = np.uint32(0xFFFFFFFF)

# Rows of `data`, which stay as they are, each n + 1 long:
CONSTANT = 0  #     b
LOWER = 1  #        the lower bound of each x, -inf for rows without bounds; 0 for z0
UPPER = 2  #        the upper bound, inf where there is none
REACH = 3  #        the largest |A_ij| of each row: what rounding errors are measured by
DATA = 4

# Rows of `lists`:
COLUMNS = 0
ROWS = 1
PLACE_X = 2  #      where in COLUMNS, or ABSENT
PLACE_Y = 3  #      where in ROWS, or ABSENT
ORDER = 4  #        0, 1, 2, ...: the columns of `inverse` and `factors`
PIVOTING = 5  #     the order of the rows in the factors
LISTS = 6

# Rows of `vectors`:
VALUE = 0  #        of the basic x, in the order of COLUMNS
SLACK = 1  #        y, zero for ROWS
OFFSET = 2  #       h
STEP_X = 3  #       the direction of the basic x, in the order of COLUMNS
STEP_Y = 4  #       and that of y
TRIAL_X = 5  #      the same for a perturbation
TRIAL_Y = 6
WEIGHTS = 7
SPEED = 8  #        how fast a variable nears the bound that it moves to; 0 where it moves to none
ROOM = 9  #         how far it has to go
CHANGE = 10  #      how much farther after a perturbation
SCALE = 11  #       the largest numbers that a variable was added up from: its rounding errors are shares of it
VECTORS = 12

# Entries of `whole`:
SIZE = 0  #         how many columns are basic
ENTERING = 1  #     the variable that enters next
SIGN = 2  #         1 if it rises, -1 if it falls: x from its upper bound, or y of a row whose x is there
AGE = 3  #          pivots since the inverse was computed from scratch
BEGUN = 4  #        whether z0 has entered
VERDICT = 5  #      one of the four below
PIVOTS = 6
INVERSIONS = 7
TIES = 8  #         ratio tests that the lexicographic rule had to decide
WHOLE = 9

GOING_ON, SOLVED, RAY, BROKEN = 0, 1, 2, 3

LEAST_AGE = 100
"""The inverse is computed anew after so many pivots, or after twice as many as it has rows: the cost is shared."""

SMALL = 1e-11
"""A speed below this share of the terms that it is the sum of is taken for zero."""

DOUBTFUL = 1e-8
"""A pivot below this share is taken only from an inverse that is fresh."""

DRIFT = 1e-10
"""How far a direction may fail its own equations, as a share of their terms, before the inverse is computed anew."""

HOPELESS = 1e-4
"""A direction that fails its equations by this share, although the inverse is fresh, is none."""

TIE = 1e-13
"""Variables that would end nearer to their bound than this share of their scale reach it together."""

LEXICOGRAPHIC = 1e-9
"""Perturbations whose effects differ by less than this share are taken to have the same effect."""

SINGULAR = 1e-14
"""A pivot of the factorisation below this share of the largest entry of its column is zero."""


class Basis(NamedTuple):
    """The arrays of one run with n rows. They are few and packed: every one more costs at each call of a kernel."""

    matrix: NDArray[np.float64]  #      [A d] by columns, (n + 1) n
    inverse: NDArray[np.float64]  #     G^-1 by columns: its columns belong to ROWS, its rows to COLUMNS
    factors: NDArray[np.float64]  #     L and U of G, while it is being inverted
    data: NDArray[np.float64]
    lists: NDArray[np.uint32]  #        as long as a column of `inverse` is apart from the next
    vectors: NDArray[np.float64]  #     2 n + 1 long: some have an entry for each variable
    at_upper: NDArray[np.bool_]
    whole: NDArray[np.int64]


# ------------------------------------------------------------------------------------------------------------ products


@part
def add_columns(sign, matrix, stride, chosen, weights, start, stop, first, last, out):
    """out[first:last] += sign * sum of weights[k] * column chosen[k], k = start..stop-1, eight columns a pass.

    The eight products are added in a fixed order for each entry: that fills vector registers, and repeats bit by bit.
    """
    end = stop - ONE
    for k in range(start, stop, EIGHT):
        k1, k2, k3, k4 = k + np.uint64(1), k + np.uint64(2), k + np.uint64(3), k + np.uint64(4)
        k5, k6, k7 = k + np.uint64(5), k + np.uint64(6), k + np.uint64(7)
        w0 = sign * weights[k]
        w1 = sign * weights[k1] if k1 < stop else 0.0
        w2 = sign * weights[k2] if k2 < stop else 0.0
        w3 = sign * weights[k3] if k3 < stop else 0.0
        w4 = sign * weights[k4] if k4 < stop else 0.0
        w5 = sign * weights[k5] if k5 < stop else 0.0
        w6 = sign * weights[k6] if k6 < stop else 0.0
        w7 = sign * weights[k7] if k7 < stop else 0.0
        c0 = stride * np.uint64(chosen[k])
        c1 = stride * np.uint64(chosen[min(k1, end)])
        c2 = stride * np.uint64(chosen[min(k2, end)])
        c3 = stride * np.uint64(chosen[min(k3, end)])
        c4 = stride * np.uint64(chosen[min(k4, end)])
        c5 = stride * np.uint64(chosen[min(k5, end)])
        c6 = stride * np.uint64(chosen[min(k6, end)])
        c7 = stride * np.uint64(chosen[min(k7, end)])
        for i in range(first, last):
            pair = (w0 * matrix[c0 + i] + w1 * matrix[c1 + i]) + (w2 * matrix[c2 + i] + w3 * matrix[c3 + i])
            rest = (w4 * matrix[c4 + i] + w5 * matrix[c5 + i]) + (w6 * matrix[c6 + i] + w7 * matrix[c7 + i])
            out[i] += pair + rest


# ---------------------------------------------------------------------------------------------- the size of the terms


@inlined
def dimensions(basis):
    """n, the number of basic columns, and the distance from one column of the inverse to the next."""
    return np.uint64(basis.at_upper.size), np.uint64(basis.whole[SIZE]), np.uint64(basis.lists.shape[1])


@inlined
def extent(basis, variable, x):
    """The largest |x_j| among basic columns, the moving `variable` counted as one; and the same of z0."""
    n, m, _ = dimensions(basis)
    largest = 1.0 if variable < n else 0.0
    artificial = 1.0 if variable == n else 0.0
    for k in range(m):
        if basis.lists[COLUMNS, k] == n:
            artificial = abs(x[k])
        else:
            largest = max(largest, abs(x[k]))
    return largest, artificial


@inlined
def terms(basis, i, largest, artificial):
    """What the products are like that add up to (A x + d z0)_i: rounding errors are shares of it."""
    n = np.uint64(basis.at_upper.size)
    return basis.data[REACH, i] * largest + abs(basis.matrix[n * n + i]) * artificial


# ---------------------------------------------------------------------------------------------- inverting from scratch


@inlined
def eliminate(factors, stride, order, m, first, last, w):
    """w <- L^-1 w for the pivots first..last-1: eight of them among themselves, then from all rows below at once."""
    for start in range(first, last, EIGHT):
        stop = min(start + EIGHT, last)
        for k in range(start, stop):
            for i in range(k + ONE, stop):
                w[i] -= factors[stride * k + i] * w[k]
        add_columns(-1.0, factors, stride, order, w, start, stop, stop, m, w)


@inlined
def substitute_back(factors, stride, order, m, w):
    """w <- U^-1 w, eight rows at a time from below."""
    stop = m
    while stop > ZERO:
        start = stop - min(EIGHT, stop)
        for back in range(stop - start):
            k = stop - ONE - back
            w[k] /= factors[stride * k + k]
            for i in range(start, k):
                w[i] -= factors[stride * k + i] * w[k]
        add_columns(-1.0, factors, stride, order, w, start, stop, ZERO, start, w)
        stop = start


@inlined
def factorise(basis):
    """P G = L U, column by column with partial pivoting; False where a column depends on those before it."""
    n, m, stride = dimensions(basis)
    factors, w = basis.factors, basis.vectors[WEIGHTS]
    columns, rows, order, pivoting = basis.lists[COLUMNS], basis.lists[ROWS], basis.lists[ORDER], basis.lists[PIVOTING]
    for i in range(m):
        pivoting[i] = i
    for j in range(m):
        start = n * np.uint64(columns[j])
        largest = 0.0
        for i in range(m):
            w[i] = basis.matrix[start + np.uint64(rows[pivoting[i]])]
            largest = max(largest, abs(w[i]))
        eliminate(factors, stride, order, m, ZERO, j, w)
        best = j
        for i in range(j + ONE, m):
            if abs(w[i]) > abs(w[best]):
                best = i
        if not abs(w[best]) > SINGULAR * largest:
            return False
        if best != j:
            pivoting[j], pivoting[best] = pivoting[best], pivoting[j]
            w[j], w[best] = w[best], w[j]
            for k in range(j):
                p, q = stride * k + j, stride * k + best
                factors[p], factors[q] = factors[q], factors[p]
        for i in range(j + ONE):
            factors[stride * j + i] = w[i]
        for i in range(j + ONE, m):
            factors[stride * j + i] = w[i] / w[j]
    return True


@part
def invert(basis):
    """G^-1 from G itself: the columns of U^-1 L^-1 P; then x_C and y anew, so that no old rounding error is left."""
    _, m, stride = dimensions(basis)
    if not factorise(basis):
        return False
    w, order = basis.vectors[WEIGHTS], basis.lists[ORDER]
    for k in range(m):
        for i in range(m):
            w[i] = 0.0
        w[k] = 1.0
        eliminate(basis.factors, stride, order, m, k, m, w)
        substitute_back(basis.factors, stride, order, m, w)
        start = stride * np.uint64(basis.lists[PIVOTING, k])
        for i in range(m):
            basis.inverse[start + i] = w[i]
    basis.whole[AGE] = 0
    basis.whole[INVERSIONS] += 1
    evaluate(basis)
    return True


@part
def evaluate(basis):
    """x_C = -G^-1 h_R with iterative refinement, and y = h + [A d]_:C x_C.

    Each pass adds -G^-1 times what the equations still lack. Passes go on while that halves; as it is computed from the
    matrix itself, errors of the inverse do no harm. Returns what is lacking in the end, as a share of the terms that
    should add up to zero.
    """
    n, m, stride = dimensions(basis)
    columns, rows = basis.lists[COLUMNS], basis.lists[ROWS]
    value, slack, offset, w = (
        basis.vectors[VALUE], basis.vectors[SLACK], basis.vectors[OFFSET], basis.vectors[WEIGHTS],
    )  # fmt: skip
    for i in range(n):
        offset[i] = basis.data[CONSTANT, i]
    for j in range(n):
        if basis.lists[PLACE_X, j] == ABSENT:
            shift_offset(basis, j, resting(basis, j))
    for k in range(m):
        value[k] = 0.0
    lacking = np.inf
    for _ in range(5):
        for i in range(n):
            slack[i] = offset[i]
        add_columns(1.0, basis.matrix, n, columns, value, ZERO, m, ZERO, n, slack)
        most = 0.0
        for k in range(m):
            w[k] = slack[rows[k]]
            most = max(most, abs(w[k]))
        if not most < 0.5 * lacking:
            break
        lacking = most
        add_columns(-1.0, basis.inverse, stride, basis.lists[ORDER], w, ZERO, m, ZERO, m, value)

    scale = basis.vectors[SCALE]
    largest, artificial = extent(basis, n + ONE, value)
    for i in range(n):
        scale[n + ONE + i] = terms(basis, i, largest, artificial) + abs(offset[i])
    for k in range(m):
        w[k] = 0.0
    worst = 0.0
    for r in range(m):
        i = np.uint64(rows[r])
        if not abs(slack[i]) <= worst * scale[n + ONE + i]:
            worst = abs(slack[i]) / scale[n + ONE + i]
        slack[i] = 0.0
        for k in range(m):
            w[k] += abs(basis.inverse[stride * r + k]) * abs(offset[i])
    for k in range(m):
        scale[columns[k]] = max(w[k], abs(value[k]))
    return worst


@inlined
def resting(basis, j):
    """Where x_j is while it is not basic."""
    return basis.data[UPPER, j] if j < basis.at_upper.size and basis.at_upper[j] else basis.data[LOWER, j]


@inlined
def shift_offset(basis, j, amount):
    """h += amount A_:j."""
    n = np.uint64(basis.at_upper.size)
    if amount != 0.0:
        for i in range(n):
            basis.vectors[OFFSET, i] += amount * basis.matrix[n * j + i]
