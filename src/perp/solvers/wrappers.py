"""Methods around methods.

`best_so_far` keeps the best iterate of any method (PGS-SM 4.3: 'fall back to the best iterate found');
`warm_started_by` begins with a few iterations of one method and goes on with another (NOTES section 7, Figure 6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Generic

import numpy as np

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, require_count
from perp.problems.models.change import carry_over, require_named_model, under_model
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.method import Method, S, State, misfit
from perp.solvers.results import Status

COUNTER = "warm_up_iterations"


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


@dataclass
class WarmState(State):
    active: State
    """Of the starter first, then of the method."""
    starter_problem: Problem
    method_problem: Problem
    left: int
    """Iterations that the starter may still do."""
    factors: Vector | float
    """What a certificate of the method is multiplied with, to belong to the rows that the wrapper was given."""
    warmed: int = 0
    """Iterations that the starter did."""
    since: int = 0
    """Iterations that the method did."""
    is_warming: bool = True
    starter_counters: dict[str, float] = field(default_factory=dict)
    starter_certificate: Vector | None = None


@dataclass(frozen=True)
class WarmStarted(Method[WarmState]):
    """The first `iterations` iterations are those of `starter`; from where they end `method` goes on by itself.

    Both are counted: `result.iterations`, the history and the times are of the two together, and the counter
    `warm_up_iterations` tells how many were the starter's, so that their difference is the method's own. A starter that
    ends by itself hands over early, and a problem that it solves is solved. What it counted has `warm_up_` before its
    name. The method prepares itself (factors, index sets) when its turn comes, which counts as its own time.

    Each of the two runs on the rows that it would be given alone: scaled, or as they are (`Method.scales_itself`).

    With a `model` ("box", "cone", "convex", "frictionless" or "stewart_trinkle") the starter runs on the same contacts
    under that model, and its impulses are turned into a point of the method's problem: a contact problem, or one that
    `perp.stewart_trinkle`, `perp.frictionless` or `perp.fixed_box` made of contacts. It is that point which the loop
    judges while the starter runs: solving the other model is no reason to stop.
    """

    starter: Method
    method: Method
    iterations: int = 10
    model: str = ""

    name: ClassVar[str] = "warm_started"
    family: ClassVar[str] = "wrapper"
    requires: ClassVar[str] = "what the two methods require"
    reference: ClassVar[str] = "NOTES 7, Figure 6"

    def __post_init__(self) -> None:
        for value in (self.starter, self.method):
            if not isinstance(value, Method):
                raise TypeError(f"warm_started_by takes method objects such as perp.PGS(), not {value!r}")
        require_count(self.iterations, "iterations")
        if self.model:
            require_named_model(self.model)

    @property
    def accepts(self) -> frozenset[str]:  # type: ignore[override]
        return self.method.accepts if self.model else self.starter.accepts & self.method.accepts

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        return self.method.needs if self.model else self.starter.needs | self.method.needs

    @property
    def check_every(self) -> int:  # type: ignore[override]
        return self.method.check_every

    @property
    def counted(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys((COUNTER, *_prefixed(self.starter.counted), *self.method.counted)))

    @property
    def scales_itself(self) -> bool:  # type: ignore[override]
        return self.starter.scales_itself or self.method.scales_itself

    @property
    def label(self) -> str:
        model = f", model={self.model}" if self.model else ""
        return f"warm_started_by({self.starter.label}, iterations={self.iterations}{model})({self.method.label})"

    def default_iterations(self, problem: Problem) -> int:
        return self.iterations + self.method.default_iterations(problem)

    def objection(self, problem: Problem) -> str | None:
        try:
            starter_problem = under_model(problem, self.model) if self.model else problem
        except InvalidProblem as fault:
            return str(fault)
        for role, one, its_problem in (("starter", self.starter, starter_problem), ("method", self.method, problem)):
            reason = misfit(one, its_problem)
            if reason is not None:
                return f"its {role} {one.label} would refuse: {reason}"
        return None

    def start(self, problem: Problem, x: Vector) -> WarmState:
        other = under_model(problem, self.model) if self.model else problem
        starter_problem = other if self.starter.scales_itself else other.equilibrated()
        method_problem = problem if self.method.scales_itself else problem.equilibrated()
        factors = problem.row_scales if method_problem is not problem else 1.0
        if self.model:
            x = other.project(carry_over(x, problem, other))
        active: State = self.starter.start(starter_problem, x)
        state = WarmState(active.x, active, starter_problem, method_problem, self.iterations, factors)
        self._follow(state)
        return state

    def refresh(self, problem: Problem, state: WarmState) -> None:
        if state.is_warming:
            self.starter.refresh(state.starter_problem, state.active)
        else:
            self.method.refresh(state.method_problem, state.active)

    def step(self, problem: Problem, state: WarmState, count: int) -> None:
        done = 0
        if state.is_warming:
            width = min(count, state.left)
            self.starter.step(state.starter_problem, state.active, width)
            done = width - state.active.unused
            state.warmed += done
            state.left = 0 if state.active.ended is not None else state.left - done
            if done < count and state.left == 0:
                self._hand_over(state)
        if not state.is_warming and state.active.ended is None:
            self.method.step(state.method_problem, state.active, count - done)
            own = count - done - state.active.unused
            state.since += own
            done += own
        self._follow(state)
        state.unused = count - done

    def _hand_over(self, state: WarmState) -> None:
        """The method's turn."""
        state.is_warming = False
        state.starter_counters = state.active.counters
        state.starter_certificate = None if self.model else state.active.certificate  # it speaks of the other model
        x = state.active.x if state.active.offer is None else state.active.offer
        if np.isfinite(x).all():
            state.active = self.method.start(state.method_problem, self._as_point(state, x).copy())
        else:
            state.active.x, state.active.offer = self._as_point(state, x), None
            state.active.ended = Status.BREAKDOWN, f"{self.starter.label} left numbers that are not finite"

    def _as_point(self, state: WarmState, x: Vector) -> Vector:
        """What an iterate of the starter is in the method's problem; x itself where they solve the same one."""
        if not self.model:
            return x
        if not np.isfinite(x).all():
            return np.full(state.method_problem.n, np.nan)
        return state.method_problem.project(carry_over(x, state.starter_problem, state.method_problem))

    def _follow(self, state: WarmState) -> None:
        """What the one whose turn it is says of itself is passed on."""
        inner = state.active
        counters = {COUNTER: float(state.warmed)}
        if state.is_warming:
            state.x = self._as_point(state, inner.x)
            state.offer = None if inner.offer is None else self._as_point(state, inner.offer)
            # whatever x does now, the method has not had its turn
            state.ends_itself, state.repeatable = True, False
            state.counters = counters | _prefix(inner.counters)
            return
        state.x, state.offer = inner.x, inner.offer
        state.ended, state.ends_itself = inner.ended, inner.ends_itself
        # to come upon a point of the warm-up is no cycle; after as many iterations more the loop has forgotten those
        forgotten = state.since > state.warmed + 3 * self.check_every
        state.repeatable = inner.repeatable and forgotten and bool(np.isfinite(inner.x).all())
        own = None if inner.certificate is None else inner.certificate * state.factors
        state.certificate = state.starter_certificate if own is None else own
        state.counters = counters | _prefix(state.starter_counters) | inner.counters
        warmed_within = inner.counters.get(COUNTER, 0.0)  # where the method has a warm-up of its own
        state.counters[COUNTER] = state.warmed + warmed_within


def _prefixed(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"warm_up_{name}" for name in names)


def _prefix(counters: dict[str, float]) -> dict[str, float]:
    return {f"warm_up_{name}": value for name, value in counters.items()}


@dataclass(frozen=True)
class WarmUp:
    """What is done before any method that it is called with."""

    starter: Method
    iterations: int
    model: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.starter, Method):
            raise TypeError(f"warm_started_by takes a method object such as perp.PGS(), not {self.starter!r}")
        require_count(self.iterations, "iterations")
        if self.model:
            require_named_model(self.model)

    def __call__(self, method: Method) -> WarmStarted:
        return WarmStarted(self.starter, method, self.iterations, self.model)


def warm_started_by(starter: Method, iterations: int = 10, model: str = "") -> WarmUp:
    """A wrapper for any method: `warm = perp.warm_started_by(perp.PGS(), iterations=10)`, then
    `perp.solve(problem, warm(perp.PSOR()))`. With `model="box"`, for example, the starter runs on the same contacts
    under box friction, whatever the method's own problem makes of them.
    """
    return WarmUp(starter, iterations, model)
