"""Levels of any sparse matrix through PyAMG's interpolations, truncated to a changing set of free rows."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.problems.deadline import Pace
from perp.problems.inputs import Vector

COARSEST = 50
"""Rows of the coarsest level, which is inverted: so few that no BLAS shares the work among threads."""

ROUNDING = 1e-12
"""Eigenvalues of the coarsest level below this share of the largest are zero."""

V_CYCLE, F_CYCLE, W_CYCLE = 0, 1, 2

SETUP = Pace(3e6)
"""Entries of A a second that PyAMG makes levels of."""


class AlgebraicHierarchy:
    """`AlgebraicHierarchy(A)`, `follow(free)`, then `correct(y, kind, pre, post)`; `usable` if there is a coarse level.

    PyAMG interpolates for all of A once: classically (Ruge & Stüben 1987) where no entry off the diagonal is positive,
    by smoothed aggregation elsewhere. For another F the rows of P outside F are zero, and coarse matrices are
    Galerkin's P^T A P: so that a correction never moves a row that is not free, and has the energy that the levels say.
    """

    def __init__(self, A: sparse.csr_array) -> None:
        self._A = sparse.csr_array(A)
        with SETUP.work(self._A.nnz):
            self._given = _make_interpolations(self._A)
        self._interpolations: list[sparse.csr_array] = []
        self._matrices: list[Any] = []
        self._inverse = np.zeros((0, 0))
        self.closed: int = 0
        self.usable: bool = bool(self._given)

    def follow(self, free: NDArray[np.bool_]) -> None:
        matrix, self._matrices = self._A, []
        self._interpolations = [sparse.csr_array(sparse.diags_array(free.astype(np.float64)) @ self._given[0])]
        self._interpolations += self._given[1:]
        for P in self._interpolations:
            matrix = sparse.csr_array(P.T @ matrix @ P)
            self._matrices.append(sparse.csr_matrix(matrix))  # the kind that PyAMG sweeps over
        values, vectors = np.linalg.eigh(matrix.toarray())
        kept = values > ROUNDING * np.abs(values).max(initial=0.0)
        self.closed = int((~kept & (np.abs(vectors).T @ (matrix.diagonal() > 0.0) > 0.0)).sum())
        self._inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T

    def correct(self, y: Vector, kind: int, pre: int, post: int) -> Vector:
        """-P v, v ~ (P^T A P)^-1 P^T y by one cycle; zero before the first `follow`, when no row is free."""
        if not self._matrices:
            return np.zeros(y.size)
        P = self._interpolations[0]
        d: Vector = -(P @ self._cycle(0, P.T @ y, kind, pre, post))
        return d

    def _cycle(self, level: int, right: Vector, kind: int, pre: int, post: int) -> Vector:
        if level + 1 == len(self._matrices):
            exact: Vector = self._inverse @ right
            return exact
        sweep = import_module("pyamg.relaxation.relaxation").gauss_seidel
        A, P, v = self._matrices[level], self._interpolations[level + 1], np.zeros(right.size)
        for kind_below in {V_CYCLE: [V_CYCLE], F_CYCLE: [F_CYCLE, V_CYCLE], W_CYCLE: [W_CYCLE, W_CYCLE]}[kind]:
            sweep(A, v, right, iterations=pre, sweep="forward")
            v += P @ self._cycle(level + 1, P.T @ (right - A @ v), kind_below, pre, post)
            sweep(A, v, right, iterations=post, sweep="backward")
        return v


def _make_interpolations(A: sparse.csr_array) -> list[sparse.csr_array]:
    """From the finest level down; none where PyAMG makes no levels. The identity where A is small enough to invert."""
    if A.shape[0] <= COARSEST:
        return [sparse.eye_array(A.shape[0], format="csr")]
    entries = A.tocoo()
    is_grid = bool((A.diagonal() > 0.0).all() and (entries.data[entries.row != entries.col] <= 0.0).all())
    amg = import_module("pyamg")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if is_grid:
                levels = amg.ruge_stuben_solver(sparse.csr_matrix(A), max_coarse=COARSEST).levels
            else:  # weights from the rows themselves; PyAMG would draw random vectors to estimate a common one
                smooth = ("jacobi", {"weighting": "local"})
                levels = amg.smoothed_aggregation_solver(
                    sparse.csr_matrix(A), max_coarse=COARSEST, smooth=smooth
                ).levels
        except (ArithmeticError, IndexError, RuntimeError, TypeError, ValueError):
            return []
    found = [sparse.csr_array(level.P) for level in levels[:-1]]
    return found if all(np.isfinite(P.data).all() for P in found) else []
