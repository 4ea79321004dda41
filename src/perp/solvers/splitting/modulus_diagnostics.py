"""tau and delta of AMGS Theorem 4.2, which are no proof of anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector
from perp.problems.operators.masses import factor_sparse
from perp.problems.problem import Problem
from perp.solvers.splitting.modulus import AMGS

DENSE_ROWS = 400
"""Up to so many rows the norm is that of a full matrix; beyond, Lanczos finds it."""


@dataclass(frozen=True)
class ModulusDiagnostics:
    tau: float
    """|(D - L)^-1 U|, the spectral norm of one Gauss-Seidel iteration."""
    delta: float
    """2 max(D / (D + gamma Omega)) tau + max(|gamma Omega - D| / (D + gamma Omega))."""


def modulus_diagnostics(
    problem: Problem, gamma: float = 2.0, omega: str = "diagonal", alpha: float | None = None
) -> ModulusDiagnostics:
    """tau and delta for AMGS with these options, as AMGS Theorem 4.2 and Remarks 4.4 and 4.5 define them.

    **They guarantee nothing.** The theorem says that |z - z*| shrinks by delta with every iteration, but its proof
    rests on Lemma 4.1 (17), that the spectral norm of a triangular matrix is that of its diagonal. That holds for
    normal matrices only, and a triangular matrix is normal only if it is diagonal. AMGS may converge where delta > 1,
    and an iteration may shrink the error by less than delta < 1, or not at all. Needs all of A, with a positive
    diagonal.
    """
    method = AMGS(gamma=gamma, omega=omega, alpha=alpha)
    matrix = problem.A.to_sparse()
    diagonal = matrix.diagonal()
    if not np.all(diagonal > 0.0):
        raise InvalidProblem(f"A[{np.argmin(diagonal)},{np.argmin(diagonal)}] is {diagonal.min():g}: not positive")
    if problem.n == 0:
        return ModulusDiagnostics(0.0, 0.0)
    pull = gamma * method.first_alpha(problem, diagonal) * (diagonal if omega == "diagonal" else np.ones(problem.n))
    tau = _gauss_seidel_norm(matrix)
    delta = 2.0 * np.max(diagonal / (diagonal + pull)) * tau + np.max(np.abs(pull - diagonal) / (diagonal + pull))
    return ModulusDiagnostics(tau, float(delta))


def _gauss_seidel_norm(matrix: sparse.csr_array) -> float:
    """|(D - L)^-1 U| in the 2-norm."""
    n = matrix.shape[0]
    lower, upper = sparse.csc_array(sparse.tril(matrix)), sparse.csc_array(sparse.triu(matrix, k=1))
    solver = factor_sparse(lower, permc_spec="NATURAL", diag_pivot_thresh=0.0)
    if n <= DENSE_ROWS:
        return float(np.linalg.norm(solver.solve(upper.toarray()), 2))

    def product(vector: Vector) -> Vector:
        found: Vector = solver.solve(upper @ vector.reshape(-1))
        return found

    def transposed(vector: Vector) -> Vector:
        found: Vector = upper.T @ solver.solve(vector.reshape(-1), trans="T")
        return found

    operator = LinearOperator((n, n), matvec=product, rmatvec=transposed, dtype=np.float64)
    return float(svds(operator, k=1, v0=np.ones(n), return_singular_vectors=False)[0])
