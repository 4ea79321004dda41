"""The signs of all principal minors, by Schur complements (Tsatsomeros & Li 2000): some 3 * 2^n multiplications.

All minors are positive if and only if those without the first row are, and those of the Schur complement of the first
entry, which must be positive itself.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.linalg.classes.subject import UNIT
from perp.problems.exact_elimination import Check, Integers, determinant, echelon, principal, to_integers
from perp.problems.inputs import Matrix

Rows = tuple[int, ...]
Batch = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
"""Schur complements of one size, the bounds of their errors, and the sets of rows that were eliminated, as bits."""

BATCH_ENTRIES = 200_000
"""Schur complements of so many entries in all are computed at once."""

GUARD = 1.0 + 2.0**-46
"""For the rounding of the bounds themselves."""


def first_bad_minor(M: Integers, check: Check, keep: Callable[[int, Rows], bool] | None = None) -> Rows | None:
    """The first set of rows whose principal minor is not positive, exactly; None if all are positive.

    Sets are visited as binary numbers, the last row being the lowest bit: every subset of a set comes before it, so
    that all proper minors of the one that is returned are positive. The tableau of a set belongs to what lies behind
    its last row; it is made from that of the set without this row, which stands unchanged one level below.

    `keep(minor, rows)` is asked about minors that are not positive: true ends the walk with these rows, false skips all
    sets that begin with them.
    """
    n = len(M)
    tableaus: list[Integers] = [M] * (n + 1)
    behind, minors = [0] * (n + 1), [1] * (n + 1)
    count, end = 1, 1 << n
    while count < end:
        if count % 8 == 0:
            check()
        last_bit = (count & -count).bit_length() - 1
        row, level = n - 1 - last_bit, count.bit_count()
        below, at = tableaus[level - 1], row - behind[level - 1]
        minor, divisor = below[at][at], minors[level - 1]
        if minor <= 0:
            rows = _rows_of(count, n)
            if keep is None or keep(minor, rows):
                return rows
            count += 1 << last_bit
            continue
        top = below[at]
        tableaus[level] = [
            [(minor * line[j] - line[at] * top[j]) // divisor for j in range(at + 1, len(top))]
            for line in below[at + 1 :]
        ]
        behind[level], minors[level] = row + 1, minor
        count += 1
    return None


def _rows_of(count: int, n: int) -> Rows:
    return tuple(i for i in range(n) if count >> (n - 1 - i) & 1)


def find_bad_minor(A: Matrix, check: Check) -> Rows | None:
    """Rows of a principal minor that is not positive; None if all are positive: with float64 numbers and error bounds.

    A pivot that its bound does not keep away from zero is decided exactly, and if it is positive, the Schur complement
    behind it is computed exactly and rounded once. So the answer is exact, as that of `first_bad_minor`, but many times
    as fast where few pivots are near zero.
    """
    exact = to_integers(A)
    if exact[0][0] <= 0:
        return (0,)
    unit = Fraction(float(A[0, 0])) / exact[0][0]
    waiting: list[Batch] = [(A[None], np.zeros((1, *A.shape)), np.zeros(1, dtype=np.int64))]
    while waiting:
        check()
        values, errors, sets = waiting.pop()
        size = values.shape[1]
        if values.size > BATCH_ENTRIES and len(sets) > 1:
            half = len(sets) // 2
            waiting += [(values[:half], errors[:half], sets[:half]), (values[half:], errors[half:], sets[half:])]
            continue
        row = A.shape[0] - size
        with np.errstate(all="ignore"):
            doubtful = np.flatnonzero(~(values[:, 0, 0] > errors[:, 0, 0]))
            schur = _eliminate_first(values, errors)
        chosen = sets | np.int64(1 << row)
        for k in doubtful:
            check()
            rows = tuple(i for i in range(row + 1) if int(chosen[k]) >> i & 1)
            if determinant(principal(exact, rows), check) <= 0:
                return rows
            schur[0][k], schur[1][k] = _schur_exactly(exact, unit, rows, row + 1, check)
        if size > 1:
            waiting.append(
                (
                    np.concatenate([values[:, 1:, 1:], schur[0]]),
                    np.concatenate([errors[:, 1:, 1:], schur[1]]),
                    np.concatenate([sets, chosen]),
                )
            )
    return None


def _eliminate_first(values: Any, errors: Any) -> tuple[Any, Any]:
    """s_ij = a_ij - m_i a_1j with m_i = a_i1 / a_11, and how far each may be from the exact one."""
    pivot, pivot_error = values[:, 0, 0, None], errors[:, 0, 0, None]
    top, top_error = values[:, None, 0, 1:], errors[:, None, 0, 1:]
    ratio = values[:, 1:, 0] / pivot
    ratio_error = (errors[:, 1:, 0] + np.abs(ratio) * pivot_error) / (pivot - pivot_error) + 2.0 * UNIT * np.abs(ratio)
    ratio, ratio_error = ratio[:, :, None], ratio_error[:, :, None] * GUARD
    product = ratio * top
    schur = values[:, 1:, 1:] - product
    error = np.abs(ratio) * top_error + ratio_error * (np.abs(top) + top_error)
    error += errors[:, 1:, 1:] + 2.0 * UNIT * (np.abs(product) + np.abs(schur))
    return schur, error * GUARD + 2.0**-1000


def _schur_exactly(M: Integers, unit: Fraction, rows: Rows, first: int, check: Check) -> tuple[Any, Any]:
    """`unit` times the Schur complement of M_rows,rows in the rows from `first` on, and its rounding errors."""
    order = [*rows, *range(first, len(M))]
    found = echelon(principal(M, order), len(rows), check)  # an exchange changes bordered minors and pivot alike
    size = len(order) - len(rows)
    schur = np.array(
        [[float(unit * Fraction(value, found.last)) for value in row[len(rows) :]] for row in found.rows[len(rows) :]]
    )
    schur = schur.reshape(size, size)
    return schur, 2.0 * UNIT * np.abs(schur) + 2.0**-1000
