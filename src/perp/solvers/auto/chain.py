"""The way through a solve by "auto": presolve, a chain of methods, polish, proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from perp.problems.deadline import OutOfTime, now
from perp.problems.inputs import Vector
from perp.problems.islands import Island
from perp.problems.problem import Problem
from perp.problems.residual_scale import cold_start
from perp.solvers.auto.contact_starts import start_from_compliance, start_from_lcp
from perp.solvers.auto.endgame import (
    EXACT,
    PROOF_SHARE,
    ROUGH,
    look_for_proof,
    offer_exhaustion,
    offer_proof,
    polish_best,
    settle_motion,
)
from perp.solvers.auto.features import Features
from perp.solvers.auto.presolve import (
    FEW_PRODUCTS,
    MANY_PRODUCTS,
    Reduced,
    as_asked,
    balance,
    find_islands,
    one_after_the_other,
    settle_rows,
    write_products_out,
    write_small_out,
)
from perp.solvers.auto.rules import Rule, Step, find_rule
from perp.solvers.auto.search import Search, translate
from perp.solvers.islands import islands as island_solver
from perp.solvers.loop import SolveInterrupted, interrupted_with
from perp.solvers.method import misfit
from perp.solvers.progress import Callback
from perp.solvers.results import Attempt, Result, Status
from perp.solvers.run import run_method
from perp.solvers.selection import is_rigid
from perp.solvers.stopping import Stopping

DOUBTS = 2
"""So many methods fail before it is asked whether there is a solution at all."""


def solve_automatically(
    problem: Problem,
    x: Vector,
    stop: Stopping,
    callback: Callback | None,
    begun: float,
    notes: list[str],
    *,
    is_warm: bool,
    trail: Sequence[Attempt] = (),
) -> Result:
    """Solve from x, which lies within its bounds; `stop.tol` is on the scaled residual (`residual_scale`).

    `trail` is what was tried before.
    """
    search = Search(problem, x, stop, callback, begun, notes, is_warm)
    for attempt in trail:
        search.count(attempt)
    is_solution = search.is_certain  # the start: then it is the answer
    try:
        _go(search, is_warm)
        if not is_solution:
            settle_motion(search)
    except OutOfTime:  # between two methods
        search.end(Status.TIME_LIMIT, "", is_better=False)
    except KeyboardInterrupt:
        search.status, search.reason = Status.INTERRUPTED, ""
        raise interrupted_with(search.result()) from None
    return search.result()


def _go(search: Search, is_warm: bool) -> None:
    before = now()
    if search.is_certain:
        search.record("start", Status.CONVERGED, before, "it is a solution", residual=search.residual)
        return
    if search.is_broken:
        return
    view = as_asked(search.problem)
    for presolve in (partial(write_products_out, most_rows=FEW_PRODUCTS), write_small_out, settle_rows):
        view = _presolve(search, view, presolve) or view
    islands = find_islands(view.problem)
    if islands:
        _solve_islands(search, view, islands, is_warm)
        return
    failures = _follow(search, view, Features.of(view.problem, is_warm=is_warm, tol=search.stop.tol), 0)
    for presolve in (partial(write_products_out, most_rows=MANY_PRODUCTS), balance):
        inner = _presolve(search, view, presolve) if search.is_open else None
        if inner is not None:
            view = inner
            failures = _follow(search, view, Features.of(view.problem, tol=search.stop.tol), failures)
    if search.is_open and not search.has_sought_proof:
        look_for_proof(search)
    if search.is_open and search.exhausted is not None:
        search.prove(search.exhausted)


def _presolve(search: Search, view: Reduced, change: Callable[[Problem], Reduced | None]) -> Reduced | None:
    """The problem of a view changed once more, and written down; None where there is nothing to change."""
    before = now()
    reduced = change(view.problem)
    if reduced is None:
        return None
    inner = one_after_the_other(view, reduced)
    search.notes.append(reduced.told)
    if reduced.problem.n < view.problem.n:
        search.consider(inner.recover(inner.restrict(search.x)), "presolve")
    search.record("presolve", None, before, reduced.told, residual=search.residual)
    return inner


def list_steps(rule: Rule, problem: Problem) -> Iterator[tuple[Step, str | None]]:
    """The steps of a chain, each once where it would do again what it did, and why this problem passes one over."""
    for number, step in enumerate(rule.chain):
        if not step.from_best and step in rule.chain[:number]:
            continue
        if step.most_rows is not None and problem.n > step.most_rows:
            yield step, f"more than {step.most_rows} rows would take it too long"
        elif step.from_compliance and not is_rigid(problem):
            yield step, "there is no rigid law of friction to give way"
        else:
            yield step, misfit(step.method, problem)


def _follow(search: Search, view: Reduced, features: Features, failures: int) -> int:
    """Go along the chain of the rule that applies; returns how many methods have failed by now."""
    rule = find_rule(features)
    reason = f"{rule.name}: {rule.why}"
    for step, objection in list_steps(rule, view.problem):
        if not search.is_open:
            break
        if objection is not None or (step.below is not None and search.scaled >= step.below):
            continue
        _attempt(search, view, step, reason)
        polish_best(search)
        if search.is_certain:
            break
        failures += not step.is_try
        reason = f"{step.method.label} did not end in a certain answer"
        has_doubts = failures >= DOUBTS and search.scaled > rule.trusts
        if has_doubts and search.is_open and not search.has_sought_proof:
            look_for_proof(search, PROOF_SHARE)
    return failures


def _attempt(search: Search, view: Reduced, step: Step, why: str) -> None:
    """Let one method try, and keep what it found."""
    start = cold_start(view.problem) if step.is_cold else None
    if step.from_lcp:
        start = start_from_lcp(search, view)
    elif step.from_compliance:
        start = start_from_compliance(search, view)
    if not search.is_open:
        return
    before = now()
    if start is None:
        start = view.problem.project(view.restrict(search.x if step.from_best else search.start))
    eagerness = EXACT / search.stop.tol if step.is_eager and EXACT < search.stop.tol <= ROUGH else 1.0
    stop = search.leave(view.problem, step.method, step.iterations, view.shrinkage * eagerness)
    stop = replace(stop, extrapolate=stop.extrapolate or step.is_try)
    callback = translate(search, view.recover)
    try:
        result = run_method(view.problem, step.method, start, stop, callback, search.begun, search.notes)
    except SolveInterrupted as interrupt:
        _keep(search, view, interrupt.partial_result, before, why)
        raise
    _keep(search, view, result, before, why)


def _keep(search: Search, view: Reduced, result: Result, since: float, why: str) -> None:
    """Judge what a method found by the problem that was asked, and write it down."""
    before = search.residual
    x = view.recover(result.x)
    inside = search.problem.project(x)  # sweeps may leave a disc by some rounding errors
    if result.problem is search.problem and (inside == x).all():  # it was judged by that already
        residual = search.accept(result.x, result.residual, result.y, result.method, result.best_iteration)
    else:
        residual = search.consider(inside, result.method, result.best_iteration)
    search.histories.append(result.history)
    search.record(result.method, result.status, since, why, iterations=result.iterations, residual=residual)
    if not result.success:
        search.end(result.status, result.reason, is_better=residual < before)
    if result.ray is not None:
        search.ray = view.spread(result.ray)
    if result.certificate is not None:
        offer_proof(search, view.spread(result.certificate.u))


def _solve_islands(search: Search, view: Reduced, islands: tuple[Island, ...], is_warm: bool) -> None:
    """Solve the islands of a view one after the other, and judge the answer that they make together."""
    before = now()
    start = view.problem.project(view.restrict(search.start))
    run = island_solver.IslandRun(
        islands, None, start, search.stop, translate(search, view.recover), search.begun, is_warm=is_warm
    )
    try:
        whole = run.result(view.problem, 1, [])
    except SolveInterrupted as interrupt:
        reached = interrupt.partial_result
        search.consider(view.recover(reached.x), reached.method, reached.best_iteration)
        raise
    search.consider(view.recover(whole.x), whole.method, whole.best_iteration)
    sizes = f"{len(islands)} islands, the largest with {max(island.rows.size for island in islands)} rows"
    search.record("islands", whole.status, before, sizes, iterations=whole.iterations, residual=search.residual)
    search.trail += whole.methods
    search.histories.append(whole.history)
    search.notes += whole.notes
    if whole.status is not Status.CONVERGED:
        search.end(whole.status, whole.reason, is_better=True)
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
