"""Dense factors, column-major and in place: Cholesky, L L^T = A, and LU with row exchanges, P A = L U.

A pivot at or below its `floor` belongs to a row that depends on earlier ones. Its L_jj (U_jj) becomes infinity and the
rest of its column zero: a division by infinity then makes the row's unknown 0, which is to say that the row rests, and
nothing else in the code has to know.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt

import numpy as np

from perp.kernels.blas import add_product, add_product_transposed
from perp.kernels.compile import inlined, kernel
from perp.kernels.factors.lanes import LANES, copy_run, divide, subtract_multiples

# -- Cholesky ----------------------------------------------------------------------------------------------------------


BLOCK = 32
"""Columns that are factored one by one before the next ones are brought up to date by a matrix product."""
ZERO, ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(5))
"""Unsigned, as all indices of inner loops here: with signed ones Numba tests for negative indices, and vectorises
nothing (measured: 2.5 against 0.2 ns an entry)."""
_LANES, _BLOCK = np.uint64(LANES), np.uint64(BLOCK)
DEPENDENT, NEGATIVE = 0, 1
"""Places in `found`: how many rows rest, and how many of them had a pivot so far below zero that A is indefinite."""
DOUBT = 16.0
"""A pivot that should be zero may be below -floor by this factor from rounding alone."""


@inlined
def _factor_square(L, at, size, ld, floor, floor_at, found, square):
    """Columns one by one: divide by the root of the pivot, then subtract from the columns to the right.

    Done in `square`, which has BLOCK rows, in runs of 8 that begin at multiples of 8; what these do above the diagonal
    is not used.
    """
    begin, n, step = np.uint64(at), np.uint64(size), np.uint64(ld)
    padded = np.uint64((size + LANES - 1) // LANES * LANES)
    for j in range(n):
        copy_run(square, j * _BLOCK + j, L, begin + j * step + j, n - j)
    for j in range(n):
        column, first = j * _BLOCK, j - j % _LANES
        pivot, least = square[column + j], floor[np.uint64(floor_at) + j]
        if not isfinite(pivot):
            found[DEPENDENT] = -1
            return
        if pivot > least:
            root = sqrt(pivot)
            for run in range(first, padded, _LANES):
                divide(square, column + run, root)
            square[column + j] = root
            right = j + ONE
            for run in range(first, padded, _LANES):
                count = min(n, run + _LANES) - right
                subtract_multiples(square, right * _BLOCK + run, _BLOCK, column + right, 1, count, column + run)
        else:
            found[DEPENDENT] += 1
            if pivot < -DOUBT * least:
                found[NEGATIVE] += 1
            square[column + j] = inf
            for i in range(j + ONE, n):
                square[column + i] = 0.0
        copy_run(L, begin + j * step + j, square, column + j, n - j)


@inlined
def _invert_triangle(L, at, size, ld, inverse):
    """inverse = the inverse of the lower triangle at `at`, column-major with BLOCK rows, zero above its diagonal.

    Column j of it solves L c = e_j, by columns of L: all c at once, for one column of L after the other, which lies in
    the last column of `inverse` meanwhile, with zeros above.
    """
    begin, n, step = np.uint64(at), np.uint64(size), np.uint64(ld)
    padded = np.uint64((size + LANES - 1) // LANES * LANES)
    last = np.uint64(BLOCK - 1) * _BLOCK
    for e in range(n * _BLOCK):
        inverse[e] = 0.0
    for i in range(n, _BLOCK):
        inverse[last + i] = 0.0
    for k in range(n):
        column, below = begin + k * step, k + ONE
        if below == _BLOCK:
            for i in range(_BLOCK):
                inverse[last + i] = 0.0
        inverse[k * _BLOCK + k] = 1.0
        pivot = L[column + k]
        for j in range(below):
            inverse[j * _BLOCK + k] /= pivot
        if below < n:
            inverse[last + k] = 0.0  # rows before it are zero since their own turn
            copy_run(inverse, last + below, L, column + below, n - below)
            for run in range(below - below % _LANES, padded, _LANES):
                subtract_multiples(inverse, run, _BLOCK, k, _BLOCK, below, last + run)


@inlined
def factor_trapezoid(address, L, at, rows, columns, floor, floor_at, inverse, work, found):
    """Factor the first `columns` columns of a symmetric matrix, of which `rows` rows are given; both begin at `at`.

    `inverse` has BLOCK^2 entries, `work` rows BLOCK. The part above the diagonal is used for scratch.
    """
    for j in range(0, columns, BLOCK):
        width = min(BLOCK, columns - j)
        here = at + j * rows + j
        if j > 0:  # A[j:, j:j+width] -= L[j:, :j] L[j:j+width, :j]^T
            add_product_transposed(
                address, rows - j, width, j, -1.0, L, at + j, rows, L, at + j, rows, 1.0, L, here, rows
            )
        _factor_square(L, here, width, rows, floor, floor_at + j, found, inverse)
        if found[DEPENDENT] < 0:
            return
        below = rows - j - width
        if below > 0:  # L[j+width:, j:j+width] = A[j+width:, j:j+width] L11^-T
            _invert_triangle(L, here, width, rows, inverse)
            add_product_transposed(
                address, below, width, width, 1.0, L, here + width, rows, inverse, 0, BLOCK, 0.0, work, 0, below
            )
            for c in range(width):
                to, source = np.uint64(here + width + c * rows), np.uint64(c * below)
                for i in range(np.uint64(below)):
                    L[to + i] = work[source + i]


@inlined
def solve_lower(L, at, size, ld, x, x_at):
    """x = L^-1 x for the triangle at `at`."""
    begin, n, step, first = np.uint64(at), np.uint64(size), np.uint64(ld), np.uint64(x_at)
    for j in range(n):
        column = begin + j * step
        value = x[first + j] / L[column + j]
        x[first + j] = value
        for i in range(j + ONE, n):
            x[first + i] -= L[column + i] * value


@inlined
def dot_column(L, at, x, x_at, count):
    """The dot product of two runs, in four partial sums."""
    p, q, n, fours = np.uint64(at), np.uint64(x_at), np.uint64(count), np.uint64(count - count % 4)
    a = b = c = d = 0.0
    for i in range(ZERO, fours, FOUR):
        a += L[p + i] * x[q + i]
        b += L[p + i + ONE] * x[q + i + ONE]
        c += L[p + i + TWO] * x[q + i + TWO]
        d += L[p + i + THREE] * x[q + i + THREE]
    for i in range(fours, n):
        a += L[p + i] * x[q + i]
    return (a + b) + (c + d)


@inlined
def combine_columns(L, at, ld, height, width, x, x_at, out):
    """out = sum over columns of L_j x_j, for `height` rows from `at` on.

    Four columns at a time, so that out is read and written a quarter as often.
    """
    rows, first = np.uint64(height), np.uint64(x_at)
    begin, step, columns = np.uint64(at), np.uint64(ld), np.uint64(width)
    fours = np.uint64(width - width % 4)
    for i in range(rows):
        out[i] = 0.0
    for j in range(ZERO, fours, FOUR):
        p = begin + j * step
        q, r, s = p + step, p + TWO * step, p + THREE * step
        a, b, c, d = x[first + j], x[first + j + ONE], x[first + j + TWO], x[first + j + THREE]
        for i in range(rows):
            out[i] += (L[p + i] * a + L[q + i] * b) + (L[r + i] * c + L[s + i] * d)
    for j in range(fours, columns):
        column, value = begin + j * step, x[first + j]
        for i in range(rows):
            out[i] += L[column + i] * value


@inlined
def subtract_dots(L, at, ld, height, width, y, x, x_at):
    """x_j -= L_j · y for each column, over `height` rows from `at` on; two columns share the reading of y."""
    rows, fours = np.uint64(height), np.uint64(height - height % 4)
    begin, step, first, pairs = np.uint64(at), np.uint64(ld), np.uint64(x_at), np.uint64(width - width % 2)
    for j in range(ZERO, pairs, TWO):
        p = begin + j * step
        q = p + step
        a = b = c = d = e = f = g = h = 0.0
        for i in range(ZERO, fours, FOUR):
            a += L[p + i] * y[i]
            b += L[p + i + ONE] * y[i + ONE]
            c += L[p + i + TWO] * y[i + TWO]
            d += L[p + i + THREE] * y[i + THREE]
            e += L[q + i] * y[i]
            f += L[q + i + ONE] * y[i + ONE]
            g += L[q + i + TWO] * y[i + TWO]
            h += L[q + i + THREE] * y[i + THREE]
        for i in range(fours, rows):
            a += L[p + i] * y[i]
            e += L[q + i] * y[i]
        x[first + j] -= (a + b) + (c + d)
        x[first + j + ONE] -= (e + f) + (g + h)
    if width % 2:
        x[first + pairs] -= dot_column(L, at + (width - 1) * ld, y, 0, height)


@inlined
def solve_upper(L, at, size, ld, x, x_at):
    """x = L^-T x for the triangle at `at`."""
    for j in range(size - 1, -1, -1):
        column = at + j * ld
        rest = dot_column(L, column + j + 1, x, x_at + j + 1, size - j - 1)
        x[np.uint64(x_at + j)] = (x[np.uint64(x_at + j)] - rest) / L[np.uint64(column + j)]


@kernel
def gather_square(A, chosen, count, out):
    """out = the lower triangle of A[chosen, chosen], column-major, for symmetric A in row-major order."""
    size = np.uint64(count)
    for j in range(size):
        row, column = np.uint64(chosen[j]), j * size
        for i in range(j, size):
            out[column + i] = A[row, np.uint64(chosen[i])]


@kernel
def factor(address, L, size, floor, inverse, work, found):
    factor_trapezoid(address, L, 0, size, size, floor, 0, inverse, work, found)


@kernel
def solve_lower_many(address, L, size, B, count, inverse, work):
    """B = L^-1 B for the `count` columns of B."""
    for j in range(0, size, BLOCK):
        width = min(BLOCK, size - j)
        here, below = j * size + j, size - j - width
        _invert_triangle(L, here, width, size, inverse)
        add_product(address, width, count, width, 1.0, inverse, 0, BLOCK, B, j, size, 0.0, work, 0, width)
        for c in range(count):
            for i in range(width):
                B[c * size + j + i] = work[c * width + i]
        if below > 0:
            add_product(address, below, count, width, -1.0, L, here + width, size, B, j, size, 1.0, B, j + width, size)


@kernel
def subtract_gram(address, B, size, count, S, transposed):
    """S -= B^T B, for the `count` columns of B; `transposed` lends the memory for B^T."""
    for c in range(count):
        for i in range(size):
            transposed[i * count + c] = B[c * size + i]
    add_product(address, count, count, size, -1.0, transposed, 0, count, B, 0, size, 1.0, S, 0, count)


@kernel
def times_columns(B, size, count, weight, x):
    """x -= B weight."""
    for c in range(count):
        column, factor = np.uint64(c * size), weight[c]
        for i in range(np.uint64(size)):
            x[i] -= B[column + i] * factor


@kernel
def dot_columns(B, size, count, x, out):
    """out -= B^T x."""
    for c in range(count):
        out[c] -= dot_column(B, c * size, x, 0, size)


@kernel
def forward(L, size, x):
    """x = L^-1 x."""
    solve_lower(L, 0, size, size, x, 0)


@kernel
def backward(L, size, x):
    """x = L^-T x."""
    solve_upper(L, 0, size, size, x, 0)


@kernel
def solve(L, size, x):
    """x = (L L^T)^-1 x."""
    solve_lower(L, 0, size, size, x, 0)
    solve_upper(L, 0, size, size, x, 0)


# -- LU ----------------------------------------------------------------------------------------------------------------


@kernel
def gather_whole_square(A, chosen, count, out):
    """out = A[chosen, chosen], column-major, for A in row-major order."""
    for i in range(count):
        row = np.int64(chosen[i])
        for j in range(count):
            out[j * count + i] = A[row, np.int64(chosen[j])]


@kernel
def factor_lu(address, A, size, floor, exchange, inverse, work):
    """Returns how many pivots are at most `floor` (their columns are left out: U_jj = inf), or -1 if not finite.

    `floor` has one number a row, and is exchanged along with them.
    """
    small = 0
    for start in range(0, size, BLOCK):
        width = min(BLOCK, size - start)
        for j in range(start, start + width):  # eliminate within the block of columns
            column = j * size
            best, largest = j, abs(A[column + j])
            for i in range(j + 1, size):
                if abs(A[column + i]) > largest:
                    best, largest = i, abs(A[column + i])
            if not isfinite(largest):
                return -1
            exchange[j] = best
            floor[j], floor[best] = floor[best], floor[j]
            if best != j:
                for k in range(size):
                    A[k * size + j], A[k * size + best] = A[k * size + best], A[k * size + j]
            if largest <= floor[j]:
                small += 1
                A[column + j] = np.inf
                for i in range(j + 1, size):
                    A[column + i] = 0.0
                continue
            pivot = A[column + j]
            for i in range(j + 1, size):
                A[column + i] /= pivot
            for right in range(j + 1, start + width):
                factor, target = A[right * size + j], right * size
                for i in range(j + 1, size):
                    A[target + i] -= factor * A[column + i]
        rest = size - start - width
        if rest == 0:
            continue
        # U12 = L11^-1 A12, by the inverse of the small unit triangle
        for j in range(width):
            for i in range(j):
                inverse[j * BLOCK + i] = 0.0
            inverse[j * BLOCK + j] = 1.0
            for i in range(j + 1, width):
                total = 0.0
                for k in range(j, i):
                    total += A[(start + k) * size + start + i] * inverse[j * BLOCK + k]
                inverse[j * BLOCK + i] = -total
        end = start + width
        add_product(
            address, width, rest, width, 1.0, inverse, 0, BLOCK, A, end * size + start, size, 0.0, work, 0, width
        )
        for j in range(rest):
            for i in range(width):
                A[(end + j) * size + start + i] = work[j * width + i]
        add_product(  # A22 -= L21 U12
            *(address, rest, rest, width, -1.0, A, start * size + end, size),
            *(A, end * size + start, size, 1.0, A, end * size + end, size),
        )
    return small


@kernel
def solve_lu(A, size, exchange, x):
    """x = A^-1 x; unknowns whose column was left out are 0."""
    for j in range(size):
        x[j], x[exchange[j]] = x[exchange[j]], x[j]
    for j in range(size):
        value, column = x[j], j * size
        for i in range(j + 1, size):
            x[i] -= A[column + i] * value
    for j in range(size - 1, -1, -1):
        column = j * size
        value = x[j] / A[column + j]
        x[j] = value
        for i in range(j):
            x[i] -= A[column + i] * value
