"""One method on one frictional problem, timed and judged by `perp.verify`; tables of such runs beside Clarabel."""

from __future__ import annotations

import csv
import json
import pickle
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from math import isnan, nan
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from rich.table import Table

import perp
from benchmarks.friction_problems import Case, make_stack
from benchmarks.tables import add_row, make_table, tell
from perp.problems.residual_scale import scaled_residual
from perp.solvers.method import Method, misfit
from perp.solvers.roster import BY_NAME, make_method

PREFERRED = ("cone_interior", "cone_program", "auto", "cone_newton", "admm")
"""The methods that run where none is named, as far as the roster has them."""

PEER = "cone_program"

COUNTERS = ("factorisations", "backend_iterations")
"""What counts as a factorisation, the first that a method counts; an iteration of Clarabel is one."""

SHORT = 0.5
"""Seconds up to which a run is repeated twice."""

SKIPPED = "SKIPPED"

COLUMNS = ("solved", "scaled", "fact.", "worst", "ms", "most", "/Clar.", "resid.", "endings")

ENDINGS = {
    "CONVERGED": "conv",
    "ITERATION_LIMIT": "iter",
    "TIME_LIMIT": "time",
    "REDUCED_ACCURACY": "red",
    "STAGNATED": "stag",
    "BREAKDOWN": "brk",
}
"""Shorter words for tables; others are written out."""


@dataclass(frozen=True)
class Row:
    """One line of the file that `--out` names. Numbers that do not exist are nan."""

    part: str
    model: str
    name: str
    wanted: int
    rows: int
    ratio: float
    friction: float
    seed: int
    start: str
    """cold or warm"""
    method: str
    status: str
    residual: float
    """The largest entry of the natural map, recomputed."""
    scaled: float
    """The same by rows, over min(r0, max(1, |x_i|)): what "auto" goes by."""
    tol: float
    factorisations: float
    iterations: int
    seconds: float
    message: str

    @property
    def is_solved(self) -> bool:
        return self.residual <= self.tol

    @property
    def is_false(self) -> bool:
        """Called a success by the solver, and none in either measure."""
        return self.status == perp.Status.CONVERGED.name and not min(self.residual, self.scaled) <= self.tol * 1.01


@dataclass(frozen=True)
class Contest:
    """What is asked of each method."""

    methods: tuple[str, ...]
    limit: float
    """Seconds."""
    peer_tolerance: float | None = None
    """What Clarabel is asked for, in its own measure, in one call; None: the tolerance of the run."""

    def run(self, case: Case, method: str, tol: float) -> Row | None:
        """None where the method does not take such a problem."""
        chosen = self._prepare(method, tol)
        if isinstance(chosen, Method) and misfit(chosen, case.problem) is not None:
            return None
        calls = 1 if method == PEER else None

        def attempt() -> tuple[float, perp.Result]:
            problem = pickle.loads(pickle.dumps(case.problem))  # nothing that an earlier run has analysed
            begun = perf_counter()
            result = perp.solve(problem, chosen, tol=tol, max_seconds=self.limit, x0=case.start, max_iterations=calls)
            return result.seconds if method == PEER else perf_counter() - begun, result

        seconds, result = attempt()
        if seconds < SHORT:
            seconds = median([attempt()[0], attempt()[0]])
        return make_row(case, method, tol, result, seconds)

    def _prepare(self, method: str, tol: float) -> str | Method:
        if method == "auto":
            return method
        options = {"tolerance": self.peer_tolerance or tol} if method == PEER else {}
        return make_method(method, options)

    def rehearse(self, model: str) -> None:
        """Kernels are loaded, and in a fresh checkout compiled, on a problem that does not count."""
        for method in self.methods:
            self.run(make_stack("wall", 48, model, 1.0, 0), method, 1e-8)


def default_methods() -> tuple[str, ...]:
    return tuple(name for name in PREFERRED if name == "auto" or name in BY_NAME)


