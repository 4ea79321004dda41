"""What projected-gradient methods step on: a convex set, the metric W in which it is near or far, and its rays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.kernels.contacts import cones
from perp.kernels.gradient import projected_gradient as kernels
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.gradient.metric import diagonal_weights
from perp.solvers.options.docs import About

SCALINGS = ("diagonal", "none")
SCALING = About("the metric: the diagonal of A, so that the units of rows do not matter, or none", SCALINGS)


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
        friction = freeze(np.zeros(self.friction.size)) if self.law == cones.FIXED_DISCS else self.friction
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
        bound_together = contacts[:, 1:] if law == cones.FIXED_DISCS else contacts
        bound_together[:] = 1.0 / (1.0 / bound_together).mean(axis=1, keepdims=True)
    return weight
