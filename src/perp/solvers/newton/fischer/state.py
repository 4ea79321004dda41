"""Where a Fischer-Newton iteration stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.method import State
from perp.solvers.newton.fischer.equation import Equation, Line, norm
from perp.solvers.newton.fischer.regularisation import Regularisation
from perp.solvers.newton.fischer.strategies import Kinks
from perp.solvers.newton.line_search import Reference
from perp.solvers.newton.proximal_point import Proximal

SMALL = 2.0**-26
"""The square root of the rounding error: steps of finite differences, as a share of x."""


@dataclass
class MeritPoint:
    """A point, which may lie outside the bounds, its slack (of the subproblem, where there is one), F, and theta."""

    point: Vector
    y: Vector
    F: Vector
    theta: float = np.inf
    """1/2 F^T F over unit^2."""

    @staticmethod
    def empty(n: int) -> MeritPoint:
        return MeritPoint(np.empty(n), np.empty(n), np.empty(n))

    def measure(self, problem: Problem, point: Vector, proximal: Proximal, penalty: float, unit: float) -> float:
        """Move to the point; returns theta."""
        from perp.kernels.newton import fischer_derivative

        np.copyto(self.point, point)
        problem.A.slack(self.point, problem.b, self.y)
        proximal.add_to(self.y, self.point)
        bounds = problem.bounds(self.point)
        self.theta = float(fischer_derivative.evaluate(self.point, self.y, *bounds, penalty, unit, self.F))
        return self.theta


@dataclass
class FischerState(State):
    here: MeritPoint
    trial: MeritPoint
    equation: Equation
    kinks: Kinks
    reference: Reference
    proximal: Proximal
    p: Vector
    q: Vector
    penalty: float
    unit: float
    """A power of two about as large as F was at the start where squares of F would overflow, else 1."""
    regularisation: Regularisation
    least: float = np.inf
    """The least theta so far, of this subproblem, that counts as progress."""
    since: int = 0
    """Iterations since then."""
    transposed: sparse.csr_array | None = None

    def try_point(self, problem: Problem, point: Vector) -> float:
        """The merit of a point, which becomes `trial`."""
        return self.trial.measure(problem, point, self.proximal, self.penalty, self.unit)

    def accept(self) -> None:
        """`trial` is where the iteration goes."""
        self.here, self.trial = self.trial, self.here
        self.reference.remember(self.here.theta)

    def restart(self, problem: Problem, point: Vector) -> None:
        """Another merit function from here on: what was remembered belongs to the old one."""
        self.here.measure(problem, point, self.proximal, self.penalty, self.unit)
        self.reference = Reference(self.reference.memory)
        self.reference.remember(self.here.theta)
        self.least, self.since = self.here.theta, 0

    def linearise(self, problem: Problem) -> None:
        """p and q where the iteration stands (NOTES eq. 97)."""
        from perp.kernels.newton import fischer_derivative

        here, chosen = self.here, (self.kinks.a, self.kinks.b)
        bounds = problem.bounds(here.point)
        fischer_derivative.linearise(here.point, here.y, *bounds, self.penalty, *chosen, self.p, self.q)

    def line(self) -> Line:
        """The linear model there; the weight of a proximal-point loop makes a regularisation needless."""
        size = self.unit * float(np.sqrt(2.0 * self.here.theta))  # ||F||
        added = 0.0 if self.proximal.is_on else self.regularisation.size(size)
        return Line(self.here.F, self.p, self.q, self.proximal.weight, added)

    def difference(self, problem: Problem, v: Vector) -> Vector:
        """(F(x + h v) - F(x)) / h for a small h, which is J v up to half of the digits (NOTES eq. 102)."""
        length = norm(v)
        if length == 0.0:
            return np.zeros(v.size)
        h = SMALL * max(1.0, norm(self.here.point)) / length
        self.try_point(problem, self.here.point + h * v)
        return np.asarray((self.trial.F - self.here.F) / h)
