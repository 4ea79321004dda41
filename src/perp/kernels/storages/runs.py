"""Sweeps and products with a matrix in compressed rows whose columns come in runs, as those of assembled contacts do.

Only the first column of a run is stored: `columns[r]`, with its values at `offsets[r]:offsets[r + 1]`; row i owns the
runs `pointers[i]:pointers[i + 1]`. So a product reads two numbers a nonzero instead of three, one after the other.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, uncounted
from perp.kernels.sweeps.sweeping import pass_over_rows, project, project_contact, sweep

ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(1, 5))


@uncounted
def row_slack(storage, b, x, v, i):
    """(A x + b)_i with four partial sums, also for what is left of a run."""
    pointers, columns, offsets, values = storage
    s0 = s1 = s2 = s3 = 0.0
    run = np.uint64(pointers[i])
    last = np.uint64(pointers[i + ONE])
    while run < last:
        k = np.uint64(offsets[run])
        stop = np.uint64(offsets[run + ONE])
        shift = np.uint64(columns[run]) - k
        while k + FOUR <= stop:
            s0 += values[k] * x[shift + k]
            s1 += values[k + ONE] * x[shift + k + ONE]
            s2 += values[k + TWO] * x[shift + k + TWO]
            s3 += values[k + THREE] * x[shift + k + THREE]
            k += FOUR
        if k < stop:
            s0 += values[k] * x[shift + k]
            if k + ONE < stop:
                s1 += values[k + ONE] * x[shift + k + ONE]
                if k + TWO < stop:
                    s2 += values[k + TWO] * x[shift + k + TWO]
        run += ONE
    return (s0 + s1) + (s2 + s3) + b[i]


@uncounted
def row_add(storage, v, i, change):
    """Nothing follows: A reads x itself."""


@kernel
def slack(pointers, columns, offsets, values, b, x, out):
    """out = A x + b."""
    for i in range(np.uint64(b.size)):
        out[i] = row_slack((pointers, columns, offsets, values), b, x, x, i)


@kernel
def sweep_rows(count, order, arrays, vectors):
    for _ in range(count):
        pass_over_rows(project, order, (arrays, row_slack, row_add), vectors)


@kernel
def sweep_contacts(count, order, contact, arrays, vectors):
    sweep(project_contact, project, count, order, contact, (arrays, row_slack, row_add), vectors)
