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

from perp.linalg.free_systems.base import FreeSystem
from perp.linalg.free_systems.body import LEAST_COMPLIANCE, BodySpace
from perp.linalg.free_systems.choice import (
    SHIFTED_SPACES,
    SPACES,
    choose_shifted_system,
    choose_system,
    factor_or_exchange,
    purify,
    small_shift,
)
from perp.linalg.free_systems.coupled_blocks import CoupledBlocks
from perp.linalg.free_systems.direct import DenseGeneral, DenseSymmetric, SparseGeneral, SparseSymmetric
from perp.linalg.free_systems.krylov import KrylovSystem

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
