"""Incomplete Cholesky with a drop tolerance and p entries a column (THESIS Algorithm 5).

Triangles and lists of rows lie as in `incomplete_cholesky`; here the pattern of L is found on the way.
"""

from __future__ import annotations

from math import sqrt

from perp.kernels.compile import inlined, kernel
from perp.kernels.factors.incomplete_cholesky import DECOUPLED, NONE, REGULAR, SMALL, STOP


@inlined
def _make_column(j, drop, start, row, given, L_start, L_row, L, row_first, row_next, column, mark, touched, value):
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
def factor(
    first, count, rule, tolerance, relative_drop, largest, start, row, given, size, added,
    L_start, L_row, L, row_first, row_last, row_next, column, kind, mark, touched, value, magnitude,
):  # fmt: skip
    """Columns `first` to `count`; returns how many are done and why it ended: all, a negative pivot, no room in L.

    Pivots that are small or negative are treated as in `incomplete_cholesky.factor`.
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
        made = _make_column(
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
