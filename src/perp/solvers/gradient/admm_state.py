"""Where ADMM stands: the two copies of x, the slack between them, and the factor of A with the penalties."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from perp.linalg.cholesky import NotFinite, NotPositive
from perp.linalg.free_systems import FreeSystem, factor_or_exchange
from perp.problems.certificates import PROVABLE
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.gradient.admm_memory import Memory
from perp.solvers.gradient.admm_penalty import Penalty
from perp.solvers.gradient.flat_directions import purify
from perp.solvers.gradient.projection import FeasibleSet
from perp.solvers.gradient.rays import RayWatch
from perp.solvers.method import State
from perp.solvers.results.status import Status

INACCURATE = 1e-12
"""The share of the right-hand side from which on what a solve leaves is taken back by refinement."""

ROUNDING, PATIENCE = 1e-14, 50
"""A plain step of the first share of u may be made of rounding errors, and is, if so many bring no shorter one."""

UNLIKE = 1e-3
"""Where w, at rest up to rounding, differs by this share from the slack of z, it rests only beside its own size."""


@dataclass
class SplittingState(State):
    feasible: FeasibleSet
    system: FreeSystem
    penalty: Penalty
    memory: Memory
    rays: RayWatch
    stiffness: float
    """L, the largest eigenvalue of A in the metric."""
    proximal: Vector
    """eta / W_ii."""
    values: Vector
    """The penalties, one a row."""
    u: Vector
    """z - w / penalty: what P is applied to."""
    z: Vector
    w: Vector
    """The slack that belongs to z, shifted for the exact Coulomb law."""
    free_x: Vector
    """The copy of x that knows no bounds."""
    right: Vector
    image: Vector
    """Where a plain step leads from u."""
    nothing: Vector
    refines: bool = False
    """Whether solves are refined, as the factor leaves more than rounding errors."""
    done: int = 0
    shortest: float = math.inf
    """The square of the shortest plain step, among those that may be made of rounding errors."""
    shortest_at: int = 0

    def split(self, problem: Problem) -> None:
        """z, w and the right-hand side of the next solve, from u."""
        from perp.kernels.gradient import admm as kernels

        feasible = self.feasible
        contacts = (feasible.width, feasible.law, feasible.friction)
        known = (self.values, problem.b, self.proximal, self.free_x)
        made = (self.z, self.w, self.right)
        kernels.split(self.u, *known, *contacts, feasible.lower, feasible.upper, *made)

    def factor(self, problem: Problem) -> None:
        """Take the penalties as they now are, with z and w as they stand, and nothing to mix."""
        self.values = self.penalty.values(self.feasible)
        self.u = self.z - self.w / self.values
        self.memory.forget()
        self.split(problem)
        try:
            everything = np.ones(problem.n, dtype=np.bool_)
            self.system = factor_or_exchange(problem, self.system, everything, self.values + self.proximal)
        except (NotFinite, NotPositive) as fault:
            self.ended = Status.BREAKDOWN, str(fault)
            return
        left = self._largest(self._defect(problem, self.system.solve(self.right)))
        self.refines = left > INACCURATE * self._largest(self.right)
        counters = {"penalty": self.penalty.rho, "penalty_updates": float(self.penalty.updates)}
        self.counters.update(self.system.counters() | counters)

    def solve(self, problem: Problem) -> Vector:
        """(A + R + eta W^-1)^-1 right, refined once where the factor is not accurate by itself."""
        x = self.system.solve(self.right)
        if self.refines:
            x += self.system.solve(self._defect(problem, x))
        return x

    def _defect(self, problem: Problem, x: Vector) -> Vector:
        """right - (A + R + eta W^-1) x."""
        product = problem.A.slack(x, self.nothing, np.empty(x.size))
        self.counters["products"] += 1
        return np.asarray(self.right - product - (self.values + self.proximal) * x)

    def watch(self, problem: Problem, way: float, size: float) -> None:
        """End on a ray, or where only rounding errors move u; `way` and `size` are the squares of its step and of u."""
        if problem.kind != "contact/cone" and problem.is_symmetric:
            self.rays.look(problem, self, self.feasible, self.done, self.stiffness)
            if self.certificate is not None and problem.kind in PROVABLE:
                self.certificate: Vector | None
                self.certificate, products = purify(problem, self.certificate)  # huge iterates leave few digits of it
                self.counters["products"] += products
        if way > ROUNDING**2 * size:
            self.shortest, self.shortest_at = math.inf, self.done
        elif way < self.shortest:
            self.shortest, self.shortest_at = way, self.done
        if self.ended is None and (way == 0.0 or self.done - self.shortest_at >= PATIENCE):
            slack = shifted_slack(problem, self.feasible, self.z)
            self.counters["products"] += 1
            if self._largest(slack - self.w) <= UNLIKE * self._largest(self.w):
                self.ended: tuple[Status, str] | None = Status.REDUCED_ACCURACY, "only rounding errors move it"
            else:
                self.ended = (
                    Status.BREAKDOWN,
                    "the slack runs off: A is not positive semidefinite, or nothing solves it",
                )

    def _largest(self, slack: Vector) -> float:
        return float((np.abs(slack) * np.sqrt(self.feasible.weight)).max(initial=0.0))


def shifted_slack(problem: Problem, feasible: FeasibleSet, x: Vector) -> Vector:
    """A x + b, with friction |y_t| added to the normal rows for the exact Coulomb law."""
    from perp.kernels.gradient import projected_gradient

    slack = problem.A.slack(x, problem.b, np.empty(problem.n))
    if problem.kind == "contact/cone":
        width, shift = int(feasible.width), np.empty(feasible.friction.size)
        projected_gradient.shift_normals(slack, feasible.width, feasible.friction, shift)
        slack[: width * shift.size : width] += shift
    return slack
