"""Contacts stated as an LCP: where sweeps and Newton's method do not get on, Lemke's path or an interior point may.

In a plane the LCP of Stewart and Trinkle (`perp.stewart_trinkle`) is the same problem, in space it has polygons for
discs: its impulses are the answer, or a start from which Newton's method gets there. Tangents that are bounded one by
one have an LCP of their own (`boxed_friction`), which is the same problem in space, too.
"""

from __future__ import annotations

from collections.abc import Callable

from perp.problems.deadline import OutOfTime, Pace, now
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.models.change import carry_over
from perp.problems.models.stewart_trinkle import stewart_trinkle
from perp.problems.problem import Problem
from perp.problems.residual_scale import cold_start
from perp.solvers.auto.boxed_friction import restate_boxes
from perp.solvers.auto.presolve import Reduced
from perp.solvers.auto.search import FROM_OUTSIDE, Search
from perp.solvers.auto.watching import translate
from perp.solvers.newton.interior.interior_point import InteriorPoint
from perp.solvers.pivoting.lemke import Lemke
from perp.solvers.results.status import Status
from perp.solvers.run import reason_of, run_method

PIVOTING_ROWS = 600
"""Larger LCPs are left to an interior point."""

MOST_ROWS = 20_000

RESTATING = Pace(5e6)
"""Multiplications of a product with A, for each of which some entries of the LCP are formed, a second."""


def start_from_lcp(search: Search, view: Reduced) -> Vector | None:
    """The impulses that solve the LCP of the contacts; None where there is none to be had."""
    problem = view.problem
    if not isinstance(problem, ContactProblem) or problem.n > MOST_ROWS:
        return None
    before = now()
    try:
        with RESTATING.work(problem.A.work()):
            restated, to_impulses = _restate(problem)
    except OutOfTime:
        search.lacks_time = True
        return None
    method = Lemke() if restated.n <= PIVOTING_ROWS else InteriorPoint()

    def impulses(x: Vector) -> Vector:
        return problem.project(to_impulses(x))

    stop = search.leave(restated, method, None, 1.0)
    callback = translate(search, lambda x: view.recover(impulses(x)))
    result = run_method(restated, method, cold_start(restated), stop, callback, search.begun, search.notes)
    start = impulses(result.x)
    residual = search.consider(view.recover(start), f"{method.label} on the LCP", result.best_iteration)
    why = f"the contacts as an LCP of {restated.n} rows, solved by {method.label}"
    search.record("restated", result.status, before, why, iterations=result.iterations, residual=residual)
    if result.status in (*FROM_OUTSIDE, Status.TIME_LIMIT):
        search.end(result.status, reason_of(result), is_better=False)
    return start


def _restate(problem: ContactProblem) -> tuple[Problem, Callable[[Vector], Vector]]:
    if problem.model == "box" and problem.dimension > 2:
        return restate_boxes(problem)
    restated = stewart_trinkle(problem)
    return restated, lambda x: carry_over(x, restated, problem)
