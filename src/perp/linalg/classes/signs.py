"""Classes that a look at the entries settles: symmetric matrices, and Z-matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from perp.linalg.classes.inquiry import Finding, Inquiry
from perp.linalg.classes.verdict import Witness


def decide_symmetric(inquiry: Inquiry) -> Finding:
    """A = A^T, exactly; the witness is the pair of entries that differ most."""
    subject = inquiry.subject
    if subject.factored:
        return Finding(True, "J M^-1 J^T + C is symmetric, however its entries are rounded")
    if subject.is_symmetric:
        return Finding(True, "every A_ij equals A_ji")
    with np.errstate(over="ignore"):
        difference = sparse.coo_array(abs(subject.given - subject.given.T))
    worst = int(np.argmax(difference.data))
    i, j = int(difference.row[worst]), int(difference.col[worst])
    share = difference.data[worst] / abs(subject.given).max()
    why = f"A[{i},{j}] = {subject.given[i, j]:g} and A[{j},{i}] = {subject.given[j, i]:g}; max |A - A^T| is {share:.1e}"
    return Finding(False, f"{why} of max |A|", Witness("entry", (i, j)))


def decide_Z(inquiry: Inquiry) -> Finding:
    """A_ij <= 0 for all i != j; the witness is the largest entry that is not."""
    place, value = largest_outside(inquiry.subject.given)
    if value <= 0:
        return Finding(True, "no entry off the diagonal is positive")
    return Finding(False, f"A[{place[0]},{place[1]}] = {value:g} is positive", Witness("entry", place))


def largest_outside(matrix: Any) -> tuple[tuple[int, int], float]:
    """The place of the largest (stored) entry off the diagonal, and the entry; -inf where there is none."""
    if isinstance(matrix, np.ndarray):
        outside = matrix.copy()
        np.fill_diagonal(outside, -np.inf)
        row, column = divmod(int(np.argmax(outside)), len(matrix))
        return (row, column), float(outside[row, column])
    entries = sparse.coo_array(matrix)
    values = np.where(entries.row != entries.col, entries.data, -np.inf)
    if not values.size:
        return (0, 0), -np.inf
    k = int(np.argmax(values))
    return (int(entries.row[k]), int(entries.col[k])), float(values[k])
