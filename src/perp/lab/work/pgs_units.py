"""Solve one problem by one method, with its cost counted in PGS iterations, as PGS-SM Fig. 3 has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from perp.lab.runs.row import Column, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.printed_pgs_sm import Ledger, PrintedPGSSM
from perp.lab.work.recipes import chosen_method
from perp.lab.work.solve import WARM_ITERATIONS, measure_result
from perp.lab.work.touching_rows import make_step
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.loop import Progress
from perp.solvers.method import Method
from perp.solvers.results.result import Result
from perp.solvers.stopping import Stopping

PRINTED = PrintedPGSSM.name
SWEEPS_TIMED = 200
MOST_POINTS = 400


def perform(task: Task, folder: Path | None) -> Measurement:
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


Charge = Callable[[Progress], float]


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
