"""A contact problem may have no contacts at all: joints, limits and motors alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import perp
from perp.solvers.roster import suitable_methods

ROWS = np.random.default_rng(0).standard_normal((5, 8))
MATRICES = {
    "factored": perp.FactoredOperator(ROWS, np.ones(8), 1e-3),
    "dense": ROWS @ ROWS.T + 1e-3 * np.eye(5),
    "sparse": sparse.csr_array(ROWS @ ROWS.T + 1e-3 * np.eye(5)),
}


@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
@pytest.mark.parametrize("form", MATRICES)
def test_every_method_solves_joints_alone(form, model):
    problem = perp.ContactProblem(
        MATRICES[form],
        [1.0, -2.0, 0.5, -1.0, 3.0],
        np.empty(0),
        model,
        lower=[-np.inf, -np.inf, -np.inf, 0.0, -1.0],
        upper=[np.inf, np.inf, np.inf, np.inf, 1.0],
    )
    methods = suitable_methods(problem)
    assert len(methods) >= 5
    for method in methods:
        result = perp.solve(problem, method)
        assert result.success, result
