"""Works of PGS-SM, and the method as its authors ran it: one plain run of conjugate gradients for the reduced equation.

`pgs_sm` with `linear="cg"` refines its solutions and takes least squares where rows contradict each other, which may
take ten runs of conjugate gradients for one subspace step. PGS-SM section 5 makes one run, of at most as many
iterations as there are variables, and goes on with what that leaves; where costs are compared, it has to be that one.

`pgs_units`: one problem by one method, with its cost counted in PGS iterations, as Fig. 3 has it. `blow_up`: a scene
that only rests or falls through many steps, every solve cold; does its energy explode?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from perp.lab.runs.row import DONE, Column, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import chosen_method, make_scene, make_solver
from perp.lab.work.simulate import measure_run
from perp.lab.work.solve import WARM_ITERATIONS, measure_result
from perp.lab.work.touching_rows import EQUATION_3, make_step, solve_touching
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import FreeSystem
from perp.linalg.free_systems.krylov import KrylovSystem
from perp.linalg.krylov.cg import cg
from perp.linalg.krylov.cycles import Ending
from perp.problems.inputs import Vector, freeze, require_number
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.simulation import simulate
from perp.solvers.api import solve
from perp.solvers.loop import Progress
from perp.solvers.method import Method
from perp.solvers.results import Result
from perp.solvers.splitting.subspace import PGSSM, Mask, ReducedEquation, SubspaceState
from perp.solvers.stopping import Stopping
from perp.worlds.world import Solve, StepReport

MOST_ROUNDS = 40
"""Of `k_pgs` sweeps, where sweeps go on until the merit rests."""

SWEEPS_TIMED = 200

MOST_POINTS = 400

Charge = Callable[[Progress], float]

GAIN = 0.1
"""Nothing in these scenes brings energy in: a total above the first one by more than this share of it is a blow-up."""

HOPELESS = 1.0
"""A gain by this share ends the run: nothing is learnt from what bodies do after an explosion."""

BLOWN_UP = "BLOWN_UP"


@dataclass
class Ledger:
    """What a solve has cost so far, in units of one PGS iteration, and what it had reached then.

    A sweep passes all n rows once: one unit. An iteration of conjugate gradients passes the |A| active rows, so it is
    |A| / n of one. A subspace step costs one more, for the right-hand side of eq. 22 and the slack of eq. 23.
    """

    cost: float = 0.0
    cg_iterations: float = 0.0
    costs: list[float] = field(default_factory=list)
    merits: list[float] = field(default_factory=list)
    residuals: list[float] = field(default_factory=list)

    def note(self, residual: float, merit: float) -> None:
        self.costs.append(self.cost)
        self.merits.append(merit)
        self.residuals.append(residual)


class OneRun(ReducedEquation):
    """Eq. 22 by one run of conjugate gradients from where x is; what that leaves, stays."""

    def __init__(
        self, problem: Problem, system: FreeSystem, regularisation: Vector, tolerance: float, ledger: Ledger
    ) -> None:
        super().__init__(problem, system, regularisation)
        self._problem, self._regularisation = problem, regularisation
        self._tolerance, self._zero = tolerance, freeze(np.zeros(problem.n))
        self._watch, self._ledger = Watch(problem), ledger

    def merit(self, x: Vector) -> float:
        """Half the sum of squares of the Fischer function."""
        return self._watch.look(x)[1]

    def solve(self, x: Vector, free: Mask, weight: float = 0.0) -> Vector:
        residual, merit, *_ = self._watch.look(x)
        self._ledger.note(residual, merit)

        def product(d: Vector) -> Vector:
            """(A_FF + gamma) d, for a d that is zero outside F."""
            image = self._problem.A.slack(d, self._zero, np.empty(d.size)) + self._regularisation * d
            return np.where(free, image, 0.0)

        count = int(np.count_nonzero(free))
        right = np.where(free, -self.slack(x), 0.0)
        found = cg(product, right, tolerance=self._tolerance, max_iterations=count)
        assert isinstance(self.system, KrylovSystem)
        self.system.inner_iterations += found.iterations
        self.system.factorisations += 1
        self._ledger.cg_iterations += found.iterations
        self._ledger.cost += 1.0 + found.iterations * count / x.size
        if found.ending is Ending.NON_FINITE or not np.isfinite(found.x).all():
            raise NotFinite("conjugate gradients did not stay finite")
        return x + found.x


@dataclass(frozen=True)
class PrintedPGSSM(PGSSM):
    """PGS-SM 4.3 with the settings of section 5: no fallback, one run of conjugate gradients a subspace step.

    `until` makes sweeps go on, `k_pgs` at a time, until these change the merit by less than this share (5.1, eq. 27).
    """

    name: ClassVar[str] = "printed_pgs_sm"

    fallback: str = "none"
    linear: str = "cg"
    inner_tolerance: float = 1e-15
    until: float = 0.0
    ledger: Ledger = field(default_factory=Ledger, compare=False)
    """Of one solve."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self.until, "until")

    def start(self, problem: Problem, x: Vector) -> SubspaceState:
        state = super().start(problem, x)
        equation, gamma = state.phase.equation, self._find_regularisation(problem)
        state.phase.equation = OneRun(problem, equation.system, gamma, self.inner_tolerance, self.ledger)
        return state

    def _sweep(self, state: SubspaceState) -> None:
        super()._sweep(state)
        self.ledger.cost += self.k_pgs
        if self.until > 0.0:
            self._sweep_on(state)

    def _sweep_on(self, state: SubspaceState) -> None:
        equation = state.phase.equation
        assert isinstance(equation, OneRun)
        before = equation.merit(state.point)
        for _ in range(MOST_ROUNDS - 1):
            super()._sweep(state)
            self.ledger.cost += self.k_pgs
            merit = equation.merit(state.point)
            if not abs(merit - before) >= self.until * before:
                return
            before = merit


