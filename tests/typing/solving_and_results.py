"""Solving, and what comes back."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import perp

Vector = NDArray[np.float64]


def hear(progress: perp.Progress) -> None:
    assert_type(progress.iteration, int)
    assert_type(progress.nit, int)
    assert_type(progress.seconds, float)
    assert_type(progress.residual, float)
    assert_type(progress.merit, float)
    assert_type(progress.active, int)
    assert_type(progress.x, Vector)
    if progress["merit"] == 0.0:
        raise StopIteration


def hear_by_name(*, intermediate_result: perp.Progress) -> None:
    hear(intermediate_result)


def hear_either_way(intermediate_result: perp.Progress) -> bool:
    return intermediate_result.nit > 10


def calls(problem: perp.LCP) -> perp.Result:
    assert_type(perp.__version__, str)
    perp.warm_up()
    result = perp.solve(problem)
    assert_type(result, perp.Result)
    result = perp.solve(problem, "psor", tol=1e-10, max_iterations=7, max_seconds=1.0, callback=hear, relaxation=1.2)
    result = perp.solve(problem, "pgs", callback=hear_by_name, x0=[0, 0, 0])
    result = perp.solve(problem, "pgs", callback=hear_either_way, x0=result.x)
    stopping = perp.Stopping(tol=1e-6, relative=1e-3, stagnation=1e-9, unchanged_checks=3, keep="last")
    return perp.solve(problem, perp.PSOR(relaxation=1.4), x0=result, stop=stopping, check_every=2)


def interrupted(problem: perp.LCP) -> perp.Result:
    try:
        return perp.solve(problem)
    except perp.SolveInterrupted as stop:
        assert_type(stop.partial_result, perp.Result)
        return stop.partial_result


def every_kind(box: perp.BoxLCP, contacts: perp.ContactProblem) -> list[perp.Result]:
    return [perp.solve(box), perp.solve(contacts, "block_gauss_seidel"), perp.solve_fixed_box(contacts, "pgs")]


def answer(result: perp.Result) -> str:
    assert_type(result.x, Vector)
    assert_type(result.y, Vector)
    assert_type(result.success, bool)
    assert_type(result.message, str)
    assert_type(result.method, str)
    assert_type(result.iterations, int)
    assert_type(result.nit, int)
    assert_type(result.fun, float | None)
    assert_type(result.residual, float)
    assert_type(result.scaled_residual, float)
    assert_type(result.seconds, float)
    assert_type(result.setup_seconds, float)
    assert_type(result.best_iteration, int)
    assert_type(result.active_mask, NDArray[np.int8])
    assert_type(result.ray, Vector | None)
    assert_type(result.notes, tuple[str, ...])
    assert_type(result.certificate, perp.Certificate | None)
    assert_type(result.verify(), perp.Residuals)
    assert_type(result.problem.n, int)
    return f"{result}"


def status(result: perp.Result) -> None:
    assert_type(result.status, perp.Status)
    assert_type(result.status.code, int)
    assert_type(int(result.status), int)
    assert_type(result.status.value, str)
    assert_type(result.status.success, bool)
    assert_type(result.status is perp.Status.CONVERGED, bool)
    assert_type(result.status in (perp.Status.INFEASIBLE, perp.Status.RAY), bool)


def by_name(result: perp.Result) -> Vector:
    """As the results of SciPy are read; what stands under a name is for the reader to say."""
    x: Vector = result["x"]
    everything: dict[str, Any] = dict(result)
    assert_type(result.keys(), tuple[str, ...])
    assert_type("nit" in result, bool)
    assert_type(list(result), list[str])
    assert_type(len(everything), int)
    return x


def account(result: perp.Result) -> None:
    for attempt in result.methods:
        assert_type(attempt.method, str)
        assert_type(attempt.status, perp.Status | None)
        assert_type(attempt.residual, float)
        assert_type(attempt.iterations, int)
        assert_type(attempt.seconds, float)
        assert_type(attempt.why, str)
    assert_type(result.history.iteration, NDArray[np.int64])
    assert_type(result.history.residual, NDArray[np.float64])
    assert_type(result.history.counters, dict[str, NDArray[np.float64]])


def reasons(problem: perp.LCP) -> str:
    told = perp.explain(problem, is_warm=True, tol=1e-6)
    assert_type(told, perp.Explanation)
    assert_type(told.seen, str)
    assert_type(told.presolve, tuple[str, ...])
    assert_type(told.rule, str)
    assert_type(told.why, str)
    assert_type(told.chain, tuple[str, ...])
    assert_type(told.passed_over, tuple[str, ...])
    return str(told)


def islands(problem: perp.LCP) -> None:
    result = perp.solve_islands(problem, "pgs", at_least=10, workers=2, callback=hear_by_name, tol=1e-8)
    assert_type(result, perp.IslandsResult)
    assert_type(result.x, Vector)
    assert_type(result.parts, tuple[perp.Result, ...])
    assert_type(result.islands, tuple[perp.Island, ...])
    parts = perp.split_islands(problem, at_least=2)
    assert_type(parts, tuple[perp.Island, ...])
    assert_type(parts[0].rows, NDArray[np.intp])
    assert_type(perp.gather(parts, [perp.solve(part.problem) for part in parts]), Vector)
    assert_type(perp.gather(parts, [part.problem.b for part in parts]), Vector)


def all_solutions(problem: perp.LCP) -> None:
    solutions = perp.enumerate(problem)
    assert_type(solutions, perp.Solutions)
    assert_type(solutions.isolated, tuple[Vector, ...])
    assert_type(solutions.count, float)
    assert_type(solutions.complete, bool)
    assert_type(solutions.shortest, Vector | None)
    assert_type([family.rays for family in solutions.families], list[tuple[Vector, ...]])


def mistakes(problem: perp.LCP) -> None:
    """What a checker of types should find before the program runs."""
    perp.solve(problem.A)  # pyright: ignore[reportArgumentType]
    perp.solve(problem, x0="zero")  # pyright: ignore[reportArgumentType]
    perp.solve(problem, max_iterations=1.5)  # pyright: ignore[reportArgumentType]
    perp.solve(problem, callback=lambda: None)  # pyright: ignore[reportArgumentType]
    perp.solve(problem).x = problem.b  # pyright: ignore[reportAttributeAccessIssue]
