"""Contacts with a little compliance, where the rigid law of friction does not yield: a start, or the answer itself.

The compliant law is solved at every size that was tried, and its answer comes near to the rigid law as the compliance
falls; but it gets as hard (`docs/contact.md`). So the compliance falls as long as each law is solved from the last.
"""

from __future__ import annotations

from perp.linalg.contact_compliance import contact_compliance
from perp.problems.deadline import now
from perp.problems.inputs import Vector
from perp.problems.residual_scale import cold_start
from perp.solvers.auto.presolve import Reduced
from perp.solvers.auto.search import FROM_OUTSIDE, Search
from perp.solvers.auto.watching import translate
from perp.solvers.cone_interior.cone_interior import ConeInterior
from perp.solvers.results.status import Status
from perp.solvers.run import reason_of, run_method
from perp.solvers.selection import is_rigid

COMPLIANCES = (1e-4, 1e-5, 1e-6)
"""One after the other, as shares of A_ii."""

METHOD = ConeInterior(attempts=1)


def start_from_compliance(search: Search, view: Reduced) -> Vector | None:
    """The impulses of contacts that give way as little as could be solved; None where there are none to be had."""
    problem = view.problem
    assert is_rigid(problem)
    found: Vector | None = None
    for share in COMPLIANCES:
        before = now()
        softened = problem.with_compliance(contact_compliance(problem, share, "by_inertia"))
        start = cold_start(softened) if found is None else found
        stop, callback = search.leave(softened, METHOD, None, view.shrinkage), translate(search, view.recover)
        result = run_method(softened, METHOD, start, stop, callback, search.begun, search.notes)
        law = f"contacts with a compliance of {share:g} A_ii"
        residual = result.residual
        if result.success:
            found = result.x
            answer = view.recover(found)
            residual = search.consider(answer, METHOD.label, result.best_iteration)
            if search.x is answer:
                search.told = f"no solution of the rigid law was found: the answer is that of {law}"
        search.record("softened", result.status, before, law, iterations=result.iterations, residual=residual)
        if result.status in (*FROM_OUTSIDE, Status.TIME_LIMIT):
            search.end(result.status, reason_of(result), is_better=False)
        if not result.success or not search.is_open:
            break
    return found
