"""The first guess at the size of A, from which step lengths start; what follows corrects it."""

from __future__ import annotations

import math

from perp.problems.problem import Problem
from perp.solvers.gradient.largest_eigenvalue import estimate_largest_eigenvalue
from perp.solvers.gradient.projection import FeasibleSet

PRODUCTS = 6
SEED = 0


def estimate_stiffness(problem: Problem, feasible: FeasibleSet) -> tuple[float, int]:
    """About |W^1/2 A W^1/2|, which is 1 where nothing can be learnt, and how many products with A it took."""
    largest, products = estimate_largest_eigenvalue(problem, feasible.weight, PRODUCTS, SEED)
    return (largest if 0.0 < largest < math.inf else 1.0), products
