"""P-matrices (all principal minors positive) and P0-matrices (none negative).

Implications come first (Cottle, Pang & Stone 1992, section 3.3; Berman & Plemmons 1994, chapter 6): a positive definite
matrix and an H+-matrix are P, a semi-definite one is P0, for a symmetric matrix these are equivalences. The minors of a
block-triangular matrix are products of minors of its diagonal blocks, so that only these are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from perp.linalg.classes.inquiry import Finding, Inquiry
from perp.linalg.classes.minor_walks import Rows, find_bad_minor, first_bad_minor
from perp.linalg.classes.subject import Subject
from perp.linalg.classes.verdict import Witness
from perp.linalg.classes.witnesses import proves, simplest_vector
from perp.problems.exact_elimination import principal, shifted

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
