"""How a solve by "auto" ends: the last digits of an answer, or a proof that there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perp.problems.certificates import Certificate, verify_certificate
from perp.problems.deadline import OutOfTime, now
from perp.problems.inputs import Vector
from perp.solvers.auto.search import Search
from perp.solvers.no_solution.search import search_no_solution
from perp.solvers.polishing.polish import polish
from perp.solvers.results import Status
from perp.solvers.selection import NEWTON, is_selected, select_motion

EXACT = 1e-12
"""An answer with a scaled residual below this is not polished."""

POLISHED_ROWS = 300
"""Up to so many rows an answer is polished although it is within the tolerance."""

ROUGH = 1e-6
"""Who asks for no more than this gets what was asked for."""

NEAR, NEAR_CONTACTS = 1e-5, 1e-3
"""A point whose scaled residual is below this is worth a polish when a method gives up there."""

PROOF_SECONDS = 10.0
"""What the search for a proof that there is no solution may take."""


PROOF_SHARE = 0.25
"""And of the time that is left, while there are methods to be asked: most problems have a solution."""


SELECTED = "the motion is open, or held by impulses that are: the one of contacts that give way ever less was taken"
UNSELECTED = "the law of friction leaves the motion open here, and the compliant law did not say which one to take"


def polish_best(search: Search) -> None:
    """The last digits, where they are cheap, and a last chance where a method gave up nearby.

    A point that is certain only because x is large is polished, too, before it is taken for an answer. What was
    polished is not polished again.
    """
    if search.is_certain:
        is_cheap = search.scaled > EXACT and search.problem.n <= POLISHED_ROWS and search.stop.tol <= ROUGH
        is_wanted = is_cheap or search.residual > search.target
    else:
        near = NEAR if search.problem.frictional is None else NEAR_CONTACTS
        is_wanted = search.is_open and search.scaled <= near
    if not is_wanted or search.polished is search.x or search.seconds_left <= 0.0:
        return
    before = now()
    polished = polish(search.problem, search.x, max_seconds=search.seconds_left)
    if polished is not None:
        search.consider(polished.x, search.method)
        status = Status.CONVERGED if search.is_certain else Status.REDUCED_ACCURACY
        search.record("polish", status, before, polished.how, residual=search.residual)
    search.polished = search.x
    if not search.is_certain and search.scaled <= EXACT:
        search.settle()


def settle_motion(search: Search) -> None:
    """Where contacts leave the motion open: the one that `perp.solvers.selection` selects, whatever the start was.

    Who asks for few digits gets what was found.
    """
    problem = search.problem
    if not search.is_certain or search.stop.tol > ROUGH or is_selected(problem, search.x):
        return
    before = now()
    try:
        selected = select_motion(problem.as_contacts(), search.x)
    except OutOfTime:
        selected = None
    if selected is not None and search.exchange(selected.x, NEWTON.label):
        steps = selected.iterations
        search.record("selection", Status.CONVERGED, before, SELECTED, iterations=steps, residual=search.residual)
    else:
        search.notes.append(UNSELECTED)
        search.record("selection", Status.STAGNATED, before, UNSELECTED)


def look_for_proof(search: Search, share: float = 1.0) -> None:
    """Is there a solution at all? To be found out in this share of the time that is left.

    That all index sets are refuted, to the last bit, is told in the end only: another method may still find a point
    that is one within the tolerance.
    """
    before = now()
    left = min(PROOF_SECONDS, share * search.seconds_left)
    if left <= 0.0:
        return
    search.has_sought_proof = True
    found = search_no_solution(search.problem, max_seconds=left, hints=() if search.ray is None else (search.ray,))
    proof = found.certificate
    if proof is not None and proof.kind == "exhausted":
        search.exhausted = proof
    elif proof is not None:
        search.prove(proof)
    search.record("no_solution", search.status if search.certificate else None, before, "; ".join(found.steps))


def offer_proof(search: Search, u: Vector) -> None:
    """A vector that proved it for the problem that a method saw, if it proves it for the one that was asked."""
    certificate = verify_certificate(search.problem, u)
    if certificate.valid:
        search.prove(certificate)
    else:
        search.status = Status.RAY


def offer_exhaustion(search: Search, proof: Certificate, rows: tuple[int, ...]) -> None:
    """That a part of the problem, these rows, has no solution, if it holds for them as part of the whole."""
    whole = replace(proof, u=np.zeros(search.problem.n), rows=rows)
    certificate = verify_certificate(search.problem, whole)
    if certificate.valid:
        search.prove(certificate)
