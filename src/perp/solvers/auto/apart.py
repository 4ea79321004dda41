"""Islands during a solve by "auto": parts that have nothing to do with one another, each solved for itself."""

from __future__ import annotations

import numpy as np

from perp.problems.deadline import now
from perp.problems.islands import Island
from perp.solvers.auto.endgame import offer_exhaustion, offer_proof
from perp.solvers.auto.presolve import Reduced
from perp.solvers.auto.search import Search
from perp.solvers.auto.watching import translate
from perp.solvers.loop import SolveInterrupted
from perp.solvers.results.status import Status
from perp.solvers.run import reason_of


def solve_apart(search: Search, view: Reduced, islands: tuple[Island, ...], is_warm: bool) -> None:
    """Solve the islands of a view one after the other, and judge what they make together."""
    from perp.solvers.islands.islands import IslandRun  # which solves each by the call that has brought us here

    before = now()
    start = view.problem.project(view.restrict(search.start))
    run = IslandRun(islands, None, start, search.stop, translate(search, view.recover), search.begun, is_warm=is_warm)
    try:
        whole = run.result(view.problem, 1, [])
    except SolveInterrupted as interrupt:
        partial = interrupt.partial_result
        search.consider(view.recover(partial.x), partial.method, partial.best_iteration)
        raise
    search.consider(view.recover(whole.x), whole.method, whole.best_iteration)
    sizes = f"{len(islands)} islands, the largest with {max(island.rows.size for island in islands)} rows"
    search.record("islands", whole.status, before, sizes, iterations=whole.iterations, residual=search.residual)
    search.trail += whole.methods
    search.histories.append(whole.history)
    search.notes += whole.notes
    if whole.status is not Status.CONVERGED:
        search.end(whole.status, reason_of(whole), is_better=True)
    elif not search.is_certain:
        search.end(Status.REDUCED_ACCURACY, "", is_better=True)
    if whole.ray is not None:
        search.ray = view.spread(whole.ray)
    if whole.certificate is not None:
        offer_proof(search, view.spread(whole.certificate.u))
    for island, part in zip(islands, whole.parts, strict=True):
        proof = part.certificate
        if search.certificate is None and proof is not None and proof.kind == "exhausted":
            rows = np.flatnonzero(view.spread(_mark(view.problem.n, island.rows[list(proof.rows)])))
            offer_exhaustion(search, proof, tuple(rows.tolist()))


def _mark(n: int, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A vector with 1 in these rows."""
    marked = np.zeros(n)
    marked[rows] = 1.0
    return marked
