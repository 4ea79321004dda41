"""One method on one problem, judged by the problem's own data."""

from __future__ import annotations

from math import isnan

import numpy as np

from perp.errors import OperatorFault
from perp.problems.certificates import PROVABLE, Certificate, sharpen, verify_certificate
from perp.problems.certificates.sharpening import NEARLY_ZERO
from perp.problems.deadline import OutOfTime
from perp.problems.inputs import Vector, freeze
from perp.problems.operators.base import TO_SPARSE, listen_for_forming
from perp.problems.problem import Problem
from perp.problems.residuals import Watch
from perp.solvers.loop import Outcome, SolveInterrupted, iterate
from perp.solvers.method import Method
from perp.solvers.progress import Callback
from perp.solvers.results import Attempt, Result, Status, make_message
from perp.solvers.stopping import Stopping

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

ZERO_SHARES = (NEARLY_ZERO, 1e-6)
"""What counts as zero in such a vector: pivots leave rounding errors, other people's interior points leave more."""


def run_method(
    problem: Problem,
    method: Method,
    x: Vector,
    stop: Stopping,
    callback: Callback | None,
    begun: float,
    notes: list[str],
) -> Result:
    """Run a method that fits from x, which lies within its bounds; `begun` is what the time limit counts from."""
    work = problem if method.scales_itself else problem.equilibrated()
    notes += conversions(problem)
    if work is not problem:
        notes.append("rows with extreme diagonal entries were scaled by powers of two")
    with listen_for_forming(notes):
        try:
            outcome = iterate(work, method, x, stop, callback, begun)
        except SolveInterrupted as interrupt:
            interrupt.partial_result = _judge(problem, work, method, interrupt.outcome, notes, stop.tol)
            raise
        return _judge(problem, work, method, outcome, notes, stop.tol)


def conversions(problem: Problem) -> list[str]:
    """What was done to A as it was taken in."""
    return [] if problem.A.conversion is None else [problem.A.conversion]


def _judge(problem: Problem, work: Problem, method: Method, outcome: Outcome, notes: list[str], tol: float) -> Result:
    """Take slack and residual of the returned x from the problem's own data, whatever the method says: they decide."""
    residual, y = _look(problem, work, outcome)
    certificate = _checked_certificate(problem, work, outcome)
    status = outcome.status if certificate is None else Status.INFEASIBLE
    reason = "" if certificate is not None else outcome.message  # the proof is the reason
    if status.success and not residual <= tol:
        status = Status.BREAKDOWN if isnan(residual) else Status.REDUCED_ACCURACY
        reason = "the residual, computed anew, is not within the tolerance"
    return Result(
        problem=problem,
        method=method.label,
        x=outcome.x,
        y=y,
        status=status,
        message=make_message(status.value, reason, residual, outcome.iterations),
        reason=reason,
        iterations=outcome.iterations,
        residual=residual,
        seconds=outcome.seconds,
        setup_seconds=outcome.setup_seconds,
        history=outcome.history,
        best_iteration=outcome.best_iteration,
        methods=(Attempt(method.label, status, outcome.iterations, outcome.seconds, residual),),
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
    known = watch.recall(outcome.x) if problem.A.is_numbers else None
    if known is not None:
        return known, watch.y
    with np.errstate(all="ignore"):
        try:
            residual, *_, probe = watch.look(outcome.x)
            if isnan(probe) and work is not problem:  # only the scaled rows have a slack that can be written down
                residual, *_ = Watch(work).look(outcome.x)
            if not np.isfinite(outcome.x).all():
                residual = np.nan
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
    try:
        for share in (None, *ZERO_SHARES):
            candidate = direction if share is None else sharpen(problem, direction, share)
            certificate = verify_certificate(problem, candidate)
            if certificate.valid:
                return certificate
    except OutOfTime:
        pass
    return None


def _direction(problem: Problem, work: Problem, outcome: Outcome) -> Vector | None:
    """What the method left, one number a row of the caller's problem."""
    if outcome.certificate is None:
        return None
    factors = problem.row_scales if work is not problem else 1.0  # it belongs to the rows that the method worked on
    return freeze(outcome.certificate * factors)
