"""Small boxed problems: one solved in one call by block pivots, and all index sets visited one by one.

Block pivots on a dense A, with everything that is judged. The rows stand at a bound or are free; the free ones are
solved for, and every row that objects changes sides (THESIS 2.5.3, Algorithm 1). Where that brings no fewer objections
`PATIENCE` times in a row, only the last of the objecting rows changes, which ends for P-matrices (Murty 1974; Júdice &
Pires 1994), until there are fewer than ever before. For problems of a few dozen rows the whole of it costs less than
one turn of the loop that iterative methods share.

In a walk through all index sets one row changes its side at each step, and the tableau follows. The sets are visited in
the order of a reflected Gray code with mixed radix (Knuth 4A, 7.2.1.1, algorithm H): a row with one bound is tight or
free, a row with two is lower, free or upper. Where A_FF is singular there is no tableau; the walk goes on, the tableau
stays at the last set that had one, and catches up by a block pivot when it can.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.pivoting.principal_pivots import (
    FREE,
    LOWER,
    ONE,
    UPPER,
    ZERO_VALUE,
    eliminate_block,
    evaluate,
    move,
    pivot,
    rebuild,
    sign_of_pivot,
    wrong_by,
)

# -- block pivots ------------------------------------------------------------------------------------------------------


SOLVED, SINGULAR, TOO_LONG, EXTREME, NOT_FINITE = (np.int64(k) for k in range(5))
"""How a call can end; EXTREME: some row has a size that must be scaled first, nothing was done."""
PATIENCE = 4
SMALLEST, LARGEST = 2.0**-10, 2.0**20
"""Sizes of rows between which the natural map needs no scaling (`Problem.row_scales`)."""
ROUNDING = 4e-16
"""Times the size of the terms of a sum: what may be rounding error in it."""
ZERO_PIVOT = 1e-13
"""A pivot below this share of the largest entry of its column is zero."""


@inlined
def natural(x, y, low, high):
    """x - clip(x - y, low, high)."""
    return min(max(y, x - high), x - low)


@inlined
def solve_free(n, A, rows, count, block, exchange, right):
    """Factor A[rows, rows] with row exchanges into `block`, row-major, and solve for `right` in place."""
    for i in range(count):
        for j in range(count):
            block[i * count + j] = A[rows[i] * n + rows[j]]
    for j in range(count):
        best, largest, before = j, abs(block[j * count + j]), 0.0
        for i in range(count):
            size = abs(A[rows[i] * n + rows[j]])
            before = max(before, size)
            if i > j and abs(block[i * count + j]) > largest:
                best, largest = i, abs(block[i * count + j])
        exchange[j] = best
        if not largest > ZERO_PIVOT * before:
            return False
        if best != j:
            for k in range(count):
                block[j * count + k], block[best * count + k] = block[best * count + k], block[j * count + k]
        for i in range(j + 1, count):
            factor = block[i * count + j] / block[j * count + j]
            block[i * count + j] = factor
            for k in range(j + 1, count):
                block[i * count + k] -= factor * block[j * count + k]
    substitute(count, block, exchange, right)
    return True


@inlined
def substitute(count, block, exchange, right):
    """right = (P^-1 L U)^-1 right."""
    for j in range(count):
        right[j], right[exchange[j]] = right[exchange[j]], right[j]
    for i in range(count):
        for j in range(i):
            right[i] -= block[i * count + j] * right[j]
    for i in range(count - 1, -1, -1):
        for j in range(i + 1, count):
            right[i] -= block[i * count + j] * right[j]
        right[i] /= block[i * count + i]


@inlined
def fill_slack(n, A, b, x, y, noise):
    """y = A x + b, and beside it the size of the terms that it was added up from."""
    for i in range(n):
        total, size = b[i], abs(b[i])
        for j in range(n):
            term = A[i * n + j] * x[j]
            total += term
            size += abs(term)
        y[i], noise[i] = total, size


@inlined
def measure(n, x, y, lower, upper):
    """The largest entry of the natural map, and of x; NaN where a number is not finite."""
    residual, largest, probe = 0.0, 0.0, 0.0
    for i in range(n):
        residual = max(residual, abs(natural(x[i], y[i], lower[i], upper[i])))
        largest = max(largest, abs(x[i]))
        probe += 0.0 * x[i] + 0.0 * y[i]
    return residual + probe, largest


@kernel
def solve_small(A, b, lower, upper, most, x, y, side, rows, exchange, work):
    """(ending, iterations, cold residual, residual, largest |x|); x and y are the best point, judged by A and b.

    `side` begins with -1 for rows that start at their lower bound, 1 at the upper one, 0 for free ones. `work` has
    n (n + 3) numbers. The cold residual is that of the point nearest to 0 within the bounds; where it is zero, that
    point is the answer.
    """
    n = b.size
    noise, right = work[n * n : n * n + n], work[n * n + n : n * n + 2 * n]
    trial = work[n * n + 2 * n :]
    for i in range(n):
        size = abs(A[i * n + i])
        if size == 0.0:
            for j in range(n):
                size = max(size, abs(A[i * n + j]))
        if size != 0.0 and (size < SMALLEST or size >= LARGEST):
            return EXTREME, 0, np.nan, np.nan, np.nan
        x[i] = min(max(0.0, lower[i]), upper[i])
    fill_slack(n, A, b, x, y, noise)
    cold, largest = measure(n, x, y, lower, upper)
    if not cold > 0.0:
        return (NOT_FINITE if np.isnan(cold) else SOLVED), 0, cold, cold, largest
    best, patience = n + 1, PATIENCE
    for iteration in range(1, most + 1):
        count = 0
        for i in range(n):
            if side[i] == 0:
                rows[count] = i
                count += 1
            else:
                trial[i] = lower[i] if side[i] < 0 else upper[i]
        for k in range(count):
            i = rows[k]
            total = b[i]
            for j in range(n):
                if side[j] != 0:
                    total += A[i * n + j] * trial[j]
            right[k] = -total
        if not solve_free(n, A, rows, count, work, exchange, right):
            return SINGULAR, iteration, cold, np.nan, np.nan
        for k in range(count):
            trial[rows[k]] = right[k]
        fill_slack(n, A, b, trial, y, noise)
        for k in range(count):  # one step of iterative refinement
            right[k] = -y[rows[k]]
        substitute(count, work, exchange, right)
        for k in range(count):
            trial[rows[k]] += right[k]
        fill_slack(n, A, b, trial, y, noise)
        largest = 0.0
        for i in range(n):
            largest = max(largest, abs(trial[i]))
        objections, last = 0, -1
        for i in range(n):
            slip = ROUNDING * largest
            if side[i] == 0:
                objects = trial[i] < lower[i] - slip or trial[i] > upper[i] + slip
            elif lower[i] == upper[i]:
                objects = False
            elif side[i] < 0:
                objects = y[i] < -ROUNDING * noise[i]
            else:
                objects = y[i] > ROUNDING * noise[i]
            if objects:
                objections += 1
                last = i
        if objections == 0:
            for i in range(n):
                x[i] = min(max(trial[i], lower[i]), upper[i])
            fill_slack(n, A, b, x, y, noise)
            residual, largest = measure(n, x, y, lower, upper)
            return (NOT_FINITE if np.isnan(residual) else SOLVED), iteration, cold, residual, largest
        if objections < best:
            best, patience = objections, PATIENCE
        else:
            patience -= 1
        for i in range(n if patience > 0 else 1):
            k = i if patience > 0 else last
            if side[k] == 0:
                if trial[k] < lower[k] - ROUNDING * largest:
                    side[k] = -1
                elif trial[k] > upper[k] + ROUNDING * largest:
                    side[k] = 1
            elif lower[k] < upper[k] and (
                (side[k] < 0 and y[k] < -ROUNDING * noise[k]) or (side[k] > 0 and y[k] > ROUNDING * noise[k])
            ):
                side[k] = 0
    return TOO_LONG, most, cold, np.nan, np.nan


# -- a walk through all index sets -------------------------------------------------------------------------------------


VISITED = 0  #     index sets so far
TOTAL = 1  #       index sets in all
AGE = 2  #         pivots since the tableau was computed anew
FOUND = 3  #       solutions in the buffer
OPEN = 4  #        singular sets in the buffer
COUNT = 5
NEAR = 1e-8
"""What breaks a condition by less than this share of the numbers behind it is looked at closely."""
REBUILD_EVERY = 1024


class Walk(NamedTuple):
    """Where the walk stands, and what it has found."""

    wanted: Any  #       the side of each row in the set to look at
    rows: Any  #         the row of each digit (uint32): rows with equal bounds and rows without bounds have none
    digits: Any  #       0 at the first bound, 1 free, 2 at the upper bound of two
    radix: Any
    directions: Any
    focus: Any  #        Knuth's focus pointers
    progress: Any
    found: Any  #        x of each solution, one a row, scaled as the tableau is
    singular: Any  #     the sides of each singular set that may hold solutions, one a row


@inlined
def bound_of(data, side, i):
    return data.lower[i] if side == LOWER else data.upper[i]


@inlined
def advance(data, walk):
    """To the next set in Gray-code order."""
    digits, focus = walk.digits, walk.focus
    j = focus[0]
    focus[0] = 0
    if j == digits.size:
        return
    digits[j] += walk.directions[j]
    if digits[j] == 0 or digits[j] == walk.radix[j] - 1:
        walk.directions[j] = -walk.directions[j]
        focus[j] = focus[j + 1]
        focus[j + 1] = j + 1
    i = walk.rows[j]
    if digits[j] == 1:
        walk.wanted[i] = FREE
    elif digits[j] == 0 and data.lower[i] > -np.inf:
        walk.wanted[i] = LOWER
    else:
        walk.wanted[i] = UPPER


@inlined
def follow(data, tableau, walk):
    """Bring the tableau to the wanted set: 1 done, 0 singular and inconsistent, -1 singular, perhaps with solutions."""
    n = np.uint64(tableau.rest.size)
    side, wanted, right = tableau.side, walk.wanted, tableau.column
    m = np.uint64(0)
    for i in range(n):
        if side[i] == wanted[i]:
            continue
        if side[i] != FREE and wanted[i] != FREE:  # from one bound to the other while the tableau stayed behind
            move(n, tableau, i, bound_of(data, wanted[i], i) - tableau.rest[i])
            tableau.rest[i] = bound_of(data, wanted[i], i)
            side[i] = wanted[i]
            continue
        tableau.rows[m] = i
        m += ONE
    noise = 0.0
    for k in range(m):
        i = np.uint64(tableau.rows[k])
        right[k] = target_of(data, walk, i) - tableau.value[i]
        noise = max(noise, tableau.noise[i])
    if m == ONE:
        i, missing = np.uint64(tableau.rows[0]), abs(right[0])
        if sign_of_pivot(data, tableau, i) == 0:
            return -1 if missing <= NEAR * noise else 0
        pivot(tableau, i, target_of(data, walk, i), wanted[i])
        walk.progress[AGE] += 1
    elif m > ONE:
        rank, missing = eliminate_block(tableau, m)
        if rank < m:
            return -1 if missing <= NEAR * noise else 0
        for k in range(m):
            i = np.uint64(tableau.rows[k])
            side[i] = wanted[i]
            tableau.rest[i] = target_of(data, walk, i)
        walk.progress[AGE] = REBUILD_EVERY
    if walk.progress[AGE] >= REBUILD_EVERY:
        walk.progress[AGE] = 0
        if not begin_again(data, tableau):
            return -1
    return 1


@inlined
def target_of(data, walk, i):
    """What rests in row i at the wanted set: y_i = 0 of a free row, x_i of a tight one."""
    return 0.0 if walk.wanted[i] == FREE else bound_of(data, walk.wanted[i], i)


@inlined
def begin_again(data, tableau):
    """A fresh tableau; or, should rounding make this very set singular, that of the set without free rows."""
    n = np.uint64(tableau.rest.size)
    m = 0
    for i in range(n):
        m += tableau.side[i] == FREE
    if rebuild(data, tableau) == m:
        return True
    for i in range(n):
        if tableau.side[i] == FREE:
            tableau.side[i] = LOWER if data.lower[i] > -np.inf else UPPER
            bound = bound_of(data, tableau.side[i], i)
            tableau.rest[i] = bound if abs(bound) < np.inf else 0.0  # a row without bounds: free in every wanted set
    evaluate(data, tableau)
    return False


@inlined
def solves(data, tableau):
    """Whether the values solve the problem with every free row strictly between its bounds.

    Strictly: a solution then belongs to one index set only, and none is found twice.
    """
    n = np.uint64(tableau.rest.size)
    for i in range(n):
        if not wrong_by(data, tableau, i) <= NEAR * tableau.noise[i]:
            return False
    evaluate(data, tableau)
    for i in range(n):
        wrong, rounding = wrong_by(data, tableau, i), ZERO_VALUE * tableau.noise[i]
        if not wrong <= rounding or (tableau.side[i] == FREE and not wrong < -rounding):
            return False
    return True


@kernel
def visit(count, data, tableau, walk):
    """Look at the next `count` index sets, or fewer if the sets end or a buffer is full; return how many."""
    n = np.uint64(tableau.rest.size)
    progress = walk.progress
    for done in range(count):
        if progress[VISITED] == progress[TOTAL]:
            return done
        if progress[FOUND] == walk.found.shape[0] or progress[OPEN] == walk.singular.shape[0]:
            return done
        reached = follow(data, tableau, walk)
        if reached == 1 and solves(data, tableau):
            for i in range(n):
                x = tableau.value[i] if tableau.side[i] == FREE else tableau.rest[i]
                walk.found[progress[FOUND], i] = x
            progress[FOUND] += 1
        elif reached == -1:
            walk.singular[progress[OPEN], :] = walk.wanted
            progress[OPEN] += 1
        progress[VISITED] += 1
        advance(data, walk)
    return count
