"""The way through a solve by "auto": presolve, a chain of methods, polish, proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np

from perp.problems.certificates import verify_certificate
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.islands import Island
from perp.problems.problem import Problem
from perp.solvers.auto.features import Features
from perp.solvers.auto.presolve import (
    FEW_PRODUCTS,
    MANY_PRODUCTS,
    Reduced,
    balance,
    find_islands,
    settle_rows,
    write_products_out,
)
from perp.solvers.auto.restated import start_from_lcp
from perp.solvers.auto.rules import Step, find_rule
from perp.solvers.auto.search import Search
from perp.solvers.fit import misfit
from perp.solvers.loop import Progress, SolveInterrupted
from perp.solvers.no_solution import search_no_solution
from perp.solvers.polishing.polish import polish
from perp.solvers.progress import Callback
from perp.solvers.result import Attempt, Result
from perp.solvers.run import run_method
from perp.solvers.status import Status
from perp.solvers.stopping import Stopping

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
    search.trail += trail
    try:
        _go(search, is_warm)
    except SolveInterrupted as interrupt:
        search.status, search.reason = Status.INTERRUPTED, ""
        interrupt.partial_result = search.result()
        raise
    return search.result()


def _go(search: Search, is_warm: bool) -> None:
    before = perf_counter()
    if search.is_certain:
        search.record("start", Status.CONVERGED, before, "it is a solution", residual=search.residual)
        return
    if search.status is Status.BREAKDOWN:  # there is not even a product
        return
    view = _as_asked(search.problem)
    for presolve in (partial(write_products_out, most_rows=FEW_PRODUCTS), settle_rows):
        view = _presolve(search, view, presolve) or view
    islands = find_islands(view.problem)
    if islands:
        _solve_apart(search, view, islands, is_warm)
        return
    failures = _follow(search, view, Features.of(view.problem, is_warm=is_warm, tol=search.stop.tol), 0)
    for presolve in (partial(write_products_out, most_rows=MANY_PRODUCTS), balance):
        inner = _presolve(search, view, presolve) if search.is_open else None
        if inner is not None:
            view = inner
            failures = _follow(search, view, Features.of(view.problem, tol=search.stop.tol), failures)
    if search.is_open and failures < DOUBTS:
        _look_for_proof(search)
    if search.is_open and search.exhausted is not None:
        search.prove(search.exhausted)


def _presolve(search: Search, view: Reduced, change: Callable[[Problem], Reduced | None]) -> Reduced | None:
    """The problem of a view changed once more, and written down; None where there is nothing to change."""
    before = perf_counter()
    reduced = change(view.problem)
    if reduced is None:
        return None
    inner = _one_after_the_other(view, reduced)
    search.notes.append(reduced.told)
    if reduced.problem.n < view.problem.n:
        search.consider(inner.recover(inner.restrict(search.x)), "presolve")
    search.record("presolve", None, before, reduced.told, residual=search.residual)
    return inner


def _solve_apart(search: Search, view: Reduced, islands: tuple[Island, ...], is_warm: bool) -> None:
    """Solve parts that have nothing to do with one another each by itself, and judge what they make together."""
    from perp.solvers.islands import IslandRun

    before = perf_counter()
    callback = None if search.callback is None else _translated(search, view)
    start = view.problem.project(view.restrict(search.x))
    run = IslandRun(islands, None, start, search.stop, callback, search.begun, is_warm=is_warm)
    try:
        whole = run.result(view.problem, 1, [])
    except SolveInterrupted as interrupt:
        search.consider(view.recover(interrupt.partial_result.x), interrupt.partial_result.method)
        raise
    search.consider(view.recover(whole.x), whole.method)
    sizes = f"{len(islands)} islands, the largest with {max(island.rows.size for island in islands)} rows"
    search.record("islands", whole.status, before, sizes, residual=search.residual)
    search.trail += whole.methods
    search.iterations += whole.iterations
    search.histories.append(whole.history)
    search.notes += whole.notes
    search.status, search.reason = whole.status, whole.message.partition(": ")[2].partition(" (residual")[0]
    if whole.ray is not None:
        search.ray = _spread(search, view, whole.ray)
    if whole.certificate is not None:
        _offer(search, view, whole.certificate.u)
    elif whole.status is Status.CONVERGED and not search.is_certain:
        search.status = Status.REDUCED_ACCURACY


def _follow(search: Search, view: Reduced, features: Features, failures: int) -> int:
    """Go along the chain of the rule that applies; returns how many methods have failed by now."""
    rule = find_rule(features)
    reason = f"{rule.name}: {rule.why}"
    for number, step in enumerate(rule.chain):
        if not search.is_open:
            break
        if not step.from_best and step in rule.chain[:number]:  # it would do again what it did
            continue
        if (step.most_rows is not None and features.n > step.most_rows) or misfit(step.method, view.problem):
            continue
        _attempt(search, view, step, reason)
        _polish(search)
        if search.is_certain:
            break
        failures += 1
        reason = f"{search.trail[-1].method} did not end in a certain answer"
        if failures == DOUBTS:
            _look_for_proof(search)
    return failures


def _attempt(search: Search, view: Reduced, step: Step, why: str) -> None:
    """Let one method try, and keep what it found."""
    start = start_from_lcp(search, view.problem) if step.from_lcp else None
    if not search.is_open:
        return
    before = perf_counter()
    if start is None:
        start = view.problem.project(view.restrict(search.x if step.from_best else search.start))
    eagerness = EXACT / search.stop.tol if step.is_eager and EXACT < search.stop.tol <= ROUGH else 1.0
    stop = search.leave(view.problem, step.method, step.iterations, view.shrinkage * eagerness)
    callback = None if search.callback is None else _translated(search, view)
    try:
        result = run_method(view.problem, step.method, start, stop, callback, search.begun, search.notes)
    except SolveInterrupted as interrupt:
        _keep(search, view, interrupt.partial_result, before, why)
        raise
    _keep(search, view, result, before, why)


def _keep(search: Search, view: Reduced, result: Result, since: float, why: str) -> None:
    """Judge what a method found by the problem that was asked, and write it down."""
    before = search.residual
    if result.problem is search.problem:  # it was judged by that already
        residual = search.accept(result.x, result.residual, result.y, result.method)
    else:
        residual = search.consider(view.recover(result.x), result.method)
    search.histories.append(result.history)
    search.record(result.method, result.status, since, why, iterations=result.iterations, residual=residual)
    if not result.success:
        reason = result.message.removeprefix(result.status.value).partition(" (residual")[0].removeprefix(": ")
        search.end(result.status, reason, is_better=residual < before)
    if result.ray is not None:
        search.ray = _spread(search, view, result.ray)
    if result.certificate is not None:
        _offer(search, view, result.certificate.u)


def _polish(search: Search) -> None:
    """The last digits, where they are cheap, and a last chance where a method gave up nearby."""
    if search.is_certain:
        wanted = search.scaled > EXACT and search.problem.n <= POLISHED_ROWS and search.stop.tol <= ROUGH
    else:
        near = NEAR_CONTACTS if isinstance(search.problem, ContactProblem) else NEAR
        wanted = search.is_open and search.scaled <= near
    if not wanted:
        return
    before = perf_counter()
    made_by = search.method
    polished = polish(search.problem, search.x, max_seconds=max(0.0, search.seconds_left))
    if polished is None:
        return
    search.consider(polished.x, made_by)
    status = Status.CONVERGED if search.is_certain else Status.REDUCED_ACCURACY
    search.record("polish", status, before, polished.how, residual=search.residual)


def _look_for_proof(search: Search) -> None:
    """Is there a solution at all?

    That all index sets are refuted, to the last bit, is told in the end only: another method may still find a point
    that is one within the tolerance.
    """
    before = perf_counter()
    left = min(PROOF_SECONDS, search.seconds_left)
    found = search_no_solution(search.problem, max_seconds=left, hints=() if search.ray is None else (search.ray,))
    proof = found.certificate
    if proof is not None and proof.kind == "exhausted":
        search.exhausted = proof
    elif proof is not None:
        search.prove(proof)
    search.record("no_solution", search.status if search.certificate else None, before, "; ".join(found.steps))


def _offer(search: Search, view: Reduced, u: Vector) -> None:
    """A proof for the problem that a method saw, if it also holds for the one that was asked."""
    certificate = verify_certificate(search.problem, _spread(search, view, u))
    if certificate.valid:
        search.prove(certificate)
    else:
        search.status = Status.RAY


def _translated(search: Search, view: Reduced) -> Callback:
    """The caller's callback, which sees his own problem and the iterations of all methods."""
    assert search.callback is not None
    callback, done, seconds = search.callback, search.iterations, search.seconds

    def watch(progress: Progress) -> object:
        return callback(
            replace(
                progress,
                iteration=done + progress.iteration,
                seconds=seconds + progress.seconds,
                x=view.recover(progress.x),
            )
        )

    return watch


def _spread(search: Search, view: Reduced, direction: Vector) -> Vector:
    """One number a row of the asked problem."""
    if direction.size == search.problem.n:
        return direction
    kept = view.restrict(np.arange(search.problem.n, dtype=np.float64)).astype(np.int64)
    whole = np.zeros(search.problem.n)
    whole[kept] = direction
    return whole


def _as_asked(problem: Problem) -> Reduced:
    return Reduced(problem, lambda x: x, lambda z: z, "")


def _one_after_the_other(first: Reduced, second: Reduced) -> Reduced:
    return Reduced(
        second.problem,
        lambda x: second.restrict(first.restrict(x)),
        lambda z: first.recover(second.recover(z)),
        second.told,
        first.shrinkage * second.shrinkage,
    )
