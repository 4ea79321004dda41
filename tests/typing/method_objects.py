"""Every method as an object with its options, the wrappers, and what belongs to a method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, assert_type

import perp
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.method import Method, State

PIVOTING = (perp.Enumeration(), perp.Lemke(), perp.Dantzig(), perp.Principal(), perp.BlockPrincipal())
SPLITTING = (
    perp.Jacobi(damping=0.5),
    perp.PGS(order="backward"),
    perp.PSOR(relaxation=1.4),
    perp.SymmetricPSOR(),
    perp.BlockGaussSeidel(),
    perp.NNCG(),
    perp.PGSSM(),
    perp.Staggering(),
)
MODULUS = (
    perp.MJ(),
    perp.MGS(),
    perp.MSOR(),
    perp.MAOR(),
    perp.AMJ(),
    perp.AMGS(gamma=2.0, omega="diagonal", alpha=None),
    perp.AMSOR(),
    perp.AMAOR(),
)
NEWTON = (
    perp.MinimumMap(),
    perp.PolicyIteration(),
    perp.Fischer(),
    perp.InteriorPoint(),
    perp.InteriorPivoting(),
    perp.ConeNewton(),
    perp.ConeInterior(friction_target=3.0, space="body"),
)
GRADIENT = (perp.PGCG(), perp.MPRGP(), perp.APGD(), perp.SPG(), perp.ADMM())
OTHERS = (perp.Multigrid(), perp.QuadraticProgram(), perp.ConeProgram())


def solve_by_each(problem: perp.LCP) -> list[perp.Result]:
    methods = (*PIVOTING, *SPLITTING, *MODULUS, *NEWTON, *GRADIENT, *OTHERS)
    return [perp.solve(problem, method) for method in methods]


def wrapped(problem: perp.LCP) -> list[perp.Result]:
    warm = perp.warm_started_by(perp.PGS(), iterations=10, model="")
    better = perp.best_so_far(perp.NNCG())
    assert_type(better.label, str)
    assert_type(warm.iterations, int)
    return [perp.solve(problem, better), perp.solve(problem, warm(perp.PSOR())), perp.solve(problem, warm(better))]


def what_methods_say(problem: perp.LCP) -> None:
    method = perp.PSOR()
    assert_type(method.name, str)
    assert_type(method.family, str)
    assert_type(method.label, str)
    assert_type(method.requires, str)
    assert_type(method.reference, str)
    assert_type(method.accepts, frozenset[str])
    assert_type(method.needs, frozenset[str])
    assert_type(method.relaxation, float)
    assert_type(method.objection(problem), str | None)
    assert_type(method.default_iterations(problem), int)


def states(problem: perp.LCP) -> None:
    """A method by hand, step by step."""
    methods: list[Method] = [
        perp.ADMM(),
        perp.MPRGP(),
        perp.InteriorPoint(),
        perp.PolicyIteration(),
        perp.BlockPrincipal(),
    ]
    for method in methods:
        state: State = method.start(problem, problem.b)
        method.step(problem, state, 1)
        assert_type(state.counters, dict[str, float])
        assert_type(state.repeatable, bool)


@dataclass
class CountingState(State):
    halvings: int = 0


@dataclass(frozen=True)
class Halving(Method[CountingState]):
    """A method of one's own: `step` takes the state that `start` makes."""

    name: ClassVar[str] = "halving"
    family: ClassVar[str] = "mine"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp"})
    needs: ClassVar[frozenset[str]] = frozenset()
    requires: ClassVar[str] = "nothing"
    reference: ClassVar[str] = "none"

    def start(self, problem: Problem, x: Vector) -> CountingState:
        return CountingState(x)

    def step(self, problem: Problem, state: CountingState, count: int) -> None:
        state.x *= 0.5**count
        state.halvings += count


@dataclass(frozen=True)
class Resting(Method):
    """A method that names no state of its own."""

    name: ClassVar[str] = "resting"
    family: ClassVar[str] = "mine"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp"})
    needs: ClassVar[frozenset[str]] = frozenset()
    requires: ClassVar[str] = "nothing"
    reference: ClassVar[str] = "none"

    def start(self, problem: Problem, x: Vector) -> State:
        return State(x)

    def step(self, problem: Problem, state: State, count: int) -> None:
        pass


def methods_of_ones_own(problem: perp.LCP) -> list[str]:
    state = Halving().start(problem, problem.b)
    assert_type(state, CountingState)
    better = perp.best_so_far(Halving())
    assert_type(better.method, Method[CountingState])
    assert_type(better.start(problem, problem.b).inner, CountingState)
    perp.solve(problem, better)
    perp.solve(problem, Resting())
    kinds: list[type[Method]] = [Halving, Resting, perp.PGS]
    return [kind.name for kind in kinds]


def modulus(problem: perp.LCP) -> None:
    found = perp.modulus_diagnostics(problem, gamma=2.0)
    assert_type(found.tau, float)
    assert_type(found.delta, float)
