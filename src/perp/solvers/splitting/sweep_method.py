"""What methods that sweep share: an order, a sweeper for the form of A, and a velocity that is computed anew."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol

from perp.errors import suggest
from perp.problems.inputs import Vector, require_count, require_real
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options.docs import About
from perp.solvers.splitting.orders import ORDERS, Sweep, make_order

REFRESH_EVERY = 64
"""Iterations after which a kept velocity is computed anew; it costs as much as half a sweep."""

RELAXATION = About("what each change is multiplied by; 1 is Gauss-Seidel", above=0.0, below=2.0)

ORDER = About(
    "in which contacts and rows are visited: as they come, backward, both (symmetric), by a new permutation each"
    " iteration (random), or those together that do not touch (coloured)",
    choices=ORDERS,
)

ORDER_SEED = About("of the random order", at_least=0)


class AnySweeper(Protocol):
    """Kernels of one storage bound to their arrays."""

    @property
    def x(self) -> Vector: ...

    @property
    def sweep(self) -> Sweep: ...

    @property
    def refresh(self) -> Callable[[], None] | None: ...


@dataclass
class SweepState(State):
    iterate: Callable[[int], None]
    """Does so many iterations; none of them loads the kernels."""
    recompute: Callable[[], None] | None = None
    """Computes the velocity anew from x, where one is kept."""
    done: int = 0


@dataclass(frozen=True)
class SweepMethod(Method[SweepState]):
    family: ClassVar[str] = "splitting"
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS})
    check_every: ClassVar[int] = 10

    @property
    @abstractmethod
    def settings(self) -> tuple[float, str, int]:
        """The relaxation, the order, and the seed of a random order."""

    @abstractmethod
    def make_sweeper(self, problem: Problem, x: Vector) -> AnySweeper: ...

    def start(self, problem: Problem, x: Vector) -> SweepState:
        _, name, seed = self.settings
        sweeper, order = self.make_sweeper(problem, x), make_order(problem, name, seed)
        iterate = partial(order.iterate, sweeper.sweep)
        return SweepState(sweeper.x, iterate, sweeper.refresh, repeatable=name != "random")

    def refresh(self, problem: Problem, state: SweepState) -> None:
        if state.recompute is not None:
            state.recompute()

    def step(self, problem: Problem, state: SweepState, count: int) -> None:
        last = state.done + count
        while True:  # also for count = 0, which loads the kernels and does nothing
            width = min(last - state.done, REFRESH_EVERY - state.done % REFRESH_EVERY)
            state.iterate(width)
            state.done += width
            if width and state.done % REFRESH_EVERY == 0:
                self.refresh(problem, state)
            if state.done == last:
                return


def require_relaxation(value: float) -> None:
    require_real(value, "relaxation")
    if not 0.0 < value < 2.0:
        raise ValueError(f"relaxation is {value}; it must lie strictly between 0 and 2 (NOTES eq. 57)")


def require_order(order: str, seed: int) -> None:
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}{suggest(str(order), ORDERS)}")
    require_count(seed, "seed")