def make_row(case: Case, method: str, tol: float, result: perp.Result, seconds: float) -> Row:
    found = perp.verify(case.problem, result.x)
    counters = result.history.counters
    counted = [float(counters[name][-1]) for name in COUNTERS if name in counters and len(counters[name])]
    return _row(
        case,
        method=method,
        status=result.status.name,
        residual=found.residual,
        scaled=scaled_residual(case.problem, result.x, case.problem.slack(result.x), found.residual),
        tol=tol,
        factorisations=counted[0] if counted else nan,
        iterations=result.iterations,
        seconds=seconds,
        message=" ".join(result.message.split()),
    )


def make_empty_row(case: Case, method: str, tol: float, status: str, message: str) -> Row:
    """For a run that did not take place, or that left no answer."""
    numbers = {"residual": nan, "scaled": nan, "factorisations": nan, "iterations": 0, "seconds": nan}
    return _row(case, method=method, status=status, tol=tol, message=message, **numbers)


def _row(case: Case, **found: Any) -> Row:
    return Row(
        part=case.part,
        model=case.model,
        name=case.name,
        wanted=case.wanted,
        rows=case.problem.n,
        ratio=case.ratio,
        friction=case.friction,
        seed=case.seed,
        start="cold" if case.start is None else "warm",
        **found,
    )


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """As JSON, or, whatever else the suffix is, as CSV. Written anew each time: a run that is killed leaves it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        path.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        names = [field.name for field in fields(Row)]
        writer.writerow(names)
        writer.writerows([getattr(row, name) for name in names] for row in rows)


def show(
    title: str,
    rows: Sequence[Row],
    labels: Sequence[str],
    key: Callable[[Row], tuple[Hashable, ...]],
    *,
    tail: bool = False,
) -> Table:
    """One line for each key and method, in the order in which they came. With `tail`, `worst` is the 95th percentile.

    The ratio is that of the median times over the problems that both have run on.
    """
    worst = "95 %" if tail else "worst"
    headings = [worst if name == "worst" else name for name in COLUMNS]
    table = make_table(title, [*labels, "method", *headings], labels=len(labels) + 1)
    groups: dict[tuple[Hashable, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((*key(row), row.method), []).append(row)
    for told, group in groups.items():
        peer = groups.get((*told[:-1], PEER), []) if told[-1] != PEER else []
        add_row(table, [*told, *_summarise(group, peer, tail)])
    return table


def _summarise(group: Sequence[Row], peer: Sequence[Row], tail: bool) -> list[object]:
    ran = [row for row in group if row.status != SKIPPED]
    if not ran:
        return [f"0/{len(group)}", *[None] * (len(COLUMNS) - 2), "foretold"]
    seconds = _numbers(row.seconds for row in ran)
    factors = _numbers(row.factorisations for row in ran)
    residuals = _numbers(row.residual for row in ran)
    false = sum(row.is_false for row in ran)
    endings = Counter(ENDINGS.get(row.status, row.status.lower()) for row in ran)
    told = " ".join(f"{count} {name}" for name, count in endings.most_common())
    return [
        f"{sum(row.is_solved for row in ran)}/{len(group)}",
        f"{sum(row.scaled <= row.tol for row in ran)}/{len(group)}",
        median(factors) if factors else None,
        _worst(factors, tail),
        1e3 * median(seconds) if seconds else None,
        1e3 * max(seconds) if seconds else None,
        _compare(ran, peer),
        f"{max(residuals):.0e}" if residuals else None,
        told + (f" {false} FALSE" if false else ""),
    ]


def _numbers(values: Iterable[float]) -> list[float]:
    return [value for value in values if not isnan(value)]


def _worst(values: Sequence[float], tail: bool) -> float | None:
    if not values:
        return None
    return float(np.quantile(values, 0.95)) if tail else max(values)


def _compare(ours: Sequence[Row], peer: Sequence[Row]) -> str | None:
    """How many times as long as Clarabel, in the same process, on the same problems."""
    theirs = {_problem(row): row.seconds for row in peer}
    ratios = _numbers(row.seconds / theirs[_problem(row)] for row in ours if _problem(row) in theirs)
    return tell(median(ratios)) if ratios else None


def _problem(row: Row) -> tuple[Hashable, ...]:
    return row.part, row.model, row.name, row.wanted, row.ratio, row.seed, row.start
