"""What a world hands its problems to, from a method and its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from functools import partial
from typing import Any

import numpy as np

from perp.solvers.api import solve
from perp.solvers.islands.islands import solve_islands
from perp.solvers.method import Method
from perp.solvers.results.result import Result
from perp.solvers.roster import make_method
from perp.solvers.stopping import Stopping
from perp.worlds.world import Solve


def make_solve(
    method: str | Method,
    tol: float | None = None,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    *,
    islands: bool = False,
    workers: int = 1,
) -> Solve:
    """`solve(problem, x0)` by this method; ValueError or TypeError where that makes no sense."""
    stop = Stopping().with_changes(tol=tol, max_iterations=max_iterations, max_seconds=max_seconds)
    chosen = method if method == "auto" else make_method(method, {})
    run: Callable[..., Result] = partial(solve_islands, workers=workers) if islands else solve
    return lambda problem, x0: run(problem, chosen, x0=x0, stop=stop)


def changed_options(method: Method) -> dict[str, Any]:
    """Those that differ from the defaults."""
    values = {each.name: (getattr(method, each.name), _default(each)) for each in fields(method)}
    return {name: value for name, (value, default) in values.items() if not np.array_equal(value, default)}


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()
