"""P-matrices (all principal minors positive) and P0-matrices (none negative).

Implications come first (Cottle, Pang & Stone 1992, section 3.3; Berman & Plemmons 1994, chapter 6): a positive definite
matrix and an H+-matrix are P, a semi-definite one is P0, for a symmetric matrix these are equivalences. The minors of a
block-triangular matrix are products of minors of its diagonal blocks, so that only these are looked at.

What is left is a walk through all principal minors by Schur complements (Tsatsomeros & Li 2000), some 3 * 2^n
multiplications: all minors are positive if and only if those without the first row are, and those of the Schur
complement of the first entry, which must be positive itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from perp.linalg.classes.inquiry import UNIT, Finding, Inquiry, Subject, Witness
from perp.linalg.classes.witnesses import proves, simplest_vector
from perp.problems.exact_elimination import Check, Integers, determinant, echelon, principal, shifted, to_integers
from perp.problems.inputs import Matrix

EXACT_WALK = 11
"""Blocks of up to so many rows are walked through with whole numbers, larger ones with error bounds."""
MOST_ROWS = 40
"""Beyond, 2^n minors are out of reach for everybody."""
PAIRS_TRIED = 20
"""Minors of two rows that seem to be negative, and are computed exactly."""
EIGENVECTOR_ROWS = 300
"""The exact check of a vector of more rows takes long."""
FLOORS = (1e-14, 1e-9, 1e-5)
"""Entries below such a share of the largest are set to zero: at the level of rounding errors they may have any sign."""

Rows = tuple[int, ...]
Batch = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
"""Schur complements of one size, the bounds of their errors, and the sets of rows that were eliminated, as bits."""
BATCH_ENTRIES = 200_000
"""Schur complements of so many entries in all are computed at once."""
GUARD = 1.0 + 2.0**-46
"""For the rounding of the bounds themselves."""


def decide_P(inquiry: Inquiry) -> Finding:
    """All principal minors are positive."""
    subject = inquiry.subject
    if subject.diagonal.min() <= 0:
        low = int(np.argmin(subject.diagonal))
        return _minor(subject, "P", (low,))
    definite = inquiry.ask("positive_definite")
    if definite:
        return Finding(True, "positive definite")
    if inquiry.ask("H_plus"):
        return Finding(True, "an H+-matrix")
    if subject.is_symmetric:
        return _symmetric(inquiry, "P", definite.answer, definite.witness)
    for rows in _pairs(subject, strict=False):
        return _minor(subject, "P", rows)
    blocks = _blocks(subject)
    if all(block.size == 1 for block in blocks):
        return Finding(True, "triangular, up to the order of rows, with a positive diagonal")
    if vector := negative_eigenvector(inquiry, "P"):
        return Finding(False, "x_i (A x)_i <= 0 for all i with the witness x, an eigenvector", vector)
    if max(block.size for block in blocks) > MOST_ROWS:
        return Finding(None, _too_large(blocks))
    for block in blocks:
        bad = _walk(inquiry, block)
        if bad is not None:
            return _minor(subject, "P", tuple(int(block[i]) for i in bad))
    return Finding(True, f"all principal minors are positive (Tsatsomeros & Li 2000), {_told(blocks)}")


def decide_P0(inquiry: Inquiry) -> Finding:
    """No principal minor is negative: 2^s A + I is a P-matrix for a large s (Fiedler & Ptak 1966)."""
    subject = inquiry.subject
    if subject.diagonal.min() < 0:
        return _minor(subject, "P0", (int(np.argmin(subject.diagonal)),))
    semi = inquiry.ask("positive_semidefinite")
    if semi:
        return Finding(True, "positive semi-definite")
    strict = inquiry.ask("P")
    if strict:
        return Finding(True, "a P-matrix")
    if subject.is_symmetric:
        return _symmetric(inquiry, "P0", semi.answer, semi.witness)
    witness = strict.witness
    if witness is not None and proves(subject, "P0", False, witness):
        if witness.kind == "minor":
            return _minor(subject, "P0", witness.rows)
        return Finding(False, "x_i (A x)_i < 0 for all i with x_i != 0, with the witness x", witness)
    for rows in _pairs(subject, strict=True):
        return _minor(subject, "P0", rows)
    blocks = _blocks(subject)
    if max(block.size for block in blocks) > MOST_ROWS:
        return Finding(None, _too_large(blocks))
    for block in blocks:
        bad = first_bad_minor(shifted(principal(subject.integers, block.tolist()), 1), inquiry.check)
        if bad is not None:  # all proper minors are >= 0, so that this one, and not its shift, is negative
            return _minor(subject, "P0", tuple(int(block[i]) for i in bad))
    return Finding(True, f"no principal minor is negative, all having been computed exactly, {_told(blocks)}")


def _walk(inquiry: Inquiry, block: NDArray[np.intp]) -> Rows | None:
    if block.size <= EXACT_WALK:
        return first_bad_minor(principal(inquiry.subject.integers, block.tolist()), inquiry.check)
    return find_bad_minor(inquiry.subject.dense[np.ix_(block, block)], inquiry.check)


def _minor(subject: Subject, name: str, rows: Rows) -> Finding:
    told = f"A[{rows[0]},{rows[0]}]" if len(rows) == 1 else f"the principal minor of {len(rows)} rows"
    return Finding(False, f"{told} is {'not positive' if name == 'P' else 'negative'}", Witness("minor", rows))


def _symmetric(inquiry: Inquiry, name: str, answer: bool | None, witness: Witness | None) -> Finding:
    """For a symmetric A: P is positive definite, P0 is positive semi-definite."""
    twin = "positive definite" if name == "P" else "positive semi-definite"
    if witness is None or answer is not False:
        return Finding(answer, f"for a symmetric matrix the same as {twin}")
    subject = inquiry.subject
    if subject.n <= EXACT_WALK:
        M = subject.integers
        rows = first_bad_minor(M if name == "P" else shifted(M, 1), inquiry.check)
        if rows is not None:
            return _minor(subject, name, rows)
    curvature = Witness("curvature", x=witness.x)
    return Finding(False, f"symmetric and not {twin}", curvature)


def _pairs(subject: Subject, *, strict: bool) -> Iterator[Rows]:
    """Pairs of rows whose minor is negative (or, not `strict`, zero), the most negative ones first."""
    if subject.is_dense:
        A = subject.dense
        with np.errstate(over="ignore", invalid="ignore"):
            minors = np.triu(np.outer(subject.diagonal, subject.diagonal) - A * A.T, 1)
        row, column = np.nonzero(minors <= 1e-12 * subject.diagonal.max() ** 2 * np.triu(np.ones_like(A), 1))
        row, column = row[row < column], column[row < column]
        value = minors[row, column]
    else:
        both = sparse.triu(subject.matrix.multiply(subject.matrix.T), 1).tocoo()
        value = subject.diagonal[both.row] * subject.diagonal[both.col] - both.data
        low = value <= 1e-12 * subject.diagonal.max() ** 2
        row, column, value = both.row[low], both.col[low], value[low]
    for k in np.argsort(value, kind="stable")[:PAIRS_TRIED]:
        rows = (int(row[k]), int(column[k]))
        if proves(subject, "P0" if strict else "P", False, Witness("minor", rows)):
            yield rows


def _blocks(subject: Subject) -> list[NDArray[np.intp]]:
    """The rows of the diagonal blocks of the block-triangular form: strongly connected parts of the graph of A."""
    count, part = connected_components(sparse.csr_array(subject.matrix), connection="strong")
    order = np.argsort(part, kind="stable")
    return np.split(order, np.searchsorted(part[order], np.arange(1, count)))


def _told(blocks: list[NDArray[np.intp]]) -> str:
    largest = max(block.size for block in blocks)
    return f"n = {largest}" if len(blocks) == 1 else f"in {len(blocks)} diagonal blocks of at most {largest} rows"


def _too_large(blocks: list[NDArray[np.intp]]) -> str:
    largest = max(block.size for block in blocks)
    return f"no implication settles it, and a block of {largest} rows has too many minors to compute them all"


def negative_eigenvector(inquiry: Inquiry, name: str) -> Witness | None:
    """A witness against the class `name` among the eigenvectors of A (of A^T for `row_sufficient`), if there is one.

    That of a negative eigenvalue l has x_i (A x)_i = l x_i^2 <= 0 for all i, which contradicts P, P0 and sufficiency.
    """
    subject = inquiry.subject
    if not subject.is_dense or not 2 < subject.n <= EIGENVECTOR_ROWS or inquiry.seconds_left < 5e-8 * subject.n**3:
        return None
    values, vectors = np.linalg.eig(subject.dense.T if name == "row_sufficient" else subject.dense)
    real = np.flatnonzero((values.imag == 0.0) & (values.real < 0.0))
    for k in real[np.argsort(values.real[real])][:3]:
        x = vectors[:, k].real.copy()
        for floor in FLOORS:
            inquiry.check()
            x[np.abs(x) < floor * np.abs(x).max()] = 0.0
            if witness := simplest_vector(subject, name, False, x.tolist()):
                return witness
    return None


# -- all principal minors ----------------------------------------------------------------------------------------------


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