PRINTED = PrintedPGSSM.name


def perform_pgs_units(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `cost`, the PGS iterations that the solve may cost.

    PGS and the printed PGS-SM are charged by the rows that they pass (`Ledger`), all other methods by their time over
    that of a sweep of PGS on the same problem. Series: `cost`, `merit` (Fischer's) and `residual`, which for the
    printed PGS-SM are known after its sweeps and after each of its subspace steps. `active` is the largest share on the
    way, as the last iterate of a solve that went astray tells nothing.
    """
    problem = make_step(task.instance, folder)
    most, stop = float(task.arguments["cost"]), task.stopping
    pace = seconds_a_sweep(problem)
    ledger = Ledger()
    method: str | Method
    if task.method == PRINTED:
        method = PrintedPGSSM(**task.options, ledger=ledger)
        charge = charge_ledger(ledger)
        solve(problem, replace(method, ledger=Ledger()), stop=replace(stop, max_iterations=1))
    else:
        method = chosen_method(task.method, task.options)
        charge = charge_sweeps if task.method == "pgs" else charge_time(pace)
        solve(problem, method, stop=replace(stop, max_iterations=WARM_ITERATIONS))

    def watch(progress: Progress) -> None:
        if charge(progress) >= most:
            raise StopIteration("the cost that was allowed is spent")

    result = solve(problem, method, stop=stop, callback=watch)
    return _measure(task, result, ledger, pace)


def pgs_units_task(
    instance: Mapping[str, Any], method: str, *, cost: float, tol: float = 1e-10, check_every: int = 1, **others: Any
) -> Task:
    """A task of this work; `others` are further fields of `Task`."""
    stop = {"tol": tol, "max_iterations": int(cost), "check_every": check_every, "keep": "last"}
    return Task("pgs_units", instance, method, stop=stop, arguments={"cost": cost}, **others)


def seconds_a_sweep(problem: Problem) -> float:
    """The unit of cost, in time: the median of three short runs of PGS."""
    stop = Stopping(tol=0.0, max_iterations=SWEEPS_TIMED, check_every=SWEEPS_TIMED)
    runs = [solve(problem, "pgs", stop=stop) for _ in range(4)][1:]  # the first loads compiled code
    return float(np.median([run.seconds / max(run.iterations, 1) for run in runs]))


def charge_sweeps(progress: Progress) -> float:
    return float(progress.iteration)


def charge_time(pace: float) -> Charge:
    return lambda progress: progress.seconds / pace


def charge_ledger(ledger: Ledger) -> Charge:
    def charge(progress: Progress) -> float:
        ledger.note(progress.residual, progress.merit)
        return ledger.cost

    return charge


def _measure(task: Task, result: Result, ledger: Ledger, pace: float) -> Measurement:
    found, history = measure_result(result), result.history
    if task.method == PRINTED:
        cost, merit, residual = (np.array(column) for column in (ledger.costs, ledger.merits, ledger.residuals))
    else:
        cost = history.iteration.astype(np.float64) if task.method == "pgs" else history.seconds / pace
        merit, residual = history.merit, history.residual
    inside = cost <= task.arguments["cost"]
    chosen = np.flatnonzero(inside)[_spread(int(np.count_nonzero(inside)))]
    counted = {name: float(column[-1]) for name, column in history.counters.items() if column.size}
    numbers = (
        counted
        | dict(found.numbers)
        | {
            "sweep_seconds": pace,
            "cost_by_time": result.seconds / pace,
            "cost": float(cost[-1]),
            "merit": float(merit[-1]),
            "least_merit": float(merit[inside].min()),
            "active": float(history.active.max()) / max(result.problem.n, 1),
        }
    )
    series: dict[str, Column] = {"cost": cost[chosen], "merit": merit[chosen], "residual": residual[chosen]}
    return replace(found, numbers=numbers, series=series)


def _spread(count: int) -> Any:
    """Some 400 indices of so many, close together at the beginning, as a logarithmic axis shows them."""
    if count <= MOST_POINTS:
        return np.arange(count)
    return np.unique(np.rint(np.geomspace(1, count, MOST_POINTS)).astype(np.intp)) - 1


def perform_blow_up(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `steps`, and `form`, that of the problems (`touching_rows`).

    Numbers beside those of `simulate`: `blown_up` (1 or 0), `blow_up_step` (nan where there was none), `gain` (the
    largest energy over that of the start, less 1) and `way` (how far bodies went on the average [m]).
    """
    made = make_scene(task.instance)
    world, start = made.world, made.world.bodies()[0]
    first = world.energy()
    solver = cold(make_any_solver(task))
    if task.arguments["form"] == EQUATION_3:
        solver = solve_touching(world, made.dt, solver)

    def guard(report: StepReport, measured: Mapping[str, float]) -> None:
        if not measured["energy"] <= first + HOPELESS * abs(first):
            raise StopIteration

    result = simulate(made, task.arguments["steps"], method=solver, callback=guard)
    found = measure_run(result)
    energy = found.series["energy"]
    gains = (energy - first) / abs(first)
    over = np.flatnonzero(~(gains <= GAIN))
    blown = bool(over.size) or result.failed_step is not None
    step = float(over[0] + 1) if over.size else float(result.failed_step) if result.failed_step else nan
    numbers = dict(found.numbers) | {
        "blown_up": float(blown),
        "blow_up_step": step,
        "gain": float(np.max(gains, initial=0.0)) if result.failed_step is None else nan,
        "way": float(np.mean(np.linalg.norm(world.bodies()[0] - start, axis=1))),
    }
    told = {name: found.series[name] for name in ("energy", "residual", "penetration", "iterations")}
    return replace(found, status=BLOWN_UP if blown else DONE, numbers=numbers, series=told)


def blow_up_task(
    instance: Mapping[str, Any], method: str, *, steps: int, form: str, stop: Mapping[str, Any], **others: Any
) -> Task:
    """A task of this work; `others` are further fields of `Task`."""
    return Task("blow_up", instance, method, stop=stop, arguments={"steps": steps, "form": form}, **others)


def cold(solver: Solve) -> Solve:
    """The same, from zero in every step: PGS-SM speaks of no warm start."""
    return lambda problem, x0: solver(problem, None)


def make_any_solver(task: Task) -> Solve:
    """By a method of the roster, or by the printed PGS-SM."""
    if task.method != PRINTED:
        return make_solver(task.method, task.options, task.stop)
    stopping = Stopping(**task.stop)

    def take(problem: Problem, x0: Vector | None) -> Any:
        return solve(problem, PrintedPGSSM(**task.options, ledger=Ledger()), x0=x0, stop=stopping)

    return take
