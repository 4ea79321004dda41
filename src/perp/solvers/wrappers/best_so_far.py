"""Keep the best iterate of any method (PGS-SM 4.3: 'fall back to the best iterate found')."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Generic

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.method import Method, S, State


@dataclass
class BestState(State, Generic[S]):
    inner: S
    watch: Watch
    residual: float


@dataclass(frozen=True)
class BestSoFar(Method[BestState[S]], Generic[S]):
    """Runs `method` unchanged, looks at each of its iterates, and offers the loop the best one so far.

    The plain loop also returns the best iterate of a failed solve, but only of those it checked; this looks at every
    one, at the price of a product with A an iteration. The residual in the history never rises.
    """

    method: Method[S]

    name: ClassVar[str] = "best_so_far"
    family: ClassVar[str] = "wrapper"
    requires: ClassVar[str] = "what the wrapped method requires"
    reference: ClassVar[str] = "PGS-SM 4.3"

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method):
            raise TypeError(f"best_so_far wraps a method object such as perp.PGS(), not {self.method!r}")

    @property
    def accepts(self) -> frozenset[str]:  # type: ignore[override]
        return self.method.accepts

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        return self.method.needs

    @property
    def check_every(self) -> int:  # type: ignore[override]
        return self.method.check_every

    @property
    def scales_itself(self) -> bool:  # type: ignore[override]
        return self.method.scales_itself

    def default_iterations(self, problem: Problem) -> int:
        return self.method.default_iterations(problem)

    @property
    def label(self) -> str:
        return f"best_so_far({self.method.label})"

    def objection(self, problem: Problem) -> str | None:
        return self.method.objection(problem)

    def start(self, problem: Problem, x: Vector) -> BestState[S]:
        watch = Watch(problem)
        residual, *_ = watch.look(x)
        inner = self.method.start(problem, x)
        state = BestState(inner.x, inner, watch, residual, offer=x.copy())
        self._follow(state)
        return state

    def refresh(self, problem: Problem, state: BestState[S]) -> None:
        self.method.refresh(problem, state.inner)

    def step(self, problem: Problem, state: BestState[S], count: int) -> None:
        assert state.offer is not None
        self.method.step(problem, state.inner, 0)
        done = 0
        while done < count and state.inner.ended is None:
            self.method.step(problem, state.inner, 1)
            residual, *_, probe = state.watch.look(state.inner.x)
            if probe == 0.0 and residual < state.residual:
                state.residual = residual
                np.copyto(state.offer, state.inner.x)
            done += 1 - state.inner.unused
        self._follow(state)
        state.unused = count - done

    @staticmethod
    def _follow(state: BestState[S]) -> None:
        """What the wrapped method says of itself is passed on."""
        inner = state.inner
        state.x, state.ended, state.certificate = inner.x, inner.ended, inner.certificate
        state.counters, state.repeatable, state.ends_itself = inner.counters, inner.repeatable, inner.ends_itself


def best_so_far(method: Method[S]) -> BestSoFar[S]:
    """`perp.solve(problem, method=perp.best_so_far(perp.PSOR(relaxation=1.9)))`."""
    return BestSoFar(method)
