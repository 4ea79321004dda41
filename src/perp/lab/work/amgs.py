"""Works of AMGS, which measure RES, the 2-norm of the natural map (eq. 24; for an LCP |min(x, A x + b)|).

`amgs_run`: a simulation in which each step is swept a fixed number of times, whatever the residual; RES after each
step. With `adapt` alpha is chosen while the simulation runs. `amgs_step`: the problem of one step of a simulation,
sweep by sweep; RES after each, and what the sweeps that it takes cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from perp.lab.runs.row import Column, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import fingerprint, make_instance, make_scene, make_solver
from perp.lab.work.simulate import measure_run
from perp.lab.work.solve import free_share
from perp.problems.box import BoxLCP
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.lcp import LCP
from perp.problems.models.fixed_box import fixed_box
from perp.problems.models.restatement import frictionless
from perp.problems.problem import Problem
from perp.problems.residuals import verify
from perp.simulation import simulate
from perp.solvers.method import Method, State, require_fit
from perp.solvers.results import Result, Status
from perp.solvers.roster import default_methods, make_method
from perp.solvers.splitting.gauss_seidel import PGS
from perp.solvers.splitting.modulus import AMGS
from perp.solvers.splitting.modulus_sweeps import ModulusState
from perp.worlds.world import Solve, World

KEPT = ("rows", "energy", "penetration")
"""Columns of the run that a row keeps beside RES."""

LONGEST_FALL = 100
"""Steps within which bodies touch: the kernels are loaded before the clock runs."""

FACTORED, DENSE, SPARSE = "factored", "dense", "sparse"
"""Forms of A: J M^-1 J^T never multiplied out (AMGS Method 3.1), or explicit (Method 2.2)."""

AS_IT_IS, NORMALS, SHIFTED_BOX = "as it is", "normals", "shifted box"
"""What becomes of the tangents: bounds that follow the newest normal impulse; left out, which makes an LCP; or bounds
that the normal impulses of the start fix, with unknowns shifted so that all lower bounds are 0 (AMGS section 3.1)."""

ALL_KEPT, GROWTH = 200, 1.02
"""Of the first sweeps RES is kept after each; of later ones after each that is so many times as late as the last."""


class PrintedAMGS(AMGS):
    """AMGS for boxes as Method 3.2 prints it. Needs 0 <= lower, and gamma = 2: it clips to the wrong box otherwise.

    Its memory knows of one bound, 0: u_i goes on from max(0, u_i) where the corrected method goes on from x_i. So at an
    upper bound u grows by -step y with every iteration, without end, and x stays there long after the problem asks it
    to leave.
    """

    name: ClassVar[str] = "printed_amgs"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma != 2.0:
            raise ValueError(f"gamma is {self.gamma}; Method 3.2 clips to the wrong box unless it is 2")

    def objection(self, problem: Problem) -> str | None:
        if problem.frictional is not None or np.any(problem.lower < 0.0):
            return "Method 3.2 assumes 0 <= lower (AMGS section 3.1), which friction bounds are not"
        return super().objection(problem)

    def start(self, problem: Problem, x: Vector) -> ModulusState:
        state = super().start(problem, x)
        sweeper, sweep = state.sweeper, state.sweeper.kernel

        def sweep_as_printed(count: int, keep: float, drop: float) -> None:
            """Put the start of each row into u, and let the sweep go on from there: from x + 1 (u - x)."""
            for _ in range(count):
                above = np.maximum(sweeper.u, 0.0)
                sweeper.u[:] = above + (keep - drop * sweeper.step) * (sweeper.u - above)
                sweep(1, 1.0, 0.0)

        sweep(0, 1.0, 0.0)  # loads the kernel
        state.sweeper, state.repeatable = replace(sweeper, kernel=sweep_as_printed), False
        return state


def perform_amgs_run(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `steps`, `sweeps` a step, and `adapt`: None, or the fields of `TrialAlpha`."""
    made = make_scene(task.instance)
    adapt, stop = task.arguments["adapt"], sweeps_only(task.arguments["sweeps"])
    solver: Solve
    if adapt is None:
        solver = make_solver(task.method, task.options, stop)
    else:
        solver = TrialAlpha(task.method, dict(task.options), stop, **adapt)
    _load_kernels(copy(made.world), made.dt, make_solver(task.method, task.options, stop))
    res: list[float] = []
    alpha: list[float] = []

    def look(report: Any, measured: Mapping[str, float]) -> None:
        res.append(report.residuals.natural_2)
        if isinstance(solver, TrialAlpha):
            alpha.append(solver.alpha)

    result = simulate(made, task.arguments["steps"], method=solver, callback=look)
    found = measure_run(result)
    trials = solver.sweeps if isinstance(solver, TrialAlpha) else 0
    numbers = {
        "sweeps": found.numbers["iterations"] + trials,
        "row_sweeps": float(np.sum(result.statistics["rows"] * result.statistics["iterations"])),
        "step_seconds": float(np.sum(result.statistics["seconds"])),
        "seconds": float(np.sum(result.statistics["solve_seconds"])),
        "contacts": float(np.mean(result.statistics["contacts"])) if result.steps else np.nan,
    }
    series = {name: found.series[name] for name in KEPT} | {"res": np.array(res)}
    if alpha:
        series["alpha"] = np.array(alpha)
    return replace(found, numbers={**found.numbers, **numbers}, series=series)


