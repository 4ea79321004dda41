"""Linear systems A_FF dx_F = r_F for a set F of free rows that changes from solve to solve (THESIS eq. 2.40).

Four ways, and one function that chooses among the direct ones by an operation count:

* **dense**: gather A_FF, factor it (Cholesky, or LU where A is not symmetric);
* **sparse**: the pattern of all of A is ordered and analysed once; rows that are not free stand in the matrix as rows
  of the identity, so the pattern never changes, and only what lies above a changed row in the elimination tree is
  factored again (LU through SuperLU, from scratch, where A is not symmetric);
* **body**: for A = J M^-1 J^T + C, by the Woodbury formula with K = M + J_F^T C_F^-1 J_F:

      A_FF^-1 r = C_F^-1 (r - J_F K^-1 J_F^T C_F^-1 r),

  which has as many rows as there are velocities, however many contacts there are. A row without compliance gets a small
  one, and what that changes is repaired by iterative refinement;
* **augmented**: with the eliminated unknowns put back, by SuperLU; larger, but no product of matrices is formed;
* **blocks**: groups of rows that are coupled with others by low rank, where every row has a shift: the contacts of
  Stewart and Trinkle;
* **krylov**: preconditioned conjugate gradients, for symmetric A, which is only applied (THESIS Algorithm 10).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from perp.errors import suggest
from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.free_systems.body import LEAST_COMPLIANCE, BodySpace, body_pattern, make_body_plan, movable_parts
from perp.linalg.free_systems.coupled_blocks import CoupledBlocks, find_blocks
from perp.linalg.free_systems.direct import DenseGeneral, DenseSymmetric, SparseGeneral, SparseSymmetric, make_augmented
from perp.linalg.free_systems.krylov import KrylovSystem
from perp.linalg.orderings import order
from perp.linalg.plan import Plan, with_diagonal
from perp.linalg.symbolic import predict_flops
from perp.problems.inputs import Vector
from perp.problems.operators import Operator
from perp.problems.problem import Problem

__all__ = [
    "FreeSystem",
    "DenseSymmetric",
    "DenseGeneral",
    "SparseSymmetric",
    "SparseGeneral",
    "BodySpace",
    "KrylovSystem",
    "CoupledBlocks",
    "choose_system",
    "choose_shifted_system",
    "factor_or_exchange",
    "small_shift",
    "purify",
    "SPACES",
    "SHIFTED_SPACES",
    "LEAST_COMPLIANCE",
]

Kept = TypeVar("Kept")

SPACES = ("auto", "dense", "sparse", "body", "augmented")

SHIFTED_SPACES = (*SPACES, "blocks")
"""Those for systems with a positive shift on every row."""

DENSE_ROWS = 150
"""Up to so many rows the dense factor wins whatever the pattern (measured: 150 rows with 20 % nonzeros)."""

DENSE_SHARE = 0.25
"""With more nonzeros than this share, the factor would be full anyway."""

PURIFICATIONS = 3


def choose_system(problem: Problem, space: str = "auto", ordering: str = "amd", *, general: bool = False) -> FreeSystem:
    """The way to solve for the free rows of this problem; `space` other than "auto" forces one of `SPACES`.

    `general` asks for row exchanges also where A is symmetric: it may be indefinite.
    """
    if space not in SPACES:
        raise ValueError(f"space is {space!r}{suggest(str(space), SPACES)}")
    A = problem.A
    symmetric = bool(problem.is_symmetric) and not general
    if space == "body" and A.factored is None:
        raise ValueError(f"space='body' needs a factored A, and this one is {A.form}")
    if space == "augmented":
        return make_augmented(A)
    matrix = None
    if space == "auto":
        space, matrix = _cheapest(problem, ordering)
    if space == "body":
        factored = A.factored
        assert factored is not None
        assert problem.diagonal is not None
        plan = _kept(A, f"body {ordering}", lambda: make_body_plan(factored, ordering))
        return BodySpace(factored, problem.diagonal, plan)
    if space == "dense":
        dense = problem.A.array() if matrix is None else matrix.toarray()
        return DenseSymmetric(dense) if symmetric else DenseGeneral(dense)
    if not symmetric:
        return SparseGeneral(A.to_sparse() if matrix is None else matrix)

    def make_plan() -> Plan:
        return Plan.make(with_diagonal(A.to_sparse() if matrix is None else matrix), ordering)

    return SparseSymmetric(_kept(A, f"sparse {ordering}", make_plan))


def choose_shifted_system(problem: Problem, space: str = "auto", ordering: str = "amd") -> FreeSystem:
    """The way to solve systems A + diag(shift) whose shift is positive: that of `choose_system`, or blocks.

    Blocks are taken where A is not symmetric and its rows are coupled in groups of low rank, as those of the contacts
    of Stewart and Trinkle are.
    """
    if space not in SHIFTED_SPACES:
        raise ValueError(f"space is {space!r}{suggest(str(space), SHIFTED_SPACES)}")
    if space == "blocks" or (space == "auto" and problem.is_symmetric is False):
        always = space == "blocks"
        blocks = _kept(problem.A, f"blocks {always}", lambda: find_blocks(problem.A, always=always))
        if blocks is not None:
            return CoupledBlocks(blocks)
    return choose_system(problem, space, ordering)


def _cheapest(problem: Problem, ordering: str) -> tuple[str, sparse.csr_array | None]:
    """The space with the fewest operations a factorisation, and A as a sparse array if it had to be formed."""
    A, n = problem.A, problem.n
    if A.is_dense or n <= DENSE_ROWS:
        return "dense", None
    factored = A.factored
    if factored is not None:
        velocities = factored.mass.dofs
        if velocities <= n // 2:  # K is so much smaller that A need not be looked at
            return "body", None
        matrix = A.to_sparse()
        pattern = body_pattern(*movable_parts(factored))
        body, rows = (predict_flops(one, order(one, ordering)) for one in (pattern, matrix))
        return ("body", None) if body < rows else ("sparse", matrix)
    matrix = A.to_sparse()
    return ("dense" if matrix.nnz > DENSE_SHARE * n * n else "sparse"), matrix


_PLANS: WeakKeyDictionary[Operator, dict[str, Any]] = WeakKeyDictionary()


def _kept(A: Operator, name: str, make: Callable[[], Kept]) -> Kept:
    """What `make` makes, kept as long as the operator lives: operators and plans are never changed."""
    plans = _PLANS.setdefault(A, {})
    if name not in plans:
        plans[name] = make()
    plan: Kept = plans[name]
    return plan


def factor_or_exchange(problem: Problem, system: FreeSystem, free: Mask, shift: Vector) -> FreeSystem:
    """Factor; where A is symmetric and not even semi-definite, by another system, with row exchanges.

    Returns the system that holds the factor, with all factorisations counted.
    """
    system.factor(free, shift)
    if not system.negative:
        return system
    general = choose_system(problem, "dense" if system.name == "dense" else "sparse", general=True)
    general.factorisations = system.factorisations
    general.factor(free, shift)
    return general


def small_shift(problem: Problem) -> Vector:
    """What makes dependent rows independent, and is taken back by refinement: a small share of A_ii."""
    assert problem.diagonal is not None
    diagonal = np.abs(problem.diagonal)
    return np.asarray(LEAST_COMPLIANCE * np.maximum(diagonal, 1e-3 * (diagonal.max(initial=0.0) or 1.0)))


def purify(system: FreeSystem, free: Mask, vector: Vector, shift: Vector) -> Vector:
    """The part of the vector that is a null vector of A_FF, up to its length.

    With the shift S that A_FF was factored with, (A_FF + S)^-1 S keeps null vectors of A_FF and makes all else as small
    as the shift is.
    """
    for _ in range(PURIFICATIONS):
        scaled = vector / (np.abs(vector).max(initial=0.0) or 1.0)
        vector = system.solve(np.where(free, shift * scaled, 0.0))
    return vector
