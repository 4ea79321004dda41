"""What the eight modulus methods share: one iteration for every splitting and form of A, Omega, a search for alpha."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from perp.kernels.storages import body_pairs, csr, dense, factored, planar_pairs, runs
from perp.kernels.sweeps import modulus
from perp.problems.inputs import Vector, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options import About, option, require_choices
from perp.solvers.splitting.jacobi import SAFETY, estimate_largest_eigenvalue
from perp.solvers.splitting.sweeps import (
    REFRESH_EVERY,
    Sweeper,
    diagonal_objection,
    make_sweeper,
    steps,
    sweep_factored,
)

SETTLING, MEASURING = 6, 8
"""Iterations after a change of alpha in which rough errors grow, or die, to their new level, and those that count."""

SHARE = 20
"""Later both take one in so many of the iterations done before."""

LOWEST, HIGHEST = math.log(0.1), math.log(2.0)
"""How far log alpha may go from where it starts; with gamma = 2 and alpha = 1 / 2 that is 0.05 to 1."""

WIDEST, NARROWEST = math.log(2.0), math.log(1.2)
"""Steps of the search in log alpha."""

MARGIN = 1.05
"""A probe must contract by so much faster than the best alpha known."""

LONGEST_REST = 16
"""Windows without a probe, at most."""

OMEGAS = ("diagonal", "identity")

BACKWARD = 16.0
"""Where lead < 0, alpha = None takes gamma alpha >= BACKWARD lead^2 lambda_max(D^-1 A): found by trial on stacks."""


@dataclass
class AlphaSearch:
    """A search in log alpha by windows of iterations, each at one alpha: the best one known, or a probe beside it.

    Contraction slows down whatever alpha is, once only smooth errors are left. So a probe that was not faster than the
    best alpha in the window before is compared once more, with the mean of the windows before and after. Where neither
    neighbour is faster, the next ones are nearer, and at last the search rests for longer and longer. All is counted in
    iterations, so that the same problem always takes the same path.

    There is no guarantee in it. Where friction leaves many solutions open, the number of iterations jumps by factors of
    five with alpha itself, and the search may take several times as many as the alpha that it began with.
    """

    here: float = 0.0
    """The log of the factor that alpha is multiplied by now."""
    best: float = 0.0
    probe: float = math.nan
    """The last probe, while it waits for its second comparison."""
    speed_of_probe: float = math.nan
    speed_before: float = math.nan
    """At `best`, before the probe."""
    direction: float = -1.0
    stride: float = WIDEST
    refused: int = 0
    """Probes in a row that were not faster."""
    rest: int = 0
    next_rest: int = 1
    residual: float = math.nan
    """Where the measurement began; NaN while errors settle."""
    begun: int = 0
    due: int = SETTLING
    """The iteration at which a residual is wanted next."""

    @property
    def factor(self) -> float:
        return math.exp(self.here)

    def look(self, done: int, residual: float) -> None:
        """Take the residual of iteration `due`, and decide at which factor to go on."""
        before = self.here
        if not math.isnan(self.residual):
            self._decide(_speed(self.residual, residual, done - self.begun))
        if self.here != before:
            self.residual, self.due = math.nan, done + max(SETTLING, done // SHARE)
        else:
            self.residual, self.begun, self.due = residual, done, done + max(MEASURING, done // SHARE)

    def _decide(self, speed: float) -> None:
        """What comes after a window at `here` with that speed."""
        if self.here != self.best:
            self.speed_of_probe = speed
            if speed > MARGIN * max(self.speed_before, 0.0):
                self._accept()
            else:
                self.here = self.best
        elif speed < 0.0 and self.best != 0.0:  # it was the best, and the residual grows: back to where it all began
            self.here = self.best = 0.0
            self.probe, self.stride, self.direction, self.refused = math.nan, WIDEST, -1.0, 0
        elif self.rest > 0:
            self.rest -= 1
        elif not math.isnan(self.probe) and self.speed_of_probe > MARGIN * max(0.5 * (self.speed_before + speed), 0.0):
            self._accept()
        else:
            if not math.isnan(self.probe):
                self._refuse()
            self.speed_before = speed
            if self.rest == 0:
                self._send_probe()

    def _accept(self) -> None:
        """The probe is the best now, and the next one lies beyond it."""
        self.best, self.speed_before = self.probe, self.speed_of_probe
        self.refused, self.next_rest = 0, 1
        self._send_probe()

    def _refuse(self) -> None:
        self.probe, self.direction, self.refused = math.nan, -self.direction, self.refused + 1
        if self.refused == 2:
            self.refused = 0
            if self.stride > NARROWEST:
                self.stride = max(0.5 * self.stride, NARROWEST)
            else:
                self.rest, self.next_rest = self.next_rest, min(2 * self.next_rest, LONGEST_REST)

    def _send_probe(self) -> None:
        if not LOWEST < self.best + 0.5 * self.direction * self.stride < HIGHEST:
            self.direction = -self.direction
        self.here = self.probe = min(max(self.best + self.direction * self.stride, LOWEST), HIGHEST)


def _speed(before: float, after: float, iterations: int) -> float:
    """Decrease of log residual an iteration; the worst there is where numbers overflow."""
    if not (math.isfinite(before) and math.isfinite(after)):
        return -math.inf
    return math.log(before / after) / iterations if before > 0.0 and after > 0.0 else 0.0


def impulse_residual(problem: Problem, x: Vector, y: Vector) -> float:
    """sqrt(sum A_ii r_i^2), r_i = x_i - clip(x_i - y_i / A_ii): how far a sweep would move x, with work array y."""
    assert problem.diagonal is not None
    problem.A.slack(x, problem.b, y)
    lower, upper = problem.bounds(x)
    step = np.divide(y, problem.diagonal, out=np.zeros(problem.n), where=problem.diagonal > 0.0)
    change = x - np.clip(x - step, lower, upper)
    return float(np.sqrt(np.sum(np.maximum(problem.diagonal, 0.0) * change * change)))


@dataclass(frozen=True)
class Sight:
    """What the rows after row i see of it in the same sweep: x_i - lag (change of x_i) + lead (change of u_i)."""

    lag: float
    lead: float

    @property
    def is_newest(self) -> bool:
        """Whether later rows see the newest x and nothing else: then a kept velocity belongs to x at every moment."""
        return self.lag == 0.0 and self.lead == 0.0


@dataclass(frozen=True)
class ModulusSweeper:
    """A compiled sweep bound to its arrays, and those of them that the method looks after."""

    kernel: Callable[..., None]
    """`kernel(count, keep, drop)`, with memory_i = keep - drop step_i."""
    step: Vector
    u: Vector
    """x before it was clipped: 2 / gamma times the unknown of the paper."""
    refresh: Callable[[], None] | None
    """Computes the velocity anew from x, where one is kept."""
    many: bool
    """Whether one call may make several sweeps."""

    def sweep(self, count: int, keep: float, drop: float) -> None:
        """`count` sweeps; none of them loads the kernel."""
        if self.many or count == 0:
            self.kernel(count, keep, drop)
            return
        for _ in range(count):
            self.kernel(1, keep, drop)
            if self.refresh is not None:  # v stands at what later rows saw, not at x
                self.refresh()


def make_modulus_sweeper(problem: Problem, sight: Sight, x: Vector) -> ModulusSweeper:
    """The tuned kernels for two bodies a row are AMGS and AMSOR's alone; other members go row by row, by J and W."""
    width, _, friction = problem.law
    bound, u = make_sweeper(problem, 1.0, x), x.copy()
    tuned = {body_pairs: modulus.sweep_body_pairs, planar_pairs: modulus.sweep_planar_pairs}.get(bound.kernels)
    if tuned is not None and sight.is_newest:
        coupling = np.empty(0) if bound.contact is None else bound.contact[-1]
        return _bind(tuned, bound, (), (friction, coupling), u, many=True)
    if tuned is not None:
        assert problem.A.factored is not None
        bound = sweep_factored(problem.A.factored, bound.vectors[:-1], None)
    names = {dense: "sweep_dense", csr: "sweep_csr", runs: "sweep_runs", factored: "sweep_factored"}
    kernel, seen = getattr(modulus, names[bound.kernels]), (sight.lag, sight.lead)
    return _bind(kernel, bound, seen, (width, friction), u, many=sight.is_newest)


