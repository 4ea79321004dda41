"""What projected-gradient methods step on: a convex set, the metric W in which it is near or far, and its rays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.gradient.metric import diagonal_weights

SCALINGS = ("diagonal", "none")


@dataclass(frozen=True)
class FeasibleSet:
    """The cones of the contacts (rows first, `width` each), then rows with bounds; and `weight`, the diagonal of W."""

    width: np.uint64
    friction: Vector
    lower: Vector
    upper: Vector
    weight: Vector

    @staticmethod
    def of(problem: Problem, scaling: str) -> FeasibleSet:
        weight = freeze(_weights(problem) if scaling == "diagonal" else np.ones(problem.n))
        if isinstance(problem, ContactProblem):
            width = np.uint64(problem.dimension)
            return FeasibleSet(width, problem.friction, problem.lower, problem.upper, weight)
        lower, upper = problem.bounds(problem.b)
        return FeasibleSet(np.uint64(1), freeze(np.zeros(0)), lower, upper, weight)

    def project_step(self, point: Vector, gradient: Vector, shift: Vector, step: float, target: Vector) -> None:
        """target = P(point - step W (gradient + shift)), P the projection on the set."""
        from perp.kernels import projected_gradient as kernels

        kernels.project_step(
            point, gradient, shift, step, self.weight, self.width, self.friction, self.lower, self.upper, target
        )

    def nearest_ray(self, direction: Vector) -> Vector:
        """The nearest direction in which nothing stops x: the cones of the contacts have no end, finite bounds have."""
        lower = freeze(np.where(np.isinf(self.lower), -np.inf, 0.0))
        upper = freeze(np.where(np.isinf(self.upper), np.inf, 0.0))
        ray, still = np.empty(direction.size), np.zeros(direction.size)
        free = FeasibleSet(self.width, self.friction, lower, upper, self.weight)
        free.project_step(direction, still, np.zeros(self.friction.size), 0.0, ray)
        return ray


def _weights(problem: Problem) -> Vector:
    """1 / A_ii, and one over the mean for the rows of a contact: another metric would bend its cone."""
    weight = diagonal_weights(problem)
    if isinstance(problem, ContactProblem):
        contacts = weight[: problem.contact_rows].reshape(problem.contacts, problem.dimension)
        contacts[:] = 1.0 / (1.0 / contacts).mean(axis=1, keepdims=True)
    return weight
