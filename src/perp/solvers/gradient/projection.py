"""What projected-gradient methods step on: a convex set, the metric W in which it is near or far, and its rays.

The diagonal metric in which gradients are measured: x_i has the unit of 1 / sqrt(A_ii), a slack that of sqrt(A_ii).

A box stays a box when its unknowns are scaled one by one. So methods that would suffer from rows of unlike size measure
|r|^2 as sum weight_i r_i^2 with weight_i = 1 / A_ii, which is Jacobi's preconditioner for all rows, free or not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh_tridiagonal

from perp.kernels.gradient import conjugate_gradients
from perp.kernels.gradient import first_order as kernels
from perp.kernels.measures import projection
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.options import About

SMALLEST = 1e-307
"""Below this 1 / A_ii could overflow."""

PRODUCTS = 6
"""With A, for the first guess of `estimate_stiffness`; what follows corrects it."""

SEED = 0

SCALINGS = ("diagonal", "none")

SCALING = About("the metric: the diagonal of A, so that the units of rows do not matter, or none", SCALINGS)


def diagonal_weights(problem: Problem) -> Vector:
    """1 / |A_ii|; for a row without a diagonal entry its largest one stands in, and 1 where nothing is known."""
    if problem.diagonal is None:
        return np.ones(problem.n)
    if problem.n and problem.diagonal.min() >= SMALLEST:
        return 1.0 / problem.diagonal
    size = np.abs(problem.diagonal)
    if not size.all():
        size = np.where(size == 0.0, problem.A.row_sizes(), size)
        size[size == 0.0] = size.max(initial=0.0) or 1.0
    return 1.0 / np.maximum(size, SMALLEST)


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


@dataclass(frozen=True)
class FeasibleSet:
    """The cones or fixed discs of the contacts (rows first, `width` each), then rows with bounds; `weight` is diag(W).

    `law` is the kernels' number for what bounds a contact; all but fixed discs are taken as cones.
    """

    width: np.uint64
    law: np.uint64
    friction: Vector
    lower: Vector
    upper: Vector
    weight: Vector

    @staticmethod
    def of(problem: Problem, scaling: str) -> FeasibleSet:
        weight = freeze(_weights(problem) if scaling == "diagonal" else np.ones(problem.n))
        return FeasibleSet(*problem.law, problem.lower, problem.upper, weight)

    def project_step(self, point: Vector, gradient: Vector, shift: Vector, step: float, target: Vector) -> None:
        """target = P(point - step W (gradient + shift)), P the projection on the set."""
        contacts = (self.width, self.law, self.friction)
        kernels.project_step(point, gradient, shift, step, self.weight, *contacts, self.lower, self.upper, target)

    def nearest_ray(self, direction: Vector) -> Vector:
        """The nearest direction in which nothing stops x: the cones of contacts have no end, discs and bounds have."""
        lower = freeze(np.where(np.isinf(self.lower), -np.inf, 0.0))
        upper = freeze(np.where(np.isinf(self.upper), np.inf, 0.0))
        ray, still = np.empty(direction.size), np.zeros(direction.size)
        friction = freeze(np.zeros(self.friction.size)) if self.law == projection.FIXED_DISCS else self.friction
        free = FeasibleSet(self.width, self.law, friction, lower, upper, self.weight)
        free.project_step(direction, still, np.zeros(self.friction.size), 0.0, ray)
        return ray


def _weights(problem: Problem) -> Vector:
    """1 / A_ii, and one over the mean for the rows of a contact: another metric would bend its cone.

    A fixed disc leaves the normal row by itself.
    """
    weight = diagonal_weights(problem)
    width, law, _ = problem.law
    if problem.contacts:
        contacts = weight[: problem.contact_rows].reshape(problem.contacts, int(width))
        bound_together = contacts[:, 1:] if law == projection.FIXED_DISCS else contacts
        bound_together[:] = 1.0 / (1.0 / bound_together).mean(axis=1, keepdims=True)
    return weight
