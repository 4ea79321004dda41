"""What the eight modulus methods share: one iteration for every splitting and form of A, and Omega."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from perp.kernels.storages import body_pairs, csr, dense, factored, planar_pairs, runs
from perp.kernels.sweeps import modulus, modulus_body_pairs, planar_modulus
from perp.problems.inputs import Vector, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options import About, option, require_choices
from perp.solvers.splitting.jacobi import SAFETY, estimate_largest_eigenvalue
from perp.solvers.splitting.modulus import AlphaSearch, impulse_residual
from perp.solvers.splitting.sweep_method import REFRESH_EVERY, diagonal_objection
from perp.solvers.splitting.sweeps import Sweeper, make_sweeper, steps, sweep_factored


@dataclass(frozen=True)
class Sight:
    """What the rows after row i see of it in the same sweep: x_i - lag (change of x_i) + lead (change of u_i)."""

    lag: float
    lead: float
    printed: bool = False
    """Whether the box is that of Method 3.2 as printed."""

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
    tuned = {body_pairs: modulus_body_pairs, planar_pairs: planar_modulus}.get(bound.kernels)
    if tuned is not None and sight.is_newest and not sight.printed:
        coupling = np.empty(0) if bound.contact is None else bound.contact[-1]
        return _bind(tuned.sweep_pairs, bound, (), (friction, coupling), u, many=True)
    if tuned is not None:
        assert problem.A.factored is not None
        bound = sweep_factored(problem.A.factored, bound.vectors[:-1], None)
    names = {dense: "sweep_dense", csr: "sweep_csr", runs: "sweep_runs", factored: "sweep_factored"}
    kernel, seen = getattr(modulus, names[bound.kernels]), (sight.lag, sight.lead, sight.printed)
    return _bind(kernel, bound, seen, (width, friction), u, many=sight.is_newest)


def _bind(
    kernel: Callable[..., None], bound: Sweeper, seen: tuple[Any, ...], contact: tuple[Any, ...], u: Vector, many: bool
) -> ModulusSweeper:
    def sweep(count: int, keep: float, drop: float) -> None:
        kernel(count, (keep, drop, *seen), contact, u, bound.storage, bound.vectors)

    return ModulusSweeper(sweep, bound.vectors[0], u, bound.refresh, many)


OMEGAS = ("diagonal", "identity")

BACKWARD = 16.0
"""Where lead < 0, alpha = None takes gamma alpha >= BACKWARD lead^2 lambda_max(D^-1 A): found by trial on stacks."""


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
        forgets = self.sight.is_newest and not self.sight.printed and state.keep == state.drop == 0.0
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
