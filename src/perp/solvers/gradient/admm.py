"""The alternating direction method of multipliers for contacts (Carpentier, Montaut & Le Lidec 2024).

The penalties of ADMM: how much it costs that the two copies of x differ, one number a row.

    penalty_i = rho factor_i / W_ii,       rho = sqrt(m L) (L / m)^power      (Carpentier et al. 2024, spectral rule)

with W the metric of `projection`, L the largest eigenvalue of A in it and m a small share of that, as A itself is
singular where contacts are redundant. Three rules say what becomes of it:

* "spectral": rho grows (falls) by (L / m)^0.05 when the primal residual |x - z| is more than ten times the dual one,
  |penalty (z - z_old)| / L (or the other way round); one factor for all rows. This is the rule of the paper;
* "contacts": every contact has a factor of its own, which follows what the contact does. Where it sticks, z lies within
  its bounds and x need not be held near it: the factor falls; where it is open, z rests at its bound and x must come
  there: the factor grows. A contact that changed its state, and one that slides, has the factor 1. rho becomes
  |w - w_mark| / |z - z_mark|, the motion of the slack over that of the impulse since the last look, of contacts that
  slide (of all rows where none does), which balances their errors (in the spirit of Xu, Figueiredo & Goldstein 2017).
  Looks come at wider and wider intervals, so that the penalties come to rest in between;
* "fixed": nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import isfinite, log, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.kernels.gradient import first_order
from perp.kernels.measures import projection
from perp.linalg.cholesky import NotFinite, NotPositive
from perp.linalg.free_systems import SHIFTED_SPACES, FreeSystem, choose_shifted_system, factor_or_exchange
from perp.problems.certificates import PROVABLE
from perp.problems.inputs import Vector, freeze, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.anderson import Memory
from perp.solvers.gradient.projection import SCALING, SCALINGS, FeasibleSet, estimate_stiffness
from perp.solvers.gradient.rays import RayWatch, purify
from perp.solvers.method import Method, State
from perp.solvers.options import (
    ELIMINATION_ORDERS,
    ORDERING,
    RELAXATION_NAMES,
    SHIFTED_SPACE,
    About,
    option,
    require_choices,
    space_objection,
)
from perp.solvers.results import Status

RULES = ("contacts", "spectral", "fixed")

SPECTRAL_POWER, SPECTRAL_RATIO = 0.05, 10.0
"""Change of the power, and the ratio of the residuals from which on it changes (Carpentier et al. 2024)."""

LEAST_CHANGE, MOST_CHANGE = 2.0, 10.0
"""rho changes by no less than the first, which is not worth a factor, and by no more than the second at a time."""

FACTOR_STEP, LARGEST_FACTOR = 10.0, 1e4
"""Change of a factor each time that the state of its contact was the same again, and where that ends."""

WIDENING = 1.1
"""The growth of the interval between two looks at the contacts."""

AT_BOUND, SLIDING, FREE = 0, 1, 2

SMALLEST, LARGEST = 1e-7, 1e7
"""Penalties stay between these shares of A_ii; with smaller ones, factors in body space have no digits to spare."""

TINY, HUGE = 1e-300, 1e300

LEAST_MODULUS = 1e-6
"""m is at least this share of L, also where there is no proximal term."""

MOST_MEMORY = 1000

INACCURATE = 1e-12
"""The share of the right-hand side from which on what a solve leaves is taken back by refinement."""

ROUNDING, PATIENCE = 1e-14, 50
"""A plain step of the first share of u may be made of rounding errors, and is, if so many bring no shorter one."""

UNLIKE = 1e-3
"""Where w, at rest up to rounding, differs by this share from the slack of z, it rests only beside its own size."""


@dataclass
class Penalty:
    """rho, the factors, and when they are looked at again."""

    rule: str
    rho: float
    increment: float
    factor: Vector
    states: NDArray[np.int8]
    """What every row did at the last look; -1 before the first."""
    z_mark: Vector
    w_mark: Vector
    interval: float
    next_look: float
    updates: int = 0

    @staticmethod
    def begin(
        rule: str, power: float, stiffness: float, modulus: float, interval: int, z: Vector, w: Vector
    ) -> Penalty:
        """`stiffness` is L, `modulus` is m."""
        ratio, n = stiffness / max(modulus, TINY), z.size
        states = np.full(n, -1, dtype=np.int8)
        growth = ratio**power if power * log(max(ratio, 1.0)) < log(HUGE) else HUGE
        rho, increment = max(sqrt(modulus * stiffness) * growth, TINY), ratio**SPECTRAL_POWER
        return Penalty(rule, rho, increment, np.ones(n), states, z.copy(), w.copy(), float(interval), float(interval))

    def values(self, feasible: FeasibleSet) -> Vector:
        return np.asarray(np.clip(self.rho * self.factor, SMALLEST, LARGEST) / feasible.weight)

    def follow_contacts(self, feasible: FeasibleSet, iteration: int, z: Vector, w: Vector) -> bool:
        """Whether the rule "contacts" changed the penalties after this iteration, which made z and w."""
        if self.rule != "contacts" or iteration < self.next_look:
            return False
        self.interval *= WIDENING
        self.next_look = iteration + self.interval
        states = row_states(feasible, z, w)
        same = states == self.states
        factor = np.ones(states.size)
        stays_at_bound, stays_free = same & (states == AT_BOUND), same & (states == FREE)
        factor[stays_at_bound] = np.minimum(FACTOR_STEP * self.factor[stays_at_bound], LARGEST_FACTOR)
        factor[stays_free] = np.maximum(self.factor[stays_free] / FACTOR_STEP, 1.0 / LARGEST_FACTOR)
        change = self._wanted_change(feasible, states == SLIDING, z, w)
        self.states, self.z_mark, self.w_mark = states, z.copy(), w.copy()
        if change == 1.0 and np.array_equal(factor, self.factor):
            return False
        self.rho *= change
        self.factor = factor
        self.updates += 1
        return True

    def _wanted_change(self, feasible: FeasibleSet, slides: NDArray[np.bool_], z: Vector, w: Vector) -> float:
        """What rho is to be multiplied by."""
        rows = slides if slides.any() else slice(None)
        weight = feasible.weight[rows]
        dz, dw = (z - self.z_mark)[rows], (w - self.w_mark)[rows]
        impulse, slack = float(np.sum(dz / weight * dz)), float(np.sum(dw * weight * dw))
        change = sqrt(slack / max(impulse, TINY)) / self.rho
        if not isfinite(change) or 1.0 / LEAST_CHANGE <= change <= LEAST_CHANGE:
            return 1.0
        return min(max(change, 1.0 / MOST_CHANGE), MOST_CHANGE)

    def follow_spectrum(self, primal: float, dual: float, stiffness: float) -> bool:
        """Whether rho changed by the rule "spectral" for these residuals."""
        if primal * stiffness > SPECTRAL_RATIO * dual:
            self.rho *= self.increment
        elif dual > SPECTRAL_RATIO * primal * stiffness:
            self.rho /= self.increment
        else:
            return False
        self.updates += 1
        return True


def row_states(feasible: FeasibleSet, z: Vector, w: Vector) -> NDArray[np.int8]:
    """AT_BOUND, SLIDING or FREE for every row; the rows that a cone or a disc binds together are in the same state."""
    width, contacts = int(feasible.width), feasible.friction.size
    states = np.where(w != 0.0, AT_BOUND, FREE).astype(np.int8)
    rows = slice(width * contacts)
    has_own_normals = feasible.law == projection.FIXED_DISCS
    if has_own_normals and width == 2:
        return states  # a disc in the plane is an interval
    together = slice(1 if has_own_normals else 0, width)
    bound = states[rows].reshape(contacts, width)[:, together]
    is_free = (w[rows].reshape(contacts, width)[:, together] == 0.0).all(axis=1)
    is_zero = (z[rows].reshape(contacts, width)[:, together] == 0.0).all(axis=1)
    bound[:] = np.where(is_free, FREE, np.where(is_zero, AT_BOUND, SLIDING))[:, None]
    return states


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
        feasible = self.feasible
        contacts = (feasible.width, feasible.law, feasible.friction)
        known = (self.values, problem.b, self.proximal, self.free_x)
        made = (self.z, self.w, self.right)
        first_order.split(self.u, *known, *contacts, feasible.lower, feasible.upper, *made)

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
    slack = problem.A.slack(x, problem.b, np.empty(problem.n))
    if problem.kind == "contact/cone":
        width, shift = int(feasible.width), np.empty(feasible.friction.size)
        first_order.shift_normals(slack, feasible.width, feasible.friction, shift)
        slack[: width * shift.size : width] += shift
    return slack


@dataclass(frozen=True)
class ADMM(Method[SplittingState]):
    """Two copies of x, one that minimises and one that keeps to the bounds; a slack w pulls them together.

        (A + R + eta W^-1) x_new = -(b + s) + R z + w + eta W^-1 x
        u_new = u + `relaxation` (x_new - z)
        z_new = P(u_new),    w_new = R (z_new - u_new)

    R = diag(penalty). At a fixed point x = z and w = A x + b + s, with z in the cones and w in their duals. (As it is
    usually written, z_new = P(x_new - w / R) and w_new = w - R (x_new - z_new): that is the same for relaxation = 1. In
    the one variable u = z - w / R it is the splitting of Douglas and Rachford.) P is the exact projection on the box,
    the cones or the fixed discs. For the exact Coulomb law s = friction |w_t| on the normal rows, the shift of De
    Saxce, taken from the last w; for the convex problems s = 0. These are solved from everywhere where x^T A x >= 0, be
    A symmetric or not, once the penalties rest; for exact cones nobody can promise that.

    The answer is z. A + R is factored once for each R, in body space where A is factored and has many contacts
    (`perp.linalg.free_systems`; options `space` and `ordering`); an iteration is one solve with that factor.

    `penalty` says how R follows the iteration (`perp.solvers.gradient.admm`): "spectral" as in the paper;
    "contacts" with a factor a contact, looked at first after `penalty_every` iterations; "fixed" not at all. It begins
    with rho = sqrt(m L) (L / m)^`power`, where L is the largest eigenvalue of A in the metric W (`scaling` as in
    `apgd`) and m = eta = `proximal` L; without that term, m = 1e-6 L. The last `memory` iterates are mixed by
    Anderson's rule (`perp.solvers.anderson`). As published the method is
    `ADMM(penalty="spectral", power=0.2, proximal=1e-6, memory=0)`, which redundant contacts and mass ratios make slow.
    """

    name: ClassVar[str] = "admm"
    synonyms: ClassVar[tuple[str, ...]] = ("alternating direction method of multipliers",)
    family: ClassVar[str] = "gradient"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/convex", "contact/disc", "contact/cone"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, TO_SPARSE})
    requires: ClassVar[str] = "x^T A x >= 0 (positive semidefinite, or not symmetric); for exact cones no promise"
    reference: ClassVar[str] = "Carpentier, Montaut & Le Lidec 2024, arXiv 2405.17020; Fu, Zhang & Boyd 2020"
    scales_itself: ClassVar[bool] = True
    check_every: ClassVar[int] = 10
    counted: ClassVar[tuple[str, ...]] = ("factorisations", "penalty", "penalty_updates", "rejected", "products")

    penalty: str = option(
        "contacts",
        About(
            "how penalties change: one for each contact, one for all as in the paper (spectral), or never",
            RULES,
            synonyms=("rho", "adaptive_rho", "penalty_rule"),
        ),
    )
    power: float = option(1.0 / 3.0, About("in the first penalty sqrt(m L) (L / m)^power", at_least=0.0))
    proximal: float = option(
        0.0,
        About(
            "eta, as a share of the largest eigenvalue L; 0: no such term", at_least=0.0, at_most=1.0, synonyms=("eta",)
        ),
    )
    relaxation: float = option(
        1.0,
        About(
            "what a change of u is multiplied by", above=0.0, below=2.0, synonyms=("omega", "alpha", *RELAXATION_NAMES)
        ),
    )
    memory: int = option(
        20,
        About(
            "iterates that Anderson's rule mixes; 0: none",
            at_least=0,
            at_most=MOST_MEMORY,
            synonyms=("anderson_memory",),
        ),
    )
    penalty_every: int = option(
        20,
        About("penalty contacts: iterations before the first change", at_least=1, synonyms=("adaptive_rho_interval",)),
    )
    scaling: str = option("diagonal", SCALING)
    space: str = option("auto", SHIFTED_SPACE)
    ordering: str = option("amd", ORDERING)

    def __post_init__(self) -> None:
        require_choices(self, penalty=RULES, scaling=SCALINGS, space=SHIFTED_SPACES, ordering=ELIMINATION_ORDERS)
        require_number(self.power, "power")
        require_number(self.proximal, "proximal")
        require_number(self.relaxation, "relaxation", positive=True)
        if self.proximal > 1.0:
            raise ValueError(f"proximal is {self.proximal}; a share of the largest eigenvalue is at most 1")
        if self.relaxation >= 2.0:
            raise ValueError(f"relaxation is {self.relaxation}; it must lie in (0, 2)")
        require_count(self.memory, "memory")
        if self.memory > MOST_MEMORY:
            raise ValueError(f"memory is {self.memory}; at most {MOST_MEMORY} iterates can be mixed")
        require_count(self.penalty_every, "penalty_every", least=1)

    def objection(self, problem: Problem) -> str | None:
        return space_objection(problem, "space", self.space)

    def default_iterations(self, problem: Problem) -> int:
        return 5000

    def start(self, problem: Problem, x: Vector) -> SplittingState:
        n = problem.n
        feasible = FeasibleSet.of(problem, self.scaling)
        stiffness, products = estimate_stiffness(problem, feasible)
        w = shifted_slack(problem, feasible, x)
        modulus = (self.proximal or LEAST_MODULUS) * stiffness
        penalty = Penalty.begin(self.penalty, self.power, stiffness, modulus, self.penalty_every, x, w)
        state = SplittingState(
            x,
            feasible=feasible,
            system=choose_shifted_system(problem, self.space, self.ordering),
            penalty=penalty,
            memory=Memory.of_size(self.memory, n),
            rays=RayWatch(x.copy()),
            stiffness=stiffness,
            proximal=np.asarray(self.proximal * stiffness / feasible.weight),
            values=penalty.values(feasible),
            u=np.empty(n),
            z=x.copy(),
            w=w,
            free_x=x.copy(),
            right=np.empty(n),
            image=np.empty(n),
            nothing=freeze(np.zeros(n)),
            repeatable=False,
            ends_itself=True,  # z may rest at its bounds while u moves
            counters=dict.fromkeys(self.counted, 0.0) | {"products": products + 1.0},
        )
        state.factor(problem)
        return state

    def refresh(self, problem: Problem, state: SplittingState) -> None:
        state.split(problem)

    def step(self, problem: Problem, state: SplittingState, count: int) -> None:
        if count == 0 and state.ended is None:  # without a factor there is nothing to solve with
            self._load(problem, state)
        done = 0
        while done < count and state.ended is None:
            if not self._iterate(problem, state):
                state.ended = Status.BREAKDOWN, "the iteration overflowed"  # x stays where it was
                break
            done += 1
        state.unused = count - done

    def _iterate(self, problem: Problem, state: SplittingState) -> bool:
        """One iteration; False, and x as it was, where numbers are no longer finite."""
        state.free_x = state.solve(problem)
        way, size = first_order.advance(self.relaxation, state.free_x, state.z, state.u, state.values, state.image)
        if not math.isfinite(way + size):
            return False
        if state.memory.distrusts(way):
            np.copyto(state.u, state.memory.last_image)
            state.memory.forget()
            state.counters["rejected"] += 1
        else:
            state.memory.mix(state.u, state.image, way, state.values)
        state.split(problem)
        state.done += 1
        if self._update_penalty(state):
            state.factor(problem)
        np.copyto(state.x, state.z)
        state.watch(problem, way, size)
        return True

    def _update_penalty(self, state: SplittingState) -> bool:
        """Whether the penalties are others now; `state.x` still holds the z of the last iteration."""
        if self.penalty != "spectral":
            return state.penalty.follow_contacts(state.feasible, state.done, state.z, state.w)
        squares = first_order.measure_residuals(state.free_x, state.z, state.x, state.values, state.feasible.weight)
        return state.penalty.follow_spectrum(math.sqrt(squares[0]), math.sqrt(squares[1]), state.stiffness)

    def _load(self, problem: Problem, state: SplittingState) -> None:
        """Call the kernels of an iteration, and throw away what they make."""
        x = state.solve(problem)
        first_order.advance(self.relaxation, x, state.z, state.u, state.values, state.image)
        first_order.measure_residuals(x, state.z, state.x, state.values, state.feasible.weight)
        Memory.load_kernels()
