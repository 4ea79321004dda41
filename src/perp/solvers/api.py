"""`perp.solve`: check, choose, run, judge."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from math import isnan
from time import perf_counter
from typing import Any

import numpy as np

from perp.errors import OperatorFault, suggest
from perp.problems.certificates import PROVABLE, Certificate, sharpen, verify_certificate
from perp.problems.inputs import Vector, as_vector, freeze
from perp.problems.models.change import carry_over, has_other_unknowns
from perp.problems.operators import DenseOperator, FactoredOperator, SparseOperator, StencilOperator
from perp.problems.operators.base import TO_SPARSE
from perp.problems.operators.forming import listen_for_forming
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.choose import choose_method
from perp.solvers.fit import require_fit
from perp.solvers.loop import Outcome, Progress, SolveInterrupted, iterate
from perp.solvers.method import Method
from perp.solvers.result import Attempt, Result
from perp.solvers.roster import default_methods, make_method
from perp.solvers.status import Status
from perp.solvers.stopping import DEFAULT_STOPPING, Stopping

ARGUMENTS = ("tol", "max_iterations", "max_seconds", "x0", "callback", "check_every", "stop")
"""The words that `solve` itself understands: for hints."""

FROZEN_FORMS = (DenseOperator, SparseOperator, FactoredOperator, StencilOperator)
"""Forms of A that consist of read-only numbers: a product computed once is what it would be now."""


UNDECIDED = {
    Status.RAY,
    Status.BREAKDOWN,
    Status.CYCLING,
    Status.REDUCED_ACCURACY,
    Status.STAGNATED,
    Status.LOCAL_MINIMUM,
    Status.NON_DESCENT,
}
"""How a method may end by itself and leave a vector that proves more than it says."""


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
        Limits; by default the method's own limit of iterations (1000 for the splitting methods) and no time limit. With
        a time limit alone, iterations are not limited.
    x0
        Where to start: a vector or an earlier `Result`; default the point nearest to 0 within the bounds. A point
        outside the bounds is projected. Of the answer to another problem that is made of the same contacts (another
        friction model, `perp.stewart_trinkle`, `perp.frictionless`, `perp.fixed_box`) the impulses are taken over.
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
    begun = perf_counter()
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    criteria = as_stopping(stop).with_changes(
        tol=tol, max_iterations=max_iterations, max_seconds=max_seconds, check_every=check_every
    )
    if isinstance(method, str) and method == "auto":
        for name in options:
            raise TypeError(f"solve has no argument {name!r}{suggest(name, ARGUMENTS)}; options need a named method")
        chosen = choose_method(problem)
    else:
        chosen = make_method(method, options, ARGUMENTS)
    require_fit(chosen, problem, default_methods)
    x, notes = starting_point(problem, x0)
    work = problem if chosen.scales_itself else problem.equilibrated()
    if isinstance(problem.A, SparseOperator) and problem.A.given_format != "csr":
        notes.append(f"A was converted once from {problem.A.given_format} to csr")
    if work is not problem:
        notes.append("rows with extreme diagonal entries were scaled by powers of two")
    with listen_for_forming(notes) if isinstance(problem.A, StencilOperator) else nullcontext():
        try:
            outcome = iterate(work, chosen, x, criteria, callback, begun)
        except SolveInterrupted as interrupt:
            interrupt.partial_result = _judge(problem, work, chosen, interrupt.outcome, notes, criteria.tol)
            raise
        return _judge(problem, work, chosen, outcome, notes, criteria.tol)


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


def _judge(problem: Problem, work: Problem, method: Method, outcome: Outcome, notes: list[str], tol: float) -> Result:
    """Take slack and residual of the returned x from the problem's own data, whatever the method says: they decide."""
    residual, y = _look(problem, work, outcome)
    certificate = _checked_certificate(problem, work, outcome)
    status = outcome.status if certificate is None else Status.INFEASIBLE
    reason = "" if certificate is not None else outcome.message  # the proof is the reason
    if status.success and not residual <= tol:
        status = Status.BREAKDOWN if isnan(residual) else Status.REDUCED_ACCURACY
        reason = "the residual, computed anew, is not within the tolerance"
    message = status.value + (f": {reason}" if reason else "")
    return Result(
        problem=problem,
        method=method.label,
        x=outcome.x,
        y=y,
        status=status,
        message=f"{message} (residual {residual:.3e} after {outcome.iterations} iterations)",
        iterations=outcome.iterations,
        residual=residual,
        seconds=outcome.seconds,
        setup_seconds=outcome.setup_seconds,
        history=outcome.history,
        best_iteration=outcome.best_iteration,
        attempts=(Attempt(method.label, status, outcome.iterations, outcome.seconds),),
        certificate=certificate,
        ray=_direction(problem, work, outcome),
        notes=tuple(notes),
    )


def _look(problem: Problem, work: Problem, outcome: Outcome) -> tuple[float, Vector]:
    """Residual and slack of the returned x, computed by `Watch`: now, or in the check that took this very x.

    The loop's watch has them still where no other point was looked at since, as in a solve that ends at its last check,
    and where A is made of numbers that nobody can change. A product that is the caller's own code is asked once more.
    """
    watch = outcome.watch if outcome.watch is not None and work is problem else Watch(problem)
    known = watch.recall(outcome.x) if isinstance(problem.A, FROZEN_FORMS) else None
    if known is not None:
        return known, watch.y
    with np.errstate(all="ignore"):
        try:
            residual, *_, probe = watch.look(outcome.x)
            if isnan(probe) and work is not problem:  # only the scaled rows have a slack that can be written down
                residual, *_ = Watch(work).look(outcome.x)
        except OperatorFault:  # the status tells it already; there is no slack to speak of
            return np.nan, np.full(problem.n, np.nan)
    return residual, watch.y


def _checked_certificate(problem: Problem, work: Problem, outcome: Outcome) -> Certificate | None:
    """The vector that the method left, if it proves that the caller's problem has no solution."""
    direction = _direction(problem, work, outcome)
    if direction is None or problem.kind not in PROVABLE or outcome.status not in UNDECIDED:
        return None
    if TO_SPARSE not in problem.A.ability_set or not np.isfinite(direction).all():
        return None
    certificate = verify_certificate(problem, direction)
    if not certificate.valid:
        certificate = verify_certificate(problem, sharpen(problem, direction))
    return certificate if certificate.valid else None


def _direction(problem: Problem, work: Problem, outcome: Outcome) -> Vector | None:
    """What the method left, one number a row of the caller's problem."""
    if outcome.certificate is None:
        return None
    factors = problem.row_scales if work is not problem else 1.0  # it belongs to the rows that the method worked on
    return freeze(outcome.certificate * factors)
