"""How fast the factors here are: what the time of one is predicted by, before it is begun (`perp.problems.deadline`).

Numbers to begin with are those of one core of 2020; each factor that takes longer than a moment corrects them.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from perp.linalg.orderings import order
from perp.linalg.symbolic import adjacency, predict_flops
from perp.problems.deadline import Pace, deadline

SUPERNODAL = Pace(1e10)
"""Operations a second of a sparse Cholesky factor (`Plan.cost`)."""

CONIC = Pace(1e9)
"""Of an iteration of `cone_interior`: a thousand a row for its products and solves, and a fifteenth of `Plan.cost`, as
dense blocks are quick. Within a factor of two for walls of 72 to 30,000 rows and packings of up to 90,000."""

DENSE = Pace(2e10)
"""Of the dense ones: n^3 / 3 for Cholesky, 2 n^3 / 3 for LU."""

SUPERLU = Pace(3e8)
"""Of SuperLU, in operations that a Cholesky factor of the same pattern would take: it exchanges rows, and is not
supernodal in the sense that a cache would feel."""

ANALYSIS = Pace(1.5e6)
"""Entries of a pattern a second that are ordered and analysed."""

BASES = Pace(2e8)
"""Operations a second of singular values of many small matrices."""


class SuperLuTime:
    """Predicts factors of like matrices by SuperLU, which says nothing of its work beforehand.

    Where a deadline holds, the pattern of the first matrix is ordered and counted; those of others are taken to cost as
    much as their number of entries suggests (nested dissection of a plane: entries^1.5).
    """

    def __init__(self) -> None:
        self._pace = Pace(SUPERLU)
        self._operations = self._entries = 0.0

    def work(self, matrix: Any) -> AbstractContextManager[None]:
        """For a sparse matrix: begins only what fits into the time that is left."""
        if not deadline().is_limited:
            return nullcontext()
        if not self._operations:
            self._operations, self._entries = self._count(matrix), float(max(matrix.nnz, 1))
        return self._pace.work(self._operations * (matrix.nnz / self._entries) ** 1.5)

    @staticmethod
    def _count(matrix: Any) -> float:
        with ANALYSIS.work(matrix.nnz):
            graph = adjacency(matrix)
            return float(max(predict_flops(graph, order(graph, "amd")), 1))
