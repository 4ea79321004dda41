"""Accelerated projected gradient descent (Nesterov 1983; Mazhar, Heyn, Negrut & Tasora 2015 for contacts)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perp.kernels.gradient import first_order as kernels
from perp.problems.inputs import Vector, require_count
from perp.problems.operators.base import APPLY
from perp.problems.problem import Problem
from perp.solvers.gradient.projection import SCALING, SCALINGS, FeasibleSet, estimate_stiffness
from perp.solvers.gradient.rays import RayWatch
from perp.solvers.method import Method, State
from perp.solvers.options import About, option, require_choices
from perp.solvers.results import Status
from perp.solvers.symmetry import asymmetry_objection

RESTARTS = ("gradient", "function", "none")

GROWTH, SHRINKAGE = 2.0, 0.9
"""Of the Lipschitz constant L, when a step was too long and after every step (Mazhar et al. 2015, Algorithm 1)."""

LEAST, MOST = 1e-6, 16.0
"""L stays between these shares of the first estimate: what asks for more is rounding error in tiny steps."""

EPSILON = 2.0**-50


@dataclass
class AcceleratedState(State):
    feasible: FeasibleSet
    gradient_x: Vector
    """A x + b."""
    point: Vector
    """Where the gradient is taken: x carried on by its momentum."""
    gradient: Vector
    new: Vector
    gradient_new: Vector
    shift: Vector
    """friction |y_t| of each contact for the exact Coulomb law; zeros for the convex models."""
    rays: RayWatch
    stiffness: float
    """The first estimate of L."""
    lipschitz: float
    theta: float = 1.0
    done: int = 0


@dataclass(frozen=True)
class APGD(Method[AcceleratedState]):
    """Accelerated projected gradients: steps are taken from a point z that runs ahead of x.

    In the metric W,

        x_new  = P(z - W (A z + b) / L),        L doubled until  d^T A d <= L d^T W^-1 d,   d = x_new - z
        theta' = (theta sqrt(theta^2 + 4) - theta^2) / 2,     beta = theta (1 - theta) / (theta^2 + theta')
        z      = x_new + beta (x_new - x)

    (Mazhar et al. 2015, Algorithm 1). P is the exact projection on the box, or on the cones or fixed discs of contacts.
    The error falls as 1/k^2 and, thanks to restarts, at a rate set by the square root of the condition number where A
    is definite: `restart="gradient"` forgets the momentum when it leads uphill, (A z + b)^T (x_new - x) > 0, "function"
    when the objective rose (O'Donoghue & Candes 2015, section 3.2), "none" never. L shrinks by a tenth a step.

    The gradient is affine, so that of z follows from those of two iterates: one product with A an iteration, and one
    more where L was too small. `scaling="diagonal"` takes W = diag(A)^-1 where A knows its diagonal (a contact has the
    mean of its rows, a disc that of its tangents), so that the units of the rows do not matter; "none" takes W = I.

    The exact cone is solved as a sequence of convex ones: every `shift_every` iterations friction |y_t| is added to the
    normal slack anew (De Saxce & Feng 1998; Acary & Cadoux 2013). That fixed point need not attract where friction is
    strong.
    """

    name: ClassVar[str] = "apgd"
    synonyms: ClassVar[tuple[str, ...]] = (
        "accelerated projected gradient",
        "accelerated projected gradient descent",
        "Nesterov",
        "FISTA",
    )
    family: ClassVar[str] = "gradient"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/convex", "contact/disc", "contact/cone"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY})
    requires: ClassVar[str] = "symmetric positive semidefinite; for exact cones it need not converge"
    reference: ClassVar[str] = "Mazhar, Heyn, Negrut & Tasora 2015, Algorithm 1; O'Donoghue & Candes 2015, section 3.2"
    scales_itself: ClassVar[bool] = True
    check_every: ClassVar[int] = 10
    counted: ClassVar[tuple[str, ...]] = ("products", "restarts", "line_search_evaluations")

    restart: str = option(
        "gradient",
        About(
            "the momentum is forgotten when it leads uphill (gradient), when the objective rose (function), or never",
            RESTARTS,
        ),
    )
    scaling: str = option("diagonal", SCALING)
    shift_every: int = option(1, About("exact cones: iterations between shifts by friction |y_t|", at_least=1))

    def __post_init__(self) -> None:
        require_choices(self, restart=RESTARTS, scaling=SCALINGS)
        require_count(self.shift_every, "shift_every", least=1)

    def objection(self, problem: Problem) -> str | None:
        return asymmetry_objection(problem)

    def default_iterations(self, problem: Problem) -> int:
        return 10_000

    def start(self, problem: Problem, x: Vector) -> AcceleratedState:
        n = problem.n
        feasible = FeasibleSet.of(problem, self.scaling)
        stiffness, products = estimate_stiffness(problem, feasible)
        state = AcceleratedState(
            x,
            feasible=feasible,
            gradient_x=np.empty(n),
            point=np.empty(n),
            gradient=np.empty(n),
            new=np.empty(n),
            gradient_new=np.empty(n),
            shift=np.zeros(feasible.friction.size),
            rays=RayWatch(x.copy()),
            stiffness=stiffness,
            lipschitz=stiffness,
            repeatable=False,
            counters=dict.fromkeys(self.counted, 0.0) | {"products": float(products)},
        )
        self.refresh(problem, state)
        return state

    def refresh(self, problem: Problem, state: AcceleratedState) -> None:
        """The gradient anew from x, and no momentum."""
        problem.A.slack(state.x, problem.b, state.gradient_new)
        state.counters["products"] += 1
        np.copyto(state.new, state.x)
        np.copyto(state.gradient_x, state.gradient_new)
        state.theta = 1.0
        self._go_on(problem, state, 0.0)

    def step(self, problem: Problem, state: AcceleratedState, count: int) -> None:
        if count == 0:  # loads the kernels: a step of no length, which is then forgotten
            state.feasible.project_step(state.point, state.gradient, state.shift, 0.0, state.new)
            self._compare(problem, state)
        done = 0
        while done < count and state.ended is None:
            uphill = self._descend(problem, state)
            if uphill is None:
                state.ended = Status.BREAKDOWN, "the gradient step overflowed"  # x stays where it was
                break
            done += 1
            state.done += 1
            if uphill > 0.0:
                state.theta = 1.0
                state.counters["restarts"] += 1
            self._go_on(problem, state, 0.0 if uphill > 0.0 else _next_momentum(state))
            state.lipschitz = max(SHRINKAGE * state.lipschitz, LEAST * state.stiffness)
            if problem.kind != "contact/cone":  # whose iterates minimise no objective
                state.rays.look(problem, state, state.feasible, state.done, state.stiffness)
        state.unused = count - done

    def _descend(self, problem: Problem, state: AcceleratedState) -> float | None:
        """Find x_new and an L that is large enough for it; returns how much uphill the momentum leads, if finite."""
        while True:
            state.feasible.project_step(state.point, state.gradient, state.shift, 1.0 / state.lipschitz, state.new)
            problem.A.slack(state.new, problem.b, state.gradient_new)
            state.counters["products"] += 1
            state.counters["line_search_evaluations"] += 1
            curvature, square, noise, turn, rise = self._compare(problem, state)
            if not math.isfinite(curvature + square + noise + turn):
                return None
            sure = curvature - EPSILON * noise
            if sure <= state.lipschitz * square or state.lipschitz >= MOST * state.stiffness:
                return {"gradient": turn, "function": rise, "none": 0.0}[self.restart]
            found = sure / square if square > 0.0 else math.inf
            state.lipschitz = max(GROWTH * state.lipschitz, min(found, MOST * state.stiffness))

    def _compare(self, problem: Problem, state: AcceleratedState) -> tuple[float, float, float, float, float]:
        feasible = state.feasible
        measures: tuple[float, float, float, float, float] = kernels.compare(
            state.point,
            state.gradient,
            state.shift,
            feasible.width,
            state.new,
            state.gradient_new,
            state.x,
            state.gradient_x,
            problem.b,
            feasible.weight,
        )
        return measures

    def _go_on(self, problem: Problem, state: AcceleratedState, momentum: float) -> None:
        """x = x_new, and the point of the next gradient ahead of it."""
        kernels.extrapolate(
            momentum, state.new, state.gradient_new, state.x, state.gradient_x, state.point, state.gradient
        )
        if problem.kind == "contact/cone" and state.done % self.shift_every == 0:
            feasible = state.feasible
            kernels.shift_normals(state.gradient_x, feasible.width, feasible.friction, state.shift)


def _next_momentum(state: AcceleratedState) -> float:
    """beta, and theta brought forward (Mazhar et al. 2015, Algorithm 1)."""
    theta = state.theta
    state.theta = 0.5 * theta * (math.sqrt(theta * theta + 4.0) - theta)
    return theta * (1.0 - theta) / (theta * theta + state.theta)
