"""Incomplete Cholesky factors without fill (THESIS Algorithms 4 and 6, sections 4.1.2 and 4.1.4), and the solves.

A triangle lies by columns: column j is `start[j]` to `start[j + 1]` of `row` and of its numbers, the diagonal entry
first, rows rising. Its rows are lists through the same entries: `row_first[i]` is the place of the first entry of row i
left of the diagonal, `row_next` leads on, NONE ends, `column` tells where an entry stands.

The thesis writes the loops so that a column, once done, is subtracted from all columns to its right. Here column j
is made when its turn comes, from the columns that meet row j, in the same order: the same sums, but what lies to the
right is untouched, so that one can go back and make some columns again.
"""

from __future__ import annotations

from math import cos, inf, sqrt

import numpy as np

from perp.kernels.compile import inlined, kernel

NONE = -1

REGULAR, SMALL, IMAGINARY, DECOUPLED = 0, 1, 2, 3
"""Kinds of columns: the pivot is well above zero; at rounding level; negative, and its magnitude taken; or left out."""

STOP, DECOUPLE, TAKE_MAGNITUDE, SHIFT = 0, 1, 2, 3
"""What to do at a negative pivot."""

MOST_RAISED = 1.0
"""SHIFT raises no diagonal entry further that was raised by this share of itself: beyond it, P loses what A couples."""

ONE = np.uint64(1)


@kernel
def gather(
    order, start, row, values, free, shift, number,
    rows, free_start, free_row, free_values, size, row_first, row_last, row_next, column,
):  # fmt: skip
    """The triangle of A_FF + diag(shift) from that of A, with its rows as lists; returns the number of free rows.

    `order[k]` is the row of A that comes k-th, `rows[j]` the j-th of them that is free. `size` is |A_jj + shift_j|, or
    where that is zero the largest number of the row, or where that is zero 1.
    """
    count = 0
    for k in range(order.size):
        number[k] = NONE
        if free[order[k]]:
            number[k] = count
            rows[count] = order[k]
            row_first[count] = NONE
            size[count] = 0.0
            count += 1
    at = 0
    for k in range(order.size):
        j = number[k]
        if j == NONE:
            continue
        free_start[j] = at
        for q in range(start[k], start[k + 1]):
            i = number[row[q]]
            if i == NONE:
                continue
            free_row[at] = i
            free_values[at] = values[q]
            column[at] = j
            if i != j:
                size[i] = max(size[i], abs(values[q]))
                size[j] = max(size[j], abs(values[q]))
                row_next[at] = NONE
                if row_first[i] == NONE:
                    row_first[i] = at
                else:
                    row_next[row_last[i]] = at
                row_last[i] = at
            at += 1
        free_values[free_start[j]] += shift[order[k]]
    free_start[count] = at
    for j in range(count):
        diagonal = abs(free_values[free_start[j]])
        if diagonal > 0.0:
            size[j] = diagonal
        elif size[j] == 0.0:
            size[j] = 1.0
    return count


@inlined
def _make_column(j, start, row, row_first, row_next, column, given, added, L, kind, place):
    """A_:j - sum_i eta_i L_ji L_:i on the pattern (Algorithm 6, line 18; eta_i = -1 for an imaginary column)."""
    begin, end = start[j], start[j + 1]
    for q in range(begin, end):
        L[q] = given[q]
        place[row[q]] = q
    L[begin] += added[j]
    p = row_first[j]
    while p != NONE:
        i = column[p]
        factor = -L[p] if kind[i] == IMAGINARY else L[p]
        if factor != 0.0:
            for q in range(p, start[i + 1]):
                target = place[row[q]]
                if target != NONE:  # fill-ins are skipped
                    L[target] -= factor * L[q]
        p = row_next[p]
    for q in range(begin, end):
        place[row[q]] = NONE


@inlined
def _shift_givers(j, gamma, row_first, row_next, column, size, L, added, times):
    """Add 2^times gamma to the diagonal of column j and of those that reduced it; returns the first of them.

    A diagonal entry that was raised by MOST_RAISED of itself is not raised again; NONE if that leaves no column.
    """
    first = NONE
    if added[j] < MOST_RAISED * size[j]:
        first = j
        added[j] += 2.0 ** times[j] * gamma * size[j]
        times[j] += 1
    p = row_first[j]
    while p != NONE:
        i = column[p]
        if L[p] != 0.0 and added[i] < MOST_RAISED * size[i]:
            first = i if first == NONE else min(first, i)
            added[i] += 2.0 ** times[i] * gamma * size[i]
            times[i] += 1
        p = row_next[p]
    return first


