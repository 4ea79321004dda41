"""`perp.solve`: check, choose, run, judge."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from perp.errors import suggest
from perp.problems.deadline import hold, lift, now
from perp.problems.inputs import PointLike, Vector, as_vector
from perp.problems.models.change import carry_over, has_other_unknowns
from perp.problems.problem import Problem
from perp.problems.residual_scale import cold_start
from perp.solvers.auto.chain import solve_automatically
from perp.solvers.auto.small import is_small, solve_small
from perp.solvers.least_norm import IMPULSES, require_least_norm, with_least_norm
from perp.solvers.method import Method, require_fit
from perp.solvers.progress import AnyCallback, by_position, log_solve
from perp.solvers.results import Attempt, Result
from perp.solvers.roster import default_methods, make_method
from perp.solvers.run import conversions, run_method
from perp.solvers.stopping import DEFAULT_STOPPING, Stopping

ARGUMENTS = ("tol", "max_iterations", "max_seconds", "x0", "callback", "check_every", "stop", "impulses")
"""The words that `solve` itself understands: for hints."""


MOMENT = 1e-2
"""Seconds in which a small problem is solved for certain."""


def solve(
    problem: Problem,
    method: str | Method = "auto",
    *,
    tol: float | None = None,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    x0: PointLike | None = None,
    callback: AnyCallback | None = None,
    check_every: int | None = None,
    stop: Stopping | None = None,
    impulses: str = "any",
    **options: Any,
) -> Result:
    """Solve a complementarity problem.

    Parameters
    ----------
    problem
        `LCP`, `BoxLCP` or `ContactProblem`.
    method
        "auto" learns what is cheap to learn of the problem, asks one method after the other until the answer is
        certain or proved not to exist, and lists them in `result.methods`; `perp.explain(problem)` says why. Or a name
        (`perp methods` lists them), or a method object such as `perp.PSOR(relaxation=1.4)`: that method and no other.
    tol
        Default 1e-8. A method that is named succeeds when the residual, the largest entry of
        x - clip(x - y, lower, upper), is at most this. "auto" succeeds when the scaled residual is
        (`result.scaled_residual`): each row's divided by min(r0, max(1, |x_i|)), where r0 is the residual of the cold
        start, so that the units of the problem do not matter. Zero runs until nothing changes any more.
    max_iterations, max_seconds
        Limits; by default the method's own limit of iterations (1000 for the splitting methods) and no time limit. With
        a time limit alone, the iterations of a named method are not limited. With "auto" they are limits for all
        methods together.
    x0
        Where to start: a vector or an earlier `Result`; default the point nearest to 0 within the bounds. A point
        outside the bounds is projected. Of the answer to another problem that is made of the same contacts (another
        friction model, `perp.stewart_trinkle`, `perp.frictionless`, `perp.fixed_box`) the impulses are taken over.
    callback
        Called at every check with a `Progress` (iteration, seconds, residual, merit, active, x), by the keyword
        `intermediate_result` where its only parameter has that name, as SciPy does. Raise StopIteration in it to stop.
    check_every
        Iterations between two checks of the residual; the method's own default is 10 for the splitting methods.
    stop
        Further criteria (`Stopping`): relative, stagnation, unchanged active set, which iterate to keep. With "auto"
        they end one of its methods, and the next one is asked.
    impulses
        "least_norm" replaces the impulses of contacts by those of least norm that make the same motion: where contacts
        are redundant, they share their load evenly, and a note says so. See `perp.solvers.least_norm`.
    options
        Options of the method, when it is given by name: `solve(problem, "psor", relaxation=1.2)`.

    Returns
    -------
    Result
        `result.x`, `result.success`, `result.status`, ... A solver's failure does not raise: it is a status. Input that
        makes no sense raises ValueError or TypeError before any work is done.
    """
    begun = now()
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    if impulses not in IMPULSES:
        raise ValueError(f"impulses is {impulses!r}{suggest(str(impulses), IMPULSES)}")
    if impulses == "least_norm":
        require_least_norm(problem)
    criteria = as_stopping(stop).with_changes(
        tol=tol, max_iterations=max_iterations, max_seconds=max_seconds, check_every=check_every
    )
    with hold(inf if criteria.max_seconds is None else begun + criteria.max_seconds):
        if isinstance(method, str) and method == "auto":
            for name in options:
                raise TypeError(
                    f"solve has no argument {name!r}{suggest(name, ARGUMENTS)}; options need a named method"
                )
            result = _solve_automatically(problem, x0, criteria, callback, begun)
        else:
            chosen = make_method(method, options, ARGUMENTS)
            with lift():  # a look at the input, whatever the limit is
                require_fit(chosen, problem, default_methods)
            x, notes = starting_point(problem, x0)
            result = run_method(problem, chosen, x, criteria, by_position(callback), begun, notes)
        if impulses == "least_norm":
            result = with_least_norm(result, criteria.tol)
    log_solve(result)
    return result


def _solve_automatically(
    problem: Problem, x0: PointLike | None, stop: Stopping, callback: AnyCallback | None, begun: float
) -> Result:
    """Small problems go the short way, unless somebody wants to watch or to limit the others."""
    trail: list[Attempt] = []
    x, notes = (None, []) if x0 is None else starting_point(problem, x0)
    notes += conversions(problem)
    if callback is None and is_small(problem) and (stop is DEFAULT_STOPPING or _is_plain(stop)):
        outcome = solve_small(problem, stop.tol, x, notes)
        if isinstance(outcome, Result):
            return outcome
        trail.append(outcome)
    start = cold_start(problem) if x is None else x
    watch = by_position(callback)
    return solve_automatically(problem, start, stop, watch, begun, notes, is_warm=x0 is not None, trail=trail)


def _is_plain(stop: Stopping) -> bool:
    """Whether there is nothing that a single call would have to heed, but a tolerance and more than a moment's time."""
    has_time = stop.max_seconds is None or stop.max_seconds >= MOMENT
    return has_time and stop == replace(DEFAULT_STOPPING, tol=stop.tol, max_seconds=stop.max_seconds)


def as_stopping(stop: Any) -> Stopping:
    if stop is not None and not isinstance(stop, Stopping):
        raise TypeError(f"stop is {type(stop).__name__}; perp.Stopping(...) is needed")
    return stop or DEFAULT_STOPPING


def starting_point(problem: Problem, x0: Any) -> tuple[Vector, list[str]]:
    if x0 is None:
        return problem.project(np.zeros(problem.n)), []
    source = getattr(x0, "problem", None)
    notes = []
    if isinstance(source, Problem) and has_other_unknowns(source, problem):
        given = carry_over(x0.x, source, problem)
        notes.append(f"x0 was made of the impulses of an answer to {source!r}")
    else:
        given = as_vector(getattr(x0, "x", x0), "x0", problem.n)
    x = problem.project(given)
    if (x != given).any():
        moved = np.count_nonzero(np.abs(x - given) > 1e-15 * np.abs(given))
        if moved:
            notes.append(f"x0 was outside its bounds in {moved} rows and was projected")
    return x, notes