def _bind(
    kernel: Callable[..., None], bound: Sweeper, seen: tuple[Any, ...], contact: tuple[Any, ...], u: Vector, many: bool
) -> ModulusSweeper:
    def sweep(count: int, keep: float, drop: float) -> None:
        kernel(count, (keep, drop, *seen), contact, u, bound.storage, bound.vectors)

    return ModulusSweeper(sweep, bound.vectors[0], u, bound.refresh, many)


@dataclass
class ModulusState(State):
    sweeper: ModulusSweeper
    stiffness: Vector
    """A_ii, and 0 in rows that are fixed."""
    first_alpha: float
    search: AlphaSearch | None
    keep: float = 0.0
    drop: float = 0.0
    """memory_i = keep - drop step_i."""
    done: int = 0
    work: Vector = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class ModulusMethod(Method[ModulusState]):
    """With an unknown z of both signs, x = (|z| + z) / gamma and y = Omega (|z| - z) are complementary whatever z is
    (AMGS Theorem 2.1), so that y = A x + b is all that is left to solve:

        (M1 + gamma Omega) z_new = N1 z + (gamma Omega - M2) |z| + N2 |z_new| - gamma b               (AMGS eq. 11)

    with A = D - L - U = M1 - N1 = M2 - N2. M1 = (D - acceleration L) / relaxation has Jacobi (1, 0), Gauss-Seidel
    (1, 1) and SOR (acceleration = relaxation) in it; the N1 that AMGS prints for AMAOR has the sign of its D wrong. The
    plain methods have M2 = A, N2 = 0 (eq. 7; Bai 2010), the accelerated ones M2 = D - U, N2 = L (Zheng & Yin 2013).

    In terms of u = 2 z / gamma, which is x before it is clipped, all of them are

        u_i <- x_i + memory_i (u_i - x_i) - step_i y_i,        x_i <- clip(u_i, lower_i, upper_i)         (eq. 14)
        step_i = 2 / (A_ii / relaxation + gamma Omega_ii),     memory_i = 1 - gamma Omega_ii step_i

    row after row, where y_i is that of the old x, but for the rows j before i. Of these it sees, with r = acceleration
    / relaxation, the old x_j + r / 2 (change of u_j) in the plain methods, and the new x_j + (r - 1) / 2 (change of
    u_j) in the accelerated ones. So gamma counts only in the product gamma Omega.

    Boxes: clip takes the place of max(0, ·), and with it the reflection gamma x - z that of |z|; then the slack at a
    bound is y_i = 2 Omega_ii ((gamma / 2) x_i - z_i), and bounds may have any sign. Those of friction stand at the
    newest normal impulse (PGS-SM eq. 17).

    `omega="diagonal"` is Omega = alpha D, "identity" Omega = alpha I. `alpha=None` is 1 / gamma, or mean(D) / gamma, as
    in AMGS section 5, and more for the methods whose rows do not see all of the newest x: on rows off their bounds a
    sweep inverts M = (1 / relaxation + gamma alpha) D / 2 - seen L, and M + M^T - A must be positive definite
    (Ostrowski; Reich), for which lambda_max(D^-1 A) is estimated by 20 products.
    """

    family: ClassVar[str] = "splitting"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS})
    requires: ClassVar[str] = "a positive diagonal; made for symmetric positive definite A and fixed bounds"
    check_every: ClassVar[int] = 10
    counted: ClassVar[tuple[str, ...]] = ("alpha",)

    gamma: float = option(2.0, About("that of x = (|z| + z) / gamma; it counts only in gamma Omega", above=0.0))
    omega: str = option("diagonal", About("Omega is alpha times the diagonal of A, or times the identity", OMEGAS))
    alpha: float | None = option(
        None, About("the factor in Omega; None: 1 / gamma, and more where the splitting needs it", above=0.0)
    )

    def __post_init__(self) -> None:
        require_number(self.gamma, "gamma", positive=True)
        require_choices(self, omega=OMEGAS)
        relaxation, acceleration = self.splitting
        require_number(relaxation, "relaxation", positive=True)
        require_number(acceleration, "acceleration")
        if self.alpha is not None:
            require_number(self.alpha, "alpha", positive=True)

    @property
    @abstractmethod
    def splitting(self) -> tuple[float, float]:
        """Relaxation and acceleration in M1 = (D - acceleration L) / relaxation."""

    @property
    @abstractmethod
    def sight(self) -> Sight:
        """What a row sees of those before it."""

    @property
    def is_adaptive(self) -> bool:
        return False

    def objection(self, problem: Problem) -> str | None:
        return diagonal_objection(problem)

    def start(self, problem: Problem, x: Vector) -> ModulusState:
        assert problem.diagonal is not None
        sweeper = make_modulus_sweeper(problem, self.sight, x)
        stiffness = np.where(sweeper.step > 0.0, problem.diagonal, 0.0)
        state = ModulusState(x, sweeper, stiffness, self.first_alpha(problem, stiffness), None)
        if self.is_adaptive:
            state.search, state.work = AlphaSearch(), np.empty(problem.n)
        self._set_alpha(state, state.first_alpha)
        forgets = self.sight.is_newest and state.keep == state.drop == 0.0
        state.repeatable = forgets and not self.is_adaptive
        return state

    def refresh(self, problem: Problem, state: ModulusState) -> None:
        """The velocity anew, and nothing remembered: then x stands still only where no row wants to move."""
        np.copyto(state.sweeper.u, state.x)
        if state.sweeper.refresh is not None:
            state.sweeper.refresh()

    def step(self, problem: Problem, state: ModulusState, count: int) -> None:
        last, search = state.done + count, state.search
        while True:  # also for count = 0, which loads the kernels and does nothing
            width = min(last - state.done, REFRESH_EVERY - state.done % REFRESH_EVERY)
            if search is not None:
                width = min(width, search.due - state.done)
            state.sweeper.sweep(width, state.keep, state.drop)
            state.done += width
            if width and state.done % REFRESH_EVERY == 0 and state.sweeper.refresh is not None:
                state.sweeper.refresh()
            if search is not None and state.done == search.due:
                search.look(state.done, impulse_residual(problem, state.x, state.work))
                self._set_alpha(state, search.factor * state.first_alpha)
            if state.done == last:
                return

    def first_alpha(self, problem: Problem, stiffness: Vector) -> float:
        """The alpha of the options, or the one that None stands for."""
        if self.alpha is not None:
            return float(self.alpha)
        sight, (relaxation, _) = self.sight, self.splitting
        seen = 1.0 - sight.lag + sight.lead  # of a change on rows off their bounds, where u = x
        unseen = max(0.0, 1.0 - seen)
        largest = SAFETY * estimate_largest_eigenvalue(problem, steps(problem, 1.0)) if unseen else 0.0
        pull = max(1.0, unseen * largest + seen - 1.0 / relaxation, BACKWARD * min(0.0, sight.lead) ** 2 * largest)
        if self.omega == "identity" and problem.n:
            pull *= float(stiffness.mean() if pull == 1.0 else stiffness.max())
        return pull / self.gamma

    def _set_alpha(self, state: ModulusState, alpha: float) -> None:
        """Steps and memory for Omega = alpha D or alpha I."""
        relaxation, pull = self.splitting[0], self.gamma * alpha
        if self.omega == "diagonal":
            both = (1.0 / relaxation + pull) * state.stiffness
            state.keep, state.drop = 1.0 - 2.0 * pull / (1.0 / relaxation + pull), 0.0
        else:
            both = state.stiffness / relaxation + pull
            state.keep, state.drop = 1.0, pull
        np.divide(2.0, both, out=state.sweeper.step, where=both > 0.0)
        state.counters["alpha"] = alpha
