"""Every candidate for "auto" on every problem of a family, each call on a problem that has never been looked at.

Candidates are the methods with the options that matter, and short chains in which one hands its x to the next. Left out
are the modulus methods beside AMGS and AMSOR, which are twins of PGS and PSOR, and `quadratic_program` and
`cone_program`, whose solvers are optional packages. Times are those of the processor, with all threads of this process:
what others do on the machine is not in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

import perp
from benchmarks.choosing_digest import FALSE, NOT_RUN, Row
from benchmarks.choosing_families import Family
from perp.lab.runs.row_file import FileRunner, RowFile
from perp.lab.runs.runner import Here
from perp.lab.work.solve import Trial
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residual_scale import least_scale, scaled_residual
from perp.solvers.method import Method, misfit
from perp.solvers.roster import BY_NAME, make_method

TOLERANCE = 1e-8

LEFT_OUT = frozenset({"mj", "mgs", "msor", "maor", "amj", "amaor", "quadratic_program", "cone_program"})

SMALL_ENOUGH = {"enumeration": 12, "principal": 500, "lemke": 2000, "dantzig": 2000}
"""Rows beyond which a method is not asked: its work grows as 2^n, or as the number of pivots times n^2."""

REHEARSAL = 99
"""The seed of a problem that does not count: kernels are loaded on it."""


@dataclass(frozen=True)
class Step:
    """One method of a chain; `iterations` is how many it may have before it hands on, None as many as time allows."""

    method: Method
    iterations: int | None = None


@dataclass(frozen=True)
class Candidate:
    label: str
    steps: tuple[Step, ...]

    def fits(self, problem: Problem) -> bool:
        if any(problem.n > SMALL_ENOUGH.get(step.method.name, problem.n) for step in self.steps):
            return False
        return all(misfit(step.method, problem) is None for step in self.steps)

    def solve(self, problem: Problem, seconds: float, x0: Vector | None = None, tol: float = TOLERANCE) -> perp.Result:
        """The result of the last step that was run; the time limit is for all of them together."""
        begun = perf_counter()
        start: Vector | perp.Result | None = x0
        for step in self.steps:
            left = max(1e-3, seconds - (perf_counter() - begun))
            result = perp.solve(
                problem, step.method, tol=tol, x0=start, max_seconds=left, max_iterations=step.iterations
            )
            if result.success:
                break
            start = result
        return result


def _plain(name: str, label: str | None = None, **options: Any) -> Candidate:
    return Candidate(label or name, (Step(make_method(name, options)),))


def _after(first: str, sweeps: int, second: str, **options: Any) -> Candidate:
    """`second`, started where some sweeps of `first` end."""
    steps = (Step(make_method(first, {}), sweeps), Step(make_method(second, options)))
    return Candidate(f"{first}({sweeps}) > {second}", steps)


def all_candidates() -> Sequence[Candidate]:
    plain = [_plain(name) for name in BY_NAME if name not in LEFT_OUT]
    return (*plain, *VARIANTS)


VARIANTS: tuple[Candidate, ...] = (
    _plain("block_principal", "block_principal pcg", linear="pcg"),
    _plain("block_principal", "block_principal progress", fallback="progress"),
    _plain("principal", "principal keller", rule="keller"),
    _plain("fischer", "fischer proximal", proximal="always"),
    _plain("fischer", "fischer perturbation", strategy="perturbation"),
    _plain("minimum_map", "minimum_map pcg", linear="pcg"),
    _plain("cone_newton", "cone_newton natural_map", function="natural_map"),
    _after("psor", 30, "block_principal"),
    _after("pgs", 30, "block_principal"),
    _after("pgs", 30, "interior_pivoting"),
    _after("block_gauss_seidel", 100, "cone_newton"),
)


@dataclass(frozen=True)
class Limits:
    """How much is measured."""

    largest: int = 100_000
    """Sizes beyond are left out."""
    seeds: int = 3
    large: int = 2000
    """From so many rows on there is one seed less, from five times as many only one, and few are asked."""
    few: int = 9
    """The best of the size before, which alone are asked on a large problem."""
    seconds: float = 0.6
    """What a call may take on a problem with fewer than 500 rows."""
    seconds_of_large: float = 4.0
    patience: float = 10.0
    """A call that takes so many times the shortest successful one so far is cut off, but not before `least_seconds`."""
    least_seconds: float = 0.15
    repeats: int = 5
    short: float = 0.01
    """Calls of fewer seconds are repeated."""

    def cap(self, n: int) -> float:
        return self.seconds if n < 480 else self.seconds_of_large

    def seeds_for(self, n: int) -> int:
        fewer = 0 if n < self.large else 1 if n < 5 * self.large else 2
        return max(1, self.seeds - fewer)


QUICK = Limits(largest=500, seeds=1, seconds=0.3, seconds_of_large=1.0, least_seconds=0.05, repeats=3)


def measure_family(family: Family, candidates: Sequence[Candidate], file: RowFile[Row], limits: Limits) -> None:
    """Add a row for each candidate that fits each problem of the family."""
    dropped: set[str] = set()
    order = list(candidates)
    warmed: set[str] = set()
    runner = FileRunner(lambda: Here(partial(_measure, limits)), file)
    sizes = [n for n in family.sizes if n <= limits.largest]
    for n, next_size in zip(sizes, [*sizes[1:], None], strict=True):
        for seed in range(limits.seeds_for(n)):
            list(runner.run(_find_trials(family, n, seed, order, dropped, warmed, file, limits)))
        here = [row for row in file.rows.values() if row.family == family.name and row.n == n]
        order.sort(key=lambda candidate: _rank(candidate.label, here))
        dropped = _hopeless(here)
        if next_size is not None and next_size >= limits.large:
            dropped |= {candidate.label for candidate in order[limits.few :]}


def _find_trials(
    family: Family,
    n: int,
    seed: int,
    candidates: Sequence[Candidate],
    dropped: set[str],
    warmed: set[str],
    file: RowFile[Row],
    limits: Limits,
) -> Iterator[Trial]:
    """What is missing on one problem; the time that a candidate has depends on the rows before its own."""
    missing = [one for one in candidates if (family.name, n, seed, one.label) not in file.rows]
    if not missing:
        return
    problem, x0 = family.make(n, seed), family.starting_point(n, seed)
    tol = absolute_tolerance(problem)
    recipe = {"family": family.name, "n": n, "seed": seed}
    for candidate in (one for one in missing if one.fits(problem)):
        if candidate.label in dropped:
            file.add(Row(family.name, n, problem.n, seed, candidate.label, NOT_RUN, np.inf, 0.0))
            continue
        if candidate.label not in warmed:
            warmed.add(candidate.label)
            candidate.solve(family.make(family.sizes[0], REHEARSAL), limits.least_seconds)
        known = (file.rows.get((family.name, n, seed, one.label)) for one in candidates)
        shortest = min((row.seconds for row in known if row is not None and row.solved), default=limits.cap(n))
        cap = min(limits.cap(n), max(limits.least_seconds, limits.patience * shortest))
        solver = partial(candidate.solve, seconds=cap, x0=x0, tol=tol)
        yield Trial("choosing", recipe, candidate.label, problem=problem, solver=solver)


def _measure(limits: Limits, trial: Trial) -> Row:
    seconds: list[float] = []
    while not seconds or (len(seconds) < limits.repeats and sum(seconds) < limits.short * limits.repeats):
        fresh = deepcopy(trial.problem)
        begun = process_time()
        result = trial.solver(fresh)
        seconds.append(process_time() - begun)
    residual, status = judge(trial.problem, result)
    family, n, seed = trial.instance.values()
    return Row(family, n, trial.problem.n, seed, trial.method, status, residual, median(seconds))


def absolute_tolerance(problem: Problem) -> float:
    """What a method called by name is asked for, in the caller's units: what "auto" asks of it."""
    return TOLERANCE * least_scale(problem)


def judge(problem: Problem, result: perp.Result) -> tuple[float, str]:
    """The scaled residual of the answer, computed anew, and how the solve ended."""
    measured = perp.verify(problem, result.x)
    residual = scaled_residual(problem, result.x, problem.slack(result.x), measured.residual)
    return residual, FALSE if result.success and not residual <= TOLERANCE else result.status.name


def _hopeless(rows: Sequence[Row]) -> set[str]:
    """Those that solved no problem of this size because time was up: on a larger one they are not asked."""
    by_method: dict[str, list[Row]] = {}
    for row in rows:
        by_method.setdefault(row.method, []).append(row)
    return {method for method, runs in by_method.items() if all(run.status in ("TIME_LIMIT", NOT_RUN) for run in runs)}


def _rank(label: str, rows: Sequence[Row]) -> tuple[float, float]:
    """The most reliable and then the quickest at the size before come first: they set the time for the others."""
    mine = [row for row in rows if row.method == label]
    solved = [row.seconds for row in mine if row.solved]
    return (-len(solved) / len(mine) if mine else 0.0, median(solved) if solved else np.inf)
