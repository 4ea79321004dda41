"""Modified incomplete Cholesky without fill (Gustafsson 1978), for a triangle that lies by columns.

How it lies is said in `perp.kernels.factors.incomplete_cholesky`, whose solves serve here too.
"""

from __future__ import annotations

from math import sqrt

from perp.kernels.compile import kernel
from perp.kernels.factors.incomplete_cholesky import NONE, REGULAR, SMALL


@kernel
def factor(count, tau, sigma, start, row, row_first, row_next, column, given, size, lowered, L, kind, place):
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
