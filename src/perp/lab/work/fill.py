"""The matrix of a problem: how full it is, where, and which of the properties that NOTES names it has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from perp.lab.runs.row import DONE, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import fingerprint, make_instance


def perform(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: with `pattern` the series have the `row` and the `column` of every entry that is not zero.

    `zero_diagonal` is the share of zeros on the diagonal, `asymmetry` the largest |A_ij - A_ji| over the largest entry;
    `least_eigenvalue` is that of the symmetric part of A over the rows without a zero on the diagonal, which are all
    rows of a fluid and those of the impulses in a contact problem (NOTES eq. 27).
    """
    problem = make_instance(task.instance, folder).problem
    A = sparse.coo_array(problem.A.to_sparse())
    A.eliminate_zeros()
    row, column = A.coords
    off = row != column
    dense = A.toarray()
    has_diagonal = np.diag(dense) != 0.0
    inner = dense[np.ix_(has_diagonal, has_diagonal)]
    numbers = {
        "entries": float(A.nnz),
        "fill": A.nnz / problem.n**2,
        "bands": float(np.unique(row - column).size),
        "couplings": float(np.unique(A.data[off]).size),
        "asymmetry": float(np.abs(dense - dense.T).max() / np.abs(dense).max()),
        "zero_diagonal": float(np.mean(~has_diagonal)),
        "least_eigenvalue": float(np.linalg.eigvalsh(0.5 * (inner + inner.T))[0]),
    }
    series = {"row": row.astype(np.float64), "column": column.astype(np.float64)}
    return Measurement(
        DONE,
        n=problem.n,
        problem=fingerprint(problem),
        numbers=numbers,
        series=series if task.arguments.get("pattern") else {},
    )


def fill_task(instance: Mapping[str, Any], *, pattern: bool, **others: Any) -> Task:
    """A task of this work; `others` are further fields of `Task`."""
    return Task("fill", instance, arguments={"pattern": pattern}, **others)