def amgs_run_task(
    instance: Mapping[str, Any],
    method: str,
    *,
    steps: int,
    sweeps: int,
    adapt: Mapping[str, Any] | None = None,
    **others: Any,
) -> Task:
    """A task of this work; `others` are further fields of `Task`."""
    return Task("amgs_run", instance, method, arguments={"steps": steps, "sweeps": sweeps, "adapt": adapt}, **others)


def sweeps_only(sweeps: int) -> dict[str, Any]:
    """The stop preset of AMGS section 5: so many sweeps, and the last x is the answer."""
    return {"tol": 0.0, "max_iterations": sweeps, "check_every": sweeps, "keep": "last"}


@dataclass
class TrialAlpha:
    """`solve(problem, x0)` that tries a neighbour of alpha now and then, and keeps it where it does better.

    Every `every`-th step is solved twice from the same x0: with alpha, and with alpha times or divided by `factor`, by
    turns. The better answer is taken, and its alpha is the one of the steps to come; a trial that wins is followed by
    one in the same direction. Better is a smaller `measure`: RES ("natural_2"), or the "objective" 1/2 x^T A x + b^T x,
    which sweeps make smaller (NOTES eq. 21).
    """

    method: str
    options: Mapping[str, Any]
    stop: Mapping[str, Any]
    every: int
    factor: float
    lowest: float
    highest: float
    measure: str
    upwards: bool = False
    steps: int = 0
    sweeps: int = 0
    """Spent on trials."""
    solvers: dict[float, Solve] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.alpha: float = float(self.options["alpha"])

    def __call__(self, problem: Problem, x0: Vector | None) -> Result:
        self.steps += 1
        found = self._solve(self.alpha, problem, x0)
        if problem.n == 0 or self.steps % self.every:
            return found
        trial = self._neighbour()
        other = self._solve(trial, problem, x0)
        self.sweeps += other.iterations
        if self._value(problem, other) < self._value(problem, found):
            self.alpha = trial
            return other
        self.upwards = not self.upwards
        return found

    def _value(self, problem: Problem, answer: Result) -> float:
        return float(getattr(verify(problem, answer.x), self.measure))

    def _neighbour(self) -> float:
        wanted = self.alpha * self.factor if self.upwards else self.alpha / self.factor
        return min(max(wanted, self.lowest), self.highest)

    def _solve(self, alpha: float, problem: Problem, x0: Vector | None) -> Result:
        if alpha not in self.solvers:
            self.solvers[alpha] = make_solver(self.method, {**self.options, "alpha": alpha}, self.stop)
        answer = self.solvers[alpha](problem, None if x0 is None else x0.copy())
        assert isinstance(answer, Result)
        return answer


def _load_kernels(world: World, dt: float, solver: Solve) -> None:
    """Take a copy of the world to the first step in which something touches."""
    for _ in range(LONGEST_FALL):
        if world.step(dt, solver).problem.n:
            return


