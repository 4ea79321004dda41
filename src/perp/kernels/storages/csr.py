"""Sweeps and products with a matrix in compressed rows."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, uncounted
from perp.kernels.sweeps.sweeping import pass_over_rows, project, project_contact, sweep

ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(1, 5))


@uncounted
def dot(indices, values, start, stop, x):
    """Row · x with four partial sums."""
    s0 = s1 = s2 = s3 = 0.0
    k = start
    while k + FOUR <= stop:
        s0 += values[k] * x[indices[k]]
        s1 += values[k + ONE] * x[indices[k + ONE]]
        s2 += values[k + TWO] * x[indices[k + TWO]]
        s3 += values[k + THREE] * x[indices[k + THREE]]
        k += FOUR
    while k < stop:
        s0 += values[k] * x[indices[k]]
        k += ONE
    return (s0 + s1) + (s2 + s3)


@uncounted
def row_slack(storage, b, x, v, i):
    """(A x + b)_i."""
    pointers, indices, values = storage
    return dot(indices, values, np.uint64(pointers[i]), np.uint64(pointers[i + ONE]), x) + b[i]


@uncounted
def row_add(storage, v, i, change):
    """Nothing follows: A reads x itself."""


@kernel
def slack(pointers, indices, values, b, x, out):
    """out = A x + b."""
    for i in range(np.uint64(b.size)):
        out[i] = row_slack((pointers, indices, values), b, x, x, i)


@kernel
def asymmetry(pointers, indices, values):
    """max |A - A^T| of sorted rows: each entry beside its mirror image, found by halving, or beside nothing."""
    worst = 0.0
    for i in range(np.uint64(pointers.size) - ONE):
        for k in range(np.uint64(pointers[i]), np.uint64(pointers[i + ONE])):
            j = np.uint64(indices[k])
            if j == i:
                continue
            low, high = np.uint64(pointers[j]), np.uint64(pointers[j + ONE])
            while low < high:
                middle = (low + high) // TWO
                if np.uint64(indices[middle]) < i:
                    low = middle + ONE
                else:
                    high = middle
            found = low < np.uint64(pointers[j + ONE]) and np.uint64(indices[low]) == i
            worst = max(worst, abs(values[k] - (values[low] if found else 0.0)))
    return worst


@kernel
def sweep_rows(count, order, arrays, vectors):
    for _ in range(count):
        pass_over_rows(project, order, (arrays, row_slack, row_add), vectors)


@kernel
def sweep_contacts(count, order, contact, arrays, vectors):
    sweep(project_contact, project, count, order, contact, (arrays, row_slack, row_add), vectors)
