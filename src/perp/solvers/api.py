"""`perp.solve`: check, choose, run, judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from perp.errors import OperatorFault
from perp.problems.inputs import Vector, as_vector
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.choose import choose_method
from perp.solvers.fit import require_fit
from perp.solvers.loop import Outcome, Progress, SolveInterrupted, iterate
from perp.solvers.method import Method
from perp.solvers.result import Attempt, Result
from perp.solvers.roster import default_methods, make_method
from perp.solvers.stopping import Stopping


def solve(
    problem: Problem,
    method: str | Method = "auto",
    *,
    tol: float | None = None,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    x0: Any = None,
    callback: Callable[[Progress], object] | None = None,
    check_every: int | None = None,
    stop: Stopping | None = None,
    **options: Any,
) -> Result:
    """Solve a complementarity problem.

    Parameters
    ----------
    problem
        `LCP`, `BoxLCP` or `ContactProblem`.
    method
        A name (`perp methods` lists them), a method object such as `perp.PSOR(relaxation=1.4)`, or "auto".
    tol
        The solve succeeds when the residual, the largest entry of x - clip(x - y, lower, upper), is at most this.
        Default 1e-8. Zero runs until nothing changes any more.
    max_iterations, max_seconds
        Limits; default 1000 iterations and no time limit.
    x0
        Where to start; default the point nearest to 0 within the bounds. A point outside the bounds is projected.
    callback
        Called at every check with a `Progress` (iteration, seconds, residual, merit, active, x). Raise StopIteration in
        it to stop.
    check_every
        Iterations between two checks of the residual; the method's own default is 10 for the splitting methods.
    stop
        Further criteria (`Stopping`): relative, stagnation, unchanged active set, which iterate to keep.
    options
        Options of the method, when it is given by name: `solve(problem, "psor", relaxation=1.2)`.

    Returns
    -------
    Result
        `result.x`, `result.success`, `result.status`, ... A solver's failure does not raise: it is a status. Input that
        makes no sense raises ValueError or TypeError before any work is done.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    criteria = (stop or Stopping()).with_changes(
        tol=tol, max_iterations=max_iterations, max_seconds=max_seconds, check_every=check_every
    )
    chosen = choose_method(problem) if isinstance(method, str) and method == "auto" else make_method(method, options)
    if method == "auto" and options:
        raise TypeError(f"options {sorted(options)} need a named method; method='auto' chooses for itself")
    require_fit(chosen, problem, default_methods())
    x, notes = _starting_point(problem, x0)
    work = problem.equilibrated()
    if work is not problem:
        notes.append("rows with extreme diagonal entries were scaled by powers of two")
    try:
        outcome = iterate(work, chosen, x, criteria, callback)
    except SolveInterrupted as interrupt:
        interrupt.partial_result = _judge(problem, work, chosen, interrupt.outcome, notes)
        raise
    return _judge(problem, work, chosen, outcome, notes)


def _starting_point(problem: Problem, x0: Any) -> tuple[Vector, list[str]]:
    given = np.zeros(problem.n) if x0 is None else as_vector(x0, "x0", problem.n)
    x = problem.project(given)
    moved = np.count_nonzero(x != given)
    notes = [f"x0 was outside its bounds in {moved} rows and was projected"] if x0 is not None and moved else []
    return x, notes


def _judge(problem: Problem, work: Problem, method: Method, outcome: Outcome, notes: list[str]) -> Result:
    """Recompute slack and residual of the returned x from the problem's own data."""
    watch = Watch(work)
    with np.errstate(all="ignore"):
        try:
            residual, *_ = watch.look(outcome.x)
            y = watch.y if work is problem else watch.y / problem.row_scales
        except OperatorFault:  # the status tells it already; there is no slack to speak of
            residual, y = np.nan, np.full(problem.n, np.nan)
    message = outcome.status.value + (f": {outcome.message}" if outcome.message else "")
    return Result(
        problem=problem,
        method=method.label,
        x=outcome.x,
        y=y,
        status=outcome.status,
        message=f"{message} (residual {residual:.3e} after {outcome.iterations} iterations)",
        iterations=outcome.iterations,
        residual=residual,
        seconds=outcome.seconds,
        setup_seconds=outcome.setup_seconds,
        history=outcome.history,
        best_iteration=outcome.best_iteration,
        attempts=(Attempt(method.label, outcome.status, outcome.iterations, outcome.seconds),),
        notes=tuple(notes),
    )
