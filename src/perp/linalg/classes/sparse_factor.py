"""The Cholesky factor of a sparse matrix as a SciPy array, so that its product can be compared with the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from perp.linalg.cholesky import NotFinite, SparseCholesky
from perp.linalg.plan import Plan

ENTRIES_A_SECOND = 4e5
"""Of a matrix that is ordered and analysed."""

FLOPS_A_SECOND = 1e8
"""Of the product of two sparse matrices."""


def factor_by_columns(S: sparse.csr_array, seconds: float) -> tuple[sparse.csc_array, Any] | None:
    """L and the order p with L L^T = S[p, p] up to rounding; None where S has none, or where all that is to be done
    with it takes longer than so many seconds, by a rough guess."""
    if S.nnz > ENTRIES_A_SECOND * seconds:
        return None
    plan = Plan.make(S)
    if plan.cost > FLOPS_A_SECOND * seconds:
        return None
    try:
        factor = SparseCholesky(plan, definite=True)
    except NotFinite:
        return None
    if factor.negative or factor.dependent:
        return None
    symbolic = plan.symbolic
    heights = np.diff(symbolic.rows_start)
    columns = np.arange(symbolic.n)
    owner = symbolic.column_to_super[columns]
    above = columns - symbolic.super_start[owner]  # the block of a supernode begins so many rows above the diagonal
    counts = heights[owner] - above
    starts = np.concatenate([[0], np.cumsum(counts)])
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], counts) + np.repeat(above, counts)
    rows = symbolic.rows[np.repeat(symbolic.rows_start[owner], counts) + within]
    place = np.repeat(symbolic.values_start[owner] + above * heights[owner], counts) + within
    L = sparse.csc_array((factor._factor[place], rows, starts), shape=S.shape)
    return L, symbolic.permutation
