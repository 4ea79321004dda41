"""Starts for contacts where methods for the law of friction itself do not converge: an LCP, or contacts that give way.

*As an LCP*, for Lemke's path or an interior point. In the plane the LCP of Stewart and Trinkle
(`perp.stewart_trinkle`) is the same problem. In space it has polygons for discs: its impulses are the answer, or a
start from which Newton's method converges. Tangents that are bounded one by one (`restate_boxes`) have an LCP of their
own, which is the same problem in space, too.

*With a little compliance*. The compliant law was solved at every size that was tried, and its answer approaches the
rigid law as the compliance falls; but it gets as hard (`docs/contact.md`). So the compliance falls step by step, and
each law is solved from the last answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from perp.linalg.contact_compliance import contact_compliance
from perp.problems.box import BoxLCP
from perp.problems.deadline import OutOfTime, Pace, now
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.models.change import carry_over
from perp.problems.models.stewart_trinkle import stewart_trinkle
from perp.problems.problem import Problem
from perp.problems.residual_scale import cold_start
from perp.solvers.auto.presolve import Reduced
from perp.solvers.auto.search import FROM_OUTSIDE, Search, translate
from perp.solvers.cone_interior.cone_interior import ConeInterior
from perp.solvers.newton.interior.interior_point import InteriorPoint
from perp.solvers.pivoting.lemke import Lemke
from perp.solvers.results import Status
from perp.solvers.run import run_method
from perp.solvers.selection import is_rigid

PIVOTING_ROWS = 600
"""Larger LCPs are left to an interior point."""

MOST_ROWS = 20_000

RESTATING = Pace(5e6)
"""Multiplications of a product with A, for each of which some entries of the LCP are formed, a second."""

COMPLIANCES = (1e-4, 1e-5, 1e-6)
"""Solved one after the other, as shares of A_ii."""

METHOD = ConeInterior(attempts=1)


def start_from_lcp(search: Search, view: Reduced) -> Vector | None:
    """The impulses that solve the LCP of the contacts; None where there is none to be had."""
    problem = view.problem.frictional
    if problem is None or problem.n > MOST_ROWS:
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
        search.end(result.status, result.reason, is_better=False)
    return start


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
            search.end(result.status, result.reason, is_better=False)
        if not result.success or not search.is_open:
            break
    return found


def _restate(problem: ContactProblem) -> tuple[Problem, Callable[[Vector], Vector]]:
    if problem.model == "box" and problem.dimension > 2:
        return restate_boxes(problem)
    restated = stewart_trinkle(problem)
    return restated, lambda x: carry_over(x, restated, problem)


def restate_boxes(problem: ContactProblem) -> tuple[BoxLCP, Callable[[Vector], Vector]]:
    """Contacts with `model="box"` as a problem with fixed bounds, and the impulses that its unknowns stand for.

    As Stewart and Trinkle do for polygons (NOTES eq. 25-27), but with two directions for each tangent: a tangent is
    x_t = p - q, and beta, the speed of its slip, is positive only where p + q has reached friction x_n,

        0 <= p ⊥ y_t + beta >= 0,     0 <= q ⊥ -y_t + beta >= 0,     0 <= beta ⊥ friction x_n - p - q >= 0.

    With x = G z that is y_z = (G^T A G + C) z + G^T b, where C holds what couples p, q and beta. Any solution of it is
    one of the contacts, and the other way round. Unknowns: the normal impulses, all p, all q, the rows after the
    contacts, all beta.
    """
    n, contacts, width = problem.n, problem.contacts, problem.dimension
    normals = problem.normal_rows
    tangents = (normals[:, None] + np.arange(1, width)).ravel()
    others = np.arange(problem.contact_rows, n)
    count = tangents.size

    def pick(rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> sparse.csr_array:
        return sparse.csr_array((np.ones(rows.size), (rows, np.arange(rows.size))), shape=(n, rows.size))

    G = sparse.hstack([pick(normals), pick(tangents), -pick(tangents), pick(others)], format="csr")
    owner = np.repeat(np.arange(contacts), width - 1)
    limit = sparse.csr_array((problem.friction[owner], (np.arange(count), owner)), shape=(count, contacts))
    one = sparse.eye_array(count, format="csr")
    nothing = sparse.csr_array((count, others.size))
    below = sparse.hstack([limit, -one, -one, nothing], format="csr")
    beside = sparse.vstack([sparse.csr_array((contacts, count)), one, one, nothing.T], format="csr")
    matrix = sparse.block_array([[G.T @ problem.A.to_sparse() @ G, beside], [below, None]], format="csr")
    b = np.concatenate([G.T @ problem.b, np.zeros(count)])
    zeros, free = np.zeros(contacts + 2 * count), np.full(contacts + 2 * count, np.inf)
    lower = np.concatenate([zeros, problem.lower, np.zeros(count)])
    upper = np.concatenate([free, problem.upper, np.full(count, np.inf)])
    return BoxLCP(matrix, b, lower, upper), lambda z: np.asarray(G @ z[: G.shape[1]])
