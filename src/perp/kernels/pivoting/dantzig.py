"""The pivots of Baraff's incremental method (NOTES 5.1.1), as many as asked for in one call.

A row is free (in F: between its bounds, with y = 0), clamped (at a bound that y agrees with) or unprocessed. Free and
clamped rows are complementary after every pivot; one unprocessed row j at a time is driven,

    x_j <- x_j + sign t,   x_F <- x_F + t dx_F,   y <- y + t dy,   t >= 0,                     (NOTES eq. 41, corrected)
    dx_F = -sign A_FF^-1 A_Fj,   dy = sign A_:j + A_:F dx_F,

until y_j = 0, or x_j is at a bound, or a free or clamped row blocks (eq. 42-43) and changes its set. (Corrected are the
signs of the Schur complement after eq. 41, dy_j = sign (A_jj - A_jF A_FF^-1 A_Fj), and eq. 43c.) Everything here is
in the scaled variables of `perp.solvers.symmetry`: diagonal entries are about 1, or 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.factors.growing_factor import append, finish_solve, reduce_column, remove, weigh

UNPROCESSED, WAITING, FREE, AT_LOWER, AT_UPPER = (np.uint8(value) for value in range(5))
"""What a row is; WAITING: unprocessed, and to be taken as free before the first pivot (equations, warm starts)."""

ENTERING, SETTLING, DRIVING, SOLVED, RAY, OUTGROWN, INDEFINITE = range(7)
"""Phases: let the waiting rows enter F; bring x_F to y_F = 0; drive one row after the other; and four ends."""

PHASE, FREE_COUNT, DRIVEN, SIGN, NEXT, AGE, FACTOR_AGE, CULPRIT, CURSOR_SIZE = range(9)
"""Places in `cursor`: DRIVEN is -1 between rows, NEXT the next row that may wait, AGE counts the pivots since y was
computed anew, FACTOR_AGE the rows that left the factor since it was, CULPRIT is the row that showed A to be indefinite.
"""

REFRESH_EVERY = 64
"""Pivots after which y is computed anew from x, and x_F from y."""

NOISE = 1e-13
"""A slack below this share of |b_i| + sum |A_ik x_k| is zero but for rounding errors."""

RESTING_NOISE = 1e-9
"""The same for a row that depends on the free ones: no x_j can change its slack, which rounding has left there."""

DEPENDENT = 1e-10
"""A Schur complement below this share of what it was subtracted from is zero: the row depends on the free ones."""

ROUNDING = 1e-15
"""Rounding errors of A_FF may make a Schur complement negative by this share of the square of 1 + sum |dx|."""

STEADY = 1e-13
"""A rate of change below this share of 1 + sum |dx| is zero."""

CURVED = 1e-4
"""Along a direction d with d^T A d = 0 a semi-definite A has A d = 0; more than this share shows that it is not one."""

WORN = 1e-11
"""A slack of a free row above this share after x_F was solved for: the factor has lost too many digits."""

LARGEST = 1e12
"""How much larger than b and the bounds x may grow. Beyond, A x hides b, and A x / |x| is zero but for rounding."""

TIE = 1.0 - 1e-12
"""A step must be shorter than this share of the shortest so far; so the least index wins a tie, which ends cycles."""

ZERO, ONE, FOUR = np.uint64(0), np.uint64(1), np.uint64(4)


class Tableau(NamedTuple):
    """Everything that a pivot reads and changes; vectors have one number a row of A unless said otherwise."""

    matrix: Any
    """A, flat by rows."""
    b: Any
    lower: Any
    upper: Any
    x: Any
    y: Any
    """A x + b; zero in free rows."""
    size: Any
    """|b| + |A| |x| when y was last computed anew: what rounding errors of y are measured by."""
    kind: Any
    resting: Any
    """Whether an unprocessed row was found to depend on the free ones, with a slack of rounding size."""
    factor: Any
    """R of `growing_factor`, flat by rows."""
    pivots: Any
    members: Any
    """The free rows in the order of the factor."""
    column: Any
    """The reduced column of the row that is driven or enters, in the order of the factor."""
    solved: Any
    """A solution of a system with A_FF, in the order of the factor."""
    move: Any
    """dx: the direction in which x moves; a certificate of infeasibility when nothing blocks it."""
    rate: Any
    """dy."""
    cursor: Any


@kernel
def pivot_on(count, least_index, t):
    """Do up to `count` pivots; how many were done. Fewer only at an end, which cursor[PHASE] tells."""
    done = 0
    while done < count and t.cursor[PHASE] <= DRIVING:
        if t.cursor[PHASE] == ENTERING:
            done += let_next_enter(t)
        elif t.cursor[PHASE] == SETTLING:
            done += settle(t)
        elif t.cursor[AGE] >= REFRESH_EVERY:
            t.cursor[PHASE] = SETTLING
        elif t.cursor[DRIVEN] >= 0:
            drive(t)
            t.cursor[AGE] += 1
            done += 1
        else:
            select(least_index, t)
        if t.cursor[PHASE] == INDEFINITE and t.cursor[FACTOR_AGE] > 0:  # it may be the factor's fault: ask again
            t.cursor[PHASE] = SETTLING
            rebuild(t)
    return done


@kernel
def follow_bounds(lower, upper, t):
    """Adopt new bounds: clamped rows move with theirs, free rows that are left outside stop being free."""
    for i in range(np.uint64(t.x.size)):
        if t.kind[i] == AT_LOWER:
            t.x[i] = lower[i]
        elif t.kind[i] == AT_UPPER:
            t.x[i] = upper[i]
        elif t.kind[i] == FREE and (t.x[i] < lower[i] or t.x[i] > upper[i]):
            leave(i, UNPROCESSED, t)
        if t.kind[i] != FREE and lower[i] == upper[i]:
            t.kind[i] = UNPROCESSED
        t.x[i] = min(max(t.x[i], lower[i]), upper[i])
        t.lower[i], t.upper[i] = lower[i], upper[i]
        t.resting[i] = False
    t.cursor[PHASE] = SETTLING


@inlined
def let_next_enter(t):
    """Take the next waiting row into F unless it depends on those that are there; 1, or 0 where none waits any more."""
    n = t.x.size
    j = t.cursor[NEXT]
    while j < n and t.kind[j] != WAITING:
        j += 1
    t.cursor[NEXT] = j
    if j == n:
        t.cursor[PHASE] = SETTLING
        return 0
    t.kind[j] = UNPROCESSED
    try_to_enter(np.uint64(j), t)
    return 1


@inlined
def solve_for_row(j, t):
    """column = R^-T A_Fj and solved = A_FF^-1 A_Fj; returns dy_j and 1 + sum |dx_F|.

    dy_j is the Schur complement A_jj - A_jF A_FF^-1 A_Fj, or 0 where it is rounding errors only.
    """
    n, count = np.uint64(t.x.size), np.uint64(t.cursor[FREE_COUNT])
    for i in range(count):
        t.column[i] = t.matrix[j * n + np.uint64(t.members[i])]
    reduce_column(n, t.factor, count, t.column)
    finish_solve(n, t.factor, t.pivots, count, t.column, t.solved)
    weight = 1.0
    for i in range(count):
        weight += abs(t.solved[i])
    own, taken = t.matrix[j * n + j], weigh(t.pivots, count, t.column)
    complement, noise = own - taken, DEPENDENT * (abs(own) + taken)
    is_noise = -max(noise, ROUNDING * weight * weight if count > ZERO else 0.0) <= complement <= noise
    return 0.0 if is_noise else complement, weight


@inlined
def try_to_enter(j, t):
    """Let row j enter F; a row that depends on F is left unprocessed, at rest."""
    complement, _ = solve_for_row(j, t)
    if complement > 0.0:
        enter(j, complement, t)
    elif complement < 0.0:
        t.cursor[PHASE], t.cursor[CULPRIT] = INDEFINITE, np.int64(j)
    else:
        t.kind[j] = UNPROCESSED
        t.resting[j] = True


@inlined
def enter(j, complement, t):
    """Row j, whose reduced column is in `column`, becomes free."""
    count = np.uint64(t.cursor[FREE_COUNT])
    append(np.uint64(t.x.size), t.factor, t.pivots, count, t.column, complement)
    t.members[count] = j
    t.cursor[FREE_COUNT] += 1
    t.kind[j] = FREE
    t.y[j] = 0.0


@inlined
def leave(j, kind, t):
    """Row j stops being free and becomes `kind`."""
    count = np.uint64(t.cursor[FREE_COUNT])
    place = ZERO
    while t.members[place] != j:
        place += ONE
    remove(np.uint64(t.x.size), t.factor, t.pivots, count, place, t.column)
    for i in range(place, count - ONE):
        t.members[i] = t.members[i + ONE]
    t.cursor[FREE_COUNT] -= 1
    t.cursor[FACTOR_AGE] += 1
    t.kind[j] = kind


@inlined
def select(least_index, t):
    """Choose the row to drive: the unprocessed one with the most violated slack, or the first that is violated."""
    chosen, worst = -1, 0.0
    for i in range(np.uint64(t.x.size)):
        if t.kind[i] == UNPROCESSED:
            violation = abs(t.y[i]) if (t.x[i] < t.upper[i] if t.y[i] < 0.0 else t.x[i] > t.lower[i]) else 0.0
            noise = (RESTING_NOISE if t.resting[i] else NOISE) * t.size[i]
            if violation > max(worst, noise):
                chosen, worst = np.int64(i), violation
                if least_index:
                    break
    t.cursor[DRIVEN] = chosen
    if chosen >= 0:
        t.cursor[SIGN] = -1 if t.y[chosen] > 0.0 else 1
        t.resting[chosen] = False
    else:  # nothing is violated, which counts when y is fresh
        t.cursor[PHASE] = SETTLING if t.cursor[AGE] > 0 else SOLVED


@inlined
def compute_slack(t):
    """y = A x + b and size = |A| |x| + |b|, both from scratch."""
    n = np.uint64(t.x.size)
    for i in range(n):
        t.y[i], t.size[i] = t.b[i], abs(t.b[i])
    for j in range(n):
        x, start = t.x[j], j * n
        if x != 0.0:
            for i in range(n):
                term = t.matrix[start + i] * x
                t.y[i] += term
                t.size[i] += abs(term)


@inlined
def settle(t):
    """Bring the free rows to y_F = 0 with a Newton step, x_F <- x_F - A_FF^-1 y_F, stopped where a row meets its bound.

    From an x_F that is right but for rounding this is a step of iterative refinement; after a warm start or a change of
    bounds it is the step of an active-set method: a row that meets its bound is unprocessed from then on, and that is a
    pivot. Returns their number. Clamped rows whose slack turns out to be wrong are to be processed again.
    """
    compute_slack(t)
    n, count = np.uint64(t.x.size), np.uint64(t.cursor[FREE_COUNT])
    for i in range(count):
        t.column[i] = t.y[np.uint64(t.members[i])]
    reduce_column(n, t.factor, count, t.column)
    finish_solve(n, t.factor, t.pivots, count, t.column, t.solved)
    largest = 0.0
    for i in range(count):
        largest = max(largest, abs(t.x[np.uint64(t.members[i])]))
    step, blocking = 1.0, -1
    for i in range(count):
        j, move = np.uint64(t.members[i]), -t.solved[i]
        if abs(move) > STEADY * largest:  # less is a correction of rounding errors, which the bound may cut off
            room = max(t.upper[j] - t.x[j] if move > 0.0 else t.x[j] - t.lower[j], 0.0)
            if room < step * abs(move):
                step, blocking = room / abs(move), np.int64(j)
    up = False
    for i in range(count):
        j = np.uint64(t.members[i])
        up = up or (blocking == np.int64(j) and t.solved[i] < 0.0)
        t.x[j] = min(max(t.x[j] - step * t.solved[i], t.lower[j]), t.upper[j])
    if blocking >= 0:
        t.x[blocking] = t.upper[blocking] if up else t.lower[blocking]
        leave(np.uint64(blocking), UNPROCESSED, t)
        return 1

    compute_slack(t)
    if t.cursor[FACTOR_AGE] > 0 and is_worn(t):
        rebuild(t)
        return 0
    for i in range(n):
        if t.kind[i] == FREE:
            t.y[i] = 0.0
        elif (t.kind[i] == AT_LOWER and t.y[i] < -NOISE * t.size[i]) or (
            t.kind[i] == AT_UPPER and t.y[i] > NOISE * t.size[i]
        ):
            t.kind[i] = UNPROCESSED
    t.cursor[PHASE], t.cursor[AGE] = OUTGROWN if is_outgrown(t) else DRIVING, 0
    return 0


@inlined
def is_outgrown(t):
    """Whether x has grown beyond what b and the bounds account for; x is then the ray along which it grows."""
    given, grown = 0.0, 0.0
    for i in range(np.uint64(t.x.size)):
        given = max(given, abs(t.b[i]))
        if t.lower[i] < t.x[i] < t.upper[i]:
            grown = max(grown, abs(t.x[i]))
        else:
            given = max(given, abs(t.x[i]))
        t.move[i] = t.x[i]
    return grown > LARGEST * given


@inlined
def is_worn(t):
    """Whether some free row has a slack that a sound factor would have removed."""
    for i in range(np.uint64(t.cursor[FREE_COUNT])):
        j = np.uint64(t.members[i])
        if abs(t.y[j]) > WORN * t.size[j]:
            return True
    return False


@inlined
def rebuild(t):
    """Factor A_FF from scratch, in the order that it has."""
    count = t.cursor[FREE_COUNT]
    t.cursor[FREE_COUNT] = t.cursor[FACTOR_AGE] = 0
    for i in range(count):
        try_to_enter(np.uint64(t.members[i]), t)


@inlined
def find_direction(j, sign, t):
    """dx and dy for a unit of sign x_j; returns the Schur complement sign dy_j and 1 + sum |dx_F|."""
    n, count = np.uint64(t.x.size), np.uint64(t.cursor[FREE_COUNT])
    complement, weight = solve_for_row(j, t)
    for i in range(n):
        t.move[i] = 0.0
        t.rate[i] = sign * t.matrix[j * n + i]
    for i in range(count):
        t.solved[i] *= -sign  # dx_F = -A_FF^-1 A_Fj
        t.move[np.uint64(t.members[i])] = t.solved[i]
    t.move[j] = sign
    add_rows(n, t.matrix, count, t.members, t.solved, t.rate)  # dy = A_:j + A_:F dx_F
    return complement, weight


@inlined
def add_rows(n, matrix, count, members, factors, out):
    """out += sum factors_i A[members_i, :], four rows at a time so that `out` is read and written once for the four."""
    whole = count - count % FOUR
    for i in range(ZERO, whole, FOUR):
        f0, f1, f2, f3 = factors[i], factors[i + ONE], factors[i + np.uint64(2)], factors[i + np.uint64(3)]
        p0, p1 = np.uint64(members[i]) * n, np.uint64(members[i + ONE]) * n
        p2, p3 = np.uint64(members[i + np.uint64(2)]) * n, np.uint64(members[i + np.uint64(3)]) * n
        for k in range(n):
            out[k] += f0 * matrix[p0 + k] + f1 * matrix[p1 + k] + f2 * matrix[p2 + k] + f3 * matrix[p3 + k]
    for i in range(whole, count):
        f0, p0 = factors[i], np.uint64(members[i]) * n
        for k in range(n):
            out[k] += f0 * matrix[p0 + k]


@inlined
def drive(t):
    """One pivot: move x_j as far as it goes, and let the row that stops it change its set."""
    n = np.uint64(t.x.size)
    j, sign = np.uint64(t.cursor[DRIVEN]), float(t.cursor[SIGN])
    complement, weight = find_direction(j, sign, t)
    if complement < 0.0 or (complement == 0.0 and is_curved(weight, t)):
        t.cursor[PHASE], t.cursor[CULPRIT] = INDEFINITE, np.int64(j)
        return

    # The own limits of x_j: its bound, and eq. 43c as corrected, -y_j / dy_j for dy_j > 0.
    to_bound = t.upper[j] - t.x[j] if sign > 0.0 else t.x[j] - t.lower[j]
    to_zero = max(-sign * t.y[j] / complement, 0.0) if complement > 0.0 else np.inf
    step, blocking = min(to_bound, to_zero), -1
    for i in range(n):
        distance, speed = np.inf, 0.0
        if t.kind[i] == FREE:  # eq. 42a
            if abs(t.move[i]) > STEADY * weight:
                speed = abs(t.move[i])
                distance = max(t.upper[i] - t.x[i] if t.move[i] > 0.0 else t.x[i] - t.lower[i], 0.0)
        elif t.kind[i] == AT_LOWER or t.kind[i] == AT_UPPER:  # eq. 42b
            speed = -t.rate[i] if t.kind[i] == AT_LOWER else t.rate[i]
            if complement > 0.0 and speed > STEADY * weight:
                distance = max(t.y[i] if t.kind[i] == AT_LOWER else -t.y[i], 0.0)
        if distance < np.inf and distance < TIE * step * speed:
            step, blocking = distance / speed, np.int64(i)

    if step == np.inf:
        meet_no_end(j, t)
        return
    for i in range(n):
        t.x[i] = min(max(t.x[i] + step * t.move[i], t.lower[i]), t.upper[i])
        t.y[i] = 0.0 if t.kind[i] == FREE else t.y[i] + step * t.rate[i]
    if blocking >= 0:
        exchange(np.uint64(blocking), t)
    else:
        t.cursor[DRIVEN] = -1
        if to_bound <= to_zero:
            t.x[j] = t.upper[j] if sign > 0.0 else t.lower[j]
            t.kind[j] = AT_UPPER if sign > 0.0 else AT_LOWER
        else:
            enter(j, complement, t)


@inlined
def is_curved(weight, t):
    """Whether A d is not zero although d^T A d is, which no semi-definite matrix allows."""
    steepest = 0.0
    for i in range(np.uint64(t.x.size)):
        steepest = max(steepest, abs(t.rate[i]))
    return steepest > CURVED * weight


@inlined
def meet_no_end(j, t):
    """y_j does not change along a direction that nothing blocks: A d = 0 and b^T d < 0 prove that there is no solution.

    Unless y_j is what rounding has left of zero: then row j depends on the free ones and is done.
    """
    if abs(t.y[j]) > RESTING_NOISE * t.size[j]:
        t.cursor[PHASE] = RAY
        sharpen_ray(j, t)
    else:
        t.resting[j] = True
        t.cursor[DRIVEN] = -1


@inlined
def sharpen_ray(j, t):
    """Solve A d = 0 once more with the largest entry of d as the given one, and row j among the others.

    Where d_j is small beside another entry, A_FF is nearly singular and d has few digits; without the row of that entry
    it is not. The index sets are of no use any more, so they may be spoilt.
    """
    q = j
    for i in range(np.uint64(t.x.size)):
        if abs(t.move[i]) > abs(t.move[q]):
            q = i
    if q != j:
        leave(q, UNPROCESSED, t)
        try_to_enter(j, t)
        find_direction(q, 1.0 if t.move[q] > 0.0 else -1.0, t)


@inlined
def exchange(i, t):
    """A free row that met a bound is clamped there; a clamped row whose slack came to zero becomes free."""
    if t.kind[i] == FREE:
        up = t.move[i] > 0.0
        t.x[i] = t.upper[i] if up else t.lower[i]
        leave(i, AT_UPPER if up else AT_LOWER, t)
    else:
        t.y[i] = 0.0
        try_to_enter(i, t)
