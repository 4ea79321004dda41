"""SuperLU behind a guard."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from scipy.sparse.csgraph import structural_rank
from scipy.sparse.linalg import splu


def factor_sparse(matrix: Any, **options: Any) -> Any:
    """The LU factor of a square sparse matrix, or RuntimeError where it is singular.

    SuperLU writes beyond its arrays where the pattern alone makes a matrix singular (seen here: a crash in one of three
    runs), so the pattern is looked at first: a matching of rows and columns, needed only where the diagonal has holes.
    """
    columns = sparse.csc_array(matrix)
    n = columns.shape[0]
    if (columns.diagonal() == 0.0).any() and structural_rank(columns) < n:
        raise RuntimeError("the pattern of its nonzeros makes the matrix singular")
    return splu(columns, **options)
