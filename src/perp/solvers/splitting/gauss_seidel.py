"""Projected Gauss-Seidel and its over-relaxed kin (NOTES 5.2-5.3; PGS-SM section 3)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from perp.errors import suggest
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, require_count, require_real
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.splitting.diagonal import diagonal_objection
from perp.solvers.splitting.orders import ORDERS, Order
from perp.solvers.splitting.sweeps import Sweeper, make_sweeper

REFRESH_EVERY = 64
"""Iterations after which a kept velocity is computed anew; it costs as much as half a sweep."""


@dataclass
class SweepState(State):
    sweeper: Sweeper
    order: Order
    done: int = 0


@dataclass(frozen=True)
class _Relaxation(Method):
    """What PGS, PSOR and symmetric PSOR share:

        x_i <- clip(x_i - relaxation (A x + b)_i / A_ii, lower_i, upper_i),      i in order          (NOTES eq. 59)

    with the newest x throughout. Friction bounds stand at the newest normal impulse (PGS-SM eq. 17); the two tangents
    of a cone are moved together and projected on the disc of radius friction x_n.
    """

    family: ClassVar[str] = "splitting"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/box", "contact/cone"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS})
    requires: ClassVar[str] = "a positive diagonal; converges for symmetric positive semidefinite A and fixed bounds"
    check_every: ClassVar[int] = 10

    @property
    @abstractmethod
    def settings(self) -> tuple[float, str, int]:
        """The relaxation, the order, and the seed of a random order."""

    def objection(self, problem: Problem) -> str | None:
        return diagonal_objection(problem)

    def start(self, problem: Problem, x: Vector) -> SweepState:
        relaxation, name, seed = self.settings
        contacts, first = (0, 0)
        if isinstance(problem, ContactProblem):
            contacts, first = problem.contacts, problem.contact_rows
        sweeper = make_sweeper(problem, relaxation, x)
        order = Order(name, contacts, first, problem.n, seed)
        return SweepState(x, sweeper, order, repeatable=name != "random")

    def refresh(self, problem: Problem, state: State) -> None:
        assert isinstance(state, SweepState)
        if state.sweeper.refresh is not None:
            state.sweeper.refresh()

    def step(self, problem: Problem, state: State, count: int) -> None:
        assert isinstance(state, SweepState)
        last = state.done + count
        while True:  # also for count = 0, which loads the kernels and does nothing
            width = min(last - state.done, REFRESH_EVERY - state.done % REFRESH_EVERY)
            state.order.iterate(state.sweeper.sweep, width)
            state.done += width
            if width and state.done % REFRESH_EVERY == 0:
                self.refresh(problem, state)
            if state.done == last:
                return


@dataclass(frozen=True)
class PGS(_Relaxation):
    """Projected Gauss-Seidel: each row is solved in turn for its own unknown, and clipped (NOTES eq. 56).

    `order` is forward, backward, symmetric (forward then backward, counted as one iteration) or random (a new
    permutation each iteration, drawn from `seed`).
    """

    name: ClassVar[str] = "pgs"
    reference: ClassVar[str] = "NOTES 5.2-5.3, eq. 52 and 56; PGS-SM eq. 17"

    order: str = "forward"
    seed: int = 0

    def __post_init__(self) -> None:
        _require_order(self.order, self.seed)

    @property
    def settings(self) -> tuple[float, str, int]:
        return 1.0, self.order, self.seed


@dataclass(frozen=True)
class PSOR(_Relaxation):
    """Projected successive over-relaxation: Gauss-Seidel with each change multiplied by `relaxation` in (0, 2).

    NOTES section 7 finds 1.4 best on fluid-like problems; 1 is `pgs`.
    """

    name: ClassVar[str] = "psor"
    reference: ClassVar[str] = "NOTES 5.3, eq. 59 and the listing there"

    relaxation: float = 1.4
    order: str = "forward"
    seed: int = 0

    def __post_init__(self) -> None:
        _require_relaxation(self.relaxation)
        _require_order(self.order, self.seed)

    @property
    def settings(self) -> tuple[float, str, int]:
        return float(self.relaxation), self.order, self.seed


@dataclass(frozen=True)
class SymmetricPSOR(_Relaxation):
    """A forward and a backward over-relaxed sweep make one iteration, so that no end of the order is preferred."""

    name: ClassVar[str] = "symmetric_psor"
    reference: ClassVar[str] = "NOTES 5.3, eq. 59, swept both ways (symmetric SOR: Cottle, Pang & Stone 1992, 5.3)"

    relaxation: float = 1.2

    def __post_init__(self) -> None:
        _require_relaxation(self.relaxation)

    @property
    def settings(self) -> tuple[float, str, int]:
        return float(self.relaxation), "symmetric", 0


def _require_relaxation(value: float) -> None:
    require_real(value, "relaxation")
    if not 0.0 < value < 2.0:
        raise ValueError(f"relaxation is {value}; it must lie strictly between 0 and 2 (NOTES eq. 57)")


def _require_order(order: str, seed: int) -> None:
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}{suggest(str(order), ORDERS)}")
    require_count(seed, "seed")
