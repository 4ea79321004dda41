"""The spectral projected gradient method (Birgin, Martinez & Raydan 2000)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from perp.kernels.gradient import first_order as kernels
from perp.problems.inputs import Vector, freeze, require_count, require_number
from perp.problems.operators.base import APPLY
from perp.problems.problem import Problem
from perp.solvers.gradient.projection import SCALING, SCALINGS, FeasibleSet, estimate_stiffness
from perp.solvers.gradient.rays import RayWatch
from perp.solvers.method import Method, State
from perp.solvers.options import About, option, require_choices
from perp.solvers.results import Status
from perp.solvers.symmetry import asymmetry_objection

STEPS = ("long", "short", "alternating")

REFRESH_EVERY = 64
"""Iterations after which the gradient, which is updated with A d, is computed anew from x."""

SHORTEST, LONGEST = 1e-10, 1e10
"""Spectral steps stay between these shares of 1 / |W^1/2 A W^1/2|."""

LEAST_SHARE, MOST_SHARE = 0.1, 0.9
"""A step length is cut to the minimum along d if that lies between these shares of it, else to one half (sigma)."""

STRETCH = 10.0
"""Growth of the spectral step along a direction without positive curvature."""


@dataclass
class SpectralState(State):
    feasible: FeasibleSet
    gradient: Vector
    """A x + b."""
    target: Vector
    """P(x - step W gradient)."""
    direction: Vector
    product: Vector
    """A direction."""
    zero: Vector
    no_shift: Vector
    rays: RayWatch
    stiffness: float
    spectral_step: float
    above: list[float] = field(default_factory=lambda: [0.0])
    """By how much the objective was higher at the last iterates than it is here; 0 for this one."""
    done: int = 0


@dataclass(frozen=True)
class SPG(Method[SpectralState]):
    """Projected gradient steps of spectral (Barzilai-Borwein) length, with a search that lets the objective rise.

        d = P(x - step W (A x + b)) - x,       x_new = x + length d,       length = 1 or cut until
        f(x_new) <= max of the last `memory` values of f + `sufficient` length (A x + b)^T d

    (Birgin, Martinez & Raydan 2000, Algorithm 2.2, SPG2; memory = 1 is monotone). f is quadratic, so the product A d
    gives f for all lengths, the next gradient and the next step: one product with A an iteration, whatever the search
    does. The `steps` are "long", d^T W^-1 d / d^T A d, as in the paper, "short", d^T A d / (A d)^T W (A d), or the two
    in turn, "alternating" (Dai & Fletcher 2005), which in the gallery takes half the iterations and less. The short one
    counts only rows that d moves: what A d does to rows that stay at a bound says nothing of the curvature met (Crisci,
    Ruggiero & Zanni 2019). With all rows, walls of boxes take four times the iterations, more or less of them by a half
    with the last bit of the diagonal.

    P is the exact projection on the box, or on the cones or fixed discs of contacts; `scaling` is that of `apgd`.
    """

    name: ClassVar[str] = "spg"
    synonyms: ClassVar[tuple[str, ...]] = ("spectral projected gradient", "Barzilai-Borwein", "BB")
    family: ClassVar[str] = "gradient"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/convex", "contact/disc"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY})
    requires: ClassVar[str] = "symmetric positive semidefinite"
    reference: ClassVar[str] = "Birgin, Martinez & Raydan 2000, Algorithm 2.2; Barzilai & Borwein 1988"
    scales_itself: ClassVar[bool] = True
    check_every: ClassVar[int] = 10
    counted: ClassVar[tuple[str, ...]] = ("products", "line_search_evaluations")

    memory: int = option(
        10, About("the objective need only be below the largest of so many last ones; 1: it must fall", at_least=1)
    )
    sufficient: float = option(
        1e-4, About("share of the promised decrease that a step must bring", above=0.0, below=0.5)
    )
    steps: str = option("alternating", About("the long spectral step, the short one, or the two in turn", STEPS))
    scaling: str = option("diagonal", SCALING)

    def __post_init__(self) -> None:
        require_count(self.memory, "memory", least=1)
        require_number(self.sufficient, "sufficient", positive=True)
        if self.sufficient >= 0.5:
            raise ValueError(f"sufficient is {self.sufficient}; a quadratic needs it below 0.5")
        require_choices(self, steps=STEPS, scaling=SCALINGS)

    def objection(self, problem: Problem) -> str | None:
        return asymmetry_objection(problem)

    def default_iterations(self, problem: Problem) -> int:
        return 10_000

    def start(self, problem: Problem, x: Vector) -> SpectralState:
        n = problem.n
        feasible = FeasibleSet.of(problem, self.scaling)
        stiffness, products = estimate_stiffness(problem, feasible)
        state = SpectralState(
            x,
            feasible=feasible,
            gradient=np.empty(n),
            target=np.empty(n),
            direction=np.empty(n),
            product=np.empty(n),
            zero=freeze(np.zeros(n)),
            no_shift=np.zeros(feasible.friction.size),
            rays=RayWatch(x.copy()),
            stiffness=stiffness,
            spectral_step=1.0 / stiffness,
            repeatable=False,
            counters=dict.fromkeys(self.counted, 0.0) | {"products": float(products)},
        )
        self.refresh(problem, state)
        return state

    def refresh(self, problem: Problem, state: SpectralState) -> None:
        problem.A.slack(state.x, problem.b, state.gradient)
        state.counters["products"] += 1

    def step(self, problem: Problem, state: SpectralState, count: int) -> None:
        if count == 0:  # loads the kernels: a step of no length, and two passes over no rows
            self._find_direction(state, 0.0)
            none = state.direction[:0]
            kernels.find_curvature(none, none, none, freeze(none.copy()))
            kernels.move(1.0, none, none, none, none, none)
        done = 0
        while done < count and state.ended is None:
            if not self._iterate(problem, state):
                state.ended = Status.BREAKDOWN, "the gradient step overflowed"  # x stays where it was
                break
            done += 1
        state.unused = count - done

    def _iterate(self, problem: Problem, state: SpectralState) -> bool:
        """One step; False, and x as it was, where numbers are no longer finite."""
        slope, square = self._find_direction(state, state.spectral_step)
        problem.A.slack(state.direction, state.zero, state.product)
        state.counters["products"] += 1
        curvature, product_square = kernels.find_curvature(
            state.direction, state.target, state.product, state.feasible.weight
        )
        if not math.isfinite(slope + square + curvature + product_square):
            return False
        state.done += 1
        # P is a projection, so the slope is at most -d^T W^-1 d / step; the sum that says otherwise is rounding error
        slope = min(slope, -square / state.spectral_step)
        if slope < 0.0:
            length, rise = self._search(state, slope, curvature)
            kernels.move(length, state.target, state.direction, state.product, state.x, state.gradient)
            state.above = [value - rise for value in [*state.above, rise]][-self.memory :]
        state.spectral_step = self._next_step(state, square, curvature, product_square)
        state.rays.look(problem, state, state.feasible, state.done, state.stiffness)
        if state.done % REFRESH_EVERY == 0:
            self.refresh(problem, state)
        return True

    def _find_direction(self, state: SpectralState, step: float) -> tuple[float, float]:
        """d, the slope (A x + b)^T d, and d^T W^-1 d."""
        state.feasible.project_step(state.x, state.gradient, state.no_shift, step, state.target)
        found: tuple[float, float] = kernels.find_direction(
            state.x, state.gradient, state.target, state.feasible.weight, state.direction
        )
        return found

    def _search(self, state: SpectralState, slope: float, curvature: float) -> tuple[float, float]:
        """The length of the step along d, and by how much the objective rises; slope < 0, so that short ones will do.

        Differences of f are added up, not f itself: they stay exact where f is large beside them.
        """
        length, allowed = 1.0, max(state.above)
        while True:
            rise = length * (slope + 0.5 * length * curvature)
            state.counters["line_search_evaluations"] += 1
            if rise <= allowed + self.sufficient * length * slope:
                return length, rise
            least = -slope / curvature  # where f is least along d: what quadratic interpolation finds
            length = least if LEAST_SHARE * length <= least <= MOST_SHARE * length else 0.5 * length

    def _next_step(self, state: SpectralState, square: float, curvature: float, product_square: float) -> float:
        """The inverse of the curvature that was met: Barzilai & Borwein's eq. 5, or 6."""
        if curvature > 0.0 and product_square > 0.0:
            is_short = self.steps == "short" or (self.steps == "alternating" and state.done % 2 == 1)
            step = curvature / product_square if is_short else square / curvature
        else:
            step = STRETCH * state.spectral_step
        return min(max(step, SHORTEST / state.stiffness), LONGEST / state.stiffness)