def perform_amgs_step(task: Task, folder: Path | None) -> Measurement:
    """`arguments`: `sweeps`, at most so many; `until`, the RES below which they end (0: none); `form` of A;
    `restate`, as what the problem is solved; `repeats`, how often the sweeps are timed (0: not at all)."""
    asked = task.arguments
    instance = make_instance(task.instance, folder)
    impulses = np.zeros(instance.problem.n) if instance.x0 is None else instance.x0
    problem, start = restate(instance.problem.as_contacts(), impulses, asked["restate"])
    printed = task.method == PrintedAMGS.name
    method = PrintedAMGS(**task.options) if printed else make_method(task.method, dict(task.options))
    require_fit(method, problem, default_methods)
    explicit = in_form(problem, asked["form"])
    iteration, res, x = sweep_until(explicit, method, start, asked["sweeps"], asked["until"])
    reached = bool(res[-1] < asked["until"])
    lower, upper = problem.bounds(x)
    numbers = {
        "residual": verify(problem, x).residual,
        "res": float(res[-1]),
        "iterations": float(iteration[-1]),
        "active": free_share(problem, x),
        "warm": float(instance.x0 is not None),
        "at_upper": float(np.sum((lower < upper) & (x >= upper))),
    }
    if asked["repeats"]:
        numbers |= time_sweeps(problem, asked["form"], method, start, int(iteration[-1]), asked["repeats"])
    return Measurement(
        status=(Status.CONVERGED if reached else Status.ITERATION_LIMIT).name,
        n=problem.n,
        problem=fingerprint(problem),
        numbers=numbers,
        series={"iteration": iteration, "res": res},
    )


def amgs_step_task(
    instance: Mapping[str, Any],
    method: str,
    *,
    sweeps: int,
    until: float = 0.0,
    form: str = FACTORED,
    restate: str = AS_IT_IS,
    repeats: int = 0,
    **others: Any,
) -> Task:
    """A task of this work; `others` are further fields of `Task`. Where `repeats` is given, the task is timed."""
    arguments = {
        "sweeps": sweeps,
        "until": until,
        "form": form,
        "restate": restate,
        "repeats": repeats,
    }
    return Task("amgs_step", instance, method, arguments=arguments, timed=repeats > 0, **others)


def restate(problem: ContactProblem, impulses: Vector, law: str) -> tuple[Problem, Vector]:
    """The problem under that law, and the impulses as a start within its bounds."""
    if law == AS_IT_IS:
        return problem, problem.project(impulses)
    if law == NORMALS:
        normals = frictionless(problem)
        return normals, normals.unknowns(impulses)
    box = fixed_box(problem, impulses[problem.normal_rows])
    shift = np.where(np.isfinite(box.lower), box.lower, 0.0)
    shifted = BoxLCP(box.A, box.slack(shift), box.lower - shift, box.upper - shift)
    return shifted, shifted.project(impulses - shift)


def in_form(problem: Problem, form: str) -> Problem:
    """The same problem with A in that form."""
    if form == FACTORED:
        return problem
    assert problem.A.factored is not None
    assert problem.kind == "lcp"
    return LCP(problem.A.to_dense() if form == DENSE else problem.A.to_sparse(), problem.b)


def sweep_until(
    problem: Problem, method: Method, start: Vector, sweeps: int, until: float
) -> tuple[Column, Column, Vector]:
    """Sweep numbers, RES after each of them (both thinned), and the last x."""
    state: State = method.start(problem, start.copy())
    iterations, measured = [0], [verify(problem, state.x).natural_2]
    res, next_kept = measured[0], 1
    done = 0
    while done < sweeps and not res < until:
        method.step(problem, state, 1)
        done += 1
        res = verify(problem, state.x).natural_2
        if done >= next_kept or res < until or done == sweeps:
            iterations.append(done)
            measured.append(res)
            next_kept = done + 1 if done < ALL_KEPT else int(GROWTH * done) + 1
    return np.array(iterations, dtype=np.float64), np.array(measured), state.x


def time_sweeps(
    problem: Problem, form: str, method: Method, start: Vector, sweeps: int, repeats: int
) -> dict[str, float]:
    """Seconds of making A explicit and of preparing (`setup_seconds`), and of that many sweeps without a look at x.

    As many sweeps of projected Gauss-Seidel are timed by turns with them (`pgs_seconds`, its preparation included):
    what slows the machine down slows both. Each is the least of the repeats.
    """
    setups, sweepings, references = [], [], []
    for _ in range(repeats):
        clock = perf_counter()
        fresh = in_form(problem, form)
        state = method.start(fresh, start.copy())
        prepared = perf_counter()
        method.step(fresh, state, sweeps)
        done = perf_counter()
        pgs = PGS()
        pgs.step(problem, pgs.start(problem, start.copy()), sweeps)
        references.append(perf_counter() - done)
        sweepings.append(done - prepared)
        setups.append(prepared - clock)
    return {"setup_seconds": min(setups), "seconds": min(sweepings), "pgs_seconds": min(references)}
