"""A small boxed problem solved in one call: block principal pivots on a dense A, with everything that is judged.

The rows stand at a bound or are free; the free ones are solved for, and every row that objects changes sides (THESIS
2.5.3, Algorithm 1). Where that brings no fewer objections `PATIENCE` times in a row, only the last of the objecting
rows changes, which ends for P-matrices (Murty 1974; Júdice & Pires 1994), until there are fewer than ever before. For
problems of a few dozen rows the whole of it costs less than one turn of the loop that iterative methods share.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel

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
