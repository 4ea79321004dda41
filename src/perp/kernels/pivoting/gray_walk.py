"""A walk through all index sets: one row changes its side at each step, and the tableau follows.

The sets are visited in the order of a reflected Gray code with mixed radix (Knuth 4A, 7.2.1.1, algorithm H): a row with
one bound is tight or free, a row with two is lower, free or upper. Where A_FF is singular there is no tableau; the
walk goes on, the tableau stays at the last set that had one, and catches up by a block pivot when it can.
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
