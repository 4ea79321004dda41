"""Which row a principal pivoting method moves next: Murty's least index, and Keller's driven row."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.pivoting.principal_pivots import (
    FREE,
    LOWER,
    STALE,
    UPPER,
    ZERO_VALUE,
    evaluate,
    move,
    pivot,
    rebuild,
    sign_of_pivot,
    wrong_by,
)

PIVOTS = 0  #        since the start
WRONG = 1  #         rows that are infeasible or not complementary
REBUILDS = 2  #      how often the tableau was computed anew
FEWEST = 3  #        the least of WRONG so far
AGE = 4  #           pivots since the tableau was computed anew
FRESH = 5  #         whether the values were computed anew since the last pivot
DRIVEN = 6  #        Keller: the row whose x is on its way, or -1
END = 7  #           how it ended, or zero: one of the words below
ROW = 8  #           the row at which it ended
COUNT = 9

SOLVED, ZERO_PIVOT, NEGATIVE_PIVOT, RAY, OVERFLOW = 1, 2, 3, 4, 5

DOUBTFUL = 1e-10
"""A violation below this share of the numbers behind it is believed only of values that are fresh."""

ZERO_RATE = 1e-12
"""A free x that moves by less than this share of the quickest does not block."""

EVALUATE_EVERY = 64
"""Pivots after which the values are computed anew, which costs as much as a few pivots."""

YOUNG = 32
"""A tableau with fewer pivots behind it is not computed anew for want of accuracy: A itself is to blame then."""


@inlined
def renew(data, tableau, progress):
    """Fresh values; and a fresh tableau where it has become old or stale."""
    limit = max(200, 2 * tableau.rest.size)
    if progress[AGE] < limit:
        share = evaluate(data, tableau)
        if share <= STALE or progress[AGE] < YOUNG:
            progress[FRESH] = 1
            return
    start_afresh(data, tableau, progress)


@inlined
def start_afresh(data, tableau, progress):
    """A fresh tableau. Should rounding make a block singular that pivots went through, there is no way on."""
    m = 0
    for i in range(np.uint64(tableau.rest.size)):
        m += tableau.side[i] == FREE
    rank = rebuild(data, tableau)
    progress[REBUILDS] += 1
    progress[AGE] = 0
    progress[FRESH] = 1
    if rank < m:
        progress[END] = OVERFLOW


@inlined
def survey(data, tableau, progress):
    """Count the rows that are wrong: (the first of the free ones, the first of the tight ones, is any doubtful?).

    n stands for none.
    """
    n = np.uint64(tableau.rest.size)
    free = tight = n
    wrong_rows, doubtful = 0, False
    for i in range(n):
        if not abs(tableau.value[i]) < np.inf:
            progress[END] = OVERFLOW
        wrong = wrong_by(data, tableau, i)
        if wrong <= ZERO_VALUE * tableau.noise[i]:
            continue
        wrong_rows += 1
        doubtful = doubtful or wrong <= DOUBTFUL * tableau.noise[i]
        if tableau.side[i] == FREE:
            free = min(free, i)
        else:
            tight = min(tight, i)
    progress[WRONG] = wrong_rows
    return free, tight, doubtful


@inlined
def look_closely(data, tableau, progress):
    """A survey whose word can be relied on: an end, or a decision at rounding level, takes fresh values."""
    free, tight, doubtful = survey(data, tableau, progress)
    if (doubtful or progress[WRONG] == 0) and not progress[FRESH] and progress[END] == 0:
        renew(data, tableau, progress)
        free, tight, doubtful = survey(data, tableau, progress)
    return free, tight


@inlined
def note_best(data, tableau, progress, best):
    """Keep x, clipped, of the index set with the fewest wrong rows (THESIS 2.5.2)."""
    if progress[WRONG] >= progress[FEWEST]:
        return
    progress[FEWEST] = progress[WRONG]
    for i in range(np.uint64(best.size)):
        x = tableau.value[i] if tableau.side[i] == FREE else tableau.rest[i]
        best[i] = min(max(x, data.lower[i]), data.upper[i])


@inlined
def swap_sides(data, tableau, r):
    """THESIS eq. 2.41-2.44: a free row goes to the bound that it has passed, a tight one becomes free."""
    target, side = 0.0, FREE
    if tableau.side[r] == FREE:
        below = tableau.value[r] < data.lower[r]
        target, side = (data.lower[r], LOWER) if below else (data.upper[r], UPPER)
    pivot(tableau, r, target, side)


@inlined
def count_pivot(data, tableau, progress):
    progress[PIVOTS] += 1
    progress[AGE] += 1
    progress[FRESH] = 0
    if progress[AGE] % EVALUATE_EVERY == 0:
        renew(data, tableau, progress)


@inlined
def blame(data, tableau, progress, end, row):
    """End with this reason at this row; but ask a fresh tableau first, whether it is so."""
    if progress[AGE] > 0:
        start_afresh(data, tableau, progress)
    else:
        progress[END] = end
        progress[ROW] = row


@kernel
def pivot_by_least_index(count, data, tableau, progress, best):
    """At most `count` pivots, each on the wrong row of least index; return how many were done.

    A pivot that is not positive ends it: A has then a principal minor that is not positive and is no P-matrix.
    """
    n = np.uint64(tableau.rest.size)
    done = 0
    while progress[END] == 0:
        free, tight = look_closely(data, tableau, progress)
        row = min(free, tight)
        if progress[END] != 0:
            break
        note_best(data, tableau, progress, best)
        if row == n:
            progress[END] = SOLVED
        elif done == count:
            break
        else:
            sign = sign_of_pivot(data, tableau, row)
            if sign <= 0:
                blame(data, tableau, progress, ZERO_PIVOT if sign == 0 else NEGATIVE_PIVOT, row)
            else:
                swap_sides(data, tableau, row)
                count_pivot(data, tableau, progress)
                done += 1
    return done


@kernel
def pivot_by_keller(count, data, tableau, progress, best):
    """At most `count` pivots of Keller's method, for symmetric A; return how many were done.

    The first tight row with a slack of the wrong sign is driven: x_r leaves its bound until y_r is zero (r becomes
    free), until it meets its other bound, or until a free x_s meets a bound; s is then made tight and r goes on. All
    the time 1/2 x^T A x + b^T x falls, so no index set comes back. A_FF stays positive definite, for r becomes free
    only where M_rr > 0; thus M_ss > 0 for free rows, and the exchange of r and s, a pivot of size two, comes about as
    two pivots of size one. (Driving the worst row instead takes fewer pivots, but on infeasible problems it follows the
    ray until A_FF is singular to rounding, and the ray then proves nothing.)
    """
    n = np.uint64(tableau.rest.size)
    done = 0
    while progress[END] == 0:
        outside, tight = look_closely(data, tableau, progress)
        if progress[END] != 0:
            break
        note_best(data, tableau, progress, best)
        if progress[WRONG] == 0 and progress[DRIVEN] < 0:
            progress[END] = SOLVED
        elif done == count:
            break
        elif outside < n:  # only after a warm start
            swap_sides(data, tableau, outside)
            count_pivot(data, tableau, progress)
            done += 1
        else:
            if progress[DRIVEN] < 0:
                progress[DRIVEN] = np.int64(tight)
            if drive(data, tableau, progress, np.uint64(progress[DRIVEN])):
                count_pivot(data, tableau, progress)
                done += 1
            else:
                blame(data, tableau, progress, RAY, progress[DRIVEN])
    return done


@inlined
def drive(data, tableau, progress, r):
    """Move x_r until something blocks, and pivot there; False where nothing does."""
    n = np.uint64(tableau.rest.size)
    M, value = tableau.M, tableau.value
    up = tableau.side[r] == LOWER
    sign = 1.0 if up else -1.0
    blocking, farthest = n, (data.upper[r] - tableau.rest[r] if up else tableau.rest[r] - data.lower[r])
    if M[r * n + r] > 0.0 and sign_of_pivot(data, tableau, r) > 0:
        own = max(-sign * value[r], 0.0) / M[r * n + r]
        if own <= farthest:
            blocking, farthest = r, own
    steepest = 0.0
    for i in range(n):
        if tableau.side[i] == FREE:
            steepest = max(steepest, abs(M[i * n + r]))
    for i in range(n):
        rate = sign * M[i * n + r]
        if tableau.side[i] != FREE or abs(rate) <= ZERO_RATE * steepest:
            continue
        room = (value[i] - data.lower[i]) / -rate if rate < 0.0 else (data.upper[i] - value[i]) / rate
        if room < farthest:
            blocking, farthest = i, max(room, 0.0)
    if not farthest < np.inf:
        return False
    target, side = 0.0, FREE
    if blocking != r:
        move(n, tableau, r, sign * farthest)
    if blocking == n:  # x_r has come to its other bound: nothing to exchange
        tableau.rest[r] = data.upper[r] if up else data.lower[r]
        tableau.side[r] = UPPER if up else LOWER
    elif blocking != r:
        falls = M[blocking * n + r] * sign < 0.0
        target, side = (data.lower[blocking], LOWER) if falls else (data.upper[blocking], UPPER)
    if blocking != n:
        pivot(tableau, blocking, target, side)
    if blocking in (n, r):
        progress[DRIVEN] = -1
    return True


@kernel
def free_in_turn(data, tableau, rows):
    """Make these rows free one after the other, as long as each pivot is positive; return how many are.

    So many leading rows of the list have a positive definite A_FF, if A is symmetric.
    """
    n = np.uint64(tableau.rest.size)
    M = tableau.M
    M[:] = data.A
    for i in range(n):
        tableau.depth[i] = abs(M[i * n + i])
    for k in range(np.uint64(rows.size)):
        r = np.uint64(rows[k])
        if sign_of_pivot(data, tableau, r) <= 0:
            return k
        pivot(tableau, r, 0.0, FREE)
    evaluate(data, tableau)
    return np.uint64(rows.size)
