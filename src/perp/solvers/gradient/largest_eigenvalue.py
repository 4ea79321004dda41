"""Estimates of the largest eigenvalue of A in a diagonal metric, from which step lengths start (Lanczos 1950)."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import eigh_tridiagonal

from perp.kernels.gradient import conjugate_gradients
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.gradient.projection import FeasibleSet

PRODUCTS = 6
"""With A, for the first guess of `estimate_stiffness`; what follows corrects it."""

SEED = 0


def estimate_largest_eigenvalue(problem: Problem, weight: Vector, products: int, seed: int) -> tuple[float, int]:
    """The largest eigenvalue of W^1/2 A W^1/2, W = diag(weight), and how many products with A it took.

    The largest Ritz value after that many steps of Lanczos, plus the residual of its vector: an interval of that size
    around it holds an eigenvalue, and nearly always the largest lies below its end. A starting vector without any part
    of it could deceive the estimate; so methods must notice when steps are too long.

    Where A knows a bound on its norm and all weights are equal, that is the estimate, and takes no product.
    """
    bound = problem.A.norm_bound()
    if bound is not None and 0.0 < bound < np.inf and np.ptp(weight) == 0.0:
        return bound * float(weight[0]), 0

    n = problem.n
    root, zero = np.sqrt(weight), freeze(np.zeros(n))
    vector, before, image = np.random.default_rng(seed).standard_normal(n), np.zeros(n), np.empty(n)
    scratch = np.empty(n)
    vector /= np.sqrt(conjugate_gradients.dot(vector, vector)) or 1.0
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(min(products, n)):
        problem.A.slack(np.multiply(root, vector, out=scratch), zero, image)
        image *= root
        diagonal.append(conjugate_gradients.dot(vector, image))
        image -= np.multiply(vector, diagonal[-1], out=scratch)
        if beside:
            image -= np.multiply(before, beside[-1], out=scratch)
        beside.append(float(np.sqrt(conjugate_gradients.dot(image, image))))
        if not np.isfinite(beside[-1]) or beside[-1] <= 1e-14 * max(map(abs, diagonal)):
            break
        before, vector = vector, np.divide(image, beside[-1], out=before)
    if not diagonal:
        return 0.0, 0
    if not np.isfinite(diagonal + beside).all():
        return np.inf, len(diagonal)
    values, vectors = eigh_tridiagonal(np.array(diagonal), np.array(beside[:-1]), lapack_driver="stev")
    largest = int(np.argmax(np.abs(values)))
    return float(abs(values[largest]) + beside[-1] * abs(vectors[-1, largest])), len(diagonal)


def estimate_stiffness(problem: Problem, feasible: FeasibleSet) -> tuple[float, int]:
    """About |W^1/2 A W^1/2|, which is 1 where nothing can be learnt, and how many products with A it took."""
    largest, products = estimate_largest_eigenvalue(problem, feasible.weight, PRODUCTS, SEED)
    return (largest if 0.0 < largest < math.inf else 1.0), products
