"""The methods of linear cost that the benchmark `fluid` measures, and the problems it asks them for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import perp
from perp import gallery
from perp.errors import MethodRefused, MissingExtra
from perp.problems.problem import Problem
from perp.solvers.method import Method
from perp.solvers.roster import make_method

REPEATS = 3
SHORT = 2.0
"""Runs of at most so many seconds are repeated, and their median is taken."""

INNER = ("inner_iterations", "cycles")
"""Counters of the work inside an iteration, where a method has such."""


@dataclass(frozen=True)
class Variant:
    """A method by its name and options; it may be one that this version has not got."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        preconditioner = self.options.get("preconditioner")
        return self.name if preconditioner is None else f"{self.name}, {preconditioner}"

    def make(self) -> Method:
        """ValueError or TypeError where the method, its preconditioner or an option is not there."""
        return make_method(self.name, dict(self.options))


OURS = (
    Variant("multigrid"),
    Variant("policy_iteration"),
    Variant("mprgp", {"preconditioner": "multigrid"}),
    Variant("minimum_map", {"linear": "pcg", "preconditioner": "multigrid"}),
    Variant("minimum_map", {"linear": "pcg", "preconditioner": "mic0"}),
    Variant("minimum_map", {"linear": "pcg", "preconditioner": "ic0"}),
)


@dataclass(frozen=True)
class Run:
    """One solve, or the median of several."""

    reached: bool
    seconds: float
    """Of the whole call, checks included."""
    setup: float
    solve: float
    iterations: int
    inner: int | None
    residual: float
    """max |x - clip(x - y)| by `perp.verify`."""
    ending: str


def split_by_presence(variants: tuple[Variant, ...], problem: Problem) -> tuple[list[Variant], list[str]]:
    """Those that can solve this problem, and a line for each of the others."""
    present, absent = [], []
    for variant in variants:
        try:
            perp.solve(problem, variant.make(), max_iterations=1)
            present.append(variant)
        except (ValueError, TypeError, MethodRefused, MissingExtra) as reason:
            absent.append(f"left out: {variant} ({str(reason).partition(' (known')[0]})")
    return present, absent


def run_ours(problem: Problem, method: Method, tol: float, limit: float, check_every: int | None = None) -> Run:
    """`check_every` is the method's own unless told: 1 shows how many iterations were needed, and costs time."""
    every = method.check_every if check_every is None else check_every
    runs = [_run_once(problem, method, tol, limit, every)]
    while len(runs) < REPEATS and runs[0].seconds <= SHORT and runs[0].reached:
        runs.append(_run_once(problem, method, tol, limit, every))
    middle = median(run.seconds for run in runs)
    return min(runs, key=lambda run: abs(run.seconds - middle))


def _run_once(problem: Problem, method: Method, tol: float, limit: float, every: int) -> Run:
    begun = perf_counter()
    result = perp.solve(problem, method, tol=tol, max_seconds=limit, max_iterations=10**7, check_every=every)
    seconds = perf_counter() - begun
    residual = perp.verify(problem, result.x).natural_inf
    inner = next((int(result.history.counters[name][-1]) for name in INNER if name in result.history.counters), None)
    return Run(
        result.success and residual <= tol,
        seconds,
        result.setup_seconds,
        result.seconds,
        result.iterations,
        inner,
        residual,
        result.status.name.lower(),
    )


# --- problems --------------------------------------------------------------------------------------------------------

KINDS = ("planted", "obstacle")
HALF = {2: 0.798, 3: 0.95}
"""Radii of contacts that cover half of the square, and as much as fits of the cube (45 %)."""


def make_problem(kind: str, dimension: int, edge: int) -> perp.LCP:
    """A grid with `edge` cells a side, half of them active.

    planted    `poisson_2d`, `poisson_3d`: x and y are drawn, both of size 1; where b is negative tells much of where
               x > 0
    obstacle   `radial_obstacle` with x and y multiplied by h^-2: the load is 1 in each cell, x of size h^-2, and the
               contact has to be found
    """
    if kind == "planted":
        problem = gallery.make(f"poisson_{dimension}d", n=edge**dimension, form="stencil").problem
        assert isinstance(problem, perp.LCP)
        return problem
    example = gallery.make("radial_obstacle", n=edge**dimension, dimension=dimension, contact=HALF[dimension])
    assert isinstance(example, gallery.Obstacle)
    return perp.LCP(example.problem.A, np.asarray(example.problem.b) / example.spacing**2)
