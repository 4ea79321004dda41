"""Incomplete Cholesky factors, and the solves with them.

* `factor`: without fill (THESIS Algorithms 4 and 6, sections 4.1.2 and 4.1.4)
* `factor_by_threshold`: with a drop tolerance and p entries a column (THESIS Algorithm 5); finds the pattern of L
* `factor_modified`: without fill, what is dropped comes off the diagonal (Gustafsson 1978)

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

ONE = np.uint64(1)


# -- without fill ------------------------------------------------------------------------------------------------------


NONE = -1
REGULAR, SMALL, IMAGINARY, DECOUPLED = 0, 1, 2, 3
"""Kinds of columns: the pivot is well above zero; at rounding level; negative, and its magnitude taken; or left out."""
STOP, DECOUPLE, TAKE_MAGNITUDE, SHIFT = 0, 1, 2, 3
"""What to do at a negative pivot."""
MOST_RAISED = 1.0
"""SHIFT raises no diagonal entry further that was raised by this share of itself: beyond it, P loses what A couples."""


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


# -- with a drop tolerance ---------------------------------------------------------------------------------------------


@inlined
def _find_column(j, drop, start, row, given, L_start, L_row, L, row_first, row_next, column, mark, touched, value):
    """A_:j - sum_i L_ji L_:i into `value`, for the rows in `touched`; returns how many those are."""
    count = 0
    for q in range(start[j], start[j + 1]):
        k = row[q]
        mark[k] = j
        value[k] = given[q]
        touched[count] = k
        count += 1
    p = row_first[j]
    while p != NONE:
        factor = L[p]
        if factor != 0.0:
            for q in range(p, L_start[column[p] + 1]):
                k = L_row[q]
                if mark[k] != j:
                    mark[k] = j
                    value[k] = 0.0
                    touched[count] = k
                    count += 1
                value[k] -= factor * L[q]  #                        line 20
                if abs(value[k]) < drop and k != j:
                    value[k] = 0.0  #                               line 22
        p = row_next[p]
    return count


@inlined
def _scale_column(j, root, count, drop, drop_scaled, touched, value, magnitude):
    """Divide by the root of the pivot and keep in `touched`, without the diagonal, what is large; returns how many."""
    kept = 0
    for at in range(count):
        k = touched[at]
        if k == j or value[k] == 0.0 or abs(value[k]) < drop:  #    line 6
            continue
        value[k] /= root  #                                         line 12
        if abs(value[k]) < drop_scaled:  #                          line 13
            continue
        touched[kept] = k
        magnitude[kept] = abs(value[k])
        kept += 1
    return kept


@kernel
def factor_by_threshold(
    first, count, rule, tolerance, relative_drop, largest, start, row, given, size, added,
    L_start, L_row, L, row_first, row_last, row_next, column, kind, mark, touched, value, magnitude,
):  # fmt: skip
    """Columns `first` to `count`; returns how many are done and why it ended: all, a negative pivot, no room in L.

    Pivots that are small or negative are treated as in `factor`.
    """
    if first == 0:
        L_start[0] = 0
        for j in range(count):
            row_first[j] = mark[j] = NONE
    for j in range(first, count):
        at = L_start[j]
        if at + 1 + min(largest, count - 1 - j) > L.size:
            return j, True
        total = 0.0
        for q in range(start[j], start[j + 1]):
            total += given[q] * given[q]
        drop = relative_drop * sqrt(total)  #                       line 3
        made = _find_column(
            j, drop, start, row, given, L_start, L_row, L, row_first, row_next, column, mark, touched, value
        )
        pivot, least = value[j] + added[j], tolerance * size[j]
        kind[j] = REGULAR
        kept = 0
        if pivot > least:
            root = sqrt(pivot)  #                                   line 10
            kept = _scale_column(j, root, made, drop, drop / sqrt(size[j]), touched, value, magnitude)
        else:
            root = sqrt(size[j] + added[j])
            kind[j] = SMALL
            if not pivot >= -least:
                if rule == STOP:
                    return j, False
                kind[j] = DECOUPLED
                p = row_first[j]
                while p != NONE:
                    L[p] = 0.0
                    p = row_next[p]
        bar, ties = -1.0, 0
        if largest == 0:
            kept = 0
        if kept > largest:  #                                       line 17: above the bar, and of those on it the first
            magnitude[:kept].sort()
            bar = magnitude[kept - largest]
            while ties < largest and magnitude[kept - largest + ties] == bar:
                ties += 1
        touched[:kept].sort()
        L_row[at] = j
        L[at] = root
        at += 1
        for place in range(kept):
            k = touched[place]
            if abs(value[k]) <= bar:
                if abs(value[k]) < bar or ties == 0:
                    continue
                ties -= 1
            L_row[at] = k
            L[at] = value[k]
            column[at] = j
            row_next[at] = NONE
            if row_first[k] == NONE:
                row_first[k] = at
            else:
                row_next[row_last[k]] = at
            row_last[k] = at
            at += 1
        L_start[j + 1] = at
    return count, False


# -- without fill, modified --------------------------------------------------------------------------------------------


@kernel
def factor_modified(count, tau, sigma, start, row, row_first, row_next, column, given, size, lowered, L, kind, place):
    """L L^T ~ given: the fill at (k, j), which L has no room for, comes off the diagonal of rows j and k, times tau.

    A pivot that is not above sigma times the diagonal entry becomes that entry (Bridson 2008).
    """
    for j in range(count):
        lowered[j] = 0.0
    for j in range(count):
        begin, end = start[j], start[j + 1]
        for q in range(begin, end):
            L[q] = given[q]
            place[row[q]] = q
        p = row_first[j]
        while p != NONE:
            factor = L[p]
            for q in range(p, start[column[p] + 1]):
                target = place[row[q]]
                if target != NONE:
                    L[target] -= factor * L[q]
                else:
                    fill = tau * factor * L[q]
                    lowered[j] += fill
                    lowered[row[q]] += fill
            p = row_next[p]
        for q in range(begin, end):
            place[row[q]] = NONE
        pivot = L[begin] - lowered[j]
        kind[j] = REGULAR
        if not pivot > sigma * size[j]:
            kind[j] = SMALL
            pivot = size[j]
        root = sqrt(pivot)
        L[begin] = root
        for q in range(begin + 1, end):
            L[q] /= root
