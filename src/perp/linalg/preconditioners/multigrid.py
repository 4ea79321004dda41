"""Multigrid as a preconditioner: geometric for stencils, and algebraic, through PyAMG, for other matrices."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import MissingExtra
from perp.linalg.multigrid import GridHierarchy, grid_sizes
from perp.linalg.preconditioners.base import Mask, Preconditioner, Recipe, positive_diagonal
from perp.problems.inputs import Vector, require_count
from perp.problems.operators import Operator, StencilOperator
from perp.problems.operators.base import DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem

COARSEST = 50
"""Rows of the coarsest level, which is inverted: so few that no BLAS shares the work among threads."""

REGULAR = 1e-3
"""So much of D^-1 is added to a cycle: the inverse of a singular coarsest level would leave P^-1 without full rank."""


class _Hierarchy(Preconditioner):
    """One V-cycle on the levels of A_FF, which are made again when F changes."""

    def __init__(self, A: sparse.csr_array, diagonal: Vector, sweeps: int) -> None:
        self._A, self._diagonal = A, diagonal
        self._smoother = ("gauss_seidel", {"sweep": "symmetric", "iterations": sweeps})
        entries = A.tocoo()
        self._is_grid = bool((diagonal > 0.0).all() and (entries.data[entries.row != entries.col] <= 0.0).all())
        self._free: Mask = np.zeros(diagonal.size, dtype=np.bool_)
        self._shift = np.full(diagonal.size, np.nan)  # equal to no shift: the first call makes the levels
        self._rows: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self._plain = np.empty(0)
        self._cycle: Any = None

    def follow(self, free: Mask, shift: Vector) -> None:
        if np.array_equal(free, self._free) and np.array_equal(shift, self._shift):
            return
        self._free, self._shift = free.copy(), shift.copy()
        self._rows = np.flatnonzero(free)
        self._plain = positive_diagonal(self._diagonal, shift)[self._rows]
        self._cycle = None
        if self._rows.size:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                self._cycle = self._build()

    def _build(self) -> Any:
        """r -> one cycle; None, which leaves the diagonal, where PyAMG makes no levels that are positive definite."""
        inside = sparse.csr_matrix(self._A[self._rows][:, self._rows] + sparse.diags_array(self._shift[self._rows]))
        options: dict[str, Any] = {"presmoother": self._smoother, "postsmoother": self._smoother}
        options["max_coarse"] = COARSEST
        amg = import_module("pyamg")
        probe = np.cos(np.arange(self._rows.size))
        try:
            if self._is_grid:
                levels = amg.ruge_stuben_solver(inside, coarse_solver="pinv", **options)
            else:  # weights from the rows themselves; PyAMG would draw random vectors to estimate a common one
                smooth = ("jacobi", {"weighting": "local"})
                levels = amg.smoothed_aggregation_solver(inside, coarse_solver="pinv", smooth=smooth, **options)
            cycle = levels.aspreconditioner(cycle="V")
            tried = float(probe @ (cycle @ probe))
        except (ArithmeticError, IndexError, RuntimeError, TypeError, ValueError):
            return None
        return cycle if 0.0 < tried < np.inf else None

    def apply(self, r: Vector) -> Vector:
        z = np.zeros(r.size)
        part = r[self._rows]
        plain = part / self._plain
        z[self._rows] = plain if self._cycle is None else self._cycle @ part + REGULAR * plain
        return z

    def report(self) -> dict[str, float]:
        return {"nonzeros": int(self._A.nnz), "diagonal_only": int(self._cycle is None and self._rows.size > 0)}


@dataclass(frozen=True)
class MultigridPreconditioner(Recipe):
    """P^-1 = one V-cycle on A_FF with `sweeps` before and after each correction: symmetric positive definite where A_FF
    is positive definite or semi-definite.

    For a stencil (of up to three axes) the levels are grids of half as many cells along each axis, and following
    another F takes a few passes over them: `perp.linalg.multigrid`. Sweeps are red-black ones.

    For any other A the levels are PyAMG's: classical coarsening (Ruge & Stüben 1987) where no entry off the diagonal is
    positive, as in pressure equations, and smoothed aggregation (Vaněk, Mandel & Brezina 1996) elsewhere, with
    symmetric Gauss-Seidel sweeps. They are made again for another F: to keep those of all of A and restrict P^-1 to the
    free rows takes four to fifty times as many iterations on Poisson problems, as its coarse levels know nothing of
    the zeros at the border of F. Where no levels come out, P is the diagonal.
    """

    name: ClassVar[str] = "multigrid"
    needs: ClassVar[frozenset[str]] = frozenset({DIAGONAL, TO_SPARSE})
    reference: ClassVar[str] = (
        "McAdams, Sifakis & Teran 2010 (grids); Ruge & Stüben 1987; Bell, Olson & Schroder 2022 (PyAMG)"
    )

    sweeps: int = 1

    def __post_init__(self) -> None:
        require_count(self.sweeps, "sweeps", least=1)

    def objection(self, problem: Problem) -> str | None:
        if _is_grid(problem.A):
            return None
        return str(_missing()) if find_spec("pyamg") is None else super().objection(problem)

    def prepare(self, problem: Problem) -> Preconditioner:
        A = problem.A
        if A.stencil is not None and _is_grid(A):
            return GridMultigrid(A.stencil, self.sweeps)
        if find_spec("pyamg") is None:
            raise _missing()
        assert problem.diagonal is not None
        return _Hierarchy(A.to_sparse(), problem.diagonal, self.sweeps)


def _is_grid(A: Operator) -> bool:
    return A.stencil is not None and grid_sizes(A.stencil) is not None


def _missing() -> MissingExtra:
    return MissingExtra("pyamg", "preconditioner 'multigrid' for an A that is no stencil", "multigrid")


class GridMultigrid(Preconditioner):
    """One V-cycle of `GridHierarchy`."""

    def __init__(self, A: StencilOperator, sweeps: int) -> None:
        self._hierarchy = GridHierarchy(A)
        self._sweeps = sweeps
        self._free: Mask | None = None
        self._shift: Vector | None = None
        """None where it is zero everywhere."""

    def follow(self, free: Mask, shift: Vector) -> None:
        new_shift = shift if shift.any() else None
        if self._free is not None and np.array_equal(free, self._free) and self._is_same(new_shift):
            return
        self._free, self._shift = free.copy(), None if new_shift is None else new_shift.copy()
        self._hierarchy.follow(self._free, self._shift)

    def _is_same(self, shift: Vector | None) -> bool:
        if shift is None or self._shift is None:
            return shift is self._shift
        return np.array_equal(shift, self._shift)

    def apply(self, r: Vector) -> Vector:
        z = np.empty(r.size)
        self._hierarchy.cycle(r, z, self._sweeps)
        return z

    def report(self) -> dict[str, float]:
        return {"nonzeros": self._hierarchy.stored, "levels": self._hierarchy.levels}