@kernel
def factor(
    count, rule, tolerance, gamma, budget,
    start, row, row_first, row_next, column, given, size, added, L, kind, times, place,
):  # fmt: skip
    """L L^T ~ given + diag(added); returns the number of columns that were made, less than `count` where it gave up.

    A pivot within `tolerance` of zero, in shares of `size`, belongs to a row that depends on earlier ones: its own
    entry becomes the root of size and the rest of its column zero. Then no direction that A maps to zero is amplified,
    and where nothing was dropped the others still see the exact factor. DECOUPLE takes a row with a negative pivot out
    of the factor altogether, as if A had only its diagonal entry there. So no L_kj^2 exceeds A_kk under any rule but
    TAKE_MAGNITUDE. SHIFT goes back (section 4.1.4) and makes columns again; where there is nothing left to raise it
    decouples, and when it has made `budget` columns again it gives up.
    """
    j = 0
    while j < count:
        begin, end = start[j], start[j + 1]
        kind[j] = REGULAR
        _make_column(j, start, row, row_first, row_next, column, given, added, L, kind, place)
        pivot, least = L[begin], tolerance * size[j]
        if pivot > least:
            root = sqrt(pivot)  #                                                   Algorithm 4, line 4
            L[begin] = root
            for q in range(begin + 1, end):
                L[q] /= root  #                                                     line 7
            j += 1
            continue
        if not pivot >= -least:
            if rule == STOP or budget < 0:
                return j
            if rule == TAKE_MAGNITUDE and pivot < -least:
                kind[j] = IMAGINARY
                root = sqrt(-pivot)  #                                              Algorithm 6, line 8
                L[begin] = root
                for q in range(begin + 1, end):
                    L[q] /= -root  #                                                lines 11 and 12
                j += 1
                continue
            if rule == SHIFT:
                first = _shift_givers(j, gamma, row_first, row_next, column, size, L, added, times)
                if first != NONE:
                    budget -= j + 1 - first
                    j = first
                    continue
            kind[j] = DECOUPLED
            p = row_first[j]
            while p != NONE:
                L[p] = 0.0
                p = row_next[p]
        else:
            kind[j] = SMALL
        L[begin] = sqrt(size[j] + added[j])
        for q in range(begin + 1, end):
            L[q] = 0.0
        j += 1
    return j


@inlined
def _substitute(count, start, row, L, z):
    """z = (L L^T)^-1 z: forward, then backward (THESIS Algorithm 7 as it should be: without signs, i downwards)."""
    for j in range(count):
        first = np.uint64(start[j])
        value = z[j] / L[first]
        z[j] = value
        for q in range(first + ONE, np.uint64(start[j + 1])):
            z[row[q]] -= L[q] * value
    for j in range(count - 1, -1, -1):
        first = np.uint64(start[j])
        value = z[j]
        for q in range(first + ONE, np.uint64(start[j + 1])):
            value -= L[q] * z[row[q]]
        z[j] = value / L[first]


@kernel
def solve(count, start, row, L, z):
    """z = (L L^T)^-1 z."""
    _substitute(count, start, row, L, z)


@kernel
def guess_condition(count, start, row, L, size, work):
    """About the condition of P = L L^T in units of `size`: the largest P_kk times what P^-1 makes of a probe.

    Infinite where something overflows.
    """
    for k in range(count):
        work[k] = 0.0
    for q in range(start[count]):
        work[row[q]] += L[q] * L[q]
    growth, amplification = 0.0, 0.0
    for k in range(count):
        if not work[k] < inf:
            return inf
        growth = max(growth, work[k] / size[k])
        work[k] = sqrt(size[k]) * cos(k)
    _substitute(count, start, row, L, work)
    for k in range(count):
        if not abs(work[k]) < inf:
            return inf
        amplification = max(amplification, abs(work[k]) * sqrt(size[k]))
    return growth * amplification
