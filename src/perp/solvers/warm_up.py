"""Load every compiled kernel now, so that no later solve pays for it."""

from __future__ import annotations

import numpy as np

from perp.problems.friction import ContactProblem
from perp.problems.lcp import LCP
from perp.problems.operators import BodyMasses, DenseOperator, FactoredOperator, Operator, SparseOperator
from perp.solvers.api import solve
from perp.solvers.roster import suitable_methods


def warm_up() -> None:
    """Solve a tiny problem with every method in every form of A.

    The first call on a machine compiles the kernels (half a minute); later processes take them from the disk (about a
    second). For programs in which the first solve must be as quick as the others.
    """
    masses = BodyMasses([1.0, 1.0], [np.eye(3)] * 2)
    jacobian = np.random.default_rng(0).standard_normal((6, 2, 6))
    bodies = FactoredOperator.from_body_pairs([[0, 1]] * 6, jacobian, masses)
    forms: list[Operator] = [
        bodies,
        FactoredOperator(bodies.J, masses.to_sparse()),
        DenseOperator(bodies.to_dense()),
        SparseOperator(bodies.to_sparse()),  # full rows: runs of adjacent columns
        SparseOperator(np.eye(6)),  # no runs: plain compressed rows
    ]
    for A in forms:
        for problem in (LCP(A, -np.ones(6)), ContactProblem(A, -np.ones(6), 0.5)):
            for method in suitable_methods(problem):
                solve(problem, method, max_iterations=1).verify()
