"""Lemke's pivots in revised form: only the inverse of the small basis matrix is kept, never a tableau.

The unknowns are x_0, ..., x_{n-1} and the artificial x_n = z0, whose column in the matrix is the covering vector d:

    y = A x + d z0 + b,        `matrix` holds [A d], column after column.

COLUMNS lists the basic x (among them z0), ROWS the equations whose y is nonbasic, that is zero; there are equally many,
and G = [A d][ROWS, COLUMNS] is square. An x that is not basic rests at its lower bound or, where `at_upper`, at its
upper one; these make up the offset h = b + sum of A_:j bound_j, so that

    x_C = -G^-1 h_R,        y = h + [A d]_:C x_C.

Variables are numbered 0..n for x and n+1+i for y_i. Everything is changed in place; many pivots are one call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from perp.kernels.compile import inlined, kernel, part
from perp.kernels.dense import dot

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


# ----------------------------------------------------------------------------------------------------------- directions


@part
def follow(basis, variable, sign, step_x, step_y):
    """How the basic variables answer when `variable` moves by `sign`; returns how far their equations are violated.

        x_e:  G dx = -sign A_Re,  dy = [A d]_:C dx + sign A_:e          y_e:  G dx = sign e_place,  dy = [A d]_:C dx

    dy of a row with y nonbasic must come out as zero (as `sign` for y_e itself); what it is instead tells how good the
    inverse is, and comes for free. Returned as a share of the terms that add up to it.
    """
    n, m, stride = dimensions(basis)
    columns, rows, w = basis.lists[COLUMNS], basis.lists[ROWS], basis.vectors[WEIGHTS]
    if variable <= n:
        start = n * variable
        for k in range(m):
            w[k] = basis.matrix[start + np.uint64(rows[k])]
            step_x[k] = 0.0
        add_columns(-sign, basis.inverse, stride, basis.lists[ORDER], w, ZERO, m, ZERO, m, step_x)
        for i in range(n):
            step_y[i] = sign * basis.matrix[start + i]
    else:
        own = variable - n - ONE
        start = stride * np.uint64(basis.lists[PLACE_Y, own])
        for k in range(m):
            step_x[k] = sign * basis.inverse[start + k]
        for i in range(n):
            step_y[i] = 0.0
        step_y[own] = -sign
    add_columns(1.0, basis.matrix, n, columns, step_x, ZERO, m, ZERO, n, step_y)
    largest, artificial = extent(basis, variable, step_x)
    worst = 0.0
    for k in range(m):
        i = np.uint64(rows[k])
        size = terms(basis, i, largest, artificial)
        if not abs(step_y[i]) <= worst * size:
            worst = abs(step_y[i]) / size
    return worst


@part
def correct(basis, variable, sign, step_x, step_y):
    """One step of iterative refinement of the direction that `follow` found."""
    n, m, stride = dimensions(basis)
    w = basis.vectors[WEIGHTS]
    for k in range(m):
        w[k] = step_y[basis.lists[ROWS, k]]
    add_columns(-1.0, basis.inverse, stride, basis.lists[ORDER], w, ZERO, m, ZERO, m, step_x)
    for i in range(n):
        step_y[i] = sign * basis.matrix[n * variable + i] if variable <= n else 0.0
    add_columns(1.0, basis.matrix, n, basis.lists[COLUMNS], step_x, ZERO, m, ZERO, n, step_y)


# ---------------------------------------------------------------------------------------------------------- ratio test


@inlined
def measure(basis, variable):
    """Fill SPEED and ROOM of every variable that the direction moves towards a bound."""
    n, m, _ = dimensions(basis)
    step_x, step_y, value, slack = (
        basis.vectors[STEP_X], basis.vectors[STEP_Y], basis.vectors[VALUE], basis.vectors[SLACK],
    )  # fmt: skip
    speed, room, lower, upper = basis.vectors[SPEED], basis.vectors[ROOM], basis.data[LOWER], basis.data[UPPER]
    largest, artificial = extent(basis, variable, step_x)
    for j in range(n + ONE):
        speed[j] = 0.0
    for k in range(m):
        j = np.uint64(basis.lists[COLUMNS, k])
        if step_x[k] < -SMALL * largest and lower[j] > -np.inf:
            speed[j], room[j] = -step_x[k], value[k] - lower[j]
        elif step_x[k] > SMALL * largest and upper[j] < np.inf:
            speed[j], room[j] = step_x[k], upper[j] - value[k]
    for i in range(n):
        side = -1.0 if basis.at_upper[i] else 1.0
        towards = -side * step_y[i]
        speed[n + ONE + i] = towards if towards > SMALL * terms(basis, i, largest, artificial) else 0.0
        room[n + ONE + i] = side * slack[i]
    for k in range(m):
        speed[n + ONE + np.uint64(basis.lists[ROWS, k])] = 0.0
    if variable <= n and upper[variable] < np.inf:  # the entering x may come to its own other bound first
        speed[variable], room[variable] = 1.0, upper[variable] - lower[variable]
        basis.vectors[SCALE, variable] = room[variable]


@part
def find_blocking(basis, variable):
    """The variable that reaches its bound first, ABSENT if none does; ties are decided lexicographically.

    While z0 enters, ROOM is negative where the start is infeasible, and the least ratio is that of the row that must be
    lifted most. Afterwards a room that is negative, or as small as rounding errors are, counts as zero.
    """
    n = np.uint64(basis.at_upper.size)
    speed, room, scale = basis.vectors[SPEED], basis.vectors[ROOM], basis.vectors[SCALE]
    measure(basis, variable)
    least, first = np.inf, np.uint64(ABSENT)
    for code in range(ONE + n + n):
        if speed[code] > 0.0:
            if basis.whole[BEGUN] and room[code] <= TIE * scale[code]:
                room[code] = 0.0
            if room[code] / speed[code] < least:
                least, first = room[code] / speed[code], code
    if first == ABSENT:
        return first

    number = np.int64(0)
    for code in range(ONE + n + n):
        if speed[code] > 0.0:
            if room[code] - least * speed[code] <= TIE * scale[code]:
                number += 1
            else:
                speed[code] = 0.0
    if number == 1:
        return first
    if speed[n] > 0.0:  # z0 can reach zero: done
        return n
    basis.whole[TIES] += 1
    return break_tie(basis, variable, number)


@inlined
def break_tie(basis, variable, number):
    """Perturb b_0 by e, b_1 by e^2, ... and then the upper bounds: whoever comes first for small e > 0 leaves.

    This is the lexicographic comparison of the rows of the basis inverse, divided by the speeds (Cottle, Pang & Stone
    1992, section 4.9): a column of that inverse is the effect of one perturbation on all basic variables, that is, a
    direction. One column after the other is computed until a single candidate is left; SPEED is positive for those.
    """
    n, m, _ = dimensions(basis)
    speed, trial_x, trial_y = basis.vectors[SPEED], basis.vectors[TRIAL_X], basis.vectors[TRIAL_Y]
    for t in range(n + n):
        if t < n:
            own = n + ONE + t
            if basis.lists[PLACE_Y, t] == ABSENT:  # y_t is basic: its perturbation moves y_t alone
                if speed[own] > 0.0:
                    if basis.at_upper[t]:
                        return own
                    speed[own] = 0.0
                    number -= 1
            else:  # to raise b_t while y_t stays zero is to lower y_t while b_t stays
                follow(basis, own, -1.0, trial_x, trial_y)
                number = keep_least(basis, variable, np.uint64(ABSENT))
        else:
            j = t - n
            if basis.at_upper[j]:  # the perturbation moves this x, and all that depend on it
                follow(basis, j, 1.0, trial_x, trial_y)
                number = keep_least(basis, variable, j)
            elif speed[j] > 0.0 and basis.data[UPPER, j] < np.inf:  # it only gives this x more room
                for k in range(m):
                    trial_x[k] = 0.0
                for i in range(n):
                    trial_y[i] = 0.0
                number = keep_least(basis, variable, j)
        if number == 1:
            break
    for code in range(ONE + n + n):
        if speed[code] > 0.0:
            return code
    return np.uint64(ABSENT)


@part
def keep_least(basis, variable, widened):
    """Keep the candidates whose room the perturbation in TRIAL_X, TRIAL_Y raises least for their speed; how many.

    `widened` is the x whose upper bound is perturbed: where it moves to that bound, its own room grows.
    """
    n = np.uint64(basis.at_upper.size)
    speed, change = basis.vectors[SPEED], basis.vectors[CHANGE]
    trial_x, trial_y = basis.vectors[TRIAL_X], basis.vectors[TRIAL_Y]
    largest, artificial = extent(basis, n + ONE, trial_x)
    least = np.inf
    for code in range(ONE + n + n):
        if speed[code] > 0.0:
            if code > n:
                i = code - n - ONE
                change[code] = -trial_y[i] if basis.at_upper[i] else trial_y[i]
            elif code == variable:
                change[code] = 1.0 if code == widened else 0.0
            else:
                k = basis.lists[PLACE_X, code]
                change[code] = trial_x[k]
                if basis.vectors[STEP_X, k] > 0.0:
                    change[code] = (1.0 if code == widened else 0.0) - trial_x[k]
            least = min(least, change[code] / speed[code])
    number = 0
    for code in range(ONE + n + n):
        if speed[code] > 0.0:
            size = terms(basis, code - n - ONE, largest, artificial) if code > n else largest
            if change[code] - least * speed[code] <= LEXICOGRAPHIC * (size + abs(least) * speed[code]):
                number += 1
            else:
                speed[code] = 0.0
    return number


# ------------------------------------------------------------------------------------------------------ change of basis


@part
def exchange(basis, entering, leaving, sign):
    """Change the lists and G^-1: a bordered, smaller or equally large G that differs in one row or column.

    With dx the answer to the entering variable moving by `sign`, G^-1 times its column is g = -sign dx for an entering
    x, and the column of G^-1 that leaves is g = sign dx for an entering y. All four cases subtract g f^T, where f is
    the row of G^-1 that leaves, or the row of [A d] that comes times G^-1, divided by the pivot.
    """
    n, m, stride = dimensions(basis)
    inverse, g, f, entries = basis.inverse, basis.vectors[STEP_X], basis.vectors[WEIGHTS], basis.vectors[TRIAL_X]
    columns, rows, place_x, place_y = (
        basis.lists[COLUMNS], basis.lists[ROWS], basis.lists[PLACE_X], basis.lists[PLACE_Y],
    )  # fmt: skip
    enters_x, leaves_x = entering <= n, leaving <= n
    place = row = gone = ZERO
    for k in range(m):
        g[k] *= -sign if enters_x else sign
    if leaves_x:
        place = np.uint64(place_x[leaving])
        pivot = g[place]
    else:
        row = leaving - n - ONE
        pivot = -sign * basis.vectors[STEP_Y, row] if enters_x else sign * basis.vectors[STEP_Y, row]
        for k in range(m):
            entries[k] = basis.matrix[n * np.uint64(columns[k]) + row]
    if not enters_x:
        gone = np.uint64(place_y[entering - n - ONE])

    for r in range(m):  # once over the inverse: f and the outer product together
        start = stride * r
        factor = (inverse[start + place] if leaves_x else dot(inverse, start, entries, m)) / pivot
        for k in range(m):
            inverse[start + k] -= g[k] * factor
        f[r] = factor

    if enters_x and leaves_x:  # another column of G in the place of one
        for r in range(m):
            inverse[stride * r + place] = f[r]
        columns[place] = entering
        place_x[entering] = place
    elif enters_x:  # a row and a column more: [G a; c s]^-1, where -pivot is the Schur complement s - c G^-1 a
        for r in range(m):
            inverse[stride * r + m] = f[r]
        for k in range(m):
            inverse[stride * m + k] = g[k] / pivot
        inverse[stride * m + m] = -1.0 / pivot
        columns[m], rows[m] = entering, row
        place_x[entering] = place_y[row] = m
        basis.whole[SIZE] += 1
    elif leaves_x:  # a row and a column less; the last ones take their places
        last = m - ONE
        for k in range(m):
            inverse[stride * gone + k] = inverse[stride * last + k]
        for r in range(last):
            inverse[stride * r + place] = inverse[stride * r + last]
        columns[place], rows[gone] = columns[last], rows[last]
        basis.vectors[VALUE, place] = basis.vectors[VALUE, last]
        place_x[columns[place]], place_y[rows[gone]] = place, gone
        basis.whole[SIZE] -= 1
    else:  # another row of G in the place of one
        for k in range(m):
            inverse[stride * gone + k] = g[k] / pivot
        rows[gone] = row
        place_y[row] = gone
    if leaves_x:
        place_x[leaving] = ABSENT
    if not enters_x:
        place_y[entering - n - ONE] = ABSENT


@inlined
def move(basis, entering, leaving, sign, length):
    """Go `length` along the direction, change the basis, and name the variable that enters next."""
    n, m, _ = dimensions(basis)
    value, slack, scale, whole = basis.vectors[VALUE], basis.vectors[SLACK], basis.vectors[SCALE], basis.whole
    step_x, step_y, place_x = basis.vectors[STEP_X], basis.vectors[STEP_Y], basis.lists[PLACE_X]
    for k in range(m):
        j = basis.lists[COLUMNS, k]
        value[k] += length * step_x[k]
        scale[j] = max(scale[j], abs(length * step_x[k]))
    for i in range(n):
        slack[i] += length * step_y[i]
        scale[n + ONE + i] = max(scale[n + ONE + i], abs(length * step_y[i]))
    for k in range(m):
        slack[basis.lists[ROWS, k]] = 0.0
    begins = resting(basis, entering) if entering <= n else 0.0

    if leaving == entering:  # from one bound to the other: G stays, and y of the same row enters
        basis.at_upper[entering] = not basis.at_upper[entering]
        shift_offset(basis, entering, resting(basis, entering) - begins)
        whole[ENTERING], whole[SIGN] = n + ONE + entering, -1 if basis.at_upper[entering] else 1
        return

    reaches_upper = leaving < n and step_x[place_x[leaving]] > 0.0
    exchange(basis, entering, leaving, sign)
    scale[entering] = abs(length) + abs(begins)
    if entering <= n:
        value[place_x[entering]] = begins + sign * length
        shift_offset(basis, entering, -begins)
        if entering < n:
            basis.at_upper[entering] = False
    else:
        slack[entering - n - ONE] = sign * length
    if leaving == n:
        whole[VERDICT] = SOLVED
    elif leaving < n:
        basis.at_upper[leaving] = reaches_upper
        shift_offset(basis, leaving, resting(basis, leaving))
        whole[ENTERING], whole[SIGN] = n + ONE + leaving, -1 if reaches_upper else 1
    else:
        i = leaving - n - ONE
        slack[i] = 0.0
        whole[ENTERING], whole[SIGN] = i, -1 if basis.at_upper[i] else 1


# --------------------------------------------------------------------------------------------------------- entry points


@inlined
def is_feasible(basis):
    """Whether every basic variable of the start is within its bounds, up to rounding."""
    n, m, _ = dimensions(basis)
    value, slack = basis.vectors[VALUE], basis.vectors[SLACK]
    largest, _ = extent(basis, n + ONE, value)
    for k in range(m):
        if value[k] < basis.data[LOWER, basis.lists[COLUMNS, k]] - TIE * largest:
            return False
    for i in range(n):
        if (-slack[i] if basis.at_upper[i] else slack[i]) < -TIE * basis.data[REACH, i] * largest:
            return False
    return True


@inlined
def is_doubtful(basis, entering, leaving):
    """Whether the pivot is so small beside its terms that errors of the inverse may have made it."""
    n = np.uint64(basis.at_upper.size)
    size, artificial = extent(basis, entering, basis.vectors[STEP_X])
    if leaving > n:
        size = terms(basis, leaving - n - ONE, size, artificial)
    return not basis.vectors[SPEED, leaving] > DOUBTFUL * size


@inlined
def find_pivot(basis, entering, sign):
    """The direction and the variable that blocks it, from a fresh inverse where an old one is in doubt."""
    step_x, step_y = basis.vectors[STEP_X], basis.vectors[STEP_Y]
    while True:
        is_fresh = basis.whole[AGE] == 0
        error = follow(basis, entering, sign, step_x, step_y)
        leaving = np.uint64(ABSENT)
        if is_fresh and not error <= HOPELESS:
            basis.whole[VERDICT] = BROKEN
            return leaving
        if is_fresh and error > DRIFT:
            correct(basis, entering, sign, step_x, step_y)
        if is_fresh or error <= DRIFT:
            leaving = find_blocking(basis, entering)
            if leaving != ABSENT and not is_doubtful(basis, entering, leaving):
                return leaving
            if is_fresh and leaving != ABSENT:  # refined, a speed that was rounding errors falls below SMALL
                correct(basis, entering, sign, step_x, step_y)
                leaving = find_blocking(basis, entering)
            if is_fresh:
                return leaving
        if not invert(basis):
            basis.whole[VERDICT] = BROKEN
            return leaving


@kernel
def begin(basis, lift, cover):
    """Invert the G of the first basis, and choose the covering vector.

    As z0 rises by one, the basic x shall rise by `lift` and the basic y by `cover`: for that d_R = -A_RC lift_C, and
    d_i = cover_i - A_iC lift_C in the other rows. Returns False where G is singular.
    """
    n, m, _ = dimensions(basis)
    whole, weights, d = basis.whole, basis.vectors[WEIGHTS], basis.vectors[TRIAL_Y]
    for k in range(m):
        weights[k] = lift[basis.lists[COLUMNS, k]]
    for i in range(n):
        d[i] = cover[i] if basis.lists[PLACE_Y, i] == ABSENT else 0.0
    add_columns(-1.0, basis.matrix, n, basis.lists[COLUMNS], weights, ZERO, m, ZERO, n, d)
    for i in range(n):
        basis.matrix[n * n + i] = d[i]
    whole[ENTERING], whole[SIGN], whole[BEGUN], whole[VERDICT] = n, -1, 0, GOING_ON
    return invert(basis)


@kernel
def advance(count, basis):
    """At most `count` pivots; returns how many were done. `whole[VERDICT]` tells whether there is an end."""
    whole = basis.whole
    if count > 0 and not whole[BEGUN] and is_feasible(basis):
        whole[VERDICT] = SOLVED
    for done in range(count):
        if whole[VERDICT] != GOING_ON:
            return done
        if whole[AGE] >= max(LEAST_AGE, 2 * whole[SIZE]) and not invert(basis):
            whole[VERDICT] = BROKEN
            return done
        entering, sign = np.uint64(whole[ENTERING]), float(whole[SIGN])
        leaving = find_pivot(basis, entering, sign)
        if whole[VERDICT] == BROKEN:
            return done
        if leaving == ABSENT:
            whole[VERDICT] = RAY
            correct(basis, entering, sign, basis.vectors[STEP_X], basis.vectors[STEP_Y])
            return done
        move(basis, entering, leaving, sign, basis.vectors[ROOM, leaving] / basis.vectors[SPEED, leaving])
        whole[BEGUN] = 1
        whole[PIVOTS] += 1
        whole[AGE] += 1
        if whole[VERDICT] == SOLVED and not evaluate(basis) <= DRIFT and not invert(basis):
            whole[VERDICT] = BROKEN
    return count
